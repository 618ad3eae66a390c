"""Listens to numpy: a few of its functions are wrapped while tdbg is on."""

import itertools
import weakref
from types import FrameType
from typing import Any

import numpy as np

from numpy_adapter import ops
from tdbg.capture.eager_ops import EagerOps
from tdbg.capture.recording import Recording


class Arrays:
    """Numbers arrays as they are met, apart from those of TensorFlow's tensors."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[Any, int]] = {}
        self._next = itertools.count(1 << 40)

    def identity(self, array: Any) -> int:
        known = self._numbers.get(id(array))
        if known is None or known[0]() is not array:
            known = self._numbers[id(array)] = (weakref.ref(array), next(self._next))
        return known[1]

    def array(self, array: Any) -> Any:
        return array


class Wrapped:
    """A function that tells what it computed; all else of it is as before."""

    def __init__(self, name: str, plain: Any, listener: "Listener") -> None:
        self._name, self._plain, self._listener = name, plain, listener

    def __call__(self, *given: Any, **options: Any) -> Any:
        made = self._plain(*given, **options)
        return made if self._listener.is_inside else self._listener.ran(self._name, given, np.asarray(made))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)


class Listener:
    def __init__(self, recording: Recording) -> None:
        self._eager = EagerOps(recording, "numpy", ops, Arrays())
        self.narrowed = self._eager.narrowed
        self.is_inside = False  # what tdbg computes meanwhile is its own
        self._plain = {name: getattr(np, name) for name in ops.KINDS}
        for name, plain in self._plain.items():
            setattr(np, name, Wrapped(name, plain, self))

    def ran(self, name: str, given: Any, made: Any) -> Any:
        self.is_inside = True
        try:
            self._eager.ran(name, [one for one in given if isinstance(one, np.ndarray)], [made], skip=2)
        finally:
            self.is_inside = False
        return made

    def stop(self) -> None:
        for name, plain in self._plain.items():
            setattr(np, name, plain)

    def ended(self) -> None:
        pass

    def after_fork(self) -> None:
        pass

    def breakpoint(self, frame: FrameType) -> bool:
        return False


start = Listener


def versions() -> dict[str, str]:
    return {"numpy": np.__version__}
