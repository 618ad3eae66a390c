"""Asks the user before and after each run of a wrapped Session, and shows what it computed."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from tdbg.capture import control, faults
from tdbg.capture.control import Action, Kind, Pause, Prompt
from tdbg.errors import TdbgError
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir, has_inf_or_nan
from tdbg.frameworks.tensorflow.tfdbg.base_wrapper import BaseDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.ctrl_c import CTRL_C
from tdbg.frameworks.tensorflow.tfdbg.dump_root import DumpRoot, RunDump
from tdbg.frameworks.tensorflow.tfdbg.old_names import takes_old_names
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
from tdbg.frameworks.tensorflow.tfdbg.run_calls import Call
from tdbg.frameworks.tensorflow.tfdbg.run_feeds import Feeds
from tdbg.frameworks.tensorflow.tfdbg.run_scene import RunCall, RunScene
from tdbg.frameworks.tensorflow.tfdbg.watching import watch_fed
from tdbg.scene import TensorFilter as Filter

_SHOWN_EVERY = 0.5  # seconds between two lines that tell how far a search is
_PLAIN = Action(debug=False)
_LOOKED_THROUGH = 1 << 26  # bytes of dumps that are searched for bad values though nobody asked


@dataclass
class _Search:
    """The runs that ``run -f`` has gone through without a tensor that passed."""

    name: str = ""
    runs: int = 0
    process: int = field(default_factory=os.getpid)

    _next: float = 0.0  # when a line is due again
    _has_line: bool = False

    def begin(self, name: str) -> None:
        self.name, self.runs, self._next = name, 0, time.monotonic() + _SHOWN_EVERY

    def count(self) -> None:
        """One run more; on a terminal a line tells now and then how many."""
        self.runs += 1
        if time.monotonic() >= self._next and sys.stderr is not None and sys.stderr.isatty():
            self._next, self._has_line = time.monotonic() + _SHOWN_EVERY, True
            said = f"tdbg: {self.runs:,} runs so far, and no tensor has passed the filter {self.name}"
            print(f"\r\x1b[K{said}", end="", file=sys.stderr, flush=True)

    def stop(self) -> None:
        if self._has_line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        self.name, self._has_line = "", False

    def end(self) -> None:
        name = self.name
        self.stop()
        if name and os.getpid() == self.process:
            faults.say(f"no tensor passed the filter {name} in {self.runs} runs")


class _Planned(OnRunStartResponse):
    """How a run is carried out, with what is to be known when it ends."""

    def __init__(self, action: Action, call: RunCall, dump: RunDump | None = None) -> None:
        kind = OnRunStartAction.NON_DEBUG_RUN
        if action.debug:
            kind = OnRunStartAction.PROFILE_RUN if action.profile else OnRunStartAction.DEBUG_RUN
        super().__init__(
            kind,
            [dump.url] if dump else [],
            node_name_regex_allowlist=action.node_name_filter,
            op_type_regex_allowlist=action.op_type_filter,
            tensor_dtype_regex_allowlist=action.tensor_dtype_filter,
        )
        self.call, self.dump = call, dump


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """Stops before and after run() and asks what to do, at a prompt.

    ``dump_root``, where tensors are kept while they are looked at, must be new or empty; it is emptied again. By
    default it is in the system's folder for temporary files. ``ui_type`` "curses" or "screen" opens a screen where
    there is a terminal, "readline" asks line by line. The filter ``has_inf_or_nan`` is there already;
    ``add_tensor_filter`` adds others.
    """

    _wants_partition_graphs = False  # the runtime writes them beside the tensors

    @takes_old_names
    def __init__(
        self,
        sess: Any,
        dump_root: str | os.PathLike | None = None,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
        *,
        prompt: Prompt | None = None,
    ) -> None:
        super().__init__(sess, thread_name_filter=thread_name_filter)
        if isinstance(ui_type, bool):  # of TensorFlow 1, where log_usage stood here
            ui_type = "curses"
        if ui_type not in control.UI_TYPES:
            raise ValueError(f"unknown ui_type {ui_type!r}; choose one of: {', '.join(control.UI_TYPES)}")
        self._prompt = prompt or control.prompt(ui_type, config_file_path)
        self._root = DumpRoot(dump_root, "dump_root") if dump_root else DumpRoot.temporary()
        self._search = _Search()
        self._clean_up = weakref.finalize(self, _end, self._search, self._root)
        self._filters: dict[str, Filter] = {"has_inf_or_nan": has_inf_or_nan}
        self._asking = threading.RLock()  # one thread at a time is asked
        self._next: Action | None = None  # what was answered at the end of a run
        self._plain_runs = 0  # still to come, before _then
        self._then: Action | None = None
        self._until: Action | None = None

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """``tensor_filter(datum, tensor)`` says whether a tensor passes; ``run -f filter_name`` runs until one does."""
        self._filters[filter_name] = tensor_filter

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        number, fetches, feed_dict = request.run_call_count, request.fetches, request.feed_dict
        call = RunCall(number, fetches, feed_dict, self.graph, self._filters, request.is_callable_runner)
        action = _PLAIN
        with self._asking, faults.guard("asking before a run"):
            action = self._decide(call) if self.enabled else _PLAIN
        if not action.debug or action.profile:
            return _Planned(action, call)
        call = replace(call, watched=(action.node_name_filter, action.op_type_filter, action.tensor_dtype_filter))
        return _Planned(action, call, self._root.begin(number, fetches, feed_dict, call.watched))

    def _refine(self, run_options: Any, call: Call, response: OnRunStartResponse) -> None:
        """Filters of ``run`` are meant for what is fed, too."""
        if isinstance(response, _Planned) and any(response.call.watched):
            with faults.guard("watching what is fed"):
                fed = list(Feeds(call.feed_dict))
                watch_fed(run_options, self.graph, fed, response.call.watched, response.debug_urls)

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        plan = request.response
        if isinstance(plan, _Planned):
            with self._asking, faults.guard("showing a run"):
                if plan.action == OnRunStartAction.NON_DEBUG_RUN:
                    self._show_error(RunScene(plan.call, error=request.tf_error), request.tf_error)
                elif plan.action == OnRunStartAction.PROFILE_RUN:
                    self._ask(plan, RunScene(plan.call, error=request.tf_error, metadata=request.run_metadata), "lp")
                else:
                    self._look_at(plan, request)
        return OnRunEndResponse()

    def on_run_abandoned(self, response: OnRunStartResponse) -> None:
        if isinstance(response, _Planned) and response.dump:
            with faults.guard("clearing a dump away"):
                self._root.discard(self._root.finish(response.dump).folder)

    def _decide(self, call: RunCall) -> Action:
        """What was asked for before, if that is not over yet; else the user's answer."""
        if CTRL_C.is_wanted:
            self._next = self._then = self._until = None
            self._plain_runs = 0
            self._search.stop()
        if self._until:
            return self._until
        if not self._plain_runs and self._then is None:
            action, self._next = self._next or self._ask_before(call), None
            self._obey(action)
            if action.kind == Kind.DETACH:
                return _PLAIN
            self._plain_runs = action.times - 1 if action.debug else action.times
            self._then = replace(action, times=1) if action.debug else None
        if self._plain_runs:
            self._plain_runs -= 1
            return _PLAIN
        action, self._then = self._then or _PLAIN, None
        if action.until_filter:
            self._until = action
            self._search.begin(action.until_filter)
        return action

    def _ask_before(self, call: RunCall) -> Action:
        return self._asked(Pause("run-start", f"run-start: {call.description}", RunScene(call)))

    def _asked(self, pause: Pause) -> Action:
        with CTRL_C.at_prompt():
            return self._prompt.ask(pause)

    def _look_at(self, plan: _Planned, request: OnRunEndRequest) -> None:
        assert plan.dump is not None
        finished = self._root.finish(plan.dump)
        try:
            dump = DebugDumpDir(str(finished.folder))
            dump.set_python_graph(self.graph)
            scene, error, first = RunScene(plan.call, dump, request.tf_error), request.tf_error, "lt"
            if self._until:
                self._search.count()
                has_passed = self._has_passed(scene, self._until)
                if not has_passed and (error is None or isinstance(error, tf.errors.OutOfRangeError)):
                    return
                first = _list_command(self._until) if has_passed else first
                self._until = None
                self._search.stop()
            lines = scene.first_bad_lines() if finished.size <= _LOOKED_THROUGH else []
            self._ask(plan, scene, first, lines)
        finally:
            self._root.discard(finished.folder)

    def _has_passed(self, scene: RunScene, action: Action) -> bool:
        """A filter that is none any more ends the search, and is said."""
        try:
            return bool(scene.passing(action.until_filter, action.exclude_nodes))
        except TdbgError as problem:
            faults.say(str(problem))
            return True

    def _ask(self, plan: _Planned, scene: RunScene, first: str, lines: Sequence[str] = ()) -> None:
        headline = f"run-end: {plan.call.description}"
        with contextlib.closing(scene):
            self._next = self._asked(Pause("run-end", headline, scene, first, [*scene.error_lines(), *lines]))
        self._obey(self._next)

    def _obey(self, action: Action) -> None:
        if action.kind == Kind.RUN:
            CTRL_C.follow(self)
        else:
            CTRL_C.leave(self)
        if action.kind == Kind.EXIT:
            self._clean_up()
            print("Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr)
            sys.exit(1)
        if action.kind == Kind.DETACH:
            self.enabled, self._next = False, None

    def close(self) -> None:
        CTRL_C.leave(self)
        super().close()

    def _show_error(self, scene: RunScene, error: Any) -> None:
        """An error of a run without the debugger. That the input is at its end is how many programs end their loop."""
        if error is not None and not isinstance(error, tf.errors.OutOfRangeError):
            print(*scene.error_lines(), sep="\n", flush=True)

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True


def _list_command(action: Action) -> str:
    """What lists the tensors that ended a search."""
    words = ["lt", "-f", action.until_filter]
    return shlex.join([*words, "-fenn", action.exclude_nodes] if action.exclude_nodes else words)


def _end(search: _Search, root: DumpRoot) -> None:
    search.end()
    root.remove()
