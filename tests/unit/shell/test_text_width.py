"""Names that are not ASCII stay in their columns."""

import pytest

from tdbg.shell.layout import Layout
from tdbg.shell.result import Column, Result, Table
from tdbg.shell.text_width import cells_of


def test_cells():
    assert [cells_of(text) for text in ("", "loss", "modèle", "mode\u0300le", "训练.py", "±∞")] == [0, 4, 6, 6, 7, 2]


@pytest.mark.parametrize("width", [None, 30, 20])
def test_columns_stay_aligned(width):
    rows = [("训练/损失/对数_一个很长的名字:0", 1), ("loss/Log_with_a_long_name_too:0", 22), ("é:0", 333)]
    lines = list(Layout(Result([Table([Column("Tensor", "tensor"), Column("n", "n")], rows)]), width).plain())
    assert len({cells_of(line) for line in lines}) == 1
    assert width is None or cells_of(lines[0]) <= width
