"""The driver of `inject`: read and judge seed lists, and add them to the tables in one version.

One portion of a list is in memory; exchanged files bring its seeds to tasks, each of which has the
seeds of some buckets. The seeds become rows of the table of seeds, too, which the scope reads.
`inject_rows` has the merge rules, `inject_tasks` the tasks.
"""

import gc
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nacre.crawldb.seeds import SEEDS, SeedTableRow
from nacre.rounds.admission import Admission
from nacre.rounds.segments.seed_tasks import SeedChanges
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.inject_rows import (
    InjectDefaults,
    InjectedFiles,
    InjectOptions,
    InjectResult,
    InjectSpec,
    MergedSeed,
    NewSeed,
    inject_defaults,
    inject_task,
    merge_seed,
    score_columns,
)
from nacre.rounds.steps.inject_tasks import ListedSeeds, list_task, seeds_table
from nacre.rounds.steps.known_lines import (
    KnownLines,
    KnownLinesFilter,
    add_judged_list,
    judged_state,
)
from nacre.rounds.steps.seed_rows import (
    SeedView,
    add_rows,
    buckets_here,
    change_seeds,
    host_bucket,
    list_stamp,
    next_state,
    rows_of_directive,
    rows_of_seed,
    seed_place,
    seed_view,
    sync_seeds,
)
from nacre.rounds.tables.exchange_rows import ExchangeFiles
from nacre.rounds.tables.seed_index import KeptSeeds
from nacre.rounds.tables.seedlist import (
    BadMetadata,
    InjectedSeed,
    InjectEntry,
    NumberedLines,
    entry_size,
    number_lines,
    portions,
    read_numbered,
)
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, added_files, buckets_of
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SeedTableState
from nacre.scope.seeds import BadSeed, SeedDirective, SeedList
from nacre.uri.parse import host

__all__ = [
    "InjectDefaults",
    "InjectOptions",
    "InjectResult",
    "InjectSpec",
    "InjectedFiles",
    "ListReading",
    "MergedSeed",
    "NewSeed",
    "inject",
    "inject_defaults",
    "inject_task",
    "merge_seed",
    "score_columns",
]

_MOST_BAD_LINES = 1_000
_LISTED = "listed"


class ListReading:
    """Reads seed lists: normalizes and judges seeds, and counts malformed lines.

    Args:
        admission: Judges and normalizes.
        options: Whether to filter and to normalize.
        own: The lists are the job's own seed list: refused seeds are also stored as seeds.

    Attributes:
        refused: Seeds that a filter refuses, by file and line.
        outside: Seeds outside of the scope, by the rule.
        outside_texts: Texts of the first 1,001 of them.
        refused_keys: The first 1,000 keys that a filter refuses, each with its file and line.
        malformed: Lines that are no seeds; the first 1,000.
        malformed_count: Their number.
        seeds: Lines that are seeds.
        rows: Rows of seeds of the last portion.
    """

    def __init__(self, admission: Admission, options: InjectOptions, *, own: bool = False) -> None:
        self._admission = admission
        self._options = options
        self._own = own
        self.refused: Counter[str] = Counter()
        self.outside: Counter[str] = Counter()
        self.outside_texts: list[str] = []
        self.refused_keys: dict[str, str] = {}
        self.malformed: list[BadSeed | BadMetadata] = []
        self.malformed_count = 0
        self.seeds = 0
        self.rows: list[SeedTableRow] = []

    def judge_by(self, admission: Admission) -> None:
        """Set the rules for the next portion, whose scope has its seeds."""
        self._admission = admission
        self.rows = []

    def entries(self, lists: Iterable[NumberedLines]) -> Iterator[InjectEntry]:
        """Yield all entries of lists except malformed lines."""
        for seed_list in lists:
            for entry in read_numbered(seed_list.lines, seed_list.file):
                if not isinstance(entry, BadSeed | BadMetadata):
                    yield entry
                    continue
                self.malformed_count += 1
                if len(self.malformed) < _MOST_BAD_LINES:
                    self.malformed.append(entry)

    def accepted(self, entries: Iterable[InjectEntry]) -> Iterator[NewSeed]:
        """Yield the accepted seeds of a portion, whose seeds the scope has."""
        for entry in entries:
            if isinstance(entry, SeedDirective):
                self.rows += rows_of_directive(entry)
            elif isinstance(entry, InjectedSeed):
                self.seeds += 1
                seed = self._accept(entry)
                if seed is not None:
                    yield seed

    def _accept(self, entry: InjectedSeed) -> NewSeed | None:
        normalize = self._options.normalize
        seed = self._admission.seed_form(entry.seed) if normalize else entry.seed
        key = self._admission.key(seed.url)
        refusal = self._admission.refusal(seed.url) if self._options.filter else ""
        if self._own or not refusal:
            implied = self._admission.implied.get(seed.text, "")
            self.rows += rows_of_seed(seed, key, implied)
        if refusal:
            self.refused[refusal] += 1
            if len(self.refused_keys) < _MOST_BAD_LINES:
                self.refused_keys[key] = refusal
            return None
        if outside := self._admission.outside(seed):
            self.outside[outside] += 1
            if len(self.outside_texts) <= _MOST_BAD_LINES:
                self.outside_texts.append(seed.text)
        return NewSeed(
            key, seed.url, seed.text, 0, entry.score, entry.interval, entry.fixed, entry.metadata
        )


