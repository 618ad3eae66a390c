"""Tells which element types a node of a graph gives."""

from __future__ import annotations

from typing import Any

from tensorflow.python.framework import op_def_registry

from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.model import DType


def output_dtypes(node: Any) -> list[DType]:
    return [code_of(number % 100) for number in output_types(node)]  # a reference's number is 100 more


def output_types(node: Any) -> list[int]:
    """TensorFlow's numbers of the element types that a node gives."""
    definition = op_def_registry.get(node.op)
    found: list[int] = []
    for arg in definition.output_arg if definition is not None else ():
        if arg.type_list_attr:
            found += node.attr[arg.type_list_attr].list.type
        else:
            count = node.attr[arg.number_attr].i if arg.number_attr else 1
            found += [node.attr[arg.type_attr].type if arg.type_attr else arg.type] * count
    return found
