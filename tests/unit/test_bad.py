"""What is bad is said once: of flags, of numbers, and in SQL, also where nobody counted."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest

from tdbg.model import (
    BAD_ELEMENTS_SQL,
    BAD_OUTPUT_SQL,
    BAD_SQL,
    Flag,
    Summary,
    bad_text,
    is_bad,
    is_bad_output,
)

ALL_FLAGS = range(64)


def summary(**counts: int) -> Summary:
    return Summary(**(Summary.unmeasured(10).numbers() | counts))


def sql(fragment: str, **cells: Any) -> Any:
    columns = ", ".join(f"{'NULL' if cell is None else cell}::BIGINT AS {name}" for name, cell in cells.items())
    return duckdb.sql(f"SELECT {fragment} FROM (SELECT {columns})").fetchall()[0][0]


@pytest.mark.parametrize("name", ["neg_inf", "pos_inf", "nan"])
def test_a_summary_is_bad_with_any_of_them(name: str) -> None:
    assert summary(**{name: 1}).is_bad
    assert not summary(zero=3).is_bad


def test_of_flags_and_in_sql_it_is_the_same() -> None:
    assert [is_bad(flags) for flags in ALL_FLAGS] == [bool(flags & Flag.BAD) for flags in ALL_FLAGS]
    assert is_bad(np.array(ALL_FLAGS, np.uint16)).tolist() == [sql(BAD_SQL, flags=flags) for flags in ALL_FLAGS]
    outputs = [sql(BAD_OUTPUT_SQL, flags=flags) for flags in ALL_FLAGS]
    assert is_bad_output(np.array(ALL_FLAGS, np.uint16)).tolist() == outputs
    assert is_bad_output(Flag.BAD | Flag.ORIGIN)
    assert not is_bad_output(Flag.BAD | Flag.EVIDENCE)


@pytest.mark.parametrize(
    ("flags", "neg_inf", "pos_inf", "nan", "found"),
    [
        (Flag.BAD | Flag.NUMBERS, 2, 1, 4, 7),
        (Flag.NUMBERS, 0, 0, 0, 0),
        (Flag.BAD, None, None, None, 1),  # mode health: only the flag tells
        (0, None, None, None, 0),
        (Flag.BAD, None, None, 5, 5),  # DebugNanCount
    ],
)
def test_how_many_are_bad(flags: int, neg_inf: Any, pos_inf: Any, nan: Any, found: int) -> None:
    assert sql(BAD_ELEMENTS_SQL, flags=int(flags), neg_inf=neg_inf, pos_inf=pos_inf, nan=nan) == found


def test_in_words() -> None:
    assert bad_text(3, 1, 1000) == "NaN ×3, -inf ×1, +inf ×1,000"
    assert bad_text(None, None, 2) == "+inf ×2"
    assert bad_text(None, 0, None) == ""
