"""``tdbg sql`` on a small trace."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from command_traces import make_trace

from tdbg.__main__ import main


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_trace(tmp_path / "run.tdbg")


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["sql", *words]) == 0
    return capsys.readouterr().out


def test_table_shows_null_and_nan(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ask(capsys, "SELECT seq, min, 'a\nb' AS text FROM tensors WHERE seq < 3 ORDER BY seq")
    assert out.splitlines() == [
        "seq   min  text",
        "───  ────  ────",
        "  0   0.0  a\\nb",
        "  1   nan  a\\nb",
        "  2  NULL  a\\nb",
    ]


def test_trace_may_be_named(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, str(trace), "SELECT count(*) AS n FROM tensors") == "  n\n───\n120\n"


@pytest.mark.parametrize(
    ("words", "shown", "last"),
    [
        ([], 50, "… 70 more rows (--limit 0 shows all)"),
        (["--limit", "119"], 119, "… 1 more row (--limit 0 shows all)"),
        (["--limit", "120"], 120, None),
        (["--limit", "0"], 120, None),
    ],
)
def test_limit(trace: Path, capsys: pytest.CaptureFixture[str], words: list[str], shown: int, last: str | None) -> None:
    lines = ask(capsys, *words, "SELECT seq FROM tensors; -- all of them").splitlines()[2:]
    assert (lines[shown:] or [None]) == [last]


def test_no_rows(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "SELECT seq FROM tensors WHERE false").splitlines()[-1] == "(no rows)"


def test_describe(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "column_name" in ask(capsys, "DESCRIBE tensors")


def test_json_is_strict(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ask(capsys, "--json", "SELECT seq, min, [nan] AS many FROM tensors WHERE seq < 3 ORDER BY seq")
    rows = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert [row["min"] for row in rows] == [0.0, "NaN", None]
    assert rows[0]["many"] == [0]
    assert json.loads(ask(capsys, "--json", "SELECT seq FROM tensors WHERE false")) == []
    assert len(json.loads(ask(capsys, "--json", "SELECT seq FROM tensors"))) == 120


def test_csv(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ask(capsys, "--csv", "--limit", "3", "SELECT seq, min, 'a,b' AS text FROM tensors ORDER BY seq")
    assert list(csv.reader(io.StringIO(out))) == [
        ["seq", "min", "text"],
        ["0", "0.0", "a,b"],
        ["1", "nan", "a,b"],
        ["2", "", "a,b"],
    ]


WRONG = {
    "table": ("SELECT * FROM tensor", "there is no table 'tensor'; did you mean tensors"),
    "far table": ("SELECT * FROM qqqq", "there is no table 'qqqq'; the tables are: tensors, "),
    "column": (
        "SELECT elemnts FROM tensors",
        "no column 'elemnts' in the tables of this query; close to it: elements (in tensors)",
    ),
    "column of alias": ("SELECT t.nann FROM tensors t", "there is no column 'nann'"),
    "syntax": ("SELEC 1 FROM tensors", 'syntax error at or near "SELEC"'),
    "grouping": ("SELECT seq FROM tensors GROUP BY op", "GROUP BY"),
    "conversion": ("SELECT 'a'::INT", "Could not convert string"),
    "only reads": ("DELETE FROM tensors", "A trace can only be queried"),
    "other files": ("SELECT * FROM read_text('/etc/hostname')", "this query failed"),
    "nothing": (" -- nothing", "there is no query here"),
    "unquoted": ("SELECT", "put the query in quotes"),
}


@pytest.mark.parametrize(("query", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_query_is_one_sentence(
    trace: Path, capsys: pytest.CaptureFixture[str], query: str, sentence: str
) -> None:
    assert main(["sql", query]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("tdbg: ")
    assert shown.err.count("\n") == 1
    assert sentence in shown.err


def test_negative_limit(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "--limit", "-1", "SELECT 1"]) == 2
    assert "--limit" in capsys.readouterr().err
