"""The judge of archived terms: verdicts against the versions that people recorded."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bench.histories.figures import Brier, Share, bootstrap, brier, share_of, skill_of, wilson
from bench.histories.loading import load_site
from bench.histories.results import IN_FULL, JudgedVisit, StoredRecord, read_records, read_visits
from bench.histories.timeline import Versions, has_real_change
from bench.histories.truth import Difference, Truth, shown
from bench.histories.worlds import RunPlan, read_plan


class ComparedVisit(NamedTuple):
    """A visit, and what happened to its document since the visit before.

    Attributes:
        visit: The visit.
        step: Its step, from 1.
        document: Path of the document in the repository.
        old: Time of the visit before.
        now: Time of the step.
        own: How the bytes that were served differ.
        is_real: The recorded version changed.
    """

    visit: JudgedVisit
    step: int
    document: str
    old: int
    now: int
    own: Difference
    is_real: bool

    @property
    def is_noise(self) -> bool:
        """Other bytes without a real change."""
        return not self.is_real and self.own != "same"

    @property
    def text_differs(self) -> bool:
        """A reader sees a difference, be it in the recorded part or elsewhere."""
        return self.is_real or self.own not in {"same", "markup"}


class DetectionFigures(NamedTuple):
    """How well changes were detected."""

    precision: Share
    text_differs: Share
    recall: Share
    real_in_full: Share
    noise_as_change: Share
    noise_in_full: Share


class OtaFigures(NamedTuple):
    """The figures of a run.

    Attributes:
        steps: Incremental runs.
        documents: Number of documents visited again.
        rows: The compared visits.
        recorded: Real changes in the repository within the time.
        parts: Figures of all steps, and of each third.
        forecasts: Brier score of the forecasts of real changes.
        addresses: Real changes of the addresses of links alone (recorded versions contain them),
            and how many of them were reported.
        stored: Records of the incremental runs: number and kilobytes by type, and whether their
            bytes are those of the repository.
    """

    steps: int
    documents: int
    rows: list[ComparedVisit]
    recorded: int
    parts: list[DetectionFigures]
    forecasts: Brier
    addresses: Share
    stored: dict[str, float]


def compare_visits(
    visits: Sequence[JudgedVisit], times: Sequence[int], truth: Truth, versions: Versions
) -> list[ComparedVisit]:
    """Return the visits of documents that were visited before."""
    rows, last = [], dict[str, int]()
    for visit in visits:
        path = unquote(urlsplit(visit.url).path)
        document = truth.document(visit.url) + path[1:]
        if not document.endswith(".html"):
            continue
        now, old = times[visit.run - 1], last.get(visit.url)
        last[visit.url] = now
        if old is None:
            continue
        recorded = versions.get(document.removesuffix(".html"), ())
        is_real, own = has_real_change(recorded, old, now), truth.difference(visit.url, old, now)
        rows.append(ComparedVisit(visit, visit.run - 1, document, old, now, own, is_real))
    return rows


def detection(rows: Sequence[ComparedVisit]) -> DetectionFigures:
    """How well changes were detected at some visits."""
    reported = [row for row in rows if row.visit.is_change]
    real, noise = [row for row in rows if row.is_real], [row for row in rows if row.is_noise]
    return DetectionFigures(
        precision=share_of(reported, lambda row: row.is_real),
        text_differs=share_of(reported, lambda row: row.text_differs),
        recall=share_of(real, lambda row: row.visit.is_change),
        real_in_full=share_of(real, lambda row: row.visit.stored in IN_FULL),
        noise_as_change=share_of(noise, lambda row: row.visit.is_change),
        noise_in_full=share_of(noise, lambda row: row.visit.stored == "novel"),
    )


def address_changes(rows: Sequence[ComparedVisit], truth: Truth) -> Share:
    """See `OtaFigures.addresses`: the text of the pages is the same, and their markup is not."""
    real = [
        row
        for row in rows
        if row.is_real
        and row.own in {"text", "numbers"}
        and _words(row, row.old, truth) == _words(row, row.now, truth)
    ]
    return share_of(real, lambda row: row.visit.is_change)


def _words(row: ComparedVisit, time: int, truth: Truth) -> str:
    """Return the text of a document at a time."""
    return shown(truth.reply(row.visit.url, time).body)[0]


def third(rows: Sequence[ComparedVisit], number: int, steps: int) -> list[ComparedVisit]:
    """Return the visits of the first, second or third third of the steps (1 to 3)."""
    return [row for row in rows if number - 1 < 3 * row.step / steps <= number]


def recorded_changes(versions: Versions, start: int, end: int) -> int:
    """Real changes of all documents behind a time and up to another."""
    return sum(
        row.is_real and start < row.time <= end for rows in versions.values() for row in rows
    )


def count_stored(
    records: Iterator[StoredRecord], times: Sequence[int], truth: Truth
) -> dict[str, float]:
    """Records of the incremental runs; see `OtaFigures.stored`."""
    stored: Counter[str] = Counter()
    kilobytes: defaultdict[str, float] = defaultdict(float)
    for step, kind, url, block in records:
        if not step or not url.endswith(".html"):
            continue
        stored[kind] += 1
        kilobytes[f"{kind} kB"] += len(block) / 1000
        if kind == "response":
            served = (
                truth.reply(url, times[step], other=is_other).body for is_other in (False, True)
            )
            is_exact = block.partition(b"\r\n\r\n")[2] in served
            stored["exact bytes" if is_exact else "OTHER BYTES"] += 1
    return {**stored, **kilobytes}


def judge(out: Path) -> OtaFigures:
    """Compare a run with its repositories."""
    plan = read_plan(out)
    with load_site(plan) as site:
        return _figures(plan, out, Truth(plan, site), site.versions)


def _figures(plan: RunPlan, out: Path, truth: Truth, versions: Versions) -> OtaFigures:
    times, steps = plan.times, len(plan.times) - 1
    rows = compare_visits(read_visits(out), times, truth, versions)
    parts = [rows, *(third(rows, number, steps) for number in (1, 2, 3))]
    return OtaFigures(
        steps=steps,
        documents=len({row.document for row in rows}),
        rows=rows,
        recorded=recorded_changes(versions, times[0], times[-1]),
        parts=[detection(part) for part in parts],
        forecasts=brier([(row.visit.chance, row.is_real) for row in rows]),
        addresses=address_changes(rows, truth),
        stored=count_stored(read_records(out), times, truth),
    )


def confusion(rows: Sequence[ComparedVisit]) -> dict[str, int]:
    """Visits by truth and verdict: `real:minor`, `markup:unchanged`."""
    pairs = Counter(f"{'real' if row.is_real else row.own}:{row.visit.verdict}" for row in rows)
    return dict(sorted(pairs.items()))


def by_document(rows: Sequence[ComparedVisit]) -> dict[str, dict[str, int]]:
    """Right reports, false ones and misses of each document with one of the last two."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.visit.is_change or row.is_real:
            key = "false" if not row.is_real else "right" if row.visit.is_change else "missed"
            counts[row.document][key] += 1
    return {
        name: dict(by_kind)
        for name, by_kind in counts.items()
        if by_kind["false"] or by_kind["missed"]
    }


