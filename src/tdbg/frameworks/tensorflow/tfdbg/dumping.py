"""Dumps the runs of a wrapped Session, one folder each, as tfdbg does."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tdbg import native
from tdbg.capture import faults
from tdbg.frameworks.tensorflow.tfdbg.dump_kernels import OP, DumpKernels, Plan
from tdbg.frameworks.tensorflow.tfdbg.dump_root import IDENTITY, DumpRoot, RunDump
from tdbg.frameworks.tensorflow.tfdbg.non_interactive import NonInteractiveDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.old_names import takes_old_names
from tdbg.frameworks.tensorflow.tfdbg.requests import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
)
from tdbg.frameworks.tensorflow.tfdbg.run_calls import Call

_DISK_LIMIT = 100 << 30


class _OpenDump(NamedTuple):
    """A run that is going on; ``plan`` when it is one to learn from, dumped by TensorFlow alone."""

    dump: RunDump
    plan: Plan | None = None
    began: float = 0.0


class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Dumps the tensors of each run() to ``session_root/run_<microseconds>_<number of the run>``.

    ``session_root`` must be new or empty. Only the runs of ``range(start_step, stop_step, every)`` are dumped, and
    only while ``enabled`` is True, which can be changed at any time. When the dumps have reached ``disk_limit`` bytes
    (by default ``TFDBG_DISK_BYTES_LIMIT``, else 100 GiB) no more are made, and the program goes on.
    """

    _wants_partition_graphs = False  # the runtime writes them beside the tensors

    @takes_old_names
    def __init__(
        self,
        sess: Any,
        session_root: str | os.PathLike,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        *,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
        disk_limit: int | None = None,
    ) -> None:
        super().__init__(
            sess,
            watch_fn=watch_fn,
            thread_name_filter=thread_name_filter,
            pass_through_operrors=pass_through_operrors,
            start_step=start_step,
            stop_step=stop_step,
            every=every,
        )
        self._root = DumpRoot(session_root, "session_root")
        self._open: dict[str, _OpenDump] = {}  # by URL, of which each run that is going on has its own
        self._kernels = DumpKernels()
        self._lost_before, _ = native.events().not_dumped()
        self._lost_said = 0
        self._limit = _limit_of_environment() if disk_limit is None else disk_limit
        self._written, self._largest = 0, 0
        self._size_lock = threading.Lock()

    @property
    def dump_root(self) -> Path:
        """The folder of the dumped runs."""
        return self._root.path

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        if not self._is_wanted(request.run_call_count - 1) or not self._has_room():
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        watched = self._watch_options(request.fetches, request.feed_dict)
        dump = self._root.begin(request.run_call_count - 1, request.fetches, request.feed_dict, watched)
        self._open[dump.url] = _OpenDump(dump)
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, [dump.url], **vars(watched))

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        dump = self._root.begin(self.run_call_count - 1, fetches, feed_dict)
        self._open[dump.url] = _OpenDump(dump)
        return [dump.url]

    def _refine(self, run_options: Any, call: Call, response: OnRunStartResponse) -> None:
        """Runs like earlier ones are dumped by tdbg's own kernel."""
        url = response.debug_urls[0] if len(response.debug_urls) == 1 else ""
        if url not in self._open or response.debug_ops not in (IDENTITY, [IDENTITY]):
            return
        with faults.guard("choosing who dumps a run"):
            dump = self._open[url].dump
            plan = self._kernels.plan(self._sess, call.fetches, call.feed_dict, dump.watched)
            if plan is None:
                return
            if plan.apply(run_options.debug_options, url):
                self._open[url] = _OpenDump(dump._replace(debug_op=OP))
            else:
                self._open[url] = _OpenDump(dump, plan, time.perf_counter())

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        self._finish(request.response)
        return OnRunEndResponse()

    def on_run_abandoned(self, response: OnRunStartResponse) -> None:
        self._finish(response, was_abandoned=True)

    def _finish(self, response: OnRunStartResponse | None, was_abandoned: bool = False) -> None:
        found = self._open.pop(response.debug_urls[0], None) if response and response.debug_urls else None
        if found is None:
            return
        seconds = time.perf_counter() - found.began
        with faults.guard("keeping the dump of a run"):
            folder, size, graphs = self._root.finish(found.dump)
            if was_abandoned and not size:  # the run did not begin: a fetch that does not exist, for example
                self._root.discard(folder)
            with self._size_lock:
                self._written += size
                self._largest = max(self._largest, size)
            if found.plan is not None:
                found.plan.ended(seconds, graphs)
            self._tell_of_lost()

    def _tell_of_lost(self) -> None:
        """At the first, and when there are ten times as many."""
        lost, why = native.events().not_dumped()
        lost -= self._lost_before
        if lost and lost >= 10 * self._lost_said:
            self._lost_said = lost
            hint = "; one of 2 GiB and more never fits" if why == errno.EFBIG else ""
            faults.say(f"{lost:,} tensors are missing from the dumps in {self._root.path}: {os.strerror(why)}{hint}")

    def _has_room(self) -> bool:
        """Whether one more run as large as the largest so far stays below the limit, and fits on the disk."""
        free = shutil.disk_usage(self._root.path).free
        if self._written + self._largest < self._limit and 2 * self._largest <= free:
            return True
        if 2 * self._largest > free:
            self._say_once(f"the disk is almost full ({free:,} bytes): no more runs are dumped: {self._root.path}")
            return False
        self._say_once(
            f"dumps have reached {self._written:,} bytes, and the limit is {self._limit:,}: no more are made. Raise it "
            f"with disk_limit=… or TFDBG_DISK_BYTES_LIMIT, or dump less with watch_fn, start_step, stop_step, every: "
            f"{self._root.path}"
        )
        return False

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True  # counted here, over all runs


def _limit_of_environment() -> int:
    text = os.environ.get("TFDBG_DISK_BYTES_LIMIT", "")
    return int(text) if text.isdigit() else _DISK_LIMIT
