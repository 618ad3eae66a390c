"""Reads the dump folder of one Session.run: its tensors and graphs, by the names that tfdbg's users know."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from heapq import merge
from typing import Any, NamedTuple

from tensorflow.core.framework import graph_pb2

from tdbg.formats.dumps.edges import causality_violations
from tdbg.formats.dumps.folder import scan_run
from tdbg.formats.dumps.names import node_of, watch_key
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import PartitionGraph, load_partition_graph
from tdbg.frameworks.tensorflow.reading_dumps.dump_tensors import (
    DebugTensorDatum,
    InconvertibleTensorProto,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
    read_event,
)
from tdbg.frameworks.tensorflow.reading_dumps.graph_queries import GraphQueries, one_or_all

__all__ = [
    "CoreMetadata",
    "DebugDumpDir",
    "DebugTensorDatum",
    "InconvertibleTensorProto",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "has_inf_or_nan",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
]

Predicate = Callable[[DebugTensorDatum, Any], Any]


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Nothing was dumped under this watch key."""


class CoreMetadata(NamedTuple):
    """What TensorFlow's runtime says about a run."""

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


def core_metadata_of(message: str) -> CoreMetadata:
    """Of the text in the runtime's file about a run."""
    told = json.loads(message)
    return CoreMetadata(*(told[name] for name in CoreMetadata._fields))


