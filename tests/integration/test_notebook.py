"""A real kernel, asked as a notebook asks it: cells that are recorded, what is shown below them, what is kept."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tdbg

pytest.importorskip("tensorflow")
pytest.importorskip("ipykernel")
jupyter_client = pytest.importorskip("jupyter_client")

SOURCE = Path(tdbg.__file__).parents[1]

MODEL = """\
import tensorflow as tf
weights = tf.Variable([1.0, 2.0])

@tf.function
def loss(x):
    return tf.reduce_sum(tf.math.log(weights * x))
"""
NEAR = "from tdbg.notebook import cell_output; cell_output.reaches_loopback = lambda *_: True"
TRAINING = """\
%%tdbg -o cell.tdbg

with tf.GradientTape() as tape:
    value = loss(tf.constant([1.0, 0.0]))
note = "<script>" + str(bool(tf.math.is_inf(value)))
note
"""


@dataclass
class Shown:
    """What came back for one cell."""

    status: str = ""
    text: str = ""
    error: str = ""
    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)


class Kernel:
    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str) -> Shown:
        shown = Shown()

        def hear(message: dict[str, Any]) -> None:
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                shown.text += content["text"]
            elif kind == "error":
                shown.error += re.sub(r"\x1b\[[\d;]*m", "", "\n".join(content["traceback"]))
            elif kind in ("display_data", "execute_result"):
                shown.plain.append(content["data"].get("text/plain", ""))
                shown.html.append(content["data"].get("text/html", ""))

        reply = self._client.execute_interactive(code, output_hook=hear, timeout=240, store_history=True)
        shown.status = reply["content"]["status"]
        return shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


@contextmanager
def started(folder: Path) -> Iterator[Kernel]:
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(SOURCE)}
    places = {"IPYTHONDIR": "ipython", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime"}
    environment |= {name: str(folder / place) for name, place in places.items()}
    manager, client = jupyter_client.manager.start_new_kernel(cwd=str(folder), env=environment)
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[Kernel]:
    with started(folder) as kernel:
        kernel.run(NEAR)
        assert kernel.run("%load_ext tdbg").status == "ok"
        assert kernel.run(MODEL).status == "ok"
        yield kernel


def fetch(address: str) -> tuple[int, Any, str]:
    try:
        with urllib.request.urlopen(address, timeout=240) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def test_a_cell_is_recorded_and_explained(kernel, folder):
    cell = kernel.run(TRAINING)
    assert cell.status == "ok" and not cell.error
    assert "'<script>True'" in cell.plain  # its last expression, as in any cell
    verdict = next(text for text in cell.plain if "first bad value" in text)
    assert re.search(r"-> <cell \d+>:6 +return tf.reduce_sum\(tf.math.log", verdict)
    page = next(text for text in cell.html if "<iframe" in text)
    assert "&lt;cell" in page and "<cell" not in page

    address = html.unescape(re.search(r'<iframe src="([^"]+)"', page)[1])
    base, _, chosen = address.partition("#trace=")
    status, headers, text = fetch(base)
    assert status == 200 and 'src="start.js"' in text
    assert "X-Frame-Options" not in headers and "frame-ancestors" not in headers["Content-Security-Policy"]
    assert "first bad value" in fetch(f"{base}api/t/{chosen}/verdict")[2]
    origin = base.rsplit("/", 2)[0]
    assert fetch(f"{origin}/wrong-token/api/traces")[0] == 403
    assert fetch(f"{origin}/api/traces")[0] == 403

    sources = {row["file"]: row["text"] for row in tdbg.open(folder / "cell.tdbg").table("sources").to_pylist()}
    recorded = next(text for text in sources.values() if "GradientTape" in text)
    assert recorded.splitlines()[:4] == [*TRAINING.replace("%%tdbg", "# %%tdbg").splitlines()[:4]]
    assert any("tf.math.log(weights * x)" in text for text in sources.values())


def test_an_error_is_the_cell_s_own(kernel, folder):
    cell = kernel.run("%%tdbg -o failed.tdbg\nx = tf.constant([0.0])\n1 / 0\n")
    assert cell.status == "error" and "ZeroDivisionError" in cell.error
    assert "----> 3 1 / 0" in cell.error or "3 1 / 0" in cell.error
    assert "tdbg/notebook" not in cell.error
    assert (folder / "failed.tdbg" / "trace.json").exists()
    assert kernel.run("x.shape").status == "ok"  # what it assigned is there


def test_a_cell_with_await(kernel, folder):
    """It runs on the kernel's event loop, and what it awaits is recorded as everything else."""
    kernel.run("import asyncio\nasync def later(x):\n    await asyncio.sleep(0)\n    return x")
    cell = kernel.run(
        "%%tdbg -o awaited.tdbg\nx = await later(tf.constant([0.0]))\n"
        "task = asyncio.get_running_loop().create_task(later(5))\n"
        "y = tf.math.log(x)\nawait task\n"
    )
    assert cell.status == "ok" and not cell.error
    assert "5" in cell.plain  # the value of its last expression
    verdict = next(text for text in cell.plain if "first bad value" in text)
    assert re.search(r"-> <cell \d+>:4 +y = tf.math.log\(x\)", verdict)
    assert kernel.run("(float(y[0]), 'tdbg' in str(task))").plain == ["(-inf, False)"]

    failed = kernel.run("%%tdbg -o awaited_failed.tdbg\nz = await later(1)\n\n1 / 0\n")
    assert failed.status == "error" and "ZeroDivisionError" in failed.error and "4 1 / 0" in failed.error
    assert "tdbg/notebook" not in failed.error
    ended = kernel.run("%tdbg off")
    assert "nothing is being recorded" in ended.error + ended.text
    plain = kernel.run("%%tdbg -o plain.tdbg\nasync def inner():\n    await later(1)\ntf.math.log(tf.zeros([1]))\n")
    assert plain.status == "ok" and any("first bad value" in text for text in plain.plain)
    kernel.run("%autoawait off")
    assert "SyntaxError" in kernel.run("%%tdbg -o never.tdbg\nawait later(1)\n").error
    kernel.run("%autoawait asyncio")


