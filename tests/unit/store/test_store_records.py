"""Records as a ring gives them become columns, also when a call's list of tensors is spread over several of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tdbg.model import DType, Flag
from tdbg.native.record import END, EXECUTION, FAILED, IDS_OFFSET, INLINE_IDS, MORE, RECORD, TENSOR
from tdbg.store.format import SCHEMAS
from tdbg.store.records import Decoder


def tensors(rows: int, **given: Any) -> np.ndarray:
    records = np.zeros(rows, RECORD)
    records["kind"] = TENSOR
    records["ready"] = np.arange(rows) + 1
    records["flags"] = Flag.NUMBERS
    records["dtype"] = DType.FLOAT32
    for name, value in given.items():
        records[name] = value
    return records


def call(ids: list[int], kind: int = EXECUTION, execution: int = 1, thread: int = 1, first: int = 0) -> np.ndarray:
    """The records of one list of ids, as frameworks/tensorflow/native/calls.c cuts it."""
    parts = [ids[at : at + INLINE_IDS] for at in range(0, max(len(ids), 1), INLINE_IDS)]
    records = np.zeros(len(parts), RECORD)
    records["kind"] = [kind] + [MORE] * (len(parts) - 1)
    records["ready"] = np.arange(len(parts)) + first + 1
    records["execution"], records["thread"], records["slot"] = execution, thread, len(ids)
    words = records.view(np.int64).reshape(len(parts), -1)[:, IDS_OFFSET // 8 :]
    for row, part in enumerate(parts):
        records["count"][row] = len(part)
        words[row, : len(part)] = part
    return records


def decode(decoder: Decoder, *records: np.ndarray, **options: Any) -> dict[str, dict[str, Any]]:
    return decoder.decode(np.concatenate(records).tobytes(), {}, **options)


def lists(batches: dict[str, dict[str, Any]]) -> list[list[int]]:
    return batches["executions"]["inputs"].to_pylist() if "executions" in batches else []


def test_columns_are_those_of_the_tables() -> None:
    batches = decode(Decoder(), tensors(2), call([1, 2]), call([3], END), call([], FAILED))
    for table in ("tensors", "executions", "ends"):
        assert set(batches[table]) == set(SCHEMAS[table].names)
        for name, column in batches[table].items():
            pa.array(column).cast(SCHEMAS[table].field(name).type)
    assert batches["tensors"]["seq"].tolist() == [0, 1]
    assert batches["ends"]["failed"].tolist() == [False, True]
    assert batches["ends"]["outputs"].to_pylist() == [[3], []]


def test_nothing_in_nothing_out() -> None:
    assert Decoder().decode(b"", {}) == {}


def test_rows_without_numbers_have_nulls() -> None:
    columns = decode(Decoder(), tensors(3, flags=[Flag.NUMBERS, Flag.BAD, Flag.NUMBERS], max=2.0))["tensors"]
    assert columns["max"].to_pylist() == [2.0, None, 2.0]
    assert columns["flags"].tolist() == [Flag.NUMBERS, Flag.BAD, Flag.NUMBERS]


def test_means_are_as_exact_as_their_type() -> None:
    columns = decode(Decoder(), tensors(2, mean=0.1, dtype=[DType.FLOAT32, DType.FLOAT64]))["tensors"]
    assert columns["mean"].tolist() == [np.float32(0.1), 0.1]


def test_values_may_come_before_their_records() -> None:
    decoder = Decoder()
    assert decoder.decode(b"", {7: 70}) == {}
    columns = decoder.decode(tensors(3, value=[0, 7, 8]).tobytes(), {9: 90})["tensors"]
    assert columns["value"].tolist() == [-1, 70, -1]


@pytest.mark.parametrize("length", [0, 1, INLINE_IDS, INLINE_IDS + 1, 5 * INLINE_IDS + 3])
def test_lists_of_every_length(length: int) -> None:
    ids = list(range(100, 100 + length))
    assert lists(decode(Decoder(), call([1]), call(ids), call([2]))) == [[1], ids, [2]]


def test_a_long_list_across_drains() -> None:
    decoder, ids = Decoder(), list(range(40))
    records = call(ids)
    for record in range(len(records) - 1):
        assert lists(decode(decoder, records[record : record + 1])) == []
    assert lists(decode(decoder, records[-1:])) == [ids]
    assert decoder.decode(b"", {}) == {}


def test_long_lists_of_several_threads_are_woven() -> None:
    decoder, mine, yours = Decoder(), list(range(30)), list(range(100, 125))
    first, second = call(mine, execution=1, thread=1), call(yours, execution=2, thread=2)
    woven = [one for pair in zip(first, second, strict=True) for one in pair]
    assert lists(decode(decoder, np.array(woven[:3], RECORD))) == []
    assert lists(decode(decoder, np.array(woven[3:], RECORD))) == [mine, yours]


def test_a_call_that_begins_inside_another_list() -> None:
    outer, inner = call(list(range(30)), execution=1), call([7], execution=2)
    assert lists(decode(Decoder(), outer[:1], inner, outer[1:])) == [list(range(30)), [7]]


def test_a_list_whose_rest_was_lost_is_given_up_when_its_thread_goes_on() -> None:
    decoder, ids = Decoder(), list(range(30))
    assert lists(decode(decoder, call(ids)[:2])) == []
    assert lists(decode(decoder, call([5], execution=2))) == [ids[: 2 * INLINE_IDS], [5]]


def test_the_last_time_lists_are_given_as_far_as_they_came() -> None:
    ids = list(range(30))
    assert lists(decode(Decoder(), call(ids)[:2], is_last=True)) == [ids[: 2 * INLINE_IDS]]


def test_the_rest_of_a_list_whose_beginning_was_lost_is_left_out() -> None:
    assert lists(decode(Decoder(), call(list(range(30)))[1:], call([4], execution=2))) == [[4]]
