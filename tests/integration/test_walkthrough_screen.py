"""The same search on the screen, in a real terminal: names and lines are clicked on, and lead where they say."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from tmux_terminal import TmuxTerminal

import tdbg.examples

PROGRAM = Path(tdbg.examples.__path__[0]) / "debug_mnist.py"
BUG = next(n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "# BUG" in line)


def test_the_search_by_clicks(tmp_path: Path) -> None:
    with TmuxTerminal(tmp_path, 120, 60) as terminal:
        terminal.type("python -m tdbg.examples.debug_mnist --debug --ui_type=curses --max_steps 3")
        terminal.wait_for("run-start: run #1", "Feed dict", "input_xs:0")
        terminal.type("run")
        terminal.wait_for("run-end: run #1", "hidden/Relu:0")
        terminal.type("run -f has_inf_or_nan")
        terminal.wait_for("run-end: run #4", 'passing filter "has_inf_or_nan"', "train/gradients")
        terminal.click("cross_entropy/mul:0")
        terminal.wait_for('Tensor "cross_entropy/mul:0:DebugIdentity"', "node_info")
        terminal.type("prev")
        terminal.wait_for("cross_entropy/Neg:0", "-inf ×")
        terminal.type("pt -s cross_entropy/Log:0")
        terminal.wait_for("Numeric summary:", "| -inf    - ")
        terminal.type("/inf")
        terminal.wait_for("-inf")
        terminal.click("node_info")  # the menu shows the stack, too
        terminal.wait_for("Node cross_entropy/Log", "[Softmax] Softmax", "Traceback of node construction", "tf.log(y)")
        terminal.click("] Softmax")
        terminal.wait_for("Node Softmax")
        terminal.type("ni -t cross_entropy/Log")
        terminal.wait_for("Node cross_entropy/Log", f"Line:     {BUG}")
        terminal.click(f" {BUG}")  # the number of the line
        terminal.wait_for(f"L{BUG}", "cross_entropy/Log", "diff = -(")
        terminal.type("why")
        terminal.wait_for("first bad value", f"debug_mnist.py:{BUG}", "log(0)")
        terminal.type("exit")
        terminal.wait_for("Calling sys.exit(1)", gone="Traceback")


@pytest.mark.parametrize("program", ["debug_errors --error shape_mismatch", "debug_fibonacci"])
def test_other_examples_have_the_screen_too(program: str, tmp_path: Path) -> None:
    with TmuxTerminal(tmp_path, 120, 40) as terminal:
        terminal.type(f"python -m tdbg.examples.{program} --debug --ui_type=screen; echo it ended")
        terminal.wait_for("run-start: run #1")
        terminal.type("run")
        if "errors" in program:
            terminal.wait_for("An error occurred during the run", "Op:  product (BatchMatMulV2)", "Created at:")
        else:
            terminal.wait_for("run-end: run #1", "number_20:0")
        terminal.type("run")
        terminal.wait_for(
            "it ended", "InvalidArgumentError" if "errors" in program else "Fibonacci number 50: -298632863"
        )
