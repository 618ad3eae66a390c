"""What a run is called: fetches and feeds in, names and one line out."""

from dataclasses import dataclass

import pytest

from tdbg.frameworks.tensorflow.sessions.names import describe_run, flattened_names, run_key


@dataclass(frozen=True)
class Element:
    name: str


X, LOSS = Element("x:0"), Element("loss:0")


@pytest.mark.parametrize(
    ("fetches", "feeds", "line"),
    [
        (LOSS, {X: 1}, "run #3: 1 fetch (loss:0); 1 feed (x:0)"),
        ([LOSS, (X, {"a": LOSS})], None, "run #3: 3 fetches; 0 feeds"),
        ("loss:0", {"x:0": 1, "y:0": 2}, "run #3: 1 fetch (loss:0); 2 feeds"),
    ],
)
def test_a_run_in_one_line(fetches, feeds, line):
    assert describe_run(3, fetches, feeds) == line


def test_callables_of_others_do_not_tell_their_fetches():
    assert describe_run(3, None, None, is_callable_runner=True) == "runner from make_callable()"
    assert describe_run(3, LOSS, None, is_callable_runner=True) == "run #3: 1 fetch (loss:0); 0 feeds"


def test_names_of_nested_fetches_keep_their_order():
    assert flattened_names({"b": [LOSS, None], "a": (X,)}) == ["loss:0", "x:0"]
    assert run_key([LOSS], {X: 1}) == '[["x:0"], ["loss:0"]]'
