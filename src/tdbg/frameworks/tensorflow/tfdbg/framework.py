"""The names of ``tensorflow.python.debug.wrappers.framework``, for people who write wrappers of their own."""

from tdbg.frameworks.tensorflow.tfdbg.base_wrapper import BaseDebugWrapperSession as BaseDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.non_interactive import (
    NonInteractiveDebugWrapperSession as NonInteractiveDebugWrapperSession,
)
from tdbg.frameworks.tensorflow.tfdbg.requests import OnRunEndRequest as OnRunEndRequest
from tdbg.frameworks.tensorflow.tfdbg.requests import OnRunEndResponse as OnRunEndResponse
from tdbg.frameworks.tensorflow.tfdbg.requests import OnRunStartAction as OnRunStartAction
from tdbg.frameworks.tensorflow.tfdbg.requests import OnRunStartRequest as OnRunStartRequest
from tdbg.frameworks.tensorflow.tfdbg.requests import OnRunStartResponse as OnRunStartResponse
from tdbg.frameworks.tensorflow.tfdbg.requests import OnSessionInitAction as OnSessionInitAction
from tdbg.frameworks.tensorflow.tfdbg.requests import OnSessionInitRequest as OnSessionInitRequest
from tdbg.frameworks.tensorflow.tfdbg.requests import OnSessionInitResponse as OnSessionInitResponse
from tdbg.frameworks.tensorflow.tfdbg.watching import WatchOptions as WatchOptions
