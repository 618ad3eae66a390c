"""The names of ``tensorflow.python.debug.wrappers.framework``, for people who write wrappers of their own."""

from tdbg.tensorflow.session.base_wrapper import BaseDebugWrapperSession as BaseDebugWrapperSession
from tdbg.tensorflow.session.non_interactive import (
    NonInteractiveDebugWrapperSession as NonInteractiveDebugWrapperSession,
)
from tdbg.tensorflow.session.requests import OnRunEndRequest as OnRunEndRequest
from tdbg.tensorflow.session.requests import OnRunEndResponse as OnRunEndResponse
from tdbg.tensorflow.session.requests import OnRunStartAction as OnRunStartAction
from tdbg.tensorflow.session.requests import OnRunStartRequest as OnRunStartRequest
from tdbg.tensorflow.session.requests import OnRunStartResponse as OnRunStartResponse
from tdbg.tensorflow.session.requests import OnSessionInitAction as OnSessionInitAction
from tdbg.tensorflow.session.requests import OnSessionInitRequest as OnSessionInitRequest
from tdbg.tensorflow.session.requests import OnSessionInitResponse as OnSessionInitResponse
from tdbg.tensorflow.session.watching import WatchOptions as WatchOptions
