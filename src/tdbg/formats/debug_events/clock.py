"""Turns TensorFlow's times, seconds as float64, into nanoseconds and back without losing a bit.

A product with 1e9 would: it needs more digits than a float64 has.
"""

from __future__ import annotations

import math

import numpy as np


def to_ns(seconds: float) -> int:
    whole = math.floor(seconds)
    return whole * 10**9 + round((seconds - whole) * 1e9)


def to_ns_array(seconds: np.ndarray) -> np.ndarray:
    whole = np.floor(seconds)
    return whole.astype(np.int64) * 10**9 + np.rint((seconds - whole) * 1e9).astype(np.int64)


def to_seconds(ns: int) -> float:
    return ns / 10**9  # of two integers: rounded once
