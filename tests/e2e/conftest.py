"""Traces of real programs, the real server, a real browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page, installed, opened

import tdbg

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
_EXAMPLES = {"tutorial": "debugger_v2_tutorial.py", "healthy": "healthy.py", "session": "session.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if installed() is None:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


def _environment() -> dict[str, str]:
    return os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(Path(tdbg.__file__).parents[1])}


@pytest.fixture(scope="session")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trace for each of three examples."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("traces")
    for name, example in _EXAMPLES.items():
        words = [
            sys.executable,
            "-m",
            "tdbg",
            "run",
            "-q",
            "-o",
            f"{folder / name}.tdbg",
            str(ROOT / "examples" / example),
        ]
        ran = subprocess.run(words, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=240)
        assert (folder / f"{name}.tdbg").is_dir(), ran.stderr
    return folder


@pytest.fixture(scope="session")
def address(traces: Path) -> Iterator[str]:
    """Where ``tdbg serve`` says it is, with the token."""
    words = [sys.executable, "-u", "-m", "tdbg", "serve", str(traces), "--no-browser", "--port", "6410"]
    with subprocess.Popen(
        words, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        found = None
        for line in server.stdout:
            if found := re.search(r"http://\S+", line):
                break
        assert found is not None, "tdbg serve printed no address"
        yield found[0]
        server.terminate()


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    """A new browser; its last picture is kept under build/screenshots. No test may end with a fault of the page."""
    with opened() as page:
        yield page
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(SCREENSHOTS / f"{request.node.name}.png")
        assert not page.faults
