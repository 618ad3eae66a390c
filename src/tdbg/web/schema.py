"""Has the words in which routes describe their answers: JSON Schema, with names for what several answers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]


def _said(schema: Schema, meaning: str) -> Schema:
    return {**schema, "description": meaning} if meaning else schema


def text(meaning: str = "") -> Schema:
    return _said({"type": "string"}, meaning)


def whole(meaning: str = "") -> Schema:
    return _said({"type": "integer"}, meaning)


def truth(meaning: str = "") -> Schema:
    return _said({"type": "boolean"}, meaning)


def number(meaning: str = "") -> Schema:
    return _said(_ANY_NUMBER, meaning)


def one_of(words: Iterable[str], meaning: str = "") -> Schema:
    return _said({"enum": list(words)}, meaning)


def maybe(schema: Schema) -> Schema:
    """This, or null."""
    meaning = schema.get("description", "")
    bare = {name: value for name, value in schema.items() if name != "description"}
    return _said({"anyOf": [bare, {"type": "null"}]}, meaning)


def listing(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def several(*parts: Schema, meaning: str = "") -> Schema:
    """A list of so many parts, each of its own kind."""
    return _said({"type": "array", "prefixItems": list(parts), "items": False, "minItems": len(parts)}, meaning)


def record(**fields: Schema) -> Schema:
    """All fields are always there."""
    return {"type": "object", "required": list(fields), "properties": fields}


def with_optional(schema: Schema, **fields: Schema) -> Schema:
    """A record that may have further fields."""
    return {**schema, "properties": {**schema["properties"], **fields}}


def together(*parts: Schema) -> Schema:
    """A record with the fields of several: shared ones have a name, and are listed once."""
    return {"allOf": list(parts)}


def by_name(of: Schema, meaning: str = "") -> Schema:
    """A value for each of some names, which are not known beforehand."""
    return _said({"type": "object", "additionalProperties": of}, meaning)


def counts(meaning: str = "") -> Schema:
    return by_name(whole(), meaning)


def named(name: str, schema: Schema, meaning: str = "") -> Schema:
    """The same by a name of its own, which the description lists once and clients call their type."""
    return {"$ref": f"#/components/schemas/{name}", "$defs": {name: _said(schema, meaning)}}


_ANY_NUMBER = named(
    "AnyNumber",
    {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]},
    "NaN and infinities are written as texts: JSON has no numbers for them.",
)
PLACE: dict[str, Schema] = {"file": maybe(text()), "line": maybe(whole())}
