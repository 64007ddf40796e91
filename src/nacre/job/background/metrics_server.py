"""`metrics.listen`: an HTTP server with the metrics of one running job.

It answers GET and HEAD of `/metrics` alone, one request a connection. The crawl is never held up
by it: requests are short and have a time limit, and a port that is in use is an alert.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from ipaddress import ip_address
from typing import Protocol

from nacre.config.extras import wanting
from nacre.core.events import Alert, Events
from nacre.errors import ConfigError, Problem
from nacre.job.overview import JobOverview, live_overview
from nacre.job.session import Session
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings

PATIENCE = 5.0
"""Seconds that a client has for its request, and for taking the answer."""
_LONGEST = 16_384
_MOST = 16
"""Connections at a time; more are refused."""

Scrape = Callable[[str], tuple[str, bytes]]
"""Gives media type and text for a field `Accept`."""


class MeasuredJob(Protocol):
    """The part of a job that the server needs."""

    layout: Layout
    settings: JobSettings
    events: Events
    session: Session | None


@asynccontextmanager
async def serve_metrics(job: MeasuredJob) -> AsyncIterator[None]:
    """Serve the metrics of a job while the block runs; nothing happens without `metrics.listen`.

    Raises:
        ConfigError: prometheus_client is missing.
    """
    metrics = job.settings.metrics
    if not metrics.listen:
        yield
        return
    host, port = metrics.address
    server = MetricsServer(scrape_of(job), only_local=not metrics.public)
    try:
        listening = await asyncio.start_server(server.serve, host, port, limit=_LONGEST)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        warning = f"metrics.listen: the metrics are not served at {metrics.listen}: {reason}"
        job.events.emit(Alert(warning))
        yield
        return
    async with listening:
        yield


def scrape_of(job: MeasuredJob) -> Scrape:
    """Scrapes the figures of a job.

    Raises:
        ConfigError: prometheus_client is missing.
    """
    try:
        from nacre.job.metrics import JobFigures, exposition, job_registry  # noqa: PLC0415 - extra
    except ImportError:
        needs = wanting("metrics need", "prometheus-client")
        raise ConfigError([Problem("metrics.listen", needs)]) from None
    root = job.layout.root

    def figures() -> list[JobFigures]:
        session, name = job.session, job.settings.name or root.name
        free = _free(root)
        if session is None:
            return [JobFigures(name, JobOverview("PREPARING"), disk_free=free)]
        age, gap = session.storing.commit.age, session.watchdog.recent
        return [JobFigures(name, live_overview(session), age, gap, free)]

    registry = job_registry(figures)
    return lambda accept: exposition(registry, accept)


def _free(root: os.PathLike[str]) -> int | None:
    try:
        facts = os.statvfs(root)
    except OSError:
        return None
    return facts.f_bavail * facts.f_frsize


class MetricsServer:
    """Answers requests for metrics.

    Args:
        scrape: Gives them.
        only_local: Only a Host that names this machine is answered: a page in a browser could reach
            the port under another host name (DNS rebinding).
    """

    def __init__(self, scrape: Scrape, *, only_local: bool) -> None:
        self._scrape = scrape
        self._only_local = only_local
        self._open = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection."""
        self._open += 1
        try:
            if self._open <= _MOST:
                async with asyncio.timeout(PATIENCE):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head))
                    await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            pass  # a client that is too slow, too long, or gone
        except asyncio.LimitOverrunError:
            writer.write(_reply(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        finally:
            self._open -= 1
            with contextlib.suppress(OSError):
                writer.close()

    def _answer(self, head: bytes) -> bytes:
        first, _, header_text = head.decode("latin-1").partition("\r\n")
        words, fields = first.split(" "), _fields(header_text)
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _reply(HTTPStatus.BAD_REQUEST)
        if self._only_local and not is_local(fields.get("host", "")):
            return _reply(HTTPStatus.MISDIRECTED_REQUEST)
        if words[1].partition("?")[0] != "/metrics":
            return _reply(HTTPStatus.NOT_FOUND)
        if words[0] not in {"GET", "HEAD"}:
            return _reply(HTTPStatus.METHOD_NOT_ALLOWED)
        media_type, text = self._scrape(fields.get("accept", ""))
        reply = _reply(HTTPStatus.OK, text, media_type)
        return reply[: -len(text)] if words[0] == "HEAD" else reply


def _fields(text: str) -> Mapping[str, str]:
    lines = (line.partition(":") for line in text.split("\r\n") if line)
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def is_local(field: str) -> bool:
    """Whether a field `Host` names this machine: localhost, or an address of the loopback."""
    bracketed, _, _ = field.partition("]")
    name = bracketed[1:] if field.startswith("[") else field.partition(":")[0]
    try:
        return name.lower() == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _reply(status: HTTPStatus, body: bytes = b"", media_type: str = "text/plain") -> bytes:
    body = body or f"{status.phrase}\n".encode()
    allow = "Allow: GET, HEAD\r\n" if status is HTTPStatus.METHOD_NOT_ALLOWED else ""
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {media_type}\r\n"
        f"Content-Length: {len(body)}\r\n{allow}X-Content-Type-Options: nosniff\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    ).encode() + body
