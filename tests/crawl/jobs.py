"""A crawl for a test, and what it left behind: the log, and the captures in its WARCs."""

import gzip
import http.client
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from nacre.archive.reader import WarcReader
from nacre.job.job import Job
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings


@dataclass(frozen=True)
class LogLine:
    status: int
    url: str
    path: str

    @property
    def guessed(self) -> bool:
        """Only a speculative link led here, or to a page before it."""
        return "X" in self.path

    @property
    def extra(self) -> bool:
        """Nobody linked to it: robots.txt, dns:, the favicon."""
        return self.path.endswith("P") or self.url.endswith("/favicon.ico")


@dataclass(frozen=True)
class Capture:
    """One capture, read back from the WARC without the help of the crawler's HTTP code.

    `body` is without chunked coding and content coding; that of a revisit is its original's.
    """

    url: str
    date: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    revisit: bool = False


class Crawled:
    """A finished job."""

    def __init__(self, root: Path, ending: str) -> None:
        self.root = root
        self.ending = ending
        self.run = next((root / "runs").iterdir())
        self.log = list(_log(self.run / "logs" / "crawl.log"))

    @property
    def warcs(self) -> list[Path]:
        return sorted((self.run / "archive").glob("*.warc.gz"))

    @property
    def statuses(self) -> dict[str, int]:
        return {line.url: line.status for line in self.log}

    def captures(self) -> dict[str, Capture]:
        """All captures by URL; a URL that was captured twice fails."""
        found: dict[str, Capture] = {}
        originals: dict[str, str] = {}
        for fields, block in _records(self.warcs):
            url = fields["WARC-Target-URI"]
            assert url not in found, f"{url} was captured twice"
            originals[fields["WARC-Record-ID"]] = url
            if fields["WARC-Type"] == "response":
                found[url] = _capture(fields, block)
            else:
                original = found[originals[fields["WARC-Refers-To"]]]
                assert original.date == fields["WARC-Refers-To-Date"]
                own = _capture(fields, block, with_body=False)
                found[url] = Capture(url, own.date, own.status, own.headers, original.body, True)
        return found


def _log(path: Path) -> Iterator[LogLine]:
    for line in path.read_text().splitlines():
        _, status, _, url, hops, *_ = line.split()
        yield LogLine(int(status), url, hops.strip("-"))


def _records(warcs: Sequence[Path]) -> Iterator[tuple[dict[str, str], bytes]]:
    for path in warcs:
        with path.open("rb") as file:
            for entry in WarcReader(file):
                fields = dict(entry.fields)
                if fields["WARC-Type"] in {"response", "revisit"}:
                    block = b"".join(iter(entry.read, b""))
                    assert len(block) == entry.length
                    yield fields, block


class _Wire(io.BytesIO):
    """What http.client takes for a socket."""

    def makefile(self, *_: Any) -> "_Wire":
        return self


def _capture(fields: Mapping[str, str], block: bytes, *, with_body: bool = True) -> Capture:
    reply = http.client.HTTPResponse(_Wire(block))  # type: ignore[arg-type]
    reply.begin()
    body = reply.read() if with_body else b""
    if body and reply.getheader("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    headers = {name.lower(): value for name, value in reply.getheaders()}
    return Capture(fields["WARC-Target-URI"], fields["WARC-Date"], reply.status, headers, body)


def crawl(
    root: Path, seeds: Sequence[str], scope: ScopeKind = ScopeKind.HOST, **settings: Any
) -> Crawled:
    """Run a job to its end: delay 0 unless the settings say otherwise."""
    root.mkdir(parents=True)
    plan = {
        "seeds": seeds,
        "scope": [rule.model_dump() for rule in rules_for(scope)],
        "politeness": {"delay": 0, "in_flight": 16},
        "engine": {"parallel": 16},
        "frontier": {"max_retries": 1},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    job = Job(root, JobSettings.model_validate(plan | settings))
    return Crawled(root, str(uvloop.run(job.run())))
