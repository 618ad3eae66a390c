"""A trace on the page, late answers, what the address says of the view, what was saved, what axe finds wrong."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from chromium import Page

CHOSEN = ".grid-row.chosen"
LINE = "#pane-centre .line.chosen"
AXE = Path(__file__).parents[2] / "webui/node_modules/axe-core/axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: make page-tools")


def open_trace(page: Page, address: str, trace: str, rest: str = "") -> None:
    page.go(f"{address}#trace={trace}{rest}")
    page.wait("document.querySelectorAll('.grid-row a').length > 3", "rows in the table")
    page.wait("document.querySelector('.verdict[aria-busy=false]')", "the verdict")


def open_origin(page: Page, address: str, rest: str = "") -> None:
    """The tutorial's program, at the tensor where its bad values began."""
    open_trace(page, address, "tutorial", rest)
    page.click(".verdict h1 a")
    page.wait("document.querySelector('.grid-row.chosen')?.innerText.includes('Log:0')", "it is chosen")


def view(page: Page) -> dict[str, str]:
    """The members of the view that are not as at the start."""
    fragment = urlsplit(page.value("location.href")).fragment
    return {name: values[0] for name, values in parse_qs(fragment).items()}


def wait_view(page: Page, **members: str) -> None:
    for name, value in members.items():
        page.wait(f"new URLSearchParams(location.hash.slice(1)).get({name!r}) === {value!r}", f"{name} is {value}")


def texts(page: Page, selector: str) -> list[str]:
    found: list[str] = page.value(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")
    return found


def saved(page: Page, folder: Path, ending: str) -> Path:
    """The file that was saved, once it is whole."""
    for _ in range(200):
        if found := [path for path in folder.iterdir() if path.name.endswith(ending) and path.stat().st_size]:
            return found[0]
        page.value("new Promise(done => setTimeout(done, 50))")
    raise AssertionError(f"no file was saved: {sorted(folder.iterdir())}")


def axe_finds(page: Page) -> list[str]:
    """What is wrong with the page for people who do not see it."""
    page.value(f"{AXE.read_text()}; 0")
    found = json.loads(page.value("axe.run().then(r => JSON.stringify(r.violations))"))
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
    ]


def answer_late(page: Page, pattern: str) -> None:
    """Whatever is asked with such an address waits; ``window.late`` counts the answers."""
    page.on_every_page(
        "const atOnce = fetch; window.fetch = async (...what) => {"
        f"  if (!/{pattern}/.test(what[0])) return atOnce(...what);"
        "  await new Promise(go => setTimeout(go, 2000));"
        "  const answer = await atOnce(...what);"
        "  window.late = (window.late ?? 0) + 1;"
        "  return answer }"
    )
