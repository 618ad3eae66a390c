"""Defines the nouns of tdbg: plain records that every folder shares and that know no framework and no file format."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, Generic, TypeVar

Count = TypeVar("Count")
Statistic = TypeVar("Statistic")


class DType(IntEnum):
    """Element types by the code that stands in a trace; the numbers are part of the format and never change."""

    UNKNOWN = 0
    FLOAT16 = 1
    BFLOAT16 = 2
    FLOAT32 = 3
    FLOAT64 = 4
    FLOAT8_E4M3FN = 5
    FLOAT8_E5M2 = 6
    FLOAT8_E4M3FNUZ = 7
    FLOAT8_E4M3B11FNUZ = 8
    FLOAT8_E5M2FNUZ = 9
    COMPLEX64 = 10
    COMPLEX128 = 11
    INT8 = 12
    INT16 = 13
    INT32 = 14
    INT64 = 15
    UINT8 = 16
    UINT16 = 17
    UINT32 = 18
    UINT64 = 19
    BOOL = 20
    STRING = 21
    RESOURCE = 22
    VARIANT = 23

    @property
    def label(self) -> str:
        """The name as people write it: ``float32``."""
        return self.name.lower()

    @classmethod
    def _missing_(cls, value: object) -> DType:
        """A trace may hold any number."""
        return cls.UNKNOWN

    @property
    def is_floating(self) -> bool:
        """Can hold NaN or infinity (complex types included)."""
        return DType.FLOAT16 <= self <= DType.COMPLEX128

    @property
    def is_number(self) -> bool:
        return DType.FLOAT16 <= self <= DType.BOOL


class Phase(IntEnum):
    """Which part of a training step an op belongs to."""

    FORWARD = 0
    BACKWARD = 1
    UPDATE = 2
    OTHER = 3

    @property
    def label(self) -> str:
        return self.name.lower()


class Mode(IntEnum):
    """How much is kept of each tensor."""

    NONE = 0
    HEALTH = 1
    NUMERICS = 2
    SHAPE = 3
    FULL = 4
    EDGES = 5  # as NUMERICS, but functions are seen from outside only

    @property
    def label(self) -> str:
        return self.name.lower()


class Flag(IntEnum):
    """Bits of ``tensors.flags``."""

    BAD = 1  # holds a NaN or an infinity
    NUMBERS = 2  # all counts and min/max/mean/std columns are filled (mode numerics or full)
    INPUT = 4  # a value that entered the program here: a constant, a fed array, a function argument
    ORIGIN = 8  # bad, although every input was looked at in place and was finite
    EVIDENCE = 16  # not an output: input number `slot` of `op`, as it was when that op's output was bad
    RESULT = 32  # what a call of a function gave back; the op inside that made it has a row of its own


@dataclass(frozen=True, slots=True)
class Number:
    """What there is to know of one number of a tensor. A count is of elements; a statistic is of the finite ones, and
    NaN where there are none."""

    name: str
    is_count: bool
    label: str  # as people read it
    meaning: str
    counts_bad: bool = False  # NaN or infinities
    merged: str = ""  # what rollups keep of those of several tensors: "sum", "least", "greatest" or nothing
    is_computed: bool = False  # of all elements together: not known beyond the last place of the tensor's type


def _count(label: str, meaning: str, **more: Any) -> dict[str, Any]:
    return {"is_count": True, "label": label, "meaning": meaning, **more}


def _statistic(label: str, meaning: str, **more: Any) -> dict[str, Any]:
    return {"is_count": False, "label": label, "meaning": meaning, **more}


@dataclass(frozen=True, slots=True)
class Numbers(Generic[Count, Statistic]):
    """The one list of a tensor's numbers: records, columns, filters, listings and JSON have them from here.

    The order is that of the C struct (native/summaries/numbers.h) and of the trace. New ones go to the end.
    """

    elements: int = field(metadata=_count("elements", "how many elements there are"))
    negative: Count = field(metadata=_count("negative", "how many are finite and below 0"))
    zero: Count = field(metadata=_count("zeros", "how many are exactly 0"))
    positive: Count = field(metadata=_count("positive", "how many are finite and above 0"))
    neg_inf: Count = field(metadata=_count("-inf", "how many are -infinity", counts_bad=True, merged="sum"))
    pos_inf: Count = field(metadata=_count("+inf", "how many are +infinity", counts_bad=True, merged="sum"))
    nan: Count = field(metadata=_count("NaN", "how many elements are NaN", counts_bad=True, merged="sum"))
    min: Statistic = field(metadata=_statistic("min", "the smallest finite element", merged="least"))
    max: Statistic = field(metadata=_statistic("max", "the largest finite element", merged="greatest"))
    mean: Statistic = field(metadata=_statistic("mean", "the mean of the finite elements", is_computed=True))
    std: Statistic = field(metadata=_statistic("std", "their standard deviation", is_computed=True))

    def numbers(self) -> dict[str, Any]:
        """All of them by name."""
        return {name: getattr(self, name) for name in NAMES}


NUMBERS = tuple(Number(one.name, **one.metadata) for one in fields(Numbers))
NAMES = tuple(one.name for one in NUMBERS)
COUNTS = tuple(one.name for one in NUMBERS if one.is_count)
STATISTICS = tuple(one.name for one in NUMBERS if not one.is_count)
BAD_COUNTS = tuple(one.name for one in NUMBERS if one.counts_bad)
MEASURED = NAMES[1:]  # all that takes a look at the elements; how many there are, is known without


@dataclass(frozen=True, slots=True)
class Summary(Numbers[int, float]):
    """What one pass over a tensor tells."""

    @classmethod
    def unmeasured(cls, elements: int) -> Summary:
        """Of a tensor that has no numbers."""
        others: list[Any] = [0 if one.is_count else 0.0 for one in NUMBERS[1:]]
        return cls(elements, *others)

    @property
    def is_bad(self) -> bool:
        """Whether a NaN or an infinity is there."""
        return any(getattr(self, name) for name in BAD_COUNTS)


# What is bad: a NaN or an infinity. Of a row of ``tensors`` only the flag tells, for its counts may be unknown.


def is_bad(flags: Any) -> Any:
    """Whether rows with these flags are bad; of an array of flags, an array."""
    return (flags & int(Flag.BAD)) != 0


def is_bad_output(flags: Any) -> Any:
    """The same, of what ops gave: an input that was kept beside a bad output was counted where it was made."""
    return (flags & int(Flag.BAD | Flag.EVIDENCE)) == int(Flag.BAD)


BAD_SQL = f"flags & {int(Flag.BAD)} != 0"  # ``is_bad`` over ``tensors``; may follow ``t.``
BAD_OUTPUT_SQL = f"{BAD_SQL} AND flags & {int(Flag.EVIDENCE)} = 0"
# How many elements of a row are bad: one at least, where it is bad and nobody counted.
BAD_ELEMENTS_SQL = f"greatest({' + '.join(f'coalesce({name}, 0)' for name in BAD_COUNTS)}, flags & {int(Flag.BAD)})"


def bad_text(nan: int | None, neg_inf: int | None, pos_inf: int | None) -> str:
    """``NaN ×3, -inf ×1``; empty when none was counted."""
    counts = {"NaN": nan, "-inf": neg_inf, "+inf": pos_inf}
    return ", ".join(f"{label} ×{count:,}" for label, count in counts.items() if count)


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a Python stack."""

    file: str
    line: int
    function: str
    is_user: bool


TOGETHER = "+"  # between the types of ops that were computed as one


@dataclass(frozen=True, slots=True)
class ProfiledNode:
    """One node that ran on one device while a run was profiled; times are in nanoseconds."""

    node: str
    type: str  # "" where it is not known; MatMul+AddV2+Relu
    device: str
    start: int  # since the epoch
    op_time: int  # its kernel alone
    exec_time: int  # with what the executor did around it
    frame: Frame | None = None  # the user's line that made it
