"""Chromium, driven over its own debugging protocol through two pipes: a page that is looked at, clicked and typed on.

Nothing is needed but the browser itself. Whatever the page asks the network for is noted in ``requests``.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds; the machine may be busy
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe",
)  # fmt: skip
_KEYS = {  # name: code, number of the key
    "Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
    "PageUp": 33, "PageDown": 34, "Home": 36, "End": 35,
}  # fmt: skip
_MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

# The box of what is in sight of an element. What is above it may still be loading, and move it: null until it stands
# still, and something of it is what is hit at the shares of its size.
_STILL = """async (element, across, down) => {
  if (!element) return null;
  element.scrollIntoView({block: 'nearest'});
  const seen = () => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    const box = [left, top, right, bottom];
    for (let around = element.parentElement; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      const edge = around.getBoundingClientRect();
      [box[0], box[1]] = [Math.max(box[0], edge.left), Math.max(box[1], edge.top)];
      [box[2], box[3]] = [Math.min(box[2], edge.right), Math.min(box[3], edge.bottom)];
    }
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]];
  };
  const before = seen();
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
  const box = seen();
  const hit = document.elementFromPoint(box[0] + box[2] * across, box[1] + box[3] * down);
  const isHit = element.contains(hit) || hit?.contains(element);
  return isHit && box.every((number, at) => number === before[at]) ? box : null;
}"""


def installed() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class _Wire:
    """Messages to and from the browser, each ended by a zero byte."""

    def __init__(self, folder: str) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        command = ["bash", "-c", script, installed() or "", *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(command, pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.events: deque[dict[str, Any]] = deque()
        self._told = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        rest = b""
        while piece := os.read(self._in, 1 << 16):
            *whole, rest = (rest + piece).split(b"\0")
            with self._told:
                for text in whole:
                    message = json.loads(text)
                    if "id" in message:
                        self._answers[message["id"]] = message
                    else:
                        self.events.append(message)
                self._told.notify_all()

    def ask(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._out, json.dumps(message).encode() + b"\0")
        with self._told:
            if not self._told.wait_for(lambda: number in self._answers, PATIENCE):
                raise TimeoutError(f"Chromium does not answer {method}")
            answer = self._answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        found: dict[str, Any] = answer["result"]
        return found

    def close(self) -> None:
        self.ask("Browser.close")
        self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        os.close(self._in)
        os.close(self._out)


class Page:
    """One tab. What is looked for is waited for."""

    def __init__(self, wire: _Wire, context: str, width: int, height: int) -> None:
        self._wire = wire
        target = wire.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        self._session = wire.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._ask(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._wire.ask(method, self._session, **parameters)

    @contextmanager
    def inside_frame(self) -> Iterator[None]:
        """Looks at the page in the frame of another site, which has a process of its own."""
        end, outside = time.monotonic() + PATIENCE, self._session
        while not (found := self._wire.ask("Target.getTargets", filter=[{"type": "iframe"}])["targetInfos"]):
            assert time.monotonic() < end, "there is no such frame"
            time.sleep(0.05)
        attached = self._wire.ask("Target.attachToTarget", targetId=found[0]["targetId"], flatten=True)
        self._session = attached["sessionId"]
        try:
            yield
        finally:
            self._session = outside

    # ---- what happened

    def _told(self, method: str) -> list[dict[str, Any]]:
        """What the browser told of one kind, about this tab."""
        events = list(self._wire.events)
        return [one["params"] for one in events if one["method"] == method and one.get("sessionId") == self._session]

    @property
    def requests(self) -> list[str]:
        """All addresses that were asked for."""
        return [told["request"]["url"] for told in self._told("Network.requestWillBeSent")]

    @property
    def faults(self) -> list[str]:
        """Errors of the page's own code, and what its content-security policy forbade it."""
        thrown = self._told("Runtime.exceptionThrown")
        logged = [told["entry"] for told in self._told("Log.entryAdded")]
        return [told["exceptionDetails"].get("exception", {}).get("description", "") for told in thrown] + [
            entry["text"] for entry in logged if entry["source"] == "security"
        ]

    # ---- looking

    def value(self, script: str) -> Any:
        found = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", script))
        return found["result"].get("value")

    def wait(self, script: str, what: str = "") -> Any:
        """Until a script gives something true, which is given back."""
        end = time.monotonic() + PATIENCE
        asked = f"(async found => (found = await found) instanceof Node || found)({script})"
        while not (found := self._unless_navigating(asked)):
            if time.monotonic() > end:
                where = self.value("`${location.href}, focus on ${document.activeElement?.outerHTML.slice(0, 200)}`")
                raise AssertionError(f"this never came true: {what or script}\n{where}\n{self.text('body')[:3000]}")
            time.sleep(0.05)
        return found

    def _unless_navigating(self, script: str) -> Any:
        """None while the page goes over into another, which a script cannot survive."""
        try:
            return self.value(script)
        except RuntimeError as error:
            if "navigated or closed" in str(error):
                return None
            raise

    def text(self, selector: str) -> str:
        found: str = self.value(
            f"(e => e?.innerText ?? e?.textContent ?? '')(document.querySelector({json.dumps(selector)}))"
        )
        return found

    def wait_text(self, selector: str, part: str) -> str:
        """The text of an element once it has a certain part."""
        at, wanted = json.dumps(selector), json.dumps(part)
        text = (
            f"(e => e?.innerText ?? e?.textContent ?? '')(document.querySelector({at}))"  # drawings have no innerText
        )
        script = f"(t => t.includes({wanted}) && t)({text})"
        found: str = self.wait(script, f"{part!r} in {selector}")
        return found

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    # ---- doing

    def go(self, url: str) -> None:
        self._ask("Page.navigate", url=url)

    def on_every_page(self, script: str) -> None:
        """Run before any code of the pages that are gone to."""
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=script)

    def prefer_dark(self) -> None:
        self._ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def emulate_print(self, width: int, height: int) -> None:
        """As the page is laid out on paper of such a size."""
        self._ask("Emulation.setEmulatedMedia", media="print")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def _place(self, selector: str, text: str, at: tuple[float, float]) -> tuple[float, float]:
        """A point of the first element in sight with a selector and a text, once it is there; shares of its size."""
        find = (
            f"[...document.querySelectorAll({json.dumps(selector)})].find(e => e.textContent.includes("
            f"{json.dumps(text)}) && e.getClientRects().length)"
        )
        self.wait(find, f"{selector} with {text!r}")
        still = f"({_STILL})({find}, {at[0]}, {at[1]})"
        x, y, width, height = self.wait(still, f"{selector} with {text!r}, standing still and not covered")
        return x + width * at[0], y + height * at[1]

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector: str, text: str = "", at: tuple[float, float] = (0.5, 0.5), count: int = 1) -> None:
        x, y = self._place(selector, text, at)
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self._mouse(kind, x, y, button="left", clickCount=n)

    def hover(self, selector: str, at: tuple[float, float] = (0.5, 0.5)) -> None:
        self._mouse("mouseMoved", *self._place(selector, "", at))

    def wheel(self, selector: str, down: float, at: tuple[float, float] = (0.5, 0.5)) -> None:
        x, y = self._place(selector, "", at)
        self._mouse("mouseWheel", x, y, deltaX=0, deltaY=down)

    def drag(self, selector: str, start: tuple[float, float], by: tuple[float, float]) -> None:
        """From a point of an element, by pixels."""
        x, y = self._place(selector, "", start)
        self._mouse("mousePressed", x, y, button="left", clickCount=1)
        for share in (0.5, 1.0):
            self._mouse("mouseMoved", x + by[0] * share, y + by[1] * share, button="left", buttons=1)
        self._mouse("mouseReleased", x + by[0], y + by[1], button="left", clickCount=1)

    def choose(self, selector: str, value: str) -> None:
        """An option of a list."""
        script = f"(e => [...e.options].some(o => o.value === {json.dumps(value)}))"
        self.wait(f"(e => e && {script}(e))(document.querySelector({json.dumps(selector)}))", f"{value} in {selector}")
        self.value(
            f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change', {{bubbles: true}})) }})"
            f"(document.querySelector({json.dumps(selector)}))"
        )

    def fill(self, selector: str, text: str) -> None:
        """What stood in a field is gone."""
        self.click(selector)
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.type(text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Keys by name: ``?``, ``Enter``, ``Control+k``."""
        for key in keys:
            *modifiers, name = key.split("+") if len(key) > 1 else [key]
            bits = sum(_MODIFIERS[one] for one in modifiers)
            text = name if len(name) == 1 and not bits else "\r" if name == "Enter" else ""
            number = _KEYS.get(name) or ord(name.upper())
            about = {"key": name, "windowsVirtualKeyCode": number, "modifiers": bits}
            self._ask("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
            self._ask("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        self._ask("Input.insertText", text=text)


class Browser:
    def __init__(self, wire: _Wire) -> None:
        self._wire = wire

    @contextmanager
    def page(self, downloads: Path, width: int = 1280, height: int = 800) -> Iterator[Page]:
        """A tab that remembers nothing of others; what it saves comes into a folder."""
        context = self._wire.ask("Target.createBrowserContext")["browserContextId"]
        where = {"browserContextId": context, "downloadPath": str(downloads)}
        self._wire.ask("Browser.setDownloadBehavior", behavior="allow", **where)
        try:
            yield Page(self._wire, context, width, height)
        finally:
            self._wire.ask("Target.disposeBrowserContext", browserContextId=context)


@contextmanager
def opened() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        wire = _Wire(folder)
        try:
            yield Browser(wire)
        finally:
            wire.close()
