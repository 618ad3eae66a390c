"""What is known of TensorFlow's op types without TensorFlow: which write variables, which inputs carry data, and what
becomes of an infinity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Input = TypeVar("Input")

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


# Which inputs an op makes its output's values of, where that is not all of them: the others are shapes, axes, indices,
# sizes or predicates, which say where values go. An int or a slice of the list of inputs.
_FIRST, _BUT_FIRST, _BUT_LAST = slice(0, 1), slice(1, None), slice(0, -1)
_DATA_INPUTS = {
    **dict.fromkeys(
        """Reshape Transpose ConjugateTranspose ExpandDims Squeeze Tile Slice StridedSlice Gather GatherV2 GatherNd
        ResourceGather ResourceGatherNd BroadcastTo Pad MirrorPad MirrorPadGrad Reverse ReverseV2 Roll Cumsum
        Cumprod Sum Mean Prod Max Min EuclideanNorm Any All ArgMax ArgMin TopKV2 ReverseSequence MatrixBandPart
        BatchToSpaceND SpaceToBatchND BatchToSpace SpaceToBatch Switch RefSwitch ResizeBilinear ResizeNearestNeighbor
        ResizeBicubic ResizeArea SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd UnsortedSegmentSum
        UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd SparseSegmentSum SparseSegmentMean Repeat
        MatrixDiagPartV2""".split(),
        _FIRST,
    ),
    "SplitV": _FIRST,
    "Split": slice(1, 2),
    "Fill": slice(1, 2),
    "ScatterNd": slice(1, 2),
    "Select": _BUT_FIRST,
    "SelectV2": _BUT_FIRST,
    "Concat": _BUT_FIRST,
    "ConcatV2": _BUT_LAST,
    "OneHot": slice(2, None),
    "PadV2": slice(0, None, 2),
    "StridedSliceGrad": slice(4, None),
    "TensorScatterUpdate": slice(0, None, 2),
    "TensorScatterAdd": slice(0, None, 2),
    "TensorScatterSub": slice(0, None, 2),
    "TensorListSetItem": slice(0, None, 2),
    "TensorListGetItem": _FIRST,
    "TensorListStack": _FIRST,
    "TensorListFromTensor": _FIRST,
    "TensorArrayReadV3": slice(2, None),
    "Conv2DBackpropInput": _BUT_FIRST,
    "Conv2DBackpropFilter": slice(0, None, 2),
    "Shape": slice(0, 0),
    "ShapeN": slice(0, 0),
    "Size": slice(0, 0),
    "Rank": slice(0, 0),
    "ZerosLike": slice(0, 0),
    "OnesLike": slice(0, 0),
}


def data_inputs(op_type: str, inputs: Sequence[Input]) -> list[tuple[int, Input]]:
    """(number, input) of those inputs that the values of an op's output are made of."""
    return list(enumerate(inputs))[_DATA_INPUTS.get(op_type, slice(None))]


def takes_values(op_type: str) -> bool:
    """Whether an op looks at the values that it is given, and not at their shape alone."""
    return _DATA_INPUTS.get(op_type) != slice(0, 0)


# They hand on what they are given, an infinity with it, and compute at most a sum or a product.
HAND_ON = frozenset(
    """Select SelectV2 AddV2 Add BroadcastTo Tile Fill Pack ConcatV2 StridedSlice Slice GatherV2 Cast Placeholder PadV2
    MatrixBandPart MatrixSetDiagV3 Mul Neg Sub IteratorGetNext OptionalGetValue""".split()
)
ONLY_MOVE = frozenset(
    """Select SelectV2 BroadcastTo Tile Pack Unpack ConcatV2 Split SplitV StridedSlice Slice GatherV2 GatherNd ReverseV2
    Pad MatrixBandPart Neg""".split()
)
SOFTMAX = frozenset(("Softmax", "LogSoftmax"))
COMPARE = frozenset("Minimum Maximum Min Max Less LessEqual Greater GreaterEqual".split())
WEIGH = frozenset("Softmax LogSoftmax Exp TopKV2 ArgMax Sigmoid Multinomial StatelessMultinomial".split())
# They can make a number of an infinity.
HEAL = (
    COMPARE
    | WEIGH
    | frozenset(
        "Select SelectV2 ClipByValue MulNoNan DivNoNan Tanh Erf Atan Softsign Relu Relu6 Elu Selu Softplus Reciprocal "
        "RealDiv Div Expm1 LogSumExp".split()
    )
)
# A program that has one of them knows that there may be NaN.
SPARE_NAN = frozenset("IsNan IsFinite IsInf Select SelectV2 MulNoNan DivNoNan Where".split())
