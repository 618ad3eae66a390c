"""The page for people who do not see it, or not well: what axe finds wrong, in light and dark."""

from __future__ import annotations

import pytest
from chromium import Page
from views import axe_finds, needs_axe, open_trace


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
    assert axe_finds(page) == []
    page.press("?")
    page.wait_text("dialog", "Keys")
    assert axe_finds(page) == []


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_that_axe_finds_in_the_other_panes(page: Page, address: str, theme: str) -> None:
    if theme == "dark":
        page.prefer_dark()
    open_trace(page, address, "slow", "&where=op+%3D%3D+%22Relu%22&structure=whole&side=history&centre=gradients")
    page.click(".grid-row a")
    page.wait("document.querySelector('.plot path') && document.querySelector('.flow canvas')", "plots")
    page.wait("document.querySelector('#pane-structure .node')", "the graph")
    page.wait("!document.querySelector('.stale, .loading')", "all is loaded")
    assert axe_finds(page) == []
    for rest in ("&centre=diff&other=fast&side=lineage&form=table", "&centre=shell&side=tensor&form=histogram"):
        page.value(f"location.hash += {rest!r}; 0")
        page.wait("!document.querySelector('.stale, .loading')", "all is loaded")
        assert axe_finds(page) == []
    page.fill("#shell-line", "lt")
    page.wait_text(".console", "Relu")
    page.press("Escape", ":")
    page.wait("document.querySelector('dialog.palette')", "the palette")
    assert axe_finds(page) == []
