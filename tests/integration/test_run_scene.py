"""A run of a Session as a scene: what commands at a prompt can ask before it and after it, without a prompt."""

from __future__ import annotations

import contextlib
import glob
import math
import tempfile

import numpy as np
import pytest
import tensorflow as tf
from scripted_prompt import ScriptedPrompt

from tdbg.capture.control import Action
from tdbg.errors import TdbgError
from tdbg.frameworks.tensorflow.tfdbg import run_tensors
from tdbg.query.verdict.verdict import explain
from tdbg.scene import Selection
from tdbg.tensorflow import debug as tf_debug

v1 = tf.compat.v1


class Looking:
    """A prompt that looks at scenes in order, each with a function of its own, and goes on as told."""

    def __init__(self, *looks, actions=()):
        self._looks, self._actions = list(looks), list(actions)
        self.pauses = []

    def ask(self, pause):
        self.pauses.append(pause)
        self._looks.pop(0)(pause.scene)
        return self._actions.pop(0) if self._actions else Action()


def scenes_of(build, look_before=lambda scene: None, look_after=lambda scene: None, **options):
    """Builds a graph, runs its fetches once in a wrapper, and looks at both scenes; gives the prompt."""
    failures = []

    def guarded(look):
        def looking(scene):
            try:
                look(scene)
            except Exception as error:  # the wrapper would take it for a fault of its own
                failures.append(error)

        return looking

    with tf.Graph().as_default(), v1.Session() as session:
        fetches, feeds = build()
        session.run(v1.global_variables_initializer())
        prompt = Looking(guarded(look_before), guarded(look_after), **options)
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=prompt)
        wrapper.add_tensor_filter("is_scalar", lambda datum, tensor: np.ndim(tensor) == 0)
        with contextlib.suppress(tf.errors.OpError):
            wrapper.run(fetches, feeds)
    if failures:
        raise failures[0]
    assert len(prompt.pauses) == 2
    return prompt


def digits():
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    w = v1.get_variable("w", [3, 2], initializer=v1.zeros_initializer())
    hidden = tf.identity(tf.matmul(x, w, name="mm"), name="handed_on")
    log = tf.math.log(hidden, name="scope/log")  # the line of the log
    train = v1.assign_add(v1.train.get_or_create_global_step(), 1, name="train")
    return [tf.reduce_mean(log, name="loss"), train], {x: [[1.0, 2.0, 3.0]]}


def names(tensors):
    return [seen.tensor for seen in tensors]


def test_before_a_run():
    def look(scene):
        info = scene.run_info()
        assert info.description == "run #1: 2 fetches; 1 feed (x:0)"
        assert (info.fetches, len(info.targets), info.feeds) == (["loss:0"], 1, ["x:0"])
        assert list(scene.filters) == ["has_inf_or_nan", "is_scalar"]
        assert scene.feeds()["x:0"].dtype == np.float32 and scene.feeds()["x:0"].shape == (1, 3)
        assert "scope/log" in scene.node_names()
        node = scene.node("scope/log")
        assert [(edge.node, edge.slot) for edge in node.inputs] == [("handed_on", 0)] and node.attributes[
            "T"
        ] == "float32"
        assert "# the line of the log" in "".join(text for frame, text in node.stack if frame.is_user)
        tensors = scene.tensors(Selection())
        assert len(tensors) == 0 and "type run" in tensors.notes[0]
        for question in (lambda: scene.seen("loss:0"), scene.trace, scene.profile, lambda: scene.go(7)):
            with pytest.raises(TdbgError):
                question()

    scenes_of(digits, look_before=look)


