"""Explain why a URL is not in the last list: follow the choice of a `generate` for one URL.

A `generate` stores what cannot be computed again: its tests, the end of each list, and the hosts
that were cut. All else is in the files of the version that it committed, without its own leases. So
the verdict is that of its time, even if rules, settings and rows changed since.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.fold import fold_query, with_status_names
from nacre.crawldb.kernels import Kernel, parquet, quoted
from nacre.crawldb.limits import load_limits, read_limits
from nacre.crawldb.row import bucket_of
from nacre.crawldb.scoring import sort_columns
from nacre.crawldb.select import (
    CountAs,
    Place,
    SelectOptions,
    names_rank,
    needed_columns,
    number_candidates,
    place_among,
    refuse,
)
from nacre.errors import DamageError, StorageError
from nacre.rounds.admission import Admission, counts_other_hosts
from nacre.rounds.segments.frozen_settings import frozen_settings
from nacre.rounds.segments.unit_list import GIVEN, GivenChoice, ListChoice, choice_name
from nacre.rounds.steps.host_rows import (
    HOSTS,
    RANKED,
    host_buckets,
    load_hosts,
    load_ranked,
    rank_buckets,
    select_buckets,
)
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    local_bucket,
)
from nacre.rounds.tables.versions import Cycle, CycleVersion
from nacre.settings.settings import JobSettings
from nacre.uri.parse import host


class ListVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why a URL is in a list or not.

    Attributes:
        version: Number of the version that made the list; 0 for the tables of now.
        clock: Its clock with the days that were added, ms since the epoch.
        reason: `listed`, `unknown` (not found yet), one of `select.REASONS`, `cap`, `top` or
            `time`; "" for a candidate, if no list is asked about; `lost` if files of that version
            are gone. For a list of given URLs: `listed`, `filter` or `not given`.
        segment: The segment that lists it; for `lease` and `host` the segment that blocks it.
        values: What the reason compares, by name.
    """

    version: int
    clock: int
    reason: str
    segment: str = ""
    values: dict[str, Any] = {}


class Followed(NamedTuple):
    """The data that a URL is followed through.

    Attributes:
        options: The tests.
        buckets: Buckets of the CrawlDb with their files.
        hosts: Buckets of hosts of these.
        ranks: Buckets of ranks of hosts of these.
        interval: Interval of a row that has none, s.
        sorted_by: Columns in the sort value.
        limits: Text of the file of limits; "" for none.
        count_as: Returns the hosts that caps count URLs for; None: their own.
        own: Segments whose leases did not count, as the choice itself gave them.
    """

    options: SelectOptions
    buckets: Sequence[BucketFiles]
    hosts: Sequence[BucketFiles]
    ranks: Sequence[BucketFiles]
    interval: int
    sorted_by: Sequence[str]
    limits: str = ""
    count_as: CountAs | None = None
    own: Sequence[str] = ()


def last_list(cycle: Cycle, place: TaskPlace, version: CycleVersion, key: str) -> ListVerdict:
    """Return why a URL is in the list of a `generate` or not, by the data of that time.

    Args:
        cycle: The versions.
        place: Where to work.
        version: The version that the `generate` committed.
        key: Key of the URL.
    """
    names = [name for name, state in version.segments.items() if _is_made_by(state.more, version)]
    lost = ListVerdict(version=version.number, clock=version.clock, reason="lost")
    try:
        name = choice_name(min(names, default=""))
        choice = msgspec.json.decode(cycle.storage.read(name), type=ListChoice)
        settings = frozen_settings(cycle.storage, choice.segments[0])
        with place.open() as work:
            followed = _data_of_version(cycle, version, choice, settings, (work.scratch, key))
            if "where_sql" not in choice.tests:  # its condition was over columns of files
                where = with_status_names(work.kernel, followed.options.where)
                followed = followed._replace(options=followed.options._replace(where_sql=where))
            return _Following(work, followed, key, version).run(choice)
    except (StorageError, DamageError, ValueError):
        return lost


def _is_made_by(more: Mapping[str, Any], version: CycleVersion, mark: str = "version") -> bool:
    return int(more.get(mark, 0)) == version.number


def is_given(version: CycleVersion) -> bool:
    """Return whether a version was made by `generate --urls`."""
    return version.step == "generate" and "urls" in version.options


