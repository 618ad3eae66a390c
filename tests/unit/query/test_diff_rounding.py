"""Rows of two sides: which belong together, and how far they are apart."""

from __future__ import annotations

import numpy as np

from tdbg.model import DType, Flag
from tdbg.query.compare.rounding import differences, epsilons
from tdbg.query.compare.row_pairs import keys, pack


def columns(*rows: tuple[int, int, int, int]) -> dict[str, np.ndarray]:
    """Rows of (op, slot, step, execution) in the order of events."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    names = ("op", "slot", "step", "execution")
    found = {name: table[:, at] for at, name in enumerate(names)}
    zeros = np.zeros(len(table), np.int64)
    return found | {"seq": np.arange(len(table)), "iteration": zeros - 1, "flags": zeros + int(Flag.NUMBERS)}


def partners(first: dict, second: dict, pairs: dict[int, int]) -> list[tuple[int, int]]:
    packed = pack(keys(first, {op: op for op in pairs}), keys(second, {b: a for a, b in pairs.items()}))
    _, at, other = np.intersect1d(packed[0], packed[1], assume_unique=True, return_indices=True)
    return sorted(zip(at.tolist(), other.tolist(), strict=True))


def test_rows_are_matched_by_op_slot_step_and_turn_in_whatever_order_they_came() -> None:
    first = columns((1, 0, 0, 5), (2, 0, 0, 6), (2, 0, 0, 7), (2, 0, 1, 8), (3, 0, 0, 9))
    second = columns((20, 0, 0, 6), (10, 0, 0, 5), (20, 0, 0, 7), (20, 1, 1, 8), (30, 0, 0, 9))
    assert partners(first, second, {1: 10, 2: 20}) == [(0, 1), (1, 0), (2, 2)]


def test_nothing_in_common_and_nothing_at_all() -> None:
    assert partners(columns((1, 0, 0, 5)), columns((1, 0, 0, 5)), {}) == []
    assert partners(columns(), columns((1, 0, 0, 5)), {1: 1}) == []


def numbers(low: float, high: float, mean: float, std: float) -> dict[str, np.ndarray]:
    return {"min": np.array([low]), "max": np.array([high]), "mean": np.array([mean]), "std": np.array([std])}


def test_differences_are_relative_to_the_largest_element() -> None:
    assert differences(numbers(-100, 50, 1e-9, 1), numbers(-100, 50, 2e-9, 1))[0] < 1e-10
    assert differences(numbers(0, 1, 0.5, 0.1), numbers(0, 2, 0.5, 0.1))[0] == 0.5
    assert differences(numbers(0, 0, 0, 0), numbers(0, 0, 0, 0))[0] == 0


def test_a_side_without_a_finite_number_is_infinitely_far_away() -> None:
    nothing = numbers(*[np.nan] * 4)
    assert differences(nothing, nothing)[0] == 0
    assert differences(nothing, numbers(0, 1, 0.5, 0.1))[0] == np.inf


def test_coarser_types_round_more() -> None:
    half, single, double = epsilons(np.array([DType.FLOAT16, DType.FLOAT32, DType.FLOAT64]))
    assert half > single > double
