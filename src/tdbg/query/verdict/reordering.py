"""Finds constants of a program that do not fit their type when they are multiplied before anything else.

TensorFlow's optimizer makes ``x * (a * b)`` of ``(x * a) * b``. An observer between the two keeps it from that, so what
overflows in the plain program need not overflow in the one that is recorded. The graph tells where that can be.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from tdbg.frameworks import dialect_of
from tdbg.model import DType, Phase
from tdbg.query.trace.program import Op, Program, short_path
from tdbg.query.trace.rows import Rows
from tdbg.vocabulary import Kind

_FACTORS = frozenset({Kind.MULTIPLY, Kind.DIVIDE})
_RANGE = {  # the powers of ten that a type holds without losing digits
    DType.FLOAT16: (-4.2, 4.8),
    DType.BFLOAT16: (-37.9, 38.5),
    DType.FLOAT32: (-37.9, 38.5),
    DType.FLOAT64: (-307.6, 308.2),
}


@dataclass
class _Product:
    """The constants that one tree of factors brings in: their power of ten, their types, and the ops that read them."""

    power: float = 0.0
    dtypes: set[DType] = field(default_factory=set)
    ops: dict[int, Op] = field(default_factory=dict)

    def multiply(self, other: _Product, sign: int) -> None:
        self.power += sign * other.power
        self.dtypes |= other.dtypes
        self.ops |= other.ops

    @property
    def fits(self) -> bool:
        if len(self.ops) < 2 or len(self.dtypes) != 1:
            return True
        least, most = _RANGE[min(self.dtypes)]
        return least < self.power < most


def note_on_constants(rows: Rows, program: Program, process: int, rewritten: Collection[int]) -> str:
    """Says what the plain program may compute otherwise; "" when there is nothing of the kind.

    ``rewritten``: graphs that were recorded as the optimizer made them.
    """
    constants = _constants(rows, process)
    if not any(abs(power) > min(-_RANGE[dtype][0], _RANGE[dtype][1]) / 4 for dtype, power in constants.values()):
        return ""
    products: dict[int, _Product] = {}
    inner: set[int] = set()
    for number, op in sorted(program.ops.items()):  # an op comes after those that it reads
        if op.kind not in _FACTORS or op.graph < 0 or op.graph in rewritten or op.phase != Phase.FORWARD:
            continue
        product = products[number] = _Product()
        for at, (source, _) in enumerate(op.inputs):
            sign = -1 if at == 1 and op.kind != Kind.MULTIPLY else 1
            if source in constants:
                dtype, power = constants[source]
                product.multiply(_Product(power, {dtype}, {number: op}), sign)
            elif source in products:
                product.multiply(products[source], sign)
                inner.add(source)
    found = next((one for number, one in products.items() if number not in inner and not one.fits), None)
    return _text(program, found) if found is not None else ""


def _constants(rows: Rows, process: int) -> dict[int, tuple[DType, float]]:
    """Finds the constants, by op: the type, and the power of ten of the largest element."""
    sql = f"SELECT op, output_dtypes[1] FROM ops WHERE process = {process} AND kind = ? AND graph >= 0"
    dtypes = {op: DType(number) for op, number in rows.query(sql, [Kind.CONSTANT.value]) if number in set(_RANGE)}
    columns = (rows.ops[name].to_pylist() for name in ("process", "op", "min", "max"))
    found = {}
    for of, op, least, most in zip(*columns, strict=True):
        size = max(abs(least), abs(most)) if of == process and op in dtypes else 0.0
        if 0 < size < math.inf:
            found[op] = dtypes[op], math.log10(size)
    return found


def _text(program: Program, product: _Product) -> str:
    frames = [program.user_frame(op) for op in product.ops.values()]
    lines = list(dict.fromkeys(f"{short_path(frame.file)}:{frame.line}" for frame in frames if frame is not None))
    where = f" of {' and '.join(lines)}" if lines else ""
    size = "more" if product.power > 0 else "less"
    framework = next(dialect_of(op.framework).title for op in product.ops.values())
    return (
        f"without tdbg {framework} may multiply the constants{where} first, which gives {size} than "
        f"{min(product.dtypes).label} can hold; if only the plain program goes wrong, record with tdbg run --exact"
    )
