"""``tdbg demo`` trains a broken model under tdbg and explains its bug."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from importlib.resources import files

from tdbg.commands import BaseCommand
from tdbg.errors import TdbgCommandError

# What TensorFlow and absl log while they start, in each of their two forms. No setting silences all of it: some lines
# come before the logs are set up.
_STARTING = re.compile(
    rb"[IWEF]\d{4} [\d:. ]+\d+ \S+:\d+\] "
    rb"|\d{4}-\d\d-\d\d [\d:.]+: [IWEF] \S+:\d+\] "
    rb"|WARNING: All log messages before absl::InitializeLog"
    rb"|To enable the following instructions: "
)


def _programs() -> dict[str, str]:
    folder = files("tdbg.demos")
    return {
        item.name.removesuffix(".py"): str(item)
        for item in sorted(folder.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".py") and not item.name.startswith("_")
    }


class Command(BaseCommand):
    """Train a broken model and find its bug.

    Trains a small model that goes wrong, under tdbg, and prints what tdbg says about it. The program comes with tdbg;
    its path is printed so that you can read it. The trace goes to the current folder and replaces the last demo's.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", nargs="?", default="digits", help="which demo to run (default: digits); --list lists them all"
        )
        parser.add_argument("--list", action="store_true", help="list the demos")

    def run(self, args: Namespace) -> int:
        programs = _programs()
        if args.list:
            print("\n".join(programs))
            return 0
        if args.name not in programs:
            raise TdbgCommandError(f"there is no demo {args.name!r}; choose one of: {', '.join(programs)}")
        program, trace = programs[args.name], f"tdbg-demo-{args.name}.tdbg"
        print(f"$ tdbg run -o {trace} {program}", flush=True)
        command = [sys.executable, "-m", "tdbg", "run", "--force", "-o", trace, program]
        return _run_quietly(command)


def _run_quietly(command: list[str]) -> int:
    """Runs the command and shows what it prints, less what TensorFlow logs while it starts."""
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if not _STARTING.match(line):
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
    return running.returncode
