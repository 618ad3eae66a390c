"""``prev`` goes back to the screen that was shown before."""

from __future__ import annotations

from argparse import Namespace

from tdbg.shell import command
from tdbg.shell.result import Result


class Command(command.Command):
    """Goes back to the screen before this one, as a browser does."""

    name = "prev"

    def run(self, shell: command.Context, args: Namespace) -> Result:
        return shell.visited.move(-1)
