# SPDX-License-Identifier: MIT
"""Drives headless Chromium over its debugging pipe, with the standard library only."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium():
    """The path of a Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page of a headless Chromium. Use it in a `with` statement."""

    def __init__(self, program, width=1440, height=900, timeout=60):
        self.timeout = timeout
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def use_pipes():  # Chromium reads descriptor 3 and writes 4
            low, high = os.dup(to_read), os.dup(from_write)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                f"--user-data-dir={self.folder.name}",
                f"--window-size={width},{height}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=use_pipes,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(from_write)
        self.to, self.source, self.buffer, self.count, self.events = to_write, from_read, b"", 0, []
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Accessibility"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        self.folder.cleanup()

    def message(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.source], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.source, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.count += 1
        request = {"id": self.count, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self.message(until)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def use_dark(self, is_dark):
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, path, fragment=""):
        """Opens a page of `aton view`, and waits until it is laid out."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri() + fragment)
        until = time.monotonic() + self.timeout
        while not self.run("location.protocol === 'file:' && document.documentElement?.dataset.ready === 'true'"):
            if time.monotonic() > until:
                raise TimeoutError(f"the page is not ready: {self.errors()}")
            time.sleep(0.05)

    def run(self, script):
        """The value of an expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def errors(self):
        """Uncaught exceptions and messages of the console since the page was opened."""
        self.run("0")
        return [
            json.dumps(e["params"])[:600]
            for e in self.events
            if e["method"] == "Runtime.exceptionThrown"
            or (e["method"] == "Runtime.consoleAPICalled" and e["params"]["type"] in ("error", "warning"))
        ]

    def requests(self):
        """The addresses that the page asked for, other than itself."""
        self.run("0")
        urls = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("file:", "blob:", "about:"))]

    def key(self, key, modifiers=0):
        code = {
            "Enter": 13,
            "Escape": 27,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "Home": 36,
            "End": 35,
            "Tab": 9,
        }.get(key, 0)
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                modifiers=modifiers,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def click(self, x, y, times=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=times)

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