def test_after_a_run(tmp_path, monkeypatch):
    def look(scene):
        everything = scene.tensors(Selection())
        assert {"x:0", "mm:0", "scope/log:0", "loss:0"} <= set(names(everything)) == set(scene.tensor_names())
        assert everything.total == len(everything) == scene.moment.tensors
        assert [seen.time for seen in everything] == sorted(seen.time for seen in everything)
        sizes = [seen.size for seen in scene.tensors(Selection(sort_by="dump_size", reverse=True))]
        assert sizes == sorted(sizes, reverse=True)
        assert names(seen for seen in everything if seen.is_bad) == ["scope/log:0", "loss:0"]
        assert scene.moment.bad == 2
        assert names(scene.tensors(Selection(op_pattern="MatMul"))) == ["mm:0"]
        assert names(scene.tensors(Selection(node_pattern="scope/.*"))) == ["scope/log:0"]

        bad = scene.tensors(Selection(filter="has_inf_or_nan"))
        assert names(bad) == ["scope/log:0", "loss:0"] and bad[0].numbers.neg_inf == 2 and bad[0].is_bad
        assert names(scene.tensors(Selection(filter="has_inf_or_nan", exclude_nodes="scope"))) == ["loss:0"]
        assert names(scene.tensors(Selection(filter="neg_inf > 0 and op == 'Log'"))) == ["scope/log:0"]
        assert "loss:0" in names(scene.tensors(Selection(filter="is_scalar")))
        for wrong in (Selection(filter="bogus"), Selection(node_pattern="("), Selection(sort_by="colour")):
            with pytest.raises(TdbgError):
                scene.tensors(wrong)

        assert scene.value(scene.seen("x")[0]).tolist() == [[1, 2, 3]]
        assert scene.value(scene.seen("mm:0:DebugIdentity")[0]).tolist() == [[0, 0]]
        assert scene.seen("handed_on:0") == scene.seen("mm:0")  # the runtime left it out
        with pytest.raises(TdbgError, match=r"did you mean 'scope/log:0'\?"):
            scene.seen("scope/lgo:0")
        with pytest.raises(TdbgError, match="w:0 is not an array of numbers"):
            scene.value(scene.seen("w:0")[0])

        node = scene.node("mm:0")
        assert (node.inputs[0].node, node.inputs[0].op_type) == ("x", "Placeholder")
        assert "scope/log" in [edge.node for edge in node.recipients]
        with pytest.raises(TdbgError, match="did you mean 'scope/log'"):
            scene.node("scope/lob")

        [here] = [file for file in scene.sources() if file.path == __file__]
        assert here.is_user and here.nodes >= 5 and here.tensors == here.dumps == len(everything)
        [line] = [line for line in scene.source("test_run_scene.py") if line.text.endswith("# the line of the log")]
        assert line.nodes == ("scope/log",) and line.tensors == ("scope/log:0",) and line.is_bad
        with pytest.raises(TdbgError, match="ls lists"):
            scene.source("nothing_like_it")

        [origin] = explain(scene.trace()).origins
        assert (origin.frame.file, origin.frame.line) == (__file__, line.number)
        assert scene.trace() is scene.trace()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    prompt = scenes_of(digits, look_after=look)
    assert prompt.pauses[1].lines[0] == "first bad tensor: scope/log:0, -inf ×2 of 2"
    assert "test_run_scene.py:" in prompt.pauses[1].lines[1]
    assert not glob.glob(f"{tmp_path}/tfdbg_*/*.tdbg")


def test_names_that_the_program_wrote():
    """Three ops become one, whose name and type are the runtime's."""

    def build():
        x = v1.placeholder(tf.float32, [4], name="x")
        root = tf.sqrt(tf.abs(tf.negative(x, name="minus"), name="positive"), name="root")
        return tf.reduce_sum(root, name="total"), {x: [1.0, 4.0, 9.0, 16.0]}

    def look(scene):
        for selection in (
            Selection(op_pattern="Sqrt$"), Selection(op_pattern="Abs$"), Selection(node_pattern="positive$"),
        ):  # fmt: skip
            [found] = scene.tensors(selection)
            assert scene.value(found).tolist() == [1, 2, 3, 4]
        node = scene.node(found.node)
        assert node.name == "root/unary_ops_composition" and "root (Sqrt), positive (Abs)" in node.written_as
        assert any("tf.sqrt(" in text for frame, text in node.stack if frame.is_user)

    scenes_of(build, look_after=look)


