"""Arrays of every type, shape and oddity go through every kernel this machine has and must come out as numpy says."""

from __future__ import annotations

import ctypes
import math
import platform
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdbg import native
from tdbg.model import Summary
from tdbg.native import reference

DTYPES = [
    np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name, None) or np.bool_) for name in sorted(reference.DTYPES)
]
FLOATS = [dtype for dtype in DTYPES if reference.DTYPES[dtype.name].is_floating]
REALS = [dtype for dtype in FLOATS if dtype.kind != "c"]

# Signs of zero, NaNs with and without payload, infinities, largest, smallest normal and subnormal of all float formats
# show up among the codes 0, 1, ... at either end of the exponent, so patterns near these are drawn often.
EDGES = [0x00, 0x01, 0x7F, 0x80, 0x81, 0xFF, 0x7B, 0x7C, 0xFC, 0x03, 0x04, 0x83]

SMALLEST = 5e-324


def runnable_kernels() -> list[str]:
    before = native.kernel_name()
    names = [name for name in ("baseline", "avx2", "avx512", "numpy") if native.use_kernel(name)]
    native.use_kernel(before)
    return names


KERNELS = runnable_kernels()


@contextmanager
def kernel(name: str) -> Iterator[None]:
    before = native.kernel_name()
    assert native.use_kernel(name)
    try:
        yield
    finally:
        native.use_kernel(before)


def summaries(array: np.ndarray) -> Iterator[Summary]:
    """What each kernel, and the numpy reference, say of an array."""
    for name in KERNELS:
        with kernel(name):
            yield native.summarize(array)
    yield reference.summarize(array)


def assert_same(ours: Summary, expected: Summary, dtype: np.dtype) -> None:
    """Counts and extremes are exact; mean and std may differ by the order of their additions.

    Distances from an element of the array are added in double. With n elements the sums are off by at most n * 2^-53 of
    the largest distance, itself at most sqrt(2n) standard deviations: for the thousands of elements here less than
    1e-10 of the std. The mean also is rounded to a double of the data's own size. Results below the normal doubles are
    rounded to multiples of the smallest one.

    Floats of up to 32 bits may be added in float32, at most 16 additions deep: 16 * 2^-24 of the distances, 1e-6.
    """
    for field in fields(Summary):
        if field.name not in ("mean", "std"):
            assert_equal(getattr(ours, field.name), getattr(expected, field.name), field.name)
    if math.isnan(expected.mean):
        assert math.isnan(ours.mean) and math.isnan(ours.std)
        return
    size = max(abs(expected.min), abs(expected.max))
    is_narrow = dtype.kind not in "iub" and dtype.name not in ("float64", "complex128")
    of_std = 2e-6 if is_narrow else 1e-10
    of_spread = 1e-6 * (expected.max - expected.min) if is_narrow else 0.0
    assert abs(ours.mean - expected.mean) <= 1e-12 * size + of_spread + SMALLEST
    assert abs(ours.std - expected.std) <= of_std * expected.std + SMALLEST
    assert expected.min <= ours.mean <= expected.max


