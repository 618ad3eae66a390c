"""Options as a person writes them in; a checked Config or one clear sentence out."""

from pathlib import Path

import pytest

from tdbg.config import make_config, parse_steps
from tdbg.errors import TdbgError
from tdbg.model import Mode


def test_defaults(monkeypatch):
    monkeypatch.delenv("TDBG_MODE", raising=False)
    monkeypatch.delenv("TDBG_OUTPUT", raising=False)
    config = make_config()
    assert config.mode is Mode.NUMERICS
    assert config.output is None
    assert config.values_when_bad


def test_the_environment_is_used_where_nothing_was_said(monkeypatch):
    monkeypatch.setenv("TDBG_MODE", "health")
    monkeypatch.setenv("TDBG_OUTPUT", "here.tdbg")
    assert make_config().mode is Mode.HEALTH
    assert make_config().output == Path("here.tdbg")
    assert make_config(mode="full").mode is Mode.FULL


@pytest.mark.parametrize(
    ("text", "steps"), [("3:7", (3, 7)), ("3:", (3, None)), (":7", (0, 7)), ("5", (5, 6)), (" 1:2 ", (1, 2))]
)
def test_step_ranges(text, steps):
    assert parse_steps(text) == steps


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "fast"}, "unknown mode 'fast'; choose one of: none, health, numerics, shape, full"),
        ({"steps": "7:3"}, "empty range"),
        ({"steps": "a:b"}, "not a range"),
        ({"steps": ":"}, "not a range"),
        ({"every": 0}, "at least 1"),
        ({"ring": 10}, "at least 64"),
        ({"ops": "("}, "not a regular expression"),
        ({"colour": "red"}, "unknown option 'colour'"),
    ],
)
def test_wrong_options_get_one_clear_sentence(options, words):
    with pytest.raises(TdbgError, match=words.replace("(", r"\(")):
        make_config(**options)
