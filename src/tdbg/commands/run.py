"""``tdbg run`` runs a program as it would run alone, records it, and prints a verdict."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Collection, Sequence

from tdbg.commands import BaseCommand, Outcome
from tdbg.commands.output_place import choose_output
from tdbg.commands.recorded_run import RecordedRun
from tdbg.commands.run_page import PageBesideRun
from tdbg.commands.uncaught import hide_frames
from tdbg.commands.user_program import Program, Script, find_program, python_words
from tdbg.commands.why import ignored_rules
from tdbg.config import HOLD_SIGNALS, make_config
from tdbg.errors import TdbgCommandError

_USAGE = """\
tdbg run [options] script.py [arguments]
       tdbg run [options] -m module [arguments]
       tdbg run [options] -c code [arguments]"""


class Command(BaseCommand):
    """Run a program unchanged, record it, and report where bad values began.

    Everything after the script is passed to the program. Its output, exit status and traceback are the same as without
    tdbg; the verdict goes to standard error, so standard output belongs to the program alone. The trace is closed once
    the program's threads have ended, before its atexit handlers run; the verdict is printed after them.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.usage = _USAGE
        add, filters = parser.add_argument, parser.add_argument_group("what to record").add_argument
        options = [
            add(
                "-o",
                "--output",
                metavar="TRACE",
                help="where to write the trace (default: tdbg-SCRIPT.PID.tdbg in this folder)",
            ),
            add("--force", action="store_true", help="overwrite the trace at --output"),
            add(
                "-q", "--quiet", action="store_true", help="print nothing at the end; tdbg why prints the verdict later"
            ),
            add(
                "--web",
                action="store_true",
                help="show the trace in the browser while the program runs; see tdbg serve",
            ),
            add("--json", action="store_true", help="print the verdict as one line of JSON, also on standard error"),
            add("--ignore", metavar="RULE[,RULE]", help="health rules to leave out of the verdict"),
            filters(
                "--mode",
                help="none, health, numerics (default), shape, full or edges: how much of each tensor to record",
            ),
            filters("--steps", metavar="A:B", help="only steps A up to, not including, B"),
            filters("--every", metavar="N", type=int, help="only every N-th step"),
            filters("--ops", metavar="REGEX", help="only op types that match, such as 'Log|Exp'"),
            filters("--names", metavar="REGEX", help="only ops whose name matches, such as dense"),
            filters("--dtypes", metavar="REGEX", help="only element types that match, such as float16"),
            filters("--files", metavar="REGEX", help="only ops created in source files that match"),
            filters("--ring", metavar="N", type=int, help="keep only the last N events, which costs little"),
            filters(
                "--values-when-bad",
                action=BooleanOptionalAction,
                default=None,
                help="keep whole tensors when a bad value appears (default: yes)",
            ),
            add("--check", action="store_true", help="stop the program at the first op that makes NaN or infinity"),
            add(
                "--break",
                metavar="EXPR",
                action="append",
                dest="break_on",
                help="stop at a prompt when a tensor meets this condition, such as 'nan > 0'; may be repeated",
            ),
            add(
                "--hold-on",
                choices=HOLD_SIGNALS,
                help="hold the program at a prompt, where it is, when this signal comes: kill -USR1 PID",
            ),
            add(
                "--xla",
                choices=["off", "keep"],
                help="off (default): run functions without XLA; keep: leave them compiled, seen only from outside",
            ),
            add(
                "--exact",
                action="store_true",
                help="run functions exactly as without tdbg: what TensorFlow's optimizers make of them is recorded",
            ),
            filters(
                "--drop-when-full", action="store_true", help="drop and count events rather than wait for the disk"
            ),
        ]
        self._with_value = {flag for option in options if option.nargs != 0 for flag in option.option_strings}
        parser.set_defaults(program=SUPPRESS)

    def parse(self, parser: ArgumentParser, words: Sequence[str]) -> Namespace:
        ours, program = split(words, self._with_value)
        args = parser.parse_args(ours)
        args.program = program
        return args

    def run(self, args: Namespace) -> Outcome:
        if not args.program:
            raise TdbgCommandError("which program? Name its script: tdbg run train.py")
        names = (
            "mode",
            "steps",
            "every",
            "ops",
            "names",
            "dtypes",
            "files",
            "ring",
            "values_when_bad",
            "xla",
            "break_on",
            "hold_on",
        )
        options = {name: getattr(args, name) for name in names}
        options |= {"drop_when_full": args.drop_when_full, "check": args.check, "exact": args.exact}
        make_config(**options)
        ignore = ignored_rules(args.ignore) if args.ignore or os.environ.get("TDBG_IGNORE") else frozenset()
        program = find_program(args.program)
        program.check()
        if program.error is not None:
            return _Failure(program)
        options["output"] = choose_output(args.output, program.name, args.force)
        page = PageBesideRun(options["output"]) if args.web else None
        return RecordedRun(program, options, quiet=args.quiet, as_json=args.json, ignore=ignore, page=page)


def split(words: Sequence[str], with_value: Collection[str]) -> tuple[list[str], list[str]]:
    """Splits tdbg's words from the program's: those from the first that is neither an option nor an option's value."""
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return list(words[:at]), list(words[at + 1 :])
        if word == "-" or not word.startswith("-") or word[:2] in ("-m", "-c"):
            return list(words[:at]), list(words[at:])
        at += 2 if word in with_value else 1
    return list(words), []


class _Failure:
    """Stands for a program that Python cannot compile: nothing is recorded, and Python says why in its own words."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def __call__(self) -> int:
        error = self._program.error
        assert error is not None
        if os.name == "posix" and isinstance(self._program, Script) and os.path.isfile(self._program.argv[0]):
            # compile() words some errors (encodings, null bytes) other than Python does for a script; a pipe has
            # been read, and stays here.
            os.execv(sys.executable, [*python_words(), *self._program.words])
        hide_frames(_Failure.__call__.__code__)
        raise error.with_traceback(None)
