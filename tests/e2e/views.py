"""A trace on the page, and what the page's address says of the view."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from chromium import Page

CHOSEN = ".grid-row.chosen"
LINE = "#pane-centre .line.chosen"


def open_trace(page: Page, address: str, trace: str, rest: str = "") -> None:
    page.go(f"{address}#trace={trace}{rest}")
    page.wait("document.querySelectorAll('.grid-row a').length > 3", "rows in the table")


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
