"""Runs of Sessions in place of steps, and a trace of two processes."""

from __future__ import annotations

from chromium import Page
from views import CHOSEN, open_trace, texts, view, wait_view

BOXES = "#pane-executions .box"


def test_a_session_that_trains_has_runs_and_steps(page: Page, address: str) -> None:
    open_trace(page, address, "session")
    page.wait_text(".verdict h1", "began at step 0 (run 2)")
    page.wait_text("#pane-executions h2", "Session runs".upper())
    page.wait(f"document.querySelector('{BOXES}')", "runs")
    assert texts(page, BOXES) == ["1", "2", "3", "4", "5", "6"]
    assert "run #2: 2 fetches (Neg:0, GradientDescent); 2 feeds" in page.value(
        f"document.querySelectorAll('{BOXES}')[1].title"
    )
    page.wait_text(".alerts-list", "step 0 (run 2) · session.py:18")
    page.click(BOXES, "3")
    assert "Session run" in page.wait_text("#pane-side", "run #3")
    page.click("#pane-side button", "its tensors in the table")
    page.wait_text(".filter", "run 3 ×")
    page.wait("[...document.querySelectorAll('.grid-row:not(.waiting)')].every(r => r.children[2].textContent === '3')")
    page.click(".filter button", "run 3")
    page.choose("#group", "run")
    page.wait_text(".grid-body", "constants")
    assert texts(page, ".group-name .clip")[1] == "run 2"
    page.click(".verdict h1 a")
    page.wait_text(CHOSEN, "Log:0")
    page.wait_text("#pane-side", "Log, step 0 (run 2), event #")
    page.wait_text(".slider label", "step")


def test_a_session_that_only_evaluates_has_runs_alone(page: Page, address: str) -> None:
    open_trace(page, address, "inference")
    page.wait_text(".slider label", "run")
    page.wait_text("#pane-steps", "trains nothing")
    page.wait_text(".verdict h1", "began at run 6")
    page.wait_text(CHOSEN, "logs:0")  # where it began
    page.fill("#step-number", "1")
    wait_view(page, execution="0")
    page.wait_text("#pane-side", "run #1: 1 fetch (scaled:0); 1 feed (x:0)")
    page.fill("#step-number", "6")
    page.wait(f"document.querySelector('{BOXES}.bad[aria-pressed=true]')", "the run with the NaN")
    page.wait_text("#pane-side", "run #6")
    page.click("#pane-side button", "its tensors in the table")
    page.click(".grid-row a", "logs:0")
    page.wait_text("#pane-side", "Log, run 6, event #")
    options = texts(page, "#group option")
    assert options == ["no groups", "by run", "by layer", "by phase"]


def test_two_processes_are_told_apart(page: Page, address: str) -> None:
    open_trace(page, address, "two")
    page.wait_text(".verdict h1", "of process 1: Log")
    page.wait_text(".alerts-list", "process 1 · step 2")
    wait_view(page, process="1", step="2")  # where it began is chosen
    page.choose("#process", "0")
    # The mask of the first process did no harm, though the second one is in trouble.
    page.wait("document.querySelector('#pane-executions .box.benign')", "benign ones")
    page.wait("!document.querySelector('#pane-executions .bad, #pane-layers .bad, .grid .bad')", "no bad ones")
    page.click(".kinds button", "benign")
    page.click(".alerts-list a", "SelectV2 held -inf")
    page.wait_text(CHOSEN, "SelectV2:0")
    wait_view(page, process="0")
    page.click(".verdict h1 a")
    page.wait_text(CHOSEN, "Log:0")
    wait_view(page, process="1", step="2")
    page.wait("document.querySelector('#process').selectedOptions[0].textContent.startsWith('process 1')", "shown")
    page.wait("document.querySelector('#pane-executions .box.bad')", "its bad executions")

    page.click("#pane-side button[role=tab]", "History")
    page.wait("document.querySelector('.plot-box path')", "a plot")
    page.click("#pane-structure a.node", "Mul")
    page.wait("document.querySelector('#pane-structure .node.chosen').textContent.includes('Mul')", "its input")
    assert view(page)["process"] == "1"
    page.choose("#process", "0")
    page.wait("!document.querySelector('.grid-row.chosen')", "nothing of the other process is chosen")
    assert not {"seq", "op", "execution"} & set(view(page))
