"""Says what of a value does not fit a JSON schema. Knows only the words that the API's description uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_KNOWN = {"type", "description", "items", "required", "properties", "additionalProperties", "anyOf", "enum", "default"}
_KNOWN |= {"minimum", "maximum", "allOf", "prefixItems", "minItems"}
Schema = Mapping[str, Any]


def misfits(value: Any, schema: Schema, named: Mapping[str, Schema], at: str = "$") -> Iterator[str]:
    """``named``: the schemas that others refer to. A field that is not described does not fit either."""
    schema = _whole(schema, named)
    unknown = set(schema) - _KNOWN
    if unknown:
        raise ValueError(f"this checker does not know {unknown}")
    if "anyOf" in schema:
        found = [list(misfits(value, one, named, at)) for one in schema["anyOf"]]
        if all(found):
            yield min(found, key=len)[0] if len(found) == 2 else f"{at}: {value!r} fits none of {schema['anyOf']}"
        return
    if "enum" in schema:
        if value not in schema["enum"]:
            yield f"{at}: {value!r} is none of {schema['enum']}"
        return
    kind = schema.get("type")
    if kind is None:
        return
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{at}: {value!r} is no {kind}"
        return
    if kind == "array":
        yield from _misfits_in_list(value, schema, named, at)
    if kind == "object":
        yield from _misfits_in_record(value, schema, named, at)


def _misfits_in_list(value: list[Any], schema: Schema, named: Mapping[str, Schema], at: str) -> Iterator[str]:
    parts = schema.get("prefixItems")
    if parts is not None and len(parts) != len(value):
        yield f"{at}: {value!r} has not {len(parts)} parts"
        return
    for place, one in enumerate(value):
        yield from misfits(one, schema["items"] if parts is None else parts[place], named, f"{at}[{place}]")


def _misfits_in_record(value: dict[str, Any], schema: Schema, named: Mapping[str, Schema], at: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: {name} is missing"
    for name, one in value.items():
        inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if inner is None:
            yield f"{at}: {name} is not described"
        else:
            yield from misfits(one, inner, named, f"{at}.{name}")


def _whole(schema: Schema, named: Mapping[str, Schema]) -> Schema:
    """With what it refers to; a record of several parts as one."""
    if "$ref" in schema:
        return _whole(named[schema["$ref"].rpartition("/")[2]], named)
    if "allOf" not in schema:
        return schema
    parts = [_whole(one, named) for one in schema["allOf"]]
    return {
        "type": "object",
        "required": [name for one in parts for name in one["required"]],
        "properties": {name: inner for one in parts for name, inner in one["properties"].items()},
    }
