"""Shows a program's trace and the tensors that are in its memory as one scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tdbg.errors import TdbgError
from tdbg.scene import Scene, Seen


@dataclass(frozen=True)
class HeldTensor:
    """A tensor of a program that is held: its value is there, recorded or not. ``op``: -1 when no op made it."""

    seen: Seen
    array: Any
    op: int = -1

    @property
    def exact_name(self) -> str:
        """Which no other tensor has."""
        return f"{self.seen.node}#{self.op}:{self.seen.slot}" if self.op >= 0 else self.seen.tensor

    @property
    def names(self) -> tuple[str, ...]:
        node, exact = self.seen.node, self.exact_name
        return (exact, self.seen.tensor, *((node, exact.rpartition(":")[0]) if self.seen.slot == 0 else ()))


class HeldScene:
    """What is in memory stands for the latest row of its tensor, or for itself when that has no row. Of all that was
    seen of a tensor it comes first."""

    def __init__(self, scene: Scene, tensors: Sequence[HeldTensor]) -> None:
        self.recorded = scene
        self._tensors = tensors
        self._held = {name: held for held in reversed(tensors) for name in held.names}
        self._latest: dict[str, Seen | None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.recorded, name)

    def seen(self, tensor: str, debug_op: str = "", device: str = "") -> Sequence[Seen]:
        held = self._held.get(tensor)
        if held is None:
            return self.recorded.seen(tensor, debug_op, device)
        latest = self._latest_row(held)
        if latest is None:
            return [replace(held.seen, key=held)]
        rows = self.recorded.seen(tensor if tensor != held.seen.node else held.seen.tensor, debug_op, device)
        return [replace(latest, key=held), *(row for row in rows if row.seq != latest.seq)]

    def value(self, seen: Seen) -> Any:
        if isinstance(seen.key, HeldTensor):
            return seen.key.array
        for held in self._tensors:
            if held.op >= 0 and held.op == getattr(seen.key, "op", -1) and held.seen.slot == seen.slot:
                latest = self._latest_row(held)
                if latest is not None and latest.seq == seen.seq:
                    return held.array
        return self.recorded.value(seen)

    def tensor_names(self) -> Sequence[str]:
        names = self.recorded.tensor_names()
        known = set(names)
        return [*(held.seen.tensor for held in self._tensors if held.seen.tensor not in known), *names]

    def _latest_row(self, held: HeldTensor) -> Seen | None:
        """The row that was written of it."""
        name = held.exact_name
        if name not in self._latest:
            self._latest[name] = self._last_row(held) if held.op >= 0 else None
        return self._latest[name]

    def _last_row(self, held: HeldTensor) -> Seen | None:
        try:
            rows = self.recorded.seen(held.exact_name)
        except TdbgError:
            return None
        iteration = held.seen.iteration
        for row in reversed(rows):
            if iteration < 0 or row.iteration == iteration:
                return row
        return None
