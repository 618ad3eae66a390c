"""What of a command line is tdbg's and what is the program's, and where the trace goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tdbg.commands.output_place import choose_output
from tdbg.commands.run import split
from tdbg.errors import TdbgError

WITH_VALUE = {"-o", "--output", "--mode"}


@pytest.mark.parametrize(
    ("line", "ours", "program"),
    [
        ("train.py -q --mode full", "", "train.py -q --mode full"),
        ("-q train.py -q", "-q", "train.py -q"),
        ("-o out train.py", "-o out", "train.py"),
        ("-oout train.py", "-oout", "train.py"),
        ("--output=out train.py", "--output=out", "train.py"),
        ("-o -q train.py", "-o -q", "train.py"),
        ("--mode full -m mod -o x", "--mode full", "-m mod -o x"),
        ("-mmod -q", "", "-mmod -q"),
        ("-q -c code -- -q", "-q", "-c code -- -q"),
        ("-q -- train.py -- x", "-q", "train.py -- x"),
        ("-q -- -m mod", "-q", "-m mod"),
        ("-q - a", "-q", "- a"),
        ("-q", "-q", ""),
        ("-o", "-o", ""),
    ],
)
def test_split(line: str, ours: str, program: str) -> None:
    assert split(line.split(), WITH_VALUE) == (ours.split(), program.split())


def test_default_place_is_new_and_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TDBG_OUTPUT", raising=False)
    first = choose_output(None, "train.py", force=False)
    assert first == tmp_path / f"tdbg-train.py.{os.getpid()}.tdbg"
    first.mkdir()
    assert choose_output(None, "train.py", force=False) == tmp_path / f"tdbg-train.py.{os.getpid()}-2.tdbg"


def test_place_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TDBG_OUTPUT", "deep/run.tdbg")
    assert choose_output(None, "train.py", force=False) == tmp_path / "deep" / "run.tdbg"
    assert choose_output("other.tdbg", "train.py", force=False) == tmp_path / "other.tdbg"


def test_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "run.tdbg").mkdir()
    assert choose_output(str(tmp_path / "run.tdbg"), "train.py", force=False).exists()


def test_unwritable_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(TdbgError, match="not writable"):
        choose_output(str(tmp_path / "run.tdbg"), "train.py", force=False)


def test_link_to_a_trace_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.tdbg").mkdir()
    (tmp_path / "real.tdbg" / "trace.json").write_text('{"format": "tdbg", "version": 1}')
    (tmp_path / "link.tdbg").symlink_to("real.tdbg")
    with pytest.raises(TdbgError, match="cannot remove"):
        choose_output(str(tmp_path / "link.tdbg"), "train.py", force=True)
    assert (tmp_path / "real.tdbg" / "trace.json").exists()
