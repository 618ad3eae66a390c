"""Listings of a small trace whose events are not in order and have evidence among them, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tdbg.errors import TdbgError
from tdbg.model import Flag
from tdbg.query.listing.tensor_listing import TensorListings, Wanted, positions_of
from tdbg.query.listing.tensor_page import tensor_page
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.store.format import SCHEMAS
from tdbg.store.writer import TraceWriter

ROWS = 300


def rows_of_trace() -> dict[str, list[Any]]:
    random = np.random.default_rng(3)
    columns: dict[str, list[Any]] = {field.name: [0] * ROWS for field in SCHEMAS["tensors"]}
    seqs = np.arange(ROWS) * 3
    for first in range(0, ROWS, 20):  # written by several threads: nearly in order
        random.shuffle(seqs[first : first + 20])
    flags = [int(Flag.NUMBERS | (Flag.BAD if n > 200 else 0) | (Flag.EVIDENCE if n % 50 == 9 else 0)) for n in
             range(ROWS)]  # fmt: skip
    return columns | {
        "seq": seqs.tolist(),
        "step": [n // 60 for n in range(ROWS)],
        "execution": [n // 30 for n in range(ROWS)],
        "op": random.integers(0, 3, ROWS).tolist(),
        "dtype": [3] * ROWS,
        "positive": [1] * ROWS,
        "max": random.normal(size=ROWS).round(1).tolist(),
        "nan": [int(n > 200) for n in range(ROWS)],
        "flags": flags,
        "value": [-1] * ROWS,
        "tensor": [-1] * ROWS,
    }


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """Those that are listed, in the order of events."""
    columns = rows_of_trace()
    found = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return sorted((row for row in found if not row["flags"] & Flag.EVIDENCE), key=lambda row: row["seq"])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> TraceScene:
    path = tmp_path_factory.mktemp("listing") / "t.tdbg"
    writer = TraceWriter(path, {"argv": ["train.py"], "rank": 0, "mode": "numerics"})
    empty: list[list[int]] = [[], [], []]
    ops: dict[str, list[Any]] = {
        "op": [0, 1, 2], "graph": [0, 0, 1], "name": ["b", "a", "c"], "type": ["Log", "Mul", "Exp"], "device": [""] * 3,
        "input_ops": empty, "input_slots": empty, "output_dtypes": [[3]] * 3, "attributes": ["{}"] * 3,
        "stack": [-1] * 3, "phase": [0, 1, 0], "forward": [-1] * 3, "observed": [True] * 3, "kind": [""] * 3,
        "roles": empty, "framework": [""] * 3,
    }  # fmt: skip
    writer.append("ops", ops)
    writer.append("tensors", rows_of_trace())
    writer.close({"status": 0})
    return TraceScene(path)


def listed(scene: TraceScene, wanted: Wanted) -> list[int]:
    found = TensorListings(scene.read).find(wanted)
    return [row["seq"] for row in tensor_page(scene.read, found.positions(0, len(found))).to_pylist()]


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        (Wanted(), lambda row: True),
        (Wanted(where="nan > 0"), lambda row: row["nan"] > 0),
        (Wanted(where='op == "Log" and max > 0'), lambda row: row["op"] == 0 and row["max"] > 0),
        (Wanted(step=2), lambda row: row["step"] == 2),
        (Wanted(step=2, where="max > 0"), lambda row: row["step"] == 2 and row["max"] > 0),
        (Wanted(where="step == 3"), lambda row: row["step"] == 3),
        (Wanted(where="step in 1:3 and max > 0"), lambda row: 1 <= row["step"] < 3 and row["max"] > 0),
        (Wanted(where="step > 3 or step < 1"), lambda row: row["step"] > 3 or row["step"] < 1),
        (Wanted(where="not step <= 2 and step != 4"), lambda row: row["step"] == 3),
        (Wanted(where="step == 99"), lambda row: False),
        (Wanted(execution=4), lambda row: row["execution"] == 4),
        (Wanted(graph=1), lambda row: row["op"] == 2),
        (Wanted(op=1), lambda row: row["op"] == 1),
        (Wanted(ops=(0, 2)), lambda row: row["op"] in (0, 2)),
        (Wanted(ops=()), lambda row: False),
    ],
)
def test_what_is_wanted_is_listed_in_the_order_of_events(
    scene: TraceScene, rows: Any, wanted: Wanted, passes: Any
) -> None:
    expected = [row["seq"] for row in rows if passes(row)]
    assert listed(scene, wanted) == expected
    listing = TensorListings(scene.read).find(wanted)
    assert len(listing) == len(expected)
    for place in range(0, len(expected), 17):
        assert listing.place_of(expected[place]) == place
    assert listing.place_of(10**9) is None
    bad = TensorListings(scene.read).bad
    assert sum(listing.bad_places(7, bad)) == sum(bool(row["nan"]) for row in rows if passes(row))


def test_orders(scene: TraceScene, rows: list[dict[str, Any]]) -> None:
    for descending in (False, True):
        sign = -1 if descending else 1
        expected = [row["seq"] for row in sorted(rows, key=lambda row: sign * row["max"])]
        assert listed(scene, Wanted(sort="max", descending=descending)) == expected
    names = ["b", "a", "c"]
    by_name = [row["seq"] for row in sorted(rows, key=lambda row: names[row["op"]])]
    assert listed(scene, Wanted(sort="name")) == by_name
    assert listed(scene, Wanted(where="  ", sort="name")) == by_name
    assert listed(scene, Wanted(descending=True)) == [row["seq"] for row in reversed(rows)]
    assert listed(scene, Wanted(op=1, descending=True)) == [row["seq"] for row in reversed(rows) if row["op"] == 1]


def test_pages(scene: TraceScene, rows: list[dict[str, Any]]) -> None:
    listing = TensorListings(scene.read).find(Wanted())
    page = tensor_page(scene.read, listing.positions(40, 7)).to_pylist()
    assert [row["seq"] for row in page] == [row["seq"] for row in rows[40:47]]
    assert {row["name"] for row in page} <= {"a", "b", "c"}
    assert len(listing.positions(len(rows) - 2, 100)) == 2
    assert len(listing.positions(len(rows) + 5, 100)) == 0
    assert len(positions_of(scene.read.pages, np.array([1, 2]))) == 0


def test_mistakes(scene: TraceScene) -> None:
    listings = TensorListings(scene.read)
    for wanted in (
        Wanted(sort="password"),
        Wanted(where="nan >"),
        Wanted(step=99),
        Wanted(run=1),
        Wanted(where='name ~ "(?=a)"'),
    ):
        with pytest.raises(TdbgError):
            listings.find(wanted)
