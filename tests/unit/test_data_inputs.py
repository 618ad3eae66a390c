"""What is known of op types: which inputs their values come from."""

import pytest

from tdbg.data_inputs import data_inputs, takes_values
from tdbg.frameworks.tensorflow.ops import kind_of
from tdbg.vocabulary import Kind


@pytest.mark.parametrize(
    ("op_type", "inputs", "data"),
    [
        ("Reshape", ["x", "shape"], ["x"]),
        ("Split", ["axis", "x"], ["x"]),
        ("ConcatV2", ["a", "b", "axis"], ["a", "b"]),
        ("SelectV2", ["condition", "a", "b"], ["a", "b"]),
        ("PadV2", ["x", "paddings", "fill"], ["x", "fill"]),
        ("OneHot", ["indices", "depth", "on", "off"], ["on", "off"]),
        ("ScatterNd", ["indices", "updates", "shape"], ["updates"]),
        ("UnsortedSegmentProd", ["x", "segments", "count"], ["x"]),
        ("Conv2DBackpropFilter", ["x", "sizes", "gradient"], ["x", "gradient"]),
        ("Switch", ["x", "predicate"], ["x"]),
        ("Shape", ["x"], []),
        ("Mul", ["a", "b"], ["a", "b"]),
    ],
)
def test_shapes_axes_and_indices_are_no_data(op_type: str, inputs: list[str], data: list[str]) -> None:
    found = data_inputs(kind_of(op_type), inputs)
    assert [one for _, one in found] == data
    assert all(inputs[number] == one for number, one in found)


def test_what_looks_at_the_shape_alone_takes_no_values() -> None:
    assert not takes_values(Kind.SHAPE_OF) and takes_values(Kind.RESHAPE) and takes_values(Kind.LOG)
