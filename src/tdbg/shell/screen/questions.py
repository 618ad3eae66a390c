"""A question with its answers in; the one that was given, by key or click, out. It stands where the prompt is."""

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
    """Escape answers nothing."""

    def __init__(self) -> None:
        super().__init__(id="question")
        self.display = False
        self._answers: Sequence[Answer] = ()
        self._on_end: Callable[[], object] = lambda: None

    def ask(self, question: str, answers: Sequence[Answer], on_end: Callable[[], object]) -> None:
        self._answers, self._on_end = answers, on_end
        spans = [Span(f" {question}  ")]
        for key, label, _ in answers:
            spans += [Span(f"[{key}]", "", f"!answer('{key}')"), Span(f" {label}  ")]
        self.show((*spans, Span("[Esc]", "", "!answer('')"), Span(" back")))
        self.display = True
        self.focus()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if event.key == "escape" or event.key.lower() in {answer.key for answer in self._answers}:
            self.answer(event.key.lower())

    def answer(self, key: str) -> None:
        self.display = False
        self._on_end()
        for answer in self._answers:
            if answer.key == key:
                answer.act()
