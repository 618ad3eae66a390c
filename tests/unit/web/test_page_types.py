"""The types of the page are those that the API's description gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdbg.web.api import Api
from tdbg.web.openapi import describe
from tdbg.web.route import PROCESS, Parameter, Route
from tdbg.web.schema import (
    by_name,
    listing,
    maybe,
    named,
    number,
    one_of,
    record,
    several,
    text,
    together,
    whole,
    with_optional,
)
from tdbg.web.traces import Traces
from tdbg.web.typescript import files

SERVER = Path(__file__).parents[3] / "webui/src/server"


def _made(*routes: Route) -> dict[str, str]:
    return files(describe(routes))


def test_the_types_in_the_sources_are_those_of_the_description() -> None:
    for name, made in files(describe(Api(Traces([])).routes)).items():
        assert (SERVER / name).read_text() == made, f"{name} is older than the description of the API: make web"


def test_types_of_answers() -> None:
    point = named("Point", record(at=whole("a step"), value=maybe(number())), "Where a curve goes through.")
    curve = named("Curve", together(point, with_optional(record(kind=one_of(("sum", "mean"))), note=text())))
    answer = record(
        points=listing(point),
        gaps=listing(maybe(whole())),
        by_name=by_name(whole()),
        pair=several(text(), whole()),
        curve=curve,
    )
    made = _made(Route("/api/curve", "A curve", lambda _: None, named("Answer", answer)))["answers.ts"]
    assert (
        """
export interface Answer {
  points: Point[]; gaps: (number | null)[]; by_name: Record<string, number>; pair: [string, number]; curve: Curve;
}
"""
        in made
    )
    assert 'export interface Curve extends Point { kind: "sum" | "mean"; note?: string }' in made
    assert 'export type AnyNumber = number | "NaN" | "Infinity" | "-Infinity";' in made
    assert (
        """
/** Where a curve goes through. */
export interface Point {
  at: number; // a step
  value: AnyNumber | null;
}
"""
        in made
    )


def test_types_of_questions() -> None:
    asked = (PROCESS, Parameter("op", "", "text", is_repeated=True), Parameter("seq", "", is_required=True))
    answer = named("Answer", record(at=whole()))
    made = _made(
        Route("/api/t/{trace}/row", "", lambda _: None, answer, asked),
        Route("/api/picture", "", lambda _: None, kind="image/png"),
        Route("/api/line", "", lambda _: None, answer, method="POST", body=record(line=text())),
    )["questions.ts"]
    assert '"t/{trace}/row": { query: { process?: number; op?: string[]; seq: number }; answer: Answer };' in made
    assert '"picture": { query: Record<string, never> };' in made
    assert '"line": { query: Record<string, never>; body: { line: string }; answer: Answer };' in made
    assert "import type {\n  Answer,\n}" in made


def test_a_name_is_of_one_schema() -> None:
    one, other = named("Point", record(at=whole())), named("Point", record(at=text()))
    with pytest.raises(ValueError, match="two schemas have the name Point"):
        describe([Route("/api/both", "", lambda _: None, record(a=one, b=other))])
