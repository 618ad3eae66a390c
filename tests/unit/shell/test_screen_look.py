"""How the screen looks, at a usual size and at the least one: plain-text snapshots, compared exactly."""

from functools import partial

import pytest
from screen_pilot import TriedEngine, drive, looks_like, typed
from small_scene import SmallScene

from tdbg.capture.control import Pause
from tdbg.shell.screen.jobs import Jobs
from tdbg.shell.screen.keys import DebuggerScreen

SIZES = {"100x30": (100, 30), "60x15": (60, 15)}


@pytest.mark.parametrize("size", SIZES)
def test_a_walk_through_the_screens(size):
    async def play(app, pilot):
        looks_like(app, f"list-{size}")
        await typed(pilot, "/(inf|nan)")
        looks_like(app, f"search-{size}")
        await typed(pilot, "cube")
        looks_like(app, f"tensor-{size}")
        await pilot.press("right")
        await typed(pilot, "", "right")
        looks_like(app, f"page-{size}")
        await typed(pilot, "lt -", "tab", "down")
        looks_like(app, f"menu-{size}")
        await typed(pilot, "", "escape", "ctrl+c")
        await typed(pilot, "nonsense --and more of it, so long that it does not fit on one line of a small window")
        looks_like(app, f"error-{size}")
        await typed(pilot, "ask")
        looks_like(app, f"question-{size}")

    drive(play, size=SIZES[size])


@pytest.mark.parametrize("size", SIZES)
def test_a_held_program(size):
    lines = ["Log made 2 × -inf of zeros", "  train.py:6  loss = -labels * tf.math.log(probabilities)"]
    pause = Pause("condition", "condition: nan > 0 at cross_entropy/Log", SmallScene(), "lt -f has_inf_or_nan", lines)

    async def play(app, pilot):
        looks_like(app, f"held-{size}")
        await typed(pilot, "", "ctrl+q")
        looks_like(app, f"leaving-{size}")

    drive(play, size=SIZES[size], pause=pause)


def test_what_was_begun_before_the_screen_had_its_size():
    jobs = Jobs(TriedEngine())
    jobs.room.width = 40
    jobs.ahead = jobs.worker.submit(partial(jobs.perform, "lt"))
    jobs.ahead.result(60)

    async def play(app, pilot):
        looks_like(app, "list-100x30")

    drive(play, jobs=jobs)


def test_a_line_that_is_typed_before_the_first_screen_is_made_comes_after_it(monkeypatch):
    begin = DebuggerScreen._begin

    def begin_late(app):
        app.type_line("version")
        app.call_after_refresh(begin, app)

    monkeypatch.setattr(DebuggerScreen, "_begin", begin_late)
    engine = TriedEngine()
    jobs = Jobs(engine)
    jobs.begin_ahead(None, "lt")

    async def play(app, pilot):
        assert engine.done == ["lt", "version"]
        assert app.shown.line == "version"

    drive(play, jobs=jobs)
