"""What a policy took each visit for, against what it was: its claims, scored.

The group `judgement` of a score says what was stored; this says what was held to be a change.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.history.deletion import Answer
from nacre.history.visited import Finding
from nacre.simweb.kept import Archive
from nacre.simweb.recall import Measures, share
from nacre.simweb.servelog import Row


class _Counts:
    def __init__(self) -> None:
        self.real = self.missed = self.noise = self.wrong = 0
        self.soft = self.found = self.called = self.blocked = self.believed = 0


class _Visit(NamedTuple):
    row: Row
    finding: Finding


def verdicts(archive: Archive, findings: Mapping[str, Sequence[Finding]]) -> Measures:
    """FU and FC of verdicts, precision and recall of soft 404s, blocked pages taken for changes.

    Args:
        archive: The server's log is read.
        findings: The policy's, by URL in the order of its visits.
    """
    rows: dict[str, list[Row]] = {}
    for row in archive.rows:
        rows.setdefault(row.url, []).append(row)
    counts = _Counts()
    for url, held in findings.items():
        last: Row | None = None
        for row, finding in zip(rows.get(url, ()), held, strict=False):
            _count(counts, last, _Visit(row, finding))
            last = row if row.kind == "article" else last
    return {
        "real_changes": float(counts.real),
        "false_unchanged": share(counts.missed, counts.real),
        "noise_only": float(counts.noise),
        "false_changed": share(counts.wrong, counts.noise),
        "soft": float(counts.soft),
        "soft_recall": share(counts.found, counts.soft),
        "soft_precision": share(counts.found, counts.called),
        "blocked": float(counts.blocked),
        "blocked_changed": float(counts.believed),
    }


def _count(counts: _Counts, last: Row | None, visit: _Visit) -> None:
    row, finding = visit
    called = finding.answer is Answer.SOFT and row.status == 200
    soft = row.kind == "error" and row.status == 200
    counts.soft += soft
    counts.called += called
    counts.found += soft and called
    if row.kind == "wall":
        counts.blocked += 1
        counts.believed += finding.kind.is_change
    if last is None or row.kind != "article" or finding.reason == "pair":
        return
    if row.version != last.version:
        counts.real += 1
        counts.missed += not finding.kind.is_change
    elif row.status == 200 and row.digest != last.digest:
        counts.noise += 1
        counts.wrong += finding.kind.is_change
