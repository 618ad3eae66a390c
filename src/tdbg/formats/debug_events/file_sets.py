"""Finds the file sets in a folder: one per process that TensorFlow's debugger recorded there."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tdbg.errors import TdbgError
from tdbg.formats.debug_events.messages import Metadata, parse
from tdbg.formats.debug_events.records import RecordFile
from tdbg.formats.debug_events.wire import WireError

KINDS = ("metadata", "source_files", "stack_frames", "graphs", "execution", "graph_execution_traces")
_NAME = re.compile(r"(?P<prefix>.+)\.(?P<kind>" + "|".join(KINDS) + ")")
_PREFIX = re.compile(r"tfdbg_events\.(?P<seconds>\d+)\.(?P<host>.*)")


def is_debug_events_folder(path: Path) -> bool:
    """Whether TensorFlow's debugger wrote into this folder."""
    try:
        return path.is_dir() and any(path.glob("tfdbg_events.*.metadata"))
    except OSError:
        return False


@dataclass
class FileSet:
    """The six files of one process, by kind; some may be missing."""

    folder: Path
    prefix: str

    @cached_property
    def files(self) -> dict[str, RecordFile]:
        return {kind: RecordFile(self.folder / f"{self.prefix}.{kind}") for kind in KINDS}

    @cached_property
    def _told(self) -> tuple[float, Metadata]:
        for record in self.files["metadata"].records():
            try:
                time, message = parse(record)
            except WireError:
                continue
            if isinstance(message, Metadata):
                return time, message
        match = _PREFIX.fullmatch(self.prefix)
        return float(match["seconds"]) if match else 0.0, Metadata()

    @property
    def started(self) -> float:
        """Seconds since the epoch; from the file's name when the metadata cannot be read."""
        return self._told[0]

    @property
    def metadata(self) -> Metadata:
        return self._told[1]

    @property
    def host(self) -> str:
        match = _PREFIX.fullmatch(self.prefix)
        return match["host"] if match else "unknown"


def find_file_sets(folder: Path) -> list[FileSet]:
    """Those that can be read, in the order in which they began; TdbgError when there are none."""
    try:
        names = sorted(os.listdir(folder))
    except NotADirectoryError:
        raise TdbgError(f"this is a file; name the folder that TensorFlow's debugger wrote: {folder}") from None
    except FileNotFoundError:
        raise TdbgError(f"there is no such folder: {folder}") from None
    except OSError as error:
        raise TdbgError(f"this folder cannot be read: {error.strerror}: {folder}") from error
    matches = [match for name in names if (match := _NAME.fullmatch(name)) is not None]
    prefixes = sorted({match["prefix"] for match in matches if match["kind"] == "metadata"})
    if not prefixes:
        raise TdbgError(
            f"TensorFlow's debugger has written nothing here (there is no tfdbg_events.*.metadata); name the folder "
            f"that was given to tf.debugging.experimental.enable_dump_debug_info: {folder}"
        )
    try:
        return sorted((FileSet(folder, prefix) for prefix in prefixes), key=lambda one: (one.started, one.prefix))
    except OSError as error:
        raise TdbgError(f"this folder cannot be read: {error.strerror}: {folder}") from error
