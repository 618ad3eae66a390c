"""Says what TensorFlow's op types are in tdbg's words. Knows TensorFlow, and does not import it."""

from __future__ import annotations

import re
from functools import lru_cache

from tdbg.vocabulary import NO_ROLE, Kind, Role

NAME = "tensorflow"

_MATMULS = "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3"
_CONVOLUTIONS = "Conv2D Conv3D"
_DEPTHWISE = "DepthwiseConv2dNative"


def _by_onednn(names: str) -> str:
    return " ".join(f"_{maker}{name}" for name in names.split() for maker in ("Mkl", "MklNative"))


def _fused(names: str) -> str:
    makers = ("Fused", "MklFused", "MklNativeFused")
    return " ".join(f"_{maker}{name}" for name in names.split() for maker in makers)


_KINDS: dict[Kind, str] = {
    Kind.ADD: "Add AddV2",
    Kind.ADD_N: "AddN AccumulateNV2",
    Kind.ADD_BIAS: "BiasAdd BiasAddV1",
    Kind.SUBTRACT: "Sub",
    Kind.MULTIPLY: "Mul",
    Kind.MULTIPLY_NO_NAN: "MulNoNan",
    Kind.DIVIDE: "RealDiv Div",
    Kind.DIVIDE_NO_NAN: "DivNoNan",
    Kind.FLOOR_DIVIDE: "FloorDiv",
    Kind.TRUNCATE_DIVIDE: "TruncateDiv",
    Kind.MODULO: "FloorMod Mod",
    Kind.NEGATE: "Neg",
    Kind.ABS: "Abs ComplexAbs",
    Kind.SIGN: "Sign",
    Kind.SQUARE: "Square",
    Kind.SQUARED_DIFFERENCE: "SquaredDifference",
    Kind.SQRT: "Sqrt",
    Kind.RSQRT: "Rsqrt",
    Kind.RECIPROCAL: "Reciprocal Inv",
    Kind.POWER: "Pow",
    Kind.EXP: "Exp",
    Kind.EXPM1: "Expm1",
    Kind.LOG: "Log",
    Kind.LOG1P: "Log1p",
    Kind.XLOGY: "Xlogy",
    Kind.XLOG1PY: "Xlog1py",
    Kind.XDIVY: "Xdivy",
    Kind.MAXIMUM: "Maximum",
    Kind.MINIMUM: "Minimum",
    Kind.CLIP: "ClipByValue",
    Kind.FLOOR: "Floor",
    Kind.CEIL: "Ceil",
    Kind.ROUND: "Round Rint",
    Kind.SIN: "Sin",
    Kind.COS: "Cos",
    Kind.TAN: "Tan",
    Kind.ASIN: "Asin",
    Kind.ACOS: "Acos",
    Kind.ATAN: "Atan",
    Kind.ATAN2: "Atan2",
    Kind.SINH: "Sinh",
    Kind.COSH: "Cosh",
    Kind.TANH: "Tanh",
    Kind.ASINH: "Asinh",
    Kind.ACOSH: "Acosh",
    Kind.ATANH: "Atanh",
    Kind.ERF: "Erf",
    Kind.ERFC: "Erfc",
    Kind.ERFINV: "Erfinv",
    Kind.NDTRI: "Ndtri",
    Kind.LGAMMA: "Lgamma",
    Kind.DIGAMMA: "Digamma",
    Kind.POLYGAMMA: "Polygamma",
    Kind.ZETA: "Zeta",
    Kind.BETAINC: "Betainc",
    Kind.IGAMMA: "Igamma",
    Kind.IGAMMAC: "Igammac",
    Kind.RELU: "Relu",
    Kind.RELU6: "Relu6",
    Kind.LEAKY_RELU: "LeakyRelu",
    Kind.ELU: "Elu",
    Kind.SELU: "Selu",
    Kind.SIGMOID: "Sigmoid",
    Kind.SOFTPLUS: "Softplus",
    Kind.SOFTSIGN: "Softsign",
    Kind.SOFTMAX: "Softmax",
    Kind.LOG_SOFTMAX: "LogSoftmax",
    Kind.RECIPROCAL_GRADIENT: "ReciprocalGrad InvGrad",
    Kind.SQRT_GRADIENT: "SqrtGrad",
    Kind.RSQRT_GRADIENT: "RsqrtGrad",
    Kind.RELU_GRADIENT: "ReluGrad",
    Kind.RELU6_GRADIENT: "Relu6Grad",
    Kind.LEAKY_RELU_GRADIENT: "LeakyReluGrad",
    Kind.ELU_GRADIENT: "EluGrad",
    Kind.SELU_GRADIENT: "SeluGrad",
    Kind.TANH_GRADIENT: "TanhGrad",
    Kind.SIGMOID_GRADIENT: "SigmoidGrad",
    Kind.SOFTPLUS_GRADIENT: "SoftplusGrad",
    Kind.SOFTSIGN_GRADIENT: "SoftsignGrad",
    Kind.BIAS_GRADIENT: "BiasAddGrad",
    Kind.CHOLESKY_GRADIENT: "CholeskyGrad",
    Kind.NORMALIZE_GRADIENT: "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
    Kind.CONVOLVE_GRADIENT: """Conv2DBackpropInput Conv3DBackpropInput Conv3DBackpropInputV2
        DepthwiseConv2dNativeBackpropInput""",
    Kind.FILTER_GRADIENT: """Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropFilterV2
        DepthwiseConv2dNativeBackpropFilter""",
    Kind.SLICE_GRADIENT: "StridedSliceGrad",
    Kind.PAD_GRADIENT: "MirrorPadGrad",
    Kind.SOFTMAX_CROSS_ENTROPY: "SoftmaxCrossEntropyWithLogits",
    Kind.SPARSE_SOFTMAX_CROSS_ENTROPY: "SparseSoftmaxCrossEntropyWithLogits",
    Kind.CTC_LOSS: "CTCLoss CTCLossV2",
    Kind.HALF_SQUARES: "L2Loss",
    Kind.SUM: "Sum",
    Kind.MEAN: "Mean",
    Kind.PRODUCT: "Prod",
    Kind.MAX: "Max",
    Kind.MIN: "Min",
    Kind.NORM: "EuclideanNorm",
    Kind.ANY: "Any",
    Kind.ALL: "All",
    Kind.ARGMAX: "ArgMax",
    Kind.ARGMIN: "ArgMin",
    Kind.TOP_K: "TopKV2 TopK",
    Kind.CUMSUM: "Cumsum",
    Kind.CUMPROD: "Cumprod",
    Kind.SEGMENT_SUM: "SegmentSum SegmentSumV2 UnsortedSegmentSum SparseSegmentSum",
    Kind.SEGMENT_MEAN: "SegmentMean SparseSegmentMean",
    Kind.SEGMENT_REDUCTION: """SegmentMax SegmentMaxV2 SegmentMin SegmentMinV2 SegmentProd SegmentProdV2
        UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd""",
    Kind.BATCH_NORM: "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    Kind.POOL: "MaxPool MaxPoolV2 MaxPool3D AvgPool AvgPool3D",
    Kind.MATMUL: f"{_MATMULS} {_by_onednn(_MATMULS)}",
    Kind.EINSUM: f"Einsum {_by_onednn('Einsum')}",
    Kind.CONVOLVE: f"{_CONVOLUTIONS} {_by_onednn(_CONVOLUTIONS)}",
    Kind.DEPTHWISE_CONVOLVE: f"{_DEPTHWISE} {_by_onednn(_DEPTHWISE)}",
    Kind.FUSED_MATMUL: _fused(_MATMULS),
    Kind.FUSED_CONVOLVE: _fused(_CONVOLUTIONS),
    Kind.FUSED_DEPTHWISE_CONVOLVE: _fused(_DEPTHWISE),
    Kind.DETERMINANT: "MatrixDeterminant",
    Kind.LOG_DETERMINANT: "LogMatrixDeterminant",
    Kind.INVERSE: "MatrixInverse",
    Kind.SOLVE: "MatrixSolve",
    Kind.TRIANGULAR_SOLVE: "MatrixTriangularSolve",
    Kind.CHOLESKY: "Cholesky",
    Kind.QR: "Qr",
    Kind.SVD: "Svd",
    Kind.EIGEN: "Eig",
    Kind.SYMMETRIC_EIGEN: "SelfAdjointEigV2",
    Kind.MATRIX_SQRT: "MatrixSquareRoot",
    Kind.MATRIX_LOG: "MatrixLogarithm",
    Kind.IDENTITY: "Identity IdentityN Snapshot DebugGradientIdentity Copy CopyHost DeepCopy",
    Kind.STOP_GRADIENT: "StopGradient PreventGradient",
    Kind.CHECK: "CheckNumerics CheckNumericsV2 DebugIdentityV2",
    Kind.RESHAPE: "Reshape EnsureShape",
    Kind.EXPAND_DIMS: "ExpandDims",
    Kind.SQUEEZE: "Squeeze",
    Kind.TRANSPOSE: "Transpose ConjugateTranspose",
    Kind.CAST: "Cast",
    Kind.BITCAST: "Bitcast",
    Kind.SLICE: "Slice",
    Kind.STRIDED_SLICE: "StridedSlice",
    Kind.GATHER: "Gather GatherV2",
    Kind.GATHER_ND: "GatherNd",
    Kind.SELECT: "Select SelectV2",
    Kind.WHERE: "Where",
    Kind.CONCAT: "ConcatV2",
    Kind.CONCAT_AXIS_FIRST: "Concat",
    Kind.STACK: "Pack",
    Kind.UNSTACK: "Unpack",
    Kind.SPLIT: "SplitV",
    Kind.SPLIT_AXIS_FIRST: "Split",
    Kind.PAD: "Pad MirrorPad",
    Kind.PAD_WITH: "PadV2",
    Kind.TILE: "Tile",
    Kind.BROADCAST: "BroadcastTo",
    Kind.REVERSE: "Reverse ReverseV2 ReverseSequence",
    Kind.ROLL: "Roll",
    Kind.REARRANGE: """DepthToSpace SpaceToDepth SpaceToBatchND BatchToSpaceND BatchToSpace SpaceToBatch""",
    Kind.RESIZE: "ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea",
    Kind.DIAGONAL: """MatrixDiag MatrixDiagV2 MatrixDiagV3 MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 Diag
        DiagPart""",
    Kind.BAND: "MatrixBandPart",
    Kind.SET_DIAGONAL: "MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3",
    Kind.SCATTER: "ScatterNd",
    Kind.SCATTER_INTO: """TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin
        ScatterNdNonAliasingAdd""",
    Kind.ONE_HOT: "OneHot",
    Kind.FILL: "Fill",
    Kind.DYNAMIC_STITCH: "DynamicStitch ParallelDynamicStitch",
    Kind.SHAPE_OF: "Shape ShapeN Size Rank",
    Kind.LIKE: "ZerosLike OnesLike",
    Kind.RANGE: "Range LinSpace",
    Kind.LESS: "Less",
    Kind.LESS_EQUAL: "LessEqual",
    Kind.GREATER: "Greater",
    Kind.GREATER_EQUAL: "GreaterEqual",
    Kind.EQUAL: "Equal",
    Kind.NOT_EQUAL: "NotEqual",
    Kind.IS_NAN: "IsNan",
    Kind.IS_INFINITE: "IsInf",
    Kind.IS_FINITE: "IsFinite",
    Kind.CONSTANT: "Const",
    Kind.EMPTY: "Empty",
    Kind.RANDOM_NORMAL: "RandomStandardNormal",
    Kind.RANDOM: """RandomUniform RandomUniformInt TruncatedNormal RandomGamma RandomPoissonV2 StatelessRandomNormal
        StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformV2 StatelessTruncatedNormal
        StatelessTruncatedNormalV2""",
    Kind.SAMPLE: "Multinomial StatelessMultinomial",
    Kind.ARGUMENT: "Placeholder PlaceholderV2 PlaceholderWithDefault _Arg",
    Kind.NEXT_ELEMENT: "IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional",
    Kind.OPTIONAL_VALUE: "OptionalGetValue",
    Kind.DATASET: "TensorDataset TensorSliceDataset",
    Kind.ITERATOR: "Iterator IteratorV2 OneShotIterator AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3",
    Kind.RESTORE: "Restore RestoreV2 RestoreSlice",
    Kind.PARSE_NUMBER: "StringToNumber",
    Kind.PARSE_CSV: "DecodeCSV",
    Kind.PARSE: """DecodeRaw DecodePaddedRaw ParseTensor ParseExample ParseExampleV2 ParseSingleExample
        ParseSequenceExample ParseSequenceExampleV2 ParseSingleSequenceExample""",
    Kind.PYTHON: "PyFunc PyFuncStateless EagerPyFunc",
    Kind.VARIABLE: "VarHandleOp",
    Kind.READ: "ReadVariableOp Variable VariableV2",  # the last two hold the value themselves
    Kind.GATHER_READ: "ResourceGather",
    Kind.GATHER_ND_READ: "ResourceGatherNd",
    Kind.ASSIGN: "AssignVariableOp Assign",
    Kind.ASSIGN_ADD: "AssignAddVariableOp AssignAdd CountUpTo",
    Kind.ASSIGN_SUBTRACT: "AssignSubVariableOp AssignSub",
    Kind.ASSIGN_SLICE: "ResourceStridedSliceAssign StridedSliceAssign",
    Kind.ASSIGN_ROWS: """ResourceScatterUpdate ResourceScatterAdd ResourceScatterSub ResourceScatterMul
        ResourceScatterDiv ResourceScatterMin ResourceScatterMax ResourceScatterNdUpdate ResourceScatterNdAdd
        ResourceScatterNdSub ScatterUpdate ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin ScatterMax
        ScatterNdUpdate ScatterNdAdd ScatterNdSub""",
    Kind.CALL: "PartitionedCall StatefulPartitionedCall TPUPartitionedCall XlaLaunch",
    Kind.IF: "If StatelessIf",
    Kind.CASE: "Case StatelessCase",
    Kind.WHILE: "While StatelessWhile",
    Kind.LOOP_ENTER: "Enter RefEnter",
    Kind.LOOP_EXIT: "Exit RefExit",
    Kind.LOOP_NEXT: "NextIteration RefNextIteration",
    Kind.LOOP_CONDITION: "LoopCond",
    Kind.MERGE: "Merge RefMerge",
    Kind.SWITCH: "Switch RefSwitch",
    Kind.PUSH: "StackPushV2 StackPush TensorListPushBack",
    Kind.POP: "StackPopV2 StackPop TensorListPopBack",
    Kind.LIST_STACK: "TensorListStack TensorListGather TensorListConcat TensorListConcatV2",
    Kind.LIST_SET: "TensorListSetItem",
    Kind.LIST_GET: "TensorListGetItem",
    Kind.LIST_FROM: "TensorListFromTensor",
    Kind.ARRAY: "TensorArray TensorArrayV2 TensorArrayV3 StackV2 Stack",
    Kind.ARRAY_READ: """TensorArrayRead TensorArrayReadV2 TensorArrayReadV3 TensorArrayGather TensorArrayGatherV2
        TensorArrayGatherV3 TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3""",
    Kind.DEQUEUE: """QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo
        QueueDequeueUpToV2""",
    Kind.COMPOSITION: "_UnaryOpsComposition",
    Kind.PRINT: "Print PrintV2",
    Kind.ASSERT: "Assert",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}

