"""Events go in from any thread and come out in order, the same from the compiled extension and from its stand-in."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tdbg import native
from tdbg.model import DType, Flag, Mode
from tdbg.native import fallback, record
from tdbg.native.fallback import ring as python_ring
from tdbg.native.record import END, EXECUTION, FAILED, IDS_OFFSET, INLINE_IDS, MORE, RECORD, TENSOR

LIBRARIES = [fallback] if native.lib is None else [native.lib, fallback]
FLOAT32 = 1 << DType.FLOAT32
TENSORFLOW = {"float32": 1, "int32": 3, "bfloat16": 14}  # numbers of types.proto


@pytest.fixture(params=LIBRARIES, ids=lambda lib: "native" if lib.IS_NATIVE else "python")
def lib(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    lib = request.param
    prepare(lib)
    yield lib
    lib.ring_open(1024, None, True)
    while lib.take_value() is not None:
        pass


def prepare(lib: Any) -> None:
    """As at the beginning, whatever other tests left behind."""
    lib.ring_open(1024, None, True)
    set_mode(lib)
    lib.set_step(0)
    lib.set_recording(True)


def set_mode(lib: Any, mode: Mode = Mode.NUMERICS, queue: int = 1 << 20, bad: int = 1 << 20, per_op: int = 2) -> None:
    lib.set_mode(int(mode), 1, queue, bad, per_op)


def drained(lib: Any, most: int = 1 << 15) -> np.ndarray:
    return np.frombuffer(lib.ring_drain(most), RECORD)


def ids_of(records: np.ndarray) -> list[list[int]]:
    words = records.view(np.int64).reshape(len(records), -1)[:, IDS_OFFSET // 8 :]
    return [words[at, : row["count"]].tolist() for at, row in enumerate(records)]


class Tensor(np.ndarray):
    """What the callback gets of TensorFlow: a buffer with an id and a type."""

    _id: int

    def _datatype_enum(self) -> int:
        return TENSORFLOW[self.dtype.name]


_next_id = iter(range(1_000_000, 1 << 62))


def tensor(values: Any, dtype: str = "float32") -> Tensor:
    made = np.array(values, getattr(ml_dtypes, dtype, None) or dtype).view(Tensor)
    made._id = next(_next_id)
    return made


def as_buffer(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor).view(f"u{tensor.dtype.itemsize}")


def eager(lib: Any, op: int, inputs: list[Tensor], outputs: list[Tensor], inputs_too: bool = False) -> np.ndarray:
    lib.eager(op, inputs, outputs, FLOAT32, FLOAT32 if inputs_too else 0, as_buffer)
    return drained(lib)


def without_times(records: np.ndarray) -> list[tuple]:
    names = [name for name in RECORD.names or () if name not in ("ready", "time", "execution", "shape", "value")]
    return records[names].tolist()


def test_both_have_the_same_functions() -> None:
    names = {name for name in dir(LIBRARIES[0]) if not name.startswith("_")}
    in_debug_events = {"masked_crc32c", "read_records", "read_debug_events"}  # with their Python twins beside them
    in_expressions = {"tests_met"}
    for_the_screen = {
        "guard_terminal",
        "release_terminal",
    }  # without them a killed program leaves its terminal as it is
    assert names <= set(dir(fallback)) | in_debug_events | for_the_screen | in_expressions


def test_record_has_the_layout_of_the_c_struct(lib: Any) -> None:
    lib.set_step(7)
    lib.tensor(11, 12, 13, 4, 14, np.array([[-1.5, 0, np.nan], [2, np.inf, -np.inf]], np.float32), int(DType.FLOAT32))
    (row,) = drained(lib)
    assert RECORD.itemsize == lib.RECORD_BYTES == record.READY.size + record.TENSOR_BODY.size
    assert record.TENSOR_BODY.size == record.CALL_BODY.size
    assert lib.shapes_since(row["shape"])[0] == (2, 3)
    expected = {
        "ready": 1, "execution": 14, "tensor": -1, "op": 11, "step": 7, "iteration": -1,
        "thread": threading.get_native_id(), "slot": 12, "dtype": DType.FLOAT32, "kind": TENSOR,
        "flags": Flag.BAD | Flag.NUMBERS | Flag.INPUT, "count": 0, "graph": 13, "elements": 6, "negative": 1, "zero": 1,
        "positive": 1, "neg_inf": 1, "pos_inf": 1, "nan": 1, "min": -1.5, "max": 2.0, "value": 0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["mean"] == pytest.approx(0.5 / 3)
    assert row["std"] == pytest.approx(np.std([-1.5, 0, 2]))


def test_events_come_out_in_order(lib: Any) -> None:
    lib.push_rows(5, 100)
    first, rest = drained(lib, 30), drained(lib)
    rows = np.concatenate([first, rest])
    assert (len(first), len(rest)) == (30, 70)
    assert rows["ready"].tolist() == list(range(1, 101))
    assert rows["max"].tolist() == [max(8, n) for n in range(100)]
    assert lib.counters() == (100, 0, 0, 0, 0)


def test_numbers_go_on_when_the_ring_wraps_around(lib: Any) -> None:
    lib.ring_open(16, None, True)
    for turn in range(5):
        lib.push_rows(turn, 10)
        rows = drained(lib)
        assert rows["ready"].tolist() == list(range(10 * turn + 1, 10 * turn + 11))
        assert set(rows["op"]) == {turn}


def test_a_full_ring_that_may_not_wait_drops_and_counts(lib: Any) -> None:
    lib.ring_open(8, None, False)
    lib.push_rows(0, 20)
    assert lib.counters() == (8, 12, 0, 0, 8)
    assert len(drained(lib)) == 8
    lib.push_rows(0, 1)
    assert drained(lib)["ready"].tolist() == [9]


def test_a_reader_that_never_comes_is_not_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_ring, "LONGEST_WAIT", 0.01)
    fallback.ring_open(8, None, True)
    fallback.push_rows(0, 20)
    assert fallback.counters() == (8, 12, 0, 1, 8)


def test_many_threads_lose_nothing(lib: Any) -> None:
    lib.ring_open(64, None, True)
    producers = [threading.Thread(target=lib.push_rows, args=(op, 500)) for op in range(4)]
    for producer in producers:
        producer.start()
    rows = []
    while sum(map(len, rows)) < 2000:
        rows.append(drained(lib, 32))
    for producer in producers:
        producer.join()
    got = np.concatenate(rows)
    assert got["ready"].tolist() == list(range(1, 2001))
    assert np.bincount(got["op"]).tolist() == [500] * 4
    for op in range(4):
        assert got["max"][got["op"] == op].tolist() == [max(8, n) for n in range(500)]
    assert lib.counters()[1] == 0


def test_a_file_keeps_the_last_events(lib: Any, tmp_path: Any) -> None:
    path = tmp_path / "ring.bin"
    lib.ring_open(64, str(path), True)
    lib.push_rows(3, 100)
    data = path.read_bytes()
    assert record.RING_HEADER.unpack_from(data) == (b"TDBGRING", 1, RECORD.itemsize, 64)
    slots = np.frombuffer(data[record.RING_HEADER_BYTES :], RECORD)
    assert sorted(slots["ready"].tolist()) == list(range(37, 101))
    assert [(row["ready"] - 1) % 64 for row in slots] == list(range(64))
    assert drained(lib)["ready"].tolist() == list(range(37, 101))
    assert lib.counters()[:2] == (100, 0)


def test_a_ring_that_cannot_be_made_says_why(lib: Any, tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError):
        lib.ring_open(64, str(tmp_path / "missing" / "ring.bin"), True)


@pytest.mark.parametrize(
    ("mode", "flags", "nans"),
    [(Mode.HEALTH, Flag.BAD, 0), (Mode.SHAPE, 0, 0), (Mode.NUMERICS, Flag.BAD | Flag.NUMBERS, 1)],
)
def test_modes_say_how_closely_a_tensor_is_looked_at(lib: Any, mode: Mode, flags: int, nans: int) -> None:
    set_mode(lib, mode)
    lib.tensor(0, 0, 0, 0, -1, np.array([1, np.nan], np.float32), int(DType.FLOAT32))
    (row,) = drained(lib)
    assert (row["flags"], row["nan"], row["elements"]) == (flags, nans, 2)


def test_mode_none_keeps_executions_only(lib: Any) -> None:
    set_mode(lib, Mode.NONE)
    assert eager(lib, 1, [tensor([1.0])], [tensor([2.0])], inputs_too=True)["kind"].tolist() == [EXECUTION]


def test_an_eager_op_is_an_execution_and_its_outputs(lib: Any) -> None:
    given, made, other = tensor([1.0]), tensor([2.0, 3.0]), tensor([4], "int32")
    rows = eager(lib, 9, [given], [made, other])
    assert rows["kind"].tolist() == [EXECUTION, TENSOR]  # no row for a type that nobody asked for
    assert ids_of(rows[:1]) == [[given._id]]
    assert (rows["tensor"][1], rows["op"][1], rows["slot"][1], rows["max"][1]) == (made._id, 9, 0, 3.0)
    assert rows["execution"][0] == rows["execution"][1]
    assert [lib.maker_of(one._id) for one in (made, other)] == [9, 9]
    assert lib.maker_of(next(_next_id)) == -1


def test_a_value_that_no_op_made_is_described_once(lib: Any) -> None:
    given = tensor([1.0])
    first = eager(lib, 1, [given], [tensor([2.0])], inputs_too=True)
    again = eager(lib, 1, [given], [tensor([2.0])], inputs_too=True)
    assert first["flags"].tolist() == [Flag.INPUT | Flag.NUMBERS, 0, Flag.NUMBERS]
    assert again["flags"].tolist() == [0, Flag.NUMBERS]
    assert first["tensor"][0] == given._id


def test_types_that_numpy_has_no_buffer_format_for(lib: Any) -> None:
    made = tensor([1.5, -2, np.inf], "bfloat16")
    lib.eager(1, [], [made], 1 << DType.BFLOAT16, 0, as_buffer)
    row = drained(lib)[1]
    assert (row["dtype"], row["max"], row["min"], row["pos_inf"]) == (DType.BFLOAT16, 1.5, -2, 1)


def test_an_op_that_turns_good_inputs_bad_is_the_origin_and_is_kept_whole(lib: Any) -> None:
    given, count, made = tensor([0.0, 1.0]), tensor([3], "int32"), tensor([-np.inf, 0.0])
    output, *evidence = eager(lib, 21, [given, count], [made])[1:]
    assert output["flags"] == Flag.BAD | Flag.NUMBERS | Flag.ORIGIN
    assert [(row["flags"], row["slot"], row["tensor"]) for row in evidence] == [
        (Flag.EVIDENCE | Flag.NUMBERS, 0, given._id),
        (Flag.EVIDENCE | Flag.NUMBERS, 1, count._id),
    ]
    values = [lib.take_value() for _ in range(3)]
    assert [value[0] for value in values] == [output["value"], *(row["value"] for row in evidence)]
    assert [value[1:] for value in values] == [
        (DType.FLOAT32, (2,), made.tobytes()),
        (DType.FLOAT32, (2,), given.tobytes()),
        (DType.INT32, (1,), count.tobytes()),
    ]
    assert lib.take_value() is None


def test_an_op_whose_input_was_bad_is_no_origin(lib: Any) -> None:
    rows = eager(lib, 22, [tensor([np.nan])], [tensor([np.nan])])
    assert (rows["flags"][1], rows["value"][1], len(rows)) == (Flag.BAD | Flag.NUMBERS, 0, 2)


def test_bad_values_are_kept_twice_for_each_op(lib: Any) -> None:
    rows = [eager(lib, 23, [], [tensor([np.nan])])[1] for _ in range(3)]
    assert [bool(row["value"]) for row in rows] == [True, True, False]
    assert eager(lib, 24, [], [tensor([np.nan])])["value"][1]


def test_values_over_the_limit_are_dropped_and_counted(lib: Any) -> None:
    set_mode(lib, bad=8)
    assert eager(lib, 25, [], [tensor([np.nan] * 3)])["value"][1] == 0
    assert lib.counters()[2] == 1


def test_mode_full_keeps_every_value(lib: Any) -> None:
    set_mode(lib, Mode.FULL)
    row = eager(lib, 26, [], [tensor([[1.0], [2.0]])])[1]
    assert lib.take_value() == (row["value"], DType.FLOAT32, (2, 1), np.array([1, 2], np.float32).tobytes())


def test_mode_full_waits_for_the_writer_to_take_values(lib: Any) -> None:
    set_mode(lib, Mode.FULL, queue=32)
    producer = threading.Thread(target=lib.push_rows, args=(0, 50))
    producer.start()
    tokens = []
    while len(tokens) < 50:
        value = lib.take_value()
        tokens += [value[0]] if value else []
    producer.join()
    assert drained(lib)["value"].tolist() == tokens


def test_shapes_are_interned(lib: Any) -> None:
    known = len(lib.shapes_since(0))
    fresh = [(7, 1, known), (), (7, 1, known), (0, known + 1)]
    for dims in fresh:
        lib.tensor(0, 0, 0, 0, -1, np.zeros(dims, np.float32), int(DType.FLOAT32))
    rows = drained(lib)
    shapes = lib.shapes_since(0)
    assert [shapes[number] for number in rows["shape"]] == fresh
    assert rows["shape"][0] == rows["shape"][2]
    assert lib.shapes_since(len(shapes)) == []


def chain(lib: Any, stack: int) -> list[tuple[str, int, str]]:
    frames = []
    while stack >= 0:
        stack, code, line = lib.stack_get(stack)
        frames.append((code.co_filename, line, code.co_name))
    return frames[::-1]


def test_stacks_are_those_of_traceback(lib: Any) -> None:
    def deeper() -> tuple[list, list, int]:
        stack, frames = lib.stack_here(0), traceback.extract_stack()
        return chain(lib, stack), [(f.filename, f.lineno, f.name) for f in frames], stack

    got = [deeper() for _ in range(2)]
    for stack, expected, _ in got:
        assert stack == expected
    assert got[0][2] == got[1][2]


def test_stacks_can_leave_out_the_innermost_frames(lib: Any) -> None:
    def deeper() -> tuple[int, list]:
        return lib.stack_here(1), traceback.extract_stack()[:-1]

    stack, expected = deeper()
    assert chain(lib, stack) == [(f.filename, f.lineno, f.name) for f in expected]
    assert lib.stack_here(100_000) == -1
    with pytest.raises(IndexError):
        lib.stack_get(1 << 30)


def test_calls_have_a_beginning_and_an_end_with_all_their_tensors(lib: Any) -> None:
    given, made = [tensor([0.0]) for _ in range(2 * INLINE_IDS + 3)], [tensor([0.0])]
    call = lib.call_begin(4, 5, given, [])
    lib.call_end(call, 4, made)
    failing = lib.call_begin(4, 5, [], [])
    lib.call_end(failing, 4, None)
    rows = drained(lib)
    assert rows["kind"].tolist() == [EXECUTION, MORE, MORE, END, EXECUTION, FAILED]
    assert rows["execution"].tolist() == [call] * 4 + [failing] * 2
    assert rows["slot"].tolist() == [len(given)] * 3 + [1, 0, 0]
    assert np.concatenate(ids_of(rows[:3])).tolist() == [one._id for one in given]
    assert ids_of(rows[3:]) == [[made[0]._id], [], []]
    assert rows["graph"].tolist() == [5, 5, 5, -1, 5, -1]
    assert lib.maker_of(made[0]._id) == 4


def test_tensors_of_a_graph_belong_to_its_latest_call() -> None:
    lib: Any = fallback
    lib.ring_open(64, None, True)
    set_mode(lib)
    lib.set_recording(True)
    array = np.array([1.0], np.float32)
    outer, inner = lib.call_begin(0, 100, [], []), lib.call_begin(0, 200, [], [])
    for graph, detached in ((100, False), (200, False), (300, False), (100, True)):
        lib.graph_tensor(0, 0, graph, 0, detached, array)
    for call in (inner, outer):
        lib.call_end(call, 0, [])
    lib.graph_tensor(0, 0, 100, 0, False, array)
    lib.set_recording(False)
    lib.graph_tensor(0, 0, 100, 0, False, array)
    rows = drained(lib)
    assert rows["execution"][rows["kind"] == TENSOR].tolist() == [outer, inner, inner, -1, -1]


def in_child(check: Any) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_forked_child_begins_with_nothing_of_the_parents(lib: Any) -> None:
    eager(lib, 31, [], [tensor([np.nan])])
    lib.push_rows(0, 10)

    def check() -> bool:
        lib.after_fork()
        empty = lib.counters()[4] == 0 and lib.take_value() is None and not len(drained(lib))
        lib.push_rows(1, 3)
        rows = drained(lib)
        return empty and rows["op"].tolist() == [1] * 3 and set(rows["thread"]) == {os.getpid()}

    assert in_child(check) == 0
    assert len(drained(lib)) == 10


def test_a_forked_child_leaves_the_parents_file_alone(lib: Any, tmp_path: Any) -> None:
    path = tmp_path / "ring.bin"
    lib.ring_open(64, str(path), True)
    lib.push_rows(0, 10)
    before = path.read_bytes()

    def check() -> bool:
        lib.after_fork()
        lib.push_rows(1, 3)
        return not len(drained(lib))

    assert in_child(check) == 0
    assert path.read_bytes() == before


def test_both_record_the_same() -> None:
    recorded = []
    for lib in LIBRARIES:
        prepare(lib)
        lib.push_rows(3, 20)
        random = np.random.default_rng(5)
        for dtype in ("float16", "float32", "float64", "complex64", "int8", "uint64", "bool"):
            array = (random.normal(size=(3, 5)) * 3).astype(dtype)
            lib.tensor(1, 2, 3, 0, 4, array, int(DType[dtype.upper()]))
        recorded.append(without_times(drained(lib)))
    assert all(np.allclose(mine, theirs) for one in recorded[1:] for mine, theirs in zip(one, recorded[0], strict=True))


def test_the_stand_in_says_why_it_has_no_tensorflow_ops() -> None:
    assert "compiled extension" in fallback.register_tensorflow("/opt/lib/libtensorflow_framework.so.2")
