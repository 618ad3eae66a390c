"""An order of which only the beginning is sorted is the order of a whole sort."""

from __future__ import annotations

import numpy as np
import pytest

from tdbg.query.listing import sorted_order
from tdbg.query.listing.sorted_order import SortedOrder


@pytest.fixture(autouse=True)
def small_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_order, "HEAD", 50)
    monkeypatch.setattr(sorted_order, "BUCKET", 64)


@pytest.mark.parametrize("distinct", [3, 100_000])
@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_it_is_the_order_of_a_stable_sort(distinct: int, missing: float, sign: int) -> None:
    random = np.random.default_rng(5)
    keys = sign * random.integers(0, distinct, 1000).astype(float)
    keys[random.random(1000) < missing] = np.nan
    keys[7] = sign * np.inf
    positions = np.arange(1000, dtype=np.int32) * 2
    parts = list(zip(np.split(positions, 10), np.split(keys, 10), strict=True))
    expected = positions[np.argsort(keys, kind="stable")]
    order = SortedOrder(1000, lambda: iter(parts))
    assert order.positions(np.arange(20)).tolist() == expected[:20].tolist()
    for position in (0, 14, 500, 1998):
        place = order.place_of(position)
        assert place is not None
        assert expected[place] == position
    assert order.place_of(1) is None
    assert order.positions(np.arange(980, 1000)).tolist() == expected[980:].tolist()
    assert order.positions(np.arange(300, 700)).tolist() == expected[300:700].tolist()
    assert order.positions(np.array([999, 3, 512])).tolist() == expected[[999, 3, 512]].tolist()
    assert order.positions(np.arange(5)).tolist() == expected[:5].tolist()


def test_numbers_behind_many_rows_that_have_none_come_first() -> None:
    keys = np.concatenate([np.full(500, np.nan), np.arange(100.0)[::-1]])
    parts = list(zip(np.split(np.arange(600), 6), np.split(keys, 6), strict=True))
    assert SortedOrder(600, lambda: iter(parts)).positions(np.arange(3)).tolist() == [599, 598, 597]


@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0])
def test_where_many_rows_stand_is_known_to_a_bucket(missing: float) -> None:
    random = np.random.default_rng(6)
    keys = random.random(2000)
    keys[random.random(2000) < missing] = np.nan
    keys[:500] = 0.25  # a bucket of its own, in the order of events
    parts = list(zip(np.split(np.arange(2000), 4), np.split(keys, 4), strict=True))
    order = SortedOrder(2000, lambda: iter(parts))
    true = np.argsort(np.argsort(keys, kind="stable"))
    found = order.places_of(np.arange(2000))
    counted = np.flatnonzero(~np.isnan(keys) & (keys != 0.25))
    assert np.abs(found[counted] - true[counted]).max(initial=0) < 2 * 64
    assert found.min() >= 0
    assert found.max() < 2000
    assert len(order.places_of(np.array([5, 1999, 5000]))) == 2


def test_nothing_can_be_sorted_too() -> None:
    order = SortedOrder(0, lambda: iter(()))
    assert order.positions(np.empty(0, int)).tolist() == []
    assert order.place_of(3) is None
