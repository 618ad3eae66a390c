"""Sends graphs with their stacks, source files and dumped runs to a debug server (gRPC, EventListener)."""

from __future__ import annotations

import linecache
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tensorflow.core.debug import debug_service_pb2
from tensorflow.core.protobuf import debug_pb2
from tensorflow.core.util import event_pb2

from tdbg.formats.dumps.folder import scan_run
from tdbg.formats.dumps.names import device_of_folder
from tdbg.frames import is_user_file
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir
from tdbg.frameworks.tensorflow.reading_dumps.dump_tensors import read_event

URL_PREFIX = "grpc://"
_CHUNK = 4_000_000  # below gRPC's usual limit of 4 MiB per message
_PATIENCE = 2.0  # seconds until a server counts as not there
_PAUSE = 0.1  # seconds between two looks for a server
_LONGEST = 60.0  # seconds for one message to be taken


class DebugServer:
    """One server, by its address: ``host:port``, with or without ``grpc://``."""

    def __init__(self, address: str) -> None:
        self.address = address.removeprefix(URL_PREFIX)

    @property
    def url(self) -> str:
        return URL_PREFIX + self.address

    def is_there(self) -> bool:
        """Whether somebody listens there. An address that is no ``host:port`` is left to gRPC."""
        host, _, port = self.address.rpartition(":")
        if not host or not port.isdigit():
            return True
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
        except OSError:
            return False
        return True

    def wait_for(self, seconds: float, say: Callable[[str], None]) -> bool:
        """Whether it is there, now or within so many seconds; where it is not there at once, that is said."""
        until = time.monotonic() + seconds
        while not self.is_there():
            if time.monotonic() >= until:
                return False
            say(f"waiting {seconds:g} s for a debug server at {self.address}")
            time.sleep(_PAUSE)
        return True

    def send_tracebacks(self, graph: Any, key: str, stack: Iterable[Any], with_sources: bool = True) -> None:
        """Where run() was called, where each op was made, and the user's files among these places."""
        message, files = _call_traceback(graph, key, list(stack))
        self._call("SendTracebacks", message)
        for file in sorted(filter(is_user_file, files)) if with_sources else ():
            if os.path.isfile(file):
                self._call("SendSourceFiles", debug_pb2.DebuggedSourceFiles(source_files=[_source_file(file)]))

    def send_run(self, folder: str) -> int:
        """All events of a dumped run, as TensorFlow itself would have sent them. How many there were."""
        events = list(_events_of_run(folder))
        import grpc

        with grpc.insecure_channel(self.address) as channel:
            send = channel.stream_stream(
                "/tensorflow.EventListener/SendEvents",
                request_serializer=event_pb2.Event.SerializeToString,
                response_deserializer=debug_service_pb2.EventReply.FromString,
            )
            for _ in send(iter(events), timeout=_LONGEST):
                pass
        return len(events)

    def _call(self, method: str, message: Any) -> None:
        import grpc

        with grpc.insecure_channel(self.address, options=[("grpc.max_send_message_length", -1)]) as channel:
            send = channel.unary_unary(
                f"/tensorflow.EventListener/{method}",
                request_serializer=type(message).SerializeToString,
                response_deserializer=debug_service_pb2.EventReply.FromString,
            )
            send(message, timeout=_LONGEST)


class _Strings:
    """Texts by number, as these messages have them; 0 is no text."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"": 0}

    def __call__(self, text: str | None) -> int:
        return self.numbers.setdefault(text or "", len(self.numbers))

    def store(self, id_to_string: Any) -> None:
        for text, number in self.numbers.items():
            id_to_string[number] = text


def _call_traceback(graph: Any, key: str, stack: list[Any]) -> tuple[Any, set[str]]:
    message = debug_service_pb2.CallTraceback(
        call_type=debug_service_pb2.CallTraceback.GRAPH_EXECUTION, call_key=key, graph_version=graph.version
    )
    files: set[str] = set()
    origin, strings = _Strings(), _Strings()
    _add_frames(message.origin_stack.traces, stack, origin, files)
    origin.store(message.origin_id_to_string)
    for op in graph.get_operations():
        entry = message.graph_traceback.log_entries.add(name=op.name)
        _add_frames(entry.code_def.traces, op.traceback or (), strings, files)
    strings.store(message.graph_traceback.id_to_string)
    return message, files


def _add_frames(traces: Any, stack: Iterable[Any], strings: _Strings, files: set[str]) -> None:
    for file, line, function, text in map(tuple, stack):
        files.add(file)
        traces.add(
            file_id=strings(file),
            lineno=line or -1,
            function_id=strings(function),
            line_id=strings(text),
            func_start_line=-1,
        )


def _source_file(path: str) -> Any:
    status = os.stat(path)
    return debug_pb2.DebuggedSourceFile(
        host=socket.gethostname(),
        file_path=path,
        last_modified=status.st_mtime_ns,
        bytes=status.st_size,
        lines=[line.rstrip("\r\n") for line in linecache.getlines(path)],
    )


def _events_of_run(folder: str) -> Iterator[Any]:
    files = scan_run(folder)
    yield from (read_event(os.path.join(folder, path)) for path in files.core_metadata)
    for device in files.devices:
        for path in device.graphs:
            yield from _graph_events(os.path.join(folder, path))
    for datum in DebugDumpDir(folder, validate=False).dumped_tensor_data:
        yield from _tensor_events(read_event(datum.file_path))


def _graph_events(path: str) -> Iterator[Any]:
    """A graph goes in pieces: ``hash,device,microseconds|number of the piece|of how many|bytes``."""
    event = read_event(path)
    number, _, when = os.path.basename(path).rpartition("_")
    device = device_of_folder(os.path.basename(os.path.dirname(path)))
    title = f"{number.rpartition('hash')[2]},{device},{when}"
    pieces = _pieces(event.graph_def)
    for index, piece in enumerate(pieces):
        head = f"{title}|{index}|{len(pieces)}|".encode()
        yield event_pb2.Event(wall_time=event.wall_time, graph_def=head + piece)


def _tensor_events(event: Any) -> Iterator[Any]:
    value = event.summary.value[0]
    pieces = _pieces(value.tensor.tensor_content)
    if len(pieces) == 1:
        yield event
        return
    about = value.metadata.plugin_data.content
    for index, piece in enumerate(pieces):
        part = event_pb2.Event()
        part.CopyFrom(event)
        part.summary.value[0].tensor.tensor_content = piece
        told = about.replace(b'"numChunks":1', b'"numChunks":%d' % len(pieces))
        part.summary.value[0].metadata.plugin_data.content = told.replace(b'"chunkIndex":0', b'"chunkIndex":%d' % index)
        yield part


def _pieces(content: bytes) -> list[bytes]:
    return [content[start : start + _CHUNK] for start in range(0, max(len(content), 1), _CHUNK)]
