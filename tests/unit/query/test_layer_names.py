"""Scopes of ops as layers: what stands for single ops, calls and initializers is no layer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdbg.model import Phase
from tdbg.query.listing.layer_names import LayerNames
from tdbg.query.trace.program import Op
from tdbg.vocabulary import Kind


def op_named(name: str, number: int = 0, type_: str = "BiasAdd", phase: Phase = Phase.FORWARD) -> Op:
    return Op(number, 1, name, type_, (), -1, phase, -1, True, Kind.ADD_BIAS, framework="tensorflow")


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("model/dense/BiasAdd", "model/dense"),
        ("model/dense/BiasAdd/ReadVariableOp", "model/dense"),
        ("model/dense/BiasAdd_1/ReadVariableOp", "model/dense"),
        ("StatefulPartitionedCall/model/dense/BiasAdd", "model/dense"),
        ("PartitionedCall_3/StatefulPartitionedCall/dense/BiasAdd", "dense"),
        ("dense/kernel/Initializer/random_uniform", "dense/kernel"),
        ("BiasAdd", ""),
    ],
)
def test_the_layer_around_an_op(name: str, layer: str) -> None:
    ops = {0: op_named("model/dense/BiasAdd"), 1: op_named(name, 1)}
    program: Any = SimpleNamespace(ops=ops)
    assert LayerNames(program).scope(ops[1]) == layer


def test_an_optimizer_is_one_layer() -> None:
    ops = {0: op_named("Adam/update_dense/BiasAdd", phase=Phase.UPDATE)}
    program: Any = SimpleNamespace(ops=ops)
    assert LayerNames(program).scope(ops[0]) == "Adam"
