"""Says what is bad in a tensor as it was seen, as ``-inf ×400``."""

from __future__ import annotations

from tdbg.scene import Seen
from tdbg.shell.result import Line, Span


def bad_spans(seen: Seen) -> Line:
    """Says what is bad: nothing where nothing is; where nobody has looked, that is said."""
    numbers = seen.numbers
    if numbers is None and seen.is_bad is None:
        return (Span("not looked at", "dim"),)
    if numbers is None:
        return (Span("bad", "nan"),) if seen.is_bad else ()
    counts = (("nan", "nan", numbers.nan), ("-inf", "inf", numbers.neg_inf), ("+inf", "inf", numbers.pos_inf))
    found = [Span(f"{name} ×{count:,}", style) for name, style, count in counts if count]
    return tuple(piece for n, span in enumerate(found) for piece in ([Span(", ")] if n else []) + [span])
