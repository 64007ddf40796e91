"""How the visits of incremental runs are stored, by the way of keeping asked for (pure)."""

from collections.abc import Iterable, Sequence

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.job.studies.known import Run

NOISE = frozenset(("markup", "noise", "template"))
"""Kinds of differences that are no changes of the page; `--keep lean` leaves a note of them."""


def is_mostly_noise(noise: int, stored: int) -> bool:
    """Whether most bytes that were stored differ in noise alone."""
    return 2 * noise > stored


class Way(msgspec.Struct):
    """What became of the visits of all incremental runs with one `--keep`.

    Attributes:
        keep: `strict`, `lean` or `delta`.
        runs: Runs.
        full: Replies stored in full.
        full_bytes: Their payloads.
        differences: Replies stored as differences.
        difference_bytes: Their payloads.
        patch_bytes: The differences themselves.
        notes: Replies of which a note is kept.
        note_bytes: Their payloads.
        confirmed: Revisits.
        unrecorded: Replies of which nothing was written.
        noise: Of the replies stored in full, those that differed in markup, noise or the template
            alone.
        noise_bytes: Their payloads.
    """

    keep: str
    runs: int = 0
    full: int = 0
    full_bytes: int = 0
    differences: int = 0
    difference_bytes: int = 0
    patch_bytes: int = 0
    notes: int = 0
    note_bytes: int = 0
    confirmed: int = 0
    unrecorded: int = 0
    noise: int = 0
    noise_bytes: int = 0

    @property
    def mostly_noise(self) -> bool:
        """Whether `--keep lean` would have spared most of what was stored."""
        return self.keep == "strict" and is_mostly_noise(self.noise_bytes, self.full_bytes)

    @property
    def strict_bytes(self) -> int:
        """What `strict` would have stored of the same replies."""
        return self.full_bytes + self.difference_bytes + self.note_bytes

    @property
    def stored_bytes(self) -> int:
        """What was stored."""
        return self.full_bytes + self.patch_bytes

    def add(self, visit: FetchRow) -> None:
        """Count a visit."""
        if visit.stored == "novel":
            self.full += 1
            self.full_bytes += visit.bytes
            if visit.kind in NOISE:
                self.noise += 1
                self.noise_bytes += visit.bytes
        elif visit.stored == "delta":
            self.differences += 1
            self.difference_bytes += visit.bytes
            self.patch_bytes += visit.patch
        elif visit.stored == "noted":
            self.notes += 1
            self.note_bytes += visit.bytes
        elif visit.stored:
            self.confirmed += 1
        else:
            self.unrecorded += visit.status > 0


def stored_as(runs: Sequence[Run], visits: Iterable[FetchRow]) -> list[Way]:
    """What each way of keeping came to, in the order in which they were first used."""
    ways: dict[str, Way] = {}
    by_run: dict[int, Way] = {}
    for run in runs:
        if run.mode != "full":
            way = by_run[run.number] = ways.setdefault(run.keep, Way(run.keep))
            way.runs += 1
    for visit in visits:
        found = by_run.get(visit.run)
        if found is not None:
            found.add(visit)
    return list(ways.values())
