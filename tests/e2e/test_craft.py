"""Keys, the palette, panes, empty and broken places, and a page that stands still while it loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Browser, Page
from views import CHOSEN, open_origin, open_trace, texts, view, wait_view

FOCUS = "document.activeElement"


def test_every_key_of_the_help_sheet_is_there(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click("button[aria-label='Keys and help']")
    page.wait_text("dialog", "Keys")
    keys = texts(page, "dialog kbd")
    assert {"?", "Ctrl+K", "[", "]", "/", "g", "n", "p", "f", "d", "v", "Esc", "1", "9"} <= set(keys)
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "closed")
    for number, pane in enumerate(("alerts", "layers", "steps", "executions", "tensors", "centre", "stack"), 1):
        page.press(str(number))
        page.wait(f"{FOCUS}.closest('section')?.id === 'pane-{pane}'", f"{number} leads to {pane}")
    page.press("1", "n")
    page.wait(f"{FOCUS}.closest('section')?.id === 'pane-layers'", "the next pane")
    page.press("p")
    page.wait(f"{FOCUS}.closest('section')?.id === 'pane-alerts'", "the pane before")
    page.wait_text(".verdict h1", "Bad values began")
    page.wait("document.querySelector('#step-number')", "the steps are known")
    page.press("v")
    page.wait_text(CHOSEN, "Log:0")
    page.press("]")
    wait_view(page, step="2")
    page.press("[")
    wait_view(page, step="1")
    page.press("g")
    page.wait(f"{FOCUS}.id === 'go-to-event'", "the field of the event")


def test_tab_reaches_every_pane_and_shows_where_it_is(page: Page, address: str) -> None:
    open_origin(page, address)
    page.wait_text("#pane-side", "Log:0")
    page.wait("document.querySelector('#pane-structure .node')")
    panes = ("alerts", "layers", "steps", "executions", "tensors", "centre", "stack", "structure", "side")
    wanted = {"top", "verdict", *(f"pane-{name}" for name in panes)}
    for _ in range(500):
        page.press("Tab")
        pane, is_marked, what = page.value(
            "(e => { const style = getComputedStyle(e), pane = e.closest('section, header.top'); "
            "const isMarked = style.outlineStyle !== 'none' || style.boxShadow !== 'none' || e === document.body; "
            f"return [pane?.id || pane?.className || '', isMarked, e.outerHTML.slice(0, 120)] }})({FOCUS})"
        )
        assert is_marked, what
        wanted -= {pane.partition(" ")[0]}
        if not wanted:
            break
    assert not wanted


def test_everything_to_press_has_a_name(page: Page, address: str) -> None:
    open_origin(page, address)
    page.wait_text("#pane-side", "Log:0")
    things = "button, a, input, select, canvas:not([aria-hidden]), [role=separator]"
    has_name = "e.textContent.trim() || e.getAttribute('aria-label') || e.title || e.labels?.length"
    nameless = f"[...document.querySelectorAll('{things}')].filter(e => !({has_name})).map(e => e.outerHTML)"
    assert page.value(nameless) == []


def _open_palette(page: Page) -> None:
    page.wait("!document.querySelector('dialog')", "the one before is closed")
    page.press(":")
    page.wait(f"{FOCUS}.getAttribute('role') === 'combobox'", "the palette")


def test_the_palette_finds_ops_files_and_commands(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    page.click("button.search")
    page.wait(f"{FOCUS}.getAttribute('role') === 'combobox'", "the palette")
    page.type("softm")
    page.wait_text("#palette-items", "Softmax:0")
    page.press("Enter")
    page.wait_text("#pane-side", "Softmax")
    _open_palette(page)
    page.type("layers.py")
    page.wait_text("#palette-items [aria-selected=true]", "layers.py")
    page.press("Enter")
    page.wait_text("#pane-centre .source", "def train_step")
    _open_palette(page)
    page.type("where did this")
    page.wait_text("#palette-items [aria-selected=true]", "where did this come from?")
    page.press("Enter")
    wait_view(page, side="lineage")
    _open_palette(page)
    page.type("no such thing at all")
    page.wait("!document.querySelector('#palette-items')?.textContent.includes('where did')", "nothing of before")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "closed")


def test_the_shell_answers_with_links(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial", "&centre=shell&step=1")
    page.fill("#shell-line", "lt -f has_inf_or_nan")
    page.wait_text("#pane-centre .console", "Log:0")
    page.click(".console button.link", "Log:0")
    page.wait("document.querySelectorAll('.console .asked').length === 2", "a link is a command, too")
    page.fill("#shell-line", "no_such_command")
    page.wait("document.querySelector('.console .asked:last-child pre.inf')", "a sentence about it")
    page.press("ArrowUp")
    assert page.value("document.querySelector('#shell-line').value") == "no_such_command"


def test_panes_fold_fill_and_resize_and_stay_so(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    width = "Math.round(document.querySelector('[data-pane=right]').getBoundingClientRect().width)"
    before = page.value(width)
    page.drag("[aria-label='Border between middle and right']", (0.5, 0.3), (-60, 0))
    page.wait(f"{width} >= {before + 50}", "a wider column")
    page.click("#pane-stack button.fold")
    page.wait("!document.querySelector('#pane-stack .pane-body')", "folded")
    page.click("#pane-tensors button[aria-label$='fills the window']")
    page.wait("document.querySelector('#pane-tensors.full').getBoundingClientRect().width > 1200", "all of the window")
    page.press("Escape")
    page.go("about:blank")
    open_trace(page, address, "tutorial")
    page.wait(f"{width} >= {before + 50}", "still wider")
    assert not page.value("!!document.querySelector('#pane-stack .pane-body')")
    page.click("[aria-label='Border between middle and right']", count=2)
    page.wait(f"Math.abs({width} - {before}) <= 2", "as at the start")


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_page_fits_the_window(browser: Browser, address: str, tmp_path: Path, width: int) -> None:
    with browser.page(tmp_path, width=width, height=width * 5 // 8) as page:
        open_trace(page, address, "slow", "&seq=40&step=1&structure=whole")
        page.wait_text("#pane-side", "event #")
        sides = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert page.value(sides) <= [width, width * 5 // 8]
        cut = (
            "[...document.querySelectorAll('.pane-head, .filter, .top, .verdict .side')]"
            ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)"
        )
        assert page.value(cut) == []


@pytest.mark.parametrize("trace", ["healthy", "unhealthy", "slow", "tutorial", "session"])
def test_nothing_jumps_while_it_loads(page: Page, address: str, trace: str) -> None:
    """What a hand may be on its way to stays where it is when the verdict comes, whatever it is."""
    page.on_every_page(
        "window.jumps = []; new PerformanceObserver(list => jumps.push(...list.getEntries().map(e => [e.value, "
        "e.sources.map(s => s.node?.id || s.node?.className || s.node?.nodeName).join()]))).observe("
        "{type: 'layout-shift', buffered: true});"
    )
    open_trace(page, address, trace)
    page.wait("!document.querySelector('.stale, .loading')", "all is loaded")
    jumps = page.value("jumps")
    assert sum(value for value, _ in jumps) < 0.01, jumps


def test_a_folder_with_broken_traces_or_none(page: Page, traces: Path, address: str, tmp_path: Path) -> None:
    broken = traces / "broken.tdbg"
    broken.mkdir(exist_ok=True)
    (broken / "trace.json").write_text("{")
    open_trace(page, address, "tutorial")
    page.wait("[...document.querySelectorAll('#trace option')].some(o => o.value === 'broken')", "it is listed")
    page.choose("#trace", "broken")
    page.wait_text(".empty", "This trace cannot be read.")
    page.choose("#trace", "tutorial")
    page.wait_text(".verdict", "Bad values began")
    page.value("location.hash = 'trace=no-such-trace'")
    page.wait("document.querySelector('.failure, .empty')", "a sentence about it")


def test_links_that_make_no_sense(page: Page, address: str) -> None:
    """Old or broken links give a sentence or the start, not an empty page."""
    for rest in (
        "&seq=99999999",
        "&op=77777",
        "&slice=%5B%5B&seq=40",
        "&where=%22&sort=nothing",
        "&step=-5&from=9&to=2",
    ):
        page.go("about:blank")
        page.go(f"{address}#trace=tutorial{rest}")
        page.wait_text(".verdict", "Bad values began")
        page.wait("document.querySelectorAll('.grid-row').length || document.querySelector('.failure')", rest)
        page.wait("!document.querySelector('.loading')", f"{rest}: all is loaded")


def test_both_colour_schemes_and_their_memory(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert page.value(ground) > 192
    page.click("button[aria-label='Dark colours']")
    page.wait(f"{ground} < 64", "dark")
    page.go("about:blank")
    open_trace(page, address, "tutorial")
    page.wait(f"{ground} < 64", "still dark")


def test_the_view_is_all_in_the_address(page: Page, address: str) -> None:
    rest = "&where=bad&sort=max&desc=1&structure=whole&centre=gradients&side=history&alert=bad_values"
    open_origin(page, address, rest)
    page.press("9", "f")
    page.wait("document.querySelector('#pane-side.full .plot')", "the pane fills the window")
    assert view(page)["full"] == "side"
    state = json.dumps(view(page))
    page.press("Escape")
    page.wait("!document.querySelector('.pane.full')", "all panes")
    page.wait("document.querySelector('#pane-structure .crumbs') && document.querySelector('.flow canvas')", "the rest")
    assert json.loads(state) | {"full": ""} == view(page) | {"full": ""}
