"""The search for a NaN that tfdbg's guide walks through, command by command, typed at the prompt of debug_mnist."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tensorflow")

from transcript import Transcript, run_program

import tdbg.examples

PROGRAM = Path(tdbg.examples.__path__[0]) / "debug_mnist.py"
LOG, SOFTMAX, RELU = "cross_entropy/Log:0", "Softmax:0", "hidden/Relu:0"
FIRST_RUN = [
    "lt", "run", "lt", f"pt {RELU}", "run -n", "run -f has_inf_or_nan",
]  # fmt: skip
AT_THE_BAD_RUN = [
    # the table of commands
    "lt -n Softmax.*", "lt -t MatMul", "lt -f has_inf_or_nan", "lt -s dump_size", "lt -r -s dump_size",
    "lt -s tensor_name", "lt -s op_type", "lt -f has_inf_or_nan -fenn cross_entropy",
    "lt -f 'nan > 0 and op == \"Mul\"'",
    f"pt {RELU}[0:50,:]", f"pt -a {RELU}[0:2,:]", f"pt {RELU} -r [[-inf,-1],[1,inf]]", f"pt -n 0 {RELU}",
    f"pt -s {RELU}[0:50,:]", f"pt -s {RELU} -w relu.npy", "@[10,0]", "@10,0",
    "pf input_xs:0", "pf -s input_ys:0",
    f'eval "np.matmul((`output/Identity:0` / `{SOFTMAX}`).T, `{SOFTMAX}`)"',
    f"eval -a 'np.sum(`{SOFTMAX}`, axis=1)'", f"eval -a 'np.sum(`{SOFTMAX}`, axis=1)' -w softmax_sum.npy",
    "ni -a hidden/Relu", "ni -d hidden/Relu", "ni -t hidden/Relu",
    f"li -r {RELU}", f"li -r -d 2 {RELU}", f"li -c -r {RELU}", f"li -t -r {RELU}",
    f"lo -r {RELU}", f"lo -r -d 1 {RELU}", f"lo -c -r {RELU}", f"lo -t -r {RELU}",
    "ls -p .*debug_mnist.*", "ls -n Softmax.*",
    f"ps {PROGRAM}", f"ps -t {PROGRAM}", f"ps -b 30 {PROGRAM}", f"ps -m 1 {PROGRAM}",
    "ri", "config set graph_recursion_depth 3", "config show", "help", "help lt", "mouse off",
    # other features
    f"pt {LOG}[:, 0:10] > xent_value_slices.txt",
    # finding nans and infs
    f"pt {LOG}", "/inf", "/(inf|nan)", "/", f"pt -s {LOG}", "ni cross_entropy/Log", f"pt {SOFTMAX}", "/0\\.000",
    "ni -t cross_entropy/Log",
    # what the guide's tool could not do
    f"pt -n 0 -s {LOG}", f"pt {LOG}[-1,-3:]", "pt hiden/Relu:0", "bogus", "why",
]  # fmt: skip
AFTERWARDS = ["run --node_name_filter Softmax.*", "run --op_type_filter Variable.*|ReadVariable.*"]
AFTERWARDS += [
    "run --tensor_dtype_filter int.*",
    "run -t 3",
    "run -p",
    "lp",
    "lp -t MatMul",
    f"ps {PROGRAM.name}",
    "exit",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walkthrough")


@pytest.fixture(scope="module")
def typed(folder: Path) -> Transcript:
    words = ["-m", "tdbg.examples.debug_mnist", "--debug", "--ui_type", "readline"]
    said = run_program(words, [*FIRST_RUN, *AT_THE_BAD_RUN, *AFTERWARDS], folder)
    assert said.commands == [*FIRST_RUN, *AT_THE_BAD_RUN, *AFTERWARDS], said.errors
    return said


def bug_line() -> int:
    return next(n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "# BUG" in line)


def tensors_in(listing: str) -> list[str]:
    return re.findall(r"^ *\[\d+\.\d+\] +\d+ +\S+ +(\S+)", listing, re.M)


def test_before_the_first_run(typed: Transcript) -> None:
    assert typed.before.startswith("run-start: run #1: 1 fetch (accuracy/Mean:0); 2 feeds\n")
    assert "accuracy/Mean:0" in typed.before and "input_xs:0" in typed.before and "has_inf_or_nan" in typed.before
    assert "no tensors yet; type run" in typed.shown[0]


def test_run_shows_the_tensors_of_the_run(typed: Transcript) -> None:
    shown = typed.of("run")
    assert shown.startswith("run-end: run #1: 1 fetch (accuracy/Mean:0); 2 feeds\n")
    assert {RELU, SOFTMAX, "accuracy/Mean:0"} <= set(tensors_in(shown)) and "nan" not in shown
    assert typed.shown[2].splitlines() == shown.splitlines()[1:]  # lt lists them again
    assert "Accuracy at step 0" in typed.of("run -n")  # which ends before the next run


def test_run_until_a_filter_passes(typed: Transcript) -> None:
    shown = typed.of("run -f has_inf_or_nan")
    assert "run-end: run #4: 1 fetch (train/Adam); 2 feeds\n" in shown
    assert re.search(r"\d+ of \d+ dumped tensor\(s\) passing filter \"has_inf_or_nan\":", shown)
    assert tensors_in(shown)[0] == LOG
    assert f"first bad tensor: {LOG}, -inf ×" in shown and f" -> debug_mnist.py:{bug_line()}  diff = -(" in shown


def test_listing_tensors(typed: Transcript) -> None:
    bad = tensors_in(typed.of("lt -f has_inf_or_nan"))
    assert bad == tensors_in(typed.of("run -f has_inf_or_nan")) and len(bad) > 10
    assert tensors_in(typed.of("lt -n Softmax.*")) == [SOFTMAX]
    products = set(tensors_in(typed.of("lt -t MatMul")))  # a product may be computed with what follows it
    for layer in ("hidden", "output"):
        inside = re.search(rf"{layer}/MatMul inside (\S+) ", typed.of("lt -t MatMul"))
        assert (f"{inside[1]}:0" if inside else f"{layer}/MatMul:0") in products
    assert SOFTMAX not in tensors_in(typed.of("lt -t MatMul"))
    sizes = [int(size) for size in re.findall(r"^ *\[[\d.]+\] +(\d+)", typed.of("lt -s dump_size"), re.M)]
    assert sizes == sorted(sizes) and len(sizes) > 50
    largest_first = re.findall(r"^ *\[[\d.]+\] +(\d+)", typed.of("lt -r -s dump_size"), re.M)
    assert [int(size) for size in largest_first] == sizes[::-1]
    names = tensors_in(typed.of("lt -s tensor_name"))
    assert [name.rpartition(":")[0] for name in names] == sorted(name.rpartition(":")[0] for name in names)
    kinds = re.findall(r"^ *\[[\d.]+\] +\d+ +(\S+)", typed.of("lt -s op_type"), re.M)
    assert kinds == sorted(kinds)
    fewer = tensors_in(typed.of("lt -f has_inf_or_nan -fenn cross_entropy"))
    assert fewer == [name for name in bad if not name.startswith("cross_entropy")]
    assert "cross_entropy/mul:0" in tensors_in(typed.of("lt -f 'nan > 0 and op == \"Mul\"'"))


def test_printing_tensors(typed: Transcript, folder: Path) -> None:
    assert f'Tensor "{RELU}:DebugIdentity[0:50,:]":\n  dtype: float32\n  shape: (50, 500)\n' in typed.of(
        f"pt {RELU}[0:50,:]"
    )
    assert "..." in typed.of(f"pt {RELU}[0:50,:]") and "..." not in typed.of(f"pt -a {RELU}[0:2,:]")
    assert "shape: (100, 500)" in typed.of(f"pt {RELU} -r [[-inf,-1],[1,inf]]")
    assert "shape: (100, 500)" in typed.of(f"pt -n 0 {RELU}")
    assert re.search(r"\|\s+0\s+\+ \| total \|\n\|[\d\s]+\| 25000 \|\n\|\s+min\s+max\s+mean\s+std \|", typed.of(
        f"pt -s {RELU}[0:50,:]"
    ))  # fmt: skip
    assert np.load(folder / "relu.npy").shape == (100, 500)
    for element in ("@[10,0]", "@10,0"):
        assert "ERROR" not in typed.of(element) and "[10, " in typed.of(element)
    assert "dtype: float32\n  shape: (100, 784)" in typed.of("pf input_xs:0")
    assert "Numeric summary:" in typed.of("pf -s input_ys:0") and "int64" in typed.of("pf -s input_ys:0")
    assert not [line for line in (folder / "xent_value_slices.txt").read_text().splitlines() if "tdbg>" in line]
    assert "shape: (100, 10)" in (folder / "xent_value_slices.txt").read_text()


def test_eval(typed: Transcript, folder: Path) -> None:
    product = next(shown for command, shown in zip(typed.commands, typed.shown, strict=True) if "np.matmul" in command)
    assert "shape: (10, 10)" in product  # of a tensor that the runtime left out, and its input stands for
    assert "shape: (100,)" in typed.of(f"eval -a 'np.sum(`{SOFTMAX}`, axis=1)'")
    assert np.load(folder / "softmax_sum.npy") == pytest.approx(np.ones(100), abs=1e-5)


def test_nodes_and_edges(typed: Transcript) -> None:
    assert "Op: Relu" in typed.of("ni -a hidden/Relu") and "T: float32" in typed.of("ni -a hidden/Relu")
    assert "1 dumped tensor(s):" in typed.of("ni -d hidden/Relu")
    made = typed.of("ni -t hidden/Relu")
    assert (
        "Traceback of node construction:" in made and "return activation(tf.matmul(inputs, weights) + biases)" in made
    )
    whole, short = typed.of(f"li -r {RELU}"), typed.of(f"li -r -d 2 {RELU}")
    assert "(1) hidden/add\n" in whole and "hidden/weights" in whole and "input_xs" in whole
    assert "hidden/weights" not in short and "Depth limit = 2" in short
    assert "control inputs included" in typed.of(f"li -c -r {RELU}")
    assert "[AddV2] hidden/add" in typed.of(f"li -t -r {RELU}")
    assert "output/MatMul" in typed.of(f"lo -r {RELU}") and SOFTMAX[:-2] in typed.of(f"lo -r {RELU}")
    assert SOFTMAX[:-2] not in typed.of(f"lo -r -d 1 {RELU}")
    assert "control recipients included" in typed.of(f"lo -c -r {RELU}")
    assert "[MatMul] output/MatMul" in typed.of(f"lo -t -r {RELU}")


def test_sources(typed: Transcript) -> None:
    assert str(PROGRAM) in typed.of("ls -p .*debug_mnist.*") and "array_ops" not in typed.of("ls -p .*debug_mnist.*")
    assert re.search(rf"{re.escape(str(PROGRAM))} +1 +1 +1\n", typed.of("ls -n Softmax.*"))
    nodes, tensors = typed.of(f"ps {PROGRAM}"), typed.of(f"ps -t {PROGRAM}")
    after = nodes.partition(f"L{bug_line()} ")[2].partition(f"L{bug_line() + 1} ")[0]
    assert "cross_entropy/Log\n" in after and f"{LOG}\n" in tensors
    assert "L29 " not in typed.of(f"ps -b 30 {PROGRAM}") and "L30 " in typed.of(f"ps -b 30 {PROGRAM}")
    assert "Omitted" in typed.of(f"ps -m 1 {PROGRAM}")


def test_about_the_run_and_the_prompt(typed: Transcript) -> None:
    assert "train/Adam" in typed.of("ri") and "input_ys:0" in typed.of("ri")
    assert re.search(r"graph_recursion_depth: +3 ", typed.of("config show"))
    assert "print_tensor" in typed.of("help") and "--sort_by" in typed.of("help lt")
    assert "off" in typed.of("mouse off")


def test_finding_the_infinities(typed: Transcript) -> None:
    assert "-inf" in typed.of(f"pt {LOG}")
    assert all("inf" in line for line in typed.of("/inf").splitlines()) and typed.of("/inf") == typed.of("/(inf|nan)")
    assert "-inf" in typed.of("/")
    counts = re.search(r"\| -inf +- \| total \|\n\| +(\d+) +(\d+) \| +1000 \|", typed.of(f"pt -s {LOG}"))
    assert counts and int(counts[1]) > 100 and int(counts[1]) + int(counts[2]) == 1000
    assert "Op: Log" in typed.of("ni cross_entropy/Log") and "[Softmax] Softmax" in typed.of("ni cross_entropy/Log")
    assert "0.00000000e+00" in typed.of(f"pt {SOFTMAX}") and "0.000" in typed.of("/0\\.000")
    made = typed.of("ni -t cross_entropy/Log")
    assert f"Line:     {bug_line()}\n" in made and "tf.log(y)" in made


def test_what_failed_in_tfdbg(typed: Transcript) -> None:
    assert "Text: None" not in typed.of("ni -t cross_entropy/Log")
    assert "Numeric summary:" in typed.of(f"pt -n 0 -s {LOG}")
    assert "shape: (3,)" in typed.of(f"pt {LOG}[-1,-3:]")
    assert typed.of("pt hiden/Relu:0").count("\n") == 1 and f"did you mean '{RELU}'?" in typed.of("pt hiden/Relu:0")
    assert typed.of("bogus").startswith("ERROR: there is no command 'bogus'")
    assert f"debug_mnist.py:{bug_line()}" in typed.of("why")


def test_runs_of_which_less_is_watched(typed: Transcript) -> None:
    assert tensors_in(typed.of("run --node_name_filter Softmax.*")) == [SOFTMAX]
    reads = typed.of("run --op_type_filter Variable.*|ReadVariable.*")
    assert tensors_in(reads) and all("ReadVariableOp" in name for name in tensors_in(reads))
    whole_numbers = tensors_in(typed.of("run --tensor_dtype_filter int.*"))
    assert "accuracy/ArgMax:0" in whole_numbers and SOFTMAX not in whole_numbers
    assert "run-end: run #10:" in typed.of("run -t 3")


def test_profiling(typed: Transcript) -> None:
    assert "run-end: run #11:" in typed.of("run -p")
    product = r"^hidden/(MatMul +MatMul|Relu +MatMul\+AddV2\+Relu) .* \S*debug_mnist.py:\d+\(layer\)$"
    assert re.search(product, typed.of("lp"), re.M) and re.search(product, typed.of("lp -t MatMul"), re.M)
    assert "Softmax" not in typed.of("lp -t MatMul")
    assert re.search(r"^L\d+ .*us .* return activation\(", typed.of(f"ps {PROGRAM.name}"), re.M)


def test_exit_ends_the_program(typed: Transcript) -> None:
    assert typed.status == 1 and "user exited from debugger CLI" in typed.errors


def test_the_fix_and_success(folder: Path) -> None:
    fix = "diff = tf.losses.sparse_softmax_cross_entropy(labels=ys, logits=logits)"
    (folder / "fixed.py").write_text(re.sub(r"diff = -\(.*", fix, PROGRAM.read_text()))
    said = run_program(["fixed.py", "--debug", "--ui_type", "readline"], ["run -f has_inf_or_nan"], folder)
    assert said.status == 0 and said.commands == ["run -f has_inf_or_nan"]
    scores = [float(score) for score in re.findall(r"Accuracy at step \d+: ([\d.]+)", said.shown[0])]
    assert len(scores) == 10 and scores[-1] > 0.3 and "run-end" not in said.shown[0]
    assert "no tensor passed the filter has_inf_or_nan in 20 runs" in said.errors
