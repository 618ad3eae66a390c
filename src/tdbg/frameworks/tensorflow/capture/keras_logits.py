"""Keeps Keras's losses as they are: they look at the op behind a prediction, which must be the user's, not an observer.

A cross-entropy of Keras takes the logits behind a Softmax or Sigmoid op instead of its result. Behind an observer it
would not find that op, and the program would train on other numbers than without tdbg.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tdbg.frameworks.tensorflow.capture.known_inputs import is_observer

_MODULES = ("keras.src.backend.tensorflow.nn", "keras.src.backend", "tf_keras.src.backend", "keras.backend")
_NAME = "_get_logits"


class KerasLogits:
    """Keras is loaded late, so what is there is looked for whenever a function is traced."""

    def __init__(self) -> None:
        self._originals: dict[str, Callable] = {}

    def ensure(self) -> None:
        for name in _MODULES:
            module = sys.modules.get(name)
            original = getattr(module, _NAME, None) if module is not None and name not in self._originals else None
            if module is not None and callable(original):
                self._originals[name] = original
                setattr(module, _NAME, _behind_observers(original))

    def remove(self) -> None:
        for name, original in self._originals.items():
            module = sys.modules.get(name)
            if module is not None and getattr(getattr(module, _NAME, None), "__wrapped__", None) is original:
                setattr(module, _NAME, original)
        self._originals.clear()


def _behind_observers(original: Callable) -> Callable:
    def get_logits(output: Any, *rest: Any, **named: Any) -> Any:
        seen = output
        # Keras's own activations leave the logits at their result, the observer's output; there is nothing to look for.
        while not hasattr(seen, "_keras_logits") and hasattr(seen, "graph") and is_observer(seen.op):
            seen = seen.op.inputs[0]
        found = original(seen, *rest, **named)
        return (output, *found[1:]) if found[0] is seen else found

    get_logits.__wrapped__ = original  # type: ignore[attr-defined]
    return get_logits
