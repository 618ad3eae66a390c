"""The message that stops a program: what it says, how its stack is cut, and which op is to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdbg.capture.bad_value import BadValue, Fact, Input, Limits, is_made, message
from tdbg.model import DType, Frame, Phase, Summary


def numbers(nan: int = 0, neg_inf: int = 0, pos_inf: int = 0, zero: int = 0, positive: int = 1) -> Summary:
    elements = nan + neg_inf + pos_inf + zero + positive
    return Summary(elements, 0, zero, positive, neg_inf, pos_inf, nan, 0.0 if zero else 2.0, 2.0, 2.0, 0.0)


GOOD = numbers()
NAN, INFINITY = numbers(nan=1), numbers(neg_inf=1)


@pytest.mark.parametrize(
    ("output", "inputs", "made"),
    [
        (NAN, [GOOD], True),
        (INFINITY, [GOOD, GOOD], True),
        (INFINITY, [], True),
        (GOOD, [GOOD], False),
        (GOOD, [INFINITY], False),
        (INFINITY, [INFINITY], False),
        (NAN, [GOOD, NAN], False),
        (INFINITY, [NAN], False),
        (NAN, [GOOD, INFINITY], True),  # inf - inf, or a softmax that is masked everywhere
    ],
)
def test_which_op_made_it(output: Summary, inputs: list[Summary], made: bool) -> None:
    assert is_made(output, inputs) is made


@pytest.fixture
def bad(tmp_path: Path) -> BadValue:
    script = tmp_path / "train.py"
    script.write_text("def loss(p):\n    return tf.math.log(p)\n\nloss(0.0)\n")
    user = [Frame(str(script), 4, "<module>", True), Frame(str(script), 2, "outer.<locals>.loss", True)]
    return BadValue(
        kind="Log",
        name="model/Log",
        slot=0,
        output=Fact(DType.FLOAT32, (2, 3), numbers(neg_inf=2, positive=4)),
        inputs=[Input(0, Fact(DType.FLOAT32, (2, 3), numbers(zero=2, positive=4)), "from Softmax", user[1])],
        stack=[*user, Frame("/lib/site-packages/tensorflow/gen_math_ops.py", 5713, "log", False)],
        where="loss",
    )


def test_the_message_has_line_op_numbers_and_inputs(bad: BadValue) -> None:
    lines = message(bad, Limits(path_length=None)).splitlines()
    assert lines[0] == "tdbg: Log made -inf ×2 of 6 from finite values"
    assert lines[1].startswith(" -> ") and lines[1].endswith("train.py:2 in loss  return tf.math.log(p)")
    assert '    output 0 of Log "model/Log": float32, shape (2, 3) (graph loss)' in lines
    assert any("input 0: float32, shape (2, 3): min 0, max 2, 2 of 6 zero; from Softmax, " in line for line in lines)
    assert lines[-3].startswith("    -> ") and lines[-3].endswith("train.py:4 in <module>  loss(0.0)")
    assert lines[-1] == "       /lib/site-packages/tensorflow/gen_math_ops.py:5713 in log"


def test_scripts_find_the_words_of_tensorflows_own_check(bad: BadValue) -> None:
    lines = message(bad, Limits()).splitlines()
    at = lines.index('    Detected Infinity or NaN in output 0 of graph op "Log"')
    told = ["dtype: float32", "shape: (2, 3)", "# of -Inf elements: 2", 'Graph name: "loss"']
    assert [line.strip() for line in lines[at + 1 : at + 5]] == told
    assert "Stack trace of op's creation" in lines[at + 5]


def test_gradients_name_the_forward_line(bad: BadValue) -> None:
    from dataclasses import replace

    backward = replace(
        bad, kind="SqrtGrad", phase=Phase.BACKWARD, forward=bad.stack[1], forward_kind="Sqrt", iteration=3
    )
    text = message(backward, Limits())
    assert text.startswith("tdbg: SqrtGrad made -inf ×2 of 6 from finite values in a gradient\n")
    assert "    the gradient of Sqrt at " in text
    assert "(graph loss, iteration 3)" in text


def test_limits_cut_the_stack_and_the_paths(bad: BadValue) -> None:
    lines = message(bad, Limits(stack_height=2, path_length=12)).splitlines()
    assert lines[-3].endswith("(-> is your code, 1 outer ones left out):")
    assert lines[-1] == "       ...math_ops.py:5713 in log".replace("math_ops.py", "_math_ops.py")
    assert "site-packages" not in "\n".join(lines)


def test_no_stack_at_all(bad: BadValue) -> None:
    lines = message(bad, Limits(stack_height=0)).splitlines()
    assert lines[-1].endswith("3 outer ones left out):")
