"""Writes where the ops of a program were made as rows, for dumps that become a trace while it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from tdbg.capture.source import Sources
from tdbg.frameworks import phase_of
from tdbg.frameworks.tensorflow.sessions.source_lines import frames_of
from tdbg.store.format import SCHEMAS


class GraphLines:
    """Where the program made what a dump names."""

    def __init__(self, maker: Callable[[str], Any]) -> None:
        """``maker`` gives the tf.Operation behind the name of a node, or None."""
        self._maker = maker
        self._rows: dict[str, list[tuple]] = defaultdict(list)
        self._sources = Sources(None, lambda table, row: self._rows[table].append(row), phase_of)

    def stack_of(self, node: str) -> int:
        """The number of its stack, -1 when it is not known."""
        op = self._maker(node)
        frames = (
            [(frame.file, frame.line, frame.function) for frame in reversed(frames_of(op))] if op is not None else []
        )
        return self._sources.of_frames(frames)

    def rows(self) -> Iterator[tuple[str, dict[str, list]]]:
        """Tables and their columns: what the numbers refer to."""
        for table, rows in self._rows.items():
            names = SCHEMAS[table].names
            yield table, {name: [row[n] for row in rows] for n, name in enumerate(names)}
