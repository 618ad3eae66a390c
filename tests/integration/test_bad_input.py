"""Wrong words and damaged traces: one clear sentence with a next step, no traceback, nothing changed on disk."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tdbg
from tdbg.__main__ import main
from tdbg.store.format import VERSION, parse_name

SOURCE = str(Path(tdbg.__file__).parents[1])
PROGRAM = """\
import os, sys, time
import tensorflow as tf

@tf.function
def loss(x):
    return tf.reduce_sum(tf.math.log(x))

for n in range(3):
    loss(tf.constant([1.0, float(n)]))
if "die" in sys.argv:
    time.sleep(0.5)
    os._exit(0)
"""


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder and a digest of what is in it; folders too."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two real traces: sealed.tdbg of a program that ended, and hot.tdbg of one that died."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "train.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [[sys.executable, "-m", "tdbg", "run", "-q", "-o"]] * 2
    words = [[*words[0], "sealed.tdbg", "train.py"], [*words[1], "hot.tdbg", "train.py", "die"]]
    for process in [subprocess.Popen(each, cwd=folder, env=environment) for each in words]:
        assert process.wait(100) == 0
    assert list(folder.glob("sealed.tdbg/*/tensors-000001.parquet"))
    assert list(folder.glob("hot.tdbg/*/tensors-000001.arrows"))
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with both traces, and the current one."""
    shutil.copytree(recorded, tmp_path / "here")
    (tmp_path / "here" / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


# ---- wrong words

RUN = ["run", "-o", "new.tdbg"]
WORDS = {
    "unknown command": (["wy"], "there is no command 'wy'; did you mean: tdbg why"),
    "another unknown command": (["xyz"], "the commands are: run, why"),
    "script for a command": (["train.py"], "to record a program, run: tdbg run train.py"),
    "unknown option": (["why", "--colour"], "see: tdbg why --help"),
    "unknown script": ([*RUN, "nowhere.py"], "can't open file"),
    "unknown mode": ([*RUN, "--mode", "all", "train.py"], "choose one of: none, health, numerics, shape, full"),
    "bad expression": ([*RUN, "--ops", "Log(", "train.py"], "--ops 'Log(' is not a regular expression"),
    "bad range": ([*RUN, "--steps", "x:y", "train.py"], "write A:B, A:, :B or one number"),
    "empty range": ([*RUN, "--steps", "9:2", "train.py"], "its end must be larger"),
    "every 0": ([*RUN, "--every", "0", "train.py"], "at least 1"),
    "small ring": ([*RUN, "--ring", "63", "train.py"], "at least 64"),
    "trace exists": (["run", "-o", "sealed.tdbg", "train.py"], "to overwrite it, use --force"),
    "force on a folder that is no trace": (["run", "--force", "-o", ".", "train.py"], "only overwrites traces"),
    "missing trace": (["why", "nowhere.tdbg"], "record one with: tdbg run -o nowhere.tdbg"),
    "folder that is no trace": (["why", "plain"], "record one with: tdbg run"),
    "file for a trace": (["info", "train.py"], "a trace is a folder such as run.tdbg"),
    "two traces": (["why", "a", "b"], "see: tdbg why --help"),
    "wrong SQL": (["sql", "sealed.tdbg", "SELEC 1"], "SELEC"),
    "unknown table": (["sql", "sealed.tdbg", "SELECT * FROM tensor"], "tensors"),
    "unknown column": (["sql", "sealed.tdbg", "SELECT nam FROM ops"], "name"),
    "SQL that writes": (["sql", "sealed.tdbg", "COPY ops TO 'ops.csv'"], "SELECT"),
    "no query": (["sql"], 'tdbg sql [TRACE] "SELECT'),
    "unknown demo": (["demo", "nothing"], "digits"),
}


@pytest.mark.parametrize("name", WORDS)
def test_wrong_words(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    words, sentence = WORDS[name]
    assert_refused(words, sentence, folder, capsys)


def assert_refused(words: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tdbg: ")
    assert "Traceback" not in err
    assert err.count("\n") == 1, err
    assert sentence in err
    assert contents(folder) == before


def test_a_script_that_does_not_compile_is_pythons_to_report(folder: Path) -> None:
    (folder / "breaks.py").write_text("if 1:\nprint(1)\n")
    before = contents(folder)
    words = [["breaks.py"], ["-m", "tdbg", "run", "breaks.py"]]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    plain, ours = (
        subprocess.run([sys.executable, *each], capture_output=True, env=environment, timeout=240) for each in words
    )
    assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)
    assert contents(folder) == before


# ---- traces that are none


def _newer(trace: Path) -> None:
    (trace / "trace.json").write_text(json.dumps({"format": "tdbg", "version": VERSION + 1}))


def _emptied(trace: Path) -> None:
    for path in trace.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _without_processes(trace: Path) -> None:
    for path in trace.iterdir():
        if path.is_dir():
            shutil.rmtree(path)


NO_TRACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "newer version": (_newer, "pip install --upgrade tdbg"),
    "empty folder": (_emptied, "record one with: tdbg run"),
    "no process": (_without_processes, "record again with: tdbg run"),
    "no trace.json": (lambda trace: (trace / "trace.json").unlink(), "record one with: tdbg run"),
    "broken trace.json": (lambda trace: (trace / "trace.json").write_text("{"), '{"format":"tdbg","version":1}'),
    "other format": (lambda trace: (trace / "trace.json").write_text('{"version": 1}'), "names a different format"),
}


@pytest.mark.parametrize("name", NO_TRACES)
@pytest.mark.parametrize("words", [["why"], ["info", "--json"], ["sql"]], ids=" ".join)
def test_what_is_no_trace(folder: Path, capsys: pytest.CaptureFixture[str], name: str, words: list[str]) -> None:
    change, sentence = NO_TRACES[name]
    change(folder / "sealed.tdbg")
    query = ["SELECT 1"] if words == ["sql"] else []
    assert_refused([*words, "sealed.tdbg", *query], sentence, folder, capsys)


# ---- damaged files


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 16
    path.write_bytes(data)


DAMAGES = {"cut": _cut, "flip": _flip, "remove": Path.unlink}
COMMANDS = [["why"], ["info"], ["sql", "SELECT count(*) FROM tensors JOIN ops USING (process, op)"]]


@pytest.mark.parametrize("trace", ["sealed.tdbg", "hot.tdbg"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(folder: Path, capsys: pytest.CaptureFixture[str], trace: str, damage: str) -> None:
    pattern = "*/*" if trace == "sealed.tdbg" else "*/*-000001.arrows"
    files = sorted(path.relative_to(folder) for path in (folder / trace).glob(pattern))
    assert len(files) >= 3
    for file in files:
        whole = (folder / file).read_bytes()
        DAMAGES[damage](folder / file)
        before = contents(folder)
        for name, *query in COMMANDS:
            status = main([name, trace, *query])
            out, err = capsys.readouterr()
            said = f"{name} after {damage} of {file.name}: {status}\n{out}\n{err}"
            assert "Traceback" not in err, said
            is_said = err.count("\n") == 1 or (name == "why" and "cannot be read" in out and not err)
            assert (status in (0, 1) and out and not err) or (status == 2 and is_said), said
            if name == "why" and trace == "sealed.tdbg" and parse_name(file.name):
                assert "note: " in out, said
        assert contents(folder) == before
        (folder / file).write_bytes(whole)
