"""Describes the API in OpenAPI's words, which clients and the types of the page are made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tdbg.web.route import Parameter, Route
from tdbg.web.schema import named, record, text

_ERROR = named("Error", record(error=text(), next=text("what to do")))
_KINDS = {"integer": "integer", "text": "string", "truth": "boolean"}
Schemas = dict[str, Any]


def describe(routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    schemas: Schemas = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "tdbg", "version": "1", "description": "What a tdbg server says about its traces."},
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _operation(route: Route, schemas: Schemas) -> dict[str, Any]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    content = {"schema": _with_names(route.answer, schemas)} if route.answer else {}
    refusal = {"content": {"application/json": {"schema": _with_names(_ERROR, schemas)}}}
    said: dict[str, Any] = {
        "summary": route.summary,
        "parameters": [*in_path, *map(_parameter, route.parameters)],
        "responses": {
            "200": {"description": route.summary, "content": {route.kind: content}},
            "default": {"description": "what is wrong, and what to do", **refusal},
        },
    }
    if route.body is not None:
        body = _with_names(route.body, schemas)
        said["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return said


def _with_names(schema: Any, schemas: Schemas) -> Any:
    """The schema, in which those that have a name are only named; what they are is put into ``schemas``."""
    if isinstance(schema, list):
        return [_with_names(one, schemas) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    for name, meant in schema.get("$defs", {}).items():
        made = _with_names(meant, schemas)
        if schemas.setdefault(name, made) != made:
            raise ValueError(f"two schemas have the name {name}")
    return {key: _with_names(one, schemas) for key, one in schema.items() if key != "$defs"}


def _parameter(one: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _KINDS[one.kind]}
    if one.kind == "integer":
        schema |= {"minimum": one.least, "maximum": one.most}
    if one.choices:
        schema["enum"] = list(one.choices)
    if one.default is not None:
        schema["default"] = one.default
    if one.is_repeated:
        schema = {"type": "array", "items": schema}
    return {
        "name": one.name,
        "in": "query",
        "required": one.is_required,
        "description": one.meaning,
        "schema": schema,
    }
