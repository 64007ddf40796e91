"""Known URLs are judged by the rules of now: excluded, or let in again.

A row keeps the hash of the rules that judged it last; a link was judged when it was found. Only
rows with another hash are asked about, so that a changed rule file costs one pass and holds for
everything that is known, both ways.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nacre.crawldb.kernels import Kernel
from nacre.cycle.admission import Admission, all_seed_lines
from nacre.cycle.steps.context import StepContext
from nacre.cycle.versions import CycleVersion
from nacre.settings.settings import JobSettings

_ORIGIN = ("path", "via", "source")
_COLUMNS = "key, url, path, via, source, excluded"
JUDGED_BY = ("key", "url", "path", "via", "source", "rules", "excluded")
"""Columns of a table whose rows are judged."""
_BATCH = 10_000


class RulesOfStep(NamedTuple):
    """The rules that a task judges rows by; part of its spec.

    Attributes:
        settings: The settings that decide.
        files: The files that they name, with their lines, where the directory of the job may not
            be at hand; else none.
        root: The directory of the job.
        lines: All seed lines.
        hash: Hash of the rules.
    """

    settings: JobSettings
    files: tuple[tuple[str, tuple[str, ...]], ...]
    root: str
    lines: tuple[str, ...]
    hash: int

    def admission(self, scratch: Path) -> Admission:
        """The rules, opened.

        Args:
            scratch: A folder for the files that they name.
        """
        if not self.files:
            return Admission(self.settings, Path(self.root), self.lines)
        for name, lines in self.files:
            path = scratch / "rules" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return Admission(self.settings, scratch / "rules", self.lines)


def rules_of_step(context: StepContext, version: CycleVersion) -> RulesOfStep:
    """The rules of a job, for its tasks.

    Raises:
        ConfigError: A file cannot be read, or has a line that is no rule.
    """
    settings, root = context.settings, context.layout.root
    lines = all_seed_lines(settings, root, context.cycle.storage, version)
    admission = Admission(settings, root, lines)
    deciding = JobSettings.model_construct(
        scope=settings.scope,
        uri=settings.uri,
        sheets=settings.sheets,
        sheet_associations=settings.sheet_associations,
    )
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()
    if context.engine.name != "local":
        files = tuple((name, tuple(found)) for name, found in admission.files().items())
    return RulesOfStep(deciding, files, str(root), tuple(lines), admission.hash)


class JudgedRows(NamedTuple):
    """Counts of the rows that other rules had judged last.

    Attributes:
        asked: Rows that were judged.
        excluded: Of these, the ones that are excluded now, by what excludes them.
        readmitted: Rows that were excluded and are not any more.
        newly_excluded: Rows that are excluded and were not before.
    """

    asked: int
    excluded: dict[str, int]
    readmitted: int
    newly_excluded: int = 0


def judge_rows(
    kernel: Kernel, table: str, admission: Admission, rules: int
) -> tuple[JudgedRows, str]:
    """Judge the rows of a table in a kernel whose rules are others than those of now.

    The column `excluded` of the table is changed.

    Args:
        kernel: The kernel.
        table: The table, with the columns of the table of URLs.
        admission: The rules.
        rules: Their hash.

    Returns:
        Counts, and SQL of the rows of the group `admission`, sorted by key; "" where nothing was
        asked.
    """
    rows = kernel.arrow(f'select {_COLUMNS} from "{table}" where rules is distinct from {rules}')
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
