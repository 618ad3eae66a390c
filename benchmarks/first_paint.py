"""A page's address in; how long real Chromium takes until the page shows what a person came for, out.

The browser is open already, as it is on a person's machine, and the tab is new: nothing of the page is in its cache.
What is looked for is looked for once a frame; a frame that has it was painted when the one behind it begins.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "e2e"))

from chromium import Browser, installed, opened

__all__ = ["FIRST_PAINT", "Browser", "browser", "painted"]

# Of tdbg's page. The strip says at once how many bad values there are, and where they began when that is found.
FIRST_PAINT = {
    "strip and rows": (
        "document.querySelectorAll('.grid-row a').length > 3 && "
        "/hold NaN|began/.test(document.querySelector('.verdict')?.innerText ?? '')"
    ),
    "verdict": "/Bad values began/.test(document.querySelector('.verdict h1')?.innerText ?? '')",
}

_LOOK = """
(() => {
  const wanted = %s;
  const seen = (window.__painted = {});
  const look = () => {
    for (const [name, isThere] of Object.entries(wanted)) {
      if (name in seen) continue;
      if (!isThere()) continue;
      seen[name] = null;
      requestAnimationFrame(() => (seen[name] = [performance.now(), performance.timeOrigin]));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()
"""


@contextmanager
def browser() -> Iterator[Browser | None]:
    """None where there is no Chromium."""
    if installed() is None:
        yield None
        return
    with opened() as found:
        yield found


def painted(browser: Browser, url: str, wanted: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """For each thing that is waited for (a name, and a script that tells whether it is there): seconds since the
    navigation began, and when it was painted, in seconds since the epoch."""
    with tempfile.TemporaryDirectory() as downloads, browser.page(Path(downloads)) as page:
        looks = ", ".join(f"{json.dumps(name)}: () => {script}" for name, script in wanted.items())
        page.on_every_page(_LOOK % f"{{{looks}}}")
        page.go(url)
        page.wait(f"(seen => seen && {json.dumps(list(wanted))}.every(name => seen[name]))(window.__painted)")
        found = page.value("window.__painted")
    return {name: (now / 1000, (origin + now) / 1000) for name, (now, origin) in found.items()}
