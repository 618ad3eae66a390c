"""Decides, by how long runs took, whether another executor for runs of their kind is worth making."""

from __future__ import annotations


class ExecutorCost:
    """The first run of a kind made its executor. Once later runs took as long as that one, one that makes each run
    cheaper costs the program at most as much again. There are never fewer than ``fewest_runs`` before it."""

    def __init__(self, fewest_runs: int = 2) -> None:
        self._fewest, self._runs = fewest_runs, 0
        self._first = self._since = 0.0

    def took(self, seconds: float) -> bool:
        """One more run has ended: True when another executor is worth it."""
        self._runs += 1
        if self._runs == 1:
            self._first = seconds
        else:
            self._since += seconds
        return self._runs >= self._fewest and self._since > self._first
