"""``tdbg shell`` carries out typed commands on a trace: on a screen, in lines, or as JSON."""

from __future__ import annotations

import gc
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from tdbg.commands import BaseCommand
from tdbg.commands.trace_argument import add_trace_argument, open_trace
from tdbg.errors import TdbgCommandError
from tdbg.strict_json import to_json

if TYPE_CHECKING:
    from tdbg.query.scene.trace_scene import TraceScene
    from tdbg.shell.engine import Engine
    from tdbg.shell.result import Result

FAILED_STATUS = 1
_FEWER_COLLECTIONS = (20_000, 50, 100)  # looking for garbage while modules load is a tenth of the time to open


class Command(BaseCommand):
    """Explore a trace with the commands of tfdbg: lt, pt, ni, li, ps and more.

    On a terminal it opens a full screen; on a pipe, or with --lines, it reads commands line by line. -c runs the given
    commands and exits. TRACE is a trace, or a folder that TensorFlow's debuggers wrote.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        add_trace_argument(parser)
        text = 'run these commands and exit, as in -c "lt -f has_inf_or_nan; ni -t Log"; may be repeated'
        parser.add_argument("-c", dest="commands", metavar="COMMANDS", action="append", help=text)
        parser.add_argument("--json", action="store_true", help="with -c: print one line of JSON per command")
        parser.add_argument("--lines", action="store_true", help="read commands line by line, even on a terminal")
        parser.add_argument("--no-pager", action="store_true", help="with --lines: do not page long output")
        parser.add_argument("--step", metavar="N", help="start at this step or run, or at all of them together (all)")

    def run(self, args: Namespace) -> int:
        gc.set_threshold(*_FEWER_COLLECTIONS)
        from tdbg.shell.engine import Engine
        from tdbg.shell.line_history import LineHistory
        from tdbg.shell.settings import Settings

        if args.json and args.commands is None:
            raise TdbgCommandError('--json needs -c, as in: tdbg shell --json -c "lt -f has_inf_or_nan"')
        step = _step(args.step)
        scene = _open(args.trace)
        if args.step is not None:
            scene.go(step)
        settings = Settings.of_user()
        if settings.warning:
            print(f"tdbg: {settings.warning}", file=sys.stderr)
        if args.commands is not None:
            return _run_commands(Engine(scene, settings, open_scene=_open), "\n".join(args.commands), args.json)
        return _ask(Engine(scene, settings, history=LineHistory.of_user(), open_scene=_open), args)


def _open(trace: str | None) -> TraceScene:
    """Opens a trace; one in another format is imported first."""
    from tdbg.query.scene.trace_scene import TraceScene

    return TraceScene(open_trace(trace, keep_values=True))


def _step(given: str | None) -> int | None:
    if given is None or given == "all":
        return None
    try:
        return int(given)
    except ValueError:
        raise TdbgCommandError(f"--step {given}: give the number of a step or a run, or all") from None


def _run_commands(engine: Engine, text: str, as_json: bool) -> int:
    """Runs commands until one fails, or leaves."""
    from tdbg.shell.line_mode import PROMPT, LineMode
    from tdbg.shell.words import commands_in

    commands = commands_in(text)
    if not commands:
        raise TdbgCommandError('-c needs a command, for example: tdbg shell -c "lt"')
    mode = LineMode(engine, has_pager=False)
    engine.can_ask = False
    for command in commands:
        if as_json:
            result = engine.execute(command)
            _print_json(result)
        else:
            if len(commands) > 1:
                print(f"{PROMPT}{command}")
            result = mode.execute(command)
        if result.is_error:
            return FAILED_STATUS
        if result.action:
            break
    return 0


def _print_json(result: Result) -> None:
    """Prints rows as they are read: there may be ten million of them."""
    from tdbg.shell.result_data import as_data, rows_of

    rows = rows_of(result)
    if rows is None:
        print(to_json(as_data(result)))
        return
    opening = "["
    for row in rows:
        print(opening + to_json(row), end="")
        opening = ", "
    print("]" if opening != "[" else "[]")


def _ask(engine: Engine, args: Namespace) -> int:
    from tdbg.shell.line_mode import LineMode
    from tdbg.shell.prompts import can_show_screen

    if can_show_screen() and not args.lines:
        from importlib import import_module

        import_module("tdbg.shell.screen").run(engine)
        return 0
    print(f"{engine.scene.title}: type help for the commands, exit to leave")
    LineMode(engine, has_pager=not args.no_pager).loop()
    return 0
