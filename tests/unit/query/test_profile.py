"""Filters, sorts and totals of profiles."""

import math

import pytest

from tdbg.errors import TdbgError
from tdbg.model import Frame, ProfiledNode
from tdbg.query.listing.profile import (
    ProfileFilter,
    TimeRange,
    format_time,
    line_totals,
    list_profile,
    parse_time_range,
    place_of,
    totals,
)

US, MS = 1_000, 1_000_000


def node(name, op_type, start, op_time, exec_time, line=0, device="/cpu:0"):
    frame = Frame("/home/me/train.py", line, "loss", True) if line else None
    return ProfiledNode(name, op_type, device, start, op_time, exec_time, frame)


NODES = [
    node("mm", "MatMul", 30, 5 * MS, 6 * MS, 12),
    node("a/add", "AddV2", 10, 40 * US, 50 * US, 12),
    node("a/add", "AddV2", 20, 60 * US, 70 * US, 12),
    node("b", "Const", 5, 1 * US, 1 * US, 20, "/cpu:1"),
    node("_SOURCE", "", 1, 0, 1 * US),
]


def names(**options):
    sort = {key: options.pop(key) for key in ("sort_by", "reverse") if key in options}
    return [one.node for one in list_profile(NODES, ProfileFilter(**options), **sort)]


def test_sorted_by_every_field():
    assert names() == ["_SOURCE", "b", "a/add", "a/add", "mm"]
    assert names(sort_by="start_time", reverse=True) == ["mm", "a/add", "a/add", "b", "_SOURCE"]
    assert names(sort_by="node") == ["_SOURCE", "a/add", "a/add", "b", "mm"]
    assert names(sort_by="op_type")[0] == "_SOURCE" and names(sort_by="op_type")[-1] == "mm"
    assert names(sort_by="op_time", reverse=True)[0] == "mm"
    assert names(sort_by="exec_time")[-1] == "mm"
    assert names(sort_by="line") == ["_SOURCE", "mm", "a/add", "a/add", "b"]
    with pytest.raises(TdbgError, match="cannot be sorted by colour, only by node, op_type, start_time"):
        names(sort_by="colour")


def test_filters():
    assert names(node_name="a/") == ["a/add", "a/add"]
    assert names(op_type="Mat|Const") == ["b", "mm"]
    assert names(device=".*:1") == ["b"]
    assert names(file_path=".*train") == ["b", "a/add", "a/add", "mm"]
    assert names(file_path=".*train", min_line=13) == ["b"]
    assert names(min_line=12, max_line=20) == ["a/add", "a/add", "mm"]  # the end is not included
    assert names(op_time=parse_time_range(">40us")) == ["a/add", "mm"]
    assert names(exec_time=parse_time_range("[1us,50us]")) == ["_SOURCE", "b", "a/add"]
    with pytest.raises(TdbgError, match="not a regular expression"):
        names(node_name="(")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">100us", TimeRange(100 * US, math.inf, False, True)),
        (">=1.5ms", TimeRange(1.5 * MS, math.inf, True, True)),
        ("<100", TimeRange(0, 100 * US, True, False)),
        ("<= 2s", TimeRange(0, 2000 * MS, True, True)),
        ("[1ms,2s]", TimeRange(MS, 2000 * MS, True, True)),
        ("(1us, 1e1us)", TimeRange(US, 10 * US, False, False)),
    ],
)
def test_ranges_of_times(text, expected):
    assert parse_time_range(text) == expected


@pytest.mark.parametrize("text", ["", "100", ">", ">fast", "[1,2", "[2s,1s]", ">-3us", "[1us,2us,3us]", ">1h"])
def test_what_is_no_range_of_times(text):
    with pytest.raises(TdbgError):
        parse_time_range(text)


def test_ends_of_ranges():
    assert 5 in TimeRange(5, 7) and 7 in TimeRange(5, 7) and 8 not in TimeRange(5, 7)
    assert 5 not in TimeRange(5, 7, False) and 7 not in TimeRange(5, 7, True, False)


def test_totals():
    by_type = totals(NODES, "op_type")
    assert [(one.key, one.nodes, one.runs) for one in by_type] == [
        ("MatMul", 1, 1), ("AddV2", 1, 2), ("", 1, 1), ("Const", 1, 1),
    ]  # fmt: skip
    assert by_type[1].op_time == 100 * US and by_type[1].exec_time == 120 * US
    assert totals(NODES, "line")[0].nodes == 2 and totals(NODES, "line")[0].key == place_of(NODES[0])
    assert [one.key for one in totals(NODES, "device")] == ["/cpu:0", "/cpu:1"]
    assert sum(one.runs for one in totals(NODES, "node")) == len(NODES)
    assert {line: one.runs for line, one in line_totals(NODES, "/home/me/train.py").items()} == {12: 3, 20: 1}
    with pytest.raises(TdbgError, match="no totals by"):
        totals(NODES, "mood")


def test_times_in_words():
    assert [format_time(1_500_000, unit) for unit in ("us", "ms", "s")] == ["1500us", "1.5ms", "0.002s"]
    with pytest.raises(TdbgError, match="no time unit"):
        format_time(1, "h")