def assert_equal(ours: float, expected: float, name: str) -> None:
    assert ours == expected or (math.isnan(ours) and math.isnan(expected)), f"{name}: {ours} != {expected}"


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Random bits, edge patterns or plain values of one type, possibly off alignment, strided or reversed."""
    dtype = draw(st.sampled_from(DTYPES))
    length = draw(st.one_of(st.integers(0, 40), st.integers(0, 5000)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offset = draw(st.integers(0, 15))
    bytes_ = random.integers(0, 256, offset + length * dtype.itemsize, dtype=np.uint8)
    if draw(st.booleans()):
        bytes_ = np.where(random.random(bytes_.size) < 0.7, random.choice(EDGES, bytes_.size), bytes_).astype(np.uint8)
    if dtype == np.bool_:
        bytes_ &= 1
    array = bytes_[offset:].view(dtype)
    if draw(st.booleans()) and dtype.kind != "b":
        array[...] = random.normal(size=length) * 50
    step = draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2]))
    return array[::step]


@settings(max_examples=300, deadline=None)
@given(arrays())
def test_every_kernel_agrees_with_numpy(array):
    expected = reference.summarize(array)
    for name in KERNELS:
        with kernel(name):
            assert_same(native.summarize(array), expected, array.dtype)
            assert native.has_bad(array) == expected.is_bad
    assert reference.has_bad(array) == expected.is_bad


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.itemsize <= 2], ids=str)
def test_every_value_of_a_narrow_type_is_read_right(dtype):
    values = np.arange(2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").view(dtype)
    if dtype == np.bool_:
        values = np.array([False, True])
    for name in KERNELS:
        with kernel(name):
            for value in values[:: max(1, values.size // 2048)]:
                assert_same(native.summarize(value.reshape(1)), reference.summarize(value.reshape(1)), dtype)
            for block in np.array_split(values, min(64, values.size)):
                assert_same(native.summarize(block), reference.summarize(block), dtype)


@pytest.mark.parametrize("position", [0, 1, 30, 1023, 1024, 4998])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_nan_is_found_wherever_it_is(dtype, position):
    array = np.ones(4999, dtype)
    assert not native.has_bad(array)
    array[position] = math.nan
    for name in KERNELS:
        with kernel(name):
            assert native.has_bad(array)
            assert native.summarize(array).nan == 1
            assert native.summarize(array).max == 1


def test_views_that_are_not_contiguous():
    array = np.arange(-600, 600, dtype=np.float32).reshape(20, 60)
    for view in (array.T, array[::2, ::3], array[:, ::-1], array[3:, 5], np.broadcast_to(array[:1], (7, 60))):
        expected = reference.summarize(view.copy())
        for summary in summaries(view):
            assert_same(summary, expected, array.dtype)


def test_complex_numbers_are_summarized_by_their_parts():
    for dtype in (np.complex64, np.complex128):
        array = np.array([1 - 2j, complex(math.inf, 0), complex(math.nan, -math.inf)], dtype)
        for summary in summaries(array):
            assert (summary.elements, summary.negative, summary.zero, summary.positive) == (3, 1, 1, 1)
            assert (summary.neg_inf, summary.pos_inf, summary.nan) == (1, 1, 1)
            assert (summary.min, summary.max) == (-2, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_empty_array_has_no_numbers(dtype):
    for summary in summaries(np.empty((0, 3), dtype)):
        assert summary.elements == summary.zero == summary.positive == 0
        assert all(math.isnan(value) for value in (summary.min, summary.max, summary.mean, summary.std))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_scalar_is_its_own_mean(dtype):
    for array in (np.array(1, dtype), np.array([1], dtype)):
        for summary in summaries(array):
            low = 0 if dtype.kind == "c" else 1
            assert (summary.elements, summary.min, summary.max) == (1, low, 1)
            assert (summary.mean, summary.std) == ((0.5, 0.5) if dtype.kind == "c" else (1, 0))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nothing_but_nan(dtype):
    for summary in summaries(np.full(3000, math.nan, dtype)):
        assert summary.nan + summary.zero == (6000 if dtype.kind == "c" else 3000)
        assert summary.nan >= 3000
        assert math.isnan(summary.min) or dtype.kind == "c"


@pytest.mark.parametrize("dtype", REALS, ids=str)
def test_a_subnormal_is_not_zero(dtype):
    smallest = np.array([1], f"u{dtype.itemsize}").view(dtype)
    for summary in summaries(np.concatenate([smallest, np.array([0.0, -0.0], dtype)])):
        assert (summary.positive, summary.zero + summary.nan) == (1, 2)
        assert summary.max == float(smallest[0]) > 0


def test_zeros_have_no_sign():
    for summary in summaries(np.full(5, -0.0)):
        assert summary.zero == 5
        assert math.copysign(1, summary.min) == math.copysign(1, summary.mean) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=str)
def test_small_noise_on_a_large_offset(dtype):
    array = (1e8 + np.random.default_rng(0).normal(size=5000) * 100).astype(dtype)
    for summary in summaries(array):
        assert summary.mean == pytest.approx(statistics.fmean(array.tolist()), rel=1e-15)
        assert summary.std == pytest.approx(statistics.pstdev(array.tolist()), rel=1e-12)


def test_noise_of_a_few_units_in_the_last_place():
    array = 1e8 + np.random.default_rng(0).integers(0, 50, 5000) * 2.0**-26
    for summary in summaries(array):
        assert summary.std == pytest.approx(statistics.pstdev(array.tolist()), rel=1e-11)


def test_an_outlier_costs_no_digits():
    array = np.random.default_rng(0).normal(size=5000)
    array[0] = 1e12
    for summary in summaries(array):
        assert summary.std == pytest.approx(statistics.pstdev(array.tolist()), rel=1e-11)


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e155, 1e-155, 4e-320])
def test_doubles_whose_squares_leave_the_range(size):
    array = np.random.default_rng(0).uniform(-1, 1, 5000) * size
    array[17] = math.nan
    kept = [value for value in array.tolist() if value == value]
    for summary in summaries(array):
        # The tolerance of pytest.approx itself underflows at this size.
        assert abs(summary.mean - statistics.fmean(kept)) <= size * 1e-12 + SMALLEST
        assert abs(summary.std - statistics.pstdev(kept)) <= size * 1e-12 + SMALLEST


def test_the_mean_of_the_largest_doubles_is_finite():
    largest = np.finfo(np.float64).max
    for summary in summaries(np.full(3001, largest)):
        assert (summary.mean, summary.std) == (largest, 0)
    for summary in summaries(np.array([largest, -largest] * 1500)):
        assert summary.mean == pytest.approx(0, abs=largest * 1e-15)
        assert summary.std == pytest.approx(largest)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint32, np.int8, np.uint8], ids=str)
def test_the_ends_of_the_integers(dtype):
    limits = np.iinfo(dtype)
    for summary in summaries(np.array([limits.min, limits.max, 0, 1], dtype)):
        assert (summary.min, summary.max) == (float(limits.min), float(limits.max))
        assert summary.negative == (limits.min < 0)
        assert summary.mean == pytest.approx((limits.min + limits.max + 1) / 4, abs=limits.max * 1e-15)


def test_types_that_are_not_numbers_are_refused_by_name():
    with pytest.raises(TypeError, match=r"datetime64.*known are"):
        reference.summarize(np.array(["2020-01-01"], "datetime64[D]"))


@contextmanager
def flushed_subnormals() -> Iterator[None]:
    """Sets flush-to-zero and denormals-are-zero in this thread, as TensorFlow does, through glibc's fenv_t."""
    libm = ctypes.CDLL("libm.so.6")
    saved, flushing = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    libm.fegetenv(saved)
    libm.fegetenv(flushing)
    flushing[7] |= 0x8040  # the last word is MXCSR
    libm.fesetenv(flushing)
    try:
        yield
    finally:
        libm.fesetenv(saved)


@pytest.mark.skipif(platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc", reason="glibc's fenv_t on x86")
@pytest.mark.skipif(not native.AVAILABLE, reason="numpy itself compares with flushed subnormals")
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", REALS, ids=str)
def test_subnormals_count_in_threads_that_flush_them(dtype, name):
    array = np.arange(1, 4, dtype=f"u{dtype.itemsize}").view(dtype)
    single = np.array([1], np.uint32).view(np.float32)
    expected = reference.summarize(array)
    with kernel(name), flushed_subnormals():
        still_flushed_before = (single * np.float32(1)).view(np.uint32)[0] == 0
        ours = native.summarize(array)
        still_flushed_after = (single * np.float32(1)).view(np.uint32)[0] == 0
    assert still_flushed_before and still_flushed_after
    assert_same(ours, expected, dtype)
