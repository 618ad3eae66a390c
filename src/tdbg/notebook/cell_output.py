"""Shows the verdict on a trace and its page below a cell: as text, and as HTML where that can be shown."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tdbg.errors import TdbgError
from tdbg.report.markup import Html, join, tag

_FAR = ("COLAB_", "KAGGLE_", "JUPYTERHUB_", "BINDER_", "DATABRICKS_", "SAGEMAKER_", "CODESPACES", "SSH_CONNECTION")
_FRAME = "width: 100%; height: 640px; border: 1px solid #8888; border-radius: 4px"
_TEXT = "white-space: pre-wrap; padding: 8px; border-left: 4px solid {colour}"


def reaches_loopback(environment: Mapping[str, str], modules: Collection[str]) -> bool:
    """Whether the browser that shows the notebook is likely on this machine."""
    is_far = any(name.startswith(_FAR) for name in environment) or "google.colab" in modules
    return not is_far and not Path("/.dockerenv").exists()


class CellOutput:
    """Shows things below cells. One server, started when it is first needed, has the pages of all traces."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def verdict(self, path: Path, ignore: frozenset[str] = frozenset(), with_page: bool = True) -> None:
        lines, is_trouble = _explained(path, ignore)
        html = tag("pre", "\n".join(lines), style=_TEXT.format(colour="#d33" if is_trouble else "#3a3"))
        if self._shows_html and with_page:
            html = join(html, self._page(path))
        self._publish("\n".join(lines), html)

    def page(self, path: Path) -> None:
        if not self._shows_html:
            raise TdbgError(f"cannot show a page here; in a terminal, run: tdbg serve {path}")
        self._publish(f"the page of {path}", self._page(path))

    @property
    def _shows_html(self) -> bool:
        """Whether HTML can be shown: a kernel has a front end, IPython in a terminal has none."""
        return getattr(self._shell, "kernel", None) is not None

    def _page(self, path: Path) -> Html:
        if not reaches_loopback(os.environ, sys.modules):
            from tdbg.query.trace.trace import Trace
            from tdbg.report.page import build

            return tag("iframe", srcdoc=build(Trace.open(path)), sandbox="", style=_FRAME, title="tdbg report")
        traces, server = self._server
        where = f"#trace={traces.add(path).id}"
        note = join(
            tag("a", "open it in a tab", href=server.url + where, target="_blank", rel="noopener"),
            " · available while this kernel runs; afterwards: ",
            tag("code", f"tdbg serve {path.name}"),
        )
        frame = tag("iframe", src=server.frame_url + where, style=_FRAME, title="tdbg")
        return join(frame, tag("div", note, style="opacity: 0.7"))

    @cached_property
    def _server(self) -> tuple[Any, Any]:
        from tdbg.web.server import Server
        from tdbg.web.traces import Traces

        traces = Traces([])
        server = Server(traces, framed=True)
        threading.Thread(target=server.serve, daemon=True).start()
        atexit.register(server.stop_and_wait)
        return traces, server

    def _publish(self, plain: str, html: Html) -> None:
        self._shell.display_pub.publish({"text/plain": plain, "text/html": str(html)})


def _explained(path: Path, ignore: frozenset[str]) -> tuple[list[str], bool]:
    import numpy as np

    from tdbg.query.trace.trace import Trace
    from tdbg.query.verdict.text import full_lines
    from tdbg.query.verdict.verdict import explain

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        verdict = explain(Trace.open(path), ignore)
        return full_lines(verdict), verdict.is_trouble
