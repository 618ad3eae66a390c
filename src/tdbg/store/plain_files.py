"""Opens or reads a plain file inside a folder that strangers may have written in.

Links, pipes, sockets and devices are never opened: a link may lead to any file of this machine, a pipe makes its
reader wait for ever, and ``/dev/zero`` has no end. Loads neither Arrow nor numpy.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from tdbg.plain_text import all_plain

MOST_JSON_BYTES = 16 << 20
_MOST_JSON_DEPTH = 64
_MOST_HOLE = 1 << 30  # bytes
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is opened without waiting for a writer


def is_plain_file(path: str | Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def is_plain_folder(path: str | Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def open_plain(path: str | Path) -> BinaryIO:
    """Opens for reading. OSError when it is anything but a plain file."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, and only plain files are read") from None
        raise
    about = os.fstat(fd)
    is_plain = stat.S_ISREG(about.st_mode)
    if not is_plain or (about.st_size > _MOST_HOLE and _is_hollow(fd, about.st_size)):
        os.close(fd)
        raise OSError(errno.EINVAL, "it has gigabytes of holes" if is_plain else "it is not a plain file")
    return os.fdopen(fd, "rb")


def _is_hollow(fd: int, size: int) -> bool:
    """Whether more of the file is holes than anybody would write: a terabyte of them takes no room, and hours to
    read."""
    at = holes = 0
    try:
        while at < size and holes <= _MOST_HOLE:
            begin = at
            try:
                at = os.lseek(fd, begin, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    return False  # this file system does not tell
                at = size  # nothing but a hole follows
            holes += at - begin
            at = os.lseek(fd, at, os.SEEK_HOLE) if at < size else at
    finally:
        os.lseek(fd, 0, os.SEEK_SET)
    return holes > _MOST_HOLE


def check_plain(path: str | Path) -> None:
    """For what others open by its name: OSError unless it is a plain file."""
    open_plain(path).close()


def read_plain(path: str | Path, most: int) -> bytes:
    """The whole content. OSError when it is longer than ``most``."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
        return file.read(size)


def read_json(path: str | Path) -> dict[str, Any]:
    """The object in a small JSON file, its texts plain. OSError or ValueError when there is none, or one that is nested
    too deeply."""
    return all_plain(json_object(read_plain(path, MOST_JSON_BYTES).decode("utf-8")))


def json_object(text: str) -> dict[str, Any]:
    """An object of JSON that whoever handles it can walk through. ValueError when it is none."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it does not contain a JSON object")
    _check_depth(content)
    return content


def _check_depth(content: Any) -> None:
    level = [content]
    for _ in range(_MOST_JSON_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError("it is nested too deeply")
