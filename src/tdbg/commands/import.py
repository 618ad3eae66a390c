"""``tdbg import`` makes a trace of what another debugger wrote."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tdbg.commands import BaseCommand
from tdbg.commands.import_formats import find_format
from tdbg.commands.progress import Progress


class Command(BaseCommand):
    """Turn what TensorFlow's own debuggers wrote (Debugger V2, or Session dumps) into a trace.

    Every command that takes a TRACE also accepts such a folder, and imports it into a cache.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="LOGDIR", help="the folder that the debugger was told to write to")
        parser.add_argument(
            "-o",
            "--output",
            metavar="TRACE",
            help="where to write the trace (default: LOGDIR's name with .tdbg, in this folder)",
        )
        parser.add_argument("--values", action="store_true", help="keep every dumped tensor, not only the bad ones")
        parser.add_argument("--force", action="store_true", help="overwrite the trace at --output")
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing on success")

    def run(self, args: Namespace) -> int:
        from tdbg.store.place import make_room

        folder = Path(args.folder)
        known = find_format(folder)
        output = Path(args.output or f"{folder.resolve().name or 'import'}.tdbg").absolute()
        make_room(output, args.force, "--force")
        if output.is_dir():
            output.rmdir()  # make_room left an empty folder, and the trace comes whole, under this name
        with Progress(f"importing {folder}") as progress:
            outcome = known.read(folder, output, progress, args.values)
        if not args.quiet:
            shown = args.output or output.name
            print(f"tdbg: {outcome.text} → {shown}")
            if outcome.losses:
                print(f"    note: {outcome.losses} of the files are damaged or missing; tdbg info says what was lost")
            print(f"next:  tdbg why {shlex.quote(shown)}")
        return 0
