"""Writes the API's description as TypeScript: a type for each answer, and what each question may be asked with.

``make web`` puts both files into the page's sources.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tdbg.web.api import Api
from tdbg.web.openapi import describe
from tdbg.web.traces import Traces

_HEAD = "Made by tdbg.web.typescript of the description of the API: make web writes it anew."
_WIDEST = 120
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


class Field(NamedTuple):
    """A field of a type as it is declared, and what is said of it."""

    text: str
    meaning: str = ""


def files(description: Mapping[str, Any]) -> dict[str, str]:
    """The text of each file, by its name."""
    return {"answers.ts": _answers(description), "questions.ts": _questions(description)}


def _answers(description: Mapping[str, Any]) -> str:
    declared = [_declared(name, schema) for name, schema in description["components"]["schemas"].items()]
    return "\n\n".join([f"// What the server answers. {_HEAD}", *declared]) + "\n"


def _questions(description: Mapping[str, Any]) -> str:
    asked = [
        Field(f"{json.dumps(path.removeprefix('/api/'))}: {_question(operation)}")
        for path, operations in description["paths"].items()
        for operation in operations.values()
    ]
    declared = f"export interface Questions {_block(asked, '')}"
    used = [name for name in description["components"]["schemas"] if re.search(rf"\b{name}\b", declared)]
    imported = "\n".join(["import type {", *(f"  {name}," for name in used), '} from "./answers";'])
    said = "By path: what may stand behind the question mark, what is sent along, and the answer where it is JSON."
    return f"// What the server may be asked. {_HEAD}\n\n{imported}\n\n/** {said} */\n{declared}\n"


def _declared(name: str, schema: Mapping[str, Any]) -> str:
    comment = f"/** {schema['description']} */\n" if "description" in schema else ""
    parts = schema.get("allOf", [schema])
    if "properties" not in parts[-1]:
        return f"{comment}export type {name} = {_type(schema, '')};"
    shared = ", ".join(_type(one, "") for one in parts[:-1])
    begun = f"export interface {name} extends {shared}" if shared else f"export interface {name}"
    return f"{comment}{begun} {_in_line_or_block(_fields(parts[-1], ''), '')}"


def _type(schema: Mapping[str, Any], indent: str) -> str:
    """``indent`` is that of the line on which the type begins."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for key, sign in (("anyOf", " | "), ("allOf", " & ")):
        if key in schema:
            return sign.join(_type(one, indent) for one in schema[key])
    if "enum" in schema:
        return " | ".join(json.dumps(word) for word in schema["enum"])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one, indent) for one in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        items = _type(schema["items"], indent)
        return f"({items})[]" if {"anyOf", "allOf", "enum"} & set(schema["items"]) else f"{items}[]"
    if "properties" in schema:
        return _in_line_or_block(_fields(schema, indent), indent)
    if "additionalProperties" in schema:
        return f"Record<string, {_type(schema['additionalProperties'], indent)}>"
    return _PLAIN.get(schema.get("type", ""), "unknown")


def _fields(schema: Mapping[str, Any], indent: str) -> list[Field]:
    required = schema.get("required", ())
    return [
        Field(f"{name}{'' if name in required else '?'}: {_type(one, indent + '  ')}", one.get("description", ""))
        for name, one in schema["properties"].items()
    ]


def _in_line_or_block(fields: list[Field], indent: str) -> str:
    line = f"{{ {'; '.join(field.text for field in fields)} }}"
    fits = len(indent + line) < _WIDEST - 24 and "\n" not in line and not any(field.meaning for field in fields)
    return line if fits else _block(fields, indent)


def _block(fields: Iterable[Field], indent: str) -> str:
    """Fields of which nothing is said share lines."""
    lines: list[str] = []
    is_open = False  # whether the last line takes more
    for text, meaning in fields:
        is_plain = not meaning and "\n" not in text
        if is_plain and is_open and len(lines[-1]) + len(text) + 2 <= _WIDEST:
            lines[-1] += f" {text};"
        else:
            lines.append(f"{indent}  {text};{f' // {meaning}' if meaning else ''}")
        is_open = is_plain
    return "\n".join(["{", *lines, f"{indent}}}"])


def _question(operation: Mapping[str, Any]) -> str:
    asked = [Field(_parameter(one)) for one in operation["parameters"] if one["in"] == "query"]
    content = operation["responses"]["200"]["content"].get("application/json")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    fields = [Field(f"query: {_in_line_or_block(asked, '    ') if asked else 'Record<string, never>'}")]
    fields += [Field(f"body: {_type(body['schema'], '    ')}")] if body else []
    fields += [Field(f"answer: {_type(content['schema'], '    ')}")] if content else []
    return _in_line_or_block(fields, "  ")


def _parameter(one: Mapping[str, Any]) -> str:
    """Of a word that must be one of some, any text will do: it comes from the page's address, and the server judges."""
    schema = {name: value for name, value in one["schema"].items() if name != "enum"}
    return f"{one['name']}{'' if one['required'] else '?'}: {_type(schema, '    ')}"


if __name__ == "__main__":
    for name, text in files(describe(Api(Traces([])).routes)).items():
        Path(sys.argv[1], name).write_text(text, encoding="utf-8")
