"""A site of docsify over TLS: ten pages that are empty without scripts, and a record of all sent.

Files are sent as they are, compressed, chunked, or both, by their kind.
"""

import gzip
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from bench.replay_sites import npm_package
from tests.fetch.certificates import Authority

PAGES: Mapping[str, str] = {
    f"chapter-{number}.md": f"Sentence {number} of 手册第{number}章" for number in range(10)
}
"""File of each page, with a sentence that only it has.

The home page `README.md` is none of them: docsify's script names it, so that it can be guessed.
"""

_TRICKS = """
<link rel=dns-prefetch href=//prefetched.test><link rel=preconnect href=https://192.0.2.1>
<script>
const rtc = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:%(port)d"}]});
rtc.createDataChannel("x");
rtc.createOffer().then((offer) => rtc.setLocalDescription(offer));
for (const url of ["http://10.0.0.1/", "http://169.254.169.254/", "https://name.invalid/",
  "http://[::1]:%(port)d/", "http://127.0.0.1:%(port)d/"]) {
  fetch(url, {mode: "no-cors"}).catch(() => 0);
}
new WebSocket("ws://127.0.0.1:%(port)d/").onerror = () => 0;
</script>"""
_HOME = """<!DOCTYPE html><html><head><meta charset=utf-8><title>Handbook</title></head><body>
<div id=app></div><script>window.$docsify = {loadSidebar: true}</script>
<script src=docsify.js></script>%s</body></html>"""
_TYPES = {
    "html": "text/html; charset=utf-8", "js": "text/javascript", "md": "text/markdown",
}  # fmt: skip
_CHUNK = 300


class ThinSite:
    """The site.

    Attributes:
        origin: Scheme, host and port.
        files: The files by path, as they are on disk.
        sent: Replies by path, each with head and body as sent.
        visitors: Packets that came to the listener which its pages try to reach around the proxy.
    """

    def __init__(self, origin: str, files: Mapping[str, bytes]) -> None:
        self.origin = origin
        self.files = files
        self.sent: dict[str, list[bytes]] = {}
        self.visitors: list[bytes] = []

    @property
    def url(self) -> str:
        """Its home page."""
        return f"{self.origin}/docs/"

    def kind_of(self, path: str) -> str:
        """Return how a file is sent."""
        if path.endswith(".js"):
            return "gzip"
        return "gzip and chunked" if path.endswith(("1.md", "2.md")) else _kind_of(path)

    def reply(self, path: str) -> bytes:
        """Return the reply to a request."""
        body = self.files.get(path)
        if body is None:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        kind = self.kind_of(path)
        name = path.rpartition("/")[2] or "index.html"
        media = _TYPES[name.rpartition(".")[2]]
        head = ["HTTP/1.1 200 OK", f"Content-Type: {media}", "X-Odd:  two  spaces "]
        if "gzip" in kind:
            body = gzip.compress(body)
            head.append("content-encoding: gzip")
        if "chunked" in kind:
            head.append("Transfer-Encoding: chunked")
            pieces = [body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK)]
            body = b"".join(b"%X\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
            body += b"0\r\n\r\n"
        else:
            head.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*head, "Connection: close", "", ""]).encode() + body


def _kind_of(path: str) -> str:
    return "chunked" if path.endswith(".md") else "plain"


class _Handler(StreamRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        site: ThinSite = server.site
        words = self.rfile.readline().decode("latin-1").split(" ")
        while self.rfile.readline().strip():
            pass
        if len(words) == 3:
            data = site.reply(words[1])
            site.sent.setdefault(words[1], []).append(data)
            self.wfile.write(data)


class _Server(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    site: ThinSite
    context: ssl.SSLContext

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.settimeout(20)
        wrapped = self.context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )
        return wrapped, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave out clients that went away."""


def _files(port: int) -> dict[str, bytes]:
    package = npm_package("docsify@5.0.0")
    names = ("dist/docsify.min.js", "lib/docsify.min.js")
    script = next(package / name for name in names if (package / name).is_file())
    bar = "".join(f"* [Chapter {number}]({name})\n" for number, name in enumerate(PAGES))
    texts = {name: f"# {name}\n\n{sentence}.\n" * 9 for name, sentence in PAGES.items()}
    files = {
        "": (_HOME % (_TRICKS % {"port": port})).encode(), "docsify.js": script.read_bytes(),
        "README.md": b"# Handbook\n", "_sidebar.md": bar.encode(),
        **{name: text.encode() for name, text in texts.items()},
    }  # fmt: skip
    return {f"/docs/{name}": data for name, data in files.items()}


def _listen(site: ThinSite, listener: socket.socket) -> None:
    while True:
        try:
            site.visitors.append(listener.recv(2000))
        except OSError:
            return


@contextmanager
def thin_site(folder: Path, port: int) -> Iterator[ThinSite]:
    """Serve the site while the context lasts.

    Args:
        folder: Directory for its certificate.
        port: Its port on 127.0.0.1.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    site = ThinSite(f"https://127.0.0.1:{port}", _files(listener.getsockname()[1]))
    threading.Thread(target=_listen, args=(site, listener), daemon=True).start()
    with _Server(("127.0.0.1", port), _Handler) as server, listener:
        server.site = site
        server.context = Authority(folder).context("127.0.0.1")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield site
        finally:
            server.shutdown()