# Functions of a graph are called by names such as __inference_train_step_123.
_FUNCTION = re.compile(r"__(?:inference|forward|backward)_(?:(.*?)_\d+$)?")
_STAGE = re.compile(r"Dataset(V\d+)?$")
_ADAPTIVE = re.compile(r"(Resource)?(Sparse)?Apply(Adam|AdaMax|RMSProp|CenteredRMSProp|Adagrad|Adadelta|Ftrl)")
# The runtime computes several ops as one: _FusedMatMul, _MklNativeFusedMatMul.
_RUNTIME = re.compile(r"^_(?:Mkl)?(?:Native)?(?:Fused)?(?=[A-Z])")
_OPTIMIZERS = ("ResourceApply", "ResourceSparseApply", "Apply", "SparseApply")  # the last two write references
# They run functions, but what goes in and comes out is not what those take and give.
_OTHER_CALLS = frozenset(("MapDefun", "RemoteCall", "SymbolicGradient"))

# The output holds the very elements of input 0: its summary is its input's, so it gets no second scan.
MOVERS = frozenset(
    """Identity IdentityN Reshape Transpose ExpandDims Squeeze StopGradient PreventGradient Snapshot CheckNumerics
    CheckNumericsV2 EnsureShape DebugGradientIdentity ConjugateTranspose""".split()
)

