"""Asks a question where the prompt stands, answered with a key or a click.

The next command may be typed already when a command asks a question. So that is answered with a whole line, as in line
mode, and a line that is no answer is a command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import events

from tdbg.shell.result import Span
from tdbg.shell.screen.bars import Bar


class Answer(NamedTuple):
    key: str
    label: str
    act: Callable[[], object]


class Question(Bar, can_focus=True):
    """A question with its answers. Escape answers nothing."""

    def __init__(self) -> None:
        super().__init__(id="question")
        self.display = False
        self._answers: Sequence[Answer] = ()
        self._on_end: Callable[[], object] = lambda: None
        self._on_line: Callable[[str], object] | None = None
        self._text, self._typed = "", ""

    def ask(
        self,
        question: str,
        answers: Sequence[Answer],
        on_end: Callable[[], object],
        on_line: Callable[[str], object] | None = None,
        typed: str = "",
    ) -> None:
        """Asks. With ``on_line`` answers need Enter, and that is called with a line that is none of them. ``typed``:
        what stands there already."""
        self._answers, self._on_end, self._on_line = answers, on_end, on_line
        self._text, self._typed = question, typed
        self._draw()
        self.display = True
        self.focus()

    def _draw(self) -> None:
        spans = [Span(f" {self._text}  ")]
        for key, label, _ in self._answers:
            spans += [Span(f"[{key}]", "", f"!answer('{key}')"), Span(f" {label}  ")]
        if self._on_line is None:
            spans += [Span("[Esc]", "", "!answer('')"), Span(" back")]
        else:
            spans += [Span(f"and Enter: {self._typed}_")]
        self.show(tuple(spans))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if event.key == "escape":
            self.answer("")
        elif self._on_line is None:
            if event.key.lower() in {answer.key for answer in self._answers}:
                self.answer(event.key.lower())
        elif event.key == "enter":
            self._enter(self._typed.strip(), self._on_line)
        elif event.key == "backspace" or (event.is_printable and event.character):
            self._typed = self._typed[:-1] if event.key == "backspace" else self._typed + (event.character or "")
            self._draw()

    def _enter(self, line: str, on_line: Callable[[str], object]) -> None:
        for answer in self._answers:
            if line.lower() in (answer.key, answer.label):
                return self.answer(answer.key)
        self.answer("")
        if line:
            on_line(line)
        return None

    def answer(self, key: str) -> None:
        self.display = False
        self._on_end()
        for answer in self._answers:
            if answer.key == key:
                answer.act()