def test_lines_inside_a_loop():
    def build():
        x = v1.placeholder(tf.float32, [], name="x")
        turn = lambda i, v: (i + 1, tf.sqrt(v, name="inside"))  # noqa: E731  the body
        _, out = tf.while_loop(lambda i, v: i < 3, turn, [0, x], name="loop")
        return out, {x: 16.0}

    def look(scene):
        [name] = {seen.tensor for seen in scene.tensors(Selection(op_pattern="Sqrt"))}
        assert [float(scene.value(seen)) for seen in scene.seen(name)] == pytest.approx([4, 2, 2**0.5])
        assert [seen.number for seen in scene.seen(name)] == [0, 1, 2]
        stack = scene.node(name).stack
        assert any("# noqa: E731  the body" in text for frame, text in stack if frame.is_user)

    scenes_of(build, look_after=look)


def test_a_profiled_run_and_one_that_failed():
    def look_at_times(scene):
        assert "mm" in {node.node for node in scene.profile()} and len(scene.tensors(Selection())) == 0

    prompt = scenes_of(digits, look_after=look_at_times, actions=[Action(profile=True), Action()])
    assert prompt.pauses[1].first == "lp"

    def build():
        x, y = v1.placeholder(tf.float32, [None], name="x"), v1.placeholder(tf.float32, [None], name="y")
        return tf.add(tf.exp(x, name="exp"), y, name="total"), {x: [1.0, 2.0], y: [1.0, 2.0, 3.0]}

    def look_at_error(scene):
        assert "Op:  total (AddV2)" in scene.run_info().error
        assert scene.run_info().error[-1] == "Look: ni -a -d -t total; li -r total; lt"
        assert scene.value(scene.seen("exp:0")[0]).shape == (2,)

    prompt = scenes_of(build, look_after=look_at_error)
    assert "!!! An error occurred during the run !!!" in prompt.pauses[1].lines and prompt.pauses[1].first == "lt"


def test_what_is_fed():
    def build():
        sparse = v1.sparse_placeholder(tf.float32, [2, 2], name="s")
        text = v1.placeholder(tf.string, [None], name="text")
        whole = tf.sparse.to_dense(sparse, name="whole")
        feeds = {sparse: v1.SparseTensorValue([[0, 1]], [3.0], [2, 2]), text: ["a", "bc"]}
        return [whole, tf.strings.length(text, name="length")], feeds

    def look(scene):
        fed = scene.feeds()
        assert len(fed) == len(list(fed)) == 4
        assert {name.rpartition("/")[2]: fed[name].tolist() for name in fed if name.startswith("s/")} == {
            "values:0": [3.0], "indices:0": [[0, 1]], "shape:0": [2, 2],
        }  # fmt: skip
        assert fed["text:0"].tolist() in ([b"a", b"bc"], ["a", "bc"])

    def look_after(scene):
        assert scene.value(scene.seen("text:0")[0]).tolist() == [b"a", b"bc"]

    scenes_of(build, look, look_after)


def test_a_large_tensor_is_not_read_before_its_elements_are():
    def build():
        x = v1.placeholder(tf.float32, [], name="x")
        large = tf.fill([1500, 1000], x, name="large")
        half = tf.cast(large, tf.bfloat16, name="half")
        return [tf.reduce_sum(large), tf.reduce_max(tf.reshape(half, [-1]))], {x: 0.5}

    def look(scene):
        large = scene.value(scene.seen("large:0")[0])
        assert large.shape == (1500, 1000) and large[-1, -1] == 0.5
        assert not large.flags.owndata and not large.flags.writeable  # it is the file's
        half = scene.value(scene.seen("half:0")[0])
        assert half.shape == (1500, 1000) and float(half[0, 0]) == 0.5 and half.dtype.name == "bfloat16"

    scenes_of(build, look_after=look)


