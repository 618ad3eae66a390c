"""A value and a JSON schema in; what does not fit out. Knows only the words that the API's description uses."""

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
_KNOWN |= {"minimum", "maximum"}


def misfits(value: Any, schema: Mapping[str, Any], at: str = "$") -> Iterator[str]:
    unknown = set(schema) - _KNOWN
    if unknown:
        raise ValueError(f"this checker does not know {unknown}")
    if "anyOf" in schema:
        found = [list(misfits(value, one, at)) for one in schema["anyOf"]]
        if all(found):
            yield f"{at}: {value!r} fits none of {schema['anyOf']}"
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
    if kind == "array" and "items" in schema:
        for place, one in enumerate(value):
            yield from misfits(one, schema["items"], f"{at}[{place}]")
    if kind == "object":
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{at}: {name} is missing"
        for name, one in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if isinstance(inner, Mapping):
                yield from misfits(one, inner, f"{at}.{name}")
