"""Collects the routes of the API, a file for each group; their answers are what ``query`` says."""

from __future__ import annotations

from importlib import import_module

from tdbg.web.route import Route

_GROUPS = (
    "routes.overview", "routes.verdict", "routes.steps", "routes.executions", "routes.tensors", "routes.groups",
    "routes.values", "routes.graphs_and_sources", "routes.files", "routes.prompt", "live",
)  # fmt: skip


def all_routes() -> list[Route]:
    return [route for group in _GROUPS for route in import_module(f"tdbg.web.{group}").ROUTES]
