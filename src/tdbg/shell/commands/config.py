"""``config`` shows and changes the settings of the prompt, which are kept for the next time."""

from __future__ import annotations

from argparse import Namespace

from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.result import Result, Span, text
from tdbg.shell.settings import SETTINGS, shown


class Command(command.Command):
    """Shows or changes settings, which are remembered for later prompts and programs."""

    name = "config"
    aliases = ("cfg",)
    examples = (
        ("config show", "all settings"),
        ("config set graph_recursion_depth 3", "li -r and lo -r go three levels deep"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("what", nargs="?", default="show", choices=("show", "set"), help="(default: show)")
        add("setting", nargs="?", metavar="SETTING", help=", ".join(SETTINGS))
        add("value", nargs="?", metavar="VALUE", help="its new value")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        if args.what == "set":
            if args.value is None:
                raise TdbgError("config set SETTING VALUE, for example: config set graph_recursion_depth 3")
            shell.settings.set(args.setting, args.value)
            value = shell.settings[args.setting]
            data = {args.setting: value}
            controls = {"mouse": value} if args.setting == "mouse_mode" else {}
            return Result([text(f"{args.setting} is now {shown(value)}", data=data)], controls=controls)
        if args.setting is not None:
            raise TdbgError("config show lists all settings; change one with: config set SETTING VALUE")
        width = max(map(len, SETTINGS)) + 2
        lines = [
            (
                Span(f"  {name + ':':<{width}}"),
                Span(f"{shown(shell.settings[name]):<5}", "number"),
                Span(one.meaning, "dim"),
            )
            for name, one in SETTINGS.items()
        ]
        return Result([text("Command-line configuration:", *lines, data=dict(shell.settings))])
