# SPDX-License-Identifier: MIT
"""Chromium and Firefox, headless, driven with the standard library alone.

    with Chromium("/usr/bin/chromium") as browser:
        browser.open("file:///tmp/page.html")
        browser.files("#files", ["/tmp/trace.pickle"])
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        browser.value("document.title")
        browser.picture("page.png", 1200, 900)
"""

import base64
import json
import os
import socket
import subprocess
import tempfile
import time


class Browser:
    """What both browsers have in common."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.start()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def wait(self, condition, seconds=60):
        """Waits until the condition, a JavaScript expression, is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.value(f"!!({condition})"):
                return
            time.sleep(0.05)
        raise TimeoutError(f"it never became true: {condition}")


class Chromium(Browser):
    """Over a pipe: Chrome's DevTools protocol."""

    def __init__(self, path):
        self.path = path
        self.count = 0
        self.said = []  # console messages, and errors

    def start(self):
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def own():
            os.dup2(to_read, 3, inheritable=True)
            os.dup2(from_write, 4, inheritable=True)

        # High numbers, so that 3 and 4 are free in the child.
        to_read = os.dup2(to_read, 100, inheritable=False)
        from_write = os.dup2(from_write, 101, inheritable=False)
        self.process = subprocess.Popen(
            [
                self.path,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.folder.name}",
                "about:blank",
            ],
            preexec_fn=own,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        self.rest = b""
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call(
            "Target.attachToTarget", targetId=page["targetId"], flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "DOM", "Log", "Network"):
            self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.from_read, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        if event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(str(details.get("exception", details)))
        if event.get("method") == "Network.requestWillBeSent":
            self.said.append("asked for " + params["request"]["url"][:80])

    def open(self, url):
        self.said.clear()
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def value(self, expression):
        result = self.call(
            "Runtime.evaluate",
            expression=f"(async () => ({expression}))()",
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def files(self, selector, paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call(
            "DOM.querySelector", nodeId=root, selector=selector
        )["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=paths)

    def dark(self, is_dark):
        self.call(
            "Emulation.setEmulatedMedia",
            features=[
                {
                    "name": "prefers-color-scheme",
                    "value": "dark" if is_dark else "light",
                }
            ],
        )

    def size(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def picture(self, path):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(data["data"]))


class Firefox(Browser):
    """Over a socket: Marionette, which is WebDriver's protocol in frames."""

    def __init__(self, path):
        self.path = path
        self.count = 0
        self.said = []

    def start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.folder.name, "user.js"), "w") as out:
            out.write(f'user_pref("marionette.port", {port});\n')
        self.process = subprocess.Popen(
            [
                self.path,
                "--headless",
                "--marionette",
                "--no-remote",
                "--profile",
                self.folder.name,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder.name},
        )
        self.socket = self.connect(port)
        self.rest = b""
        self.read()
        self.call("WebDriver:NewSession")
        self.call("WebDriver:SetTimeouts", script=120000)

    def connect(self, port):
        end = time.monotonic() + 90
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), 120)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    def more(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise EOFError("the browser ended")
        self.rest += part

    def read(self):
        while b":" not in self.rest:
            self.more()
        length, self.rest = self.rest.split(b":", 1)
        while len(self.rest) < int(length):
            self.more()
        message = self.rest[: int(length)]
        self.rest = self.rest[int(length) :]
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        text = json.dumps([0, self.count, method, params])
        data = text.encode()
        self.socket.sendall(str(len(data)).encode() + b":" + data)
        while True:
            kind, number, error, result = self.read()
            if kind == 1 and number == self.count:
                if error:
                    raise RuntimeError(f"{method}: {error['message']}")
                return result

    def open(self, url):
        self.call("WebDriver:Navigate", url=url)

    def value(self, expression):
        return self.call(
            "WebDriver:ExecuteAsyncScript",
            script="const done = arguments[0];"
            f"(async () => ({expression}))().then(done,"
            " e => done(String(e)));",
            args=[],
        )["value"]

    def files(self, selector, paths):
        found = self.call(
            "WebDriver:FindElement", using="css selector", value=selector
        )["value"]
        node = next(iter(found.values()))
        text = "\n".join(paths)
        self.call("WebDriver:ElementSendKeys", id=node, text=text)

    def picture(self, path):
        data = self.call("WebDriver:TakeScreenshot", full=True)["value"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
