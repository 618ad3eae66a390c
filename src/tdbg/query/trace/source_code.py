"""Knows the stacks and the source lines behind what one process of a trace ran."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Sequence
from functools import cached_property

from tdbg.frames import is_own_file
from tdbg.model import Frame
from tdbg.query.trace.definitions import Definitions, definitions
from tdbg.query.trace.trace import Trace


class SourceCode:
    """The program's code, as it was when the program ran."""

    def __init__(self, trace: Trace, process: int) -> None:
        self._trace, self._process = trace, process
        self._spans: dict[str, list[tuple[int, int]]] = {}  # by file, as they are asked for
        self._trees: dict[str, ast.Module | None] = {}  # likewise
        self._own: dict[str, bool] = {}  # likewise

    def _columns(self, table: str, columns: Sequence[str] | None = None) -> dict[str, list]:
        return self._trace.table(table, columns, self._process).to_pydict()

    # ---- stacks

    @cached_property
    def _stacks(self) -> dict[int, tuple[int, int]]:
        columns = self._columns("stacks")
        return dict(zip(columns["stack"], zip(columns["parent"], columns["frame"], strict=True), strict=True))

    @cached_property
    def _frames(self) -> dict[int, Frame]:
        columns = self._columns("frames")
        names = ("file", "line", "function", "is_user")
        rows = zip(*(columns[name] for name in names), strict=True)
        return {number: Frame(*row) for number, row in zip(columns["frame"], rows, strict=True)}

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        columns = self._columns("sources")
        return {file: text.splitlines() for file, text in zip(columns["file"], columns["text"], strict=True)}

    def stack(self, number: int) -> list[Frame]:
        """Reads a stack, the innermost frame first."""
        frames = []
        while number in self._stacks:
            number, frame = self._stacks[number]
            if frame in self._frames:
                frames.append(self._frames[frame])
        return frames

    def shown_stack(self, number: int) -> list[Frame]:
        """Reads a stack without the code that ran the program: tdbg's own, and what Python starts modules with."""
        return [frame for frame in self.stack(number) if not self._is_own(frame.file)]

    def _is_own(self, file: str) -> bool:
        if file not in self._own:
            self._own[file] = file.startswith("<frozen ") or is_own_file(file)
        return self._own[file]

    def frames(self) -> Collection[Frame]:
        """Gives all lines that are on any stack."""
        return self._frames.values()

    # ---- text

    def line_text(self, frame: Frame) -> str:
        """Gives the text of a line."""
        lines = self._sources.get(frame.file, [])
        return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""

    def files(self) -> list[str]:
        """Lists the files whose text the trace holds."""
        return list(self._sources)

    def text_of(self, file: str) -> list[str]:
        """Gives the lines of a file; none when the trace does not hold it."""
        return self._sources.get(file, [])

    def sources(self) -> list[str]:
        """Gives the texts of the user's files."""
        return ["\n".join(lines) for lines in self._sources.values()]

    def lines_around(self, frame: Frame, before: int, after: int) -> list[tuple[int, str]]:
        """Gives the lines around one, with their numbers; none when the source is not there."""
        lines = self._sources.get(frame.file, [])
        if not 0 < frame.line <= len(lines):
            return []
        first, last = max(1, frame.line - before), min(len(lines), frame.line + after)
        return [(number, lines[number - 1]) for number in range(first, last + 1)]

    def statement_lines(self, frame: Frame) -> tuple[int, int]:
        """Finds the first and last line of the statement around a line; the line itself where that is not known."""
        around = [
            (last - first, first, last)
            for first, last in self._statements(frame.file)
            if first <= frame.line <= last and last - first < 20
        ]
        return min(around)[1:] if around else (frame.line, frame.line)

    def statement_text(self, frame: Frame) -> str:
        """Gives the whole statement around a line, which may span several; the line itself where it does not parse."""
        first, last = self.statement_lines(frame)
        if not 0 < first <= last <= len(self._sources.get(frame.file, [])):
            return ""
        return textwrap.dedent("\n".join(self._sources[frame.file][first - 1 : last]))

    def _statements(self, file: str) -> list[tuple[int, int]]:
        """Finds the first and last line of each statement of a file; none where it does not parse."""
        if file not in self._spans:
            tree = self._tree(file)
            nodes = ast.walk(tree) if tree is not None else ()
            self._spans[file] = [
                (node.lineno, node.end_lineno) for node in nodes if isinstance(node, ast.stmt) and node.end_lineno
            ]
        return self._spans[file]

    def _tree(self, file: str) -> ast.Module | None:
        if file not in self._trees:
            try:
                self._trees[file] = ast.parse("\n".join(self._sources.get(file, [])))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._trees[file] = None
        return self._trees[file]

    def definitions_at(self, frame: Frame, repeatable: Collection[str]) -> Definitions:
        """Finds the names that stand for one expression each in the statement around a line. ``repeatable``: functions
        that give the same each time they are called."""
        tree = self._tree(frame.file)
        return definitions(tree, self.statement_lines(frame)[0], repeatable) if tree is not None else {}

    def imports(self, frame: Frame) -> dict[str, str]:
        """Finds the names under which a file imports modules: ``tf`` for tensorflow, ``np`` for numpy."""
        tree = self._tree(frame.file)
        found = {}
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                found.update({alias.asname or alias.name: f"{above}{alias.name}" for alias in node.names})
        return found
