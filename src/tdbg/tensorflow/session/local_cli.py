"""Runs of a wrapped Session in; the user is asked before and after them, and sees what they computed."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from tdbg.capture import faults
from tdbg.tensorflow.session.base_wrapper import BaseDebugWrapperSession
from tdbg.tensorflow.session.dump_dir import DebugDumpDir, has_inf_or_nan
from tdbg.tensorflow.session.dump_root import DumpRoot, RunDump
from tdbg.tensorflow.session.error_texts import error_lines
from tdbg.tensorflow.session.filters import TensorFilter
from tdbg.tensorflow.session.line_prompt import LinePrompt
from tdbg.tensorflow.session.names import describe_run, element_name, flattened_names
from tdbg.tensorflow.session.prompt import Action, Filter, Kind, Prompt, RunEnd, RunStart
from tdbg.tensorflow.session.requests import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)

UI_TYPES: dict[str, Callable[[Any], Prompt]] = dict.fromkeys(
    ("curses", "readline", "screen"), lambda config_file_path: LinePrompt()
)
_PLAIN = Action(debug=False)


@dataclass
class _Search:
    """The runs that ``run -f`` has gone through without a tensor that passed."""

    name: str = ""
    runs: int = 0
    process: int = field(default_factory=os.getpid)

    def end(self) -> None:
        if self.name and os.getpid() == self.process:
            faults.say(f"no tensor passed the filter {self.name} in {self.runs} runs")
        self.name = ""


class _Planned(OnRunStartResponse):
    """How a run is carried out, with what is to be known when it ends."""

    def __init__(self, action: Action, start: RunStart, dump: RunDump | None = None) -> None:
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
        self.start, self.dump = start, dump


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """Stops before and after run() and asks what to do, at a prompt.

    ``dump_root``, where tensors are kept while they are looked at, must be new or empty; it is emptied again. By
    default it is in the system's folder for temporary files. ``ui_type`` is "curses", "readline" or "screen". The
    filter ``has_inf_or_nan`` is there already; ``add_tensor_filter`` adds others.
    """

    _wants_partition_graphs = False  # the runtime writes them beside the tensors

    def __init__(
        self,
        sess: Any,
        dump_root: str | os.PathLike | None = None,
        ui_type: str = "readline",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
        *,
        prompt: Prompt | None = None,
    ) -> None:
        super().__init__(sess, thread_name_filter=thread_name_filter)
        if ui_type not in UI_TYPES:
            raise ValueError(f"ui_type {ui_type!r} is not known; there are: {', '.join(UI_TYPES)}")
        self._prompt = prompt or UI_TYPES[ui_type](config_file_path)
        self._root = DumpRoot(dump_root, "dump_root") if dump_root else DumpRoot.temporary()
        self._search = _Search()
        self._clean_up = weakref.finalize(self, _end, self._search, self._root)
        self._filters: dict[str, Filter] = {"has_inf_or_nan": has_inf_or_nan}
        self._asking = threading.RLock()  # one thread at a time is asked
        self._next: Action | None = None  # what was answered at the end of a run
        self._plain_runs = 0  # still to come, before _then
        self._then: Action | None = None
        self._until: tuple[Action, TensorFilter] | None = None

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """``tensor_filter(datum, tensor)`` says whether a tensor passes; ``run -f filter_name`` runs until one does."""
        self._filters[filter_name] = tensor_filter

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        feeds = {element_name(key): value for key, value in (request.feed_dict or {}).items()}
        number, fetches = request.run_call_count, request.fetches
        description = describe_run(number, fetches, request.feed_dict, request.is_callable_runner)
        start = RunStart(number, description, flattened_names(fetches), feeds, self._filters)
        action = _PLAIN
        with self._asking, faults.guard("asking before a run"):
            action = self._decide(start) if self.enabled else _PLAIN
        if not action.debug or action.profile:
            return _Planned(action, start)
        watched = (action.node_name_filter, action.op_type_filter, action.tensor_dtype_filter)
        dump = self._root.begin(number, fetches, request.feed_dict, watched)
        return _Planned(action, start, dump)

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        plan = request.response
        if isinstance(plan, _Planned):
            with self._asking, faults.guard("showing a run"):
                if plan.action == OnRunStartAction.NON_DEBUG_RUN:
                    self._show_error(request.tf_error, plan.start)
                elif plan.action == OnRunStartAction.PROFILE_RUN:
                    self._ask(RunEnd(plan.start, self.graph, error=request.tf_error, profile=request.run_metadata))
                else:
                    self._look_at(plan, request)
        return OnRunEndResponse()

    def on_run_abandoned(self, response: OnRunStartResponse) -> None:
        if isinstance(response, _Planned) and response.dump:
            with faults.guard("clearing a dump away"):
                self._root.discard(self._root.finish(response.dump).folder)

    def _decide(self, start: RunStart) -> Action:
        """What was asked for before, if that is not over yet; else the user's answer."""
        if self._until:
            return self._until[0]
        if not self._plain_runs and self._then is None:
            action, self._next = self._next or self._prompt.run_start(start), None
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
            self._until = action, TensorFilter(action.until_filter, self._filters[action.until_filter])
            self._search.name, self._search.runs = action.until_filter, 0
        return action

    def _look_at(self, plan: _Planned, request: OnRunEndRequest) -> None:
        assert plan.dump is not None
        folder = self._root.finish(plan.dump).folder
        try:
            dump = DebugDumpDir(str(folder))
            dump.set_python_graph(self.graph)
            passed = exclude = ""
            if self._until:
                action, tensor_filter = self._until
                self._search.runs += 1
                if tensor_filter.find(dump, first_n=1, exclude_nodes=action.exclude_nodes):
                    passed, exclude = action.until_filter, action.exclude_nodes
                elif request.tf_error is None or isinstance(request.tf_error, tf.errors.OutOfRangeError):
                    return
                self._until, self._search.name = None, ""
            self._ask(RunEnd(plan.start, self.graph, dump, request.tf_error, passed, exclude))
        finally:
            self._root.discard(folder)

    def _ask(self, info: RunEnd) -> None:
        self._next = self._prompt.run_end(info)
        self._obey(self._next)

    def _obey(self, action: Action) -> None:
        if action.kind == Kind.EXIT:
            self._clean_up()
            print("Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr)
            sys.exit(1)
        if action.kind == Kind.DETACH:
            self.enabled, self._next = False, None

    def _show_error(self, error: Any, start: RunStart) -> None:
        """An error of a run without the debugger. That the input is at its end is how many programs end their loop."""
        if error is not None and not isinstance(error, tf.errors.OutOfRangeError):
            print(*error_lines(error, start.feeds), sep="\n", flush=True)

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True


def _end(search: _Search, root: DumpRoot) -> None:
    search.end()
    root.remove()
