"""The page for people who do not see it, or not well: what axe finds wrong, in light and dark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Page

AXE = Path(__file__).parents[2] / "webui/node_modules/axe-core/axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: make page-tools")


def _wrong(page: Page) -> list[str]:
    page.value(f"{AXE.read_text()}; 0")
    found = json.loads(page.value("axe.run().then(r => JSON.stringify(r.violations))"))
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
    ]


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_that_axe_finds(page: Page, address: str, theme: str) -> None:
    if theme == "dark":
        page.prefer_dark()
    page.go(f"{address}#trace=tutorial")
    page.click(".verdict h1 a")
    page.wait_text("#pane-side", "Log:0")
    page.wait("document.querySelector('#pane-side canvas')")
    page.wait("!document.querySelector('.stale, .loading')", "all is loaded")
    assert _wrong(page) == []
    page.press("?")
    page.wait_text("dialog", "Keys")
    assert _wrong(page) == []
