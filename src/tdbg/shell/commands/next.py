"""``next`` goes forward again, after ``prev``."""

from __future__ import annotations

from argparse import Namespace

from tdbg.shell import command
from tdbg.shell.result import Result


class Command(command.Command):
    """Goes forward to the screen that ``prev`` came from."""

    name = "next"

    def run(self, shell: command.Context, args: Namespace) -> Result:
        return shell.visited.move(1)
