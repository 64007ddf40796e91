"""Explain a URL: each version that touched it, and the test that keeps it out of a list.

Each file of its bucket was committed by a version; the rows of the key in that file are the changes
of the version. A base contains the fold of all earlier versions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from nacre.core.crawluri import Hop
from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import Status, bucket_of
from nacre.crawldb.scoring import sort_columns
from nacre.errors import DamageError, JobError, StorageError
from nacre.rounds.admission import Admission
from nacre.rounds.last_list import (
    Followed,
    ListVerdict,
    given_list,
    is_given,
    last_list,
    verdict_now,
)
from nacre.rounds.segment_commands import visits_of
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.generate import GenerateOptions, select_options
from nacre.rounds.steps.host_rows import host_buckets, rank_buckets, select_buckets
from nacre.rounds.steps.seed_rows import seed_view
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskWork,
    buckets_of,
    local_bucket,
    local_file,
)
from nacre.rounds.tables.versions import Cycle, CycleVersion, TableFile

_VERSIONS = 200
"""Versions whose files are read."""
_SEGMENTS = 20
"""Segments whose visits are read, the newest first."""


class TouchingVersion(msgspec.Struct, frozen=True):
    """The changes of one version to a URL.

    Attributes:
        version: Its number.
        step: The command that made it; "" if the version was removed since.
        clock: Its clock, ms since the epoch; 0 if the version was removed.
        kind: `base`, `set` or `add`.
        group: The group of columns of a `set`; "" for other kinds.
        values: The values of its file that are not null.
    """

    version: int
    step: str
    clock: int
    kind: str
    group: str
    values: dict[str, Any]


class RedirectTarget(msgspec.Struct, frozen=True):
    """The target of the last redirect of a URL.

    Attributes:
        url: The target.
        row: Its current row; None for an unknown URL.
        refusal: The rule that refuses it now; "" for none.
    """

    url: str
    row: dict[str, Any] | None
    refusal: str


class UrlExplanation(msgspec.Struct, frozen=True):
    """The knowledge of a cycle about a URL.

    Attributes:
        url: The URL.
        key: Its key.
        row: The current row; None for an unknown URL.
        touched: Each version that touched it, the oldest first.
        refusal: The rule, or file and line, that refuses it now; "" for none.
        now: The first test of `generate` that refuses it now; None for an unknown URL.
        last: Its verdict in the newest stored `generate` that chose; None for none.
        given: Its verdict in the newest `generate --urls`, if that is newer; None for none.
        said: Why its last visit had no reply, or the line of robots.txt that forbade it; "" if
            neither.
        soft_404: The current value of `cycle.update.soft_404`, if its page with status 200 reads
            like an error page; else "".
        redirect: The target of the redirect of its last visit; None for none.
        sorted_by: Columns by which `cycle.scoring` sorts lists.
    """

    url: str
    key: str
    row: dict[str, Any] | None
    touched: Sequence[TouchingVersion]
    refusal: str
    now: ListVerdict | None
    last: ListVerdict | None
    given: ListVerdict | None = None
    said: str = ""
    soft_404: str = ""
    redirect: RedirectTarget | None = None
    sorted_by: Sequence[str] = ()


def explain_url(context: StepContext, url: str, key: str) -> UrlExplanation:
    """Return each version that touched a URL, and the test that keeps it out of a list.

    Args:
        context: The context of the driver.
        url: The URL as it is requested.
        key: Its key.

    Raises:
        JobError: Nothing was injected yet.
    """
    cycle = context.cycle
    version = cycle.newest()
    state = version.tables.get(CRAWLDB)
    if state is None:
        root = context.layout.root
        raise JobError(f"{root} knows no URLs yet: `nacre cycle {root} inject` brings seeds in")
    bucket = _bucket(context, version, key)
    versions = _known_versions(cycle, version)
    row, now, touched = _look_up(context, bucket, key, versions)
    path, via, source = (str((row or {}).get(name) or "") for name in ("path", "via", "source"))
    view = seed_view(context, version)
    with context.place.open() as work:
        index = view.open(work.scratch)
        admission = Admission(context.settings, context.layout.root, view.lines, index)
        # An unknown URL has no path, so it is judged as a link.
        refusal = admission.refusal(url, path=path if row else "L", via=via, source=source)
    lists = sorted((v for v in versions.values() if v.step == "generate"), key=_number)
    last = next((v for v in reversed(lists) if not is_given(v)), None)
    given_version = lists[-1] if lists and is_given(lists[-1]) else None
    fact = _last_fact(context, version, row, key)
    missing = fact.get("soft_404") and context.settings.cycle.update.soft_404
    return UrlExplanation(
        url=url,
        key=key,
        row=row,
        touched=touched,
        refusal=refusal,
        now=now,
        last=None if last is None else last_list(cycle, context.place, last, key),
        given=None
        if given_version is None
        else given_list(cycle, context.place, given_version, key),
        said=str(fact.get("error") or ""),
        soft_404=missing or "",
        redirect=_redirect_target(context, version, admission, fact),
        sorted_by=sort_columns(context.settings.cycle.scoring),
    )


def _bucket(context: StepContext, version: CycleVersion, key: str) -> BucketFiles:
    """Return the bucket of a key; without files if the bucket is empty."""
    number = bucket_of(key, version.tables[CRAWLDB].buckets)
    buckets = (b for b in buckets_of(context.cycle, version, CRAWLDB) if b.bucket == number)
    return next(buckets, BucketFiles(number))


def _redirect_target(
    context: StepContext, version: CycleVersion, admission: Admission, fact: Mapping[str, Any]
) -> RedirectTarget | None:
    """Return the target of the redirect of a visit, with its row."""
    url = str(fact.get("redirect") or "")
    if not url:
        return None
    key = admission.key(admission.redirect_form(url) or url)
    bucket, rows = _bucket(context, version, key), []
    if bucket.all:
        with context.place.open() as work:
            local = local_bucket(work.storage, bucket, work.scratch)
            query = fold_query(*local, interval=context.interval, order=False)
            rows = _rows(work, f"({query})", key)
    path, source = f"{fact.get('path') or ''}{Hop.REDIRECT.value}", str(fact.get("source") or "")
    refusal = admission.refusal(url, path=path, via=str(fact["key"]), source=source)
    return RedirectTarget(url, rows[0] if rows else None, refusal)


def _last_fact(
    context: StepContext, version: CycleVersion, row: Mapping[str, Any] | None, key: str
) -> Mapping[str, Any]:
    """Return the facts of the last visit, if they say more than the row; else {}."""
    if row is None or not says_more(row):
        return {}
    fetched = (name for name, s in sorted(version.segments.items(), reverse=True) if s.parts)
    with context.place.open() as work:
        for name in islice(fetched, _SEGMENTS):
            try:
                batches = list(visits_of(work, version, [name], key))
            except (DamageError, JobError, StorageError):
                continue
            visits = [fact for b in batches for fact in b.to_pylist() if fact["reason"] is None]
            if visits:
                last: dict[str, Any] = visits[-1]
                return last if last["status"] == row["last_status"] else {}
    return {}


def says_more(row: Mapping[str, Any]) -> bool:
    """Return whether the facts of the last visit say more than the row of a URL.

    This is so for failures, redirects, and error pages with status 200.

    Args:
        row: The row.
    """
    last = int(row.get("last_status") or 0)
    return last < 0 or 300 <= last < 400 or (last == 200 and row["status"] == Status.GONE)


def _number(version: CycleVersion) -> int:
    return version.number


def _look_up(
    context: StepContext, bucket: BucketFiles, key: str, versions: Mapping[int, CycleVersion]
) -> tuple[dict[str, Any] | None, ListVerdict | None, list[TouchingVersion]]:
    """Return the row of a key, the test that refuses it, and the versions that touched it."""
    if not bucket.all:
        return None, None, []
    with context.place.open() as work:
        local = local_bucket(work.storage, bucket, work.scratch)
        query = fold_query(*local, interval=context.interval, order=False)
        rows = _rows(work, f"({query})", key)
        touched = [
            _to_touching_version(file, values, versions)
            for file in _files_ever(context.cycle, versions, bucket.bucket)
            if file.first <= key <= file.last and (file.kind != "base" or file in bucket.all)
            for values in _rows_of_file(work, file, key)
        ]
        now = verdict_now(work, _follow_data(context, bucket), key) if rows else None
    touched.sort(key=lambda version: (version.version, version.kind != "base"))
    if any(version.kind != "base" for version in touched):
        touched = [version for version in touched if version.kind != "base"]
    return rows[0] if rows else None, now, touched


def _follow_data(context: StepContext, bucket: BucketFiles) -> Followed:
    """Return the data for following a URL of a bucket, with the current tables and settings."""
    cycle, settings = context.cycle, context.settings
    newest = cycle.newest()
    return Followed(
        select_options(context, GenerateOptions())._replace(
            limits=False, max_count=0, cap_where=""
        ),
        (bucket,),
        select_buckets(host_buckets(cycle, newest), [bucket]),
        select_buckets(rank_buckets(cycle, newest), [bucket]),
        context.interval,
        sort_columns(settings.cycle.scoring),
    )


def _files_ever(
    cycle: Cycle, versions: Mapping[int, CycleVersion], bucket: int
) -> Iterator[TableFile]:
    """Yield the files of a bucket in all stored versions, with those merged since."""
    paths: set[str] = set()
    for number in sorted(versions, reverse=True)[:_VERSIONS]:
        for file in cycle.files(versions[number], CRAWLDB):
            if file.bucket == bucket and file.path not in paths:
                paths.add(file.path)
                yield file


def _rows_of_file(work: TaskWork, file: TableFile, key: str) -> list[dict[str, Any]]:
    """Return the rows of a key in a file; none if the file was removed."""
    try:
        path = local_file(work.storage, file, work.scratch)
    except (DamageError, StorageError):
        return []
    return _rows(work, parquet([path]), key)


def _rows(work: TaskWork, source: str, key: str) -> list[dict[str, Any]]:
    """Return the rows of a key, without null values."""
    rows = work.kernel.arrow(f"select * from {source} where key = {quoted(key)}").to_pylist()
    return [
        {name: value for name, value in row.items() if value is not None and name != "key"}
        for row in rows
    ]


def _known_versions(cycle: Cycle, newest: CycleVersion) -> dict[int, CycleVersion]:
    versions = {n: cycle.version(n) for n in cycle.numbers() if n != newest.number}
    return {**versions, newest.number: newest}


def _to_touching_version(
    file: TableFile, values: dict[str, Any], versions: Mapping[int, CycleVersion]
) -> TouchingVersion:
    version = versions.get(file.seq)
    step, clock = (version.step, version.clock) if version is not None else ("", 0)
    return TouchingVersion(file.seq, step, clock, file.kind, file.group, values)
