"""The scene of a program's trace and the tensors that are in its memory in; one scene with both out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tdbg.errors import TdbgError
from tdbg.scene import Scene, Seen


@dataclass(frozen=True)
class HeldTensor:
    """A tensor of a program that is held: its value is there, recorded or not."""

    seen: Seen
    array: Any


class HeldScene:
    """What is in memory stands for the last row of the same tensor, or for itself when it has no row."""

    def __init__(self, scene: Scene, tensors: Sequence[HeldTensor], title: str) -> None:
        self._scene = scene
        self._held: Mapping[str, HeldTensor] = {held.seen.tensor: held for held in reversed(tensors)}
        self.title = title

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scene, name)

    def seen(self, tensor: str, debug_op: str = "", device: str = "") -> Sequence[Seen]:
        held = self._held.get(tensor) or self._held.get(f"{tensor}:0")
        if held is None:
            return self._scene.seen(tensor, debug_op, device)
        try:
            rows = list(self._scene.seen(tensor, debug_op, device))
        except TdbgError:
            rows = []
        if rows and held.seen.seq < 0:  # the latest row is of this very tensor
            return [*rows[:-1], replace(rows[-1], key=held)]
        return [*rows, replace(held.seen, number=len(rows), key=held)]

    def value(self, seen: Seen) -> Any:
        if isinstance(seen.key, HeldTensor):
            return seen.key.array
        if seen.tensor in self._held:
            latest = self.seen(seen.tensor)[-1]
            if latest.seq == seen.seq:
                return latest.key.array
        return self._scene.value(seen)

    def tensor_names(self) -> Sequence[str]:
        names = self._scene.tensor_names()
        return [*(name for name in self._held if name not in set(names)), *names] if self._held else names
