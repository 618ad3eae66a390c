"""One broken program, recorded in part or damaged afterwards: verdict, report and diff say what they could not see."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from recorded_run import record

import tdbg
from tdbg.__main__ import main
from tdbg.query.compare.diff import compare
from tdbg.query.compare.text import lines
from tdbg.query.verdict.verdict import Verdict, explain
from tdbg.report.page import build

pytest.importorskip("tensorflow")

PROGRAM = Path(__file__).parents[2] / "examples" / "custom_loop.py"  # bad from step 1 on, 30 steps
BUG = next(n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "# BUG" in line)
WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "products": {"ops": "^(MatMul|Softmax)$"},
    "logs": {"ops": "^Log$"},
    "nothing": {"names": "^no such name$"},
    "health": {"mode": "health"},
    "edges": {"mode": "edges"},
    "none": {"mode": "none"},
    "every": {"every": 7},
    "later": {"steps": "5:"},
    "before": {"steps": ":1"},
    "ring": {"ring": 64},
}
# What the verdict must say of what it did not see.
NOTES = {
    "products": "only part was recorded (ops ^(MatMul|Softmax)$)",
    "logs": "only part was recorded (ops ^Log$)",
    "nothing": "only part was recorded (names ^no such name$)",
    "edges": "did not look inside functions",
    "every": "steps 1 to 6 were not recorded: bad values may have begun there",
    "later": "nothing before step 5 was recorded: bad values may have begun there",
    "before": "only part was recorded (steps 0:1)",
    "ring": "where the ring begins; earlier steps were overwritten",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace for each way; ``cut`` and ``flipped`` are damaged."""
    found = tmp_path_factory.mktemp("partial")
    code = compile(PROGRAM.read_text(), str(PROGRAM), "exec")
    for name, options in WAYS.items():
        with record(found, name, **options):
            exec(code, {"__name__": "__main__"})
    for name in ("cut", "flipped"):
        shutil.copytree(found / "whole.tdbg", found / f"{name}.tdbg")
        (rows,) = (found / f"{name}.tdbg").glob("*/tensors-000001.parquet")
        content = bytearray(rows.read_bytes())
        content[len(content) // 3] ^= 255
        rows.write_bytes(content[: len(content) * (2 if name == "cut" else 3) // 3])
    return found


def verdict_of(folder: Path, name: str) -> Verdict:
    return explain(tdbg.open(folder / f"{name}.tdbg"))


@pytest.mark.parametrize("name", NOTES)
def test_what_was_not_seen_is_said_in_the_verdict_and_in_the_report(folder: Path, name: str) -> None:
    assert any(NOTES[name] in note for note in verdict_of(folder, name).coverage.notes)
    escaped = NOTES[name].replace("'", "&#x27;")
    assert escaped in build(tdbg.open(folder / f"{name}.tdbg"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("whole", "bad_values"),
        ("nothing", "clean"),
        ("before", "clean"),
        ("none", "unknown"),
        ("cut", "bad_values"),  # the rollups beside the damaged rows know of them
        ("flipped", "bad_values"),
    ],
)
def test_what_was_not_looked_at_is_not_called_clean(
    folder: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["why", "--json", str(folder / f"{name}.tdbg")])
    verdict = json.loads(capsys.readouterr().out)
    is_blind = name in ("none", "cut", "flipped")
    assert (verdict["verdict"], bool(verdict["coverage"]["blind"])) == (said, is_blind)
    assert status == (said == "bad_values")
    assert bool(verdict["origins"]) == (name == "whole")


@pytest.mark.parametrize("name", ["whole", "logs", "health"])
def test_the_line_is_found(folder: Path, name: str) -> None:
    (origin,) = verdict_of(folder, name).origins
    assert origin.frame is not None
    assert (origin.frame.file, origin.frame.line, origin.row.step) == (str(PROGRAM), BUG, 1)


def test_an_input_is_named_after_the_op_that_made_it_though_that_has_no_row(folder: Path) -> None:
    (origin,) = verdict_of(folder, "logs").origins
    assert [fact.op.type for fact in origin.inputs] == ["Softmax"]
    assert origin.cause.name == "log_of_zero"


def test_inputs_that_were_left_out_are_not_called_finite(folder: Path) -> None:
    (origin,) = verdict_of(folder, "products").origins
    assert origin.cause.reason == "its output is bad, and not all of its inputs were recorded"


@pytest.mark.parametrize(("name", "step"), [("every", 7), ("later", 5), ("ring", 27)])
def test_where_the_beginning_is_missing_there_is_one_place(folder: Path, name: str, step: int) -> None:
    verdict = verdict_of(folder, name)
    assert len(verdict.origins) == 1
    assert verdict.origins[0].row.step == step


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("products", ["the same numbers in all ", "tensors of these steps only in A", "B: only part was recorded"]),
        ("health", ["the same shapes and bad values in all ", "numbers were not recorded"]),
        ("edges", ["tensors of these steps only in A", "B: mode edges"]),
        ("every", ["of 5 steps", "25 steps only in A, from step 1 on", "B: only part was recorded (steps 0: every 7)"]),
        ("ring", ["of 3 steps", "27 steps only in A", "B: only part was recorded (ring last 64 events)"]),
    ],
)
def test_a_comparison_says_what_it_did_not_compare(folder: Path, name: str, said: list[str]) -> None:
    diff = compare(tdbg.open(folder / "whole.tdbg"), tdbg.open(folder / f"{name}.tdbg"))
    assert diff.parting is None
    text = "\n".join(lines(diff, width=300))
    assert [words for words in said if words not in text] == []


@pytest.mark.parametrize("name", ["none", "cut", "flipped"])
def test_nothing_to_compare_is_an_error(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(folder / "whole.tdbg"), str(folder / f"{name}.tdbg")]) == 2
    assert "Nothing in these traces can be compared: " in capsys.readouterr().err
