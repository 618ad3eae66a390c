"""A demo's name in, a broken model trained under tdbg and its bug explained out."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from importlib.resources import files

from tdbg.commands import BaseCommand
from tdbg.errors import TdbgCommandError


def _programs() -> dict[str, str]:
    folder = files("tdbg.demos")
    return {
        item.name.removesuffix(".py"): str(item)
        for item in sorted(folder.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".py") and not item.name.startswith("_")
    }


class Command(BaseCommand):
    """train a broken model and find its bug

    Trains a small model that goes wrong, under tdbg, and prints what tdbg says of it. The program is part of tdbg; its
    path is printed, so that you can read it. The trace goes to the current folder and replaces that of the last demo.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="digits", help="which demo (default: digits); --list shows all")
        parser.add_argument("--list", action="store_true", help="the demos there are")

    def run(self, args: Namespace) -> int:
        programs = _programs()
        if args.list:
            print("\n".join(programs))
            return 0
        if args.name not in programs:
            raise TdbgCommandError(f"there is no demo {args.name!r}; there are: {', '.join(programs)}")
        program, trace = programs[args.name], f"tdbg-demo-{args.name}.tdbg"
        print(f"$ tdbg run -o {trace} {program}", flush=True)
        command = [sys.executable, "-m", "tdbg", "run", "--force", "-o", trace, program]
        return subprocess.run(command, check=False).returncode