def given_list(cycle: Cycle, place: TaskPlace, version: CycleVersion, key: str) -> ListVerdict:
    """Return why a URL is in a list of given URLs or not.

    Args:
        cycle: The versions.
        place: Where to work.
        version: The version that `generate --urls` committed.
        key: Key of the URL.
    """
    verdict = ListVerdict(version=version.number, clock=version.clock, reason="lost")
    names = [
        name
        for name, segment in version.segments.items()
        if _is_made_by(segment.more, version, GIVEN)
    ]
    try:
        name = min(names, default="")
        choice = msgspec.json.decode(cycle.storage.read(choice_name(name)), type=GivenChoice)
        is_listed = _is_listed(cycle, place, name, key)
    except (StorageError, ValueError):
        return verdict
    values = {
        "files": list(dict.fromkeys(choice.files)), "urls": choice.urls,
        "refused": choice.refused_count - len(choice.refused), "by": choice.refused.get(key, ""),
    }  # fmt: skip
    reason = "listed" if is_listed else "filter" if key in choice.refused else "not given"
    return msgspec.structs.replace(verdict, reason=reason, segment=name, values=values)


def _is_listed(cycle: Cycle, place: TaskPlace, segment: str, key: str) -> bool:
    names = [
        list_name
        for list_name in cycle.storage.list(f"segments/{segment}/lists")
        if is_list(list_name)
    ]
    with place.open() as work:
        paths = [str(localize(work.storage, name, work.scratch)) for name in names]
        query = f"select count(*) from {parquet(paths)} where key = {quoted(key)}"
        return bool(work.kernel.value(query))


def is_list(name: str) -> bool:
    """Return whether a file in the folder of lists is a list."""
    return name.endswith(".parquet")


