"""Sends the tensors of a wrapped Session's runs to debug servers: of all runs, or of those that pass a filter."""

from __future__ import annotations

import time
import traceback
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tdbg.capture import faults
from tdbg.frames import is_own_file
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir
from tdbg.frameworks.tensorflow.reading_dumps.filters import TensorFilter
from tdbg.frameworks.tensorflow.sessions.names import run_key
from tdbg.frameworks.tensorflow.tfdbg.debug_server import DebugServer
from tdbg.frameworks.tensorflow.tfdbg.dump_root import DumpRoot, RunDump
from tdbg.frameworks.tensorflow.tfdbg.non_interactive import NonInteractiveDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.old_names import takes_old_names
from tdbg.frameworks.tensorflow.tfdbg.requests import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
)
from tdbg.frameworks.tensorflow.tfdbg.watching import WatchOptions
from tdbg.scene import TensorFilter as Filter

Addresses = str | list[str]
PATIENCE = 10.0  # seconds for a server that starts beside the program
_LOOKS_AGAIN = 5.0  # seconds


class GrpcDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Sends the tensors of each run() to debug servers, given as ``host:port`` or ``grpc://host:port``.

    A server that is not there yet is waited for, ``patience`` seconds at the first run. Then that is said, the program
    continues without the debugger, and it looks for the server again before later runs.
    """

    _wants_partition_graphs = False  # the runtime sends them

    @takes_old_names
    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Addresses,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        *,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
        patience: float = PATIENCE,
    ) -> None:
        self._patience, self._next_look = patience, 0.0
        self._servers = [DebugServer(address) for address in _addresses(grpc_debug_server_addresses)]
        super().__init__(
            sess,
            watch_fn=watch_fn,
            thread_name_filter=thread_name_filter,
            start_step=start_step,
            stop_step=stop_step,
            every=every,
        )

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        return [server.url for server in self._servers]

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        if not self._is_wanted(request.run_call_count - 1) or not self._are_servers_there():
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        return super().on_run_start(request)

    def _are_servers_there(self) -> bool:
        if time.monotonic() < self._next_look:
            return False
        patience, self._patience = self._patience, 0.0
        for server in self._servers:
            if not server.wait_for(patience, self._say_once):
                self._say_once(
                    f"no debug server answers at {server.address}; start one there (a gRPC server of TensorFlow's "
                    "EventListener service). The program continues without the debugger, which tries again later"
                )
                self._next_look = time.monotonic() + _LOOKS_AGAIN
                return False
        return True


class TensorBoardDebugWrapperSession(GrpcDebugWrapperSession):
    """Lets a debug server with a page of its own, such as TensorBoard's debugger, watch all tensors and break at them.

    It sends where ops were made, and these source files, unless ``send_traceback_and_source_code`` is False.

    With ``tensor_filter_fn(datum, tensor)`` a run is sent only if a tensor of it passes: the run is dumped to a
    temporary folder, each tensor is shown to the filter, and then all its events go to the server, or none. The server
    cannot break at tensors then, for the run is over when it hears of it.
    """

    @takes_old_names
    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Addresses,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
        *,
        tensor_filter_fn: Filter | None = None,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(
            sess,
            grpc_debug_server_addresses,
            watch_fn=_gated,
            thread_name_filter=thread_name_filter,
            start_step=start_step,
            stop_step=stop_step,
            every=every,
            patience=patience,
        )
        self._sends_sources = send_traceback_and_source_code
        self._sent_version = -1
        self._filter = TensorFilter("tensor_filter_fn", tensor_filter_fn) if tensor_filter_fn else None
        self._open: dict[str, tuple[RunDump, int]] = {}
        if self._filter:
            self._root = DumpRoot.temporary()
            self._clean_up = weakref.finalize(self, self._root.remove)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        response = super().on_run_start(request)
        if response.action != OnRunStartAction.DEBUG_RUN:
            return response
        if self._sends_sources and self.graph.version > self._sent_version:
            with faults.guard("sending tracebacks to the debug server"):
                self._sent_version = self.graph.version
                _send_tracebacks(self._servers, self.graph, request.fetches, request.feed_dict)
        if self._filter is None:
            return response
        dump = self._root.begin(request.run_call_count, request.fetches, request.feed_dict)
        self._open[dump.url] = dump, request.run_call_count
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, [dump.url])

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        self._finish(request.response)
        return OnRunEndResponse()

    def on_run_abandoned(self, response: OnRunStartResponse) -> None:
        self._finish(response)

    def _finish(self, response: OnRunStartResponse | None) -> None:
        found = self._open.pop(response.debug_urls[0], None) if response and response.debug_urls else None
        if found is None:
            return
        with faults.guard("sending a run to the debug server"):
            folder = self._root.finish(found[0]).folder
            try:
                self._send_if_it_passes(folder, found[1])
            finally:
                self._root.discard(folder)

    def _send_if_it_passes(self, folder: Path, number: int) -> None:
        assert self._filter is not None
        dump = DebugDumpDir(str(folder), validate=False)
        passed = self._filter.find(dump)
        if not passed:
            return
        for server in self._servers:
            count = server.send_run(str(folder))
            faults.say(
                f"run #{number}: {len(passed)} tensors passed tensor_filter_fn, the first is {passed[0].tensor_name}; "
                f"its {count} events were sent to {server.address}"
            )


def publish_traceback(
    debug_server_urls: Addresses, graph: Any, feed_dict: Any, fetches: Any, old_graph_version: int
) -> int:
    """Sends where the ops of a graph were made, and these files, to debug servers, if the graph is newer than this
    version; its version."""
    if graph.version > old_graph_version:
        _send_tracebacks(list(map(DebugServer, _addresses(debug_server_urls))), graph, fetches, feed_dict)
    return max(graph.version, old_graph_version)


def _send_tracebacks(servers: list[DebugServer], graph: Any, fetches: Any, feed_dict: Any) -> None:
    stack = [frame for frame in traceback.extract_stack() if not is_own_file(frame.filename)]
    for server in servers:
        server.send_tracebacks(graph, run_key(fetches, feed_dict), stack)


def _gated(fetches: Any, feeds: Any) -> WatchOptions:
    """All tensors, each to be switched on and off by the server."""
    return WatchOptions(debug_ops=["DebugIdentity(gated_grpc=true)"])


def _addresses(given: Addresses) -> Iterable[str]:
    addresses = [given] if isinstance(given, str) else given
    if not isinstance(addresses, list):
        raise TypeError(f"Expected type str or list in grpc_debug_server_addresses, received type {type(given)}")
    for address in addresses:
        if not isinstance(address, str):
            raise TypeError(f"Expected type str in list grpc_debug_server_addresses, received type {type(address)}")
        yield address
