"""``tdbg report`` on real traces: the file stands alone, says what the verdict says, and draws every step."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import tdbg
from tdbg.__main__ import main
from tdbg.query.over_time.curves import Curves
from tdbg.report.page import build

pytest.importorskip("tensorflow")

EXAMPLES = Path(__file__).parents[2] / "examples"
VOID = {"meta", "br", "hr"}


class Page(HTMLParser):
    """The tree of a page as a list of (tag, attributes), its text, and whether every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def attributes(self, tag: str) -> list[dict[str, Any]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def check_stands_alone(self) -> None:
        assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a"} & {
            t for t, _ in self.tags
        }
        for _, attributes in self.tags:
            assert not {"src", "href", "srcset", "action"} & attributes.keys()
            assert not [name for name in attributes if name.startswith("on")]
            assert "url(" not in str(attributes.get("style"))


def run(folder: Path, *words: str) -> None:
    source = str(Path(tdbg.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "tdbg", "run", "-q", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    for name in ("custom_loop", "keras_fit", "healthy"):
        run(folder, "-o", f"{name}.tdbg", str(EXAMPLES / f"{name}.py"))
    return folder


def page_of(traces: Path, name: str) -> Page:
    text = build(tdbg.open(traces / f"{name}.tdbg"))
    assert not re.search(r"https?://|@import|url\(", text)
    page = Page(text)
    page.check_stands_alone()
    return page


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "custom_loop",
            ["Log → -inf", "log_of_zero", "log_softmax computes both in one", "probabilities = tf.nn.softmax"],
        ),
        ("keras_fit", ["Log → NaN", "log_of_negative", "def poisson_loss"]),
    ],
)
def test_a_report_says_what_the_verdict_says(traces: Path, name: str, said: list[str]) -> None:
    page = page_of(traces, name)
    source = (EXAMPLES / f"{name}.py").read_text().splitlines()
    marked = next(line for line in source if "# BUG" in line)
    for text in [*said, " ".join(marked.split()), "What was checked, and what was not", "tensorflow 2."]:
        assert text in page.text
    here = [attributes for attributes in page.attributes("span") if attributes.get("class") == "here"]
    assert len(here) == 1


def test_every_step_is_drawn(traces: Path) -> None:
    """custom_loop: two steps before the numbers are gone, and a mark for each step with bad ones."""
    page = page_of(traces, "custom_loop")
    trace = tdbg.open(traces / "custom_loop.tdbg")
    curves = Curves(trace, 0)
    steps = len(set(trace.table("tensors", ["step"])["step"].to_pylist()))
    loss, weights = curves.loss(), curves.weights_by_step()
    assert loss is not None and len(loss.points) == steps == 30
    assert [len(curve.points) for curve in weights] == [steps] * 2
    assert sum(point.value is not None for point in weights[0].points) < steps
    assert {"custom_loop.py:19", "custom_loop.py:21"} <= {Path(c.name).name for c in curves.gradient_by_layer()}
    titles = [attributes["aria-label"] for attributes in page.attributes("svg")]
    assert titles == ["Where it began: Log", "Its input 0: Softmax", "Loss", "Gradient by layer", "Weights"]
    finite = [p for c in [loss, *weights, *curves.gradient_by_layer()] for p in c.points if p.value is not None]
    assert len(page.attributes("circle")) >= len(finite)
    drawn = [int(attributes["data-points"]) for attributes in page.attributes("path") if "data-points" in attributes]
    assert sum(point.value is not None for point in weights[0].points) in drawn


def test_a_norm_is_the_norm(tmp_path: Path) -> None:
    import numpy as np
    import tensorflow as tf

    values = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    weights = tf.Variable(values, name="weights")
    with tdbg.watch(tmp_path / "run.tdbg"):
        tf.function(lambda: tf.reduce_sum(weights * 2.0))()
    (curve,) = Curves(tdbg.open(tmp_path / "run.tdbg"), 0).weights_by_step()
    (point,) = curve.points
    assert point.value == pytest.approx(float(np.linalg.norm(values)), rel=1e-5)
    assert point.bad == 0


def test_a_clean_trace_says_what_was_looked_at(traces: Path) -> None:
    page = page_of(traces, "healthy")
    assert "No bad values in" in page.text
    assert "Loss" in [attributes["aria-label"] for attributes in page.attributes("svg")]


HOSTILE = """
import tensorflow as tf
with tf.name_scope("scope"):
    pass

@tf.function
def f(x):
    return tf.math.log(x, name="log")  # </pre><script>alert(1)</script> <img src=x onerror=alert(2)> & "quotes' \\u202e

f(tf.constant([-1.0]))
"""


def test_hostile_names_and_texts_are_only_text(tmp_path: Path) -> None:
    folder = tmp_path / "<b onclick=x>&amp;'\""
    folder.mkdir()
    (folder / "<script>alert(1).py").write_text(HOSTILE, encoding="utf-8")
    run(folder, "-o", "<svg onload=x>.tdbg", "./<script>alert(1).py", "</dd><script>alert(3)</script>")
    text = build(tdbg.open(folder / "<svg onload=x>.tdbg"))
    page = Page(text)
    page.check_stands_alone()
    assert "<script" not in text and "onload=x>" not in text.replace("&lt;svg onload=x&gt;", "")
    assert "</pre><script>alert(1)</script> <img src=x onerror=alert(2)> & \"quotes'" in page.text
    assert "</dd><script>alert(3)</script>" in page.text
    assert "<svg onload=x>.tdbg" in page.text


def test_the_command_writes_a_file_once(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    trace = str(traces / "healthy.tdbg")
    assert main(["report", trace]) == 0
    assert capsys.readouterr().out == "healthy.html\n"
    assert main(["report", trace]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["report", "--force", trace]) == 0
    assert main(["report", "-o", "nowhere/report.html", trace]) == 2
    assert "cannot write the report" in capsys.readouterr().err
    assert Path("healthy.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
