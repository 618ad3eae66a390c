"""``tdbg export`` writes a trace in another format."""

from __future__ import annotations

import os
import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tdbg.commands import BaseCommand
from tdbg.commands.export_formats import FORMATS, Format
from tdbg.commands.trace_argument import open_trace
from tdbg.errors import TdbgCommandError, TdbgError


class Command(BaseCommand):
    """Export a trace to another format: for TensorBoard's Debugger V2, as Parquet or as npz."""

    def prepare_parser(self, parser: ArgumentParser) -> None:
        text = "; ".join(f"{name}: {one.title}" for name, one in FORMATS.items())
        parser.add_argument("--format", required=True, choices=list(FORMATS), help=text)
        parser.add_argument("--force", action="store_true", help="overwrite an earlier export at OUTPUT")
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing on success")
        parser.add_argument("trace", metavar="TRACE", help="a trace, or a folder that TensorFlow's debugger wrote")
        parser.add_argument("output", metavar="OUTPUT", help="the new folder (npz: file)")

    def run(self, args: Namespace) -> int:
        form, output = FORMATS[args.format], Path(args.output).absolute()
        trace = open_trace(args.trace)
        _check(output, form, args.force)
        part = output.with_name(f"{output.name}.{os.getpid()}.part")
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            lines = form.write(trace, part)
            _remove(output)
            os.rename(part, output)
        except OSError as error:
            raise TdbgError(
                f"cannot write here ({error.strerror or error}); free some space or choose another place: {output}"
            ) from error
        finally:
            _remove(part)
        if not args.quiet:
            print(f"tdbg: {lines[0]} → {args.output}")
            for line in lines[1:]:
                print(f"    note: {line}")
        return 0


def _check(output: Path, form: Format, force: bool) -> None:
    if not os.path.lexists(output) or (output.is_dir() and not any(output.iterdir())):
        return
    if not force:
        raise TdbgCommandError(f"this already exists; to overwrite it, add --force: {output}")
    if output.is_dir() != form.is_folder or (form.is_folder and not _is_export(output)):
        raise TdbgCommandError(f"--force only overwrites exports, and this is not one; remove it yourself: {output}")


def _is_export(folder: Path) -> bool:
    """Whether a folder holds nothing but what an export writes."""
    files = [path for path in folder.rglob("*") if not path.is_dir()]
    return all(_is_exported(path.relative_to(folder)) for path in files)


def _is_exported(path: Path) -> bool:
    if path.name.startswith("tfdbg_events.") or path.suffix == ".parquet":
        return True
    return any(part.startswith("run_") for part in path.parts) and any(
        part.startswith("_tfdbg_") for part in path.parts
    )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
