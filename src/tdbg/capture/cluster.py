"""Finds out which task of which cluster this process is, so that a cluster's processes share a trace.

TensorFlow's strategies for several machines read ``TF_CONFIG``: the addresses of all tasks, and which one this is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

_ORDER = ("chief", "master", "worker", "ps", "evaluator")  # ranks count through the kinds of tasks in this order


class Member(NamedTuple):
    """One task of a cluster; ``cluster`` is the same text in all its tasks."""

    cluster: str
    task: str
    rank: int


def member(environment: Mapping[str, str] = os.environ) -> Member | None:
    """None outside a cluster, and where ``TF_CONFIG`` is not what TensorFlow could use either."""
    try:
        content = json.loads(environment.get("TF_CONFIG") or "{}")
        cluster, task = content["cluster"], content["task"]
        kind, index = str(task["type"]), int(task["index"])
        addresses = {str(name): list(tasks) for name, tasks in cluster.items()}
        kinds = sorted(addresses, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
        before = kinds[: kinds.index(kind)] if kind in kinds else kinds
        rank = sum(len(addresses[name]) for name in before) + index
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return Member(json.dumps(addresses, sort_keys=True), f"{kind}:{index}", rank)
