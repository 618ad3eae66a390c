"""Whatever is pointed at is lightly marked in the other sections."""

from __future__ import annotations

from chromium import Page
from views import open_trace

MARKED = "[...document.querySelectorAll('[data-same]')]"


def test_the_same_thing_in_other_sections(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&where=op+%3D%3D+%22Relu%22")
    page.click(".grid-row a")
    page.wait("document.querySelector('#pane-structure .node') && document.querySelector('#pane-centre .line.chosen')")
    page.wait("!document.querySelector('.stale, .loading')", "all is loaded")

    page.hover("#pane-tensors .grid-row:nth-child(3)")
    page.wait(f"{MARKED}.some(e => e.matches('.node.chosen') && e.textContent.includes('Relu'))", "its op")
    page.wait(f"{MARKED}.some(e => e.matches('.line.chosen'))", "its line")
    page.wait(f"{MARKED}.some(e => e.matches('.box.function'))", "its call")
    page.wait(f"{MARKED}.some(e => e.matches('#pane-layers .name') && e.textContent.includes('sequential_1'))", "layer")
    assert page.value(f"{MARKED}.every(e => !e.closest('#pane-tensors'))")

    page.hover("#pane-structure .node.chosen")
    page.wait(f"{MARKED}.some(e => e.matches('.grid-row'))", "the rows of an op")
    page.hover("#pane-centre .line.chosen")
    page.wait(f"{MARKED}.some(e => e.matches('.frames a'))", "the frame of a line")
    page.wait(f"{MARKED}.some(e => e.matches('.grid-row')) && {MARKED}.some(e => e.matches('.node'))", "and its ops")
    page.hover("header.top")
    page.wait(f"{MARKED}.length === 0", "no mark is left")
