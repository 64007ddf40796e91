"""The verdicts of a policy on each visit, scored against the truth.

The group `judgement` of a score measures the stored versions; this group measures which visits were
judged as changes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.planner.change_detection.deletion import Answer
from nacre.planner.visited import VisitFinding
from nacre_simweb.judgement import differs, noise_of
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.recall import Measures, share
from nacre_simweb.servelog import Row
from nacre_simweb.truth import Truth
from nacre_simweb.world import World

_WARM = 5
"""Paired fetches after which the noise of a site should be known."""


class _Counts:
    """Events and errors by name: `changes` and `changes!`."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()

    def add(self, names: Sequence[str], *, wrong: bool = False) -> None:
        """Count an event under all its names."""
        self._seen.update(names)
        self._wrong.update(names if wrong else ())

    def seen(self, name: str) -> float:
        """Return the number of such changes."""
        return float(self._seen[name])

    def wrong(self, name: str) -> float:
        """Return the number that were taken for something else."""
        return float(self._wrong[name])

    def share(self, name: str) -> float | None:
        """Share of errors; None of nothing."""
        return share(self._wrong[name], self._seen[name])

    def below(self, prefix: str) -> list[str]:
        """Names that begin so."""
        return sorted(name for name in self._seen if name.startswith(prefix))


class _Visit(NamedTuple):
    row: Row
    finding: VisitFinding
    pairs: int


class _Scorer:
    def __init__(self, world: World) -> None:
        self._world = world
        self._changes = {
            (track.url, span.number): span.change
            for track in Truth(world).tracks.values()
            if track.kind == "article"
            for span in track.spans
        }
        self.counts = _Counts()

    def add(self, last: Row | None, visit: _Visit) -> None:
        """Count a visit.

        Args:
            last: The last visit at which the page was there; None for none.
            visit: The visit.
        """
        row, finding, _ = visit
        soft = row.kind == "error" and row.status == 200
        called = finding.answer is Answer.SOFT and row.status == 200
        if soft:
            self.counts.add(["soft"], wrong=not called)
        if called:
            self.counts.add(["called soft"], wrong=not soft)
        if row.kind == "wall":
            self.counts.add(["blocked"], wrong=finding.kind.is_change)
        if last is not None and row.kind == "article" and finding.reason != "pair":
            self._compare(last, visit)

    def _compare(self, last: Row, visit: _Visit) -> None:
        row, finding, pairs = visit
        if differs(self._world, row, last.version):
            change = self._changes.get((row.url, row.version), "")
            is_next = row.version == last.version + 1
            names = ["change", f"change {change}"] if is_next and change else ["change"]
            self.counts.add(names, wrong=not finding.kind.is_change)
        elif row.status == 200 and row.digest != last.digest:
            age = "noise, warm" if pairs >= _WARM else "noise, cold"
            kinds = [f"noise {kind}" for kind in noise_of(self._world, row)]
            self.counts.add(["noise", age, *kinds], wrong=finding.kind.is_change)


def verdicts(
    world: World,
    archive: KeptCaptures,
    findings: Mapping[str, Sequence[VisitFinding]],
    pairs: Mapping[str, Sequence[int]],
) -> Measures:
    """FU and FC of verdicts, precision and recall of soft 404s, blocked pages taken for changes.

    `false_unchanged_date` and the like: of one kind of edit, where it was the only one since the
    last visit; `false_changed_clock` and the like: of pages with that kind of noise, among others.

    Args:
        world: The world.
        archive: The server's log is read.
        findings: The policy's, by URL in the order of its visits.
        pairs: Paired fetches that its site had seen by then, likewise.
    """
    rows: dict[str, list[Row]] = {}
    for row in archive.rows:
        rows.setdefault(row.url, []).append(row)
    scorer = _Scorer(world)
    for url, url_findings in findings.items():
        last: Row | None = None
        for row, finding, number in zip(rows.get(url, ()), url_findings, pairs[url], strict=False):
            scorer.add(last, _Visit(row, finding, number))
            last = row if row.kind == "article" else last
    return _measures(scorer.counts)


def _measures(counts: _Counts) -> Measures:
    right = counts.seen("soft") - counts.wrong("soft")
    measures: Measures = {
        "real_changes": counts.seen("change"),
        "false_unchanged": counts.share("change"),
        "noise_only": counts.seen("noise"),
        "false_changed": counts.share("noise"),
        "false_changed_warm": counts.share("noise, warm"),
        "false_changed_cold": counts.share("noise, cold"),
        "soft": counts.seen("soft"),
        "soft_recall": share(right, counts.seen("soft")),
        "soft_precision": share(right, counts.seen("called soft")),
        "blocked": counts.seen("blocked"),
        "blocked_changed": counts.wrong("blocked"),
    }
    for prefix, name in (("change ", "false_unchanged_"), ("noise ", "false_changed_")):
        for counted_name in counts.below(prefix):
            measures[name + counted_name.removeprefix(prefix)] = counts.share(counted_name)
    return measures
