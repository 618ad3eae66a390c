"""Finds all files in the folder of one run, by device and kind, in one walk that opens none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tdbg.formats.dumps.names import (
    CORE_METADATA_PREFIX,
    DEVICE_PREFIX,
    FEEDS_NAME,
    FETCHES_NAME,
    GRAPH_PREFIX,
    METADATA_PREFIX,
    DumpName,
    device_of_folder,
    graph_order,
    parse_dump_name,
)

_RUN_PREFIX = "run_"


class TensorFile(NamedTuple):
    """One dumped tensor that has not been read."""

    path: str  # below the folder of the run
    node: str  # with its scopes
    name: DumpName


@dataclass
class DeviceFiles:
    """What was dumped on one device: tensors in the order of time, graphs from the oldest to the newest."""

    device: str
    tensors: list[TensorFile] = field(default_factory=list)
    graphs: list[str] = field(default_factory=list)


@dataclass
class RunFiles:
    """The files of one run; ``strangers`` are files of which the name says nothing."""

    root: str
    devices: list[DeviceFiles] = field(default_factory=list)
    core_metadata: list[str] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)


def scan_run(root: str) -> RunFiles:
    """OSError when there is no such folder."""
    run = RunFiles(root)
    with os.scandir(root) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(DEVICE_PREFIX) and entry.is_dir(follow_symlinks=False):
                run.devices.append(_scan_device(run, entry.name))
            elif entry.name.startswith(CORE_METADATA_PREFIX):
                run.core_metadata.append(entry.name)
            elif entry.name.startswith(FETCHES_NAME):
                run.fetches.append(entry.name)
            elif entry.name.startswith(FEEDS_NAME):
                run.feeds.append(entry.name)
    return run


def _scan_device(run: RunFiles, folder: str) -> DeviceFiles:
    device = DeviceFiles(device_of_folder(folder))
    for scope, name in _files_below(os.path.join(run.root, folder), ""):
        path = os.path.join(folder, scope, name)
        if name.startswith(GRAPH_PREFIX):
            device.graphs.append(path)
            continue
        try:
            parsed = parse_dump_name(name)
        except ValueError:
            run.strangers.append(path)
            continue
        node = f"{scope}/{parsed.node}" if scope else parsed.node
        device.tensors.append(TensorFile(path, node, parsed))
    device.tensors.sort(key=lambda file: file.name.order)
    device.graphs.sort(key=lambda path: graph_order(os.path.basename(path)))
    return device


def _files_below(folder: str, scope: str) -> Iterator[tuple[str, str]]:
    """(scope, name) of each file; a scope is the folders on the way to it."""
    pending = [(folder, scope)]
    while pending:
        folder, scope = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner = f"{scope}/{entry.name}" if scope else entry.name
                    pending.append((entry.path, inner))
                else:
                    yield scope, entry.name


def runs_in(root: str) -> list[str]:
    """The folder itself when it is a run's, else the runs (``run_*``) that lie in it, in the order they were made."""
    if _is_run(root):
        return [root]
    return [os.path.join(root, name) for name in sorted(_run_folders(root), key=_run_order)]


def is_dump_root(root: str | os.PathLike[str]) -> bool:
    """Whether it is the folder of a run, or holds one."""
    return _is_run(root) or any(True for _ in _run_folders(root))


def _run_folders(root: str | os.PathLike[str]) -> Iterator[str]:
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name.startswith(_RUN_PREFIX) and entry.is_dir() and _is_run(entry.path):
                yield entry.name


def _is_run(folder: str | os.PathLike[str]) -> bool:
    with os.scandir(folder) as entries:
        return any(entry.name.startswith(METADATA_PREFIX) for entry in entries)


def _run_order(name: str) -> tuple[list[int], str]:
    """``run_<µs>_<counter>``, by numbers: run_9 comes before run_10."""
    return [int(word) for word in name.split("_") if word.isdigit()], name
