"""Knows what one process of a trace ran: its ops, functions, stacks and source lines."""

from __future__ import annotations

import ast
import os
import textwrap
from collections.abc import Sequence
from functools import cached_property

from tdbg.frames import is_own_file
from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.model import Frame, Phase
from tdbg.query.trace import earlier as earlier  # completes the ops of older traces
from tdbg.query.trace.definitions import Definitions, definitions
from tdbg.query.trace.fused import fused_in, may_be_fused
from tdbg.query.trace.op import Function, Op, function_name, variable_name
from tdbg.store.reader import Trace
from tdbg.vocabulary import Kind, Role

__all__ = ["Function", "Op", "Program", "function_name", "joined", "short_path", "variable_name"]


class _Ops(dict[int, Op]):
    """By number. What a trace refers to and does not hold is an op of which nothing is known."""

    def __missing__(self, number: int) -> Op:
        return Op(number, -1, "?", "?", (), -1, Phase.OTHER, -1, False)


class Program:
    """What one process of a trace ran, without its numbers."""

    def __init__(self, trace: Trace, process: int) -> None:
        self._trace, self._process = trace, process
        self._spans: dict[str, list[tuple[int, int]]] = {}  # by file, as they are asked for
        self._trees: dict[str, ast.Module | None] = {}  # likewise
        self._own: dict[str, bool] = {}  # likewise

    @property
    def is_imported(self) -> bool:
        """Whether the trace was made of another debugger's files, which may tell of a few runs of the program only."""
        return bool(self._trace.processes[self._process].info.get("imported"))

    def _columns(self, table: str) -> dict[str, list]:
        return self._trace.table(table, process=self._process).to_pydict()

    @cached_property
    def ops(self) -> dict[int, Op]:
        columns = self._columns("ops")
        kinds = {word: Kind(word) for word in set(columns["kind"])}
        roles = {words: Role.of_words(words) for words in {tuple(some) for some in columns["roles"]}}
        phases = {number: Phase(number) for number in set(columns["phase"])}
        found = _Ops()
        for at, (number, kind, ops) in enumerate(
            zip(columns["op"], columns["kind"], columns["input_ops"], strict=True)
        ):
            graph = columns["graph"][at]
            inputs = tuple(zip(ops, columns["input_slots"][at], strict=True))
            if not inputs and graph >= 0 and kinds[kind] == Kind.READ:  # a variable that is its own handle
                inputs = ((number, 0),)
            found[number] = Op(
                number,
                graph,
                columns["name"][at],
                columns["type"][at],
                inputs,
                columns["stack"][at],
                phases[columns["phase"][at]],
                columns["forward"][at],
                columns["observed"][at],
                kinds[kind],
                roles[tuple(columns["roles"][at])],
                columns["framework"][at],
            )
        return found

    @cached_property
    def dialects(self) -> tuple[Dialect, ...]:
        """How the frameworks say things whose ops the process ran."""
        return tuple(dialect_of(name) for name in sorted({op.framework for op in self.ops.values()}))

    @cached_property
    def wholes(self) -> dict[int, int]:
        """The op that computed another of the same graph as a part of itself, by the part's number: parts have no rows.
        Their values cannot be seen, and lineage looks through them."""
        columns = self._trace.table("ops", ["op", "graph", "name", "attributes"], self._process).to_pydict()
        places = zip(columns["graph"], columns["name"], strict=True)
        by_name = dict(zip(places, columns["op"], strict=True))
        found = {}
        for op, graph, text in zip(columns["op"], columns["graph"], columns["attributes"], strict=True):
            if may_be_fused(text):
                parts = (by_name.get((graph, part.name), op) for part in fused_in(text).parts)
                found.update({part: op for part in parts if part != op})
        return found

    @cached_property
    def fused(self) -> frozenset[int]:
        """The ops that have parts."""
        return frozenset(self.wholes.values())

    @cached_property
    def functions_by_name(self) -> dict[str, Function]:
        columns = self._columns("functions")
        return {
            name: Function(name, graph, tuple(arguments), tuple(zip(ops, slots, strict=True)))
            for name, graph, arguments, ops, slots in zip(
                *(columns[n] for n in ("function", "graph", "input_ops", "output_ops", "output_slots")), strict=True
            )
        }

    @cached_property
    def functions(self) -> dict[int, Function]:
        """By graph number; of a graph that was rewritten (loops get further results for gradients) the last form."""
        return {function.graph: function for function in self.functions_by_name.values()}

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
        """Innermost frame first."""
        frames = []
        while number in self._stacks:
            number, frame = self._stacks[number]
            if frame in self._frames:
                frames.append(self._frames[frame])
        return frames

    def shown_stack(self, number: int) -> list[Frame]:
        """The same without the code that ran the program: tdbg's own, and what Python starts modules with."""
        return [frame for frame in self.stack(number) if not self._is_own(frame.file)]

    def _is_own(self, file: str) -> bool:
        if file not in self._own:
            self._own[file] = file.startswith("<frozen ") or is_own_file(file)
        return self._own[file]

    @cached_property
    def scales_loss(self) -> bool:
        """Whether code ran that multiplies losses, and skips the steps in which that makes a gradient overflow."""
        return any(
            dialect.signs.loss_scaler.search(frame.file) for dialect in self.dialects for frame in self._frames.values()
        )

    def user_frame(self, op: Op) -> Frame | None:
        """The user's line behind an op; for a backward op, the line of the forward op that it differentiates."""
        if op.forward in self.ops and op.phase == Phase.BACKWARD:
            frame = self.user_frame(self.ops[op.forward])
            if frame is not None:
                return frame
        return next((frame for frame in self.stack(op.stack) if frame.is_user), None)

    def line_text(self, frame: Frame) -> str:
        """The source line as it was when the program ran."""
        lines = self._sources.get(frame.file, [])
        return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""

    def files(self) -> list[str]:
        """The files whose text the trace holds."""
        return list(self._sources)

    def text_of(self, file: str) -> list[str]:
        """Its lines as they were when the program ran; none when the trace does not hold it."""
        return self._sources.get(file, [])

    def sources(self) -> list[str]:
        """The texts of the user's files, as they were when the program ran."""
        return ["\n".join(lines) for lines in self._sources.values()]

    def lines_around(self, frame: Frame, before: int, after: int) -> list[tuple[int, str]]:
        """Numbered source lines around one, as they were when the program ran; none when the source is not there."""
        lines = self._sources.get(frame.file, [])
        if not 0 < frame.line <= len(lines):
            return []
        first, last = max(1, frame.line - before), min(len(lines), frame.line + after)
        return [(number, lines[number - 1]) for number in range(first, last + 1)]

    def statement_lines(self, frame: Frame) -> tuple[int, int]:
        """First and last line of the statement around a line; the line itself where that is not known."""
        around = [
            (last - first, first, last)
            for first, last in self._statements(frame.file)
            if first <= frame.line <= last and last - first < 20
        ]
        return min(around)[1:] if around else (frame.line, frame.line)

    def statement_text(self, frame: Frame) -> str:
        """The whole statement around a line, which may span several; the line itself where it does not parse."""
        first, last = self.statement_lines(frame)
        if not 0 < first <= last <= len(self._sources.get(frame.file, [])):
            return ""
        return textwrap.dedent("\n".join(self._sources[frame.file][first - 1 : last]))

    def _statements(self, file: str) -> list[tuple[int, int]]:
        """First and last line of each statement of a file; none where it does not parse."""
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

    def definitions(self, frame: Frame) -> Definitions:
        """The names that stand for one expression each in the statement around a line."""
        tree = self._tree(frame.file)
        repeatable = frozenset().union(*(dialect.repeatable for dialect in self.dialects))
        return definitions(tree, self.statement_lines(frame)[0], repeatable) if tree is not None else {}

    def imported_as(self, dialect: Dialect, frame: Frame) -> str:
        """The name under which a file imports a framework, ``tf`` for tensorflow; "" when it does not."""
        tree = self._tree(frame.file)
        nodes = ast.walk(tree) if tree is not None else ()
        imports = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        return next((alias.asname or alias.name for alias in imports if alias.name in dialect.modules), "")

    @cached_property
    def readers(self) -> dict[int, list[Op]]:
        """The ops that take an output of each op."""
        found: dict[int, list[Op]] = {}
        for op in self.ops.values():
            for number, _ in op.inputs:
                found.setdefault(number, []).append(op)
        return found

    def leads_to(self, op: Op, end: Op) -> bool:
        """Whether an op, or for an op of a gradient the one that it differentiates, is upstream of another."""
        start = op.forward if op.phase == Phase.BACKWARD and op.forward >= 0 else op.number
        seen, waiting = {start}, [start]
        while waiting:
            for reader in self.readers.get(waiting.pop(), ()):
                if reader.number == end.number:
                    return True
                if reader.number not in seen:
                    seen.add(reader.number)
                    waiting.append(reader.number)
        return False

    def input_name(self, op: Op, at: int) -> str:
        """The name of the op, or of the variable, that an input comes from; "" when there is none."""
        maker = self.ops.get(op.inputs[at][0]) if at < len(op.inputs) else None
        return variable_name(maker.name, maker.framework) if maker is not None else ""

    def variable_of(self, op: Op) -> str:
        """The name of the variable that an op reads or writes, as well as the graph tells it."""
        holder = self.ops.get(op.inputs[0][0]) if op.inputs else None
        return variable_name(holder.name, holder.framework) if holder is not None else op.name


def short_path(file: str) -> str:
    """Relative to the current folder when it lies below it, else the bare name."""
    if not file or file.startswith("<"):
        return file
    relative = os.path.relpath(file)
    return os.path.basename(file) if relative.startswith("..") else relative


def joined(items: Sequence[str], last: str = "and") -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""
