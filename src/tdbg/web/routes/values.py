"""Answers with the elements of a tensor or a slice of it, where they were kept, and a histogram of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.errors import TdbgError
from tdbg.shell.array_cells import computable
from tdbg.shell.numeric_summary import histogram, summary_of
from tdbg.shell.tensor_name import parse_index, take
from tdbg.web.columns import column_page
from tdbg.web.route import PROCESS, Answer, Asked, Parameter, Refused, Route
from tdbg.web.routes.tensors import SEQ
from tdbg.web.rows_and_stacks import SUMMARY
from tdbg.web.schema import listing, maybe, named, number, record, text, truth, whole

_LONGEST_TEXT = 200


def value(asked: Asked) -> dict[str, Any] | Answer:
    with asked.trace.lock:
        scene = asked.trace.scene(asked.process())
        seen = scene.event(asked["seq"])
        try:
            whole_value = np.asarray(scene.value(seen))
        except TdbgError as error:
            sentence, _, following = str(error).partition("; ")
            raise Refused(404, sentence, following) from None
    index = parse_index(asked["slice"].strip().removeprefix("[").removesuffix("]")) if asked["slice"] else ()
    part = np.asarray(take(whole_value, index, seen.tensor))
    shown = _cut(part, asked["most"])
    numbers = _numbers(shown)
    summary = summary_of(part)
    header = {
        "name": seen.tensor,
        "dtype": seen.dtype,
        "shape": list(whole_value.shape),
        "part": list(part.shape),
        "shown": list(shown.shape),
        "is_cut": shown.shape != part.shape,
        "summary": summary.numbers() if summary else None,
        "histogram": _histogram(part, asked["bins"]),
    }
    if asked["format"] == "columns":
        if numbers is None:
            raise Refused(400, f"elements of type {seen.dtype} are not numbers", "ask for format=json")
        return column_page(pa.table({"values": numbers}), header | {"total": int(part.size)})
    return header | {"values": numbers.tolist() if numbers is not None else _texts(shown)}


def bad_element(asked: Asked) -> dict[str, Any]:
    """Finds the next bad element in the order of memory. After the last comes the first again."""
    with asked.trace.lock:
        scene = asked.trace.scene(asked.process())
        try:
            whole_value = np.asarray(scene.value(scene.event(asked["seq"])))
        except TdbgError as error:
            sentence, _, following = str(error).partition("; ")
            raise Refused(404, sentence, following) from None
    numbers = _numbers(whole_value)
    bad = np.flatnonzero(~np.isfinite(numbers)) if numbers is not None else np.array([], np.int64)
    if not len(bad):
        return {"total": 0, "number": -1, "at": -1, "index": []}
    number = int(np.searchsorted(bad, asked["after"], side="right")) % len(bad)
    at = int(bad[number])
    index = [int(one) for one in np.unravel_index(at, whole_value.shape)]
    return {"total": len(bad), "number": number, "at": at, "index": index}


def _cut(part: np.ndarray, most: int) -> np.ndarray:
    """Cuts what is too much down to the first of the outer dimensions, and so much of the last two that both can be
    seen."""
    if part.size <= most:
        return part
    sizes = list(part.shape)
    for outer in range(len(sizes) - 2):
        others = int(np.prod(sizes)) // max(1, sizes[outer])
        sizes[outer] = max(1, min(sizes[outer], most // max(1, others)))
    side = max(1, int(most**0.5))
    if int(np.prod(sizes)) > most:
        columns = min(sizes[-1], max(side, most // max(1, sizes[-2]))) if len(sizes) > 1 else most
        sizes[-1] = columns
        if len(sizes) > 1:
            sizes[-2] = max(1, min(sizes[-2], most // columns))
    return part[tuple(slice(0, size) for size in sizes)]


def _numbers(shown: np.ndarray) -> np.ndarray | None:
    """Gives all elements in a row; of complex ones their absolute values."""
    if summary_of(shown) is None:
        return None
    plain = computable(shown).reshape(-1)
    return np.abs(plain).astype(np.float64) if plain.dtype.kind == "c" else plain.astype(np.float64)


def _texts(shown: np.ndarray) -> list[str]:
    return [
        (one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one))[:_LONGEST_TEXT]
        for one in shown.reshape(-1).tolist()
    ]


def _histogram(part: np.ndarray, bins: int) -> dict[str, Any] | None:
    if summary_of(part) is None or part.dtype.kind == "c":
        return None
    counted, edges = histogram(part, bins)
    return {"counts": counted.tolist(), "edges": edges.tolist()}


_VALUE = record(
    name=text(),
    dtype=text(),
    shape=listing(whole()),
    part=listing(whole("the shape of the slice")),
    shown=listing(whole("the shape of what is returned")),
    is_cut=truth(),
    summary=maybe(SUMMARY),
    histogram=maybe(record(counts=listing(whole()), edges=listing(number()))),
    values=listing({"anyOf": [number(), text()]}),
)
_BAD_ELEMENT = record(
    total=whole("elements that are NaN or infinite"),
    number=whole("which of them this is, counting from 0; -1: there is none"),
    at=whole("its position, in memory order"),
    index=listing(whole()),
)

ROUTES = (
    Route(
        "/api/t/{trace}/value",
        "Elements of a tensor that was kept; if it was not, 404 with how to keep it",
        value,
        named("TensorValue", _VALUE),
        (
            PROCESS,
            SEQ,
            Parameter("slice", "as numpy takes it, such as [0, :10]", "text", default="", most=200),
            Parameter("most", "return at most this many elements", default=10_000, least=1, most=1_000_000),
            Parameter("bins", "of the histogram", default=40, least=1, most=400),
            Parameter("format", "json or columns", "text", default="json", choices=("json", "columns")),
        ),
    ),
    Route(
        "/api/t/{trace}/bad_element",
        "Where a tensor that was kept holds NaN or infinity: the first such element, or the next one",
        bad_element,
        named("BadElement", _BAD_ELEMENT),
        (PROCESS, SEQ, Parameter("after", "find the next one after this position", default=-1, least=-1)),
    ),
)