class DebugDumpDir(GraphQueries):
    """What was dumped of one run. File names are read at once, tensors and the edges of graphs when asked for.

    ``warnings`` says what is odd about the dumps without making them useless.
    """

    def __init__(
        self, dump_root: str, partition_graphs: Iterable[graph_pb2.GraphDef] | None = None, validate: bool = True
    ) -> None:
        """``partition_graphs`` are taken where the folder has none.

        OSError when there is no such folder; ValueError when a graph cannot be read or, with ``validate``, when it is
        not the graph of the dumped tensors.
        """
        dump_root = os.fspath(dump_root)
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._root = dump_root
        self._files = scan_run(dump_root)
        self._load_notes: list[str] = [
            f"This file is not a dump of a tensor and was skipped: {path}" for path in self._files.strangers
        ]
        self._python_graph: Any = None
        self._data = {
            files.device: [
                DebugTensorDatum.of(files.device, file.node, file.name, os.path.join(dump_root, file.path))
                for file in files.tensors
            ]
            for files in self._files.devices
        }
        self._graphs = {}
        self._load_graphs(list(partition_graphs or ()), validate)

    def _load_graphs(self, given: list[graph_pb2.GraphDef], validate: bool) -> None:
        for files in self._files.devices:
            if files.graphs:
                graph_def = load_partition_graph([os.path.join(self._root, path) for path in files.graphs])
            else:
                self._load_notes.append(
                    f"The folder has no partition graph of device {files.device}; one that was given is used, if any."
                )
                on_device = (graph for graph in given if any(node.device == files.device for node in graph.node))
                found = next(on_device, None)
                if found is None:
                    continue
                graph_def = found
            graph = self._graphs[files.device] = PartitionGraph(files.device, graph_def)
            if validate:
                self._check_names(graph, is_own=bool(files.graphs))

    def _check_names(self, graph: PartitionGraph, is_own: bool) -> None:
        unknown = dict.fromkeys(
            datum.node_name for datum in self._data[graph.device] if datum.node_name not in graph.names
        )
        if unknown and is_own:
            raise ValueError(
                f"Node name '{next(iter(unknown))}' is not found in partition graphs of device {graph.device}."
            )
        if unknown:
            self._load_notes.append(f"The given graph of device {graph.device} lacks {len(unknown)} dumped nodes.")

    @property
    def root(self) -> str:
        return self._root

    def devices(self) -> list[str]:
        return list(self._data)

    # ---- the run

    @property
    def warnings(self) -> list[str]:
        """What is odd: strange files, no graph, duplicate nodes, tensors that were dumped before their inputs."""
        return [*self._load_notes, *self._graph_notes]

    @cached_property
    def _graph_notes(self) -> list[str]:
        notes = []
        for device, graph in self._graphs.items():
            notes += [f"Duplicate node name on device {device}: '{name}'" for name in graph.edges.duplicates]
            dumps = [(datum.node_name, datum.output_slot, datum.timestamp) for datum in self._data[device]]
            for node, time, late in causality_violations(graph.edges, dumps):
                notes.append(
                    f"Causality violated in timing relations of debug dumps: {node} ({time}): "
                    f"dumped before its input(s): {', '.join(late)}"
                )
        return notes

    @cached_property
    def _core_metadata(self) -> list[CoreMetadata]:
        texts = self._log_messages(self._files.core_metadata)
        return [core_metadata_of(text) for text in texts]

    def _log_messages(self, paths: list[str]) -> list[str]:
        return [read_event(os.path.join(self._root, path)).log_message.message for path in paths]

    @property
    def core_metadata(self) -> CoreMetadata | list[CoreMetadata]:
        """A list unless there is exactly one."""
        return one_or_all(self._core_metadata)

    @property
    def run_fetches_info(self) -> str | list[str]:
        """repr() of the fetches; a list unless there is exactly one."""
        return one_or_all(self._log_messages(self._files.fetches))

    @property
    def run_feed_keys_info(self) -> str | list[str]:
        """repr() of the keys of the feed_dict; a list unless there is exactly one."""
        return one_or_all(self._log_messages(self._files.feeds))

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """All dumps in the order of time."""
        return list(merge(*self._data.values(), key=lambda datum: datum.order))

    @property
    def size(self) -> int:
        """How many tensors were dumped."""
        return sum(map(len, self._data.values()))

    @property
    def t0(self) -> int | None:
        """When the first tensor was dumped, in µs."""
        return min((data[0].timestamp for data in self._data.values() if data), default=None)

    @property
    def python_graph(self) -> Any:
        return self._python_graph

    def set_python_graph(self, python_graph: Any) -> None:
        """The tf.Graph that was run: it knows where each node was made."""
        self._python_graph = python_graph

    def node_traceback(self, element_name: str) -> tuple[tuple, ...]:
        """Where a node was made: (file, line, function, text) of each frame, the outermost first."""
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        node = node_of(element_name)
        try:
            op = self._python_graph.get_operation_by_name(node)
        except (KeyError, ValueError):
            raise KeyError(f'Cannot find node "{node}" in Python graph') from None
        return tuple(map(tuple, op.traceback))

    # ---- dumps by watch key

    @cached_property
    def _by_key(self) -> dict[str, dict[str, list[DebugTensorDatum]]]:
        """By watch key and device."""
        found: dict[str, dict[str, list[DebugTensorDatum]]] = defaultdict(lambda: defaultdict(list))
        for device, data in self._data.items():
            for datum in data:
                found[datum.watch_key][device].append(datum)
        return {key: dict(devices) for key, devices in found.items()}

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The watch keys under which outputs of this node were dumped, by output slot."""
        found = {
            (datum.output_slot, datum.debug_op)
            for device, by_node in self._by_node.items()
            if device_name in (None, device)
            for datum in by_node.get(node_name, ())
        }
        return [watch_key(node_name, slot, debug_op) for slot, debug_op in sorted(found)]

    @cached_property
    def _by_node(self) -> dict[str, dict[str, list[DebugTensorDatum]]]:
        found: dict[str, dict[str, list[DebugTensorDatum]]] = {}
        for device, data in self._data.items():
            by_node = found[device] = defaultdict(list)
            for datum in data:
                by_node[datum.node_name].append(datum)
        return found

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> list[DebugTensorDatum]:
        """Its dumps in the order of time; none when there is no such watch key."""
        if device_name is not None and device_name not in self._data:
            raise ValueError(f"There is no device named '{device_name}' consisting of debug watch keys.")
        devices = self._by_key.get(debug_watch_key, {})
        if device_name is not None:
            return list(devices.get(device_name, ()))
        if len(devices) > 1:
            raise ValueError(
                f"The debug watch key '{debug_watch_key}' exists on multiple ({len(devices)}) devices, but "
                "device name is not specified."
            )
        return [datum for data in devices.values() for datum in data]

    def find(
        self,
        predicate: Predicate,
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The dumps for which ``predicate(datum, tensor)`` is true, in the order of time; all when first_n is 0.

        A dump that cannot be read is passed over and named in ``warnings``.
        """
        if device_name is not None and device_name not in self._data:
            raise ValueError(f"Invalid device name: {device_name}")
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found: list[DebugTensorDatum] = []
        for datum in self.dumped_tensor_data if device_name is None else self._data[device_name]:
            if excluded and excluded.match(datum.node_name):
                continue
            try:
                tensor = datum.get_tensor()
            except (OSError, ValueError) as error:
                self._load_notes.append(str(error))
                continue
            if predicate(datum, tensor):
                found.append(datum)
                if 0 < first_n <= len(found):
                    break
        return found

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[str]:
        return [datum.file_path for datum in self._dumps_of(node_name, output_slot, debug_op, device_name)]

    def get_tensors(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None) -> list:
        return [datum.get_tensor() for datum in self._dumps_of(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """µs since ``t0``."""
        began = self.t0 or 0
        return [datum.timestamp - began for datum in self._dumps_of(node_name, output_slot, debug_op, device_name)]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int | None]:
        return [datum.dump_size_bytes for datum in self._dumps_of(node_name, output_slot, debug_op, device_name)]

    def _dumps_of(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None
    ) -> list[DebugTensorDatum]:
        key = watch_key(node_name, output_slot, debug_op)
        try:
            found = self.watch_key_to_data(key, device_name)
        except ValueError as error:
            raise WatchKeyDoesNotExistInDebugDumpDirError(str(error)) from None
        if not found:
            on_device = f" of device {device_name}" if device_name else ""
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump{on_device}'
            )
        return found
