"""Understands the words behind ``%tdbg`` and ``%%tdbg``, and records cells as they say."""

from __future__ import annotations

import argparse
import os
import shlex
from argparse import Namespace
from collections.abc import Coroutine
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from tdbg import recording
from tdbg.capture import faults
from tdbg.config import Config
from tdbg.errors import TdbgError
from tdbg.frameworks import is_any_imported, titles
from tdbg.store.place import new_name

_HELP = """\
%%tdbg [FLAGS]     record this cell, then show where bad values began, and the page
%tdbg on [FLAGS]   record from here on
%tdbg off          stop recording, and show what was found
%tdbg why [TRACE]  the verdict on a trace (without TRACE: the last one)
%tdbg serve [TRACE]  its page, even while it is being recorded
FLAGS are those of tdbg run, such as -o TRACE, --mode full, --ops REGEX, --steps A:B"""
_NOT_HERE = {"web": "--web", "json": "--json", "break_on": "--break"}


class Magics:
    """The magics of one shell of IPython."""

    def __init__(self, shell: Any) -> None:
        if not hasattr(shell, "register_magic_function"):
            raise TdbgError("this is not an IPython shell; in a notebook or in IPython, run: %load_ext tdbg")
        from tdbg.notebook.cell_output import CellOutput

        self._shell, self._output = shell, CellOutput(shell)
        self._last: Path | None = None
        self._ignore: frozenset[str] = frozenset()  # rules that the verdict of %tdbg off does not ask

    def register(self) -> None:
        def tdbg(line: str, cell: str | None = None) -> Coroutine[Any, Any, None] | None:
            __tracebackhide__ = True
            return self._called(line, cell)

        from tdbg.notebook.cell_code import awaited

        tdbg.__doc__ = _HELP
        self._shell.register_magic_function(tdbg, "line_cell", "tdbg")
        self._shell.input_transformers_post.append(awaited(self._shell))

    def _called(self, line: str, cell: str | None) -> Coroutine[Any, Any, None] | None:
        """Runs a magic, and gives what is left to await of a cell that has ``await``."""
        from IPython.core.error import UsageError

        from tdbg.notebook.cell_code import check_cell, needs_await

        __tracebackhide__ = True
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{line}: {error}") from None
        try:
            if cell is None:
                self._act(*words)
                return None
            args = _flags(words)
            check_cell(self._shell, cell)
            recording.enable(**_options(args))
        except TdbgError as error:
            raise UsageError(str(error)) from None
        if needs_await(self._shell, cell):
            return self._record_awaiting(args, line, cell)
        self._record(args, line, cell)
        return None

    async def _record_awaiting(self, args: Namespace, line: str, cell: str) -> None:
        from tdbg.notebook.cell_code import compiled, run_codes

        __tracebackhide__ = True
        try:
            await run_codes(self._shell, compiled(self._shell, line, cell))
        finally:
            self._end(_ignored(args), args.quiet)

    def _record(self, args: Namespace, line: str, cell: str) -> None:
        from tdbg.notebook.cell_code import run_cell

        __tracebackhide__ = True
        try:
            run_cell(self._shell, line, cell)
        finally:
            self._end(_ignored(args), args.quiet)

    def _act(self, action: str = "", *words: str) -> None:
        if action == "on":
            args = _flags(list(words))
            recording.enable(**_options(args))
            self._ignore = _ignored(args)
        elif action == "off" and not words:
            if not recording.is_recording():
                raise TdbgError("nothing is being recorded; start with: %tdbg on")
            self._end(self._ignore, False)
        elif action == "why" and len(words) <= 1:
            self._output.verdict(self._trace(words), with_page=False)
        elif action == "serve" and len(words) <= 1:
            self._output.page(self._trace(words))
        elif not action:
            print(_HELP)
        else:
            raise TdbgError(f"%tdbg {action}: write on, off, why or serve; run %tdbg alone for help")

    def _end(self, ignore: frozenset[str], quiet: bool) -> None:
        trace = recording.disable()
        if trace is None:
            print(f"tdbg: nothing was recorded, because {titles()} was not used")
            return
        self._last = trace
        if not quiet:
            try:
                self._output.verdict(trace, ignore)
            except Exception as error:  # the cell's own outcome comes first
                faults.say(f"the verdict cannot be shown ({type(error).__name__}: {error}); try: tdbg why {trace}")

    def _trace(self, words: tuple[str, ...]) -> Path:
        from tdbg.commands.trace_argument import trace_path

        if words:
            return trace_path(words[0])
        recording.flush()
        now = recording.current_path()
        if now is None and recording.is_recording():
            why = "" if is_any_imported() else f": {titles()} has not been imported since %tdbg on"
            raise TdbgError(f"nothing has been recorded yet{why}")
        return now or self._last or trace_path(None)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise TdbgError(f"{message}; run %tdbg alone for help")


def _flags(words: list[str]) -> Namespace:
    """Reads flags as ``tdbg run`` does."""
    from tdbg.commands.run import Command

    command, parser = Command(), _Parser(prog="%%tdbg", add_help=False, allow_abbrev=False)
    command.prepare_parser(parser)
    args = command.parse(parser, words)
    if args.program:
        raise TdbgError(
            f"{args.program[0]}: only flags are allowed here, such as --mode full; run %tdbg alone for help"
        )
    for name, flag in _NOT_HERE.items():
        if getattr(args, name, None):
            raise TdbgError(f"{flag} works only in a terminal; leave it out")
    _ignored(args)
    return args


def _options(args: Namespace) -> dict[str, Any]:
    """Gives what ``recording.enable`` takes."""
    known = {field.name for field in fields(Config)} | {"steps", "force"}
    options = {name: value for name, value in vars(args).items() if name in known}
    if not options["output"] and not os.environ.get("TDBG_OUTPUT"):
        options["output"] = new_name("notebook")
    return options


def _ignored(args: Namespace) -> frozenset[str]:
    from tdbg.commands.why import ignored_rules

    return ignored_rules(args.ignore)
