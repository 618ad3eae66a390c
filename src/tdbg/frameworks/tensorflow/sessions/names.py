"""Names the fetches and feeds of a run() call, and writes a line that says what is run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tdbg.formats.dumps.names import split_element, tensor_name


def element_name(element: Any) -> str:
    """The name of a tensor, op or variable; what else can be fetched or fed tells itself."""
    return element if isinstance(element, str) else getattr(element, "name", None) or str(element)


def flattened_names(elements: Any) -> list[str]:
    """The names in nested lists, tuples and dicts of fetches."""
    return list(_flattened(elements))


def _flattened(elements: Any) -> Iterator[str]:
    if isinstance(elements, list | tuple):
        for element in elements:
            yield from _flattened(element)
    elif isinstance(elements, dict):
        for element in elements.values():
            yield from _flattened(element)
    elif elements is not None:
        yield element_name(elements)


def output_name(name: str) -> str:
    """The first output of an op where CallableOptions name the op alone."""
    return name if split_element(name)[1] is not None else tensor_name(name, 0)


def feed_names(feed_dict: Any) -> list[str]:
    return [element_name(key) for key in feed_dict or ()]


def run_key(fetches: Any, feed_dict: Any) -> str:
    """What tells the runs of one kind from others, as debug servers know it."""
    return json.dumps([feed_names(feed_dict), flattened_names(fetches)])


def describe_run(number: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False) -> str:
    """``run #1: 1 fetch (loss:0); 2 feeds``."""
    if is_callable_runner and fetches is None:
        return "runner from make_callable()"
    fetched = _counted(flattened_names(fetches), "fetch", "fetches")
    return f"run #{number}: {fetched}; {_counted(feed_names(feed_dict), 'feed', 'feeds')}"


def _counted(names: list[str], one: str, many: str) -> str:
    if len(names) == 1:
        return f"1 {one} ({names[0]})"
    return f"{len(names)} {many}"
