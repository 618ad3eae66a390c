"""The nouns of tdbg: plain records that every folder shares and that know no framework and no file format."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


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
class Summary:
    """What one pass over a tensor tells; min, max, mean and std are of the finite values, NaN when there are none."""

    elements: int
    negative: int
    zero: int
    positive: int
    neg_inf: int
    pos_inf: int
    nan: int
    min: float
    max: float
    mean: float
    std: float

    @property
    def is_bad(self) -> bool:
        return bool(self.neg_inf or self.pos_inf or self.nan)


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a Python stack."""

    file: str
    line: int
    function: str
    is_user: bool


@dataclass(frozen=True, slots=True)
class Process:
    """One writing process of a trace."""

    folder: str
    pid: int
    host: str
    rank: int
    argv: tuple[str, ...]
    started: int
    mode: Mode
    versions: dict[str, str] = field(default_factory=dict)


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