# They make numbers of text or bytes: a NaN that begins here was in the data.
PARSERS = frozenset(name for kind in (Kind.PARSE_NUMBER, Kind.PARSE_CSV, Kind.PARSE) for name in _KINDS[kind].split())

# Finite inputs can give a bad output for a reason worth showing, so the observer takes the inputs along: when the
# output is bad they are still in memory and can be kept whole.
RISKY = PARSERS | frozenset(
    """Log Log1p RealDiv Div Xdivy Xlogy Xlog1py Reciprocal Inv ReciprocalGrad InvGrad Sqrt SqrtGrad Rsqrt RsqrtGrad
    Pow Exp Expm1 Softmax LogSoftmax Softplus SoftplusGrad Acos Asin Atanh Acosh Tan Sinh Cosh Lgamma Digamma Erfinv
    Ndtri Polygamma Zeta Betainc Igamma Igammac Cumprod Prod Mod FloorMod FloorDiv TruncateDiv
    SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits MatrixInverse Cholesky CholeskyGrad
    LogMatrixDeterminant MatrixDeterminant MatrixSolve MatrixTriangularSolve Qr Svd SelfAdjointEigV2 FusedBatchNormV3
    FusedBatchNormGradV3 CTCLoss CTCLossV2 PyFunc PyFuncStateless EagerPyFunc""".split()
)

