"""Drives the screen without a terminal: keys and clicks in, what stands on it as plain text out."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
from small_scene import SmallScene
from textual.pilot import Pilot

from tdbg.shell.engine import Engine
from tdbg.shell.result import Array, Result, Span, Table, text
from tdbg.shell.result import Column as TableColumn
from tdbg.shell.screen.jobs import Jobs
from tdbg.shell.screen.keys import DebuggerScreen
from tdbg.shell.screen.prompt import Prompt

SNAPSHOTS = Path(__file__).parent / "snapshots"


class Rows:
    """Ten million rows that are made when they are asked for; ``asked`` counts them."""

    def __init__(self, count: int = 10_000_000) -> None:
        self.count, self.asked = count, 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: Any) -> Any:
        rows = [(n, Span(f"node_{n}:0", "name", link=f"pt node_{n}:0")) for n in range(*at.indices(self.count))]
        self.asked += len(rows)
        return rows


class TriedEngine(Engine):
    """Has a few commands more: one that takes long, one that asks, a long table and a cube."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(SmallScene(), can_ask=True, **settings)
        self.rows = Rows()
        self.done: list[str] = []

    def _one(self, line: str) -> Result:
        self.done.append(line)
        if line == "slow":
            while True:
                time.sleep(0.001)
        if line == "ask":
            return Result(asks="print 80,000,000 elements?", yes="version")
        if line == "many":
            return Result([Table([TableColumn("row", "row"), TableColumn("tensor", "tensor")], self.rows)])  # type: ignore[arg-type]
        if line == "cube":
            values = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 6
            values[1, 2, 3] = np.nan
            return Result(
                [text('Tensor "cube:0":', ""), Array("cube:0", values)], menu=[Span("node_info", "name", "lt")]
            )
        if line == "huge":
            return Result([Array("huge:0", np.broadcast_to(np.float32(0.5), (80, 1000, 1000)), shows_all=True)])
        if line == "fault":
            raise RuntimeError("something broke")
        return super()._one(line)


def drive(
    play: Callable[[DebuggerScreen, Pilot], Awaitable[Any]],
    *,
    size: tuple[int, int] = (100, 30),
    first: str = "lt",
    engine: Engine | None = None,
    jobs: Jobs | None = None,
    pause: Any = None,
) -> DebuggerScreen:
    """Starts the screen, lets ``play`` do something with it, and ends it."""
    app = DebuggerScreen(jobs or Jobs(engine or TriedEngine()), pause, first)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await play(app, pilot)

    asyncio.run(asyncio.wait_for(run(), 60))
    return app


async def settled(pilot: Pilot) -> None:
    """When nothing is being done any more."""
    for _ in range(2):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def until(pilot: Pilot, *texts: str) -> None:
    """When these stand on the screen."""
    for _ in range(600):
        if all(text in seen(pilot.app) for text in texts):  # type: ignore[arg-type]
            return
        await pilot.pause(0.05)
    raise AssertionError(f"waited for {texts}, and there is:\n{seen(pilot.app)}")  # type: ignore[arg-type]


async def typed(pilot: Pilot, line: str, *keys: str) -> None:
    """A line at the prompt, then keys."""
    prompt = pilot.app.query_one(Prompt)
    prompt.fill(prompt.value + line)
    await pilot.pause()
    await pilot.press(*(keys or ("enter",)))
    await settled(pilot)


def seen(app: DebuggerScreen) -> str:
    """What stands on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"


def looks_like(app: DebuggerScreen, name: str) -> None:
    """As it did when the snapshot was written; WRITE_SNAPSHOTS=1 writes it anew."""
    place = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("WRITE_SNAPSHOTS") == "1":
        place.parent.mkdir(exist_ok=True)
        place.write_text(seen(app), encoding="utf-8")
    assert seen(app) == place.read_text(encoding="utf-8")
