"""Every example runs as it does in plain Python, and the verdict names the very line that its author marked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tdbg
from tdbg.__main__ import main

pytest.importorskip("tensorflow")

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCE = str(Path(tdbg.__file__).parents[1])


def marked_line(file: Path) -> int | None:
    lines = [number for number, line in enumerate(file.read_text().splitlines(), 1) if "# BUG" in line]
    assert len(lines) <= 1
    return lines[0] if lines else None


BROKEN = [file.name for file in sorted(EXAMPLES.glob("*.py")) if marked_line(file)]


# All of them in one process: TensorFlow takes longer to load than they run.
PLAIN = """
import contextlib, io, json, runpy, sys
printed = {}
for file in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(file, run_name="__main__")
    printed[file] = out.getvalue()
print(json.dumps(printed))
"""


def run(folder: Path, *words: str) -> str:
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    ran = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


class Runs:
    """What each example prints, plain and recorded, and its trace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = [str(EXAMPLES / name) for name in [*BROKEN, "healthy.py"]]
        with ThreadPoolExecutor(2) as pool:
            plain = pool.submit(run, folder, "-c", PLAIN, *files)
            self.recorded = dict(zip(files, pool.map(self._record, files), strict=True))
        self.plain = json.loads(plain.result())

    def _record(self, file: str) -> str:
        return run(self.folder, "-m", "tdbg", "run", "-o", str(self.trace(file)), file)

    def trace(self, file: str) -> Path:
        return self.folder / f"{Path(file).stem}.tdbg"

    def check(self, name: str) -> Path:
        """The trace of an example, whose output is that of plain Python."""
        file = str(EXAMPLES / name)
        assert _numbers(self.recorded[file]) == pytest.approx(_numbers(self.plain[file]), rel=1e-4, nan_ok=True)
        assert _words(self.recorded[file]) == _words(self.plain[file])
        return self.trace(file)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("examples"))


def _numbers(text: str) -> list[float]:
    """Observed graphs lose some of TensorFlow's fusions, so the last digits of a loss may differ."""
    return [float(word) for word in text.split() if _is_number(word)]


def _words(text: str) -> list[str]:
    return [word for word in text.split() if not _is_number(word)]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", BROKEN)
def test_the_verdict_names_the_marked_line(runs: Runs, capsys: pytest.CaptureFixture, name: str) -> None:
    trace = runs.check(name)
    assert main(["why", "--json", str(trace)]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert [(origin["file"], origin["line"]) for origin in verdict["origins"]] == [
        (str(EXAMPLES / name), marked_line(EXAMPLES / name))
    ]


def test_a_program_without_a_bug_has_no_trouble(runs: Runs, capsys: pytest.CaptureFixture) -> None:
    trace = runs.check("healthy.py")
    assert main(["why", "--json", str(trace)]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "clean"


def test_there_is_an_example_of_each_kind() -> None:
    assert {"eager_loop.py", "custom_loop.py", "keras_fit.py", "nested_loop.py"} <= set(BROKEN)
