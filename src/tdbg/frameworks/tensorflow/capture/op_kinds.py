"""Tells how TensorFlow's op types are observed: what gets no observer, what is checked, what computes in place."""

from __future__ import annotations

from tdbg.frameworks.tensorflow.ops import MOVERS, SAFE, types_with
from tdbg.vocabulary import Role

# They can compute in the memory of an input, while nobody else holds it. Each with what its magnitude follows from,
# as native/stopping/input_notes.h numbers it: nothing, or the sum, the product or the square of the sum of its inputs'.
IN_PLACE = (
    dict.fromkeys("MulNoNan TanhGrad SigmoidGrad GeluGrad SeluGrad EluGrad SoftsignGrad Gelu".split(), 0)
    | dict.fromkeys("Add AddV2 AddN Sub BiasAdd Cast".split(), 1)
    | {"Mul": 2}
    | dict.fromkeys("Square SquaredDifference".split(), 3)
)

# Calls of other graphs: those graphs carry their own observers, and TensorFlow looks these ops up through their
# outputs, which must therefore stay theirs.
CALLS = types_with(Role.CALLS)

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
ENTRANCES = types_with(Role.ENTERS)
