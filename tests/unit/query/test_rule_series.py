"""Which steps the rules read, and what follows from the numbers of a tensor alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.query.rules.sample import _merge, _ranges
from tdbg.query.rules.saturated_activation import mean_slope
from tdbg.query.rules.series import Node, Place, Series
from tdbg.vocabulary import Kind


def series_of(values: np.ndarray) -> Series:
    """One step in which a tensor had these values."""
    flat = values.astype(np.float64).ravel()
    counts = [flat.size, (flat < 0).sum(), (flat == 0).sum(), (flat > 0).sum()]
    numbers = [flat.min(), flat.max(), flat.mean(), flat.std()]
    return Series(Place(Node(0, 0), 0), 3, 0, np.array([0]), *(np.array([number]) for number in [*counts, *numbers]))


@given(count=st.integers(1, 5000), wanted=st.integers(12, 96))
def test_windows_are_in_order_apart_and_hold_both_ends(count: int, wanted: int) -> None:
    ranges = _ranges(count, wanted)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == count
    assert all(a < b for a, b in ranges)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ranges))
    assert sum(b - a for a, b in ranges) <= wanted


def test_a_short_run_is_read_whole() -> None:
    assert _ranges(40, 96) == [(0, 40)]


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_the_mean_slope_follows_from_mean_and_std(size: float) -> None:
    x = np.random.default_rng(0).normal(size=1000, scale=size)
    sigmoid, tanh = 1 / (1 + np.exp(-x)), np.tanh(x)
    assert mean_slope(Kind.SIGMOID, series_of(sigmoid))[0] == pytest.approx(np.mean(sigmoid * (1 - sigmoid)), abs=1e-9)
    assert mean_slope(Kind.TANH, series_of(tanh))[0] == pytest.approx(np.mean(1 - tanh**2), abs=1e-9)


def test_rows_of_one_step_are_put_together_as_if_they_were_one_tensor() -> None:
    parts = [np.array([1.0, -2.0, 0.0]), np.array([5.0, 7.0]), np.array([-4.0])]
    columns: dict[str, list[float]] = {}
    for part in parts:
        one = series_of(part)
        for name in ("elements", "negative", "zero", "positive", "min", "max", "mean", "std"):
            columns.setdefault(name, []).append(getattr(one, name)[0])
    columns["step"] = [3, 3, 4]
    merged = _merge({name: np.array(column) for name, column in columns.items()}, np.array([0, 2]))
    whole = series_of(np.concatenate(parts[:2]))
    for name in ("elements", "negative", "zero", "positive", "min", "max", "mean", "std"):
        assert merged[name][0] == pytest.approx(getattr(whole, name)[0]), name
    assert merged["step"].tolist() == [3, 4]
    assert merged["mean"][1] == -4
