"""One program under TensorFlow's Debugger V2 and under tdbg in; where their records differ, mode by mode, out.

By hand: ``python tests/integration/debugger_v2_comparison.py --mode FULL_HEALTH`` (without --mode: all six modes).

Debugger V2's files are read by TensorFlow's own reader, tdbg's trace by ``tdbg.open``. Compared are all executions in
their order, all tensors of graphs call by call, their numbers, and the user's lines. What differs by design is in
KNOWN, with its reason, and is counted in what is printed; anything else is a failure.
"""

from __future__ import annotations

import argparse
import bisect
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")
SIDES = ("stock", "tdbg")
ALL_EVENTS = -1
_SHOWN = 10

KNOWN = {
    "eager Identity": "Debugger V2 leaves it out; tdbg keeps it, because it gives its tensor a new number and a bad "
    "value could not be followed past it",
    "eager op of another thread": "Debugger V2 listens to the thread that switched it on; tdbg to all",
    "complex tensor": "Debugger V2 has no numbers of complex tensors; tdbg has, because they can be NaN too",
    "text of a string": "tdbg keeps numbers, and of strings only that they were computed",
    "argument of a function": "TensorFlow makes it before it notes which ops must run, so the op that Debugger V2 adds "
    "to it mostly stays idle; tdbg sees to it that its own runs",
    "name of a constant": "in NO_TENSOR Debugger V2 adds constants of its own to the graph, so that those of the "
    "program are numbered differently",
}


# ---- the program


