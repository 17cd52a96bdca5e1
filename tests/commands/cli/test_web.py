"""``tidegauge web`` in a real browser: drawn soon, taking keys and clicks, changing nothing."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from commands.cli.main import run_program
from commands.cli.web import LOOPBACK
from commands.cli.web_server import FOREIGN
from tests.support.browser import Page, browser_page, needs_browser

FIRST_PAINT_SECONDS = 30.0
"""Ten times what a machine with nothing else to do may take: a busy one passes, too."""
SHOWN = "document.body.classList.contains('-first-byte')"
CELLS = """
(() => {
  const box = document.querySelector('.xterm-screen').getBoundingClientRect();
  const cursor = document.querySelector('.xterm-helper-textarea').style;
  return [box.left, box.top, parseFloat(cursor.width), parseFloat(cursor.lineHeight)];
})()
"""
"""Where the terminal begins, and the size of a cell, in pixels."""
HEADER = "READ-ONLY"
"""What the header of the console shows, and nothing that comes before it."""
TAB_OF_BROKERS = 32
"""A column of the tab that opens Brokers."""
PROGRAM = "from commands.cli.main import main; main()"


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of a running ``tidegauge web``."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "web", "--port", str(port), *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        assert "READ-ONLY" in server.stderr.readline()
        yield f"http://{LOOPBACK}:{port}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=30)
        assert server.stderr is not None
        server.stderr.close()


async def answering(address: str) -> None:
    """Wait until the server takes connections."""
    async with ClientSession() as client:
        for _ in range(300):
            try:
                async with client.get(address):
                    return
            except OSError:
                await asyncio.sleep(0.1)


@needs_browser
async def test_the_console_is_drawn_in_a_browser_and_takes_keys_and_clicks() -> None:
    with served() as address:
        await answering(address)
        async with browser_page() as page:
            await page.open(address)
            await page.until_received(HEADER)
            assert page.seconds_until(HEADER) < FIRST_PAINT_SECONDS
            await page.until(SHOWN)
            page.forget_received()
            await page.click(600, 500)
            await page.press("2")
            await page.until_received("REPLICAS")
            page.forget_received()
            await page.click(*await cell(page, TAB_OF_BROKERS, 1))
            await page.until_received("LEADERS")
            assert len(await page.picture()) > 10_000
            assert not [url for url in page.requests if not url.startswith(address)]


async def cell(page: Page, column: int, line: int) -> tuple[int, int]:
    """Where the middle of a cell of the page's terminal is, in pixels."""
    left, top, width, height = await page.evaluate(CELLS)
    return round(left + (column + 0.5) * width), round(top + (line + 0.5) * height)


async def test_a_page_of_another_site_gets_no_socket() -> None:
    with served() as address:
        await answering(address)
        async with ClientSession(headers={"Origin": "http://elsewhere.example"}) as client:
            with pytest.raises(WSServerHandshakeError) as refused:
                await client.ws_connect(f"{address}/ws")
        assert refused.value.status == 403


async def test_only_requests_for_its_own_address_are_answered() -> None:
    with served() as address:
        await answering(address)
        port = address.rpartition(":")[2]
        wrong = [
            {"Host": f"elsewhere.example:{port}"},
            {"Host": "elsewhere.example"},
            {"Host": LOOPBACK},
            {"Host": ""},
            {"Origin": "http://elsewhere.example"},
            {"Origin": "null"},
        ]
        right = [{}, {"Host": f"localhost:{port}"}, {"Origin": address}]
        async with ClientSession() as client:
            for path in ("/", "/static/js/textual.js", "/download/x", "/nowhere"):
                for headers in wrong:
                    async with client.get(f"{address}{path}", headers=headers) as refused:
                        assert (refused.status, path, headers) == (403, path, headers)
            for headers in right:
                async with client.get(address, headers=headers) as page:
                    assert (page.status, headers) == (200, headers)


async def test_no_page_may_frame_it_and_a_plain_request_for_the_socket_is_told_where_to_go() -> (
    None
):
    with served() as address:
        await answering(address)
        async with ClientSession() as client:
            async with client.get(address) as page:
                assert page.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
                assert page.headers["X-Frame-Options"] == "DENY"
            async with client.get(f"{address}/ws") as refused:
                assert refused.status == 400
                assert await refused.text() == f"this is a WebSocket: open {address} instead\n"


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run_program(["web", "--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert said == f"port {port} is taken by another program; name another by --port\n"


def test_a_cluster_that_cannot_be_is_refused_before_any_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["web", "--config", "no.such=1"]) == 2
    assert "There is no configuration 'no.such'" in capsys.readouterr().err


def test_a_target_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["web", f"nowhere-{os.getpid()}.tide"]) == 3
    assert "cannot read 'nowhere-" in capsys.readouterr().err


def test_the_font_of_another_site_is_left_out_of_the_page() -> None:
    foreign = '<link\n rel="stylesheet" href="https://fonts.googleapis.com/css?x"\n/>'
    assert (
        FOREIGN.sub("", f'<head>{foreign}<link href="a"></head>') == '<head><link href="a"></head>'
    )
