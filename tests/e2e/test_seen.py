"""What whoever opens the page sees at once, in windows of all kinds, and what a link or a lost server leaves of it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

from chromium import Browser, Page
from views import CHOSEN, LINE, answer_late, open_trace, view, wait_view

NODES = "[...document.querySelectorAll('#pane-structure .drawing-scroll .node')]"
BOX = "document.querySelector('#pane-structure .drawing-scroll')"
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"


def test_on_landing_the_place_where_it_began_is_chosen_everywhere(page: Page, address: str) -> None:
    page.go(f"{address}#trace=tutorial")
    page.wait_text(CHOSEN, "Log:0")
    page.wait_text(LINE, "tf.math.log(probabilities)")
    page.wait_text("#pane-alerts a[aria-current=true]", "Log held")
    page.wait_text("#pane-structure .node.chosen", "Log")
    page.wait_text("#pane-stack [aria-current=true]", "cross_entropy")
    page.wait("document.querySelector('#pane-layers li[aria-current]')", "its layer")
    page.wait("document.querySelector('#pane-executions .box.bad[aria-pressed=true]')", "its call")
    wait_view(page, step="1")
    assert page.value("document.title") == "● tutorial – tdbg"

    page.go("about:blank")  # whoever comes by a link that says something else is left alone
    open_trace(page, address, "tutorial", "&step=7")
    page.wait("!document.querySelector('.stale, .loading')", "all is loaded")
    assert view(page) == {"trace": "tutorial", "step": "7"}


def test_nothing_of_another_trace_stays_in_sight(page: Page, address: str) -> None:
    answer_late(page, "healthy.(verdict|overview|tensors|alerts|layers)")
    open_trace(page, address, "tutorial")
    page.wait_text(CHOSEN, "Log:0")
    page.choose("#trace", "healthy")
    page.wait("location.hash === '#trace=healthy'", "the other one is chosen")
    page.value("new Promise(requestAnimationFrame)")
    for pane in (".verdict", "#pane-tensors .grid-body", "#pane-alerts", "#pane-side", "#pane-centre", "#pane-stack"):
        assert "Log" not in page.text(pane), pane
    assert page.value("window.late ?? 0") == 0, "the browser was too slow for this test"
    page.wait_text(".verdict", "No bad values in")
    page.wait("document.title === '✓ healthy – tdbg'", "the title is that of the run")


def test_a_shared_link_shows_the_same_in_another_browser(
    page: Page, browser: Browser, address: str, tmp_path: Path
) -> None:
    open_trace(page, address, "tutorial", "&side=history&scale=log")
    page.click(".verdict h1 a")
    page.click("#pane-side .facts button", "std")
    wait_view(page, statistic="std")
    page.click(".verdict .side button", "share")
    page.wait_text(".shared", "in any browser on this machine")
    link = page.value("document.querySelector('.shared input').value")
    assert "token=" in link
    with browser.page(tmp_path) as other:
        other.go(link)
        other.wait_text(CHOSEN, "Log:0")
        other.wait_text("#pane-side button[aria-pressed=true]", "std")
        assert view(other) == view(page)
        assert "token" not in other.value("location.href")


def test_a_server_that_goes_is_told_and_one_that_comes_back_goes_on(
    page: Page, traces: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port = tried.getsockname()[1]
    words = [sys.executable, "-u", "-m", "tdbg", "serve", str(traces), "--no-browser", "--port", str(port)]

    def started() -> tuple[subprocess.Popen[str], str]:
        own = environment | {"TDBG_STATE": str(tmp_path / "state")}
        server = subprocess.Popen(words, env=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert server.stdout
        return server, server.stdout.readline().strip()

    def ended(server: subprocess.Popen[str]) -> None:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=240)

    server, address = started()
    try:
        open_trace(page, address, "tutorial")
        page.wait_text(CHOSEN, "Log:0")
        ended(server)
        page.wait_text(".contact", "The server does not answer.")
        assert "Bad values began" in page.text(".verdict")  # what is here stays
        server, again = started()
        assert again == address
        page.wait("!document.querySelector('.contact')", "the page goes on")
        page.click("#pane-side [role=tab]", "Lineage")
        page.wait_text("#pane-side", "Softmax")
    finally:
        ended(server)


def test_long_names_large_steps_and_four_dimensions_fit_the_table(page: Page, address: str) -> None:
    open_trace(page, address, "wide")
    page.wait_text(CHOSEN, "1,200")
    cut = (
        "[...document.querySelectorAll('.grid-row:not(.waiting) > span.dim')]"
        ".filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"
    )
    page.wait("document.querySelector('.grid-row.chosen')?.innerText.includes('12×16×20×3')", "all of the shape")
    page.wait(f"{cut}.length === 0", "no cell is cut")
    # What is cut of a name is its beginning: its end is in sight.
    ends = "[...document.querySelectorAll('.tensor-name a')].every(a => { const b = a.querySelector('bdi')"
    page.wait(
        f"{ends}.getBoundingClientRect(); return b.right <= a.getBoundingClientRect().right + 1 }})", "their ends"
    )
    assert page.value("[...document.querySelectorAll('.tensor-name a')].some(a => a.scrollWidth > a.clientWidth)")


def test_a_header_sorts_wherever_it_is_clicked(page: Page, address: str) -> None:
    open_trace(page, address, "wide")
    page.click(".grid-head [role=columnheader]", "shape", at=(0.05, 0.5))
    wait_view(page, sort="elements")
    page.click(".grid-head [role=columnheader]", "tensor", at=(0.95, 0.5))
    wait_view(page, sort="name")


def test_a_tensor_opens_at_its_first_bad_element_and_goes_to_the_next(page: Page, address: str) -> None:
    open_trace(page, address, "wide")
    element = (
        "document.querySelector('#pane-side .heat .facts > span, #pane-side .heat .facts')?.textContent.slice(0, 12)"
    )
    page.wait("document.querySelector('#pane-side .slice')?.placeholder === '[7, 3, :, :]'", "the slice with the first")
    page.wait(f"{element} === '[5, 1] = NaN'", "it is marked")
    page.click("#pane-side button", "next bad")
    wait_view(page, slice="[9, 0, :, :]", element="2,2")
    page.wait(f"{element} === '[2, 2] = NaN'", "the next")
    page.click("#pane-side button", "next bad")  # behind the last comes the first
    wait_view(page, slice="[7, 3, :, :]", element="5,1")
    page.click("#pane-side button", "table")
    page.wait("document.querySelector('#pane-side td.nan.chosen')", "the same in the table")


def test_the_whole_graph_fits_zooms_moves_and_is_searched(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&structure=whole")
    page.wait(f"{NODES}.length > 3", "the top of the graph")
    inside = (
        f"(box => {NODES}.every(n => {{ const r = n.getBoundingClientRect(); return r.left >= box.left - 1 && "
        f"r.right <= box.right + 1 && r.top >= box.top - 1 && r.bottom <= box.bottom + 1 }}))"
        f"({BOX}.getBoundingClientRect())"
    )
    page.wait(inside, "all of it is in sight")
    for _ in range(12):
        page.wheel("#pane-structure .drawing-scroll", -100)
    page.wait("document.querySelector('.drawing-map')", "it is larger than its box: there is a map")
    before = page.value(f"{BOX}.scrollLeft + {BOX}.scrollTop")
    page.drag("#pane-structure .drawing-scroll", (0.5, 0.6), (-60, -30))
    page.wait(f"{BOX}.scrollLeft + {BOX}.scrollTop > {before}", "it follows the pointer")
    assert view(page)["structure"] == "whole" and "op" not in view(page)  # what was dragged is no click
    page.click("#pane-structure .drawing-tools input")
    page.type("seq")
    page.wait("document.querySelector('.node.current')?.textContent.includes('sequential')", "what was searched for")
    page.click("#pane-structure .drawing-tools button", "fit")
    page.wait(inside, "all of it again")


def test_the_loss_on_both_scales(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    page.wait_text("#pane-steps .timeline-legend", "loss")
    button = "[...document.querySelectorAll('#pane-steps .actions button')].find(b => b.textContent === 'log')"
    page.wait(f"{button}?.getAttribute('aria-pressed') === 'false'", "a loss of one size has a linear axis")
    picture = "document.querySelector('#pane-steps canvas').toDataURL()"
    linear = page.value(picture)
    page.click("#pane-steps .actions button", "log")
    wait_view(page, scale="log")
    page.wait(f"{picture} !== {linear!r}", "another axis")


def test_small_windows_and_paper(page: Page, browser: Browser, address: str, tmp_path: Path) -> None:
    """900 pixels, and 1280 by 800 at twice the size: nothing is cut at the side, and all panes can be scrolled to."""
    for width, height in ((900, 700), (640, 400)):
        with browser.page(tmp_path, width, height) as small:
            open_trace(small, address, "tutorial")
            small.wait_text(CHOSEN, "Log:0")
            assert not small.value(SIDEWAYS)
            assert small.value("scrollY") == 0  # what is shown below does not move the page
            small.click("#pane-side [role=tab]", "History")
            small.wait("document.querySelector('.plot path')", "a plot")
            heights = "[...document.querySelectorAll('.pane-body')].map(b => b.clientHeight)"
            assert min(small.value(heights)) >= 40
            assert not small.value(SIDEWAYS)
    open_trace(page, address, "tutorial")
    page.wait_text(CHOSEN, "Log:0")
    page.emulate_print(720, 1000)
    page.wait("getComputedStyle(document.querySelector('.filter')).display === 'none'", "nothing that is clicked")
    assert not page.value(SIDEWAYS)
    assert page.value("document.documentElement.scrollHeight > 1500")  # panes stand below each other
