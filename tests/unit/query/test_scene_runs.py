"""Scenes over traces of Sessions: runs as moments, and names that TensorFlow's runtime changed."""

import pytest
import scene_traces as traces

from tdbg.errors import TdbgError
from tdbg.query.scene.moments import those_there
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.scene import Selection


def scene_of(writer):
    writer.close({"status": 0})
    return TraceScene(writer.folder.parent)


def names(tensors):
    return [seen.tensor for seen in tensors]


def test_runs_are_moments_with_the_constants_of_their_graph(tmp_path):
    scene = scene_of(traces.session(tmp_path))
    assert [(moment.number, moment.title, moment.tensors) for moment in scene.moments()] == [
        (1, "run #1: 1 fetch (init); 0 feeds", 0),
        (2, "run #2: 2 fetches (loss:0, train); 1 feed (x:0)", 5),
        (3, "run #3: 2 fetches (loss:0, train); 1 feed (x:0); failed", 5),
    ]
    assert scene.title == "run.tdbg · run #3"
    assert names(scene.tensors(Selection())) == ["c:0", "x:0", "hidden/Relu:0", "root:0", "product:0"]
    scene.go(1)
    assert len(scene.tensors(Selection())) == 0
    with pytest.raises(TdbgError, match="there is no run 9; this trace has runs 1 to 3"):
        scene.go(9)


def test_what_a_run_was_asked_for(tmp_path):
    scene = scene_of(traces.session(tmp_path))
    info = scene.run_info()
    assert (info.fetches, info.targets, info.feeds) == (["loss:0"], ["train"], ["x:0"])
    assert info.error == ["Session.run failed: no"]
    feeds = scene.feeds()
    assert list(feeds) == ["x:0"]
    with pytest.raises(TdbgError, match="the elements of x:0 were not kept"):
        feeds["x:0"]


@pytest.mark.parametrize(
    ("told", "numbers"),
    [
        ((4, 7, 8), [4, 7, 8]),
        ((1, 2, None), [1, 2, 3]),  # the last goes on, or the program died in it
        ((1, 1, 2), [1, 2, 3]),  # of two Sessions
        ((-1, -1, -1), [1, 2, 3]),  # an old dump does not tell
    ],
)
def test_numbers_of_runs(tmp_path, told, numbers):
    scene = scene_of(traces.session(tmp_path, told))
    assert [moment.number for moment in scene.moments()] == numbers


def test_a_run_of_another_session_says_so(tmp_path):
    scene = scene_of(traces.session(tmp_path, (1, 1, 2)))
    assert scene.moments()[1].title.startswith("run #2 (run 1 of its Session): ")


def test_patterns_find_ops_by_what_the_runtime_made_them_of(tmp_path):
    scene = scene_of(traces.session(tmp_path))
    assert names(scene.tensors(Selection(op_pattern="MatMul"))) == ["hidden/Relu:0", "product:0"]
    assert names(scene.tensors(Selection(op_pattern="Abs|Relu"))) == ["hidden/Relu:0", "root:0"]
    assert names(scene.tensors(Selection(node_pattern="hidden/MatMul"))) == ["hidden/Relu:0"]
    assert names(scene.tensors(Selection(node_pattern="root/unary"))) == ["root:0"]
    assert names(scene.tensors(Selection(filter='name == "root" and max > 0'))) == ["root:0"]


def test_names_of_what_the_runtime_renamed_or_made_part_of_another_op(tmp_path):
    scene = scene_of(traces.session(tmp_path))
    assert names(scene.seen("root:0")) == names(scene.seen("root/unary_ops_composition:0")) == ["root:0"]
    node = scene.node("root")
    assert (node.name, node.written_as) == ("root/unary_ops_composition", "root (Sqrt), absolute (Abs)")
    with pytest.raises(TdbgError) as error:
        scene.seen("hidden/MatMul:0")
    assert str(error.value) == (
        "the value of hidden/MatMul:0 is not visible: TensorFlow computes it inside hidden/Relu (_FusedMatMul); "
        "look there"
    )


def test_a_program_that_seldom_runs_a_session_has_steps(tmp_path):
    writer = traces.session(tmp_path)
    traces.add(writer, "executions", *({"execution": n, "graph": -1} for n in range(10, 20)))
    traces.add(writer, "tensors", {"seq": 99, "op": 2, "step": 7, "execution": 15})
    scene = scene_of(writer)
    assert (scene.moment.title, [moment.number for moment in scene.moments()]) == ("step 7", [0, 7])


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((), "this trace has no runs"),
        ((7,), "this trace has only run 7"),
        ((9, 11, 13), "this trace has runs 9, 11 and 13"),
        (range(1, 10), "this trace has runs 1 to 9"),
        (range(0, 100, 5), "this trace has 20 runs between 0 and 95"),
    ],
)
def test_the_numbers_that_there_are_are_named(numbers, said):
    assert those_there(numbers, "run") == said
