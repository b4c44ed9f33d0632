"""A real browser for tests: headless Chromium, told what to do over a pipe (its DevTools protocol)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""No screen, and no request of the browser's own."""
FLAGS = [*QUIET, "--hide-scrollbars", "--remote-debugging-pipe"]
# The browser reads from descriptor 3 and writes to 4, whatever numbers ours have.
_EXEC = """import fcntl, os, sys
ours = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(ours[0], 3), os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

_KEYS = {"Escape": 27, "Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37}


class Browser:
    """One page; a context manager that ends the browser.

    Attributes
    ----------
    console
        Errors that the page wrote to its console, and requests that went to another host than 127.0.0.1.
    """

    def __init__(self, profile: Path, width: int = 1400, height: int = 1000) -> None:
        assert CHROMIUM is not None
        to_read, to_write = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _EXEC, str(to_read[0]), str(to_write[1]), CHROMIUM, *FLAGS,
             f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"],
            pass_fds=(to_read[0], to_write[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read[0])
        os.close(to_write[1])
        self._in, self._out = to_read[1], to_write[0]
        self._number, self._rest, self._session = 0, b"", ""
        self.console: list[str] = []
        self.outside: list[str] = []
        target = self.send("Target.getTargets")["targetInfos"][0]["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Give an order and wait for its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            got = self._next(60)
            if got.get("id") == self._number:
                assert "error" not in got, got
                return got["result"]

    def _next(self, seconds: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._out], [], [], seconds)
            assert ready, "the browser does not answer"
            piece = os.read(self._out, 1 << 20)
            assert piece, "the browser has ended"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        got: dict[str, Any] = json.loads(text)
        self._note(got.get("method", ""), got.get("params", {}))
        return got

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.console.append(str(params["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.console.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(
                ("http://127.0.0.1", "http://localhost", "file:", "data:", "blob:", "about:")
            ):
                self.outside.append(url)

    def resize(self, width: int, height: int) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, url: str) -> None:
        self.send("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def run(self, code: str) -> Any:
        """The value of a JavaScript expression in the page."""
        found = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, code: str, seconds: float = 60) -> Any:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                if value := self.run(code):
                    return value
            except AssertionError:
                pass  # between two pages there is nothing to ask
            assert time.monotonic() < end, f"never true: {code}"
            time.sleep(0.2)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Select text from one point to another."""
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=x0, y=y0, button="left", clickCount=1)
        self.send(
            "Input.dispatchMouseEvent", type="mouseMoved", x=(x0 + x1) / 2, y=y1, button="left", buttons=1
        )
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x1, y=y1, button="left", buttons=1)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=x1, y=y1, button="left", clickCount=1)

    def write(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=_KEYS[key]
            )

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page."""
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))
