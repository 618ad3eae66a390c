"""Reads what a framework's runtime made of several ops of the program, from the attributes of the op that it made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from tdbg.frameworks import ops_of
from tdbg.store.plain_files import json_object
from tdbg.vocabulary import Kind

_PART = re.compile(r"([^\s,]+) \((\w+)\)")


class Part(NamedTuple):
    """One of the program's ops that a runtime's op computes; its type is the native one."""

    name: str
    type: str


class Fused(NamedTuple):
    """What an op stands for; all empty where it is what the program wrote."""

    parts: list[Part]  # the one that was computed last comes first, and gives the output
    computed_by: str  # the runtime's type, where that shows one of its own under the program's name
    given_to: dict[tuple[str, int], int]  # (part, number of its input) -> number of the op's own input

    def is_constant(self, framework: str) -> bool:
        """Whether the runtime computed it beforehand, so that nothing is known of what was inside."""
        return ops_of(framework).kind_of(self.computed_by) == Kind.CONSTANT


def may_be_fused(attributes: str) -> bool:
    """Tells quickly, of most ops, that they have no parts."""
    return '"_computed_by"' in attributes


def parts_in(text: str) -> list[Part]:
    """Reads ``name (Type), name (Type)``."""
    return [Part(*found) for found in _PART.findall(text)]


def fused(attributes: Mapping[str, object]) -> Fused:
    """Reads it from attributes that are read already."""
    readers = str(attributes.get("_given_to", "")).split(", ")
    pairs = [reader.rpartition(":") for reader in readers]
    return Fused(
        parts_in(str(attributes.get("_stands_for", ""))),
        str(attributes.get("_computed_by", "")),
        {(name, int(at)): number for number, (name, _, at) in enumerate(pairs) if name and at.isdecimal()},
    )


def fused_in(attributes: str) -> Fused:
    """Reads it from attributes as a trace keeps them; nothing where they are damaged."""
    try:
        return fused(json_object(attributes))
    except ValueError:
        return fused({})
