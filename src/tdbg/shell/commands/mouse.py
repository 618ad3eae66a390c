"""``mouse`` decides whether the screen takes clicks or the terminal selects text with them."""

from __future__ import annotations

from argparse import Namespace

from tdbg.shell import command
from tdbg.shell.result import Result, text
from tdbg.shell.settings import shown


class Command(command.Command):
    """Turns the mouse on or off; when it is off you can select text on the screen.

    Without on or off it toggles. The setting is remembered, for later programs too.
    """

    name = "mouse"
    aliases = ("m",)
    examples = (("mouse off", "select text with the mouse"), ("mouse on", "click on names"))

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("switch", nargs="?", choices=("on", "off"), help="(default: toggle)")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        shell.settings.set("mouse_mode", args.switch or shown(not shell.settings["mouse_mode"]))
        is_on = shell.settings["mouse_mode"]
        return Result([text(f"mouse mode is {shown(is_on)}", data={"mouse_mode": is_on})], controls={"mouse": is_on})
