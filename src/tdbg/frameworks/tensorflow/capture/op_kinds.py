"""What tdbg knows of TensorFlow's op types: which only move values, which can make bad ones, which write variables."""

from __future__ import annotations

from tdbg.op_types import WRITES, writes_variable

__all__ = [
    "CALLS", "DEBUGGERS", "ENTRANCES", "MOVERS", "PARSERS", "RISKY", "SAFE", "SILENT", "WRITES", "writes_variable",
]  # fmt: skip

# The output holds the very elements of input 0: its summary is its input's, so it gets no second scan.
MOVERS = frozenset(
    """Identity IdentityN Reshape Transpose ExpandDims Squeeze StopGradient PreventGradient Snapshot CheckNumerics
    CheckNumericsV2 EnsureShape DebugGradientIdentity ConjugateTranspose Placeholder_WithDefault""".split()
)

# They make numbers of text or bytes: a NaN that begins here was in the data.
PARSERS = frozenset(
    """StringToNumber DecodeCSV DecodeRaw DecodePaddedRaw ParseTensor ParseExample ParseExampleV2 ParseSingleExample
    ParseSequenceExample ParseSequenceExampleV2 ParseSingleSequenceExample""".split()
)

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

# They can compute in the memory of an input, while nobody else holds it. Each with what its magnitude follows from,
# as native/stopping/input_notes.h numbers it: nothing, or the sum, the product or the square of the sum of its inputs'.
IN_PLACE = (
    dict.fromkeys("MulNoNan TanhGrad SigmoidGrad GeluGrad SeluGrad EluGrad SoftsignGrad Gelu".split(), 0)
    | dict.fromkeys("Add AddV2 AddN Sub BiasAdd Cast".split(), 1)
    | {"Mul": 2}
    | dict.fromkeys("Square SquaredDifference".split(), 3)
)

# Good inputs never give a bad output. Mode health, the cheapest, looks at their inputs and leaves them out.
SAFE = frozenset(
    """Neg Abs Sign Relu Relu6 ReluGrad Relu6Grad LeakyRelu LeakyReluGrad Elu Selu Sigmoid Tanh Softsign Erf Erfc Sin
    Cos Atan Maximum Minimum ClipByValue Floor Ceil Round Rint Tile Slice StridedSlice ConcatV2 Pack Unpack Split SplitV
    Pad PadV2 MirrorPad Gather GatherV2 GatherNd Select SelectV2 MaxPool BroadcastTo ReverseV2 Roll ZerosLike OnesLike
    Fill OneHot TopKV2 DepthToSpace SpaceToDepth SpaceToBatchND BatchToSpaceND MatrixDiagV3 MatrixDiagPartV3
    MatrixBandPart Max Min""".split()
)

# Calls of other graphs: those graphs carry their own observers, and TensorFlow looks these ops up through their
# outputs, which must therefore stay theirs.
CALLS = frozenset(
    """PartitionedCall StatefulPartitionedCall If StatelessIf While StatelessWhile Case StatelessCase MapDefun
    RemoteCall SymbolicGradient TPUPartitionedCall XlaLaunch""".split()
)

# What TensorFlow's own debuggers put behind every tensor.
DEBUGGERS = frozenset("CheckNumericsV2 DebugIdentityV2".split())

# Never observed: they compute nothing that a summary would describe, or TensorFlow's control flow relies on them.
SILENT = (
    frozenset(
        """Enter Exit NextIteration LoopCond Switch Merge RefSwitch RefMerge ControlTrigger NoOp VarHandleOp Assert
        DestroyResourceOp Print PrintV2 TdbgObserve TdbgWatch""".split()
    )
    | MOVERS
    | CALLS
)

# A bad output of these is never their own doing: they hand on what went in, or what came from outside the program.
PASSES_ON = (
    SAFE
    | MOVERS
    | CALLS
    | DEBUGGERS
    | frozenset(
        """Const Placeholder PlaceholderWithDefault Empty Bitcast Concat Gather Stack Unstack StridedSliceGrad
        DynamicStitch ParallelDynamicStitch DynamicPartition TensorScatterUpdate InvertPermutation BroadcastGradientArgs
        Enter Exit NextIteration LoopCond Switch Merge RefSwitch RefMerge Print PrintV2 TdbgObserve TdbgWatch Copy
        CopyHost DeepCopy""".split()
    )
)

# Only their first output is checked: the others are a batch's statistics, NaN by design when the batch is empty.
UNCHECKED_OUTPUTS = frozenset("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3".split())

# What the callback of Debugger V2 leaves alone. tdbg records eager ones all the same: lineage needs them.
DEBUGGER_V2_SKIPS = frozenset(
    """Enter Exit Identity If LoopCond Merge NextIteration StatelessIf StatefulPartitionedCall Switch While RemoteCall
    TPUReplicatedInput TPUReplicateMetadata TPUCompilationResult TPUReplicatedOutput ConfigureDistributedTPU
    DestroyResourceOp""".split()
)

# Where data enters a graph: integers and bools (labels, token ids, masks) are worth a row here too.
ENTRANCES = frozenset(
    """Placeholder PlaceholderWithDefault IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional
    OptionalGetValue""".split()
)
