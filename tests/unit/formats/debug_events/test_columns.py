"""Files of DebugEvents as columns: C and Python say the same of whole, cut, damaged and meaningless bytes."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdbg import native
from tdbg.formats.debug_events import python_columns
from tdbg.formats.debug_events.columns import EVENT, TENSOR, read_columns
from tdbg.formats.debug_events.messages import CodeLocation, Execution, event, trace_event, trace_head
from tdbg.formats.debug_events.records import RecordFile, write_record
from tdbg.formats.debug_events.tensors import parse_tensor, put_full, put_summary
from tdbg.formats.debug_events.wire import WireError, put_double, put_int, put_message, varint
from tdbg.model import DType

needs_extension = pytest.mark.skipif(native.lib is None, reason="the extension was not built")

small = st.integers(-(2**31), 2**31 - 1)
ids = st.lists(st.integers(-1, 2**63 - 1), max_size=4)
words = st.text(st.characters(codec="utf-8"), max_size=12)
summaries = st.lists(st.floats(allow_nan=False), min_size=1, max_size=13).map(put_summary)
fulls = st.lists(st.integers(0, 255), max_size=6).map(lambda x: put_full(DType.UINT8, [len(x)], bytes(x)))
tensors = st.one_of(summaries, fulls, st.just(b""), st.binary(max_size=20))


@st.composite
def events(draw):
    time = draw(st.floats(0, 2e9))
    if draw(st.booleans()):
        head = trace_head(draw(words), draw(words), draw(small), draw(st.integers(0, 9)), draw(words))
        return trace_event(time, head, draw(tensors))
    made = Execution(
        draw(words), draw(words), draw(ids), draw(ids), draw(st.integers(0, 9)), draw(st.lists(tensors, max_size=3)),
        CodeLocation(draw(words), tuple(draw(st.lists(words, max_size=3)))).body(), draw(st.lists(small, max_size=3)),
    )  # fmt: skip
    return event(time, made)


def file_of(records) -> bytes:
    file = io.BytesIO()
    for record in records:
        write_record(file, record)
    return file.getvalue()


@needs_extension
@given(st.lists(st.one_of(events(), st.binary(max_size=40)), max_size=6), st.data())
@settings(deadline=None)
def test_c_and_python_read_the_same(records, data):
    content = bytearray(file_of(records))
    if content and data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    content = bytes(content[: data.draw(st.integers(0, len(content)))])
    most = data.draw(st.integers(1, 8))
    ours, theirs = native.lib.read_records(content, 0, most), python_columns.read_records(content, 0, most)
    assert ours == theirs
    assert native.lib.read_debug_events(content, ours[0]) == python_columns.read_debug_events(content, ours[0])


@needs_extension
@given(st.binary(max_size=200))
def test_the_checksum_is_the_same(data):
    assert native.lib.masked_crc32c(data) == python_columns.masked_crc32c(data)


def test_the_checksum_is_that_of_the_standard():
    # CRC-32C of "123456789" is E3069283; masked as TFRecord has it
    crc = 0xE3069283
    assert python_columns.masked_crc32c(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_layouts_are_those_of_c():
    assert EVENT.itemsize == python_columns.EVENT.size
    assert TENSOR.itemsize == python_columns.TENSOR.size


def test_columns_of_an_execution_and_a_trace(tmp_path):
    made = Execution("Log", "g", [7, 8], [9, 10], 4, [put_summary([1.0, 2.0]), b""], b"\n\x01h", [3, 3])
    records = [event(1.5, made), trace_event(2.5, trace_head("g", "a/Log", 2, 4, "CPU"), put_summary(range(11)))]
    path = tmp_path / "events"
    path.write_bytes(file_of(records))
    ((columns, end),) = RecordFile(path).columns()
    execution, trace = columns.events
    assert (execution["time"], trace["time"]) == (1.5, 2.5)
    assert [columns.strings[execution[name]] for name in ("op", "graph", "where")] == [b"Log", b"g", b"\n\x01h"]
    assert columns.ids.tolist() == [7, 8, 9, 10, 3, 3]
    assert (execution["inputs"], execution["outputs"], execution["devices"], execution["tensors"]) == (2, 2, 2, 2)
    assert [columns.strings[trace[name]] for name in ("op", "graph", "where")] == [b"a/Log", b"g", b"CPU"]
    assert (trace["slot"], trace["mode"], trace["first_tensor"]) == (2, 4, 2)
    assert columns.tensors["columns"].tolist() == [2, 0, 11]
    assert columns.tensors[2]["column"].tolist() == list(range(11))
    assert end == path.stat().st_size


RECORDS = [b"first", b"", b"the third one"]


@pytest.mark.parametrize("size", range(len(file_of(RECORDS)) + 1))
def test_a_file_cut_anywhere_gives_the_records_before_the_cut(tmp_path, size):
    whole = file_of(RECORDS)
    ends = np.cumsum([16 + len(record) for record in RECORDS])
    path = tmp_path / "cut"
    path.write_bytes(whole[:size])
    file = RecordFile(path)
    count = int(np.count_nonzero(ends <= size))
    assert list(file.records()) == RECORDS[:count]
    assert file.losses.tail == size - ([0, *ends][count])
    assert bool(file.losses.as_text("x")) == bool(file.losses.tail)


@pytest.mark.parametrize("at", range(len(file_of(RECORDS))))
def test_a_flipped_bit_costs_one_record_and_is_counted(tmp_path, at):
    content = bytearray(file_of(RECORDS))
    content[at] ^= 4
    path = tmp_path / "flipped"
    path.write_bytes(content)
    file = RecordFile(path)
    hit = int(np.searchsorted(np.cumsum([16 + len(record) for record in RECORDS]), at, "right"))
    assert list(file.records()) == RECORDS[:hit] + RECORDS[hit + 1 :]
    assert file.losses.bytes + file.losses.tail == 16 + len(RECORDS[hit])


def test_spans_outside_the_file_are_not_followed():
    spans = np.array([[0, 100], [-5, 3], [2, -1], [50, 1]], "<i8").tobytes()
    assert read_columns(b"0123456789", spans).unreadable == 4


def test_a_number_that_does_not_end_is_an_error():
    with pytest.raises(WireError):
        varint(b"\xff" * 12, 0)


@pytest.mark.parametrize(
    ("proto", "dtype", "expected"),
    [
        (put_int(1, 1) + put_message(2, b"") + put_message(5, np.float32(2.5).tobytes()), DType.FLOAT32, [2.5]),
        (put_int(1, 2) + put_message(2, put_message(2, put_int(1, 3))) + put_double(6, 1.5), DType.FLOAT64, [1.5] * 3),
        (put_int(1, 3) + put_message(2, put_message(2, put_int(1, 2))) + put_int(7, -4), DType.INT32, [-4, -4]),
        (put_int(1, 10) + put_message(2, put_message(2, put_int(1, 2))) + put_int(11, 1), DType.BOOL, [True, True]),
        (put_int(1, 1) + put_message(2, put_message(2, put_int(1, 2))), DType.FLOAT32, [0, 0]),
    ],
)
def test_tensors_with_single_elements(proto, dtype, expected):
    tensor = parse_tensor(proto)
    assert tensor.dtype == dtype
    assert np.frombuffer(tensor.data, np.dtype(dtype.label)).tolist() == expected
