"""The page beside a program that still runs: it grows, and the verdict comes by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from chromium import Page

PROGRAM = """\
import sys

import tensorflow as tf

weights = tf.Variable(tf.ones([4, 3]))
for step in range(8):
    if step == 4:
        sys.stdin.readline()  # until the test has seen the page
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(weights - (1.0 if step > 4 else 0.0)))
    weights.assign_sub(0.0 * tf.ones_like(tape.gradient(loss, weights)))
"""


def test_the_page_grows_with_the_program(page: Page, traces: Path, address: str, environment: dict[str, str]) -> None:
    (traces / "growing.py").write_text(PROGRAM)
    words = [sys.executable, "-m", "tdbg", "run", "-q", "-o", "growing.tdbg", "growing.py"]
    with subprocess.Popen(words, cwd=traces, env=environment, stdin=subprocess.PIPE) as program:
        page.go(f"{address}#trace=tutorial")
        page.wait("[...document.querySelectorAll('#trace option')].some(o => o.value === 'growing')", "a new trace")
        page.value("location.hash = 'trace=growing'")
        page.wait_text(".verdict", "No bad values")
        page.wait_text(".live", "live")
        before = page.text("#pane-steps .count")
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.flush()
        page.wait_text(".verdict", "Bad values began at step 5")
        page.wait(f"document.querySelector('#pane-steps .count').innerText !== {before!r}", "more steps")
        page.wait("!document.querySelector('.live')", "it has ended")
