"""Makes the blocks that show an array as the flags of ``print_tensor`` ask, or writes it to a file."""

from __future__ import annotations

import math
import os
import re
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell.array_cells import computable, in_ranges
from tdbg.shell.command import Parser
from tdbg.shell.numeric_summary import histogram_text, summary_of, summary_text
from tdbg.shell.result import Array, Block, Result, Span, Text, text
from tdbg.shell.tensor_part import TensorPart

MOST_UNASKED = 2000  # elements that -a shows without a question
_NUMBER = r"[+-]?(?:inf|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)"
_RANGE = re.compile(rf"\[\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]", re.IGNORECASE)
_PER_CHUNK = 1 << 22


def add_output_flags(parser: Parser) -> None:
    """Adds the flags that eval has too."""
    add = parser.add_argument
    add(
        "-a",
        "--all",
        action="store_true",
        help=f"show all elements, without ellipses; asks first above {MOST_UNASKED:,}",
    )
    add("-w", "--write_path", metavar="FILE", help="write the elements, or the slice, to this .npy file")
    add("--force", action="store_true", help="overwrite the file of -w")
    add("-y", "--yes", action="store_true", help="do not ask before -a")


def add_value_flags(parser: Parser) -> None:
    add = parser.add_argument
    text = "highlight elements in these ranges: [0,1] or [[-inf,-1],[1,inf]]"
    add("-r", "--ranges", metavar="RANGES", help=text)
    add_output_flags(parser)
    add(
        "-s",
        "--numeric_summary",
        action="store_true",
        help="show counts of nan, inf, signs and zeros, and min, max, mean and std",
    )
    add("--histogram", action="store_true", help="show a histogram of the finite elements")


def parse_ranges(typed: str | None) -> list[tuple[float, float]]:
    """Reads ``[0,1]`` or ``[[-inf,-1],[1,inf]]``."""
    if not typed:
        return []
    found = [(float(low), float(high)) for low, high in _RANGE.findall(typed)]
    left = _RANGE.sub("", typed)
    if not found or not re.fullmatch(r"\s*\[?[\s,]*\]?\s*", left):
        raise TdbgError(f"-r {typed}: write one range, [0,1], or several, [[-inf,-1],[1,inf]]")
    for low, high in found:
        if math.isnan(low) or low > high:
            raise TdbgError(f"-r {typed}: a range starts with its lower end, but {low:g} is not below {high:g}")
    return found


def question(shown: np.ndarray, args: Namespace, can_ask: bool, again: str) -> Result | None:
    """Asks before a large array is shown whole; None when nothing has to be asked."""
    if not args.all or args.yes or not can_ask or shown.size <= MOST_UNASKED:
        return None
    return Result(asks=f"show all {shown.size:,} elements?", yes=f"{again} -y")


def header(name: str, dtype: str, shape: Sequence[int] | None) -> Text:
    said = "unknown" if shape is None else str(tuple(shape))
    data = {"name": name, "dtype": dtype, "shape": None if shape is None else list(shape)}
    return text(
        (Span("Tensor "), Span(f'"{name}"', "name"), Span(":")), f"  dtype: {dtype}", f"  shape: {said}", "", data=data
    )


def value_blocks(name: str, shown: np.ndarray, args: Namespace, part: TensorPart) -> list[Block]:
    """Makes the header, what was asked for beside the elements, and the elements."""
    blocks: list[Block] = [header(name, str(shown.dtype), shown.shape)]
    ranges = parse_ranges(args.ranges)
    if args.numeric_summary:
        summary = summary_of(shown)
        no_summary = text("It contains no numbers to summarise.", "")
        blocks.append(no_summary if summary is None else summary_text(summary, str(shown.dtype)))
    if args.histogram:
        blocks.append(histogram_text(shown) if summary_of(shown) else text("It contains no numbers.", ""))
    if ranges:
        inside = count_in_ranges(shown, ranges)
        share = f" ({inside / shown.size:.2%})" if shown.size else ""
        said = f"Highlighted {args.ranges}: {inside:,} of {shown.size:,} elements{share}"
        blocks.append(text(Span(said, "match"), "", data={"highlighted": inside, "elements": shown.size}))
    return [*blocks, Array(name, shown, ranges, args.all, part)]


def count_in_ranges(shown: np.ndarray, ranges: Sequence[tuple[float, float]]) -> int:
    flat = shown.reshape(-1)
    parts = (flat[at : at + _PER_CHUNK] for at in range(0, flat.size, _PER_CHUNK))
    return sum(int(np.count_nonzero(in_ranges(part, ranges))) for part in parts)


def write(array: np.ndarray, path: str, force: bool) -> Text:
    """Writes a .npy file that numpy alone can read: types that it does not know become those that it does."""
    place = os.path.expanduser(path)
    if os.path.lexists(place) and not force:
        raise TdbgError(f"this already exists; to overwrite it, add --force: {path}")
    kept: Any = np.asarray(array, dtype="S") if array.dtype.kind == "O" else computable(array)
    try:
        with open(place, "wb") as file:
            np.save(file, kept, allow_pickle=False)
    except OSError as error:
        raise TdbgError(f"cannot write the file ({error.strerror}): {path}") from error
    as_type = f" as {kept.dtype}" if kept.dtype != array.dtype else ""
    said = f"{array.size:,} element{'s' * (array.size != 1)}{as_type} written to {path}"
    return text(said, "", data={"written": path, "elements": array.size, "dtype": str(kept.dtype)})
