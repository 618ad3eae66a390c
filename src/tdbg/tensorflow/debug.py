"""The names of ``tensorflow.python.debug``: ``from tdbg.tensorflow import debug as tf_debug``."""

from tdbg.frameworks.tensorflow.tfdbg.debug import *  # noqa: F403
