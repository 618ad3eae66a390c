"""``exit`` ends the program that is held, or the shell."""

from __future__ import annotations

from argparse import Namespace

from tdbg.capture.control import Action, Kind
from tdbg.shell import command
from tdbg.shell.result import Result


class Command(command.Command):
    """Leaves the debugger; a program that is stopped at the prompt ends."""

    name = "exit"
    aliases = ("quit", "q")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        return Result(action=Action(Kind.EXIT))
