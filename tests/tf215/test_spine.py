"""``tdbg run`` on TensorFlow 2.15: the line of the bug, in TensorFlow 2 and in Sessions of Estimators, Keras, slim."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOSTS = HERE.parents[1] / "src" / "tdbg" / "examples"
PROGRAMS = [HERE.parents[1] / "examples" / "custom_loop.py", HERE.parents[1] / "examples" / "keras_fit.py"]
PROGRAMS += [HERE / "programs" / "nan_in_training.py", HOSTS / "debug_keras.py", HOSTS / "debug_slim.py"]


def marked_line(file: Path) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if "# BUG" in line)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, subprocess.CompletedProcess]:
    folder = tmp_path_factory.mktemp("spine")

    def run(file: Path) -> subprocess.CompletedProcess:
        words = [sys.executable, "-m", "tdbg", "run", "--json", "-o", f"{file.stem}.tdbg", str(file)]
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(PROGRAMS, pool.map(run, PROGRAMS), strict=True))


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.name)
def test_the_verdict_names_the_marked_line(runs: dict[Path, subprocess.CompletedProcess], file: Path) -> None:
    ran = runs[file]
    assert ran.returncode == 0, ran.stderr
    verdict = json.loads(ran.stderr.splitlines()[-1])
    origin = verdict["origins"][0]
    assert (origin["file"], origin["line"]) == (str(file), marked_line(file))
