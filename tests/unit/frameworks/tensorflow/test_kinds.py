"""What TensorFlow's op types are, where a name alone does not say it."""

from __future__ import annotations

import pytest

from tdbg.frameworks.tensorflow.ops import kind_of, roles_of
from tdbg.vocabulary import FUSED, Kind, Role


@pytest.mark.parametrize(
    ("op_type", "kind"),
    [
        ("_FusedMatMul", Kind.FUSED_MATMUL),
        ("_MklNativeFusedBatchMatMulV2", Kind.FUSED_MATMUL),
        ("_MklNativeMatMul", Kind.MATMUL),
        ("_FusedConv2D", Kind.FUSED_CONVOLVE),
        ("_MklFusedDepthwiseConv2dNative", Kind.FUSED_DEPTHWISE_CONVOLVE),
        ("ResourceApplyAdam", Kind.ADAPTIVE_UPDATE),
        ("ResourceSparseApplyFtrlV2", Kind.ADAPTIVE_UPDATE),
        ("ApplyCenteredRMSProp", Kind.ADAPTIVE_UPDATE),
        ("ResourceApplyGradientDescent", Kind.UPDATE),
        ("ResourceApplyKerasMomentum", Kind.UPDATE),
        ("TensorSliceDataset", Kind.DATASET),
        ("ParallelMapDatasetV2", Kind.STAGE),
        ("DatasetCardinality", Kind.OTHER),
        ("__inference_step_12", Kind.CALL),
    ],
)
def test_the_kind_of(op_type: str, kind: Kind) -> None:
    assert kind_of(op_type) == kind


def test_what_is_fused_begins_with_a_kind_of_its_own() -> None:
    assert FUSED[kind_of("_FusedConv3D")] == Kind.CONVOLVE
    assert not FUSED.keys() & set(FUSED.values())


def test_every_optimizer_writes_a_variable() -> None:
    assert all(Role.WRITES_STATE in roles_of(name) for name in ("ResourceApplyAdam", "ApplyGradientDescent"))
