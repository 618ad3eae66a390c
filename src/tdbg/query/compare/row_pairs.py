"""Numbers the rows of two traces so that rows that belong together get the same number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdbg.model import Flag


def keys(columns: dict[str, np.ndarray], pair_of: dict[int, int]) -> tuple[np.ndarray, ...]:
    """Gives for each row its pair of ops, its slot and kind, its step, and which of several such rows it is; rows of
    ops that have no partner get pair -1."""
    pair = look_up(pair_of, columns["op"], -1)
    port = columns["slot"].astype(np.int64) * 2 + ((columns["flags"] & int(Flag.INPUT)) != 0)
    step = columns["step"].astype(np.int64)
    turn = np.zeros(len(pair), np.int64)
    packed = ((pair + 1) * (int(port.max(initial=0)) + 1) + port) * (int(step.max(initial=0)) + 1) + step
    ordered = np.argsort(packed, kind="stable")
    again = packed[ordered][1:] == packed[ordered][:-1]
    several = ordered[np.r_[False, again] | np.r_[again, False]] if len(pair) else ordered
    if len(several):  # loops, and functions that are called several times in a step
        by = [columns[name][several] for name in ("seq", "iteration", "execution")]
        order = several[np.lexsort((*by, packed[several]))]
        starts = np.flatnonzero(np.r_[True, packed[order][1:] != packed[order][:-1]])
        turn[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return pair, port, step, turn


def look_up(found: dict[int, Any], numbers: np.ndarray, missing: Any) -> np.ndarray:
    """Looks up numbers in a dictionary; those that are not there, -1 among them, get ``missing``."""
    table = np.full(max(found, default=-1) + 2, missing)
    table[np.fromiter(found, np.int64, len(found))] = list(found.values())
    return table[np.minimum(numbers, len(table) - 1)]


def pack(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Packs each key into one number; rows without a partner become numbers that do not occur on the other side."""
    sizes = [int(max(a.max(initial=0), b.max(initial=0))) + 1 for a, b in zip(first, second, strict=True)]
    packed = []
    for side, keys in enumerate((first, second)):
        number = np.zeros(len(keys[0]), np.int64)
        for key, size in zip(keys, sizes, strict=True):
            number = number * size + key
        alone = keys[0] < 0
        number[alone] = -1 - 2 * np.arange(int(alone.sum())) - side
        packed.append(number)
    return packed
