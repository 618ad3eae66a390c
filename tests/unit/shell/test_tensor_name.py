"""What people type for tensors and slices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.errors import TdbgError
from tdbg.shell.tensor_name import TensorName, parse_index, take
from tdbg.shell.tensor_part import TensorPart

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("hidden/Relu", ("hidden/Relu", "", "", ())),
        ("hidden/Relu:0", ("hidden/Relu:0", "", "", ())),
        ("hidden/Relu:1:DebugNanCount", ("hidden/Relu:1", "DebugNanCount", "", ())),
        (f"{DEVICE}:hidden/Relu:0", ("hidden/Relu:0", "", DEVICE, ())),
        (f"{DEVICE}:a:0:DebugIdentity[0]", ("a:0", "DebugIdentity", DEVICE, (0,))),
        ("a:0[:, -3:]", ("a:0", "", "", (slice(None), slice(-3, None)))),
        ("a:0[..., ::-2, +1]", ("a:0", "", "", (Ellipsis, slice(None, None, -2), 1))),
    ],
)
def test_parts_of_a_name(typed, parts):
    name = TensorName.parse(typed)
    assert (name.tensor, name.debug_op, name.device, name.index) == parts


@pytest.mark.parametrize(
    "typed", ["a:0[", "a:0[]", "a:0[None]", "a:0[np.newaxis]", "a:0[x]", "a:0[::0]", "a:0[[1]]", "[0]"]
)
def test_what_is_no_name(typed):
    with pytest.raises(TdbgError) as refused:
        TensorName.parse(typed)
    assert "\n" not in str(refused.value)


PARTS = st.one_of(
    st.integers(-3, 3),
    st.builds(slice, *[st.one_of(st.none(), st.integers(-5, 5))] * 2, st.sampled_from([None, 1, 2, -1])),
)  # fmt: skip


def written(part):
    if part is Ellipsis:
        return "..."
    if isinstance(part, int):
        return str(part)
    return ":".join("" if one is None else str(one) for one in (part.start, part.stop, part.step))


@given(st.lists(PARTS, min_size=1, max_size=3))
def test_slices_are_those_of_numpy(parts):
    values = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    index = parse_index(", ".join(map(written, parts)))
    found = take(values, index, "x")
    assert np.array_equal(found, values[tuple(parts)])
    assert found.base is not None
    part = TensorPart.of(values.shape, index)
    for flat in found.reshape(-1)[[0, -1]] if found.size else ():
        whole = [int(one) for one in np.unravel_index(int(flat), values.shape)]
        place = part.place(whole)
        assert found[tuple(place)] == flat
        assert part.label(place) == f"[{', '.join(map(str, whole))}]"


def test_an_index_that_does_not_fit_says_so():
    with pytest.raises(TdbgError, match=r"does not fit x of shape \(2,\)"):
        take(np.zeros(2), (5,), "x")
    with pytest.raises(TdbgError, match="does not fit"):
        take(np.zeros(2), (0, 0), "x")
