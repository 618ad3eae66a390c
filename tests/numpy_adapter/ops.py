"""What numpy's functions are in tdbg's words."""

from tdbg.vocabulary import NO_ROLE, Kind, Role

KINDS = {
    "log": Kind.LOG, "exp": Kind.EXP, "sqrt": Kind.SQRT, "add": Kind.ADD, "subtract": Kind.SUBTRACT,
    "multiply": Kind.MULTIPLY, "divide": Kind.DIVIDE, "maximum": Kind.MAXIMUM, "clip": Kind.CLIP, "where": Kind.SELECT,
    "matmul": Kind.MATMUL, "sum": Kind.SUM, "mean": Kind.MEAN, "reshape": Kind.RESHAPE,
}  # fmt: skip
_RISKY = {Kind.LOG, Kind.EXP, Kind.SQRT, Kind.DIVIDE}


def kind_of(op_type: str) -> Kind:
    return KINDS.get(op_type, Kind.OTHER)


def roles_of(op_type: str) -> Role:
    return Role.RISKY if kind_of(op_type) in _RISKY else Role.MOVES if op_type == "reshape" else NO_ROLE


def function_of(op_type: str) -> str:
    return ""


def variable_of(name: str) -> str:
    return name


def written_type(op_type: str) -> str:
    return op_type
