"""``tdbg info`` on small traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_traces import PROCESS, make_trace

from tdbg.__main__ import main
from tdbg.store.writer import TraceWriter


def test_one_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = make_trace(tmp_path / "run.tdbg", end={"faults": {"finding a stack": 2}})
    assert main(["info", str(trace)]) == 0
    lines = capsys.readouterr().out.splitlines()
    labels = dict(line.split(maxsplit=1) for line in lines if not line.startswith(("left out", " ")))
    assert str(trace) in labels["trace"]
    assert labels["program"] == "python train.py --rate '1 e3'"
    assert labels["versions"] == "python 3.11.7, tensorflow 2.21.0"
    assert labels["recorded"] == "mode numerics, steps 10:, every 2 steps, --ops 'Log|Exp'"
    assert ": ended by an exception, status 1, 2.5 s, began " in labels["process"]
    assert labels["steps"] == "10 to 21"
    assert labels["tensors"].startswith("120, 2 hold NaN or infinity; ")
    assert labels["problems"] == "none"
    left_out = lines[lines.index(next(line for line in lines if line.startswith("left out"))) :]
    assert [line[12:] for line in left_out[:3]] == [
        "7 ops were skipped",
        f"5 events were dropped by process {labels['process'].split()[0]}",
        "2 internal errors of tdbg while finding a stack",
    ]
    assert len(lines) <= 24


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = make_trace(tmp_path / "run.tdbg")
    assert main(["info", "--json", str(trace)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows"]["tensors"] == 120
    assert facts["bytes_per_tensor"] == round(facts["tensor_bytes"] / 120, 1)
    assert facts["notes"] == [{"kind": "skipped", "text": "ops were skipped", "count": 7}]
    assert facts["processes"][0]["state"] == "ended"
    assert facts["processes"][0]["steps"] == {"first": 10, "last": None, "every": 2}


def test_process_that_died_and_said_little(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = TraceWriter(tmp_path / "run.tdbg", {"argv": None, "pid": 2**22 + 1})
    writer.append("steps", {"step": [0], "seq": [0], "time": [0], "source": [""]})
    writer.flush()
    assert main(["info", str(tmp_path / "run.tdbg")]) == 0
    out = capsys.readouterr().out
    assert "4194305 on " in out
    assert ": died, began " in out
    assert "tensors     none\n" in out


def test_many_processes_stay_on_one_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in range(11):
        TraceWriter(tmp_path / "run.tdbg", PROCESS | {"rank": rank}).close({"ended": 0})
    assert main(["info", str(tmp_path / "run.tdbg")]) == 0
    assert "… 3 more processes" in capsys.readouterr().out
