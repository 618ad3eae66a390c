"""``version`` tells which tdbg this is."""

from __future__ import annotations

from argparse import Namespace

from tdbg import __version__
from tdbg.shell import command
from tdbg.shell.result import Result, text


class Command(command.Command):
    """Shows the version of tdbg."""

    name = "version"
    aliases = ("ver",)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        return Result([text(f"tdbg {__version__}")])
