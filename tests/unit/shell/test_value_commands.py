"""print_tensor, print_feed, eval and @[i,j] at the prompt."""

import numpy as np
import pytest
from small_scene import FILE, PROBABILITIES, SmallScene

from tdbg.errors import TdbgError
from tdbg.scene import Seen
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result import Array
from tdbg.shell.result_data import as_data


class LargeScene(SmallScene):
    """With a tensor of eighty million elements, one that was seen three times, and one that was not kept."""

    large = np.broadcast_to(np.arange(1000, dtype=np.float32), (80_000, 1000))

    def seen(self, tensor, debug_op="", device=""):
        if tensor == "large:0":
            return [Seen("large", 0, "Tile", 0.0, self.large.nbytes, "float32", self.large.shape, "large")]
        if tensor == "loop:0":
            return [Seen("loop", 0, "Add", n, 4, "float32", (1,), n, number=n, step=3, iteration=n) for n in (0, 1, 2)]
        if tensor == "lost:0":
            kept = super().seen("cross_entropy/Log:0")[0]
            return [Seen("lost", 0, "Log", 0.0, 24, "float32", (2, 3), "lost", numbers=kept.numbers, is_bad=True)]
        return super().seen(tensor, debug_op, device)

    def value(self, seen):
        if seen.key == "large":
            return self.large
        if seen.key == "lost":
            raise TdbgError("the elements of lost:0 were not kept; tdbg run --mode full train.py")
        if seen.node == "loop":
            return np.array([seen.number], np.float32)
        return super().value(seen)


@pytest.fixture
def shell():
    return Engine(LargeScene(), width=80)


def shown(shell, line):
    return list(Layout(shell.execute(line), 200).plain())


def test_a_tensor_with_its_header(shell):
    assert shown(shell, "pt cross_entropy/Log:0[0,:]") == [
        'Tensor "cross_entropy/Log:0:DebugIdentity[0,:]":',
        "  dtype: float32",
        "  shape: (3,)",
        "",
        "array([      -inf, -1.3862944, -0.2876821])",
    ]


def test_summary_histogram_and_ranges(shell):
    text = "\n".join(shown(shell, "print_tensor -s --histogram -r [[-inf,-1],[1,inf]] cross_entropy/Log:0"))
    assert "| -inf    - | total |\n|    2    4 |     6 |" in text
    assert "Histogram of the finite elements:" in text
    assert "Highlighted [[-inf,-1],[1,inf]]: 3 of 6 elements (50.00%)" in text


def test_several_dumps_are_listed_and_chosen(shell):
    lines = shown(shell, "pt loop:0")
    assert lines[0] == 'Tensor "loop:0" was seen 3 times; -n N shows one other than the first:'
    assert lines[2] == "  #1  1.000 ms, step 3, iteration 1"
    assert lines[-1] == "array([0.])"
    chosen = shown(shell, "pt -s -n 2 loop:0")
    assert chosen[0].startswith("Tensor ") and chosen[-1] == "array([2.])" and "Numeric summary:" in chosen
    assert shown(shell, "pt -n 3 loop:0") == ["ERROR: -n 3: loop:0 has dumps 0 to 2"]


def test_what_was_not_kept_shows_what_is_known(shell):
    lines = shown(shell, "pt lost:0")
    assert lines[1:3] == ["  dtype: float32", "  shape: (2, 3)"] and "| -inf    - | total |" in lines
    assert "tdbg run --mode full" in lines[-1]
    assert shell.execute("pt lost:0 -w x.npy").is_error


def test_a_large_tensor_shows_at_once_and_all_of_it_is_asked_for(shell):
    assert len(shown(shell, "pt large:0")) == 21  # a header and seventeen lines
    shell.can_ask = True
    asked = shell.execute("pt -a large:0[:, 0:10]")
    assert asked.asks == "show all 800,000 elements?" and not asked.blocks
    whole = shell.execute(asked.yes)
    assert isinstance(whole.blocks[-1], Array) and whole.blocks[-1].shows_all and len(Layout(whole, 80)) > 80_000
    assert not shell.execute("pt -a Softmax:0").asks
    asked = shell.execute("eval -a `large:0[:9]` * 2")
    assert asked.asks == "show all 9,000 elements?" and shell.execute(asked.yes).blocks[-1].shows_all
    assert not shell.execute("pt -a -y large:0[:9]").asks and not shell.execute("eval -a -y `large:0[:9]`").asks
    shell.can_ask = False
    assert shell.execute("pt -a large:0").blocks
    assert as_data(shell.execute("pt large:0"))[-1]["values"] is None


def test_going_to_an_element(shell):
    shell.execute("pt Softmax:0")
    assert shell.execute("@[1,2]").top == 5
    assert shell.execute("@0,0").top == 4
    shell.execute("pt large:0")
    near = shell.execute("@[40000, 500]")
    line = Layout(near, 80).lines(near.top, near.top + 1)[0]
    assert line[0].text.startswith("[40000, ")
    (marked,) = [span for span in line if span.style == "match"]
    assert marked.text.startswith(">") and marked.text.endswith("<") and "500." in marked.text
    assert near.note.startswith(
        "[40000, 500] is 500.0, marked > <; only an excerpt is shown: [39960:40041, 490:511] of"
    )
    assert shown(shell, "@[80000,0]")[0].startswith("ERROR: [80000, 0] is outside what is shown")
    assert shell.execute("@[0,0]").top == 4
    shell.execute("lt")
    assert "show one first" in shown(shell, "@[0,0]")[0]


