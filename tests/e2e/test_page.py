"""The page in Chromium on the real server: what a person who looks for the cause of a NaN does there."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from chromium import Page
from views import CHOSEN, open_trace, view, wait_view

import tdbg
from tdbg.commands.info import collect
from tdbg.query.verdict.verdict import explain


def test_the_walk_from_the_alert_to_the_line(page: Page, address: str) -> None:
    """NaN/∞ alert, the Log op with its -∞, its input that holds zeros, the line of the program."""
    open_trace(page, address, "tutorial")
    page.wait_text("#pane-alerts", "NaN/∞")
    page.click("#pane-alerts button", "NaN/∞")

    row = page.wait_text(CHOSEN, "Log:0")
    assert "200×10" in row
    infinite = re.search(r"^−(\d+)$", row, re.M)  # how many of its elements are -∞
    assert infinite
    page.wait_text("#pane-stack", "cross_entropy")
    page.wait_text("#pane-source, #pane-centre", "tf.math.log(probabilities)")
    page.wait_text("#pane-centre .line.chosen", "losses = -(labels * tf.math.log(probabilities))")

    page.wait("document.querySelector('#pane-structure .node.chosen')?.textContent.includes('Log')", "Log in the graph")
    page.click("#pane-side .inputs a")
    page.wait("document.querySelector('.grid-row.chosen a')?.textContent.startsWith('Softmax')", "the input is chosen")
    zeros = "document.querySelector('.grid-row.chosen .zero')?.textContent"
    assert page.wait(zeros) == infinite[1]
    page.wait_text("#pane-centre .line.chosen", "softmax")


def test_the_verdict_is_the_headline(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    said = page.wait_text(".verdict", "Bad values began at step 1")
    infinite = re.search(r"Log → −∞ ×(\d+) of 2,000", said)
    assert infinite and f"log(0): {infinite[1]} of 2,000 elements are exactly 0" in said
    assert page.text(".verdict .code u") == "tf.math.log(probabilities)"
    page.click(".verdict h1 a")
    page.wait_text(CHOSEN, "Log:0")
    assert view(page)["step"] == "1"


def test_events_and_tensors_are_counted_as_in_the_terminal(page: Page, address: str, traces: Path) -> None:
    trace = tdbg.open(traces / "tutorial.tdbg")
    told, facts = explain(trace).as_dict(), collect(trace)
    assert facts["rows"]["tensors"] < trace.row_count("tensors"), "no evidence was kept"
    assert told["coverage"]["tensors"] == facts["rows"]["tensors"]
    open_trace(page, address, "tutorial")
    page.wait_text("#pane-tensors .count", f"{facts['rows']['tensors']:,} tensors")
    page.wait_text(CHOSEN, "Log:0")
    assert page.text(f"{CHOSEN} > :first-child") == f"{told['origins'][0]['seq']:,}"


def test_a_healthy_run_says_so(page: Page, address: str) -> None:
    open_trace(page, address, "healthy")
    said = page.wait_text(".verdict", "No bad values in")
    assert "harmless" in said
    assert "✓ vanishing gradient" in said and "not checked, only 8 training steps: half precision update lost" in said
    page.wait("document.querySelector('#pane-alerts .count').textContent === '0'", "no alert but benign ones")


def test_runs_of_a_session(page: Page, address: str) -> None:
    open_trace(page, address, "session")
    page.wait_text(".verdict", "Bad values began at step 0 (run 2)")
    page.click("#pane-executions .box.bad")
    page.wait_text("#pane-stack", "session.py")


def test_back_forward_and_links(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click(".grid-row:nth-child(2) a")
    page.wait("document.querySelectorAll('.grid-row.chosen').length === 1")
    first = page.value("document.querySelector('.grid-row.chosen').innerText")
    page.click(".grid-row:nth-child(4) a")
    page.wait(f"document.querySelector('.grid-row.chosen').innerText !== {first!r}", "another row is chosen")
    second = page.value("document.querySelector('.grid-row.chosen').innerText")
    link = page.value("location.href")

    page.value("history.back()")
    page.wait(f"document.querySelector('.grid-row.chosen')?.innerText === {first!r}", "back")
    page.value("history.forward()")
    page.wait(f"document.querySelector('.grid-row.chosen')?.innerText === {second!r}", "forward")

    page.go("about:blank")
    page.go(link)
    page.wait(f"document.querySelector('.grid-row.chosen')?.innerText === {second!r}", "the link shows the same")


def test_filter_sort_and_clear(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    total = page.text("#pane-tensors .count")
    page.click("#filter")
    page.type('op == "Log" and inf > 0')
    page.press("Enter")
    page.wait_text("#pane-tensors .count", "1 found")
    page.click("#filter")
    page.value("document.querySelector('#filter').select()")
    page.type("op == ")
    page.press("Enter")
    page.wait_text("#filter-error", "filter")
    page.click(".filter button", "clear")
    page.wait_text("#pane-tensors .count", total)
    assert not page.value("document.querySelector('#filter-error')")

    page.click(".grid-head button", "max")
    page.wait("document.querySelector('[aria-sort=descending]')?.innerText.startsWith('max')", "sorted by max")
    assert view(page)["sort"] == "max"


def test_a_line_leads_to_its_tensors(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click(".verdict .code a")
    page.wait_text(".line.chosen .line-ops", "Log")
    page.click(".line-ops button", "tensor")
    page.wait("!document.querySelector('#pane-tensors .count').textContent.includes('tensors')", "fewer rows")
    names = page.wait("[...document.querySelectorAll('.grid-row a')].map(a => a.textContent).slice(0, 3)")
    assert {name.partition(":")[0].partition("/")[0] for name in names} <= {"Log", "mul", "Neg"}


def test_keyboard_alone(page: Page, address: str) -> None:
    """From the empty page to the first bad tensor and its elements without a pointer."""
    open_trace(page, address, "tutorial")
    page.press("?")
    page.wait_text("dialog", "Keys")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the sheet is closed")
    page.press("/")
    page.type("bad")
    page.press("Enter", "Escape")
    page.wait_text("#pane-tensors .count", "found")
    page.press("5")
    page.wait("document.activeElement.getAttribute('role') === 'grid'", "the table has the focus")
    page.wait("document.querySelector('.grid-row.bad')", "bad rows")
    page.press("Home", "Enter")
    page.wait_text(CHOSEN, "Log:0")
    page.press("9")
    page.wait("!!document.activeElement.closest('#pane-side')", "the pane of the tensor has the focus")
    page.press("f")
    page.wait("document.querySelector('#pane-side.full')", "it fills the window")
    page.press("Escape")
    page.wait("!document.querySelector('.pane.full')", "all panes again")
    page.press("Control+k")
    page.wait("document.activeElement.getAttribute('role') === 'combobox'", "the palette")
    page.type("> why")
    page.press("Enter")
    page.wait_text("#pane-centre .console", "first bad value at step 1")


def test_elements_of_the_tensor(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click(".verdict h1 a")
    page.wait_text("#pane-side .numbers", "−∞")
    page.wait("document.querySelector('#pane-side canvas')?.width === 10", "a picture of 200 by 10")
    page.click("#pane-side button", "table")
    page.click("#pane-side .slice")
    page.type("[53:54, 5:8]")
    page.press("Enter")
    page.wait("document.querySelector('#pane-side .cells td.inf')?.textContent === '−∞'", "the element that is -∞")
    page.click("#pane-side button", "histogram")
    page.wait("document.querySelector('#pane-side .histogram rect')", "bars")


def test_history_lineage_gradients_and_graph(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial", "&side=lineage&centre=gradients&structure=whole")
    page.click(".grid-row:nth-child(4) a")
    page.wait("document.querySelector('#pane-centre canvas')", "gradients as a picture")
    page.wait("document.querySelectorAll('#pane-structure .node').length > 2", "the whole graph")
    page.wait("document.querySelector('#pane-side .way li')", "the way of the value")
    page.click("#pane-side [role=tab]", "History")
    page.wait("document.querySelector('#pane-side .plot path')", "a plot")


def test_the_step_slider_and_the_timeline(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.wait("document.querySelector('#step-number')")
    wait_view(page, step="1")  # where it began
    page.press("]")
    page.wait("location.hash.includes('step=2')", "one step on")
    page.wait_text("#pane-steps .timeline-said", "step 2")
    page.click(".filter button", "this step")
    page.wait("[...document.querySelectorAll('.grid-row')].every(r => r.children[2]?.textContent === '2')", "its rows")


@pytest.mark.parametrize(("trace", "chosen"), [("tutorial", "step=0"), ("inference", "execution=")])
def test_a_key_counts_as_soon_as_there_are_steps(page: Page, address: str, trace: str, chosen: str) -> None:
    page.on_every_page(
        "new MutationObserver((_, seen) => { if (!document.querySelector('#step-number')) return; "
        "seen.disconnect(); dispatchEvent(new KeyboardEvent('keydown', {key: ']'})); })"
        ".observe(document, {childList: true, subtree: true})"
    )
    open_trace(page, address, trace, "&sort=name")  # whoever has chosen something is not led to where it began
    page.wait(f"location.hash.includes('{chosen}')", "the first one")


def test_the_chosen_tensor_follows_the_step(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click(".verdict h1 a")
    page.wait_text(CHOSEN, "Log:0")
    page.wait("document.querySelector('#step-number')", "the steps are known")
    page.press("[")
    page.wait("document.querySelector('.grid-row.chosen:not(.bad)')?.innerText.includes('Log:0')", "a good Log before")


def test_two_runs(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial", "&centre=diff&other=tutorial")
    page.wait_text("#pane-centre", "The runs are the same")


def test_dark(page: Page, address: str) -> None:
    page.prefer_dark()
    open_trace(page, address, "tutorial")
    page.click(".verdict h1 a")
    page.wait_text(CHOSEN, "Log:0")
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert page.value(ground) < 64
    page.press("d")
    page.wait(f"{ground} > 192", "light after a key")


def test_nothing_is_wider_than_the_window(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click(".verdict h1 a")
    page.wait_text("#pane-side", "Log:0")
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


def test_no_other_host_is_asked(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial", "&structure=whole&side=history&centre=gradients")
    page.click(".verdict h1 a")
    page.wait("document.querySelector('#pane-side .plot path')")
    hosts = {urlsplit(url).netloc for url in page.requests if not url.startswith(("data:", "about:"))}
    assert hosts == {urlsplit(address).netloc}