def at_the_prompt(build, *lines, runs=1):
    """What the commands show, in order."""
    with tf.Graph().as_default(), v1.Session() as session:
        fetches, feeds = build()
        session.run(v1.global_variables_initializer())
        prompt = ScriptedPrompt(lines)
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=prompt)
        for _ in range(runs):
            wrapper.run(fetches, feeds)
    return prompt.shown


def late_log():
    """In the thirteenth round it is the log of 0."""
    x = v1.placeholder(tf.float32, [], name="x")
    turn = lambda i, v: (i + 1, tf.math.log(tf.cast(12 - i, tf.float32), name="inside"))  # noqa: E731
    with tf.name_scope("scope"):
        _, out = v1.while_loop(lambda i, v: i < 13, turn, [0, x], name="loop")
    return out, {x: 16.0}


@pytest.fixture
def loops_of_version_1():
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


def test_a_bad_round_of_a_loop_is_told_wherever_it_is_listed(loops_of_version_1):
    name = "scope/loop/inside"
    _, listed, node, printed, chosen, same, none, element = at_the_prompt(
        late_log, "run", "lt -t Log", f"ni -d {name}", f"pt {name}:0", f"eval `{name}:0[12]`", f"eval `{name}:0#12`",
        f"eval `{name}:0[13]`", f"eval `{name}:0[0:1]`",
    )  # fmt: skip
    assert [line.count("-inf ×1") for line in listed.splitlines()[2:]] == [0] * 12 + [1]
    assert node.count("-inf ×1") == 1
    assert "the first with NaN or infinity: #12" in printed and "inf" not in printed.splitlines()[-1]
    assert "array(-inf" in chosen and "array(-inf" in same
    assert f"there is no #13. Its element 13 is `{name}:0`[13]" in none and "ERROR" in element


def test_what_is_too_large_to_look_at_unasked_says_so(monkeypatch):
    monkeypatch.setattr(run_tensors, "_UNASKED", 0)
    _, listed, bad, again = at_the_prompt(digits, "run", "lt", "lt -f has_inf_or_nan", "lt")
    lines = listed.splitlines()[2:]
    assert all(line.endswith("not looked at") for line in lines if "scope/log" not in line)
    assert bad.count("-inf") == 2 and "not looked at" not in again


def worn_out():
    """A weight that is negative after one update, and lost after two."""
    w = v1.get_variable("w", [3], initializer=v1.ones_initializer())
    loss = tf.reduce_sum(tf.sqrt(w), name="loss")
    return v1.train.GradientDescentOptimizer(3.0).minimize(loss), {}


def test_what_runs_before_did_is_not_known(tmp_path):
    [_, cause] = at_the_prompt(worn_out, "run -t 6", "why", runs=6)
    assert "variable w was already bad when it was first seen" in cause and "was not recorded" in cause
    assert "check the initializer" not in cause and "start recording before the first run" in cause


def lost_weights(to_read):
    """A run that reads weights which are NaN already, and does something with what comes of them."""

    def build():
        w = v1.get_variable("w", [2, 3], initializer=v1.constant_initializer(math.nan))
        return to_read(tf.nn.softmax(v1.placeholder_with_default(tf.ones([4, 2]), [4, 2], name="x") @ w)), {}

    return build


@pytest.mark.parametrize(
    ("to_read", "is_trouble"),
    [
        (lambda y: tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), 0), tf.float32)), True),
        (lambda y: tf.reduce_mean(tf.cast(y > 0.5, tf.float32)), True),
        (lambda y: tf.reduce_mean(tf.where(tf.math.is_nan(y), 0.0, y)), False),
    ],
)
def test_weights_that_are_nan_are_trouble_though_the_result_does_not_show_it(to_read, is_trouble):
    [_, said] = at_the_prompt(lost_weights(to_read), "run", "why")
    assert ("variable w was already bad when it was first seen" in said) == is_trouble
    assert ("no bad values found" in said) != is_trouble