def test_writing_to_a_file(shell, tmp_path):
    file = tmp_path / "softmax.npy"
    assert shown(shell, f"pt Softmax:0[:, 1:] -w {file}")[0] == f"4 elements written to {file}"
    assert np.array_equal(np.load(file), PROBABILITIES[:, 1:])
    assert "to overwrite it, add --force" in shown(shell, f"pt Softmax:0 -w {file}")[0]
    assert not shell.execute(f"pt Softmax:0 -w {file} --force").is_error
    assert not shell.execute(f"eval 'np.sum(`Softmax:0`, axis=1)' -w {file} --force").is_error
    assert np.array_equal(np.load(file), [1, 1])
    assert "cannot write the file" in shown(shell, f"pt Softmax:0 -w {tmp_path}/none/x.npy")[0]


def test_output_goes_to_a_new_file_unless_it_is_forced(shell, tmp_path):
    for line in ("lt", "eval 'np.sum(`Softmax:0`)'", "pt Softmax:0 --force"):
        file = tmp_path / "kept.txt"
        file.write_text("mine")
        refused = shown(shell, f"{line} > {file}")[0]
        assert refused.endswith(f"to overwrite it, add --force: > {file} --force") and file.read_text() == "mine"
        assert shown(shell, f"{line} > {file} --force")[0].endswith(f"written to {file}")
        assert file.read_text() != "mine"


def test_feeds(shell):
    assert shown(shell, "pf x:0")[:3] == ['Tensor "x:0 (feed)":', "  dtype: float32", "  shape: (2, 4)"]
    assert shown(shell, "print_feed -s x[0, :2]")[-1] == "array([1., 1.])"
    assert shown(shell, "pf xx:0") == ["ERROR: no feed 'xx:0'; did you mean 'x:0'?"]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ('eval "np.matmul((`Softmax:0` / `Softmax:0[0:1]`).T, `Softmax:0`)"', None),
        ("eval -a 'np.sum(`Softmax:0`, axis=1)'", [1.0, 1.0]),
        ("ev np.sum(`Softmax:0`, axis=1) -a", [1.0, 1.0]),
        ("ev `Softmax:0[0, :]` > 0.1", [False, True, True]),
        ("ev `Softmax:0:DebugIdentity[0, :]`[1:] * 2", [0.5, 1.5]),
        ("ev `Softmax:0:DebugIdentity[0]`[0, 1:] * 2", [0.5, 1.5]),
        ("ev `loop:0[2]` + `loop:0#0`", [2.0]),
        ("ev `/job:localhost/device:CPU:0:Softmax:0[1, 0]`", 0.5),
        ("ev `loop:0#2` + `loop:0`", [2.0]),
        ("ev `cross_entropy/Log:0`.shape", [2, 3]),
    ],
)
def test_eval(shell, typed, value):
    result = shell.execute(typed)
    assert not result.is_error
    assert value is None or np.array_equal(result.blocks[-1].values, value)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("eval", "eval what?"),
        ("eval np.sum(`Sofmax:0`)", "did you mean 'Softmax:0'?"),
        ("eval `Softmax:0", "a backtick is not closed"),
        ("eval __import__('os').system('true')", "there is no '__import__' here"),
        ("eval `Softmax:0#1`", "Softmax:0 has 1 dump; there is no #1"),
        ("eval `lost:0`", "were not kept"),
        ("pt", "type help print_tensor"),
        ("pt Softmax:0[9]", "does not fit Softmax:0 of shape (2, 3)"),
        ("pt -r [5,1] Softmax:0", "5 is not below 1"),
        ("pt -r five Softmax:0", "write one range"),
        ("pt -n x Softmax:0", "type help print_tensor"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(shell, typed, said):
    result = shell.execute(typed)
    (line,) = Layout(result).plain()
    assert result.is_error and said in line


def test_eval_says_which_of_several_dumps_it_takes(shell):
    said = "loop:0 was seen 3 times; this takes the first, and `loop:0#N` another"
    assert shown(shell, "eval `loop:0` + 1")[0] == said
    assert said not in shown(shell, "eval `loop:0#0` + 1")


def test_several_arrays_of_one_expression(shell):
    lines = shown(shell, "eval np.linalg.svd(`Softmax:0`)")
    assert [line for line in lines if line.startswith("Tensor")] == [
        f'Tensor "eval (np.linalg.svd(`Softmax:0`)).{part}":' for part in ("U", "S", "Vh")
    ]


def test_names_and_functions_are_completed(shell):
    assert [one.text for one in shell.complete("eval np.linalg.no")] == ["np.linalg.norm"]
    assert "np.sum(`Softmax:0`" in [one.text for one in shell.complete("eval np.sum(`Soft")]
    assert [one.text for one in shell.complete("pt Soft")] == ["Softmax:0"]
    assert [one.text for one in shell.complete("pf x")] == ["x:0"]
    assert [one.text for one in shell.complete("sql SELECT * FROM tens")] == ["tensors", "tensor"]


def test_the_menu_goes_on_from_a_tensor(shell):
    menu = {span.text: span.link for span in shell.execute("pt Softmax:0").menu}
    assert menu["node_info"] == "ni -a -d -t Softmax" and menu["print_source"] == f"ps {FILE} -b 5"
    assert {"list_inputs", "list_outputs", "history", "where"} <= menu.keys()
