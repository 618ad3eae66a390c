"""Prints aligned tables and labelled lines, the same for every command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

_LONGEST_CELL = 60


def cell(value: Any) -> str:
    """Writes a value on one line, cut when it is long."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes | bytearray):
        value = value.hex()
    text = str(value).replace("\n", "\\n").replace("\t", "\\t")
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def aligned(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Writes the lines of a table: a header, a rule, numbers to the right and all else to the left."""
    texts = [[cell(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[n]) for row in texts)]) for n, name in enumerate(header)]
    right = [_is_number_column([row[n] for row in rows]) for n in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        places = zip(cells, widths, right, strict=True)
        return "  ".join(text.rjust(width) if end else text.ljust(width) for text, width, end in places).rstrip()

    return [line(header), "  ".join("─" * width for width in widths), *map(line, texts)]


def _is_number_column(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def size(count: int) -> str:
    """Writes bytes as people read them: ``1.4 MB``."""
    amount, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{count} bytes" if units[0] == "bytes" else f"{amount:.1f} {units[0]}"


def print_labelled(lines: Sequence[tuple[str, str]]) -> None:
    """Prints labels and what they say, one under the other; in colour on a terminal only."""
    width = max(len(label) for label, _ in lines) + 2
    if not sys.stdout.isatty():
        print("\n".join(f"{label:<{width}}{text}".rstrip() for label, text in lines))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for label, text in lines:
        console.print(Text.assemble((f"{label:<{width}}", "bold cyan"), text), soft_wrap=True)
