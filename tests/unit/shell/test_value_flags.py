"""Flags that commands which show values share, on what was fed."""

import numpy as np
from typed import engine, printed, said


def test_pf_has_the_flags_of_pt(tmp_path):
    shell = engine()
    file = tmp_path / "x.npy"
    assert "Highlighted [0.5,2.0]" in "\n".join(printed(shell, "pf x:0 -r [0.5,2.0]"))
    assert printed(shell, "pf -a x:0")[-2:] == ["array([[1., 1., 1., 1.],", "       [1., 1., 1., 1.]])"]
    assert printed(shell, f"pf x:0 -w {file}")[0] == f"8 elements written to {file}"
    assert np.array_equal(np.load(file), np.ones((2, 4)))
    assert "to overwrite it, add --force" in said(shell, f"pf x:0 -w {file}")
    assert printed(shell, f"pf x:0 -w {file} --force")[0] == f"8 elements written to {file}"
    assert "Histogram" in "\n".join(printed(shell, "pf x:0 --histogram"))


def test_yes_answers_before_the_question(tmp_path):
    shell = engine(can_ask=True)
    assert shell.execute("eval -a np.ones(4000)").asks
    assert len(printed(shell, "eval -a -y np.ones(4000)")) > 100
    assert printed(shell, "pt -a -y Softmax:0") == printed(shell, "pt -a Softmax:0")
    assert printed(shell, "pf -a -y x:0") == printed(shell, "pf -a x:0")
    file = tmp_path / "softmax.npy"
    assert printed(shell, f"pt Softmax:0 -w {file} --force")[0] == f"6 elements written to {file}"
