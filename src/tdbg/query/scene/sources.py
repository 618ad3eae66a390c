"""Lists the Python files that made the ops of a process, and what each line made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from tdbg.errors import TdbgError
from tdbg.model import Frame, is_bad
from tdbg.nearest import did_you_mean
from tdbg.query.scene.ops import Ops
from tdbg.query.scene.selection import Rowset
from tdbg.query.scene.texts import Texts
from tdbg.query.trace.program import Program
from tdbg.scene import SourceFile, SourceLine

Outputs = dict[tuple[int, int], tuple[int, int]]  # by op and slot: rows, and how many of them are bad


class SourceFiles:
    """The source files of one process. An op belongs to each file on its stack, once a file: to the innermost line of
    it."""

    def __init__(self, program: Program, ops: Ops, texts: Texts, whole: Callable[[], Outputs]) -> None:
        self._program, self._ops, self._texts, self._whole = program, ops, texts, whole

    def files(self, rowset: Rowset) -> list[SourceFile]:
        """Lists the user's files first, then the others by path."""
        outputs = self._outputs(rowset)
        by_op: dict[int, list[int]] = defaultdict(list)
        for (op, _), (rows, _) in outputs.items():
            by_op[op].append(rows)
        found = []
        for path, lines in self._by_file.items():
            ops = {op for made in lines.values() for op in made}
            counts = [count for op in ops for count in by_op.get(op, ())]
            is_user = self._is_user[path]
            found.append(SourceFile(path, is_user, len(ops), len(counts), sum(counts), min(lines)))
        return sorted(found, key=lambda file: (not file.is_user, file.path))

    def lines(self, path: str, rowset: Rowset) -> list[SourceLine]:
        file = self._find(path)
        outputs = self._outputs(rowset)
        bad = {op for (op, _), (_, count) in outputs.items() if count}
        slots: dict[int, list[int]] = defaultdict(list)
        for op, slot in sorted(outputs):
            slots[op].append(slot)
        made = self._by_file.get(file, {})
        text = self._texts.of(file)
        shown, at = self._ops.shown, self._ops.at
        found = []
        for number in range(1, max(len(text), max(made, default=0)) + 1):
            ops = made.get(number, [])
            found.append(
                SourceLine(
                    number,
                    text[number - 1] if number <= len(text) else "",
                    tuple(dict.fromkeys(shown[at[op]] for op in ops)),
                    tuple(dict.fromkeys(f"{shown[at[op]]}:{slot}" for op in ops for slot in slots.get(op, ()))),
                    any(op in bad for op in ops),
                )
            )
        return found

    def ops_by_line(self, path: str) -> tuple[str, dict[int, list[int]]]:
        """Finds the file that is meant, and the ops that each of its lines made."""
        file = self._find(path)
        return file, dict(self._by_file.get(file, {}))

    def _find(self, path: str) -> str:
        """Finds a file by its path or the end of it."""
        known = list(dict.fromkeys([*self._by_file, *self._program.files()]))
        if path in known:
            return path
        ending = "/" + path.removeprefix("./").lstrip("/")
        found = [file for file in known if ("/" + file).endswith(ending)]
        if len(found) == 1:
            return found[0]
        users = [file for file in found if self._is_user.get(file)]
        if len(users) == 1:
            return users[0]
        if found:
            raise TdbgError(f"several files end in {path!r}: {', '.join(sorted(found))}")
        names = {file.rpartition("/")[2]: file for file in known}
        near = did_you_mean(path, [*names, *known])
        raise TdbgError(f"no file {path!r} created nodes here; {near or 'list_source lists those that did'}")

    @cached_property
    def _is_user(self) -> dict[str, bool]:
        return {frame.file: frame.is_user for _, frame in self._places}

    @cached_property
    def _by_file(self) -> dict[str, dict[int, list[int]]]:
        """Ops by file and line."""
        found: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for op, frame in self._places:
            found[frame.file][frame.line].append(op)
        return found

    @cached_property
    def _places(self) -> list[tuple[int, Frame]]:
        by_stack: dict[int, list[Frame]] = {}
        found = []
        for number, stack in zip(self._ops.numbers.tolist(), self._ops.stacks.tolist(), strict=True):
            if stack not in by_stack:
                frames: dict[str, Frame] = {}
                for frame in self._program.shown_stack(stack):
                    frames.setdefault(frame.file, frame)
                by_stack[stack] = list(frames.values())
            found += [(number, frame) for frame in by_stack[stack]]
        return found

    def _outputs(self, rowset: Rowset) -> Outputs:
        return self._whole() if rowset.given is None else _counted(rowset)


def _counted(rowset: Rowset) -> Outputs:
    found = rowset.all
    op, slot, flags = (rowset.pages.cells(name, found).astype(np.int64) for name in ("op", "slot", "flags"))
    keys, places = np.unique((op << 16) | slot, return_inverse=True)
    rows = np.bincount(places, minlength=len(keys))
    bad = np.bincount(places, weights=is_bad(flags), minlength=len(keys))
    pairs: Sequence[tuple[int, int]] = [(int(key) >> 16, int(key) & 0xFFFF) for key in keys]
    return {pair: (int(count), int(wrong)) for pair, count, wrong in zip(pairs, rows, bad, strict=True)}
