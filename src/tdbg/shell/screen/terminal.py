"""Drives the terminal for Textual in a program that is not ours: reads keys and clicks, writes drawings.

Textual's own driver sets signal handlers, which only the main thread may do, and which would be left in the user's
program. This one asks for the window's size instead of being told, and a terminal that is gone is a message.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import queue
import select
import termios
import threading
import tty
from typing import Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.geometry import Size
from textual.message import Message

from tdbg.marks import ERRORS, terminal_encoding

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?1004h\x1b[?2004h\x1b[?7l\x1b[?2026$p"
MOUSE_ON = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
MOUSE_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
LEAVE = MOUSE_OFF + "\x1b[?2004l\x1b[?7h\x1b[?1004l\x1b[?1049l\x1b[?25h\x1b[0m"
PATIENCE = 5  # seconds for a terminal that takes nothing; then it counts as gone


class TerminalGone(Message):
    """Says that nobody can see the screen any more."""


class Terminal(Driver):
    """Reads descriptor 0 and draws on ``out``."""

    def __init__(
        self, app: Any, *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None, out: int = 1
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._out = out
        self._drawings: queue.Queue[str | None] = queue.Queue(32)
        self._attributes: list[Any] | None = None
        self._ended = threading.Event()
        self._gone = False
        self.is_on = False
        self._reader: threading.Thread | None = None
        self._writer: threading.Thread | None = None

    @property
    def can_suspend(self) -> bool:
        return True

    def start_application_mode(self) -> None:
        self._ended.clear()
        self.is_on = True
        with contextlib.suppress(termios.error):
            self._attributes = termios.tcgetattr(0)
            _set_raw()
        self._writer = threading.Thread(target=self._write, name="tdbg-screen-out", daemon=True)
        self._writer.start()
        self.write(ENTER + (MOUSE_ON if self._mouse else ""))
        self._reader = threading.Thread(target=self._read, name="tdbg-screen-in", daemon=True)
        self._reader.start()

    def set_mouse(self, on: bool) -> None:
        """Turns the mouse on or off; without it, the terminal's own selection of text works."""
        self._mouse = on
        self.write(MOUSE_ON if on else MOUSE_OFF)

    def write(self, data: str) -> None:
        if not self._gone:
            try:
                self._drawings.put(data, timeout=PATIENCE)
            except queue.Full:
                self._is_gone()

    def disable_input(self) -> None:
        self._ended.set()
        if self._reader is not None and self._reader is not threading.current_thread():
            self._reader.join(1)
            with contextlib.suppress(termios.error):
                termios.tcflush(0, termios.TCIFLUSH)

    def stop_application_mode(self) -> None:
        self.is_on = False
        self.disable_input()
        self.write(LEAVE)
        self.close()
        self.restore_attributes()

    def restore_attributes(self) -> None:
        if self._attributes is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)

    def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(queue.Full):
                self._drawings.put(None, timeout=1)
            writer.join(1)

    def _write(self) -> None:
        """Writes drawings, on a thread of its own: a terminal may take its time."""
        encoding = terminal_encoding()
        while (data := self._drawings.get()) is not None:
            rest = data.encode(encoding, errors=ERRORS)
            while rest and not self._gone:
                try:
                    rest = rest[os.write(self._out, rest) :]
                except BlockingIOError:
                    select.select([], [self._out], [], 1)
                except OSError:
                    self._is_gone()

    def _read(self) -> None:
        parser = XTermParser(self._debug)
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        poll = select.poll()
        poll.register(0, select.POLLIN)
        size: tuple[int, int] = (0, 0)
        while not self._ended.is_set():
            size = self._follow_size(size)
            if poll.poll(50):
                try:
                    data = os.read(0, 4096)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data:
                    return self._is_gone()
                for event in parser.feed(decode(data)):
                    self.process_message(event)
            for event in parser.tick():
                self.process_message(event)
        return None

    def _follow_size(self, before: tuple[int, int]) -> tuple[int, int]:
        try:
            now = tuple(os.get_terminal_size(self._out))
        except OSError:
            return before
        if now == before or 0 in now:
            return before
        size = Size(*now)
        self.send_message(events.Resize(size, size))
        return (now[0], now[1])

    def _is_gone(self) -> None:
        if not self._gone:
            self._gone = True
            with contextlib.suppress(RuntimeError):  # the screen has ended meanwhile
                self.send_message(TerminalGone())


def _set_raw() -> None:
    """Makes every key come to the screen, Ctrl-C, Ctrl-Q and Ctrl-S too."""
    attributes = termios.tcgetattr(0)
    attributes[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    attributes[tty.IFLAG] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    attributes[tty.CC][termios.VMIN] = 1
    termios.tcsetattr(0, termios.TCSANOW, attributes)
