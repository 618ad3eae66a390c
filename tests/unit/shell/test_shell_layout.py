"""Layouts: lines of texts and tables, for a width or for none, made as they are asked for."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.shell.colours import CODES, written
from tdbg.shell.layout import Layout
from tdbg.shell.result import STYLES, Column, Mapped, Plot, Result, Span, Table, error, plain, text
from tdbg.shell.result_data import as_data, rows_of
from tdbg.shell.text_layout import wrap
from tdbg.strict_json import to_json


class Counted(Sequence):
    """Ten million rows, of which it is known which were read."""

    def __init__(self):
        self.read = 0

    def __len__(self):
        return 10_000_000

    def __getitem__(self, at):
        if isinstance(at, slice):
            places = range(*at.indices(len(self)))
            self.read += len(places)
            return [[n, Span(f"op_{n}", "name", f"pt op_{n}")] for n in places]
        self.read += 1
        return [at, Span(f"op_{at}", "name", f"pt op_{at}")]


COLUMNS = (Column("t (ms)", "time", form="[{:.1f}]".format), Column("Tensor name", "name"))


def test_a_long_table_is_read_a_page_at_a_time():
    rows = Counted()
    layout = Layout(Result([text("all of them:"), Table(COLUMNS, rows)]))
    assert len(layout) == 10_000_002
    assert [plain(line) for line in layout.lines(0, 3)] == [
        "all of them:",
        "     t (ms)  Tensor name",
        "      [0.0]  op_0",
    ]
    assert plain(layout.lines(9_000_002, 9_000_003)[0]) == "[9000000.0]  op_9000000"
    assert rows.read < 1000


def test_numbers_stand_on_the_right_and_nothing_is_cut_without_a_width():
    name = "a_very/" * 40 + "long_name:0"
    columns = (Column("Name", "name"), Column("Size", "size"), Column("Hidden", "x", is_shown=False))
    table = Table(columns, [[name, 7, 1], ["b", None, 2], ["c", 123.5, 3]])
    lines = list(Layout(Result([table])).plain())
    assert lines[1] == f"{name}      7"
    assert lines[2].endswith("-") and lines[3].endswith("123.5")
    assert len({len(line) for line in lines}) == 1
    assert as_data(Result([table]))[1] == {"name": "b", "size": None, "x": 2}


@pytest.mark.parametrize("width", [30, 60, 100])
def test_a_table_fits_the_screen_and_keeps_both_ends_of_names(width):
    table = Table(
        (Column("Op", "op"), Column("Name", "name")),
        [["MatMul", Span("model/encoder/layer_11/attention/query/MatMul:0", "name", "pt x")]],
    )
    header, line = Layout(Result([table]), width).lines(0, 2)
    assert len(plain(header)) <= width and len(plain(line)) <= width
    assert "model" in plain(line) and plain(line).endswith(":0")
    assert all(span.link == "pt x" for span in line if "MatMul:0" in span.text)
    assert ("…" in plain(line)) == (width < 55)


@given(st.lists(st.tuples(st.text(alphabet="ab cd", max_size=12), st.sampled_from(sorted(STYLES)))), st.integers(1, 60))
def test_wrapping_loses_no_words(pieces, width):
    line = tuple(Span(piece, style) for piece, style in pieces)
    wrapped = wrap(line, width)
    assert "".join("".join(map(plain, wrapped)).split()) == "".join(plain(line).split())
    assert all(len(plain(part)) <= max(width, 20) for part in wrapped)


@given(st.lists(st.text(alphabet="abc", max_size=5), max_size=5), st.sampled_from(["b", "ab", "[ab]+", "c*"]))
def test_marking_changes_no_text(pieces, pattern):
    result = Result([text(tuple(Span(piece, "name", "pt x") for piece in pieces))])
    from dataclasses import replace

    marked = Layout(replace(result, search=pattern)).lines(0, 1)[0]
    assert plain(marked) == "".join(pieces)
    assert all(span.link == "pt x" for span in marked)


def test_a_match_across_spans_is_marked_in_both():
    result = Result([text((Span("Log", "op"), Span(" Log:0", "name")))], search="g L")
    assert [span for span in Layout(result).lines(0, 1)[0] if span.style == "match"] == [
        Span("g", "match"),
        Span(" L", "match"),
    ]


def test_colours_have_every_role_and_control_characters_do_not_reach_the_terminal():
    assert set(CODES) == STYLES
    line = (Span("nan", "nan"), Span("\x1b[2J\x07", "name"))
    assert written(line, in_colour=True) == "\x1b[1;35mnan\x1b[0m\x1b[4m␛[2J␇\x1b[0m"
    assert written(line, in_colour=False) == "nan␛[2J␇"


def test_results_are_json():
    table = Table((Column("", "step"), Column("", "loss")), Mapped([1, 2], lambda n: [n, float("nan")]))
    assert (
        json.loads(to_json(as_data(Result([text("headline"), table, table]))))
        == [
            {"step": 1, "loss": "NaN"},
            {"step": 2, "loss": "NaN"},
        ]
        * 2
    )
    assert as_data(error("no")) == {"error": "no"}
    assert as_data(Result([text("one", "two")])) == ["one", "two"]
    assert rows_of(Result([text("one")])) is None
    plot = Plot("loss", {"loss": [(0, 1.5), (1, float("inf"))]})
    first, second = json.loads(to_json(as_data(Result([text("x", data={"a": 1}), plot]))))
    assert first == {"a": 1} and second["series"] == {"loss": [[0, 1.5], [1, "Infinity"]]}


def test_a_column_that_is_whole_is_not_cut():
    rows = [[f"gradients/{'layer/' * 9}{n}", "x" * 40] for n in range(3)]
    columns = (Column("Node", "node", is_whole=True), Column("Other", "other"))
    lines = list(Layout(Result([Table(columns, rows)]), 60).plain())
    assert [line.split()[0] for line in lines[1:]] == [row[0] for row in rows] and all(
        "…" in line for line in lines[1:]
    )
