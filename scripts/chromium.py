"""Drives headless Chromium over the DevTools protocol, for the scripts that measure pages and take pictures of them.
Needs nothing besides Python and Chromium."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-precise-memory-info",
    # Colours and widths of text do not depend on the screen.
    "--force-color-profile=srgb",
]


class Chromium:
    """A browser with one tab. Messages go through a pipe, so no port is needed."""

    def __init__(self, width=1440, height=900):
        self.user = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
        flags = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self.user}", f"--window-size={width},{height}", "about:blank"]

        def connect():
            # The browser reads from descriptor 3 and writes to 4.
            os.dup2(to_browser, 63)
            os.dup2(from_browser, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self.process = subprocess.Popen([program, *flags], preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = next(target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.user, ignore_errors=True)

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result. Events that arrive meanwhile are kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def next_message(self):
        while b"\0" not in self.buffer:
            read = os.read(self.read_end, 1 << 20)
            if not read:
                raise RuntimeError("the browser has exited")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def resize(self, width, height, scale=1, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def media(self, dark=False, **features):
        """Sets features such as `prefers_reduced_motion="reduce"`."""
        features["prefers-color-scheme"] = "dark" if dark else "light"
        chosen = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=chosen)

    def open(self, page, ready="document.documentElement.dataset.ready"):
        """Opens a file or an address and waits until an expression holds."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=Path(page.split("#")[0]).resolve().as_uri() + page[len(page.split("#")[0]) :] if "://" not in page else page)
        self.wait_for(ready)

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(f"Boolean({condition})"):
                    return
            except RuntimeError:
                pass  # Between two documents.
            time.sleep(0.02)
        raise RuntimeError(f"still not true: {condition}")

    def run(self, expression):
        """The value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return result["result"].get("value")

    def frame(self):
        """Waits until the page has drawn what changed."""
        self.run("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")

    def pointer(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1, button="left", modifiers=0):
        """Clicks like a hand, so that the pointer moves and the page sees each event."""
        self.pointer("mouseMoved", x, y)
        for number in range(1, count + 1):
            for kind in ["mousePressed", "mouseReleased"]:
                self.pointer(kind, x, y, button=button, clickCount=number, modifiers=modifiers)
        self.frame()

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.frame()

    def click_on(self, selector, **how):
        x, y = self.middle_of(selector)
        self.click(x, y, **how)

    def middle_of(self, selector):
        script = f"(() => {{ const found = document.querySelector({json.dumps(selector)}); found.scrollIntoView({{block: 'nearest'}}); const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        return self.run(script)

    def press(self, key, modifiers=0):
        """Presses a key: a character, or a name such as `Enter`."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Backspace": 8}
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code, modifiers=modifiers)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def type(self, text):
        for key in text:
            self.press(key)

    def picture(self, file, clip=None):
        """Writes what is on the screen as a PNG."""
        more = {"clip": dict(zip(["x", "y", "width", "height"], clip), scale=1)} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        Path(file).write_bytes(base64.b64decode(data))
