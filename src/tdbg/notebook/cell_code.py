"""Runs the text below ``%%tdbg`` in the notebook as a plain cell would run, with the lines that the user sees.

IPython calls magics, and does not await them. So where the text below has ``await``, the call gets one too: then
IPython runs the whole cell on its event loop, as it does with any other cell that has one.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tdbg.errors import TdbgError

_CALL = "get_ipython().run_cell_magic('tdbg'"
_AWAIT = "await "


def awaited(shell: Any) -> Callable[[list[str]], list[str]]:
    """Makes the last step of what IPython does to the lines of a cell: it puts an await before the magic where one is
    needed."""

    def transform(lines: list[str]) -> list[str]:
        if not lines or not lines[0].startswith(_CALL):
            return lines
        cell = _text_below("".join(lines))
        return [_AWAIT + lines[0], *lines[1:]] if cell and needs_await(shell, cell) else lines

    return transform


def _text_below(code: str) -> str:
    """Finds what a cell magic is given; "" when the code is more than its call."""
    try:
        call = ast.parse(code, mode="eval").body
        return str(ast.literal_eval(call.args[-1])) if isinstance(call, ast.Call) else ""
    except (SyntaxError, ValueError):
        return ""


def needs_await(shell: Any, cell: str) -> bool:
    """Whether IPython would run a cell on its event loop."""
    return bool(shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)))


def check_cell(shell: Any, cell: str) -> None:
    """Raises TdbgError when a cell cannot be run here."""
    if needs_await(shell, cell) and not _is_awaited():
        raise TdbgError("to record a cell with await, put %%tdbg on its first line, or run %tdbg on before it")


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Runs a cell; raises what it raises. The value of its last expression is shown, as always."""
    __tracebackhide__ = True
    for code in compiled(shell, line, cell):
        exec(code, shell.user_global_ns, shell.user_ns)


async def run_codes(shell: Any, codes: list[CodeType]) -> None:
    """Runs what ``compiled`` gives of a cell with ``await``."""
    __tracebackhide__ = True
    for code in codes:
        found = eval(code, shell.user_global_ns, shell.user_ns)
        if code.co_flags & inspect.CO_COROUTINE:
            await found


def compiled(shell: Any, line: str, cell: str) -> list[CodeType]:
    """Compiles the statements of a cell, and its last expression apart, which shows its value."""
    blank = len(cell) - len(cell.lstrip("\n"))
    text = f"# %%tdbg {line}".rstrip() + "\n" * (1 + blank) + shell.transform_cell(cell)
    name = _file_of(shell, text)
    with shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if needs_await(shell, cell) else 0):
        tree = shell.transform_ast(shell.compile.ast_parse(text, name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        codes = [shell.compile(tree, name, "exec")]
        if last is not None:
            codes.append(shell.compile(ast.Interactive([last]), name, "single"))
    return codes


def _cell_around() -> tuple[str, str]:
    """Finds the name and the first line of the cell that holds the magic; empty when it was called in another way."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = frame.f_code.co_filename
        first = linecache.getline(name, 1)
        if frame.f_code.co_name == "<module>" and first.removeprefix(_AWAIT).startswith(_CALL):
            return name, first
        frame = frame.f_back
    return "", ""


def _is_awaited() -> bool:
    return _cell_around()[1].startswith(_AWAIT)


def _file_of(shell: Any, text: str) -> str:
    """Gives the name of the cell that holds the magic: what is below it counts as this cell, and its text is kept as
    such."""
    name, _ = _cell_around()
    if not name:
        return shell.compile.cache(text, shell.execution_count)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name
