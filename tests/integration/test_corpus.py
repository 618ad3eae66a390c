"""Each program of tests/corpus is recorded, and the verdict must name what its truth says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorflow")

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))
import score as corpus

pytestmark = pytest.mark.timeout(900)  # the first test waits for a hundred programs

# At least so many right; raise them when more are.
CAUSES = 70
FIXES_TRIED = 70
ALERTS = 16

HAS_RULES = importlib.util.find_spec("tdbg.query.rules") is not None
TRUTH = corpus.TRUTH
BROKEN = sorted(name for name, truth in TRUTH.items() if truth["verdict"] == "bad_values")
CLEAN = sorted(name for name, truth in TRUTH.items() if truth["verdict"] == "clean")
UNHEALTHY = sorted(name for name, truth in TRUTH.items() if truth["verdict"] == "unhealthy")


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, corpus.Score]:
    found = corpus.scores(sorted(TRUTH), tmp_path_factory.mktemp("corpus"))
    return {score.name: score for score in found}


def test_every_program_has_a_truth_whose_places_are_in_it() -> None:
    assert {file.stem for file in corpus.PROGRAMS.glob("*.py")} == set(TRUTH)
    for name, truth in TRUTH.items():
        for one in [*truth.get("origins", []), *truth.get("alerts", [])]:
            assert one["at"] is None or corpus.line_of(name, one["at"]) > 0
    assert (len(BROKEN) >= 35, len(UNHEALTHY) >= 15, len(CLEAN) >= 10) == (True, True, True)


@pytest.mark.parametrize("name", BROKEN)
def test_all_origins_are_found_and_nothing_else(scores: dict[str, corpus.Score], name: str) -> None:
    score = scores[name]
    assert (score.verdict, score.lines, score.kinds) == (True, True, True), score.found


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_program_is_called_clean_and_its_infinities_benign(scores: dict[str, corpus.Score], name: str) -> None:
    score = scores[name]
    assert (score.verdict, score.false_alarms, score.benign) == (True, [], True), score.found


@pytest.mark.parametrize("name", UNHEALTHY)
def test_a_program_without_bad_values_has_no_origin(scores: dict[str, corpus.Score], name: str) -> None:
    assert not any(" forward " in text or " backward " in text for text in scores[name].found), scores[name].found


def test_causes_are_at_least_as_good_as_they_were(scores: dict[str, corpus.Score]) -> None:
    wrong = {score.name: score.found for score in scores.values() if score.causes is False}
    assert sum(score.causes is True for score in scores.values()) >= CAUSES, wrong


def test_fixes_are_executed_wherever_they_can_be(scores: dict[str, corpus.Score]) -> None:
    wrong = {score.name: score.found for score in scores.values() if score.tried is False}
    assert sum(score.tried is True for score in scores.values()) >= FIXES_TRIED, wrong


@pytest.mark.skipif(not HAS_RULES, reason="there are no health rules")
def test_alerts_are_at_least_as_good_as_they_were(scores: dict[str, corpus.Score]) -> None:
    wrong = {score.name: score.found for score in scores.values() if score.alerts is False}
    assert sum(score.alerts is True for score in scores.values()) >= ALERTS, wrong
    assert {score.name: score.false_alarms for score in scores.values() if score.false_alarms} == {}


def test_with_the_fixes_written_into_them_nothing_bad_begins_there(tmp_path: Path) -> None:
    names = ["atan2_origin", "clip_after_log", "half_cast", "half_layer_norm", "lstm_log_gate", "mask_times_infinity"]
    names += ["reciprocal_gradient", "slogdet_singular", "two_bugs_forward", "unbiased_std_last_batch"]
    found = corpus.record(names, tmp_path)
    holds = corpus.apply_fixes({name: one["verdict"] for name, one in found.items()}, tmp_path)
    assert holds == dict.fromkeys(names, True)


# ---- recorded in part


def _verdict(folder: Path, name: str, **options: Any) -> dict[str, Any]:
    return corpus.record([name], folder, 1, **options)[name]["verdict"]


def _lines(verdict: dict[str, Any]) -> list[int]:
    return [origin["line"] for origin in verdict["origins"]]


def _truth(name: str) -> list[int]:
    return [corpus.line_of(name, one["at"]) for one in TRUTH[name]["origins"]]


def test_mode_health_finds_the_same_lines(tmp_path: Path) -> None:
    names = ["function_poisson", "pairwise_distances", "handmade_softmax", "clean_causal_mask"]
    found = corpus.record(names, tmp_path, 1, mode="health")
    assert [_lines(found[name]["verdict"]) for name in names[:3]] == [_truth(name) for name in names[:3]]
    assert found[names[3]]["verdict"]["verdict"] == "clean"


def test_a_filter_gives_the_line_it_can_see_and_says_that_it_was_there(tmp_path: Path) -> None:
    verdict = _verdict(tmp_path, "function_poisson", ops="^Log$")
    assert _lines(verdict) == _truth("function_poisson")
    assert any("only part was recorded" in note and "Log" in note for note in verdict["coverage"]["notes"])


def test_sampled_steps_say_what_was_not_looked_at(tmp_path: Path) -> None:
    verdict = _verdict(tmp_path, "empty_mask_mean", every=2)  # it goes bad in step 3, which is not recorded
    assert verdict["origins"] == []
    assert any("every 2" in note for note in verdict["coverage"]["notes"])


def test_a_ring_that_lost_the_beginning_says_so(tmp_path: Path) -> None:
    verdict = _verdict(tmp_path, "temperature_schedule", ring=64)
    assert verdict["verdict"] == "bad_values"
    assert any("last 64 events" in note for note in verdict["coverage"]["notes"])
