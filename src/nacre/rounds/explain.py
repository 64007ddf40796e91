"""The explanation of a URL: each version that touched it, and what keeps it out of a list.

The files of its bucket that have its key were committed by versions; what such a file says of the
key is what that version changed. A base holds the fold of all versions before it.
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
from nacre.rounds.steps.host_rows import host_buckets, of_buckets, rank_buckets
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
"""Versions whose files are looked at."""
_SEGMENTS = 20
"""Segments whose visits are looked at, the newest first."""


class TouchingVersion(msgspec.Struct, frozen=True):
    """The changes of one version to a URL.

    Attributes:
        version: Its number.
        step: The command that made it; "" when the version was removed since.
        clock: Its clock, ms since the epoch; 0 as above.
        kind: `base`, `set` or `add`.
        group: Of a `set`: its group of columns.
        values: The values of its file, without what is null.
    """

    version: int
    step: str
    clock: int
    kind: str
    group: str
    values: dict[str, Any]


class RedirectTarget(msgspec.Struct, frozen=True):
    """The target of the redirect that a URL answered last.

    Attributes:
        url: It.
        row: Its row as it is now; None for a URL that is not known.
        refusal: What the rules of now refuse it by; "" for nothing.
    """

    url: str
    row: dict[str, Any] | None
    refusal: str


class UrlExplanation(msgspec.Struct, frozen=True):
    """The knowledge of a cycle about a URL.

    Attributes:
        url: The URL.
        key: Its key.
        row: The row as it is now; None for a URL that is not known.
        touched: Each version that touched it, the oldest first.
        refusal: What the rules of now refuse it by, as file and line or rule; "" for nothing.
        now: The first test of `generate` that refuses it now; None for a URL that is not known.
        last: Its fate in the newest `generate` that chose, of those kept; None for none.
        given: Its fate in the newest `generate --urls`, where that is newer; None for none.
        said: Why its last visit had no reply, or the line of robots.txt that forbade it; "" for
            nothing.
        soft_404: Where its page said with status 200 that it is missing: what
            `cycle.update.soft_404` now takes that for. "" where it did not say so.
        redirect: Where its last visit was redirected to; None: nowhere.
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
    """Every version that touched a URL, and what keeps it out of a list.

    Args:
        context: What the command works with.
        url: The URL as it is asked for.
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
    known = _known_versions(cycle, version)
    row, now, touched = _looked_up(context, bucket, key, known)
    path, via, source = (str((row or {}).get(name) or "") for name in ("path", "via", "source"))
    view = seed_view(context, version)
    with context.place.open() as work:
        kept = view.open(work.scratch)
        admission = Admission(context.settings, context.layout.root, view.lines, kept)
        # A link is judged as such: of a URL that nobody knows, no way is known.
        refusal = admission.refusal(url, path=path if row else "L", via=via, source=source)
    lists = sorted((one for one in known.values() if one.step == "generate"), key=_number)
    last = next((one for one in reversed(lists) if not is_given(one)), None)
    given = lists[-1] if lists and is_given(lists[-1]) else None
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
        given=None if given is None else given_list(cycle, context.place, given, key),
        said=str(fact.get("error") or ""),
        soft_404=missing or "",
        redirect=_target(context, version, admission, fact),
        sorted_by=sort_columns(context.settings.cycle.scoring),
    )


def _bucket(context: StepContext, version: CycleVersion, key: str) -> BucketFiles:
    """The bucket of a key; one without files where nothing is in it."""
    number = bucket_of(key, version.tables[CRAWLDB].buckets)
    found = (one for one in buckets_of(context.cycle, version, CRAWLDB) if one.bucket == number)
    return next(found, BucketFiles(number))


def _target(
    context: StepContext, version: CycleVersion, admission: Admission, fact: Mapping[str, Any]
) -> RedirectTarget | None:
    """Where a visit was redirected to, and what is known of that."""
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
    """The facts of the last visit, where they say more than the row; {} for none."""
    if row is None or not says_more(row):
        return {}
    fetched = (name for name, one in sorted(version.segments.items(), reverse=True) if one.parts)
    with context.place.open() as work:
        for name in islice(fetched, _SEGMENTS):
            try:
                found = list(visits_of(work, version, [name], key))
            except (DamageError, JobError, StorageError):
                continue
            said = [one for batch in found for one in batch.to_pylist() if one["reason"] is None]
            if said:
                last: dict[str, Any] = said[-1]
                return last if last["status"] == row["last_status"] else {}
    return {}


def says_more(row: Mapping[str, Any]) -> bool:
    """Whether the facts of the last visit say more than the row of a URL.

    That is so of failures, of redirects, and of pages that say that they are missing.

    Args:
        row: The row.
    """
    last = int(row.get("last_status") or 0)
    return last < 0 or 300 <= last < 400 or (last == 200 and row["status"] == Status.GONE)


def _number(version: CycleVersion) -> int:
    return version.number


def _looked_up(
    context: StepContext, bucket: BucketFiles, key: str, known: Mapping[int, CycleVersion]
) -> tuple[dict[str, Any] | None, ListVerdict | None, list[TouchingVersion]]:
    """The row of a key, what refuses it, and who touched it."""
    if not bucket.all:
        return None, None, []
    with context.place.open() as work:
        local = local_bucket(work.storage, bucket, work.scratch)
        query = fold_query(*local, interval=context.interval, order=False)
        rows = _rows(work, f"({query})", key)
        touched = [
            _touched(file, values, known)
            for file in _files_ever(context.cycle, known, bucket.bucket)
            if file.first <= key <= file.last and (file.kind != "base" or file in bucket.all)
            for values in _found(work, file, key)
        ]
        now = verdict_now(work, _followed(context, bucket), key) if rows else None
    touched.sort(key=lambda one: (one.version, one.kind != "base"))
    if any(one.kind != "base" for one in touched):
        touched = [one for one in touched if one.kind != "base"]
    return rows[0] if rows else None, now, touched


def _followed(context: StepContext, bucket: BucketFiles) -> Followed:
    """What a URL of a bucket is followed through with the tables and settings of now."""
    cycle, settings = context.cycle, context.settings
    newest = cycle.newest()
    return Followed(
        select_options(context, GenerateOptions())._replace(
            limits=False, max_count=0, cap_where=""
        ),
        (bucket,),
        of_buckets(host_buckets(cycle, newest), [bucket]),
        of_buckets(rank_buckets(cycle, newest), [bucket]),
        context.interval,
        sort_columns(settings.cycle.scoring),
    )


def _files_ever(
    cycle: Cycle, known: Mapping[int, CycleVersion], bucket: int
) -> Iterator[TableFile]:
    """The files of a bucket in any version that is kept, those included that were merged since."""
    seen: set[str] = set()
    for number in sorted(known, reverse=True)[:_VERSIONS]:
        for file in cycle.files(known[number], CRAWLDB):
            if file.bucket == bucket and file.path not in seen:
                seen.add(file.path)
                yield file


def _found(work: TaskWork, file: TableFile, key: str) -> list[dict[str, Any]]:
    """The rows of a key in a file; none when the file was removed."""
    try:
        path = local_file(work.storage, file, work.scratch)
    except (DamageError, StorageError):
        return []
    return _rows(work, parquet([path]), key)


def _rows(work: TaskWork, source: str, key: str) -> list[dict[str, Any]]:
    """The rows of a key; nothing of what is null."""
    found = work.kernel.arrow(f"select * from {source} where key = {quoted(key)}").to_pylist()
    return [
        {name: value for name, value in row.items() if value is not None and name != "key"}
        for row in found
    ]


def _known_versions(cycle: Cycle, newest: CycleVersion) -> dict[int, CycleVersion]:
    known = {one: cycle.version(one) for one in cycle.numbers() if one != newest.number}
    return {**known, newest.number: newest}


def _touched(
    file: TableFile, values: dict[str, Any], known: Mapping[int, CycleVersion]
) -> TouchingVersion:
    made = known.get(file.seq)
    step, clock = (made.step, made.clock) if made is not None else ("", 0)
    return TouchingVersion(file.seq, step, clock, file.kind, file.group, values)