def inject(
    context: StepContext, lists: Sequence[SeedList], options: InjectOptions, *, own: bool = False
) -> InjectResult:
    """Add seeds to the table, in one version.

    Args:
        context: The context of the driver.
        lists: The lists, of any length.
        options: How known URLs are treated, and whether seeds are filtered.
        own: The lists are the job's own seed list.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    if version.seeds or not own:
        version = sync_seeds(context)
    return _Injecting(context, version, options, own=own).run(lists)


class _Injecting:
    """One run of the step.

    Args:
        context: The context of the driver.
        version: The version that it begins with.
        options: Its options.
        own: The lists are the job's own seed list.
    """

    def __init__(
        self, context: StepContext, version: CycleVersion, options: InjectOptions, *, own: bool
    ) -> None:
        self._context, self._version = context, version
        self._options, self._own = options, own
        self._buckets = buckets_here(context, version)
        self._judged = 0
        self._known = KnownLines()

    def run(self, lists: Sequence[SeedList]) -> InjectResult:
        """Read the lists, merge them by tasks, and commit."""
        context, own = self._context, self._own
        stamp = list_stamp(context.settings, context.layout.root) if own else None
        folder = f"exchange/inject-{self._version.number + 1}-{secrets.token_hex(6)}"
        with (
            context.place.open() as work,
            ExchangeFiles(context.cycle.storage, folder, self._buckets) as exchange,
        ):
            try:
                reading = self._read(lists, exchange, work.scratch, folder)
                results = context.engine.map(list_task, self._specs(exchange))
                changes = SeedChanges()
                if not context.dry:
                    changes = change_seeds(context, self._version, exchange, whole=own)
            finally:
                exchange.remove()
        known_lines = self._known
        counts = Counter(known=known_lines.pages, twice=known_lines.lines - known_lines.pages)
        for task_result in results:
            counts.update(task_result.counts)
        new_version = None
        if not context.dry:
            new_version = self._commit(
                results, counts, changes, self._state(reading, changes, stamp)
            )
        return InjectResult(
            reading.seeds + known_lines.lines, counts["new"], counts["merged"], counts["known"],
            counts["twice"], dict(reading.refused), dict(reading.outside), reading.malformed,
            reading.malformed_count, new_version, counts["scored"],
            score_columns(context.settings.cycle.scoring),
        )  # fmt: skip

    def _read(
        self, lists: Sequence[SeedList], exchange: ExchangeFiles, scratch: Path, folder: str
    ) -> ListReading:
        """Read and judge the lists, except known lines."""
        view = self._view()
        index = view.open(scratch)
        admission = self._admission(view, index, ())
        reading = ListReading(admission, self._options, own=self._own)
        self._judged, lines = admission.hash, number_lines(lists)
        line_filter: KnownLinesFilter | None = None
        asks = not self._own and not view.lines and self._options == InjectOptions()
        if asks and (state := judged_state(self._version, self._judged)) is not None:
            line_filter = KnownLinesFilter(self._context, self._version, state, exchange, folder)
            lines = line_filter.unknown_lines(lists)
        entries, first = reading.entries(lines), 0
        # A collection of all imported objects takes as long as reading a thousand seeds.
        was_frozen = gc.get_freeze_count() > 0
        gc.freeze()
        try:
            for portion in portions(entries, entry_size):
                reading.judge_by(self._admission(view, index, portion))
                first += self._exchange(reading, portion, exchange, first)
                # A scope refers to itself, so the seeds of each portion would stay in memory.
                gc.collect()
        finally:
            if not was_frozen:  # else the objects that the process froze before would thaw, too
                gc.unfreeze()
        if line_filter is not None:
            self._known = line_filter.known
        return reading

    def _exchange(
        self,
        reading: ListReading,
        portion: Sequence[InjectEntry],
        exchange: ExchangeFiles,
        first: int,
    ) -> int:
        """Send the seeds of a portion and their rows to the tasks; return the number of seeds."""
        accepted = list(reading.accepted(portion))
        if accepted:
            numbers = [host_bucket(host(seed.key), self._buckets) for seed in accepted]
            exchange.add(_LISTED, seeds_table(accepted, numbers, first))
        add_rows(exchange, reading.rows, self._buckets, listed=self._own)
        return len(accepted)

    def _view(self) -> SeedView:
        """Return the seeds of the version; for the own list, which is read again, those in rows."""
        if self._own:
            return SeedView(seed_place(self._context, self._version))
        return seed_view(self._context, self._version)

    def _admission(
        self, view: SeedView, index: KeptSeeds | None, portion: Iterable[InjectEntry]
    ) -> Admission:
        """Return the rules with the seeds of the version and of a portion."""
        settings, root = self._context.settings, self._context.layout.root
        admission = Admission(settings, root, view.lines, index)
        admission.know(portion)
        return admission

    def _specs(self, exchange: ExchangeFiles) -> list[ListedSeeds]:
        """Return the tasks, one for each exchanged file."""
        context, version = self._context, self._version
        files = {b.bucket: b for b in buckets_of(context.cycle, version, CRAWLDB)}
        groups: dict[int, list[BucketFiles]] = {}
        for bucket in range(self._buckets):
            of_bucket = files.get(bucket, BucketFiles(bucket))
            groups.setdefault(exchange.group(bucket), []).append(of_bucket)
        defaults = inject_defaults(context)
        return [
            ListedSeeds(
                context.shared_place, version.number + 1, name, tuple(groups[g]), self._options,
                defaults, context.clock, self._judged, self._known.files.get(g, ""),
                context.dry,
            )
            for g, name in exchange.send(_LISTED).items()
        ]  # fmt: skip

    def _state(
        self, reading: ListReading, changes: SeedChanges, stamp: str | None
    ) -> SeedTableState:
        """Return the state of seeds of the next version."""
        state = next_state(self._version, changes, listed=stamp)
        if self._own or not (self._options.filter and self._options.normalize):
            return state
        number = self._version.number + 1 if changes.added else 0
        return add_judged_list(state, number, self._judged, reading.outside_texts)

    def _commit(
        self,
        results: Sequence[InjectedFiles],
        counts: Mapping[str, int],
        seeds: SeedChanges,
        state: SeedTableState,
    ) -> CycleVersion:
        version = self._version
        added = added_files(task_result.files for task_result in results)
        if seeds.added:
            added[SEEDS] = list(seeds.added)
        fresh = (name for name in (CRAWLDB, SEEDS) if name not in version.tables)
        options = {name: value for name, value in self._options._asdict().items() if value}
        changes = CycleChanges(
            step="inject",
            clock=self._context.clock,
            options=options,
            counters={name: number for name, number in counts.items() if name != "twice"},
            added=added,
            dropped={SEEDS: set(seeds.dropped)} if seeds.dropped else {},
            buckets=dict.fromkeys(fresh, self._buckets),
            seed_state=state,
        )
        return self._context.cycle.commit(version, changes)
