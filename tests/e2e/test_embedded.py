"""The page in Chromium inside other pages: TensorBoard's tab, and a frame on another site, as in a notebook."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from chromium import Page

import tdbg

BOARD = """\
import sys
from tensorboard import default, program
from tdbg.tensorboard_plugin import TdbgPlugin
plugins = [plugin for plugin in default.get_plugins() if plugin is not TdbgPlugin]
board = program.TensorBoard([*plugins, TdbgPlugin])
board.configure(["tensorboard", "--logdir", sys.argv[1], "--port", "0", "--host", "127.0.0.1"])
print(board.launch(), flush=True)
sys.stdin.read()
"""
SERVER = """\
import sys
from pathlib import Path
from tdbg.web.server import Server
from tdbg.web.traces import Traces
server = Server(Traces([Path(sys.argv[1])]), port=0, framed=True)
print(server.frame_url, flush=True)
server.serve()
"""
INSIDE = "document.querySelector('iframe')?.contentDocument"


@contextmanager
def serving(program: str, folder: Path) -> Iterator[str]:
    """A program that prints its address and then serves."""
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(Path(tdbg.__file__).parents[1])}
    words = [sys.executable, "-c", program, str(folder)]
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield next(line for line in server.stdout if line.startswith("http")).strip()
        finally:
            server.terminate()


def test_the_tab_of_tensorboard(page: Page, traces: Path) -> None:
    pytest.importorskip("tensorboard")
    with serving(BOARD, traces) as address:
        page.go(f"{address}#tdbg")
        page.wait(f"{INSIDE}?.querySelector('#trace')?.textContent.includes('tutorial')", "traces below the logdir")
        page.value("document.querySelector('iframe').contentWindow.location.hash = '#trace=tutorial'")
        page.wait(
            f"{INSIDE}.querySelector('.verdict')?.innerText.includes('Bad values began at step 1')", "the verdict"
        )
        page.value(f"{INSIDE}.querySelector('.verdict h1 a').click()")
        page.wait(f"{INSIDE}.querySelector('.grid-row.chosen')?.innerText.includes('Log:0')", "the op is chosen")
        where = page.value("document.querySelector('iframe').contentWindow.location.href")
        assert where.startswith(f"{address}data/plugin_entry.html?name=tdbg#") and "seq=" in where
        # Pictures have the colours of the style sheet, which comes late here: bad steps are magenta, nothing is black.
        canvas = f"{INSIDE}.querySelector('#pane-steps canvas')"
        magenta = "d[i] > 120 && d[i + 1] < 60 && d[i + 2] > 80 && d[i + 3] > 200"
        colours = (
            "(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; "
            f"for (let i = 0; i < d.length; i += 4) n += {magenta}; return n > 500 }})({canvas})"
        )
        page.wait(f"{canvas} && {colours}", "the colour of NaN")
        chosen = "document.querySelector('iframe')?.contentWindow.location.hash"
        before = page.value(chosen)
        page.value("document.querySelector('iframe').contentDocument.body.dataset.old = '1'; location.reload()")
        page.wait(f"(b => b && !b.dataset.old)({INSIDE}?.body)", "another document")
        page.wait(f"{INSIDE}?.querySelector('.grid-row.chosen')?.innerText.includes('Log:0')", "still chosen")
        assert page.value(chosen) == before


class Notebook(http.server.BaseHTTPRequestHandler):
    """A page with a frame of the address that it is asked for."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<iframe src="{unquote(self.path[1:])}" style="width:100%; height:700px">'.encode())

    def log_message(self, *words: object) -> None:
        return None


def test_a_frame_on_another_site(page: Page, traces: Path) -> None:
    notebook = http.server.HTTPServer(("127.0.0.1", 0), Notebook)
    thread = threading.Thread(target=notebook.serve_forever)
    thread.start()
    try:
        with serving(SERVER, traces / "tutorial.tdbg") as address:
            page.go(f"http://localhost:{notebook.server_port}/{quote(address, safe='')}")
            with page.inside_frame():
                page.wait_text(".verdict", "Bad values began at step 1")
                assert page.value("location.href").startswith(address)
    finally:
        notebook.shutdown()
        thread.join()
        notebook.server_close()
