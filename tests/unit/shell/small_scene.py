"""A Scene in memory: arrays in, what commands ask for out. Ten nodes, of which one makes infinities of zeros."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tdbg import expressions
from tdbg.errors import TdbgError
from tdbg.model import Frame, ProfiledNode, Summary
from tdbg.scene import (
    Edge,
    Moment,
    Node,
    RunInfo,
    Seen,
    Selection,
    SourceFile,
    SourceLine,
    Tensors,
)

SOURCE = """import tensorflow as tf

def loss_of(x, weights, labels):
    logits = tf.matmul(x, weights)
    probabilities = tf.nn.softmax(logits)
    loss = -labels * tf.math.log(probabilities)
    return tf.reduce_mean(loss)
"""
FILE = "/home/ada/debug_mnist.py"
LIBRARY = "/site-packages/keras/losses.py"
PROBABILITIES = np.array([[0.0, 0.25, 0.75], [0.5, 0.0, 0.5]], np.float32)
with np.errstate(all="ignore"):
    LOGS = np.log(PROBABILITIES)
    PRODUCTS = LOGS * 0

# name, op type, line, inputs, control inputs, output
NODES: list[tuple[str, str, int, list[str], list[str], Any]] = [
    ("x", "Placeholder", 0, [], [], np.ones((2, 4), np.float32)),
    ("weights", "VarHandleOp", 0, [], [], None),
    ("weights/Read", "ReadVariableOp", 4, ["weights:0"], ["init"], np.ones((4, 3), np.float32)),
    ("hidden/MatMul", "MatMul", 4, ["x:0", "weights/Read:0"], [], np.ones((2, 3), np.float32)),
    ("Softmax", "Softmax", 5, ["hidden/MatMul:0"], [], PROBABILITIES),
    ("cross_entropy/Log", "Log", 6, ["Softmax:0"], [], LOGS),
    ("cross_entropy/mul", "Mul", 6, ["labels é:0", "cross_entropy/Log:0"], [], PRODUCTS),
    ("labels é", "Placeholder", 0, [], [], np.eye(2, 3, dtype=np.float32)),
    ("Mean", "Mean", 7, ["cross_entropy/mul:0"], ["init"], np.float32(np.nan)),
    ("init", "NoOp", 0, [], ["Mean"], None),
]
_BY_NAME = {row[0]: row for row in NODES}


def summary(values: Any) -> Summary:
    values = np.asarray(values)
    finite = values[np.isfinite(values)]
    counts = [np.isneginf(values).sum(), np.isposinf(values).sum(), np.isnan(values).sum()]
    signs = [(finite < 0).sum(), (finite == 0).sum(), (finite > 0).sum()]
    numbers = [finite.min(), finite.max(), finite.mean(), finite.std()] if finite.size else [np.nan] * 4
    return Summary(values.size, *map(int, signs), *map(int, counts), *map(float, numbers))


class ListedTensors(Tensors):
    def __init__(self, found: Sequence[Seen], total: int, notes: Sequence[str] = ()) -> None:
        self._found, self.total, self.notes = found, total, notes

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, at: Any) -> Any:
        return self._found[at]


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    return bool(tensor.dtype.kind == "f" and not np.isfinite(tensor).all())


class SmallScene:
    """``profiled``: with times, as after ``run -p``. ``begins``: nothing was computed yet."""

    title = "mnist.tdbg · step 3"

    def __init__(self, profiled: bool = False, begins: bool = False) -> None:
        self.filters = {"has_inf_or_nan": has_inf_or_nan}
        self._moment: int | None = 3
        self._profiled = profiled
        self._seen = [] if begins else [self._of(n, *row) for n, row in enumerate(NODES) if row[5] is not None]

    @staticmethod
    def _of(n: int, name: str, op_type: str, line: int, inputs: Any, controls: Any, output: Any) -> Seen:
        array = np.asarray(output)
        numbers = summary(array)
        return Seen(
            name, 0, op_type, n * 1.25, array.nbytes, str(array.dtype), array.shape, n,
            device="/device:CPU:0", step=3, seq=n, numbers=numbers, is_bad=numbers.is_bad,
        )  # fmt: skip

    def moments(self) -> Sequence[Moment]:
        return [Moment("step", n, f"step {n}", len(self._seen), 0 if n < 3 else 3, float(n)) for n in range(4)]

    @property
    def moment(self) -> Moment | None:
        return None if self._moment is None else self.moments()[self._moment]

    def go(self, number: int | None) -> None:
        if number is not None and not 0 <= number < 4:
            raise TdbgError(f"there is no step {number}; there are 0 to 3")
        self._moment = number

    def refresh(self) -> bool:
        return False

    def tensors(self, selection: Selection) -> Tensors:
        found = [seen for seen in self._seen if self._passes(seen, selection)]
        keys = {
            "timestamp": lambda seen: seen.time,
            "dump_size": lambda seen: seen.size,
            "op_type": lambda seen: seen.op_type,
            "tensor_name": lambda seen: seen.tensor,
        }
        found.sort(key=keys[selection.sort_by], reverse=selection.reverse)
        return ListedTensors(found, len(self._seen))

    def _passes(self, seen: Seen, selection: Selection) -> bool:
        if not re.match(selection.node_pattern, seen.node) or not re.match(selection.op_pattern, seen.op_type):
            return False
        if not selection.filter:
            return True
        if selection.exclude_nodes and re.match(selection.exclude_nodes, seen.node):
            return False
        if selection.filter in self.filters:
            return bool(self.filters[selection.filter](seen, self.value(seen)))
        numbers = seen.numbers.numbers()
        fields = {**numbers, "op": seen.op_type, "name": seen.node, "bad": seen.is_bad, "step": seen.step}
        return expressions.parse(selection.filter).matches(fields)

    def seen(self, tensor: str, debug_op: str = "", device: str = "") -> Sequence[Seen]:
        wanted = tensor if ":" in tensor else f"{tensor}:0"
        found = [seen for seen in self._seen if seen.tensor == wanted]
        if not found:
            raise TdbgError(_missing("tensor", tensor, self.tensor_names()))
        return found

    def value(self, seen: Seen) -> Any:
        return np.asarray(NODES[seen.key][5])

    def tensor_names(self) -> Sequence[str]:
        return [seen.tensor for seen in self._seen]

    def node_names(self) -> Sequence[str]:
        return [row[0] for row in NODES]

    def node(self, name: str) -> Node:
        name = name.removesuffix(":0")
        if name not in _BY_NAME:
            raise TdbgError(_missing("node", name, self.node_names()))
        _, op_type, line, inputs, controls, _ = _BY_NAME[name]
        recipients = [row for row in NODES if f"{name}:0" in row[3]]
        awaiting = [row for row in NODES if name in row[4]]
        stack = [(Frame(LIBRARY, 12, "log", False), ""), (Frame(FILE, line, "loss_of", True), _line_text(line))]
        return Node(
            name,
            op_type,
            "/job:localhost/device:CPU:0",
            [Edge(one[:-2], 0, _BY_NAME[one[:-2]][1]) for one in inputs],
            [Edge(one, -1, _BY_NAME[one][1]) for one in controls],
            [Edge(row[0], 0, row[1]) for row in recipients],
            [Edge(row[0], -1, row[1]) for row in awaiting],
            {"T": "float32", "_class": "['loc:@weights']", "fused_ops": 'list {\n  s: "BiasAdd"\n  s: "Relu"\n}\n'},
            stack if line else [],
            written_as="MatMul" if op_type == "MatMul" else "",
            graph="train_step",
            phase="forward",
        )

    def sources(self) -> Sequence[SourceFile]:
        return [SourceFile(FILE, True, 5, 5, len(self._seen), 4), SourceFile(LIBRARY, False, 2, 2, 2, 12)]

    def source(self, path: str) -> Sequence[SourceLine]:
        if not FILE.endswith(path):
            raise TdbgError(f"the trace holds no file {path!r}; it holds {FILE}")
        found = []
        for number, text in enumerate(SOURCE.splitlines(), 1):
            nodes = [row[0] for row in NODES if row[2] == number]
            found.append(SourceLine(number, text, nodes, [f"{name}:0" for name in nodes], number == 6))
        return found

    def run_info(self) -> RunInfo:
        return RunInfo("run #4: 1 fetch (Mean:0); 2 feeds", ["Mean:0"], ["init"], ["x:0", "labels é:0"])

    def feeds(self) -> Mapping[str, Any]:
        return {f"{name}:0": _BY_NAME[name][5] for name in ("x", "labels é")}

    def profile(self) -> Sequence[ProfiledNode]:
        if not self._profiled:
            return []
        frame = Frame(FILE, 6, "loss_of", True)
        device = "/job:localhost/device:CPU:0"
        return [
            ProfiledNode(
                "hidden/MatMul", "MatMul", device, 1_000_000, 250_000, 300_000, Frame(FILE, 4, "loss_of", True)
            ),
            ProfiledNode("cross_entropy/Log", "Log", device, 2_000_000, 50_000, 90_000, frame),
            ProfiledNode("cross_entropy/mul", "Mul", device, 2_500_000, 10_000, 20_000, frame),
            ProfiledNode("_SOURCE", "NoOp", device, 900_000, 1_000, 2_000, None),
        ]

    def trace(self) -> Any:
        raise TdbgError("this scene has no trace")


def _line_text(line: int) -> str:
    return SOURCE.splitlines()[line - 1].strip() if line else ""


def _missing(kind: str, name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"no {kind} {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