def program() -> None:
    """Eager code, a training function with a nested one, a loop and a conditional, and Keras; some values go bad."""
    import threading

    import tensorflow as tf

    tf.keras.utils.set_random_seed(7)
    weights = tf.Variable([[1.0, -2.0], [0.5, 3.0]])
    batch = tf.constant([[1.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(tf.matmul(batch, weights)))
        weights.assign_sub(0.1 * tf.clip_by_value(tape.gradient(loss, weights), -1.0, 1.0))
    tf.cast(tf.range(4), tf.bool)
    tf.identity(batch)
    tf.strings.join(["a", "b"])
    tf.unique(tf.constant([1.0, 1.0, 2.0]))
    tf.math.real(tf.signal.fft(tf.complex(batch, batch)))
    tf.cast(batch, tf.bfloat16) * tf.constant(2.0, tf.bfloat16)
    weights.assign([[1.0, -2.0], [0.5, 3.0]])
    thread = threading.Thread(target=lambda: tf.math.sqrt(batch))
    thread.start()
    thread.join()

    @tf.function
    def normalised(x):
        unused = tf.math.exp(x)  # Debugger V2 records it all the same
        del unused
        return tf.nn.relu(x) / tf.reduce_sum(x, axis=1, keepdims=True)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            hidden = normalised(tf.reshape(tf.matmul(x, weights), [2, -1]))
            total = tf.constant(0.0)
            for i in tf.range(3):
                total += tf.reduce_mean(hidden) * tf.cast(i, tf.float32)
            if total > 100.0:  # noqa: SIM108  (AutoGraph makes a conditional of it)
                loss = 2.0 * total
            else:
                loss = tf.math.log(total - tf.reduce_min(x))
        gradient = tape.gradient(loss, weights)
        weights.assign_sub(0.1 * gradient)
        spectrum = tf.abs(tf.signal.fft(tf.cast(gradient, tf.complex64)))
        return loss, tf.shape(x), spectrum, tf.strings.as_string(tf.size(x))

    for scale in (1.0, 2.0, 0.0):
        train_step(tf.constant([[1.0, 2.0], [3.0, 1.0]]) * scale)

    inputs = np.linspace(-1, 1, 96, dtype=np.float32).reshape(24, 4)
    model = tf.keras.Sequential([tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(inputs, inputs[:, :1], batch_size=8, epochs=2, shuffle=False, verbose=0)


def record(side: str, folder: Path, modes: list[str]) -> None:
    """Each mode in a forked child of its own: TensorFlow takes longer to load than the program takes to run."""
    import tensorflow as tf

    tf.keras  # noqa: B018  (loaded when asked for)
    for mode in modes:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _record_one(side, str(folder / mode / side), mode)
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{side} failed in mode {mode}")


def _record_one(side: str, root: str, mode: str) -> None:
    import tensorflow as tf

    import tdbg.tensorflow

    debugger: Any = tf.debugging.experimental if side == "stock" else tdbg.tensorflow
    debugger.enable_dump_debug_info(root, mode, ALL_EVENTS)
    program()
    debugger.disable_dump_debug_info()


# ---- what was recorded, in the words of both


class Execution(NamedTuple):
    """An eager op or a call of a function."""

    type: str
    inputs: int
    outputs: int
    numbers: tuple[Any, ...]  # per output
    lines: tuple[tuple[str, int], ...]


class GraphTensor(NamedTuple):
    """One tensor of a graph, computed once."""

    graph: str
    op: str
    slot: int
    numbers: Any
    lines: tuple[tuple[str, int], ...]


class Record(NamedTuple):
    executions: list[Execution]
    calls: list[Counter]  # graph tensors, per execution
    apart: Counter  # those of datasets, which compute when they like
    known: Counter  # what KNOWN tells, how often
    arguments: frozenset[tuple[str, str]] = frozenset()  # graph and op


def _plain_name(function: str) -> str:
    """Without the number that makes a function's name unique: the two programs trace in their own way."""
    return re.sub(r"_\d+(?=_|$)", "", function)


def _is_apart(graph: str) -> bool:
    return "Dataset_" in graph


class Stock:
    """Debugger V2's files, read by its own reader."""

    def __init__(self, root: Path, mode: str) -> None:
        from tensorflow.python.debug.lib.debug_events_reader import DebugDataReader

        self._mode, self._reader = mode, DebugDataReader(str(root))
        self._reader.update()
        self._lines: dict[Any, tuple] = {}

    def record(self) -> Record:
        executions = self._reader.executions()
        ends = [execution.wall_time for execution in executions]
        calls: list[Counter] = [Counter() for _ in executions]
        apart: Counter = Counter()
        for trace in self._reader.graph_execution_traces():
            tensor = self._graph_tensor(trace)
            if _is_apart(tensor.graph):
                apart[tensor] += 1
            else:  # a call is written when it is over
                calls[bisect.bisect_left(ends, trace.wall_time)][tensor] += 1
        return Record([self._execution(execution) for execution in executions], calls, apart, Counter())

    def _execution(self, execution: Any) -> Execution:
        values: tuple[Any, ...] = ()
        if self._mode == "FULL_TENSOR":
            values = tuple(_content(value) for value in self._reader.execution_to_tensor_values(execution))
        elif execution.debug_tensor_values is not None:
            values = tuple(self._columns(value) for value in execution.debug_tensor_values)
        frames = self._reader.read_execution_stack_trace(execution)[1]
        outputs = len(execution.output_tensor_ids or ())
        inputs = len(execution.input_tensor_ids or ())
        return Execution(_plain_name(execution.op_type), inputs, outputs, values, _lines(frames))

    def _graph_tensor(self, trace: Any) -> GraphTensor:
        names = [self._reader.graph_by_id(number).name for number in trace.graph_ids]
        graph = "/".join(_plain_name(name) for name in names if name)  # the outermost is that of eager code
        is_full = self._mode == "FULL_TENSOR"
        numbers = self._content(trace) if is_full else self._columns(trace.debug_tensor_value)
        return GraphTensor(graph, trace.op_name, trace.output_slot, numbers, self._made_at(trace))

    def _content(self, trace: Any) -> Any:
        try:
            return _content(self._reader.graph_execution_trace_to_tensor_value(trace))
        except ValueError:  # this reader cannot read the strings that Debugger V2 wrote
            return None

    def _made_at(self, trace: Any) -> tuple:
        key = trace.graph_id, trace.op_name
        if key not in self._lines:
            op = self._reader.graph_by_id(trace.graph_id).get_op_creation_digest(trace.op_name)
            self._lines[key] = _lines(self._reader.read_graph_op_creation_stack_trace(op)[1])
        return self._lines[key]

    def _columns(self, value: Any) -> Any:
        """Without column 0, the tensor's number."""
        if value is None or self._mode == "NO_TENSOR" or len(value) < 2:
            return None
        return tuple(value[1:])


class Tdbg:
    """tdbg's trace, in the same words."""

    def __init__(self, root: Path, mode: str) -> None:
        from tensorflow.core.framework import types_pb2

        import tdbg
        from tdbg.frameworks.tensorflow.capture.dtypes import code_of
        from tdbg.frameworks.tensorflow.tfdbg.dump_debug_info import MODES
        from tdbg.model import DType, Flag

        self._flag, self._dtype = Flag, DType
        (path,) = root.glob("*.tdbg")
        trace = tdbg.open(path)
        info = trace.processes[0].info
        assert (info["debug_mode"], info["every_op"], info["mode"]) == (mode, True, MODES[mode].label)
        self._mode, self._trace = mode, trace
        self._numbers_of_types = {code_of(number): number for number in types_pb2.DataType.values() if number < 100}
        rows = {name: trace.table(name).to_pylist() for name in ("ops", "graphs", "frames", "stacks", "shapes")}
        self._ops = {row["op"]: row for row in rows["ops"]}
        self._graphs = {row["graph"]: row for row in rows["graphs"]}
        self._frames = {row["frame"]: row for row in rows["frames"]}
        self._stacks = {row["stack"]: row for row in rows["stacks"]}
        self._places: dict[tuple[str, str], dict] = {}
        self._shapes = {row["shape"]: tuple(row["dims"]) for row in rows["shapes"]}

    def record(self) -> Record:
        executions = sorted(self._trace.table("executions").to_pylist(), key=lambda row: row["execution"])
        ends = {row["execution"]: row for row in self._trace.table("ends").to_pylist()}
        main_thread = executions[0]["thread"]
        known: Counter = Counter()
        of_execution: dict[int, list[dict]] = {row["execution"]: [] for row in executions}
        apart: Counter = Counter()
        inside: dict[int, Counter] = {row["execution"]: Counter() for row in executions}
        for row in self._trace.table("tensors").to_pylist():
            op, flags = self._ops[row["op"]], row["flags"]
            if flags & self._flag.EVIDENCE or (op["graph"] < 0 and flags & self._flag.INPUT):
                continue  # what tdbg adds: the inputs of an op that went wrong, and values from Python
            is_string = self._dtype(row["dtype"]) == self._dtype.STRING
            known["text of a string"] += is_string and self._mode == "FULL_TENSOR"
            is_complex = self._dtype(row["dtype"]).name.startswith("COMPLEX")
            if is_complex and self._mode not in ("NO_TENSOR", "FULL_TENSOR"):
                known["complex tensor"] += 1
                continue
            if op["graph"] < 0:
                of_execution[row["execution"]].append(row)
                continue
            tensor = self._graph_tensor(op, row)
            if row["execution"] < 0:
                assert _is_apart(tensor.graph), tensor
                apart[tensor] += 1
            else:
                inside[row["execution"]][tensor] += 1
        made, calls = [], []
        for row in executions:
            op = self._ops[row["op"]]
            if row["thread"] != main_thread:
                known["eager op of another thread"] += 1
            elif op["type"] == "Identity":
                known["eager Identity"] += 1
            else:
                made.append(self._execution(row, op, ends, of_execution[row["execution"]]))
                calls.append(inside[row["execution"]])
        arguments = {place for place, op in self._places.items() if op["type"].startswith("Placeholder")}
        return Record(made, calls, apart, +known, frozenset(arguments))

    def _execution(self, row: dict, op: dict, ends: dict, tensors: list[dict]) -> Execution:
        dtypes = [self._dtype(code) for code in op["output_dtypes"]]
        if row["graph"] >= 0:
            assert len(ends[row["execution"]]["outputs"]) == len(dtypes)
        by_slot = {tensor["slot"]: self._numbers(tensor) for tensor in tensors}
        numbers: tuple[Any, ...] = ()
        if self._mode != "NO_TENSOR":
            plain = [slot for slot, dtype in enumerate(dtypes) if dtype.name not in ("RESOURCE", "VARIANT")]
            numbers = tuple(by_slot.get(slot) for slot in plain)
        return Execution(_plain_name(op["type"]), len(row["inputs"]), len(dtypes), numbers, self._made_at(op["stack"]))

    def _graph_tensor(self, op: dict, row: dict) -> GraphTensor:
        graph, names = op["graph"], []
        while graph >= 0:
            names.append(_plain_name(self._graphs[graph]["name"]))
            graph = self._graphs[graph]["outer"]
        place = "/".join(reversed(names)), op["name"]
        self._places[place] = op
        return GraphTensor(*place, row["slot"], self._numbers(row), self._made_at(op["stack"]))

    def _made_at(self, stack: int) -> tuple:
        frames = []
        while stack >= 0:
            frame = self._frames[self._stacks[stack]["frame"]]
            frames.append((frame["file"], frame["line"], frame["function"], ""))
            stack = self._stacks[stack]["parent"]
        return _lines(reversed(frames))

    def _numbers(self, row: dict) -> Any:
        """The columns of Debugger V2's mode, without the tensor's number, from a row of tdbg."""
        dims, dtype = self._shapes[row["shape"]], self._numbers_of_types[row["dtype"]]
        bad = [row[name] for name in ("neg_inf", "pos_inf", "nan")]
        if self._mode == "CURT_HEALTH":
            return (float(bool(row["flags"] & self._flag.BAD)),)
        if self._mode == "CONCISE_HEALTH":
            return tuple(map(float, [row["elements"], *bad]))
        if self._mode == "FULL_HEALTH":
            signs = [row[name] for name in ("negative", "zero", "positive")]
            return tuple(map(float, [-1, dtype, len(dims), row["elements"], *bad, *signs]))
        if self._mode == "SHAPE":
            last = dims[-6:]
            return tuple(map(float, [dtype, len(dims), row["elements"], *last, *[0] * (6 - len(last))]))
        if self._mode == "FULL_TENSOR":
            return _content(self._trace.value(row["process"], row["value"])) if row["value"] >= 0 else None
        return None


def _lines(frames: Any) -> tuple[tuple[str, int], ...]:
    """The frames of the program, outermost first."""
    here = os.path.abspath(__file__)
    return tuple((frame[2].rsplit(".", 1)[-1], frame[1]) for frame in frames if os.path.abspath(frame[0]) == here)


def _content(array: Any) -> Any:
    """A tensor as something to compare and to count."""
    if array is None:
        return None
    array = np.asarray(array)
    return None if array.dtype.kind in "OSU" else (array.dtype.name, array.shape, array.tobytes())


# ---- the comparison


def compare(stock: Record, tdbg: Record, mode: str) -> list[str]:
    """Sentences on what differs and is not in KNOWN; counts in ``tdbg.known`` what is."""
    found = []
    for number, (theirs, ours) in enumerate(zip(stock.executions, tdbg.executions, strict=False)):
        if theirs != ours:
            found.append(f"execution {number}:\n  Debugger V2 {theirs}\n  tdbg        {ours}")
    if len(stock.executions) != len(tdbg.executions):
        found.append(f"Debugger V2 has {len(stock.executions)} executions, tdbg {len(tdbg.executions)}")
    pairs = [*zip(stock.calls, tdbg.calls, strict=False), (stock.apart, tdbg.apart)]
    for number, (theirs, ours) in enumerate(pairs):
        if mode == "NO_TENSOR":
            theirs, ours = _without_numbers(theirs, tdbg.known), _without_numbers(ours, Counter())
        where = "datasets" if number == len(pairs) - 1 else f"execution {number}"
        found += [f"{where}: only Debugger V2 has {n} × {tensor}" for tensor, n in (theirs - ours).items()]
        for tensor, n in (ours - theirs).items():
            if (tensor.graph, tensor.op) in tdbg.arguments:
                tdbg.known["argument of a function"] += n
            else:
                found.append(f"{where}: only tdbg has {n} × {tensor}")
    return found


def _without_numbers(tensors: Counter, known: Counter) -> Counter:
    """Constants without the number in their names."""
    plain: Counter = Counter()
    for tensor, count in tensors.items():
        name = re.sub(r"(^|/)(Const)_\d+$", r"\1\2", tensor.op)
        known["name of a constant"] += count * (name != tensor.op)
        plain[tensor._replace(op=name)] += count
    return plain


def compare_modes(folder: Path, modes: list[str]) -> dict[str, list[str]]:
    """Records and compares; prints one line per mode and gives what differs."""
    words = [sys.executable, __file__, "--folder", str(folder), *(f"--mode={mode}" for mode in modes)]
    recorders = [subprocess.Popen([*words, "--record", side]) for side in SIDES]
    statuses = [recorder.wait() for recorder in recorders]
    if any(statuses):
        raise SystemExit("a recording failed")
    known: Counter = Counter()
    differences = {}
    for mode in modes:
        theirs, ours = Stock(folder / mode / "stock", mode).record(), Tdbg(folder / mode / "tdbg", mode).record()
        differences[mode] = compare(theirs, ours, mode)
        known += ours.known
        tensors = sum(sum(call.values()) for call in [*theirs.calls, theirs.apart])
        print(
            f"{mode}: {len(theirs.executions)} executions and {tensors} graph tensors of Debugger V2; "
            f"{len(differences[mode])} differ in tdbg; by design: {dict(ours.known) or 'nothing'}"
        )
        for text in differences[mode][:_SHOWN]:
            print("  " + text)
    for name in known:
        print(f"{name}: {KNOWN[name]}")
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--folder", type=Path, help="where to record (default: a temporary folder)")
    parser.add_argument("--record", choices=SIDES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    modes = args.mode or list(MODES)
    if args.record:
        record(args.record, args.folder, modes)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        return 1 if any(compare_modes(args.folder or Path(temporary), modes).values()) else 0


if __name__ == "__main__":
    sys.exit(main())
