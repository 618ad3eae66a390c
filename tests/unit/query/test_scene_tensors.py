"""Scenes over traces that the store's writer wrote: what is listed, found, read and said."""

import socket

import numpy as np
import pytest
import scene_traces as traces

from tdbg.errors import TdbgError
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.scene import Scene, Selection


def scene_of(writer, **options):
    return TraceScene(writer.folder.parent, **options)


def names(tensors):
    return [seen.tensor for seen in tensors]


@pytest.fixture
def scene(tmp_path):
    writer = traces.logs(tmp_path)
    writer.close({"status": 0})
    return scene_of(writer)


def test_it_begins_at_the_first_bad_value(scene):
    checked: Scene = scene
    assert checked.moment.title == "step 1"
    assert scene.title == "run.tdbg · step 1"
    assert [(m.number, m.title, m.tensors, m.bad) for m in scene.moments()] == [
        (-1, "before the first step", 3, 0),
        (0, "step 0", 4, 0),
        (1, "step 1", 4, 1),
        (2, "step 2", 7, 0),
    ]


def test_it_begins_at_the_last_step_when_nothing_is_bad(tmp_path):
    writer = traces.new_trace(tmp_path)
    traces.add_program(writer, [{"op": 0, "name": "a", "type": "Add"}])
    traces.add(writer, "tensors", *({"seq": n, "step": n, "op": 0} for n in range(5)))
    writer.close({"status": 0})
    assert scene_of(writer).moment.number == 4


def test_a_moment_is_listed_in_the_order_of_events_without_evidence(scene):
    found = scene.tensors(Selection())
    assert names(found) == ["x:0", "dense/MatMul:0", "Log:0", "Sum:0"]
    assert (len(found), found.total, list(found.notes)) == (4, 4, [])
    log = found[-2]
    assert (log.op_type, log.shape, log.dtype, log.size, log.step, log.seq) == ("Log", (2, 2), "float32", 16, 1, 22)
    assert (log.is_bad, log.numbers.nan, log.time) == (True, 3, 2.0)
    assert names(found[1:3]) == names(found[-3:-1]) == ["dense/MatMul:0", "Log:0"]
    with pytest.raises(IndexError):
        found[4]


def test_the_whole_trace(scene):
    scene.go(None)
    found = scene.tensors(Selection())
    assert scene.moment is None
    assert len(found) == len(list(found)) == found.total == 18
    assert [seen.seq for seen in found] == sorted(seen.seq for seen in found)
    assert names(found[:3]) == ["Mul/input:0", "Mul:0", "Mul:0"]
    assert [seen.number for seen in found if seen.tensor == "Log:0"] == [0, 1, 2, 3]
    assert names(scene.tensors(Selection(filter="has_inf_or_nan"))) == ["Log:0"]


def test_a_step_that_is_not_there(scene):
    with pytest.raises(TdbgError, match="there is no step 7; this trace has steps -1 to 2"):
        scene.go(7)
    assert scene.moment.number == 1


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        (Selection(node_pattern="dense"), ["dense/MatMul:0"]),
        (Selection(node_pattern="MatMul"), []),
        (Selection(op_pattern="(Log|Sum)"), ["Log:0", "Sum:0"]),
        (Selection(filter="has_inf_or_nan"), ["Log:0"]),
        (Selection(filter="has_inf_or_nan", exclude_nodes="L"), []),
        (Selection(filter="elements > 4"), ["x:0"]),
        (Selection(filter='op == "Sum" or nan > 0', op_pattern="Log"), ["Log:0"]),
        (Selection(sort_by="op_type"), ["Log:0", "dense/MatMul:0", "x:0", "Sum:0"]),
        (Selection(sort_by="tensor_name"), ["Log:0", "Sum:0", "dense/MatMul:0", "x:0"]),
        (Selection(sort_by="dump_size", reverse=True), ["x:0", "Log:0", "dense/MatMul:0", "Sum:0"]),
    ],
    ids=str,
)
def test_selections(scene, selection, found):
    assert names(scene.tensors(selection)) == found


def test_the_same_selections_of_the_whole_trace(scene):
    scene.go(None)
    assert names(scene.tensors(Selection(op_pattern="Log", filter="step in 1:3"))) == ["Log:0"] * 3
    by_name = names(scene.tensors(Selection(sort_by="tensor_name")))
    assert by_name == sorted(by_name)


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (Selection(filter="has_inf_or_nun"), "there is no filter 'has_inf_or_nun'; did you mean 'has_inf_or_nan'?"),
        (Selection(filter="nan >"), "filter 'nan >'"),
        (Selection(node_pattern="("), "this is not a regular expression"),
        (Selection(sort_by="colour"), "tensors cannot be sorted by 'colour'"),
    ],
    ids=str,
)
def test_selections_that_mean_nothing(scene, selection, said):
    with pytest.raises(TdbgError) as error:
        scene.tensors(selection)
    assert said in str(error.value)


