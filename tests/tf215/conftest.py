"""These tests need tf.estimator, which ended with TensorFlow 2.15; in any other environment none is collected."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("tensorflow_estimator") else ["test_*.py"]