def lines(out: Path, figures: OtaFigures) -> Iterator[str]:
    """Yield the figures for people, with 95 % intervals: Wilson's, and for skill by documents."""
    differing = [row for row in figures.rows if row.own != "same"]
    real = sum(row.is_real for row in differing)
    yield (
        f"# {out}: {figures.steps} steps, {figures.documents} documents, {len(figures.rows)} visits"
        f"; {len(differing)} with other bytes, {real} of them real; "
        f"{figures.recorded} real changes recorded"
    )
    yield forecast_line(figures.forecasts, _by_page(figures.rows))
    for name, part in zip(("all", "third 1", "third 2", "third 3"), figures.parts, strict=True):
        cells = (f"{key.replace('_', ' ')} {value}" for key, value in part._asdict().items())
        yield f"{name:8} {'; '.join(cells)}"
    cells = (f"{key.replace('_', ' ')} {wilson(value)}" for key, value in
             figures.parts[0]._asdict().items())  # fmt: skip
    yield f"95 %     {'; '.join(cells)}"
    yield f"real changes of addresses alone, reported: {figures.addresses}"
    yield f"truth:verdict {confusion(figures.rows)}"
    yield f"by document: {by_document(figures.rows)}"
    yield f"records of the steps: { ({key: round(n) for key, n in figures.stored.items()}) }"


def _by_page(rows: Sequence[ComparedVisit]) -> list[list[tuple[float, bool]]]:
    pages: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        pages[row.document].append((row.visit.chance, row.is_real))
    return list(pages.values())


def forecast_line(score: Brier, pages: Sequence[Sequence[tuple[float, bool]]]) -> str:
    """Return the forecasts of a run in one line."""
    skill = "-" if score.skill is None else f"{score.skill:.3f}"
    return (
        f"forecasts: {score.forecast:.0f} changes, real {score.real} at {score.size} visits; "
        f"Brier {score.score:.4f}, base rate {score.base:.4f}, skill {skill} "
        f"({bootstrap(pages, skill_of) or 'no interval'})"
    )
