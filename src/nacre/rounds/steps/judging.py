"""Judge known URLs by the current rules: exclude or readmit them.

A row stores the hash of the rules that judged it last; links are judged when they are found. Only
rows with another hash are judged, so a changed rule file costs one pass and applies to all known
URLs, both ways. For added or removed seeds, only rows that they may concern are judged
(`changed_rows`).
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nacre.crawldb.kernels import Kernel
from nacre.crawldb.seeds import SEEDS
from nacre.rounds.admission import Admission
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.seed_rows import SeedView, seed_view
from nacre.rounds.tables.versions import CycleVersion
from nacre.settings.settings import JobSettings

_ORIGIN = ("path", "via", "source")
_COLUMNS = "key, url, path, via, source, excluded"
JUDGED_BY = ("key", "url", "path", "via", "source", "rules", "excluded")
"""Columns that judging needs."""
_BATCH = 10_000


class ChangedSeeds(NamedTuple):
    """The seeds that changed since the rows of a table were judged.

    Attributes:
        since: Number of the version with the seeds that they were judged with.
        buckets: The buckets of the table of seeds that have changes.
        directives: Lines with + or - changed, which may concern any row.
        own: Seeds with a separate scope changed.
        all: All rows may be concerned.
    """

    since: int
    buckets: frozenset[int] = frozenset()
    directives: bool = False
    own: bool = False
    all: bool = False

    def concern(self, bucket: int) -> bool:
        """Return whether the changes may concern rows of a bucket."""
        return self.all or self.own or self.directives or bucket in self.buckets


class RulesOfStep(NamedTuple):
    """The rules that a task judges rows by; part of its spec.

    Attributes:
        settings: The settings that decide.
        files: The files of the settings, with their lines, if the directory of the job may not be
            readable; else ().
        root: The directory of the job.
        seeds: The seeds.
        hash: Hash of the rules.
        changed: The seeds that changed since rows were judged; None for no change.
    """

    settings: JobSettings
    files: tuple[tuple[str, tuple[str, ...]], ...]
    root: str
    seeds: SeedView
    hash: int
    changed: ChangedSeeds | None = None

    def admission(self, scratch: Path) -> Admission:
        """Open the rules.

        Args:
            scratch: A folder for the files of the rules.
        """
        index, lines = self.seeds.open(scratch), self.seeds.lines
        if not self.files:
            return Admission(self.settings, Path(self.root), lines, index)
        for name, listed in self.files:
            path = scratch / "rules" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in listed), "utf-8")
        return Admission(self.settings, scratch / "rules", lines, index)


def rules_of_step(context: StepContext, version: CycleVersion) -> RulesOfStep:
    """Return the rules of a job, for its tasks.

    Raises:
        ConfigError: A file cannot be read, or has an invalid line.
    """
    settings, root = context.settings, context.layout.root
    seeds = seed_view(context, version)
    admission = Admission(settings, root, ())
    deciding = JobSettings.model_construct(
        scope=settings.scope,
        uri=settings.uri,
        sheets=settings.sheets,
        sheet_associations=settings.sheet_associations,
    )
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()
    if context.engine.name != "local":
        files = tuple((name, tuple(file_lines)) for name, file_lines in admission.files().items())
    changed = _changed_seeds(context, version, seeds, more=admission.seed_needs().more)
    return RulesOfStep(deciding, files, str(root), seeds, admission.hash, changed)


def _changed_seeds(
    context: StepContext, version: CycleVersion, seeds: SeedView, *, more: bool
) -> ChangedSeeds | None:
    """Return the seeds that changed since the rows of a version were judged; None for none."""
    state, since = version.seed_state, version.seed_state.judged
    if since < 0 or seeds.lines:
        return ChangedSeeds(since, all=True)
    files = context.cycle.files(version, SEEDS)
    buckets = frozenset(file.bucket for file in files if file.seq > since)
    if not buckets:
        return None
    directives = state.directives_at > since
    return ChangedSeeds(since, buckets, directives, state.own_at > since, all=more)


class JudgedRows(NamedTuple):
    """Counts of the rows that other rules had judged last.

    Attributes:
        judged: Judged rows.
        excluded: Judged rows that are excluded now, by rule.
        readmitted: Rows that are no longer excluded.
        newly_excluded: Rows that are newly excluded.
    """

    judged: int
    excluded: dict[str, int]
    readmitted: int
    newly_excluded: int = 0


def judge_rows(
    kernel: Kernel, table: str, admission: Admission, rules: int, *, every: bool = False
) -> tuple[JudgedRows, str]:
    """Judge the rows of a table in a kernel that other rules judged last.

    Changes the column `excluded` of the table.

    Args:
        kernel: The kernel.
        table: The table, with the columns of the table of URLs.
        admission: The rules.
        rules: Their hash.
        every: Judge all rows.

    Returns:
        Counts, and SQL of the rows of the group `admission`, sorted by key; "" if no row was
        judged.
    """
    where = "true" if every else f"rules is distinct from {rules}"
    rows = kernel.arrow(f'select {_COLUMNS} from "{table}" where {where}')
    if not rows.num_rows:
        return JudgedRows(0, {}, 0), ""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    refusals = list(_refusals(rows, admission))
    before = rows.column("excluded").to_pylist()
    readmitted = sum(1 for old, new in zip(before, refusals, strict=True) if old and not new)
    newly = sum(1 for old, new in zip(before, refusals, strict=True) if new and not old)
    excluded = Counter(refusal for refusal in refusals if refusal)
    texts = pa.array([refusal or None for refusal in refusals], pa.string())
    kernel.load("judged", pa.table({"key": rows.column("key"), "excluded": texts}))
    kernel.execute(
        f'update "{table}" set excluded = judged.excluded from judged where judged.key = '
        f'"{table}".key and judged.excluded is distinct from "{table}".excluded'
    )
    written = f"select key, {rules}::BIGINT as rules, excluded from judged order by key"
    return JudgedRows(len(refusals), dict(excluded), readmitted, newly), written


def _refusals(rows: Any, admission: Admission) -> Iterator[str]:  # noqa: ANN401 - pyarrow has no types
    for batch in rows.to_batches(_BATCH):
        columns = (batch.column(name).to_pylist() for name in ("key", "url", *_ORIGIN))
        for key, url, path, via, source in zip(*columns, strict=True):
            yield admission.refusal(url or key, path=path or "", via=via or "", source=source or "")
