"""The text below ``%%tdbg`` in; it runs in the notebook as a plain cell would, with the lines that the user sees."""

from __future__ import annotations

import ast
import linecache
import sys
from types import FrameType
from typing import Any

from tdbg.errors import TdbgError

_CALL = "get_ipython().run_cell_magic('tdbg'"


def check_cell(shell: Any, cell: str) -> None:
    """TdbgError when it cannot be run here."""
    if shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)):
        raise TdbgError("%%tdbg cannot record a cell with await; write %tdbg on before it and %tdbg off after it")


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Raises what the cell raises. The value of its last expression is shown, as always."""
    __tracebackhide__ = True
    blank = len(cell) - len(cell.lstrip("\n"))
    text = f"# %%tdbg {line}".rstrip() + "\n" * (1 + blank) + shell.transform_cell(cell)
    name = _file_of(shell, text)
    tree = shell.transform_ast(shell.compile.ast_parse(text, name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    _execute(shell, shell.compile(tree, name, "exec"))
    if last is not None:
        _execute(shell, shell.compile(ast.Interactive([last]), name, "single"))


def _execute(shell: Any, code: Any) -> None:
    __tracebackhide__ = True
    exec(code, shell.user_global_ns, shell.user_ns)


def _file_of(shell: Any, text: str) -> str:
    """The name of the cell that holds the magic: what is below it counts as this cell, and its text is kept as such."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = frame.f_code.co_filename
        if frame.f_code.co_name == "<module>" and linecache.getline(name, 1).startswith(_CALL):
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
            return name
        frame = frame.f_back
    return shell.compile.cache(text, shell.execution_count)
