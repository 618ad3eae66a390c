"""What the filters keep."""

from tdbg.capture.policy import Policy, bit_mask
from tdbg.config import make_config
from tdbg.model import DType


def test_without_filters_all_floats_are_wanted_and_integers_only_where_they_enter():
    policy = Policy(make_config())
    assert policy.wants_op("Log", "loss/Log", "train.py")
    assert DType.BFLOAT16 in policy.dtypes and DType.COMPLEX64 in policy.dtypes
    assert DType.INT64 not in policy.dtypes
    assert DType.INT64 in policy.input_dtypes
    assert policy.all_steps and not policy.is_filtered


def test_filters_are_searched_anywhere_and_all_must_hold():
    policy = Policy(make_config(ops="Log|Exp", names="loss/", files=r"train\.py$"))
    assert policy.wants_op("Log", "loss/Log", "/home/me/train.py")
    assert not policy.wants_op("Mul", "loss/mul", "/home/me/train.py")
    assert not policy.wants_op("Log", "other/Log", "/home/me/train.py")
    assert not policy.wants_op("Log", "loss/Log", "/home/me/model.py")


def test_dtypes():
    policy = Policy(make_config(dtypes="float16|int"))
    assert {DType.FLOAT16, DType.BFLOAT16, DType.INT32, DType.UINT8} <= policy.dtypes
    assert DType.FLOAT32 not in policy.dtypes
    assert bit_mask(frozenset({DType.FLOAT16, DType.FLOAT32})) == 0b1010


def test_steps():
    policy = Policy(make_config(steps="10:20", every=4))
    assert [step for step in range(30) if policy.wants_step(step)] == [10, 14, 18]


def test_filters_that_are_changed_while_the_program_runs() -> None:
    policy = Policy(make_config(names="dense"))
    assert not policy.narrow(None, None, None)
    assert policy.narrow("Log", None, "float16")
    assert policy.wants_op("Log1p", "my/dense", "")
    assert not policy.wants_op("Xlogy", "my/dense", "")
    assert not policy.wants_op("Log", "other", "")
    assert {dtype.label for dtype in policy.dtypes} == {"float16"}
