"""Gives the values of a run's feed_dict as arrays, by the names of the tensors that they were fed to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.frameworks.tensorflow.sessions.names import element_name


class Feeds(Mapping[str, Any]):
    """A value becomes an array when it is asked for; of a sparse tensor each part is a feed of its own."""

    def __init__(self, feed_dict: Any) -> None:
        self._given: dict[str, tuple[Any, Any]] = {}
        for key, value in (feed_dict or {}).items():
            self._given.update(_parts(key, value))

    def __getitem__(self, name: str) -> Any:
        key, value = self._given[name]
        dtype = getattr(getattr(key, "dtype", None), "as_numpy_dtype", None)
        try:
            return np.asarray(value, dtype=dtype)
        except (TypeError, ValueError) as problem:
            raise TdbgError(f"what was fed to {name} is not an array: {problem}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def _parts(key: Any, value: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    names = [name for name in ("indices", "values", "dense_shape") if hasattr(key, name) and hasattr(value, name)]
    for name in names:
        part = getattr(key, name)
        yield element_name(part), (part, getattr(value, name))
    if not names:
        yield element_name(key), (key, value)
