"""What a finished job left: its log, its WARCs, its index and its totals, as plain facts."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nacre.archive.check import Checker
from nacre.archive.reader import WarcReader
from nacre.frontier.queues import read_totals
from nacre.report.statistics import rows, totals
from nacre.store.store import Store

_TIMES = {"last_success"}


@dataclass(frozen=True)
class Outcome:
    """Facts about a finished job.

    Attributes:
        finished: Lines of crawl.log by URL, prerequisites left out.
        statuses: Status of each of these URLs.
        captures: Response and revisit records by URL, prerequisites left out.
        payloads: Payload digest of each captured URL.
        indexed: Index lines by URL, prerequisites left out.
        totals: Counts that do not depend on time, rate or order.
        damage: What the archive check found.
    """

    finished: Counter[str]
    statuses: dict[str, int]
    captures: Counter[str]
    payloads: dict[str, str]
    indexed: Counter[str]
    totals: dict[str, object]
    damage: list[str]


def outcome(job: Path) -> Outcome:
    """Read what a job left."""
    run = (job / "latest").resolve()
    finished: Counter[str] = Counter()
    statuses: dict[str, int] = {}
    prerequisites = set()
    for line in (run / "logs" / "crawl.log").read_text().splitlines():
        _, status, _, url, path = line.split()[:5]
        if path.endswith("P"):
            prerequisites.add(url)
            continue
        finished[url] += 1
        statuses[url] = int(status)
    captures: Counter[str] = Counter()
    payloads: dict[str, str] = {}
    checker = Checker()
    indexed: Counter[str] = Counter()
    for warc in sorted((run / "archive").iterdir()):
        if warc.suffix == ".cdxj":
            continue
        index = warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")
        checker.file(warc, index)
        for entry_line in index.read_bytes().splitlines():
            url = json.loads(entry_line.split(b" ", 2)[2])["url"]
            indexed[url] += url not in prerequisites
        with warc.open("rb") as file:
            for entry in WarcReader(file):
                url = entry.get("WARC-Target-URI") or ""
                if entry.get("WARC-Type") in {"response", "revisit"} and url not in prerequisites:
                    captures[url] += 1
                    payloads[url] = entry.get("WARC-Payload-Digest") or ""
    checker.finish()
    damage = [str(finding) for finding in checker.findings] if checker.damaged else []
    return Outcome(finished, statuses, captures, payloads, +indexed, counts(job), damage)


def counts(job: Path) -> dict[str, object]:
    """Totals without times, rates and prerequisites.

    A prerequisite is fetched again after a crash that lost its row, and counts again.
    """
    store = Store.open(str(job / "state" / "store"), read_only=True)
    try:
        found: dict[str, object] = {}
        frontier = read_totals(store)
        found["frontier"] = (frontier.queued, frontier.failed)
        tally = msgspec.to_builtins(totals(store))
        found["documents"] = len(tally)
        for kind in ("mime", "status"):
            for name, row in rows(store, kind):
                facts = msgspec.structs.asdict(row)
                found[f"{kind} {name}"] = {k: v for k, v in facts.items() if k not in _TIMES}
        return found
    finally:
        store.close()
