"""A headless Chromium and the little of its DevTools protocol that tests need, with the standard library alone.

with Browser() as b: b.page.go(url); b.page.evaluate("1 + 1"); b.page.key("ArrowLeft"); pixels = b.page.image("canvas")
"""
import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
import zlib

SECONDS_MAX = 600


def find() -> str | None:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    return None


class Image:
    """Pixels of a PNG of 8 bits and three or four channels, not interlaced: what a browser writes."""

    def __init__(self, data: bytes):
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed = 8, b""
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            if kind == b"IHDR":
                self.width, self.height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
                assert (depth, interlaced) == (8, 0) and colour in (2, 6)
                self.channels = 3 if colour == 2 else 4
            elif kind == b"IDAT":
                packed += body
            at += size + 12
        self.rows = list(self._unfilter(zlib.decompress(packed)))

    def _unfilter(self, raw: bytes):
        n, stride = self.channels, self.width * self.channels
        above = bytearray(stride)
        for y in range(self.height):
            start = y * (stride + 1)
            how, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
            for i in range(stride):
                left = row[i - n] if i >= n else 0
                if how == 1:
                    row[i] = (row[i] + left) & 255
                elif how == 2:
                    row[i] = (row[i] + above[i]) & 255
                elif how == 3:
                    row[i] = (row[i] + (left + above[i]) // 2) & 255
                elif how == 4:
                    corner = above[i - n] if i >= n else 0
                    guess = left + above[i] - corner
                    a, b, c = abs(guess - left), abs(guess - above[i]), abs(guess - corner)
                    row[i] = (row[i] + (left if a <= b and a <= c else above[i] if b <= c else corner)) & 255
            above = row
            yield row

    def at(self, x: float, y: float) -> tuple[int, int, int]:
        row, i = self.rows[int(y)], int(x) * self.channels
        return row[i], row[i + 1], row[i + 2]


class Socket:
    """The client's side of a websocket (RFC 6455), text frames only."""

    def __init__(self, host: str, port: int, path: str):
        self.stream = socket.create_connection((host, port), timeout=SECONDS_MAX)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n")
                            .encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def _more(self) -> bytes:
        data = self.stream.recv(1 << 20)
        if not data:
            raise ConnectionError("the browser is gone")
        return data

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            self.rest += self._more()
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def send(self, text: str) -> None:
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        length = bytes([128 | size]) if size < 126 else struct.pack(">BH", 254, size) if size < 65536 \
            else struct.pack(">BQ", 255, size)
        self.stream.sendall(b"\x81" + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self) -> str:
        text = b""
        while True:
            first, size = self._take(2)
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            data = self._take(size)
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return text.decode()


class Page:
    def __init__(self, link: Socket):
        self.link, self.count = link, 0
        self.errors: list[str] = []  # of scripts, and what the page's own policy refused
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def call(self, method: str, **parameters) -> dict:
        self.count += 1
        self.link.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            reply = json.loads(self.link.receive())
            if reply.get("id") == self.count:
                assert "error" not in reply, f"{method}: {reply}"
                return reply["result"]
            self._note(reply)

    def _note(self, event: dict) -> None:
        kind, about = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"])[:2000])
        elif kind == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def evaluate(self, expression: str):
        """The value, after promises; an exception of the page is one here."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in reply, f"{expression}: {json.dumps(reply['exceptionDetails'])[:2000]}"
        return reply["result"].get("value")

    def until(self, expression: str, seconds: float = SECONDS_MAX):
        end = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, f"never came true: {expression}"
            time.sleep(0.02)
        return value

    def settle(self) -> None:
        """Until two more frames are drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.until(f"document.readyState === 'complete' && location.href.startsWith({url.split('#')[0]!r})")

    def mouse(self, kind: str, x: float, y: float, **more) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        self.drag([(x, y)])

    def drag(self, points: list[tuple[float, float]]) -> None:
        self.mouse("mouseMoved", *points[0])
        self.mouse("mousePressed", *points[0], button="left", buttons=1, clickCount=1)
        for x, y in points[1:]:
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *points[-1], button="left", clickCount=1)
        self.settle()

    def key(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, selector: str = "") -> bytes:
        """Of what can be seen, or of one element."""
        self.settle()
        clip = {}
        if selector:
            box = self.evaluate(f"(({{x, y, width, height}}) => ({{x, y, width, height}}))"
                                f"(document.querySelector({selector!r}).getBoundingClientRect())")
            clip = {"clip": {**box, "scale": 1}}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **clip)["data"])

    def image(self, selector: str = "") -> Image:
        return Image(self.screenshot(selector))


class Browser:
    def __init__(self, width: int = 1200, height: int = 900):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-browser-", ignore_cleanup_errors=True)
        program = find()
        assert program, "no Chromium"
        # Without a sandbox, because it needs rights that containers withhold; what it opens, the tests made themselves.
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--mute-audio",
             "--force-device-scale-factor=1", "--force-color-profile=srgb", f"--window-size={width},{height}",
             f"--user-data-dir={self.folder.name}", "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.page = self._connect(width, height)
        except BaseException:
            self.__exit__()
            raise

    def _connect(self, width: int, height: int) -> Page:
        port_file = pathlib.Path(self.folder.name) / "DevToolsActivePort"
        end = time.monotonic() + SECONDS_MAX
        while not (port_file.exists() and port_file.read_text().count("\n")):
            assert self.process.poll() is None, "Chromium does not start"
            assert time.monotonic() < end, "Chromium does not answer"
            time.sleep(0.05)
        port = int(port_file.read_text().split("\n")[0])
        while True:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=SECONDS_MAX) as reply:
                pages = [p for p in json.load(reply) if p["type"] == "page"]
            if pages:
                break
            time.sleep(0.05)
        path = pages[0]["webSocketDebuggerUrl"].split(str(port), 1)[1]
        page = Page(Socket("127.0.0.1", port, path))
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        return page

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *unused) -> None:
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
