"""When a new training step begins."""

from tdbg.capture.policy import Policy
from tdbg.capture.steps import Steps
from tdbg.config import make_config


class Switches:
    """The part of the native library that steps talk to."""

    def __init__(self):
        self.step = self.recording = None

    def set_step(self, step):
        self.step = step

    def set_recording(self, on):
        self.recording = on

    def counters(self):
        return (0, 0, 0, 0, 0)


def made(**options):
    lib = Switches()
    rows = []
    return Steps(lib, Policy(make_config(**options)), lambda table, row: rows.append(row)), lib, rows


def test_a_step_begins_with_the_first_forward_pass_after_a_gradient_and_an_update():
    steps, lib, rows = made()
    steps.forward_begins()
    assert lib.step == 0
    steps.gradient()
    steps.forward_begins()  # gradient accumulation: nothing was updated
    assert lib.step == 0
    steps.gradient()
    steps.update()
    steps.forward_begins()
    steps.forward_begins()
    assert lib.step == 1
    assert [(row[0], row[3]) for row in rows] == [(0, "start"), (1, "found")]


def test_an_update_without_a_gradient_is_no_training():
    steps, lib, _ = made()
    steps.update()  # a metric, an initial value
    steps.forward_begins()
    assert lib.step == 0


def test_told_steps_are_not_guessed_any_more():
    steps, lib, _ = made()
    steps.told(None)
    assert lib.step == 0
    steps.gradient()
    steps.update()
    steps.forward_begins()
    assert lib.step == 0
    steps.told(None)
    assert lib.step == 1
    steps.told(40)
    assert lib.step == 40


def test_steps_outside_the_range_are_not_recorded():
    steps, lib, _ = made(steps="1:2")
    assert lib.recording is False
    steps.told(1)
    assert lib.recording is True
    steps.told(2)
    assert lib.recording is False
