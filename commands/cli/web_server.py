"""The console in a browser: each page gets its own process, connected by a WebSocket.

Pages of other sites must not reach it: every request must name this address as its host (a name
that somebody else's DNS points here is another host) and, if it comes from a page, as its origin;
no other page may embed the console in a frame, and nothing is loaded from other sites.
"""

import logging
import re
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from textual_serve.server import Server

FOREIGN: Final = re.compile(r"<link\b[^>]*https?://fonts\.googleapis\.com[^>]*>", re.DOTALL)
"""The page's only external resource, a font; the terminal widget's own font is used instead."""


class ConsoleServer(Server):
    """Serve one command line to browsers on this machine."""

    def __init__(self, command: str, host: str, port: int, title: str) -> None:
        super().__init__(command, host=host, port=port, title=title)
        self.origins = (self.public_url, f"http://localhost:{port}")
        self.hosts = tuple(origin.removeprefix("http://") for origin in self.origins)

    async def _make_app(self) -> web.Application:
        """Check every request before it is answered."""
        app = await super()._make_app()
        app.middlewares.append(self._check)
        return app

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests for another host, and those of pages that were not served from here.

        A browser names the host that its user sees; a page cannot change that.
        """
        if request.headers.get("Host") not in self.hosts:
            raise web.HTTPForbidden(text=f"this console is at {self.public_url} only\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in self.origins:
            raise web.HTTPForbidden(text="this console is for pages of its own address only\n")
        return await handler(request)

    def initialize_logging(self) -> None:
        """Do not log requests."""
        logging.getLogger("textual-serve").setLevel(logging.ERROR)

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the caller has already printed the URL."""

    async def handle_index(self, request: web.Request) -> Any:  # noqa: ANN401 - as inherited
        """Serve the page without external resources."""
        page = await super().handle_index(request)
        assert isinstance(page, web.Response)
        page.text = FOREIGN.sub("", page.text or "")
        page.headers["Content-Security-Policy"] = "frame-ancestors 'none'"
        page.headers["X-Frame-Options"] = "DENY"
        return page

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Connect the WebSocket of a page to a process of its own."""
        if not web.WebSocketResponse().can_prepare(request):
            raise web.HTTPBadRequest(text=f"this is a WebSocket: open {self.public_url} instead\n")
        return await super().handle_websocket(request)
