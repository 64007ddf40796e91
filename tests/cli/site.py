"""A small site on loopback, in a thread, and the command line called in this process."""

import base64
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from nacre.cli.app import app
from nacre.cli.program import late_group

PAGES = {
    "/": '<a href="a.html">a</a> <a href="b.html">b</a> <a href="secret/x.html">x</a>'
    '<a href="http://elsewhere.test/">out</a><img src="i.png">',
    "/a.html": '<a href="b.html">b</a><a href="c.html">c</a>',
    "/b.html": "<p>text</p>",
    "/c.html": "<p>text</p>",
    "/i.png": "PNG",
    "/robots.txt": "User-agent: *\nDisallow: /secret/\n",
}


class HeadedPage(NamedTuple):
    """A page with further fields in its head."""

    text: str
    fields: Mapping[str, str]


ServedPage = str | bytes | tuple[int, str] | HeadedPage


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        time.sleep(server.slow)
        if server.password and not self._knows(server.password):
            return
        text = server.served.get(self.path)
        fields: Mapping[str, str] = {}
        if isinstance(text, HeadedPage):
            text, fields = text
        if isinstance(text, tuple):
            self.send_response(text[0])
            self.send_header("Location", text[1])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = b"none" if text is None else text.encode() if isinstance(text, str) else text
        self.send_response(200 if text is not None else 404)
        kind = {"png": "image/png", "txt": "text/plain", "css": "text/css"}.get(
            self.path.rpartition(".")[2]
        )
        self.send_header("Content-Type", kind or "text/html")
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _knows(self, pair: str) -> bool:
        """Basic authentication; answers 401 without it. robots.txt is for everybody."""
        wanted = "Basic " + base64.b64encode(pair.encode()).decode()
        if self.path == "/robots.txt" or self.headers.get("Authorization") == wanted:
            return True
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="site"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    slow = 0.0
    password = ""
    served: Mapping[str, ServedPage]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def site(
    pages: Mapping[str, ServedPage] | None = None,
    slow: float = 0.0,
    port: int = 0,
    password: str = "",
) -> Iterator[str]:
    """Serve pages, to who knows `user:password`; the URL of the home page.

    A page is a text, bytes, or a redirect: its status, and where it leads. What changes in `pages`
    is served so.
    """
    server = _Server(("127.0.0.1", port), _Handler)
    server.served = PAGES if pages is None else pages
    server.slow = slow
    server.password = password
    with running(server) as url:
        yield url


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """Let a server serve in a thread of its own; its URL."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Pages(BaseHTTPRequestHandler):
    """Serves what `page` says."""

    protocol_version = "HTTP/1.1"

    def page(self) -> str | None:
        """The page that is asked for: its text, `-> URL` for a redirect, None for no such page."""
        raise NotImplementedError

    def do_GET(self) -> None:
        text = self.page()
        target = text.removeprefix("-> ") if text and text.startswith("-> ") else ""
        body = b"" if target else (text or "none").encode()
        self.send_response(301 if target else 404 if text is None else 200)
        if target:
            self.send_header("Location", target)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def everywhere(pages: type[Pages]) -> Iterator[int]:
    """Serve pages on every address of loopback; the port."""
    server = ThreadingHTTPServer(("0.0.0.0", 0), pages)
    server.daemon_threads = True
    with running(server):
        yield server.server_port


def many_pages(number: int) -> dict[str, str]:
    """A home page that links to so many others."""
    links = "".join(f'<a href="p{i}.html">{i}</a>' for i in range(number))
    return {"/": links} | {f"/p{i}.html": f"<p>page {i}</p>" for i in range(number)}


class Done:
    """What a command did.

    Attributes:
        code: Exit code.
        out: What it wrote to stdout.
        err: What it wrote to stderr.
    """

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


@cache
def _command() -> Any:
    """All commands as one, as a process makes it once."""
    return late_group(app, root=True)


def nacre(*arguments: object, stdin: str | None = None) -> Done:
    """Run a command in this process; an unexpected exception is raised."""
    code, out, err = nacre_bytes(*arguments, stdin=None if stdin is None else stdin.encode())
    return Done(code, out.decode(), err.decode())


def nacre_bytes(*arguments: object, stdin: bytes | None = None) -> tuple[int, bytes, bytes]:
    """Run a command in this process: its exit code, and what it wrote to stdout and stderr."""
    command = _command()
    with CliRunner().isolation(input=stdin) as (out, err, _):
        try:
            command.main(args=[str(a) for a in arguments], prog_name=command.name or "root")
            code: object = 0
        except SystemExit as ended:
            code = ended.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        said = out.getvalue(), err.getvalue()
    assert isinstance(code, int)
    return code, *said


def serve_and_stop_console(words: list[str], state: Path) -> None:
    """Start a console on a free port, without a browser, and stop it as Ctrl-C does.

    Args:
        words: The command as a page has it, from `console` on.
        state: Folder of the console's state.
    """
    serve_and_stop([*words, "--state", str(state)], "http://localhost:")


def serve_and_stop(words: list[str], address: str) -> None:
    """Start a server on a free port, without a browser, and stop it as Ctrl-C does.

    Args:
        words: The command as a page has it, from its name on.
        address: The beginning of the address that its first line has.
    """
    options = [word for word in words if word != "--open"]
    if "--port" in options:
        del options[options.index("--port") : options.index("--port") + 2]
    with subprocess.Popen(
        [sys.executable, "-m", "nacre", *options, "--port", "0"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            assert address in lines[0], lines + process.stdout.readlines()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode in {0, 130}, process.returncode
