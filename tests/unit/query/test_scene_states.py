"""Scenes over traces that grow, are damaged, are empty or hold little."""

import numpy as np
import pytest
import scene_traces as traces

from tdbg.errors import TdbgError
from tdbg.model import DType
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.scene import Selection
from tdbg.store.writer import TraceWriter


def seqs(scene):
    return [seen.seq for seen in scene.tensors(Selection())]


def program(writer):
    traces.add_program(writer, [{"op": 0, "name": "a", "type": "Add"}, {"op": 1, "name": "b", "type": "Log"}])


def test_a_trace_that_grows(tmp_path):
    writer = TraceWriter(tmp_path / "run.tdbg", {"mode": "numerics"}, segment_bytes=1)
    program(writer)
    writer.flush()
    scene = TraceScene(tmp_path / "run.tdbg")
    assert (scene.moment, len(scene.tensors(Selection())), list(scene.moments())) == (None, 0, [])
    assert not scene.refresh()
    for step in range(4):
        traces.add(
            writer, "tensors", {"seq": 2 * step, "step": step, "op": 0}, {"seq": 2 * step + 1, "step": step, "op": 1}
        )
        writer.flush()
        if step % 2:
            writer.seal_if_large()  # what was hot is now sealed; its rows keep their places
        assert scene.refresh()
        assert not scene.refresh()
        assert scene.moment.number == 0  # where it began to look, and stays
        assert len(scene.moments()) == step + 1
        scene.go(None)
        assert seqs(scene) == list(range(2 * step + 2))
        assert [seen.number for seen in scene.seen("b:0")] == list(range(step + 1))
        scene.go(0)
    traces.add(writer, "ops", {"op": 2, "name": "late", "type": "Mul"})
    traces.add(writer, "tensors", {"seq": 9, "step": 0, "op": 2})
    writer.flush()
    assert scene.refresh()
    assert scene.seen("late:0")[0].seq == 9
    writer.close({"status": 0})
    assert scene.refresh()
    assert seqs(scene) == [0, 1, 9]


def test_rows_of_a_damaged_segment_have_no_names_and_the_rest_is_shown(tmp_path):
    writer = TraceWriter(tmp_path / "run.tdbg", {"mode": "numerics"}, segment_bytes=1)
    program(writer)
    for step in range(3):
        traces.add(writer, "tensors", *({"seq": 2 * step + n, "step": step, "op": n} for n in range(2)))
        writer.flush()
        writer.seal_if_large()
    writer.close({"status": 0})
    file = sorted(writer.folder.glob("tensors-??????.parquet"))[1]
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0xFF
    file.write_bytes(content)
    scene = TraceScene(tmp_path / "run.tdbg")
    scene.go(None)
    found = scene.tensors(Selection())
    assert [seen.tensor for seen in found] == ["a:0", "b:0", "?:0", "?:0", "a:0", "b:0"]
    assert [seen.tensor for seen in scene.tensors(Selection(op_pattern="Log"))] == ["b:0", "b:0"]
    assert list(scene.tensors(Selection()).notes) == [f"{file.name} is damaged: its rows are shown without names"]


def test_a_trace_without_tensors(tmp_path):
    writer = traces.new_trace(tmp_path)
    writer.close({"status": 0})
    scene = TraceScene(tmp_path / "run.tdbg")
    assert (scene.moment, list(scene.tensors(Selection(filter="nan > 0"))), list(scene.sources())) == (None, [], [])
    assert (list(scene.tensor_names()), list(scene.node_names()), list(scene.profile())) == ([], [], [])
    assert scene.run_info().facts["tensors"] == "0"
    with pytest.raises(TdbgError, match="no tensor 'a:0'; list_tensors lists all that were recorded"):
        scene.seen("a:0")
    with pytest.raises(TdbgError, match="no node 'a'"):
        scene.node("a")
    with pytest.raises(TdbgError, match=r"no file 'a\.py'"):
        scene.source("a.py")


def test_mode_shape_knows_no_numbers_and_does_not_say_that_all_is_well(tmp_path):
    writer = traces.new_trace(tmp_path, mode="shape")
    program(writer)
    unknown = dict.fromkeys(("negative", "zero", "positive", "neg_inf", "pos_inf", "nan", "min", "max", "mean", "std"))
    traces.add(writer, "tensors", {"seq": 0, "op": 0, "flags": 0} | unknown)
    traces.add(writer, "tensors", {"seq": 1, "op": 1, "flags": 0, "dtype": int(DType.INT32)} | unknown)
    writer.close({"status": 0})
    scene = TraceScene(tmp_path / "run.tdbg")
    number, whole = scene.tensors(Selection())
    assert (number.numbers, number.is_bad, number.shape, whole.is_bad) == (None, None, (2, 2), False)
    found = scene.tensors(Selection(filter="has_inf_or_nan"))
    assert (len(found), list(found.notes)) == (
        0,
        ["mode shape does not look for NaN and infinity; record with --mode health or numerics"],
    )
    assert len(scene.tensors(Selection(filter="nan > 0"))) == 0
    assert scene.run_info().facts["with NaN or infinity"] == "not looked for"


def test_bfloat16_values(tmp_path):
    writer = traces.new_trace(tmp_path, mode="full")
    program(writer)
    bits = (np.array([1.5, -2, np.inf, np.nan], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    value = writer.put_value(bits.tobytes(), int(DType.BFLOAT16), (4,))
    traces.add(writer, "tensors", {"seq": 0, "op": 0, "dtype": int(DType.BFLOAT16), "value": value})
    writer.close({"status": 0})
    scene = TraceScene(tmp_path / "run.tdbg")
    (seen,) = scene.seen("a:0")
    assert (seen.size, seen.dtype) == (8, "bfloat16")
    np.testing.assert_array_equal(scene.value(seen).astype(np.float32), [1.5, -2, np.inf, np.nan])


def test_names_among_many_thousands(tmp_path):
    writer = traces.new_trace(tmp_path)
    traces.add_program(writer, [{"op": n, "name": f"layer_{n}/kernel", "type": "MatMul"} for n in range(20_000)])
    traces.add(writer, "tensors", {"seq": 0, "op": 19_999})
    writer.close({"status": 0})
    scene = TraceScene(tmp_path / "run.tdbg")
    with pytest.raises(TdbgError, match="did you mean 'layer_19999/kernel:0'"):
        scene.seen("layer_19999/kernl:0")
    assert len(scene.tensors(Selection(node_pattern="layer_199.*"))) == 1


def test_rows_of_ops_that_were_never_told(tmp_path):
    """A ring that a killed program left has rows only."""
    writer = traces.new_trace(tmp_path)
    traces.add(writer, "tensors", {"seq": 0, "op": 7}, traces.bad_row(seq=1, op=3), {"seq": 2, "op": 7})
    writer.close({"status": 0})
    scene = TraceScene(tmp_path / "run.tdbg")
    found = scene.tensors(Selection())
    assert [seen.tensor for seen in found] == ["?:0"] * 3
    assert list(found.notes) == ["the program ended before its ops were written, so their names are unknown"]
    assert [seen.seq for seen in scene.tensors(Selection(filter="has_inf_or_nan"))] == [1]
    assert len(scene.tensors(Selection(node_pattern=".*"))) == 0
    assert len(scene.tensors(Selection(sort_by="tensor_name"))) == 3
    with pytest.raises(TdbgError, match="were not kept"):
        scene.value(scene.tensors(Selection())[0])
    scene.go(None)
    assert [seen.number for seen in scene.tensors(Selection())] == [0, 1, 2]
    assert (list(scene.sources()), list(scene.tensor_names())) == ([], [])
