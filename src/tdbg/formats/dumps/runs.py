"""Finds the runs in a folder that the debugger dumped to, with their graphs; damage is counted."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tdbg.formats.debug_events.wire import WireError
from tdbg.formats.dumps.events import read_graph, read_message
from tdbg.formats.dumps.folder import RunFiles, TensorFile, scan_run
from tdbg.formats.dumps.graph_def import Node, parse_graph
from tdbg.formats.dumps.names import microseconds
from tdbg.store.plain_files import json_object

UNREADABLE = (OSError, WireError, ValueError)


class Damage:
    """Files that could not be read."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def add(self, path: str) -> None:
        self._paths[path] = None

    @property
    def count(self) -> int:
        return len(self._paths)

    @property
    def first(self) -> str:
        return next(iter(self._paths), "")


@dataclass
class Run:
    """One Session.run: what it was asked for, and the files of its tensors by device, in the order of time."""

    began: int  # µs
    number: int = -1
    global_step: int = -1
    fetches: list[str] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    tensors: dict[str, list[TensorFile]] = field(default_factory=dict)


class RunFolder:
    """The files of a folder, which is usually of one run; several that dumped to the same folder are told apart by
    when each began."""

    def __init__(self, root: str, damage: Damage) -> None:
        self.files: RunFiles = scan_run(root)
        self._damage = damage

    def path(self, name: str) -> str:
        return os.path.join(self.files.root, name)

    def runs(self) -> list[Run]:
        runs = sorted(self._told_runs(), key=lambda run: run.began) or [self._untold_run()]
        starts = [run.began for run in runs[1:]]
        for device in self.files.devices:
            for file in device.tensors:
                run = runs[bisect_right(starts, file.name.timestamp)]
                run.tensors.setdefault(device.device, []).append(file)
        return runs

    def _told_runs(self) -> Iterator[Run]:
        for name in self.files.core_metadata:
            try:
                told = json_object(read_message(self.path(name)))
            except UNREADABLE:
                self._damage.add(self.path(name))
                continue
            stamp = name.rsplit("_", 1)[-1].split("-")[0]
            yield Run(
                microseconds(stamp),
                _number(told.get("session_run_index")),
                _number(told.get("global_step")),
                _names(told.get("output_names")),
                _names(told.get("input_names")),
                _names(told.get("target_nodes")),
            )

    def _untold_run(self) -> Run:
        """Of a run without the runtime's own file about it."""
        stamps = [device.tensors[0].name.timestamp for device in self.files.devices if device.tensors]
        run = Run(min(stamps, default=0))
        for names, told in ((self.files.fetches, run.fetches), (self.files.feeds, run.feeds)):
            for name in names:
                try:
                    told.append(read_message(self.path(name)))
                except UNREADABLE:
                    self._damage.add(self.path(name))
        return run

    def graphs(self) -> Iterator[tuple[str, list[bytes]]]:
        """Each device with its partition graphs as they are in the files, the newest first."""
        for device in self.files.devices:
            found = []
            for name in reversed(device.graphs):
                try:
                    found.append(read_graph(self.path(name)))
                except UNREADABLE:
                    self._damage.add(self.path(name))
            yield device.device, found

    def nodes(self, graphs: list[bytes]) -> list[Node]:
        """Of one device; a node that several graphs have is taken from the newest."""
        found: dict[str, Node] = {}
        for graph in graphs:
            try:
                nodes = parse_graph(graph)
            except WireError:
                self._damage.add(self.files.root)
                continue
            for node in nodes:
                found.setdefault(node.name, node)
        return list(found.values())


def _number(told: Any) -> int:
    return told if isinstance(told, int) and -1 <= told < 1 << 31 else -1


def _names(told: Any) -> list[str]:
    return [str(name) for name in told] if isinstance(told, list) else []
