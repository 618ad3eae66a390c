"""Random tensors in; out comes how fast the summary kernels read them, beside the numpy calls that say the same."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import ml_dtypes
import numpy as np

from tdbg import native
from tdbg.native import reference

SIZES = [1, 100, 10_000, 1_000_000, 10_000_000]
DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int32]


def with_numpy(array: np.ndarray) -> tuple:
    """What a user would write to learn the same things."""
    return (
        np.nanmin(array),
        np.nanmax(array),
        np.mean(array, dtype=np.float64),
        np.std(array, dtype=np.float64),
        np.count_nonzero(~np.isfinite(array)),
        np.count_nonzero(array < 0),
        np.count_nonzero(array > 0),
    )


def seconds(call: Callable[[], object], budget: float) -> float:
    """The best time of one call; the best, because other programs can only make it longer."""
    best, once, ends = float("inf"), 1, time.perf_counter() + budget
    while time.perf_counter() < ends or best == float("inf"):
        start = time.perf_counter()
        for _ in range(once):
            call()
        took = time.perf_counter() - start
        best = min(best, took / once)
        if took < 1e-4:
            once *= 2
    return best


def measure(dtype: np.dtype, size: int, budget: float) -> dict:
    array = (np.random.default_rng(0).normal(size=size) * 100).astype(dtype)
    bytes_, code = array.view(np.uint8), int(reference.DTYPES[dtype.name])
    ours = seconds(lambda: native.lib.summarize(bytes_, code), budget)
    health = seconds(lambda: native.lib.has_bad(bytes_, code), budget)
    numpy = seconds(lambda: with_numpy(array), budget)
    return {
        "dtype": dtype.name,
        "elements": size,
        "summarize_ns": ours * 1e9,
        "summarize_gb_s": array.nbytes / ours / 1e9,
        "has_bad_ns": health * 1e9,
        "has_bad_gb_s": array.nbytes / health / 1e9,
        "numpy_ns": numpy * 1e9,
        "numpy_over_summarize": numpy / ours,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="also write the rows here")
    parser.add_argument("--kernel", help="avx512, avx2 or baseline instead of the best")
    parser.add_argument("--seconds", type=float, default=0.15, help="time per measurement (default: %(default)s)")
    options = parser.parse_args()
    if not native.AVAILABLE:
        sys.exit("The compiled extension is not built; run `python setup.py build_ext --inplace`.")
    if options.kernel and not native.use_kernel(options.kernel):
        sys.exit(f"This machine cannot run the {options.kernel} kernel.")

    print(f"kernel {native.kernel_name()}; times are of a call from Python, the best of many\n")
    print(f"{'type':10}{'elements':>11}{'summarize':>14}{'GB/s':>8}{'has_bad':>14}{'GB/s':>8}{'numpy':>15}{'ratio':>9}")
    rows = []
    for dtype in map(np.dtype, DTYPES):
        for size in SIZES:
            row = measure(dtype, size, options.seconds)
            rows.append(row)
            print(
                f"{row['dtype']:10}{size:>11,}{row['summarize_ns']:>11,.0f} ns{row['summarize_gb_s']:>8.1f}"
                f"{row['has_bad_ns']:>11,.0f} ns{row['has_bad_gb_s']:>8.1f}{row['numpy_ns']:>12,.0f} ns"
                f"{row['numpy_over_summarize']:>8.0f}x"
            )
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"kernel": native.kernel_name(), "numpy": np.__version__, "rows": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
