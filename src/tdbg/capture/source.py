"""Writes Python stacks as interned rows of stacks and frames, with snapshots of the source; finds the user's line."""

from __future__ import annotations

import linecache
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tdbg.capture.cells import shown_file
from tdbg.frames import is_user_file
from tdbg.model import Frame, Phase


class StackInfo(NamedTuple):
    """What is known of an interned stack without walking it again."""

    frame: int
    user: Frame | None  # the innermost frame of the user's own code
    phase: Phase | None  # what the innermost frame that tells says of the phase


_TOLD = 1 << 30  # the first number of a stack that was told; those of native/stacks/stacks.c are below
Sink = Callable[[str, tuple], None]
Remap = Callable[[str, int], tuple[str, int, str | None] | None]
PhaseOf = Callable[[str, str], Phase | None]


class Sources:
    """Turns stack numbers (see native/stacks/stacks.c) into rows; each frame, stack and file is written once.

    An exception of the program's signal handlers may strike between any two lines here: what is known is noted last, so
    that it is learnt again then.
    """

    def __init__(self, lib: Any, add: Sink, phase_of: PhaseOf, *remaps: Remap) -> None:
        self._lib, self._add, self._phase_of = lib, add, phase_of
        self.remaps = list(remaps)  # what knows the user's line behind generated code; listeners add to it
        self._infos: dict[int, StackInfo] = {}
        self._frames: dict[tuple[str, int, str], int] = {}
        self._frame_list: list[Frame] = []
        self._files: dict[str, tuple[str, bool]] = {}  # as Python has it -> as it is shown, whether it is the user's
        self._told: dict[tuple[int, int], int] = {}  # (parent, frame) -> stack
        self._lock = threading.RLock()

    def info(self, stack: int) -> StackInfo:
        """The stack's summary, writing whatever of it is new."""
        found = self._infos.get(stack)
        if found is not None:
            return found
        if stack < 0:
            return StackInfo(-1, None, None)
        with self._lock:
            return self._learn(stack)

    def frames(self, stack: int) -> list[Frame]:
        """All frames of a stack, the outermost first."""
        found = []
        while stack >= 0:
            found.append(self._frame_list[self.info(stack).frame])
            stack = self._lib.stack_get(stack)[0]
        return found[::-1]

    def user_frames(self, stack: int) -> list[Frame]:
        """The user's own frames of a stack, the outermost first; node_info has all."""
        return [frame for frame in self.frames(stack) if frame.is_user]

    def of_frames(self, frames: Iterable[tuple[str, int, str]]) -> int:
        """The stack of frames that were told (file, line, function), the outermost first; its number is apart."""
        with self._lock:
            stack, info = -1, StackInfo(-1, None, None)
            for file, line, function in frames:
                mapped = self._remap(file, line)
                if mapped:
                    file, line, function = mapped[0], mapped[1], mapped[2] or function
                frame, _ = self._intern(file, line, function)
                number = self._told.get((stack, frame))
                if number is None:
                    number = _TOLD + len(self._told)
                    self._write(number, stack, frame, info)
                    self._told[stack, frame] = number
                stack, info = number, self._infos[number]
            return stack

    def _remap(self, file: str, line: int) -> tuple[str, int, str | None] | None:
        return next((mapped for remap in self.remaps if (mapped := remap(file, line))), None)

    def _write(self, stack: int, parent: int, frame: int, outer: StackInfo) -> StackInfo:
        where = self._frame_list[frame]
        user = where if where.is_user else outer.user
        info = StackInfo(frame, user, self._phase_of(where.file, where.function) or outer.phase)
        self._add("stacks", (stack, parent, frame))
        self._infos[stack] = info
        return info

    def _learn(self, stack: int) -> StackInfo:
        chain = []
        while stack >= 0 and stack not in self._infos:
            parent, code, line = self._lib.stack_get(stack)
            chain.append((stack, parent, code, line))
            stack = parent
        info = self._infos.get(stack, StackInfo(-1, None, None))
        for number, parent, code, line in reversed(chain):
            file, function = code.co_filename, code.co_qualname
            mapped = self._remap(file, line)
            if mapped:
                file, line, function = mapped[0], mapped[1], mapped[2] or function
            frame, _ = self._intern(file, line, function)
            info = self._write(number, parent, frame, info)
        return info

    def _intern(self, file: str, line: int, function: str) -> tuple[int, bool]:
        known = self._files.get(file)
        if known is None:
            known = shown_file(file), is_user_file(file)
            if known[1]:
                text = "".join(linecache.getlines(file))
                self._add("sources", (known[0], text, time.time_ns()))
            self._files[file] = known
        file, is_user = known
        key = (file, line, function)
        frame = self._frames.get(key)
        if frame is None:
            frame = len(self._frame_list)
            self._frame_list.append(Frame(file, line, function, is_user))
            self._add("frames", (frame, file, line, function, is_user))
            self._frames[key] = frame
        return frame, is_user


def script_of(argv: list[str] | None = None) -> str:
    """The program's short name, for messages and file names."""
    argv = sys.argv if argv is None else argv
    name = os.path.basename(argv[0]) if argv and argv[0] else "python"
    return "python" if name in ("-c", "-", "") else name