# Good inputs never give a bad output. Mode health, the cheapest, looks at their inputs and leaves them out.
SAFE = frozenset(
    """Neg Abs Sign Relu Relu6 ReluGrad Relu6Grad LeakyRelu LeakyReluGrad Elu Selu Sigmoid Tanh Softsign Erf Erfc Sin
    Cos Atan Maximum Minimum ClipByValue Floor Ceil Round Rint Tile Slice StridedSlice ConcatV2 Pack Unpack Split SplitV
    Pad PadV2 MirrorPad Gather GatherV2 GatherNd Select SelectV2 MaxPool BroadcastTo ReverseV2 Roll ZerosLike OnesLike
    Fill OneHot TopKV2 DepthToSpace SpaceToDepth SpaceToBatchND BatchToSpaceND MatrixDiagV3 MatrixDiagPartV3
    MatrixBandPart Max Min""".split()
)

_ROLES_OF_KIND: dict[Kind, Role] = {
    Kind.READ: Role.READS_STATE,
    Kind.GATHER_READ: Role.READS_STATE,
    Kind.GATHER_ND_READ: Role.READS_STATE,
    Kind.ASSIGN: Role.WRITES_STATE,
    Kind.ASSIGN_ADD: Role.WRITES_STATE,
    Kind.ASSIGN_SUBTRACT: Role.WRITES_STATE,
    Kind.ASSIGN_SLICE: Role.WRITES_STATE,
    Kind.ASSIGN_ROWS: Role.WRITES_STATE,
    Kind.UPDATE: Role.WRITES_STATE,
    Kind.ADAPTIVE_UPDATE: Role.WRITES_STATE,
    Kind.CALL: Role.CALLS,
    Kind.IF: Role.CALLS,
    Kind.CASE: Role.CALLS,
    Kind.WHILE: Role.CALLS | Role.LOOPS,
    Kind.ARGUMENT: Role.ENTERS,
    Kind.NEXT_ELEMENT: Role.ENTERS,
    Kind.OPTIONAL_VALUE: Role.ENTERS,
    Kind.PARSE: Role.PARSES,
    Kind.PARSE_CSV: Role.PARSES,
    Kind.PARSE_NUMBER: Role.PARSES,
}


