"""The table by step, layer and phase, and bad values that did no harm, which are quiet everywhere."""

from __future__ import annotations

import csv
from pathlib import Path

from chromium import Page
from views import CHOSEN, answer_late, axe_finds, needs_axe, open_trace, saved, texts, view, wait_view

GROUPS = ".grid-row.group"


def _group(page: Page, by: str) -> None:
    page.choose("#group", by)
    wait_view(page, group=by)
    page.wait(f"document.querySelector('{GROUPS}') && !document.querySelector('.grid-row.waiting')", "groups")


def test_groups_unfold_and_fold(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    _group(page, "layer")
    names = texts(page, f"{GROUPS} .clip")
    assert {"sequential_1/first_1", "sequential_1/second_1"} <= set(names)
    first = names.index("sequential_1/first_1")
    said = texts(page, GROUPS)[first]
    assert "96 tensors" in said
    assert "bad" not in said

    page.click(GROUPS, "sequential_1/first_1")
    page.wait("document.querySelectorAll('.grid-row a').length > 3", "its rows")
    wait_view(page, open="sequential_1/first_1")
    page.wait(f"document.querySelector('#row-{first + 1} a').textContent.startsWith('sequential_1/first_1/')")
    page.click(f"#row-{first + 5} a")
    page.wait_text(CHOSEN, "Relu")
    page.wait_text("#pane-stack", "layers.py")
    page.wheel(".grid-body", 22 * 97)
    page.wait(f"document.querySelector('#row-{first + 97}.group')", "the group behind its 96 rows")
    link = page.value("location.href")
    page.go("about:blank")
    page.go(link)
    page.wait_text(CHOSEN, "Relu")

    page.fill("#filter", 'op == "Relu"')
    page.wait("document.querySelectorAll('.grid-row.group').length === 1", "the only layer with such an op")
    page.wait_text(GROUPS, "12 tensors")
    page.click(GROUPS)
    page.wait("!document.querySelector('.grid-row a')", "folded")
    page.click(".filter button", "clear")
    page.wait(f"!document.querySelector('{GROUPS}')", "no groups any more")
    assert not {"group", "open"} & set(view(page))


def test_a_late_answer_does_not_move_a_table_that_was_moved(page: Page, address: str) -> None:
    """Where the chosen row is must be asked of the server; whoever went elsewhere in the meantime stays there."""
    answer_late(page, "(tensors|groups)[?].*at=")
    for group, asked in (("", 1), ("&group=layer&open=sequential_1/first_1", 2)):
        page.go("about:blank")
        open_trace(page, address, "slow", group)
        page.value("window.late = 0")
        page.click(".grid-row a")
        page.wait("document.querySelector('.grid-row.chosen')", "chosen")
        page.wheel(".grid-body", 22 * 90)
        page.wait("document.querySelector('#row-95')", "rows further below")
        page.wait(f"window.late === {asked}", "the server told where the chosen row is")
        page.value("new Promise(done => setTimeout(done, 500))")
        assert page.value("!!document.querySelector('#row-95')")


def test_groups_by_keys_alone(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    _group(page, "phase")
    assert texts(page, f"{GROUPS} .clip") == ["forward", "backward", "other"]
    assert page.value("document.querySelector('.grid').getAttribute('role')") == "treegrid"
    page.press("5", "ArrowDown", "ArrowDown", "ArrowRight")
    wait_view(page, open="backward")
    page.wait("document.querySelector('#row-1').getAttribute('aria-expanded') === 'true'", "unfolded")
    page.wait("document.querySelector('#row-2 a')", "its rows")
    page.press("ArrowDown", "Enter")
    page.wait("document.querySelector('#row-2.chosen')", "chosen")
    page.press("ArrowLeft")
    page.wait("document.querySelector('#row-1.active')", "its group")
    page.press("ArrowLeft")
    page.wait("!document.querySelector('.grid-row a')", "folded")


def test_what_is_chosen_elsewhere_is_shown_in_its_group(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    _group(page, "step")
    assert " bad" in page.wait_text(".grid-row.group.here", "step 1")  # what was chosen on landing is in it
    page.wheel(".grid-body", -22000)
    assert " bad" not in page.wait_text("#row-0.group", "step 0")
    page.click(".verdict h1 a")
    page.wait_text(CHOSEN, "Log:0")
    wait_view(page, open="1", step="1")
    page.wait("document.querySelector('.grid-row.group.here')?.textContent.includes('step 1')", "its step is marked")


def test_groups_as_a_file(page: Page, address: str, tmp_path: Path) -> None:
    open_trace(page, address, "slow", "&where=max+%3E+0")
    _group(page, "step")
    page.click("#pane-tensors a.button", "groups CSV")
    with saved(page, tmp_path, ".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [f"step {n}" for n in range(12)]
    number = int(page.wait_text("#pane-tensors .count", "found").split()[0])
    assert sum(int(row["rows"]) for row in rows) == number


def test_a_mask_is_quiet_in_all_panes(page: Page, address: str) -> None:
    """Its infinities are told, but nothing is pink."""
    open_trace(page, address, "slow", "&where=op+%3D%3D+%22SelectV2%22")
    page.click(".grid-row a")
    page.wait_text("#pane-structure", "benign tensors")
    page.wait("document.querySelector('.grid-row.benign') && !document.querySelector('.grid-row.bad')", "rows")
    page.wait("document.querySelector('#pane-executions .box.benign')", "executions")
    page.wait("document.querySelector('#pane-centre .line.benign.chosen')", "the line")
    loud = "#pane-executions .bad, #pane-layers .bad, #pane-centre .bad, #pane-structure .bad-text, .grid .bad"
    assert page.value(f"document.querySelectorAll('{loud}').length") == 0
    fills = page.value("[...document.querySelectorAll('#pane-structure rect')].map(r => r.getAttribute('fill'))")
    assert not {fill for fill in fills if "nan" in fill or "inf" in fill}
    page.click("#pane-executions .actions button", "bad")
    page.wait_text("#pane-executions", "No execution had harmful bad values")
    _group(page, "phase")
    page.wait_text(GROUPS, "12 benign")


@needs_axe
def test_nothing_that_axe_finds_in_groups(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial", "&group=step&open=1")
    page.wait("!document.querySelector('.stale, .loading, .grid-row.waiting')", "all is loaded")
    assert axe_finds(page) == []
