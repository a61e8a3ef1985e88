"""A real browser without a screen, driven by the protocol of WebDriver: Debian's chromium and chromium-driver."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

#: seconds that anything may take
_PATIENCE = 60
_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
]  # fmt: skip
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"enter": "\ue007", "escape": "\ue00c", "control": "\ue009", "alt": "\ue00a", "right": "\ue014"}


def is_there() -> bool:
    """Say whether there is a browser to be driven."""
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """One window."""

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        stop = threading.Timer(_PATIENCE, self.process.kill)
        stop.start()
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if match := re.search(r"successfully on port (\d+)", line):
                self._url = f"http://127.0.0.1:{match[1]}"
                break
        else:
            raise RuntimeError("chromedriver did not start")
        stop.cancel()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        options = {
            "binary": shutil.which("chromium"),
            "args": [*_FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self._profile.name}"],
        }
        always = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": always}})
        self._url += f"/session/{session['sessionId']}"

    def _call(self, method: str, path: str, content: Any = None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(self._url + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            told = json.load(error)["value"]
            raise RuntimeError(f"{told['error']}: {told['message'][:400]}") from None

    def close(self) -> None:
        """Close the window and end the driver."""
        with contextlib.suppress(OSError, RuntimeError):
            self._call("DELETE", "")
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._profile.cleanup()

    def open(self, url: str) -> None:
        """Go to a page."""
        self._call("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function in the page and return what it returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script: str, *arguments: Any, seconds: float = 30.0) -> Any:
        """Run a script until it returns something that is true, and return that."""
        end = time.monotonic() + seconds
        while not (found := self.run(script, *arguments)):
            if time.monotonic() > end:
                raise AssertionError(
                    f"never true: {script}\n{self.run('return document.body.innerText')}\n{self.log()}"
                )
            time.sleep(0.05)
        return found

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def wait_for_text(self, selector: str, text: str) -> None:
        """Wait until an element has a text in it."""
        self.wait(
            "return (document.querySelector(arguments[0])?.innerText ?? '').includes(arguments[1])", selector, text
        )

    def _element(self, selector: str) -> str:
        return str(self._call("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT])

    def type(self, selector: str, text: str) -> None:
        """Type into an element (of a file field: the path of a file)."""
        self._call("POST", f"/element/{self._element(selector)}/value", {"text": text})

    def click(self, selector: str) -> None:
        """Click on an element."""
        self._call("POST", f"/element/{self._element(selector)}/click", {})

    def hover(self, selector: str) -> None:
        """Move the mouse over an element."""
        origin = {_ELEMENT: self._element(selector)}
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin}
        actions = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}]
        self._call("POST", "/actions", {"actions": actions})

    def press(self, *keys: str) -> None:
        """Press keys together: ``press("control", "enter")``."""
        codes = [KEYS.get(key, key) for key in keys]
        downs = [{"type": "keyDown", "value": code} for code in codes]
        ups = [{"type": "keyUp", "value": code} for code in reversed(codes)]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [*downs, *ups]}]})

    def emulate(self, method: str, **values: Any) -> Any:
        """Send a command of the browser's own protocol: a dark screen, a phone."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": method, "params": values})

    def picture(self, path: Path) -> None:
        """Save what is seen as PNG, the whole page."""
        size = self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        told = self.emulate("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(told["data"]))

    def log(self) -> list[str]:
        """Return what the page complained of since the last call."""
        return [item["message"] for item in self._call("POST", "/se/log", {"type": "browser"})]
