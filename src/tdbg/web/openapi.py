"""Describes the routes as OpenAPI does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tdbg.web.route import Parameter, Route

_ERROR = {
    "type": "object",
    "required": ["error", "next"],
    "properties": {"error": {"type": "string"}, "next": {"type": "string"}},
}
_KINDS = {"integer": "integer", "text": "string", "truth": "boolean"}


def describe(routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "tdbg", "version": "1", "description": "What a tdbg server says about its traces."},
        "paths": paths,
        "components": {"schemas": {"Error": _ERROR}},
    }


def _operation(route: Route) -> dict[str, Any]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    content = {"schema": dict(route.answer)} if route.answer else {}
    refusal = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    said: dict[str, Any] = {
        "summary": route.summary,
        "parameters": [*named, *map(_parameter, route.parameters)],
        "responses": {
            "200": {"description": route.summary, "content": {route.kind: content}},
            "default": {"description": "what is wrong, and what to do", **refusal},
        },
    }
    if route.body is not None:
        said["requestBody"] = {"required": True, "content": {"application/json": {"schema": dict(route.body)}}}
    return said


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
