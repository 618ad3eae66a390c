"""What a runtime made of several ops, as the attributes of the op that it made tell it."""

from __future__ import annotations

import json

from tdbg.query.trace.fused import fused_in, may_be_fused


def test_a_fused_product() -> None:
    text = json.dumps(
        {
            "_stands_for": "hidden/Relu (Relu), hidden/BiasAdd (BiasAdd), hidden/MatMul (MatMul)",
            "_computed_by": "_FusedMatMul",
            "_given_to": "hidden/MatMul:0, ?, hidden/BiasAdd:1",
        }
    )
    found = fused_in(text)
    assert [part.name for part in found.parts] == ["hidden/Relu", "hidden/BiasAdd", "hidden/MatMul"]
    assert [part.type for part in found.parts] == ["Relu", "BiasAdd", "MatMul"]
    assert found.given_to == {("hidden/MatMul", 0): 0, ("hidden/BiasAdd", 1): 2}
    assert may_be_fused(text) and not found.is_constant("tensorflow")


def test_what_was_computed_beforehand() -> None:
    assert fused_in(json.dumps({"_computed_by": "Const"})).is_constant("tensorflow")


def test_what_the_program_wrote_or_nobody_can_read() -> None:
    for text in ("{}", "", '{"_stands_for"', '{"T": "float32"}'):
        assert fused_in(text) == ([], "", {})
        assert not may_be_fused(text)
        assert not fused_in(text).is_constant("tensorflow")
