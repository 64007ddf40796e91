"""Serve a history on loopback, in a separate process: `python -m bench.histories.serving FILE`.

The time is read from a file with each request. Each request adds a line to a log: time, status,
bytes, how often the path was requested before at this time, folder and path.
"""

import hashlib
import sys
import threading
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from urllib.parse import quote

import msgspec

from bench.histories.loading import load_site
from bench.histories.pages import Answer, HistorySite
from bench.histories.worlds import RunPlan


class Request(NamedTuple):
    """What a reply depends on."""

    path: str
    etag: str
    since: str


class Reply(NamedTuple):
    """A reply as it is sent."""

    status: int
    fields: dict[str, str]
    body: bytes


def robots_txt(disallow: list[str]) -> bytes:
    """Return a robots.txt for everybody."""
    lines = "".join(f"Disallow: {prefix}\n" for prefix in disallow) or "Disallow:\n"
    return f"User-agent: *\n{lines}".encode()


def make_reply(plan: RunPlan, answer: Answer, request: Request, now: float) -> Reply:
    """Return the reply to a request, with the validators of the plan (pure)."""
    fields = {"Date": formatdate(now, usegmt=True)}
    status, kind, changed, body = answer
    if request.path == "/robots.txt":
        status, kind, body = 200, "text/plain", robots_txt(plan.disallow)
    elif status == 301:
        fields["Location"], kind = kind, "text/html"
    elif status == 200:
        if plan.validators in {"both", "etag"}:
            fields["ETag"] = f'"{hashlib.sha1(body).hexdigest()[:20]}"'
        if plan.validators in {"both", "date"}:
            fields["Last-Modified"] = formatdate(changed, usegmt=True)
        if is_unchanged(request, fields):
            return Reply(304, fields, b"")
    return Reply(status, {**fields, "Content-Type": kind, "Content-Length": str(len(body))}, body)


def is_unchanged(request: Request, fields: dict[str, str]) -> bool:
    """Return whether the client has it already; an ETag goes before a date (RFC 9110, 13.1.3)."""
    if request.etag:
        return request.etag == fields.get("ETag")
    return bool(request.since) and request.since == fields.get("Last-Modified")


class Service:
    """What all connections share."""

    def __init__(self, plan: RunPlan, site: HistorySite, log: TextIO) -> None:
        self.plan = plan
        self._site = site
        self._log = log
        self._lock = threading.Lock()
        self._turns: Counter[tuple[str, str, float]] = Counter()

    def reply(self, address: str, target: str, etag: str, since: str) -> Reply:
        """Reply to a request to an address, and log it."""
        now, path = float(Path(self.plan.clock).read_text()), target.partition("?")[0]
        folder = self.plan.hosts.get(address, "")
        with self._lock:
            turn = self._turns[folder, path, now]
            self._turns[folder, path, now] += 1
        is_other = self.plan.pairs == "other" and turn % 2 == 1
        answer = self._site.reply(path, now, folder, other=is_other)
        reply = make_reply(self.plan, answer, Request(path, etag, since), now)
        row = (f"{now:.0f}", reply.status, len(reply.body), turn, quote(folder) + path)
        with self._lock:
            self._log.write("\t".join(map(str, row)) + "\n")
        return reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65_536
    service: Service

    def do_GET(self) -> None:
        fields = self.headers
        reply = self.service.reply(
            self.connection.getsockname()[0],
            self.path,
            fields.get("If-None-Match", ""),
            fields.get("If-Modified-Since", ""),
        )
        self.send_response_only(reply.status)
        for name, value in reply.fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: Any) -> None:
        """Do nothing, since the service writes another log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(plan: RunPlan) -> None:
    """Serve until the process is ended; print a line when all addresses listen."""
    with Path(plan.log).open("a", buffering=1) as log, load_site(plan) as site:
        handler = type("Handler", (_Handler,), {"service": Service(plan, site, log)})
        for address in plan.hosts or [plan.bind]:
            server = _Server((address, plan.port), handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
        print("ready", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    serve(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=RunPlan))
