"""Traces of real programs, the real server, a real browser."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from chromium import Browser, Page, installed, opened

import tdbg

ROOT = Path(__file__).parents[2]
ARTEFACTS = Path(__file__).parent / "artefacts"
_PROGRAMS = Path(__file__).parent / "programs"
_LAYERS = str(_PROGRAMS / "layers.py")
_RUNS = {
    "tutorial": [str(ROOT / "examples" / "debugger_v2_tutorial.py")],
    "healthy": [str(ROOT / "examples" / "healthy.py")],
    "unhealthy": [str(ROOT / "tests" / "corpus" / "programs" / "dead_relu.py")],
    "session": [str(ROOT / "examples" / "session.py")],
    "slow": ["--mode", "full", _LAYERS, "0.05"],
    "fast": ["--mode", "full", _LAYERS, "0.5"],
    "more": ["--mode", "full", _LAYERS, "0.05", "more"],
    "two": [str(_PROGRAMS / "two_processes.py")],
    "wide": ["--mode", "full", str(_PROGRAMS / "wide.py")],
    "inference": [str(_PROGRAMS / "inference.py")],
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if installed() is None:
        reason = "no Chromium on this machine: make browser installs it"
        for item in items:
            if Path(__file__).parent in item.path.parents and {"page", "browser"} & set(item.fixturenames):  # type: ignore[attr-defined]
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Of programs that are recorded, and of the server."""
    return os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(Path(tdbg.__file__).parents[1])}


@pytest.fixture(scope="session")
def traces(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A folder with a trace of each program. Test processes that run at once share it: the first one records."""
    pytest.importorskip("tensorflow")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "traces"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, words in _RUNS.items():
            path = folder / f"{name}.tdbg"
            if path.exists():
                continue
            command = [sys.executable, "-m", "tdbg", "run", "-q", "-o", str(path), *words]
            ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
            assert path.is_dir(), ran.stderr
    return folder


@pytest.fixture(scope="session")
def address(traces: Path, environment: dict[str, str]) -> Iterator[str]:
    """Where ``tdbg serve`` says it is, with the token."""
    words = [sys.executable, "-u", "-m", "tdbg", "serve", str(traces), "--no-browser", "--port", "0"]
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        found = None
        for line in server.stdout:
            if found := re.search(r"http://\S+", line):
                break
        assert found is not None, "tdbg serve printed no address"
        yield found[0]
        server.terminate()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


# With TDBG_LATE=1 the server's answers come late, and in another order than they were asked for.
_LATE = """
const ask = fetch;
window.fetch = async (...what) => {
  const answer = await ask(...what);
  await new Promise(done => setTimeout(done, 1500 * Math.random() ** 2));
  return answer;
};
"""


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """A new tab, which saves into the test's folder. Its last picture is kept. In no test may the page's code fail, do
    what its policy forbids, or ask another host."""
    with browser.page(tmp_path) as page:
        if os.environ.get("TDBG_LATE"):
            page.on_every_page(_LATE)
        yield page
        ARTEFACTS.mkdir(exist_ok=True)
        name = re.sub(r"[^\w-]+", "-", request.node.name)
        page.screenshot(ARTEFACTS / f"{name}.png")
        assert not page.faults
        asked = [url for url in page.requests if not url.startswith(("data:", "blob:", "about:"))]
        assert {urlsplit(url).hostname for url in asked} <= {"127.0.0.1", "localhost"}
