"""Writes the words of the title, the rule and the keys: where the debugger stands."""

from __future__ import annotations

from tdbg.shell.result import Line, Span
from tdbg.shell.screen.shown import Shown
from tdbg.shell.visited_screens import VisitedScreens

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def title(scene: str, held: str, visited: VisitedScreens, fresh: int) -> tuple[Line, Line]:
    """Writes the title. ``held``: the headline of a program that waits. ``fresh``: tensors that a growing trace has
    gained."""
    left = [Span(" tdbg", "user"), Span(" · ", "dim")]
    if held:
        left += [Span(held, "warning"), Span(" · ", "dim")]
    left.append(Span(scene, "title"))
    right = [Span(f"+{fresh:,} new · F5 ", "good", "!refresh_scene")] if fresh else []
    has_before, has_after = visited.at > 0, visited.at + 1 < len(visited.screens)
    right += [
        Span(" ◀ ", "title" if has_before else "dim", "!type('prev')" if has_before else ""),
        Span(" ▶ ", "title" if has_after else "dim", "!type('next')" if has_after else ""),
        Span(f" {visited.at + 1} of {len(visited.screens)} " if visited.screens else " history ", "dim"),
    ]
    return tuple(left), tuple(right)


def rule(shown: Shown | None, top: int, rows: int, match: int, printed: int) -> tuple[Line, Line]:
    """Writes the rule above the prompt. ``match``: the line of the match that was gone to. ``printed``: bytes that the
    program has printed."""
    if shown is None:
        return (Span("──", "dim"),), ()
    left = [Span("── ", "dim"), Span(shown.line, "title"), Span(" ", "dim")]
    if shown.search is not None:
        left += [
            Span("─ ", "dim"),
            Span(f"/{shown.search.pattern}", "match"),
            Span(f" {shown.search.place(match)} ", "user"),
        ]
        if not shown.search.is_done:
            left += [Span(f"(looked at {shown.search.looked:,} lines) ", "dim")]
    if printed:
        left += [Span("─ ", "dim"), Span(f"the program printed {printed:,} bytes · F4 ", "warning", "!printed")]
    count = len(shown.pages)
    last = min(top + rows, count)
    place = (
        f" {count:,} line{'s' * (count != 1)} ──" if count <= rows else f" lines {top + 1:,}–{last:,} of {count:,} ──"
    )
    return tuple(left), (Span(place, "dim"),)


def working(line: str, seconds: float) -> tuple[Line, Line]:
    spinner = _SPINNER[int(seconds * 10) % len(_SPINNER)]
    left = (Span("── ", "dim"), Span(f"{spinner} {line} ", "user"), Span(f"{seconds:.1f} s ", "number"))
    return left, (Span(" Esc", "key", "!back_out"), Span(" stops it ──", "dim"))


# What a key does; those that are worth most have the smallest number, and are shown where there is little room.
_KEYS = (
    (1, "Enter", "run", ""),
    (1, "F1", "help", "!type('help')"),
    (2, "F3", "why", "!type('why')"),
    (3, "/", "search", "!fill('/')"),
    (5, "Tab", "links", "!links"),
    (4, "Alt-←", "back", "!type('prev')"),
    (7, "Alt-→", "forward", "!type('next')"),
    (8, "PgDn", "scroll", "!scroll('page_down')"),
    (6, "^P", "palette", "!command_palette"),
    (1, "^Q", "quit", "!leave"),
)
_IN_OUTPUT = {"Enter": "follow", "Tab": "next link"}


def keys(width: int, in_output: bool, has_search: bool) -> Line:
    entries = []
    for worth, key, meaning, link in _KEYS:
        if in_output and has_search and key == "/":
            key, meaning, link = "n N", "matches", "!match(1)"
        meaning = _IN_OUTPUT.get(key, meaning) if in_output else meaning
        entries.append((worth, Span(f" {key}", "key", link), Span(f" {meaning} ", "", link)))
    while sum(len(key.text) + len(meaning.text) for _, key, meaning in entries) >= width and len(entries) > 1:
        entries.remove(max(entries, key=lambda entry: entry[0]))
    return tuple(span for _, key, meaning in entries for span in (key, meaning))
