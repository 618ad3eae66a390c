"""The command line itself: which command, which trace, and how errors are said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_traces import make_trace

import tdbg
from tdbg import commands
from tdbg.__main__ import main
from tdbg.commands.info import Command as Info
from tdbg.commands.trace_argument import newest_trace
from tdbg.errors import TdbgCommandError, TdbgError

SOURCE = str(Path(tdbg.__file__).parents[1])


def tdbg_process(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    line = [sys.executable, "-W", "error", "-m", "tdbg", *words]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)


def test_every_command_has_one_line_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in commands.NAMES:
        assert sum(line.startswith(f"  {name} ") for line in lines) == 1
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize("name", commands.NAMES)
def test_help_of_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: tdbg {name}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tdbg {tdbg.__version__}\n"


def test_no_words_show_the_help_as_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: tdbg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "hint"),
    [("wyh", "tdbg why"), ("train.py", "tdbg run train.py"), ("frobnicate", "the commands are: run, why")],
)
def test_unknown_command(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"tdbg: there is no command {word!r}; ")
    assert hint in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (TdbgError("so it is"), 2, "tdbg: so it is\n"),
        (TdbgCommandError("so it is", 7), 7, "tdbg: so it is\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_become_a_sentence_and_a_status(
    error: BaseException, status: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: object, args: object) -> int:
        raise error

    monkeypatch.setattr(Info, "run", fail)
    assert main(["info"]) == status
    assert capsys.readouterr() == ("", says)


def test_a_fault_of_tdbg_is_not_taken_for_trouble(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Info, "run", lambda self, args: 1 // 0)
    assert main(["info"]) == 2
    error = capsys.readouterr().err
    assert "ZeroDivisionError" in error
    assert error.splitlines()[-1].startswith("tdbg: this is a bug in tdbg")


def test_wrong_argument_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--nope"]) == 2
    assert capsys.readouterr().err == "tdbg: unrecognized arguments: --nope; see: tdbg info --help\n"


def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    make_trace(tmp_path / "run.tdbg", rows=20_000)
    query = "SELECT a.* FROM tensors a, (FROM range(20))"
    process = subprocess.Popen(
        [sys.executable, "-m", "tdbg", "sql", "--csv", query],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": SOURCE}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


def test_importing_the_command_line_is_light(tmp_path: Path) -> None:
    names = {"numpy", "pyarrow", "duckdb", "rich", "tensorflow"}
    code = f"import sys, tdbg.__main__ as m; m.main(['--help']); print({names!r} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ran.stdout.splitlines()[-1] == "set()"


# ---- TRACE


@pytest.mark.parametrize("words", [["why"], ["info"], ["sql", "SELECT 1"]], ids=lambda words: words[0])
def test_no_trace_here(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.tdbg").mkdir()
    assert main(words) == 2
    assert capsys.readouterr() == ("", "tdbg: there is no trace here; record one with: tdbg run train.py\n")


@pytest.mark.parametrize("words", [["why", "x.tdbg"], ["info", "x.tdbg"], ["sql", "x.tdbg", "SELECT 1"]])
def test_missing_trace(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "tdbg run -o x.tdbg" in capsys.readouterr().err


def test_newest_trace(tmp_path: Path) -> None:
    for age, name in enumerate(["b.tdbg", "a.tdbg", "c.tdbg"]):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trace.json").write_text("{}")
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / "no-trace.tdbg").mkdir()
    assert newest_trace(tmp_path).name == "b.tdbg"


def test_version_as_a_process(tmp_path: Path) -> None:
    ran = tdbg_process(["--version"], tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"tdbg {tdbg.__version__}\n", "")
