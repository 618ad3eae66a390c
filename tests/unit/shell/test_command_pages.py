"""docs/shell beside the commands: pages are up to date, and each flag has a test that really types it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from typed import engine

from tdbg.shell.command_pages import INDEX, block_in, flags, index, named_tests, page
from tdbg.shell.commands import all_commands

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs/shell"
ROWS = list(flags())
SIGNS = {"/REGEX": "^/", "@[i,j]": "^@", "COMMAND > FILE": " > ", "COMMAND; COMMAND": "; "}


@pytest.mark.parametrize("name", all_commands())
def test_the_page_of_a_command_is_what_help_says(name):
    path = FOLDER / f"{name}.md"
    assert path.exists(), "write it with: python -m tdbg.shell.command_pages docs/shell TRACE"
    text = path.read_text("utf-8")
    assert text == page(all_commands()[name], block_in(text)), (
        "bring it up to date: python -m tdbg.shell.command_pages docs/shell"
    )


def test_there_are_no_other_pages():
    assert {path.name for path in FOLDER.iterdir()} == {INDEX, *(f"{name}.md" for name in all_commands())}


def test_the_index_is_up_to_date():
    text = (FOLDER / INDEX).read_text("utf-8")
    assert text == index(named_tests(text)), "bring it up to date: python -m tdbg.shell.command_pages docs/shell"
    assert set(named_tests(text)) == set(ROWS)


@cache
def texts_of(path: Path) -> dict[str, list[str]]:
    """The texts in each test of a file; what f-strings put in between is a gap."""
    found = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            inner = list(ast.walk(node))
            plain = [one.value for one in inner if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            mixed = [ast.unparse(one) for one in inner if isinstance(one, ast.JoinedStr)]
            found[node.name] = plain + [text.removeprefix("f").strip("'\"") for text in mixed]
    return found


def types(texts: list[str], name: str, flag: str) -> bool:
    """Whether one of the texts is that command with that flag."""
    if flag in SIGNS:
        return any(re.search(SIGNS[flag], text) for text in texts)
    command = all_commands()[name]
    words = "|".join((name, *command.aliases))
    lines = [text for text in texts if re.match(rf"({words})\b", text) or re.search(rf"(; |-c |\n)({words})\b", text)]
    if not flag.startswith("-"):
        return bool(lines)
    spellings = flag.split(", ")
    return any(f" {spelling}" in f"{text} " for text in lines for spelling in spellings) or (
        any(text in spellings for text in texts) and bool(lines)
    )


@pytest.mark.parametrize(("name", "flag"), ROWS)
def test_each_flag_is_typed_by_the_test_that_the_index_names(name, flag):
    said = named_tests((FOLDER / INDEX).read_text("utf-8"))[name, flag]
    file, _, test = said.strip("`").partition("::")
    assert test, "the table in docs/shell/README.md names no test for this"
    texts = texts_of(ROOT / "tests" / file).get(test)
    assert texts is not None, f"there is no test {said}"
    assert types(texts, name, flag), f"{said} does not type it"


@pytest.mark.parametrize("name", all_commands())
def test_examples_are_commands_that_are_understood(name):
    shell = engine(profiled=True, is_held=True)
    command = all_commands()[name]
    for typed, does in command.examples:
        assert shell.command(typed.split()[0]) is command and does
        if not command.is_raw:
            from tdbg.shell.words import words_of

            command.parse([word.text for word in words_of(typed)][1:])
