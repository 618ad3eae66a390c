"""Writes a page of documentation for each command of the prompt, and a table of all their flags.

``python -m tdbg.shell.command_pages docs/shell TRACE`` writes them, with what the examples really print on that trace.
Without TRACE the outputs stay as they are, and the rest is brought up to date. The table names the tests that exercise
each flag: they are read from it, and stay.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

from tdbg.shell.command import Command
from tdbg.shell.commands import all_commands
from tdbg.shell.help_text import SIGNS, description, spelling, usages_of

RECORD = "tdbg run --mode full -o mnist.tdbg -m tdbg.examples.debug_mnist --max_steps 4"
INDEX = "README.md"
_MARK = "<!-- output of the block above -->"
_WIDEST = 110
_PATH = re.compile(r"(?<![\w.…])(?P<folders>/(?:[^\s:\"'/]+/)+)(?P<name>[^\s:\"'/]*)(?P<gap> *)(?=$|\S)")
_ROW = re.compile(r"^\| `(?P<command>[^`]*)`[^|]*\| `(?P<flag>[^`]*)`[^|]*\| (?P<test>.*?) ?\|$", re.M)


def page(command: Command, block: str) -> str:
    """Writes the page of a command. ``block`` has the commands that are run, and what they print, as Markdown; "" when
    none can be run on a trace."""
    lines = [f"# {', '.join((command.name, *command.aliases))}", "", *description(command), ""]
    for usage in usages_of(command):
        lines += [f"{usage.when.capitalize()}:", ""] if usage.when else []
        lines += ["```text", *usage.lines, "```", ""]
        if usage.parser._actions:
            lines += ["| argument | meaning |", "|---|---|"]
            lines += [
                f"| `{_cell(spelling(action))}` | {_cell(action.help or '')} |" for action in usage.parser._actions
            ]
            lines.append("")
    if command.examples:
        lines += ["## Examples", "", "| you type | what it does |", "|---|---|"]
        lines += [f"| {_code(typed)} | {_cell(does)} |" for typed, does in command.examples]
        lines.append("")
    if block:
        lines += ["On a trace of the [example](../session-examples.md) `debug_mnist`:", "", block.rstrip(), ""]
    return "\n".join([*lines, f"[All commands]({INDEX})", ""])


def index(tests: Mapping[tuple[str, str], str]) -> str:
    """Writes the table of commands and flags, each with the test that exercises it."""
    lines = ["# The debugger's commands", ""]
    lines += ["[tdbg shell](../shell.md) shows how to get there. You can type commands, and these:", ""]
    lines += ["| you type | what it does |", "|---|---|", *(f"| `{sign}` | {meaning} |" for sign, meaning in SIGNS), ""]
    lines += ["Each command has a page of its own:", "", "| command | what it does |", "|---|---|"]
    for name, command in all_commands().items():
        words = ", ".join(f"`{word}`" for word in (name, *command.aliases))
        lines.append(f"| [{words}]({name}.md) | {_cell(command.summary())} |")
    lines += ["", "Each flag, and the test that exercises it:", "", "| command | argument | test |", "|---|---|---|"]
    for name, flag in flags():
        lines.append(f"| `{name}` | `{_cell(flag)}` | {tests.get((name, flag), '')} |")
    return "\n".join([*lines, ""])


def flags() -> Iterator[tuple[str, str]]:
    """Gives each command with each of its arguments, flags by all their spellings; a command by itself has "" there."""
    for name, command in all_commands().items():
        found = [
            ", ".join(action.option_strings) or str(action.metavar or action.dest)
            for parser in command.parsers().values()
            for action in parser._actions
        ]
        for flag in dict.fromkeys(found or ["(none)"]):
            yield name, flag
    for sign, _ in SIGNS:
        yield "(any screen)", sign


def named_tests(text: str) -> dict[tuple[str, str], str]:
    """Reads the tests that an index names, by command and flag."""
    return {(row["command"], row["flag"].replace("\\|", "|")): row["test"] for row in _ROW.finditer(text)}


def block_in(text: str) -> str:
    """Finds the block of a page that is run, with its output."""
    found = re.search(r"^```sh\n.*?^```$\n.*^```$", text, re.M | re.S)
    return found[0] if found else ""


def run_examples(command: Command, trace: Path) -> str:
    """Runs the examples that can be run on a trace, and gives them with the first lines that they print."""
    from tdbg.query.scene.trace_scene import TraceScene
    from tdbg.shell.engine import Engine
    from tdbg.shell.layout import Layout

    shell = Engine(TraceScene(trace))
    run: list[str] = []
    printed: list[str] = []
    for typed, _ in command.examples:
        result = shell.execute(typed)
        if result.is_error or result.action or ".tdbg" in typed:
            continue
        run.append(typed)
        lines = [_without_folders(line) for line in Layout(result).plain()]
        shown = lines[: command.page_lines]
        printed += [f"tdbg> {typed}", *shown, *(["..."] if len(shown) < len(lines) else [])]
    if not run:
        return ""
    words = " ".join(f"-c {_in_quotes(typed)}" for typed in run)
    parts = ["```sh", RECORD, "```", "", "```sh", f"tdbg shell mnist.tdbg {words}", "```"]
    if len(run) == 1:
        printed = printed[1:]
    return "\n".join([*_wrapped(parts), "", _MARK, "```text", *printed, "```"])


def _wrapped(lines: Sequence[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        first, *rest = line.split(" -c ")
        found.append(first)
        for piece in rest:
            if len(found[-1]) + len(piece) + 6 > _WIDEST:
                found[-1] += " \\"
                found.append(f"  -c {piece}")
            else:
                found[-1] += f" -c {piece}"
    return found


def _in_quotes(typed: str) -> str:
    return shlex.quote(typed) if re.search(r'["$`\\!]', typed) else f'"{typed}"'


def _without_folders(line: str) -> str:
    """Shortens paths: where files lie differs from machine to machine. What stands under other things stays there."""

    def short(path: re.Match[str]) -> str:
        room = " " * (len(path["folders"]) - 3) if len(path["gap"]) > 1 else ""
        return f"/…/{path['name']}{room}{path['gap']}"

    return _PATH.sub(short, line)


def _code(text: str) -> str:
    """Writes code, with more backticks around those that are inside."""
    ticks = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{ticks}{space}{_cell(text)}{space}{ticks}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write(folder: Path, trace: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in all_commands().items():
        path = folder / f"{name}.md"
        if trace is not None:
            with tempfile.TemporaryDirectory() as empty, chdir(empty):
                block = run_examples(command, trace)
        else:
            block = block_in(path.read_text("utf-8")) if path.exists() else ""
        path.write_text(page(command, block), encoding="utf-8")
    path = folder / INDEX
    known = named_tests(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(index(known), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None)