def test_on_and_off_and_the_rest(kernel, folder):
    assert kernel.run("%tdbg on -o several.tdbg --mode full").status == "ok"
    kernel.run("a = tf.constant([4.0])")
    kernel.run("b = tf.math.log(a - 4.0)")
    assert "<iframe" in "".join(kernel.run("%tdbg serve").html)
    off = kernel.run("%tdbg off")
    assert "Log" in "".join(off.plain) and "b = tf.math.log(a - 4.0)" in "".join(off.plain)
    again = kernel.run("%tdbg why several.tdbg")
    assert "first bad value" in again.plain[0] and "<iframe" not in again.html[0]
    assert tdbg.open(folder / "several.tdbg").processes[0].info["mode"] == "full"

    far = kernel.run("cell_output.reaches_loopback = lambda *_: False\n%tdbg serve several.tdbg").html[0]
    kernel.run(NEAR)
    assert far.startswith("<iframe srcdoc=") and "http://127.0.0.1" not in far
    assert "tdbg report: several.tdbg" in html.unescape(far)

    for code, sentence in {
        "%tdbg off": "nothing is being recorded",
        "%tdbg sideways": "write on, off, why or serve",
        "%%tdbg --mode everything\n1": "unknown mode 'everything'",
        "%%tdbg --wrong\n1": "--wrong",
        "%%tdbg train.py\n1": "only flags are allowed here",
        "%%tdbg -o several.tdbg\n1": "this already exists",
        "%%tdbg --web\n1": "leave it out",
        "%tdbg why nowhere.tdbg": "nowhere.tdbg",
    }.items():
        refused = kernel.run(code)
        assert sentence in refused.error + refused.text, (code, refused)
        assert "Traceback" not in refused.error
    assert "tdbg run" in kernel.run("%tdbg").text


def test_a_recording_that_has_nothing_yet(tmp_path):
    with started(tmp_path) as kernel:
        kernel.run(f"{NEAR}\n%load_ext tdbg")
        for question in ("%tdbg why", "%tdbg serve"):
            assert "there is no trace here" in kernel.run(question).text
        assert kernel.run("%tdbg on -o first.tdbg").status == "ok"
        for question in ("%tdbg why", "%tdbg serve"):
            assert "nothing has been recorded yet: TensorFlow has not been imported" in kernel.run(question).text
        assert "nothing was recorded" in kernel.run("%tdbg off").text
    assert not (tmp_path / "first.tdbg").exists()


def test_ipython_in_a_terminal(tmp_path):
    """The verdict as text, and no server."""
    (tmp_path / "session.ipy").write_text(
        "%load_ext tdbg\nimport tensorflow as tf\n"
        "get_ipython().run_cell_magic('tdbg', '-o t.tdbg', 'tf.math.log(tf.constant([0.0]))\\n')\n"
        "print('server' if 'tdbg.web.server' in __import__('sys').modules else 'no server')\n"
    )
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(SOURCE), "IPYTHONDIR": str(tmp_path)}
    words = [sys.executable, "-m", "IPython", "--colors=NoColor", "session.ipy"]
    ran = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert "first bad value" in ran.stdout and "tf.math.log" in ran.stdout, ran
    assert ran.stdout.splitlines()[-1] == "no server" and "<pre" not in ran.stdout


def test_the_page_about_notebooks(tmp_path):
    """Its cells in a kernel of their own, in their order: what it shows below a cell is what comes."""
    page = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^<!-- (cell|below the cell) -->\n```text\n(.*?)^```$", page, re.M | re.S)
    assert [kind for kind, _ in blocks].count("cell") == page.count("\n<!-- cell -->")
    with started(tmp_path) as kernel:
        below = ""
        for kind, text in blocks:
            if kind == "cell":
                cell = kernel.run(text)
                assert cell.status == "ok", cell
                below = "\n".join(cell.plain)
            else:
                assert not [line for line in text.splitlines() if line not in below.splitlines()], below
