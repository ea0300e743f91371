"""Headless Chromium driven over its DevTools pipe: no driver program, no network, no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "no Chromium on this machine (Debian: apt-get install chromium; .ci/setup-tools does it)"

Json = dict[str, Any]


class Page:
    """One page; ``complaints`` collects console messages, uncaught errors, blocked requests and dialogs."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer, self._last, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")

    def open(self, address: str, width: int, height: int) -> None:
        """Show ``address`` in a window of that size."""
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._send("Page.navigate", url=address)
        deadline = time.monotonic() + 30
        while self.value("document.readyState") != "complete" or self.value("location.href") == "about:blank":
            assert time.monotonic() < deadline, "the page does not load"

    def prefer(self, scheme: str) -> None:
        """The colour scheme that the person wants: light or dark."""
        self._send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """One key, as a person would press it."""
        text = {"text": key} if len(key) == 1 else {}
        code = {"Tab": 9, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38}.get(key, ord(key[0].upper()))
        self._send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self._send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, file: Path, whole: bool = True) -> None:
        """The page (or only what the window shows) as a PNG."""
        how: Json = {}
        if whole:
            size = self._send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
            how = {"clip": clip, "captureBeyondViewport": True}
        file.write_bytes(base64.b64decode(self._send("Page.captureScreenshot", **how)["data"]))

    def _send(self, method: str, **params: Any) -> Json:
        self._last += 1
        call: Json = {"id": self._last, "method": method, "params": params}
        if self._session:
            call["sessionId"] = self._session
        os.write(self._to, json.dumps(call).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self._last:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _receive(self) -> Json:
        while b"\0" not in self._buffer:
            data = os.read(self._from, 1 << 20)
            assert data, "Chromium has gone"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, message: Json) -> None:
        kind = message.get("method", "")
        if kind in (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        ):
            self.complaints.append(json.dumps(message["params"]))
        if kind == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A browser with an empty profile, ended afterwards."""
    assert PROGRAM is not None
    child_reads, we_write = os.pipe()
    we_read, child_writes = os.pipe()

    def place_pipes() -> None:
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        spare = (os.dup(child_reads), os.dup(child_writes))
        os.dup2(spare[0], 3, inheritable=True)
        os.dup2(spare[1], 4, inheritable=True)

    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
    options += [
        "--no-first-run",
        "--disable-extensions",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
    ]
    browser = subprocess.Popen(
        [PROGRAM, *options, "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=place_pipes,
    )
    os.close(child_reads)
    os.close(child_writes)
    try:
        yield Page(we_write, we_read)
    finally:
        browser.terminate()
        browser.wait(timeout=20)
        os.close(we_write)
        os.close(we_read)
