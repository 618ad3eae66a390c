"""Tells which elements of a tensor a numpy index leaves, in the tensor's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tdbg.errors import TdbgError


@dataclass(frozen=True, slots=True)
class TensorPart:
    """A part of a tensor: for each dimension one index, which takes the dimension away, or the range of those that are
    left."""

    shape: tuple[int, ...]  # of the whole tensor
    taken: tuple[int | range, ...]

    @classmethod
    def whole(cls, shape: Sequence[int]) -> TensorPart:
        return cls(tuple(shape), tuple(range(size) for size in shape))

    @classmethod
    def of(cls, shape: Sequence[int], index: Sequence[Any]) -> TensorPart:
        """Makes the part that an index leaves. ``index`` is one that fits: integers, slices and at most one
        ellipsis."""
        at = next((n for n, one in enumerate(index) if one is Ellipsis), len(index))
        behind = index[at + 1 :]
        missing = [slice(None)] * (len(shape) - at - len(behind))
        return cls.whole(shape).narrowed([*index[:at], *missing, *behind])

    def narrowed(self, index: Sequence[int | slice]) -> TensorPart:
        """Takes a part of this part; the dimensions that ``index`` does not reach stay as they are."""
        rest = iter(index)
        taken = [one if isinstance(one, int) else one[next(rest, slice(None))] for one in self.taken]
        return replace(self, taken=tuple(taken))

    def label(self, index: Sequence[int] = ()) -> str:
        """Writes ``[500, 0:50]``: the row that ``index`` counts from the first one that is shown, in the tensor's
        numbers."""
        narrow = self.narrowed(index).taken
        return f"[{', '.join(_written(one, size) for one, size in zip(narrow, self.shape, strict=True))}]"

    def place(self, indices: Sequence[int]) -> list[int]:
        """Finds where an element of the tensor stands among those shown; TdbgError when it does not."""
        said = f"[{', '.join(map(str, indices))}]"
        left = [one for one in self.taken if isinstance(one, range)]
        if len(indices) == len(self.shape):
            wanted = [one if one >= 0 else one + size for one, size in zip(indices, self.shape, strict=True)]
            if any(isinstance(one, int) and one != at for one, at in zip(self.taken, wanted, strict=True)):
                raise TdbgError(f"{said} is outside what is shown, {self.label()}")
            wanted = [at for one, at in zip(self.taken, wanted, strict=True) if isinstance(one, range)]
        elif len(indices) == len(left):
            wanted = [
                one if one >= 0 else kept[one] if -one <= len(kept) else -1
                for one, kept in zip(indices, left, strict=True)
            ]
        else:
            count = len(self.shape)
            raise TdbgError(
                f"{said} does not fit: this tensor has {count} dimension{'s' * (count != 1)}, shape {self.shape}"
            )
        if any(one not in kept for one, kept in zip(wanted, left, strict=True)):
            raise TdbgError(f"{said} is outside what is shown, {self.label()} of shape {self.shape}")
        return [kept.index(one) for one, kept in zip(wanted, left, strict=True)]


def _written(one: int | range, size: int) -> str:
    if isinstance(one, int):
        return str(one)
    if one == range(size):
        return ":"
    end = "" if one.stop < 0 or (one.step > 0 and one.stop >= size and one.step != 1) else str(one.stop)
    begin = "" if one.start == 0 and one.step > 1 else str(one.start)
    return f"{begin}:{end}" + (f":{one.step}" if one.step != 1 else "")
