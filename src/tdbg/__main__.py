"""Runs the command line: finds the command by its name and gives its exit status. Each is a file of tdbg.commands."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from tdbg import __version__, commands
from tdbg.errors import TdbgCommandError, TdbgError
from tdbg.marks import fit
from tdbg.plain_text import plain

USAGE_STATUS = 2
INTERRUPTED_STATUS = 130  # as shells report Ctrl-C
BROKEN_PIPE_STATUS = 141  # as shells report a closed pipe: 1 would say "trouble found"

_EXAMPLES = """\
examples:
  tdbg run train.py --epochs 3      record a program; when it ends, see the line where NaN began
  tdbg run -o run.tdbg -m my.train  run a module instead, and name the trace
  tdbg why                          explain the newest trace in this folder again
  tdbg shell                        explore it: tensors, ops, lines
  tdbg sql "SELECT type, count(*) FROM ops GROUP BY type"

Run tdbg COMMAND --help for details."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise TdbgCommandError(f"{message}; see: {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; what goes wrong on purpose is one sentence."""
    outcome = _run_command(list(sys.argv[1:] if argv is None else argv))
    return outcome() if callable(outcome) else outcome


def _run_command(words: list[str]) -> commands.Outcome:
    try:
        outcome = _dispatch(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return outcome
    except TdbgError as error:
        print(f"tdbg: {plain(str(error), lines=True)}", file=sys.stderr)
        return getattr(error, "exit_code", USAGE_STATUS)
    except BrokenPipeError:
        # Python flushes standard output once more when it ends, and must not find the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE_STATUS
    except KeyboardInterrupt:
        return INTERRUPTED_STATUS
    except Exception as fault:
        from tdbg.store.damage import damage_in

        damage = damage_in(fault)
        if damage is not None:
            print(f"tdbg: {damage}", file=sys.stderr)
            return USAGE_STATUS
        import traceback

        traceback.print_exc()
        print("tdbg: this is a bug in tdbg; please report it with the lines above", file=sys.stderr)
        return USAGE_STATUS


def _dispatch(words: list[str]) -> commands.Outcome:
    name, rest = words[0] if words else "", words[1:]
    if name != "run":  # where the streams are the program's
        fit(sys.stdout, sys.stderr)
    if name in ("-h", "--help"):
        print(_help())
        return 0
    if name in ("-V", "--version"):
        print(f"tdbg {__version__}")
        return 0
    if not name:
        print(_help(), file=sys.stderr)
        return USAGE_STATUS
    if name not in commands.NAMES:
        raise TdbgCommandError(_unknown(name))
    command = commands.load(name)
    parser = _Parser(
        prog=f"tdbg {name}",
        description=inspect.getdoc(command),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.prepare_parser(parser)
    return command.run(command.parse(parser, rest))


def _help() -> str:
    lines = [
        "usage: tdbg [--version] [--help] COMMAND ...",
        "",
        "Find out where the numbers in a program went wrong.",
        "",
    ]
    for name in commands.NAMES:
        first = (inspect.getdoc(commands.load(name)) or "").partition("\n")[0]
        lines.append(f"  {name:<8}{first}")
    return "\n".join([*lines, "", _EXAMPLES])


def _unknown(name: str) -> str:
    import difflib

    what = f"there is no option {name}" if name.startswith("-") else f"there is no command {name!r}"
    close = difflib.get_close_matches(name, commands.NAMES, 1)
    if close:
        return f"{what}; did you mean: tdbg {close[0]}"
    if name.endswith(".py"):
        return f"{what}; to record a program, run: tdbg run {name}"
    return f"{what}; the commands are: {', '.join(commands.NAMES)}"


if __name__ == "__main__":
    sys.exit(main())
