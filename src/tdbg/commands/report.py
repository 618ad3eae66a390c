"""``tdbg report`` writes a trace as one HTML file to send to a colleague."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tdbg.commands import BaseCommand
from tdbg.commands.trace_argument import add_trace_argument, open_trace
from tdbg.errors import TdbgCommandError


class Command(BaseCommand):
    """Write the verdict, plots and coverage to a single self-contained HTML file."""

    def prepare_parser(self, parser: ArgumentParser) -> None:
        add_trace_argument(parser)
        parser.add_argument(
            "-o", "--output", metavar="FILE", help="the file to write (default: the trace's name with .html)"
        )
        parser.add_argument("--force", action="store_true", help="overwrite the file")

    def run(self, args: Namespace) -> int:
        from tdbg.report.page import build

        trace = open_trace(args.trace)
        output = Path(args.output) if args.output else Path(f"{trace.path.absolute().name.removesuffix('.tdbg')}.html")
        if os.path.lexists(output) and not args.force:
            raise TdbgCommandError(f"this already exists; to overwrite it, add --force: {output}")
        if output.is_dir():
            raise TdbgCommandError(f"this is a folder; name a file with -o: {output}")
        page = build(trace)
        try:
            output.write_text(page, encoding="utf-8")
        except OSError as error:
            raise TdbgCommandError(f"cannot write the report ({error.strerror or error}): {output}") from error
        print(output)
        return 0
