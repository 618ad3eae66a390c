"""The plugin in a real TensorBoard, over HTTP: with traces below the logdir, and without."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tdbg

pytest.importorskip("tensorboard")
pytest.importorskip("tensorflow")

ROOT = Path(__file__).parents[2]
SOURCE = Path(tdbg.__file__).parents[1]
PLUGIN = "data/plugin/tdbg"
PROGRAM = """\
import tensorflow as tf

for step in range(3):
    tf.math.log(tf.constant([1.0, 0.0]) * float(step))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """As if tdbg, as it is here, were installed: its entry points are those of pyproject.toml."""
    folder = tmp_path_factory.mktemp("installed")
    about = folder / f"tdbg-{tdbg.__version__}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tdbg\nVersion: {tdbg.__version__}\n")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [line for group in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in groups[group].items()))]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return os.environ | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)]),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


@contextmanager
def tensorboard(logdir: Path, environment: dict[str, str], *flags: str) -> Iterator[tuple[str, list[str]]]:
    """Its address, and the lines that it has printed so far."""
    words = [sys.executable, "-u", "-m", "tensorboard.main", "--port", "0", "--host", "127.0.0.1", *flags]
    said: list[str] = []
    with subprocess.Popen(
        [*words, "--logdir", str(logdir)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"http://\S+", line):
                    break
            else:
                pytest.fail("".join(said))
            reader = threading.Thread(target=lambda: said.extend(process.stdout or ()))
            reader.start()
            yield found[0], said
        finally:
            process.terminate()
        reader.join()


def ask(address: str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(address, timeout=240) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def get(address: str) -> Any:
    status, _, body = ask(address)
    assert status == 200, (address, status, body)
    return json.loads(body)


def listed_traces(address: str, wanted: int) -> list[dict[str, Any]]:
    """Once there are so many: what is imported comes when it is ready. The page is told by an event; so is this."""
    found = get(f"{address}{PLUGIN}/api/traces")
    with urllib.request.urlopen(f"{address}{PLUGIN}/api/events", timeout=240) as events:
        for line in events:
            if line.startswith(b"event: traces"):
                found = get(f"{address}{PLUGIN}/api/traces")
            if len(found) >= wanted:
                return found
    return found


def test_a_logdir_with_traces(tmp_path, environment):
    (tmp_path / "train.py").write_text(PROGRAM)
    tdbg_ = [sys.executable, "-m", "tdbg"]
    trace = tmp_path / "logs" / "first" / "run.tdbg"
    for words in (
        ["run", "-q", "-o", str(trace), "train.py"],
        ["export", "--format", "tfdbg2", str(trace), "logs/second/events"],
    ):
        subprocess.run([*tdbg_, *words], cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=240)

    with tensorboard(tmp_path / "logs", environment, "--path_prefix", "/board") as (address, said):
        plugin = get(f"{address}data/plugins_listing")["tdbg"]
        assert plugin["enabled"] and plugin["tab_name"] == "tdbg"
        assert plugin["loading_mechanism"] == {"type": "IFRAME", "module_path": f"/board/{PLUGIN}/tensorboard.js"}

        entry = ask(f"{address}data/plugin_entry.html?name=tdbg")[2].decode()
        assert 'href="plugin/tdbg/"' in entry and "./tensorboard.js" in entry
        files = {name: ask(f"{address}{PLUGIN}/{name}") for name in ("tensorboard.js", "index.js", "style.css")}
        for name, (status, headers, body) in files.items():
            assert status == 200 and body == (SOURCE / "tdbg/web/static" / name).read_bytes()
            assert headers["x-content-type-options"] == "nosniff" and "x-frame-options" not in headers

        traces = listed_traces(address, 2)
        assert {one["name"] for one in traces if not one["name"].startswith("events-")} == {"run.tdbg"}
        assert len(traces) == 2 and not any(one["error"] for one in traces)
        for one in traces:
            verdict = get(f"{address}{PLUGIN}/api/t/{one['id']}/verdict")
            assert any("train.py:4" in line for line in verdict["lines"])

        status, _, body = ask(f"{address}{PLUGIN}/api/t/nothing/verdict")
        assert status == 404 and set(json.loads(body)) == {"error", "next"}
        assert ask(f"{address}{PLUGIN}/../../../etc/passwd")[0] == 404
    warnings = [line for line in said if "warning will become an error" in line or "Traceback" in line]
    assert not warnings, said


def test_a_logdir_without_traces(tmp_path, environment):
    (tmp_path / "run_1").mkdir()
    (tmp_path / "run_1" / "trace.json").write_text("{}")
    with tensorboard(tmp_path, environment) as (address, said):
        assert get(f"{address}data/plugins_listing")["tdbg"]["enabled"] is False
        assert get(f"{address}{PLUGIN}/api/traces") == []
    assert not [line for line in said if "tdbg" in line]