@lru_cache(maxsize=4096)
def kind_of(op_type: str) -> Kind:
    kind = _KIND_OF.get(op_type)
    if kind is not None:
        return kind
    if op_type.startswith(_OPTIMIZERS):
        return Kind.ADAPTIVE_UPDATE if _ADAPTIVE.match(op_type) else Kind.UPDATE
    if _STAGE.search(op_type):
        return Kind.STAGE
    return Kind.CALL if _FUNCTION.match(op_type) else Kind.OTHER


@lru_cache(maxsize=4096)
def roles_of(op_type: str) -> Role:
    roles = _ROLES_OF_KIND.get(kind_of(op_type), NO_ROLE)
    if op_type in _OTHER_CALLS:
        roles |= Role.CALLS
    for names, role in ((MOVERS, Role.MOVES), (RISKY, Role.RISKY), (SAFE, Role.SAFE)):
        if op_type in names:
            roles |= role
    return roles


@lru_cache(maxsize=4096)
def function_of(op_type: str) -> str:
    found = _FUNCTION.match(op_type)
    return (found[1] if found else None) or ""


def variable_of(name: str) -> str:
    return name.removesuffix("/resource")


def written_type(op_type: str) -> str:
    return _RUNTIME.sub("", op_type)


@lru_cache(maxsize=4096)
def writes_variable(op_type: str) -> bool:
    return Role.WRITES_STATE in roles_of(op_type)


def in_words(op_type: str) -> tuple[str, list[str], str]:
    """The columns ``kind``, ``roles`` and ``framework`` of table ``ops``."""
    return kind_of(op_type).value, roles_of(op_type).words, NAME


def types_with(role: Role) -> frozenset[str]:
    """The op types that have a role, but for those that are known by how their names begin."""
    return frozenset(name for name in native_names() if role in roles_of(name))


def native_names() -> frozenset[str]:
    """All op types that this module names."""
    return frozenset((*_KIND_OF, *MOVERS, *RISKY, *SAFE, *_OTHER_CALLS))
