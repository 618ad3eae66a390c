"""Follows a tensor's numbers over the steps, from all ops that have its name."""

from __future__ import annotations

from tdbg.query.over_time.curves import Curve, Curves, Point
from tdbg.query.scene.ops import Ops
from tdbg.query.trace.trace import Trace


def find_history(trace: Trace, process: int, tensor: str) -> tuple[Curve, int]:
    """Gives the curve, and how many steps share one of its points; TdbgError when no op has that name."""
    named = Ops(trace, process).find(tensor)
    over_steps = Curves(trace, process)
    slot = named.slot or 0
    curves = over_steps.histories([(op, slot, tensor) for op in named.ops])
    by_step: dict[int, list[Point]] = {}
    for curve in curves:
        for point in curve.points:
            by_step.setdefault(point.step, []).append(point)
    points = tuple(_together(step, by_step[step]) for step in sorted(by_step))
    return Curve(tensor, points), over_steps.steps_per_point


def _together(step: int, points: list[Point]) -> Point:
    values = [point.value for point in points if point.value is not None]
    lows = [point.low for point in points if point.low is not None]
    highs = [point.high for point in points if point.high is not None]
    mean = sum(values) / len(values) if values else None
    return Point(step, mean, min(lows, default=None), max(highs, default=None), sum(point.bad for point in points))
