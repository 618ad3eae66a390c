"""The six sections on a program with layers, batches of two sizes, and a helper that is traced again and again."""

from __future__ import annotations

from chromium import Page
from views import CHOSEN, LINE, answer_late, open_trace, texts, view, wait_view


def test_alerts_by_kind_and_benign_ones_apart(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    page.wait_text("#pane-alerts .count", "12")  # eleven tracings again, one changed shape
    assert "SelectV2" not in page.text("#pane-alerts .alerts-list")

    page.click(".kinds button", "retraces")
    page.wait("document.querySelectorAll('.alerts-list li').length === 11", "eleven of this kind")
    page.wait_text(LINE, "scaled(loss, step)")
    page.click(".kinds button", "shapes")
    page.wait_text(".alerts-list", "the shape of argument inputs changed from [6,5,4] to [2,5,4]")
    page.click(".kinds button", "benign")
    page.wait_text(".alerts-list", "SelectV2")
    page.click(".alerts-list a", "SelectV2 held")
    page.wait_text(CHOSEN, "SelectV2:0")
    page.wait_text(LINE, "tf.where(mask")
    page.click("#pane-alerts .actions button", "all")
    page.wait("document.querySelectorAll('.alerts-list li').length === 12", "all kinds")


def test_executions_of_python(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    said = page.wait_text("#pane-executions .count", "of")
    page.click("#pane-executions button[aria-label='Later executions']")
    page.wait(f"document.querySelector('#pane-executions .count').textContent !== {said!r}", "later ones")
    page.click("#pane-executions button[aria-label='Earlier executions']")
    page.wait_text("#pane-executions .count", said)

    page.click("#pane-executions .box.function")
    page.wait_text("#pane-stack", "layers.py")
    page.wait_text("#pane-side", "function call")
    chosen = view(page)["execution"]
    page.wait(f"document.querySelector('.box[aria-pressed=true]') && {chosen} >= 0", "its box is pressed")
    page.click("#pane-side button", "its tensors in the table")
    page.wait_text("#pane-tensors .count", "found")
    assert view(page)["within"] == chosen
    page.click("#pane-side .list a")  # what was given to it
    page.wait_text("#pane-side", "event #")
    page.click(".grid-row a")
    page.wait(f"document.querySelector('{CHOSEN}')", "one of its tensors")
    page.wait("document.querySelector('.box.function[aria-pressed=true]')", "its box is pressed again")
    page.click(".filter button", "clear")
    page.wait_text("#pane-tensors .count", "tensors")


def test_a_late_answer_does_not_move_executions_that_were_moved(page: Page, address: str) -> None:
    """Also when it is not yet known which of them the chosen tensor is of."""
    answer_late(page, "(tensor[?].*seq|executions[?].*at)=")
    open_trace(page, address, "unhealthy")
    shown = "document.querySelector('#pane-executions .count').textContent"
    page.wait_text("#pane-executions .count", "0–")
    page.wheel(".grid-body", 22 * 900)
    page.wait("document.querySelector('#row-900 a')", "a row of another execution")
    page.value("window.late = 0")
    page.click("#row-900 a")
    page.wait(f"document.querySelector('{CHOSEN}')", "chosen")
    page.click("#pane-executions button[aria-label='Later executions']")
    page.wait(f"!{shown}.startsWith('0–')", "later ones")
    moved = page.value(shown)
    assert page.value("window.late") < 2, "the browser was too slow for this test"
    page.wait("window.late === 2", "the server told where the chosen one is")
    page.value("new Promise(done => setTimeout(done, 500))")
    assert page.value(shown) == moved


def test_executions_with_bad_values_alone(page: Page, address: str) -> None:
    open_trace(page, address, "tutorial")
    page.wait("document.querySelector('#pane-executions .box:not(.bad)')", "good ones are there")
    page.click("#pane-executions .actions button", "bad")
    page.wait("!document.querySelector('#pane-executions .box:not(.bad)')", "only bad ones")
    page.click("#pane-executions .box.bad")
    page.press("ArrowRight", "Enter")
    page.wait("document.activeElement.matches('.box.bad[aria-pressed=true]')", "the next one by keys")


def test_rows_by_wheel_keys_number_and_scrollbar(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    last = int(page.wait_text("#pane-tensors .count", "tensors").split()[0].replace(",", "")) - 1
    first_row = "document.querySelector('.grid-row').getAttribute('aria-rowindex') - 1"
    numbers = "[...document.querySelectorAll('.grid-row')].map(r => r.getAttribute('aria-rowindex') - 1)"
    page.wheel(".grid-body", 2200)
    page.wait(f"{first_row} === 100", "a hundred rows on")
    page.click(".grid", at=(0.5, 0.5))
    page.press("End")
    page.wait(f"{numbers}.includes({last})", "the last row")
    page.wait("!document.querySelector('.grid-row.waiting')", "its row has come")
    page.press("Home")
    page.wait(f"{first_row} === 0", "the first row")
    page.wheel(".grid-body", 22 * 300)
    event = page.wait("document.querySelector('#row-300 a')?.closest('.grid-row').children[0].textContent")
    page.press("Home")
    page.wait(f"{first_row} === 0", "the first row again")
    page.fill("#go-to-event", event)
    page.wait("document.querySelector('#row-300.active')", "the row with this number")
    page.fill("#go-to-event", "99999999")
    page.wait_text("#unlisted-event", "no tensor with the number #99,999,999")
    page.drag(".scrollbar .thumb", (0.5, 0.5), (0, 2000))
    page.wait(f"{numbers}.includes({last})", "the last row again")
    shown = page.value(numbers)
    assert shown == list(range(shown[0], shown[0] + len(shown)))


def test_rows_sorted(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    total = page.text("#pane-tensors .count")
    page.click(".grid-head button", "shape")
    wait_view(page, sort="elements", desc="1")
    page.wait("document.querySelector('[aria-sort=descending]')?.innerText.startsWith('shape')", "sorted")
    shapes = "[...document.querySelectorAll('.grid-row:not(.waiting)')].map(r => r.children[3].textContent)"
    sizes = f"{shapes}.map(s => s.split('×').reduce((a, b) => a * (parseInt(b) || 1), 1))"
    page.wait(f"{sizes}[0] >= 120", "the largest first")
    assert page.value(sizes) == sorted(page.value(sizes), reverse=True)
    page.click(".grid-head button", "shape")
    page.wait("document.querySelector('[aria-sort=ascending]')?.innerText.startsWith('shape')", "the other way")
    page.wait(f"{sizes}[0] <= 1", "the smallest first")
    assert page.text("#pane-tensors .count") == total


def test_a_walk_through_the_graph(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&where=op+%3D%3D+%22Softmax%22")
    page.click(".grid-row a")
    page.wait_text("#pane-structure .node.chosen", "Softmax")
    page.click("#pane-structure a.node", "SelectV2")
    page.wait_text("#pane-structure .node.chosen", "SelectV2")
    page.wait_text("#pane-stack", "train_step")
    page.click("#pane-structure button", "its tensors")
    page.wait_text("#pane-tensors .count", "found")
    page.wait("[...document.querySelectorAll('.grid-row a')].every(a => a.textContent.includes('SelectV2'))")
    assert not page.value("document.documentElement.scrollWidth > innerWidth")


def test_the_whole_graph_by_scope_and_colour(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&structure=whole")
    page.wait("document.querySelectorAll('#pane-structure .node').length > 3", "the top of the graph")
    graphs = page.value(
        "[...document.querySelectorAll('[aria-label=Graph] option')].map(o => [o.value, o.textContent])"
    )
    graph = next(value for value, text in graphs if "train_step" in text)
    page.choose("[aria-label=Graph]", graph)
    page.click("#pane-structure a.node", "sequential")
    page.wait_text(".crumbs", "sequential")
    page.click("#pane-structure a.node", "first")
    page.click("#pane-structure a.node", "Tensordot/")
    page.wait("document.querySelector('#pane-structure svg').textContent.includes('MatMul')", "its ops")
    nodes = "[...document.querySelectorAll('#pane-structure .node')]"
    drawn = f"{nodes}.map(n => n.querySelector('rect').getAttribute('fill') + n.textContent).join()"
    by_health = page.value(drawn)
    page.choose("[aria-label='Colour by']", "norm")
    page.wait(f"{drawn} !== {by_health!r}", "other colours and numbers")
    by_norm = page.value(drawn)
    page.choose("[aria-label='Colour by']", "range")
    page.wait(f"![{by_norm!r}, {by_health!r}].includes({drawn})", "others again")
    page.click(".crumbs button", "all")
    page.wait("!new URLSearchParams(location.hash.slice(1)).get('scope')", "the top")
    page.click("#pane-structure button[aria-label=Larger]")
    page.value("history.back()")
    page.wait_text(".crumbs", "Tensordot")


def test_frames_of_libraries_and_the_sticky_file(page: Page, address: str) -> None:
    open_trace(page, address, "slow", "&where=op+%3D%3D+%22MatMul%22")
    page.click(".grid-row a")
    page.wait_text("#pane-stack", "library frame")
    page.wait_text(LINE, "outputs = model(inputs)")
    folded = len(texts(page, ".frames li"))
    page.click("#pane-stack .actions button", "library frames")
    page.wait(f"document.querySelectorAll('.frames li').length > {folded}", "library frames")
    page.click(".frames a.dim", "dense.py")
    page.wait_text("#pane-centre", "only the text of your own files is kept")
    page.wait("document.querySelector('.frames [aria-current=true]').innerText.includes('dense.py')", "its frame")
    page.click("#pane-tensors .grid-row:nth-child(2) a")  # another tensor: the file that was looked at stays
    page.wait("document.querySelector('.grid-row:nth-child(2).chosen')", "another tensor")
    page.wait("document.querySelector('.frames [aria-current=true]')?.innerText.includes('dense.py')", "the same file")


def test_any_file_with_its_ops(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    options = "[...document.querySelectorAll('[aria-label=\"Source file\"] option')].map(o => o.value)"
    files = page.wait(f"(files => files.length > 3 && files)({options})")
    page.choose("[aria-label='Source file']", next(file for file in files if file.endswith("layers.py")))
    page.wait_text("#pane-centre .source", "def train_step(inputs, wanted):")
    page.click("#pane-centre button[aria-label^='line 26:']")
    page.wait_text(LINE, "Square")
    page.click(".line-ops button", "Square")
    page.wait("[...document.querySelectorAll('.grid-row a')].every(a => /square/i.test(a.textContent))", "its tensors")
    page.choose("[aria-label='Source file']", next(file for file in files if file.endswith("dense.py")))
    page.wait_text("#pane-centre", "dense.py: only the text of your own files is kept")
    page.wait("document.querySelector('#pane-centre .line button')", "lines that made ops")


def test_layers_as_a_tree(page: Page, address: str) -> None:
    open_trace(page, address, "slow")
    page.wait("document.querySelectorAll('#pane-layers li').length === 3", "the model's own, open")
    assert [name.strip() for name in texts(page, "#pane-layers .name bdi")] == ["sequential_1", "first_1", "second_1"]
    page.click("#pane-layers .fold[aria-expanded=true][aria-label^=Close]", "")
    page.wait("document.querySelectorAll('#pane-layers li').length === 1", "closed")
    page.click("#pane-layers .fold[aria-expanded=false][aria-label^=Open]", "")
    page.wait_text("#pane-layers", "first")
    page.wait("document.querySelector('#pane-layers .spark path')", "its gradient over the steps")
    page.click("#pane-layers button.name", "first")
    page.wait_text("#pane-tensors .count", "found")
    page.wait("[...document.querySelectorAll('.grid-row a')].every(a => a.textContent.includes('first'))")
    page.click("#pane-layers button.name", "first")
    page.wait_text("#pane-tensors .count", "tensors")
