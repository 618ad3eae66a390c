"""Which conditions count, from what is said at the prompt and the steps that begin."""

from __future__ import annotations

import pytest

from tdbg.capture.breaks import Breaks
from tdbg.capture.control import Action, Kind
from tdbg.errors import TdbgError


def texts(breaks: Breaks, step: int) -> list[str]:
    return [one.text for one in breaks.active(step)]


@pytest.fixture
def breaks() -> Breaks:
    made = Breaks(["nan > 0", 'op == "Log"'])
    made.changes = []  # type: ignore[attr-defined]
    made.changed = lambda: made.changes.append(1)  # type: ignore[attr-defined]
    return made


def test_all_count_until_something_else_is_said(breaks: Breaks) -> None:
    assert texts(breaks, 0) == ["nan > 0", 'op == "Log"']
    breaks.obey(Action(), 0, {})
    assert texts(breaks, 0) == ["nan > 0", 'op == "Log"']


def test_a_filter_counts_alone_until_the_program_goes_on_again(breaks: Breaks) -> None:
    breaks.obey(Action(until_filter="has_inf_or_nan", exclude_nodes="grad"), 3, {})
    (one,) = breaks.active(3)
    assert not breaks.hold_lines(3)
    assert (one.text, one.expression.text) == ("has_inf_or_nan", "bad")
    assert one.leaves_out("gradients/Mul")
    assert not one.leaves_out("loss/gradients")
    breaks.obey(Action(), 4, {})
    assert len(breaks.active(4)) == 2


def test_a_filter_may_be_a_function(breaks: Breaks) -> None:
    breaks.obey(Action(until_filter="mine"), 0, {"mine": lambda datum, array: True})
    assert breaks.active(0)[0].filter is not None
    with pytest.raises(TdbgError):
        breaks.obey(Action(until_filter="no such"), 0, {})
    assert texts(breaks, 0) == ["mine"]


def test_steps_without_being_held(breaks: Breaks) -> None:
    assert breaks.hold_lines(5)
    breaks.obey(Action(times=3), 5, {})
    assert not breaks.hold_lines(7)
    assert not breaks.begins(6)
    assert texts(breaks, 7) == []
    assert breaks.begins(8)
    assert len(breaks.active(8)) == 2
    assert not breaks.begins(9)


def test_without_debugging_conditions_count_again_at_the_next_step(breaks: Breaks) -> None:
    breaks.obey(Action(debug=False), 5, {})
    assert texts(breaks, 5) == []
    assert not breaks.begins(6)
    assert len(breaks.active(6)) == 2


def test_detached_until_one_is_added(breaks: Breaks) -> None:
    breaks.obey(Action(Kind.DETACH), 0, {})
    assert texts(breaks, 0) == []
    added = breaks.add("max > 3")
    assert added.number == 3
    assert breaks.remove(1).text == "nan > 0"
    assert texts(breaks, 0) == ['op == "Log"', "max > 3"]
    with pytest.raises(TdbgError, match="there are 2, 3"):
        breaks.remove(1)


def test_whoever_asks_ops_is_told_of_each_change(breaks: Breaks) -> None:
    breaks.add("max > 3")
    breaks.remove(3)
    breaks.obey(Action(times=2), 0, {})
    breaks.begins(1)
    breaks.begins(2)
    assert len(breaks.changes) == 4  # type: ignore[attr-defined]
    breaks.obey(Action(Kind.EXIT), 2, {})
    assert breaks.is_over


def test_which_conditions_name_ops() -> None:
    named = {one.text: one.selects for one in Breaks(["bad", "step > 3", 'bad and name ~ "a"', 'dtype == "int32"']).all}
    assert list(named.values()) == [False, False, True, True]