def _data_of_version(
    cycle: Cycle,
    version: CycleVersion,
    choice: ListChoice,
    settings: JobSettings,
    scratch_and_key: tuple[Path, str],
) -> Followed:
    """Return the data of a version for following a URL, which `scratch_and_key` contains."""
    scratch, key = scratch_and_key
    root = scratch / "conf"
    folder = f"segments/{choice.segments[0]}/conf/"
    for file in cycle.storage.walk(folder.rstrip("/")):
        target = root / file.name.removeprefix(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        cycle.storage.fetch(file.name, target)
    # Older lists have no separate clock for leases: these were compared with `now`.
    options = SelectOptions(**{"clock": choice.tests["now"], **choice.tests})
    counting = options.capped and counts_other_hosts(settings)
    number = bucket_of(key, version.tables[CRAWLDB].buckets)
    # Hosts that count together may be in any bucket.
    buckets = [b for b in buckets_of(cycle, version, CRAWLDB) if counting or b.bucket == number]
    # A generate reads the rows of hosts before it counts them again.
    before = cycle.version(version.parent) if version.parent in cycle.numbers() else version
    limits = root / settings.cycle.generate.limits if options.limits else None
    return Followed(
        options,
        buckets,
        select_buckets(host_buckets(cycle, before), buckets),
        select_buckets(rank_buckets(cycle, before), buckets),
        round(settings.recrawl.schedule.nutch.interval),
        sort_columns(settings.cycle.scoring),
        limits.read_text("utf-8") if limits is not None and limits.exists() else "",
        count_as(Admission(settings, root, ())) if counting else None,
        tuple(choice.segments),
    )


def count_as(admission: Admission) -> CountAs:
    """Return the function for the hosts that caps count URLs for, by a job's normalizers."""
    return lambda keys: [admission.counted_host(key) for key in keys]


def verdict_now(work: TaskWork, followed: Followed, key: str) -> ListVerdict:
    """Return the first test that refuses a URL with the current tables; "" for a candidate."""
    return _Following(work, followed, key, None).run(None)


class _Following:
    """Follows one URL through a choice."""

    def __init__(
        self, work: TaskWork, followed: Followed, key: str, version: CycleVersion | None
    ) -> None:
        self._work = work
        self._kernel: Kernel = work.kernel
        self._followed = followed
        self._key = key
        self._number = version.number if version is not None else 0

    def run(self, choice: ListChoice | None) -> ListVerdict:
        if not self._followed.buckets:
            return self._verdict("unknown")
        self._load()
        kernel, options = self._kernel, self._followed.options
        load_hosts(self._work, self._followed.hosts)
        hosts = HOSTS
        if names_rank(kernel, options):
            load_ranked(self._work, self._followed.ranks)
            hosts = RANKED
        mine = f"select * from seen where key = {quoted(self._key)}"
        kernel.execute(f"create or replace temp table one as {mine}")
        rows = kernel.arrow("select * from one").to_pylist()
        if not rows:
            return self._verdict("unknown")
        row = rows[0]
        alone = refuse(kernel, "one", options, 0, hosts, self._followed.count_as)
        reason = next(iter(alone.refused), "")
        if reason in {"rules", "schedule", "lease"}:
            return self._refuse(reason, row)
        refuse(kernel, "seen", options, 0, hosts, self._followed.count_as)
        blocker = self._blocker()
        if blocker:
            return self._verdict("host", blocker, host=host(self._key))
        if reason:
            return self._refuse(reason, row)
        return self._verdict("") if choice is None else self._verdict_of_choice(choice)

    def _load(self) -> None:
        """Make the table `seen`: the rows of the buckets, without the leases of the choice."""
        kernel, followed = self._kernel, self._followed
        if followed.options.limits:
            load_limits(kernel, read_limits(followed.limits))
        columns = [*needed_columns(kernel, followed.options, followed.sorted_by), "leased"]
        listed = ", ".join(quoted(name) for name in followed.own) or "''"
        names = ", ".join(f'"{name}"' for name in columns if name != "leased_until")
        for number, bucket in enumerate(followed.buckets):
            local = local_bucket(self._work.storage, bucket, self._work.scratch)
            query = fold_query(*local, interval=followed.interval, columns=columns, order=False)
            into = "insert into seen by name" if number else "create or replace temp table seen as"
            kernel.execute(
                f"{into} select {names}, case when leased not in ({listed}) then leased_until end "
                f"as leased_until from ({query})"
            )

    def _blocker(self) -> str:
        """The segment that holds URLs of the same host; "" for none."""
        name = quoted(host(self._key))
        if not self._kernel.value(f"select count(*) from out_hosts where host = {name}"):
            return ""
        rows = self._kernel.rows(
            f"select leased, key from seen where leased_until > {self._followed.options.clock} "
            "order by leased, key"
        )
        return next((str(leased) for leased, key in rows if host(key) == host(self._key)), "")

    def _refuse(self, reason: str, row: Mapping[str, Any]) -> ListVerdict:
        """Return the verdict of a test that needs only the row."""
        options = self._followed.options
        values: dict[str, Callable[[], dict[str, Any]]] = {
            "rules": lambda: {"excluded": row["excluded"]},
            "schedule": lambda: {"due": row["fetch_time"]},
            "lease": lambda: {"until": row["leased_until"]},
            "where": lambda: {"where": options.where},
            "status": lambda: {"status": row["status"], "wanted": options.status},
            "score": lambda: {"sort": self._sort(), "least": options.min_sort},
            "interval": lambda: {"interval": row["interval"], "longest": options.max_interval},
        }
        segment = str(row["leased"]) if reason == "lease" else ""
        return self._verdict(reason, segment, **values[reason]())

    def _sort(self) -> float:
        return float(self._kernel.value(f"select ({self._followed.options.sort})::DOUBLE from one"))

    def _verdict_of_choice(self, choice: ListChoice) -> ListVerdict:
        """Return the list of a candidate, or why it is in none."""
        kernel, key = self._kernel, quoted(self._key)
        ends = [None if end is None else Place(*end) for end in choice.ends]
        number_candidates(kernel, self._followed.options, ends)
        listed = kernel.rows(f"select segment, host from chosen where key = {key}")
        if listed:
            number, name = listed[0]
            segment, most = choice.segments[number], choice.cuts[number].get(name, 0)
            rank = place_among(kernel, "chosen", "host", self._key, number)
            if most and rank > most:
                return self._verdict("time", segment, host=name, most=most, rank=rank)
            return self._verdict("listed", segment)
        last = number_candidates(kernel, self._followed.options, ends[:-1])
        if ends[-1] is None or not kernel.value(f"select count(*) from {last} where key = {key}"):
            return self._verdict_of_cap()
        return self._verdict("top", sort=self._sort(), end=ends[-1].sort)

    def _verdict_of_cap(self) -> ListVerdict:
        """Return the cap that left it out: of its host, the hosts of its domain, or the domain."""
        kernel, key = self._kernel, quoted(self._key)
        name, domain, per_host, per_domain, hosts = kernel.rows(
            "select coalesce(counted, host), domain, host_most, domain_most, hosts_most "
            f"from candidates where key = {key}"
        )[0]
        rank = place_among(kernel, "rest", "coalesce(counted, host)", self._key)
        if per_host is not None and rank > per_host:
            return self._verdict("cap", what="host", name=name, most=per_host, rank=rank)
        if hosts is not None:
            by_host = "group by coalesce(counted, host)"
            of_name = f"coalesce(counted, host) = {quoted(name)}"
            best = f"(select max((sort, tie)) from rest where {of_name})"
            other_hosts = (
                "select max((sort, tie)) as best from rest where coalesce(host_most, 1) > 0 "
                f"and domain = {quoted(domain)} {by_host}"
            )
            better = int(kernel.value(f"select count(*) from ({other_hosts}) where best > {best}"))
            if better >= hosts:
                rank = better + 1
                return self._verdict("cap", what="hosts", name=domain, most=hosts, rank=rank)
        rank = place_among(kernel, "rest", "domain", self._key)
        return self._verdict("cap", what="domain", name=domain, most=per_domain, rank=rank)

    def _verdict(self, reason: str, segment: str = "", **values: Any) -> ListVerdict:  # noqa: ANN401 - what reasons compare
        now = self._followed.options.now
        return ListVerdict(
            version=self._number, clock=now, reason=reason, segment=segment, values=values
        )
