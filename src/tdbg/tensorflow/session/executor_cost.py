"""How long runs of one kind took in; whether another executor for them is worth its making out."""

from __future__ import annotations


class ExecutorCost:
    """The first run of a kind made its executor. Once later runs took as long as that one, one that makes each run
    cheaper costs the program at most as much again."""

    def __init__(self) -> None:
        self._first = self._since = 0.0

    def took(self, seconds: float) -> bool:
        """One more run has ended: True when another executor is worth it."""
        if not self._first:
            self._first = seconds
            return False
        self._since += seconds
        return self._since > self._first
