"""What a run of Nacre left: visits and WARC records, read by the standard library alone."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

CHANGES = frozenset(("minor", "major", "gone", "missing", "soft-404"))
"""Verdicts that report a change."""
IN_FULL = frozenset(("novel", "delta"))
"""Ways to store a visit from which its body can be read."""


class JudgedVisit(NamedTuple):
    """A visit, as Nacre judged it.

    Attributes:
        run: Number of its run, from 1; step 0 is run 1.
        url: Its URL.
        wanted: Reason of the visit; `pair` of a second fetch.
        verdict: Kind of the change, or the answer if the page is not there.
        status: Status code.
        stored: How it was stored; "" for nothing.
        chance: Forecast of a change.
        time: Epoch seconds.
    """

    run: int
    url: str
    wanted: str
    verdict: str
    status: int
    stored: str
    chance: float
    time: float

    @property
    def is_change(self) -> bool:
        """Nacre reported a change."""
        return self.verdict in CHANGES


class StoredRecord(NamedTuple):
    """A WARC record; `step` is that of its run."""

    step: int
    kind: str
    url: str
    block: bytes


def parse_visits(lines: Iterable[str]) -> list[JudgedVisit]:
    """Visits of `history export`, by time, without second fetches."""
    visits = []
    for line in lines:
        row = json.loads(line)
        verdict = row["kind"] if row["answer"] == "there" else row["answer"]
        visits.append(
            JudgedVisit(
                row["run"], row["url"], row["wanted"], verdict, row["status"],
                row["stored"], row["chance"], row["time"],
            )
        )  # fmt: skip
    return sorted((visit for visit in visits if visit.wanted != "pair"), key=lambda v: v.time)


def read_visits(out: Path) -> list[JudgedVisit]:
    """Return the visits of a run of the driver."""
    with (out / "history" / "visits.jsonl").open() as lines:
        return parse_visits(lines)


def read_records(out: Path) -> Iterator[StoredRecord]:
    """Yield all WARC records of a job, by runs."""
    for step, run in enumerate(sorted((out / "job" / "runs").iterdir())):
        for path in sorted(run.glob("archive/*.warc.gz")):
            with gzip.open(path) as file:
                for kind, url, block in _records(file):
                    yield StoredRecord(step, kind, url, block)


def _records(file: gzip.GzipFile) -> Iterator[tuple[str, str, bytes]]:
    while line := file.readline():
        if not line.startswith(b"WARC/"):
            continue
        fields: dict[str, str] = {}
        while line := file.readline().strip():
            name, _, value = line.decode("utf-8", "replace").partition(":")
            fields[name.lower()] = value.strip()
        block = file.read(int(fields["content-length"]))
        yield fields["warc-type"], fields.get("warc-target-uri", ""), block


class ServedRequest(NamedTuple):
    """A line of the server's log; `turn` counts requests for the path before, in the same step."""

    time: int
    status: int
    size: int
    turn: int
    path: str


def parse_requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Return the lines of the server's log."""
    rows = (line.rstrip("\n").split("\t") for line in lines)
    return [ServedRequest(int(a), int(b), int(c), int(d), path) for a, b, c, d, path in rows]
