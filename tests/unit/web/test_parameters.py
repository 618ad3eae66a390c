"""Parameters: what is let through, and what is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from tdbg.web.route import Parameter, Refused

NUMBER = Parameter("n", "a number", least=-1, most=10, default=3)


@pytest.mark.parametrize(
    ("parameter", "given", "value"),
    [
        (NUMBER, [], 3),
        (NUMBER, ["-1"], -1),
        (NUMBER, ["10"], 10),
        (Parameter("t", "", "truth", default=False), ["1"], True),
        (Parameter("t", "", "truth", default=False), [], False),
        (Parameter("w", "", "text"), ["ünï"], "ünï"),
        (Parameter("c", "", "text", choices=("a", "b")), ["b"], "b"),
        (Parameter("o", "", "text", is_repeated=True), ["a", "b"], ["a", "b"]),
        (Parameter("o", "", "text", is_repeated=True), [], []),
    ],
)
def test_good_ones(parameter: Parameter, given: list[str], value: Any) -> None:
    assert parameter.read(given) == value


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        (NUMBER, ["11"]),
        (NUMBER, ["-2"]),
        (NUMBER, ["1.5"]),
        (NUMBER, [""]),
        (NUMBER, ["٣"]),
        (NUMBER, ["1", "2"]),
        (NUMBER, ["9" * 40]),
        (NUMBER, ["+1"]),
        (NUMBER, ["1_0"]),
        (Parameter("r", "", is_required=True), []),
        (Parameter("t", "", "truth"), ["yes"]),
        (Parameter("w", "", "text", most=3), ["abcd"]),
        (Parameter("w", "", "text"), ["a\0"]),
        (Parameter("w", "", "text"), ["a" * 2001]),
        (Parameter("c", "", "text", choices=("a",)), ["b"]),
        (Parameter("o", "", "text", is_repeated=True), ["a"] * 65),
    ],
)
def test_bad_ones(parameter: Parameter, given: list[str]) -> None:
    with pytest.raises(Refused) as raised:
        parameter.read(given)
    assert raised.value.status == 400
    assert "\n" not in raised.value.sentence
