"""Counts the tensors of a trace, without the inputs that were kept as evidence beside bad outputs."""

from __future__ import annotations

import numpy as np

from tdbg.model import Flag
from tdbg.query.trace.trace import Trace
from tdbg.store.row_pages import Pages


def evidence_of(pages: Pages) -> np.ndarray:
    """Finds the positions of inputs that were kept beside a bad output; they are no tensors of their own."""
    found = [np.empty(0, np.int64)]
    for number, page in enumerate(pages.pages):
        if page.flags >= int(Flag.EVIDENCE):
            flags = pages.part_of_column("flags", number)
            found.append(page.first + np.flatnonzero(flags & int(Flag.EVIDENCE)))
    return np.concatenate(found)


def count_tensors(trace: Trace) -> int:
    """Counts those of all processes. It reads flags only where there may be evidence."""
    evidence = sum(len(evidence_of(trace.pages(process.index))) for process in trace.processes)
    return trace.row_count("tensors") - evidence
