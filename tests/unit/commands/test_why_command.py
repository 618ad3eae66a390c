"""``tdbg why`` around a verdict: what is printed, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_traces import make_trace

from tdbg.__main__ import main
from tdbg.commands.why import next_command
from tdbg.query.verdict import text as verdict_text
from tdbg.query.verdict import verdict


class Said:
    def __init__(self, is_trouble: bool) -> None:
        self.is_trouble, self.is_unreadable = is_trouble, False

    def as_dict(self) -> dict[str, Any]:
        return {"verdict": "clean", "max": float("inf")}


@pytest.mark.parametrize(("is_trouble", "status"), [(True, 1), (False, 0)])
def test_status_and_lines(
    is_trouble: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verdict, "explain", lambda trace, ignore: Said(is_trouble))
    monkeypatch.setattr(verdict_text, "full_lines", lambda said, width: ["tdbg: first line", " -> train.py:3"])
    trace = str(make_trace(tmp_path / "run.tdbg"))
    assert main(["why", trace]) == status
    assert capsys.readouterr() == ("tdbg: first line\n -> train.py:3\n", "")
    assert main(["why", "--json", trace]) == status
    assert json.loads(capsys.readouterr().out) == {"verdict": "clean", "max": "Infinity"}


def test_next_command() -> None:
    assert next_command(True, "my run.tdbg") == "next:  tdbg why 'my run.tdbg'   or   tdbg serve 'my run.tdbg'"
    assert next_command(False, "run.tdbg") == "next:  tdbg info run.tdbg   or   tdbg serve run.tdbg"
