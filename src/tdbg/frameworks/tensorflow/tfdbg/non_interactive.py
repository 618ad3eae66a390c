"""Wraps a Session so that a function of the user's, not a person, says what to watch."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from tdbg.frameworks.tensorflow.tfdbg.base_wrapper import BaseDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.requests import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)
from tdbg.frameworks.tensorflow.tfdbg.watching import WatchOptions


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """Base of wrappers that ask nobody: ``watch_fn(fetches, feeds)`` says what is watched, a WatchOptions.

    Only the runs of ``range(start_step, stop_step, every)`` are debugged, the first run of the wrapper being 0.
    """

    def __init__(
        self,
        sess: Any,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = False,
        *,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
    ) -> None:
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError(f"watch_fn is not callable: {watch_fn!r}")
        if every < 1:
            raise ValueError(f"every must be 1 or more, and not {every}")
        self._watch_fn = watch_fn
        self.start_step, self.stop_step, self.every = start_step, stop_step, every
        super().__init__(sess, thread_name_filter=thread_name_filter, pass_through_operrors=pass_through_operrors)

    @abc.abstractmethod
    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> str | list[str]:
        """Where the tensors of the next run go."""

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        if not self._is_wanted(request.run_call_count - 1):
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        watched = self._watch_options(request.fetches, request.feed_dict)
        urls = self.prepare_run_debug_urls(request.fetches, request.feed_dict)
        return OnRunStartResponse(
            OnRunStartAction.DEBUG_RUN, [urls] if isinstance(urls, str) else urls, **vars(watched)
        )

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        return OnRunEndResponse()

    def _is_wanted(self, step: int) -> bool:
        first, last = self.start_step, self.stop_step
        return step >= first and (last is None or step < last) and (step - first) % self.every == 0

    def _watch_options(self, fetches: Any, feed_dict: Any) -> WatchOptions:
        watched = self._watch_fn(fetches, feed_dict) if self._watch_fn else WatchOptions()
        return WatchOptions(*watched) if isinstance(watched, tuple) else watched
