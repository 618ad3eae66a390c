"""Names of ops, files and functions that are HTML: every pane shows them as text."""

from __future__ import annotations

from pathlib import Path

from chromium import Page
from views import open_trace

from hostile_trace import HOSTILE, write_trace

SMUGGLED = "document.querySelectorAll('img, script:not([src]), iframe, [onerror]').length"
NAME = "<img src=x onerror=alert(1)>"


def test_html_in_names_is_text(page: Page, address: str, traces: Path) -> None:
    if not (traces / "hostile.tdbg").exists():
        write_trace(traces / "hostile.tdbg")
    open_trace(page, address, "hostile", "&centre=source")
    page.wait_text(".grid-body", NAME)
    page.wait_text("#pane-layers", NAME)
    page.click(".grid-row a", NAME)
    page.wait_text("#pane-stack", HOSTILE)
    page.wait_text("#pane-centre .source", HOSTILE)
    page.wait_text("#pane-side", NAME)
    page.wait("document.querySelector('#pane-structure .drawing svg')?.textContent.includes('onerror')", "its node")
    for tab in ("History", "Lineage", "Whole", "Gradients", "Compare"):
        page.click("[role=tab]", tab)
        chosen = "[...document.querySelectorAll('[role=tab][aria-selected=true]')].map(t => t.textContent)"
        page.wait(f"{chosen}.includes({tab!r})", f"{tab} is chosen")
        page.wait("!document.querySelector('.loading, .stale')", f"{tab} is loaded")
    page.click(".verdict details.notes summary")
    page.wait_text(".verdict .notes", HOSTILE)
    page.press(":")
    page.wait("document.activeElement.getAttribute('role') === 'combobox'", "the palette")
    page.type("onerror")
    page.wait_text("#palette-items", NAME)
    page.press("Escape")
    page.click("[role=tab]", "Shell")
    page.fill("#shell-line", "lt")
    page.wait_text(".console", "onerror")
    assert page.value(SMUGGLED) == 0
    report = page.value("fetch('api/t/hostile/report.html').then(r => r.text())")
    assert "onerror" in report
    assert "<img" not in report
