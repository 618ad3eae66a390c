"""``tdbg serve`` shows traces in the browser until Ctrl-C."""

from __future__ import annotations

import os
import sys
import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tdbg.commands import BaseCommand
from tdbg.commands.trace_argument import trace_path
from tdbg.errors import TdbgCommandError, TdbgError


class Command(BaseCommand):
    """Show traces in the browser, even while a program is still writing them.

    TRACE is a trace, a folder that TensorFlow's debuggers wrote, or a folder of traces: then all of them are shown,
    including those added later. Without TRACE, the traces in this folder are shown. The page can be opened only from
    this machine, and only with the token in the printed address. Started again at the same port, the server has the
    same address, and pages that are still open carry on. Ctrl-C stops it.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.add_argument("traces", nargs="*", metavar="TRACE", help="traces, or folders of traces")
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, metavar="N", help="the port; if it is taken, the next free one")
        parser.add_argument(
            "--allow-host",
            action="append",
            default=[],
            metavar="NAME[:PORT]",
            help="also answer to this name, for a forwarded port, such as localhost:7000 (can be repeated)",
        )
        parser.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")

    def run(self, args: Namespace) -> int:
        if args.port is not None and not 0 <= args.port <= 65_535:
            raise TdbgCommandError(f"--port {args.port}: give a number up to 65535, or 0 for any free one")
        from tdbg.web.guard import HOST
        from tdbg.web.memory import keep_little
        from tdbg.web.server import DEFAULT_PORT, LOCAL, Server, open_browser
        from tdbg.web.traces import Traces

        for name in args.allow_host:
            if not HOST.fullmatch(name):
                raise TdbgCommandError(f"--allow-host {name}: give a name such as localhost:7000, without http://")
        keep_little()
        paths, folders = _places(args.traces or ["."])
        server = Server(Traces(paths, folders), args.host, args.port, allowed=args.allow_host)
        wanted = DEFAULT_PORT if args.port is None else args.port
        if wanted not in (0, server.port):
            print(f"tdbg: port {wanted} is taken; using {server.port} instead", file=sys.stderr)
        if not paths and not any(_has_traces(folder) for folder in folders):
            print("tdbg: there is no trace here yet; new ones appear on the page", file=sys.stderr)
        if args.host not in LOCAL:
            print(
                "tdbg: other machines can reach this server; anyone with the address can read your traces",
                file=sys.stderr,
            )
        try:
            print(server.url, flush=True)
            if not args.no_browser:
                open_browser(server.url)
            server.serve()
        except KeyboardInterrupt:
            print(file=sys.stderr)
        finally:
            server.close()
        _leave_threads()
        return 0


def _leave_threads() -> None:
    """Ends the process where pages still listen or wait for answers: their threads cannot be ended, and while one is
    inside DuckDB the interpreter would complain at length of what it cannot free."""
    if threading.active_count() > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _places(given: list[str]) -> tuple[list[Path], list[Path]]:
    """Sorts what was named into traces, and folders that hold traces or are going to."""
    from tdbg.commands.import_formats import FORMATS

    paths, folders = [], []
    for word in given:
        path = Path(word)
        is_foreign = any(one.recognises(path) for one in FORMATS)
        if path.is_dir() and path.suffix != ".tdbg" and not (path / "trace.json").exists() and not is_foreign:
            folders.append(path)
        else:
            found = trace_path(word)
            if not found.exists():
                raise TdbgError(f"there is no trace here; record one with: tdbg run train.py  ({word})")
            paths.append(found)
    return paths, folders


def _has_traces(folder: Path) -> bool:
    return any(folder.glob("*.tdbg"))
