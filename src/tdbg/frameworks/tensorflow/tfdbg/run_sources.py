"""Lists the files that made the nodes of a run, and what each line made."""

from __future__ import annotations

import linecache
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tdbg.errors import TdbgError
from tdbg.frames import is_user_file
from tdbg.frameworks.tensorflow.sessions.source_lines import frames_of
from tdbg.model import Frame
from tdbg.nearest import did_you_mean
from tdbg.scene import SourceFile, SourceLine


class RunSources:
    """A node belongs to each file on its stack, once a file: to the innermost line of it."""

    def __init__(
        self,
        names: Callable[[], Iterable[str]],
        maker: Callable[[str], Any],
        tensors: Callable[[], Mapping[str, Sequence[Any]]],
    ) -> None:
        """``tensors``: what was seen of each node, by its name."""
        self._names, self._maker, self._tensors = names, maker, tensors

    @cached_property
    def _stacks(self) -> dict[str, list[Frame]]:
        makers = ((name, self._maker(name)) for name in self._names())
        return {name: frames_of(op) for name, op in makers if op is not None}

    @cached_property
    def _lines(self) -> dict[str, dict[int, list[str]]]:
        """By file and line: the nodes."""
        found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for node, frames in self._stacks.items():
            innermost: dict[str, int] = {}
            for frame in frames:
                innermost.setdefault(frame.file, frame.line)
            for file, line in innermost.items():
                found[file][line].append(node)
        return found

    def files(self) -> list[SourceFile]:
        seen = self._tensors()
        is_user = {frame.file: frame.is_user for frames in self._stacks.values() for frame in frames}
        files = []
        for path, lines in self._lines.items():
            nodes = {node for made in lines.values() for node in made}
            dumps = [one for node in nodes for one in seen.get(node, ())]
            tensors = len({one.tensor for one in dumps})
            files.append(SourceFile(path, is_user[path], len(nodes), tensors, len(dumps), min(lines)))
        return sorted(files, key=lambda file: (not file.is_user, file.path))

    def lines(self, path: str) -> list[SourceLine]:
        """TdbgError when no node was made in this file, or its text is not at hand."""
        file = self._file(path)
        texts, made, seen = linecache.getlines(file), self._lines[file], self._tensors()
        if not texts:
            raise TdbgError(f"the source of {file} is not available")
        lines = []
        for number, text in enumerate(texts, 1):
            nodes = made.get(number, ())
            found = [one for node in nodes for one in seen.get(node, ())]
            is_bad = any(one.is_bad for one in found)
            names = list(dict.fromkeys(one.tensor for one in found))
            lines.append(SourceLine(number, text.rstrip("\n"), tuple(nodes), tuple(names), is_bad))
        return lines

    def _file(self, path: str) -> str:
        wanted = os.path.abspath(os.path.expanduser(path))
        for file in self._lines:
            if path == file or wanted == os.path.abspath(file):
                return file
        ending = [file for file in self._lines if file.endswith(os.sep + path.removeprefix("./"))]
        found = [file for file in ending if is_user_file(file)] or ending
        if len(found) == 1:
            return found[0]
        if found:
            raise TdbgError(f"several files end in {path!r}: {', '.join(sorted(found))}")
        names = [os.path.basename(file) for file in self._lines]
        near = did_you_mean(path, [*names, *self._lines]) or "ls lists those that did"
        raise TdbgError(f"no file {path!r} created nodes in this run; {near}")