def test_filters_of_the_user_look_at_kept_values_and_say_what_they_did_not_see(scene):
    scene.filters["negative"] = lambda seen, array: (array < 0).any()
    found = scene.tensors(Selection(filter="negative"))
    assert names(found) == ["dense/MatMul:0", "Log:0"]  # the first was kept as the input of the bad one
    assert found.notes == ["negative skipped 2 tensors whose elements were not kept (mode full keeps them all)"]
    scene.filters["broken"] = lambda seen, array: array.colour
    with pytest.raises(TdbgError, match="filter broken failed on dense/MatMul:0: AttributeError"):
        scene.tensors(Selection(filter="broken"))


def test_values(scene):
    log, product = scene.seen("Log:0")[0], scene.seen("dense/MatMul")[0]
    np.testing.assert_array_equal(scene.value(log), [[0, 1], [-np.inf, np.nan]])
    np.testing.assert_array_equal(scene.value(product), [[1, 2], [0, -1]])
    with pytest.raises(TdbgError) as error:
        scene.value(scene.seen("Sum")[0])
    assert str(error.value) == (
        "the elements of Sum:0 were not kept (mode numerics); record them with: "
        "tdbg run --mode full --steps 1:2 --names '^Sum$' train.py --lr 1"
    )


def test_a_name_means_all_tensors_that_have_it(scene):
    scene.go(2)
    assert [(seen.seq, seen.number) for seen in scene.seen("Log:0")] == [(32, 0), (35, 1)]
    assert [seen.seq for seen in scene.seen("evaluate/Log:0")] == [35]
    assert [seen.seq for seen in scene.seen("Log#2:0")] == [32]
    scene.go(-1)
    assert [seen.seq for seen in scene.seen("Mul")] == [1, 2]
    assert [seen.seq for seen in scene.seen("Mul#6:0")] == [2]
    assert [seen.seq for seen in scene.seen("Mul/input:0")] == [0]
    assert "Log:0" in scene.tensor_names()
    assert "Split" in scene.node_names()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dense/MatMull:0", "no tensor 'dense/MatMull:0'; did you mean 'dense/MatMul:0'?"),
        ("matmul", "no node 'matmul'; did you mean 'dense/MatMul'?"),
        ("Quux:0", "no tensor 'Quux:0'; list_tensors lists all that were recorded"),
        ("Mul:0", "Mul:0 was not seen at step 1; it was at step -1"),
        ("Sum:3", "Sum:3 was not recorded; other outputs of the node were"),
        (
            "Reshape",
            "Reshape was not recorded: Reshape ops are not, or a filter left it out; its input is dense/MatMul:0",
        ),
    ],
)
def test_names_that_find_nothing(scene, name, said):
    with pytest.raises(TdbgError) as error:
        scene.seen(name)
    assert str(error.value) == said


def test_a_node_of_several_outputs_is_asked_for_by_one_of_them(scene):
    scene.go(2)
    with pytest.raises(TdbgError, match="'Split' has several outputs; choose one of Split:0, Split:1"):
        scene.seen("Split")


def test_a_node(scene):
    node = scene.node("Log")
    assert (node.op_type, node.graph, node.phase, node.device) == ("Log", "step", "forward", "/device:CPU:0")
    assert [(edge.node, edge.slot, edge.op_type) for edge in node.inputs] == [("dense/MatMul", 0, "MatMul")]
    assert [(edge.node, edge.slot) for edge in node.recipients] == [("Sum", 0)]
    assert node.attributes == {"T": "float32", "flag": "true", "shape": "[2, -1]"}
    assert [(frame.line, text) for frame, text in node.stack] == [(77, ""), (2, "y = tf.math.log(x)"), (9, "")]
    assert [(edge.node, edge.slot) for edge in scene.node("Sum").control_inputs] == [("dense/MatMul", -1)]
    assert [edge.node for edge in scene.node("dense/MatMul").control_recipients] == ["Sum"]
    assert [edge.node for edge in scene.node("Sum").inputs] == ["Log"]
    assert scene.node("evaluate/Log").graph == "evaluate"
    scene.go(2)  # where the Log of another function was seen too
    assert [edge.node for edge in scene.node("Sum").inputs] == ["Log#2"]
    assert scene.node("Log#4").graph == "evaluate"
    with pytest.raises(TdbgError, match="no node 'Sun'; did you mean 'Sum'"):
        scene.node("Sun")


