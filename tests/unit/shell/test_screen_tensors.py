"""Pages, slices and the panel of a tensor."""

import numpy as np

from tdbg.shell.result import Array, Result, plain, text
from tdbg.shell.screen.tensor_view import beside, has_numbers, view_of
from tdbg.shell.tensor_part import TensorPart


def view(shape=(2, 3, 4, 5), **more):
    return view_of(Result([text("header"), Array("a/b:0:DebugIdentity", np.zeros(shape), **more)]))


def test_pages_go_round():
    one = view()
    assert (one.pages, one.slice) == (6, "[:, :, :, :]")
    one = one.turned(1)
    assert (one.slice, one.shown.part.label()) == ("[0, 0, :, :]", "[0:1, 0:1, :, :]")
    assert one.turned(-1).shown is one.array
    last = one.turned(-2)
    assert (last.slice, last.page, last.shown.values.shape) == ("[1, 2, :, :]", 5, (1, 1, 4, 5))
    assert last.turned(1).slice == "[:, :, :, :]"
    moved = view((2, 2, 2), part=TensorPart.of((40, 40, 40), (slice(10, 12), slice(20, 22), slice(30, 32))))
    assert (moved.slice, moved.turned(2).slice) == ("[10:12, 20:22, 30:32]", "[11, 20:22, 30:32]")


def test_what_has_no_pages():
    assert [view(shape).pages for shape in ((3,), (3, 4), (0, 3, 4))] == [0, 0, 0]
    assert view_of(Result([text("no array")])) is None
    assert view_of(Result([Array("scalar", np.float32(1))])) is None
    assert view_of(Result([Array("a", np.zeros(2)), Array("b", np.zeros(2))])) is None


def test_a_slice_for_the_prompt():
    one = view().turned(1)
    line, at = one.sliced("pt -n 2 a/b:0[3:5] -r [[0,1]]")
    assert line == "pt -n 2 a/b:0[0, 0, :, :] -r [[0,1]]"
    assert line[at] == "]"
    assert one.sliced("something") == ("something[0, 0, :, :]", 20)


def said(values):
    return [plain(line) for line in beside(Array("a", values), 32)]


def test_the_panel():
    lines = said(np.array([np.nan, -np.inf, -1, 0, 0, 2], np.float32))
    assert [line.split() for line in lines[:5]] == [
        ["Elements", "6"],
        ["nan", "1", "16.7%"],
        ["-inf", "1", "16.7%"],
        ["negative", "1", "16.7%"],
        ["zero", "2", "33.3%"],
    ]
    assert [line.split() for line in lines[7:9]] == [["min", "-1"], ["max", "2"]]
    assert lines[12].startswith("Histogram")
    assert all(len(line) <= 32 for line in lines)
    assert said(np.full(3, np.nan, np.float32))[-1].split() == ["nan", "3", "100%"]
    rare = np.ones(100_000, np.int32)
    rare[7] = 0
    assert "<0.01%" in said(rare)[1]
    assert not has_numbers(Array("a", np.array(["text"])))
    assert not has_numbers(Array("a", np.zeros((0, 3))))
