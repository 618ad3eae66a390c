"""What TensorFlow's own page could not: elements, histories, zoom, lineage, gradients, two runs, files to keep."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import pyarrow.parquet as pq
from chromium import Page
from views import CHOSEN, open_origin, open_trace, saved, view, wait_view

OF_DENSE = "&where=op+%3D%3D+%22Relu%22"  # its outputs have three dimensions
TIMELINE = "#pane-steps canvas"


# ---- elements


def test_a_tensor_of_three_dimensions(page: Page, address: str) -> None:
    open_trace(page, address, "slow", OF_DENSE)
    page.click(".grid-row a")
    page.wait_text("#pane-side", "6×5×8")
    page.wait("document.querySelector('.heat canvas')?.width === 8", "one page of 5 by 8")
    page.wait("document.querySelector('.heat canvas').height === 5")
    page.click("#pane-side button[aria-label='dimension 0: forward one']")
    wait_view(page, slice="[1, :, :]")
    page.click(".heat canvas", at=(0.0625, 0.1))
    wait_view(page, element="0,0")
    number = "/\\[0, 0\\] =\\s\\S+/.exec(document.querySelector('.heat .facts')?.innerText)?.[0]"
    picked = page.wait(number, "its number")
    page.click("#pane-side button", "table")
    assert page.wait("document.querySelector('.cells td')?.textContent") in picked
    page.click("#pane-side button", "histogram")
    page.wait("document.querySelectorAll('.histogram rect').length > 1", "bars")


def test_slices_that_are_wrong_say_so_and_right_ones_are_shown(page: Page, address: str) -> None:
    open_trace(page, address, "slow", OF_DENSE)
    page.click(".grid-row a")
    page.wait_text("#pane-side", "6×5×8")
    page.fill("#pane-side .slice", "[9]")
    page.wait("document.querySelector('#pane-side .failure')", "a sentence about the slice")
    page.fill("#pane-side .slice", "[0, :2, :3]")
    page.wait("document.querySelector('.heat canvas')?.width === 3", "2 by 3")
    link = page.value("location.href")
    page.go("about:blank")
    page.go(link)
    page.wait("document.querySelector('.heat canvas')?.width === 3", "the link has the slice")


# ---- over the steps


def test_histories_of_several_tensors(page: Page, address: str) -> None:
    open_trace(page, address, "slow", OF_DENSE + "&side=history")
    page.click(".grid-row a")
    page.wait("document.querySelectorAll('.plot .legend').length === 1", "one curve")
    page.click("#pane-side button", "keep")
    page.fill("#filter", 'op == "Softmax"')
    page.wait("document.querySelector('.grid-row a')?.textContent.includes('Softmax')", "another listing")
    page.click(".grid-row a")
    page.wait("document.querySelectorAll('.plot .legend').length === 2", "two curves")
    path = "document.querySelectorAll('.plot-box path')[1]?.getAttribute('d')"
    mean = page.wait(path)
    page.click("#pane-side button", "std")
    page.wait(f"{path} !== {mean!r}", "another number")
    page.click("#pane-side button", "log")
    page.click(".plot-box svg", at=(0.6, 0.5))
    page.wait("Number(new URLSearchParams(location.hash.slice(1)).get('step')) > 3", "a step of the plot")
    page.click("#pane-side button[aria-label^=Remove]")
    page.wait("document.querySelectorAll('.plot .legend').length === 1", "one curve again")


def test_zoom_of_the_timeline(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.wait_text("#pane-steps .count", "20")
    page.wait_text("#pane-steps", "loss:")
    page.hover(TIMELINE, at=(0.5, 0.4))
    said = page.wait_text(".timeline-said", "step")
    assert "bad" in said
    assert "loss NaN" in said
    page.wheel(TIMELINE, -300, at=(0.5, 0.4))
    page.wait_text("#pane-steps .count", "shown")
    zoomed = view(page)
    page.click(TIMELINE, at=(0.97, 0.98))  # the far end of the minimap
    wait_view(page, to="19")
    assert int(view(page)["from"]) > int(zoomed["from"])
    page.press("Home")
    page.wait("!document.querySelector('#pane-steps .count').textContent.includes('shown')", "all steps")
    page.drag(TIMELINE, (0.3, 0.4), (160, 0))
    page.wait_text("#pane-steps .count", "shown")
    page.press("d", "w", "s", "a")
    page.click("#pane-steps button", "fit")
    page.wait("!document.querySelector('#pane-steps .count').textContent.includes('shown')", "all steps")
    page.click(TIMELINE, at=(0.99, 0.4))
    wait_view(page, step="19")


def test_alerts_come_onto_the_timeline_when_they_are_found(page: Page, address: str) -> None:
    open_trace(page, address, "fast", "&step=1")
    assert "1 retrace" in page.wait_text(".timeline-said", "retrace")


def test_a_step_by_number_slider_and_palette(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.fill("#step-number", "7")
    wait_view(page, step="7")
    page.click("button[aria-label='next step']")
    wait_view(page, step="8")
    page.press("Control+k")
    page.wait("document.activeElement.getAttribute('role') === 'combobox'", "the palette")
    page.type("12")
    page.wait_text("#palette-items", "step 12")
    page.press("Enter")
    wait_view(page, step="12")


# ---- where values come from and go


def test_lineage_is_walked_back_to_where_it_began(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial", "&side=lineage")
    page.fill("#filter", 'op == "Mean" and bad and step == 1')
    page.wait_text("#pane-tensors .count", "1 found")
    page.click(".grid-row a")
    page.wait_text(".way", "Log:0")
    way = page.text(".way")
    assert "tf.math.log(probabilities)" in way
    page.click(".way a", "Log:0")
    page.wait_text("#pane-stack", "cross_entropy")
    wait_view(page, step="1")


def test_what_the_bad_values_reached(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.click(".verdict p a[title^='Show them']")
    page.wait_text("#pane-tensors .count", "found")
    page.wait("!document.querySelector('.grid-row:not(.bad):not(.waiting)')", "only bad ones")
    page.click(".verdict details.fix summary")
    assert "tf.maximum(probabilities, 1e-7)" in page.wait_text(".verdict ins", "+ ")


def test_gradients_by_layer_and_step(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&centre=gradients")
    canvas = "#pane-centre .flow canvas"
    page.hover(canvas, at=(0.9, 0.1))
    assert "norm" in page.wait_text(".flow-box .facts", "step")
    page.click(canvas, at=(0.98, 0.1))
    wait_view(page, step="11")
    before = page.value(f"document.querySelector('{canvas}').toDataURL()")
    page.click("#pane-centre button", "weights")
    page.wait(f"document.querySelector('{canvas}').toDataURL() !== {before!r}", "another picture")


def test_two_runs_and_where_they_part(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&centre=diff")
    page.choose("[aria-label='The other run']", "fast")
    said = page.wait_text("#pane-centre .diff", "They diverge at step 0")
    assert "layers.py:" in said
    page.click(".diff caption a", "fast")
    wait_view(page, trace="fast", other="slow", centre="diff")
    page.wait(f"document.querySelector('{CHOSEN}')", "the tensor where they part")
    page.wait_text("#pane-centre .diff", "They diverge at step 0")


def test_an_op_that_only_one_run_has(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&centre=diff&other=more")
    said = page.wait_text("#pane-centre .diff", "only in B")
    assert "slow · this run has no such op" in said
    assert "more · Cast" in said
    page.click(".diff caption a", "more")
    wait_view(page, trace="more", other="slow", centre="diff")
    assert "slow · this run has no such op" in page.wait_text("#pane-centre .diff", "only in A")


def test_what_is_not_certain_is_said(page: Page, address: str) -> None:
    open_trace(page, address, "more")
    said = page.wait_text(".verdict", "but infinity in a result that no op read")
    assert "✓ No bad values" not in said and "Every recorded tensor" not in said
    assert "result layers.py:" in said and "Log → -inf ×2 of 2" in said
    page.wait_text("#pane-steps .actions", "one of 2 tensors that gradients are taken of")


# ---- files


def test_rows_as_csv_and_parquet(page: Page, address: str, tmp_path: Path) -> None:
    """With the filter, the line and the execution that the table has."""
    open_trace(page, address, "slow", "&where=op+%3D%3D+%22Relu%22")
    page.wait_text("#pane-tensors .count", "12 found")
    page.click("#pane-tensors a.button", "CSV")
    with saved(page, tmp_path, ".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["type"] for row in rows] == ["Relu"] * 12
    page.click(".grid-row a")
    page.click("#pane-centre .line.chosen .line-ops button", "its")
    page.wait("!document.querySelector('#filter').value && document.querySelector('.filter button[title^=Only]')")
    page.wait("!document.querySelector('#pane-tensors .count').textContent.startsWith('12 ')", "more rows")
    number = int(page.wait_text("#pane-tensors .count", "found").split()[0].replace(",", ""))
    assert number > 12
    page.click("#pane-tensors a.button", "Parquet")
    assert pq.read_table(saved(page, tmp_path, ".parquet")).num_rows == number


def test_pictures_and_the_report_as_files(page: Page, address: str, tmp_path: Path) -> None:
    open_origin(page, address, "&side=history")
    page.wait("document.querySelector('.plot-box path')", "a plot")
    page.click(".plot .save button", "SVG")
    picture = ET.parse(saved(page, tmp_path, "history of mean.svg"))
    assert picture.getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in (tmp_path / "history of mean.svg").read_text()
    page.click(".plot .save button", "PNG")
    assert saved(page, tmp_path, "history of mean.png").read_bytes().startswith(b"\x89PNG")
    page.click("#pane-steps button", "PNG")
    assert saved(page, tmp_path, "steps.png").read_bytes().startswith(b"\x89PNG")
    page.click("#pane-structure button", "SVG")
    assert "Log" in saved(page, tmp_path, "neighbours.svg").read_text()
    page.click(".verdict a.button", "report")
    assert "tf.math.log(probabilities)" in saved(page, tmp_path, ".html").read_text()
