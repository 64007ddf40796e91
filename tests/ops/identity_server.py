"""A web server with TLS for the site of an identity, as the published pieces configure it."""

import re
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.fetch.certificates import Authority

_FIELD = re.compile(r"^    (\S+) `(.*)`$", re.MULTILINE)


class SiteServer(ThreadingHTTPServer):
    """The server.

    Attributes:
        files: Bodies by path.
        fields: Header fields of the directory.
        paths: Paths that have them.
        status: Status of all replies.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.fields: dict[str, str] = {}
        self.status = 200

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.server_address[1]}"

    def publish(self, folder: Path) -> None:
        """Serve a published folder with the fields of its Caddyfile."""
        root = folder / "site"
        for path in root.rglob("*"):
            if path.is_file():
                name = f"/{path.relative_to(root)}".removesuffix("index.html")
                self.files[name] = path.read_bytes()
        self.fields = dict(_FIELD.findall((folder / "server" / "Caddyfile").read_text()))


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: Any = self.server
        body = server.files.get(self.path)
        self.send_response(404 if body is None else server.status)
        if self.path.endswith("signatures-directory"):
            for name, value in server.fields.items():
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def site_server(authority: Authority) -> Iterator[SiteServer]:
    """Serve with a certificate of an authority."""
    with SiteServer() as server:
        context: ssl.SSLContext = authority.context("127.0.0.1")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def raw_server(authority: Authority, parts: Iterable[bytes]) -> Iterator[str]:
    """Send parts to the first client; the origin."""

    def serve() -> None:
        with suppress(OSError), near.accept()[0] as plain:
            peers.append(plain.dup())
            with context.wrap_socket(plain, server_side=True) as peer:
                peer.recv(65_536)
                for part in parts:
                    peer.sendall(part)
            peers[0].shutdown(socket.SHUT_RDWR)

    context = authority.context("127.0.0.1")
    peers: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as near:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"https://127.0.0.1:{near.getsockname()[1]}"
        finally:
            for each in (near, *peers):
                with each, suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            thread.join()