def test_sources(scene):
    (mine, library) = scene.sources()
    assert (mine.path, mine.is_user, mine.nodes, mine.first_line) == ("/home/me/train.py", True, 9, 2)
    assert (mine.tensors, mine.dumps) == (4, 4)
    assert (library.is_user, library.nodes, library.tensors) == (False, 1, 1)
    lines = scene.source("train.py")
    assert lines[1].text == "    y = tf.math.log(x)"
    assert (lines[1].is_bad, lines[0].nodes, lines[0].is_bad) == (True, (), False)
    assert {"Log", "Sum"} <= set(lines[1].nodes)
    assert set(lines[1].tensors) == {"x:0", "dense/MatMul:0", "Log:0", "Sum:0"}
    scene.go(None)
    assert scene.sources()[0].dumps == 18
    scene.go(0)
    assert not any(line.is_bad for line in scene.source("me/train.py"))
    with pytest.raises(TdbgError, match=r"no file 'trian\.py' created nodes here; did you mean 'train\.py'"):
        scene.source("trian.py")


def test_what_a_step_was(scene):
    info = scene.run_info()
    assert info.description == "step 1"
    assert (info.facts["tensors"], info.facts["with NaN or infinity"]) == ("4", "1")
    assert dict(scene.feeds()) == {}
    assert list(scene.profile()) == []
    assert scene.trace().row_count("tensors") == 19


def test_several_processes(tmp_path):
    first = traces.new_trace(tmp_path, rank=0)
    traces.add_program(first, [{"op": 0, "name": "a", "type": "Add"}])
    traces.add(first, "tensors", {"seq": 0, "op": 0})
    first.close({"status": 0})
    traces.logs(tmp_path, started=2_000, rank=1, pid=77).close({"status": 0})
    scene = TraceScene(tmp_path / "run.tdbg")
    assert (scene.process, scene.title) == (1, "run.tdbg · step 1 · process 1")
    assert [title.partition(",")[0] for title in scene.processes] == ["rank 0", "rank 1"]
    other = TraceScene(tmp_path / "run.tdbg", process=0)
    assert names(other.tensors(Selection())) == ["a:0"]
    with pytest.raises(TdbgError, match="there is no process 5; this trace has 2"):
        TraceScene(tmp_path / "run.tdbg", process=5)


def test_tensors_that_only_went_in_are_named_so(scene):
    found = scene.tensor_names()
    assert "x:0" in found
    assert not any(name.startswith("Reshape") for name in found)


def test_a_file_that_only_the_trace_names_is_not_read_from_disk(tmp_path):
    library = tmp_path / "library.py"
    library.write_text("import that\nresult = that.do()\n")
    for host in (socket.gethostname(), "elsewhere"):
        writer = traces.new_trace(tmp_path, f"{host}.tdbg", host=host)
        traces.add_program(writer, [{"op": 0, "name": "a", "type": "Add", "stack": 5}])
        traces.add(writer, "frames", {"frame": 5, "file": str(library), "line": 2, "function": "do", "is_user": False})
        traces.add(writer, "stacks", {"stack": 5, "parent": -1, "frame": 5})
        traces.add(writer, "tensors", {"seq": 0, "op": 0})
        writer.close({"status": 0})
        scene = scene_of(writer)
        assert [(frame.line, line) for frame, line in scene.node("a").stack] == [(2, "")]
        assert scene.source("library.py")[1].text == ""


def test_what_eager_ops_were_given(tmp_path):
    writer = traces.new_trace(tmp_path)
    ops = [{"op": n, "name": name, "type": name, "graph": -1} for n, name in enumerate(("Fill", "Mul", "Sum"))]
    traces.add_program(writer, ops)
    traces.add(
        writer,
        "executions",
        {"execution": 0, "op": 0, "graph": -1, "inputs": []},
        {"execution": 1, "op": 1, "graph": -1, "inputs": [5, 8]},
        {"execution": 2, "op": 2, "graph": -1, "inputs": [9, 77]},
        {"execution": 3, "op": 1, "graph": -1, "inputs": [5, 8]},
    )
    traces.add(
        writer,
        "tensors",
        {"seq": 0, "op": 0, "slot": 1, "tensor": 5},
        {"seq": 1, "op": 1, "slot": 1, "tensor": 8, "flags": traces.INPUT | traces.NUMBERS, "execution": 1},
        {"seq": 2, "op": 1, "tensor": 9, "execution": 1},
        {"seq": 3, "op": 2, "tensor": 10, "execution": 2},
    )
    writer.close({"status": 0})
    scene = scene_of(writer)
    edges = [(edge.node, edge.slot, edge.op_type) for edge in scene.node("Mul").inputs]
    assert edges == [("Fill", 1, "Fill"), ("Mul/input", 1, "Mul")]
    assert [(edge.node, edge.slot) for edge in scene.node("Mul").recipients] == [("Sum", 0)]
    assert [(edge.node, edge.slot) for edge in scene.node("Fill").recipients] == [("Mul", 1)]
    assert [(edge.node, edge.slot) for edge in scene.node("Sum").inputs] == [("Mul", 0)]
    given = scene.node("Mul/input")
    assert (given.name, given.inputs, [edge.node for edge in given.recipients]) == ("Mul/input", [], ["Mul"])
