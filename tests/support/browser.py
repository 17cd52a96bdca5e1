"""A real headless browser, driven over its own DevTools protocol."""

import asyncio
import base64
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--window-size=1200,800",
    "--remote-debugging-port=0",
)
NAMED_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""),
}
"""Keys with a name: the browser's number of them, and what they write."""
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.1


def program() -> str | None:
    """The browser on this machine."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


needs_browser = pytest.mark.skipif(program() is None, reason="there is no chromium here")


class Page:
    """One tab: what it asked for, what its sockets got, what its scripts complained of."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.requests: list[str] = []
        self.received: list[str] = []
        self.opened_at = 0.0
        self.arrived_at: list[float] = []
        """When each of ``received`` came, in seconds on the browser's own clock."""
        self.complaints: list[str] = []
        self._last = 0

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give the browser a command, and note what happens until it has answered."""
        self._last += 1
        await self.socket.send_json({"id": self._last, "method": method, "params": parameters})
        while True:
            message = await self.socket.receive_json(timeout=PATIENCE_SECONDS)
            if message.get("id") == self._last:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self._note(message["method"], message["params"])

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
            self.opened_at = self.opened_at or parameters["timestamp"]
        elif method == "Network.webSocketFrameReceived":
            response = parameters["response"]
            data = response["payloadData"]
            binary = response["opcode"] == 2
            self.received.append(base64.b64decode(data).decode("latin-1") if binary else data)
            self.arrived_at.append(parameters["timestamp"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])

    async def open(self, url: str) -> None:
        """Go to an address."""
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Page.navigate", url=url)

    async def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - any JSON
        """The value of a JavaScript expression."""
        result = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return result["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
            if await self.evaluate(expression):
                return
            await asyncio.sleep(POLL_SECONDS)
        pytest.fail(f"never came true: {expression}")

    async def until_received(self, text: str) -> None:
        """Wait until a socket of the page has got ``text``."""
        for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
            if text in "".join(self.received):
                return
            await asyncio.sleep(POLL_SECONDS)
            await self.evaluate("0")
        pytest.fail(f"the page never got {text!r}")

    def seconds_until(self, text: str) -> float:
        """How long after the page was asked for its sockets had got ``text``, which they have."""
        so_far = ""
        for part, at in zip(self.received, self.arrived_at, strict=True):
            so_far += part
            if text in so_far:
                return at - self.opened_at
        pytest.fail(f"the page never got {text!r}")

    def forget_received(self) -> None:
        """Drop what the sockets have got, to wait for something new."""
        self.received.clear()
        self.arrived_at.clear()

    async def click(self, x: int, y: int) -> None:
        """Click at a place."""
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    async def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the button at one place and release it at another."""
        for kind, (x, y), button in (
            ("mouseMoved", begin, "none"),
            ("mousePressed", begin, "left"),
            ("mouseMoved", end, "left"),
            ("mouseReleased", end, "left"),
        ):
            await self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1
            )

    async def press(self, key: str) -> None:
        """Press a key that writes itself, or one of :data:`NAMED_KEYS`."""
        code, text = NAMED_KEYS.get(key, (0, key))
        await self.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key=key,
            text=text,
            windowsVirtualKeyCode=code,
        )
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def picture(self) -> bytes:
        """What the page looks like, as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot"))["data"])


@asynccontextmanager
async def browser_page() -> AsyncIterator[Page]:
    """An empty page in a browser of its own."""
    found = program()
    assert found is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [found, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        browser = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            port = await _port(Path(profile, "DevToolsActivePort"))
            async with ClientSession() as client:
                async with client.get(f"http://127.0.0.1:{port}/json/list") as response:
                    tabs = await response.json()
                address = next(t["webSocketDebuggerUrl"] for t in tabs if t["type"] == "page")
                async with client.ws_connect(address, max_msg_size=0) as socket:
                    yield Page(socket)
        finally:
            browser.kill()
            await browser.wait()


def _words(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


async def _port(file: Path) -> int:
    for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
        lines = await asyncio.to_thread(_words, file)
        if len(lines) > 1:
            return int(lines[0])
        await asyncio.sleep(POLL_SECONDS)
    pytest.fail("the browser did not start")
