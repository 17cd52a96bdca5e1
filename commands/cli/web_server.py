"""The console in a browser: each page that is opened gets a program of its own, behind a socket.

A page of another site must not reach it: only a browser that has the page from here may open the
socket, no other page may frame it, and nothing is loaded from elsewhere.
"""

import logging
import re
from typing import Any, Final

from aiohttp import web
from textual_serve.server import Server

FOREIGN: Final = re.compile(r"<link\b[^>]*https?://fonts\.googleapis\.com[^>]*>", re.DOTALL)
"""The page's one piece from another site, a font; the terminal's own will do."""


class ConsoleServer(Server):
    """Serves one command line to browsers on this machine."""

    def __init__(self, command: str, host: str, port: int, title: str) -> None:
        super().__init__(command, host=host, port=port, title=title)
        self.origins = (self.public_url, f"http://localhost:{port}")

    def initialize_logging(self) -> None:
        """Say nothing of each request."""
        logging.getLogger("textual-serve").setLevel(logging.ERROR)

    async def on_startup(self, app: web.Application) -> None:
        """The caller has said where to look."""

    async def handle_index(self, request: web.Request) -> Any:  # noqa: ANN401 - as inherited
        """The page, with nothing in it from other sites."""
        page = await super().handle_index(request)
        assert isinstance(page, web.Response)
        page.text = FOREIGN.sub("", page.text or "")
        page.headers["Content-Security-Policy"] = "frame-ancestors 'none'"
        page.headers["X-Frame-Options"] = "DENY"
        return page

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """The socket to a program, for pages from here only."""
        origin = request.headers.get("Origin")
        if origin is not None and origin not in self.origins:
            raise web.HTTPForbidden(text="this console is for pages of its own address only\n")
        if not web.WebSocketResponse().can_prepare(request):
            raise web.HTTPBadRequest(text=f"this is a WebSocket: open {self.public_url} instead\n")
        return await super().handle_websocket(request)
