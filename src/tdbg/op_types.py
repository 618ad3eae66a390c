"""What is known of TensorFlow's op types without TensorFlow: which of them write variables."""

from __future__ import annotations

WRITES = frozenset(
    """AssignVariableOp AssignAddVariableOp AssignSubVariableOp ResourceScatterUpdate ResourceScatterAdd
    ResourceScatterSub ResourceScatterMul ResourceScatterDiv ResourceScatterMin ResourceScatterMax
    ResourceScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub ResourceStridedSliceAssign
    Assign AssignAdd AssignSub StridedSliceAssign ScatterUpdate ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin
    ScatterMax ScatterNdUpdate ScatterNdAdd ScatterNdSub CountUpTo""".split()
)
_OPTIMIZERS = ("ResourceApply", "ResourceSparseApply", "Apply", "SparseApply")  # the last two write references


def writes_variable(op_type: str) -> bool:
    return op_type in WRITES or op_type.startswith(_OPTIMIZERS)
