"""Writes the numeric summary of an array, or of what was recorded of one, and its histogram."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tdbg.model import NUMBERS, Summary
from tdbg.native import summarize
from tdbg.native.reference import DTYPES
from tdbg.shell.array_cells import computable
from tdbg.shell.result import Line, Span, Text

_BINS, _LONGEST_BAR = 12, 40
_STYLES = {"nan": "nan", "-inf": "inf", "+inf": "inf", "-": "negative", "0": "zero", "+": "positive"}
_MARKS = {"nan": "nan", "neg_inf": "-inf", "negative": "-", "zero": "0", "positive": "+", "pos_inf": "+inf"}
_MARKS |= {one.name: one.label for one in NUMBERS[1:] if one.is_count and one.name not in _MARKS}
_PER_CHUNK = 1 << 22


def summary_of(array: np.ndarray) -> Summary | None:
    """Counts exactly, in one pass; None where there is nothing to count: texts, no elements."""
    return summarize(array) if array.size and array.dtype.name in DTYPES else None


def summary_text(summary: Summary, dtype: str) -> Text:
    """Writes the table that tfdbg's users know: counts by class without those that are 0, then the extremes of the
    finite."""
    data = summary.numbers()
    if dtype == "bool":
        counts = [("False", summary.zero), ("True", summary.positive)]
    else:
        counts = [(mark, data[name]) for name, mark in _MARKS.items()]
    counts = [(name, count) for name, count in counts if count > 0]
    lines: list[Line] = [(Span("Numeric summary:", "title"),), *_counted(counts, summary.elements)]
    if dtype.startswith("complex"):
        lines.append((Span("(of real and imaginary parts)", "dim"),))
    finite = summary.negative + summary.zero + summary.positive
    if finite and dtype != "bool":
        is_whole = "int" in dtype
        stated = [(one, data[one.name]) for one in NUMBERS if not one.is_count and data[one.name] == data[one.name]]
        texts = [f"{value:.0f}" if is_whole and not one.is_computed else f"{value:.8g}" for one, value in stated]
        lines += _stated([one.label for one, _ in stated], texts)
    return Text([*lines, ()], data)


def _counted(counts: Sequence[tuple[str, int]], total: int) -> list[Line]:
    width = max((max(len(name), len(str(count))) for name, count in counts), default=0) + 1
    end = max(len("total"), len(str(total))) + 1
    names = [Span(name.rjust(width), _STYLES.get(name, "")) for name, _ in counts]
    numbers = [Span(str(count).rjust(width), _STYLES.get(name, "")) for name, count in counts]
    return [
        (Span("|"), *names, Span(f" |{'total':>{end}} |")),
        (Span("|"), *numbers, Span(f" |{total:>{end}} |")),
    ]


def _stated(names: Sequence[str], values: Sequence[str]) -> list[Line]:
    width = max(map(len, (*names, *values))) + 1
    return [
        (Span(f"|{''.join(name.rjust(width) for name in names)} |"),),
        (Span(f"|{''.join(value.rjust(width) for value in values)} |"),),
    ]


def histogram(array: np.ndarray, bins: int = _BINS) -> tuple[np.ndarray, np.ndarray]:
    """Gives (counts, edges) of the finite elements; of few different integers one bin each."""
    flat = array.reshape(-1)
    summary = summary_of(array)
    if summary is None or not summary.negative + summary.zero + summary.positive:
        return np.zeros(0, np.int64), np.zeros(0)
    low, high = summary.min, summary.max
    if array.dtype.kind in "biu" and high - low < bins:
        edges = np.arange(int(low), int(high) + 2) - 0.5
    else:  # halves, so that the distance between two of the largest numbers is still a number
        edges = np.unique([low, *(np.linspace(low / 2, high / 2, bins + 1)[1:-1] * 2).clip(low, high), high])
    if len(edges) == 1:
        return np.array([summary.negative + summary.zero + summary.positive]), np.array([low, high])
    counts = np.zeros(len(edges) - 1, np.int64)
    for at in range(0, flat.size, _PER_CHUNK):
        part = computable(flat[at : at + _PER_CHUNK]).astype(np.float64)
        part = part[np.isfinite(part)]
        places = np.clip(np.searchsorted(edges, part, side="right") - 1, 0, len(counts) - 1)
        counts += np.bincount(places, minlength=len(counts))
    return counts, edges


def histogram_text(array: np.ndarray) -> Text:
    if array.dtype.kind == "c":
        return Text([(Span("there is no histogram of complex elements; try np.abs with eval", "dim"),), ()])
    counts, edges = histogram(array)
    if not len(counts):
        return Text([(Span("no finite elements, so no histogram", "dim"),), ()], {"counts": [], "edges": []})
    is_whole = array.dtype.kind in "biu" and edges[0] % 1 == 0.5
    if is_whole:
        names = [f"{int(edge + 0.5)}" for edge in edges[:-1]]
    elif edges[0] == edges[1]:
        names = [f"{edges[0]:.6g}"]
    else:
        names = [f"{begin:.4g} … {end:.4g}" for begin, end in pairwise(edges)]
    width, total = max(map(len, names)), int(counts.sum())
    lines: list[Line] = [(Span("Histogram of the finite elements:", "title"),)]
    for name, count in zip(names, counts.tolist(), strict=True):
        bar = "█" * max(round(_LONGEST_BAR * count / counts.max()), 1 if count else 0)
        lines.append(
            (Span(f"{name:>{width}}  "), Span(bar, "number"), Span(f" {count:,} ({count / total:.1%})", "dim"))
        )
    return Text([*lines, ()], {"counts": counts.tolist(), "edges": edges.tolist()})
