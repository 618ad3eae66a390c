"""A page's address in; how long real Chromium takes until the page shows what a person came for, out.

The browser is open already, as it is on a person's machine, and the tab is new: nothing of the page is in its cache.
What is waited for is looked for once a frame; a frame that has it was painted when the one behind it begins.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "e2e"))

from chromium import Browser, Page, installed, opened

__all__ = ["BOARD", "ROWS", "TDBG", "Browser", "browser", "painted", "walk"]

ROWS = "strip and first rows"
# Of tdbg's page. The strip says at once how many bad values there are, and where they began once that is found.
TDBG = {
    ROWS: (
        "document.querySelectorAll('.grid-row a').length > 3 && "
        "/hold NaN|began/.test(document.querySelector('.verdict')?.innerText ?? '')"
    ),
    "verdict": "/Bad values began/.test(document.querySelector('.verdict h1')?.innerText ?? '')",
}
# Of TensorBoard's: the first rows with their numbers, of those that it has read by then.
BOARD = {"first rows": "/size:/.test(document.querySelector('graph-executions-component')?.textContent ?? '')"}

_LOOK = """
(() => {
  const wanted = {%s};
  const seen = (window.__painted = {});
  const look = () => {
    for (const [name, isThere] of Object.entries(wanted)) {
      if (name in seen || !isThere()) continue;
      seen[name] = null;
      requestAnimationFrame(() => (seen[name] = [performance.now(), performance.timeOrigin]));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()
"""
_COUNT = """
(() => {
  const plain = window.fetch;
  window.__open = 0;
  window.__asked = 0;
  window.fetch = async (...words) => {
    window.__open++;
    window.__asked++;
    try { return await plain(...words); } finally { window.__open--; }
  };
})()
"""
_QUIET = 0.7  # seconds without a question, after which a view is there


@contextmanager
def browser() -> Iterator[Browser | None]:
    """None where there is no Chromium."""
    if installed() is None:
        yield None
        return
    with opened() as found:
        yield found


@contextmanager
def _tab(browser: Browser) -> Iterator[Page]:
    with tempfile.TemporaryDirectory() as downloads, browser.page(Path(downloads)) as page:
        yield page


def painted(browser: Browser, url: str, wanted: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """For each thing that is waited for (a name, and a script that tells whether it is there): seconds since the
    navigation began, and when it was painted, in seconds since the epoch."""
    with _tab(browser) as page:
        page.on_every_page(_LOOK % ", ".join(f"{json.dumps(name)}: () => {script}" for name, script in wanted.items()))
        page.go(url)
        page.wait(f"(seen => seen && {json.dumps(list(wanted))}.every(name => seen[name]))(window.__painted)")
        found = page.value("window.__painted")
    return {name: (now / 1000, (origin + now) / 1000) for name, (now, origin) in found.items()}


def walk(browser: Browser, url: str, views: Mapping[str, str]) -> None:
    """Opens one view of the page after the other in the same tab, each (what stands behind the # of its address) until
    all that it asked for is there."""
    with _tab(browser) as page:
        page.on_every_page(_COUNT)
        page.go(url)
        for view in views.values():
            page.value(f"location.hash = {json.dumps(view)}")
            _wait_until_quiet(page)


def _wait_until_quiet(page: Page) -> None:
    asked, since = -1, time.monotonic()
    while time.monotonic() - since < _QUIET:
        open_now, now = page.value("[window.__open, window.__asked]")
        if open_now or now != asked:
            asked, since = now, time.monotonic()
        time.sleep(0.05)
