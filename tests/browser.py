"""A real headless browser, driven over a pipe by the Chrome DevTools Protocol, without more tools.

The browser reads commands from its file descriptor 3 and answers on 4; messages end in a zero byte.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
SIZE: Final = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
INPUT, OUTPUT = 3, 4

Message = dict[str, Any]


def browser() -> str | None:
    """The browser's program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """A page in the browser, and all that was said of it."""

    def __init__(self, commands: int, answers: int) -> None:
        self.said: list[Message] = []
        self._commands, self._answers = commands, answers
        self._rest = b""
        self._count = 0
        self._session = ""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        attached = self.do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.do(f"{domain}.enable")
        self.do("Emulation.setDeviceMetricsOverride", **SIZE)

    def do(self, method: str, **parameters: object) -> Message:
        """Give a command and wait for its answer; events on the way are kept."""
        self._count += 1
        message: Message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            self.said.append(answer)
        assert "error" not in answer, answer["error"]
        result: Message = answer["result"]
        return result

    def open(self, path: Path) -> None:
        """Show a file, and wait until all of it is there."""
        self.do("Page.navigate", url=path.as_uri())
        while not any(each.get("method") == "Page.loadEventFired" for each in self.said):
            self.said.append(self._next())

    def value(self, expression: str) -> Any:  # noqa: ANN401 - whatever the page says
        """What a JavaScript expression is."""
        answer = self.do("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path: Path) -> None:
        """Write what the page looks like, all of it, as PNG."""
        taken = self.do("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def events(self, method: str) -> list[Message]:
        """What was said of one kind."""
        return [each["params"] for each in self.said if each.get("method") == method]

    def _next(self) -> Message:
        while b"\0" not in self._rest:
            read = os.read(self._answers, 1 << 16)
            assert read, "the browser has gone away"
            self._rest += read
        whole, _, self._rest = self._rest.partition(b"\0")
        message: Message = json.loads(whole)
        return message


@contextmanager
def opened_page(program: str, profile: Path) -> Iterator[Page]:
    """A page in a browser of its own, whose profile is in a folder of the test's."""
    to_browser, commands = os.pipe()
    answers, from_browser = os.pipe()

    def place() -> None:
        high = [os.dup(to_browser), os.dup(from_browser)]
        os.dup2(high[0], INPUT)
        os.dup2(high[1], OUTPUT)

    with subprocess.Popen(
        [program, *OPTIONS, f"--user-data-dir={profile}"],
        preexec_fn=place,  # noqa: PLW1509 - it only moves file descriptors
        pass_fds=(INPUT, OUTPUT),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(commands, answers)
        finally:
            os.close(commands)
            os.close(answers)
            process.terminate()
