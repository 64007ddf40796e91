"""Selection of the rows of a bucket that may go into a list, and of those that do.

Source: Nutch, `Generator` (reference N 1.6). `refuse` asks Nutch's tests in its order and counts
each refusal. What is left are candidates, in a total order: by sort value, then by a hash of the
key. A cap holds for each host or domain, whose rows lie in one bucket; the top N is exact over all
buckets: `order_points` tells where values lie, and `bracket` narrows the place at which the list
ends until it is known.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import COLUMNS
from nacre.uri.domain import registered_domain

POINTS = 1_024
"""Places that a task tells of its candidates in one look; with fewer than 8 no end may come."""

HOST = r"regexp_extract({0}, '^[^:]+://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#]*)', 1)"
"""The host of a URL, in SQL."""

_NAMES = tuple(column.name for column in COLUMNS)


class Place(NamedTuple):
    """The place of a row in the order of all candidates; greater goes first.

    Attributes:
        sort: Sort value.
        tie: A hash of the key, so that the order is total.
    """

    sort: float
    tie: int


class SelectOptions(NamedTuple):
    """The conditions that a row of a list fulfils.

    Attributes:
        now: The clock with the days that are added, ms since the epoch.
        sort: Sort value in SQL, a DOUBLE (`scoring.sort_sql`).
        interval_max: A row that is due later than this from now is due now, s; Nutch's pull; 0:
            there is none.
        where: Condition in SQL over the columns; "" for none.
        status: Only rows of this status; 0: all.
        min_sort: Least sort value.
        max_interval: Longest interval, s; 0: no limit.
        cap_by: `host` or `domain`: what `max_count` holds for.
        max_count: Rows of a host or domain in one list; 0: no limit.
    """

    now: int
    sort: str = "score::DOUBLE"
    interval_max: int = 0
    where: str = ""
    status: int = 0
    min_sort: float = 0.0
    max_interval: int = 0
    cap_by: str = "host"
    max_count: int = 0


class SelectCounts(NamedTuple):
    """Counts of the rows of a bucket.

    Attributes:
        known: Rows.
        fresh: Rows that were found since a time.
        due: Candidates.
        refused: Refusals by reason: `rules`, `schedule`, `lease`, `where`, `status`, `score`,
            `interval`.
        excluded: Refusals by rules, by what excludes.
        next_due: Least time at which a row becomes due that is not, ms; None for none.
    """

    known: int
    fresh: int
    due: int
    refused: dict[str, int]
    excluded: dict[str, int]
    next_due: int | None


REASONS = ("rules", "schedule", "lease", "where", "status", "score", "interval")
"""Reasons of refusals, in the order of the tests."""


def due_expression(options: SelectOptions) -> str:
    """Whether a row is due, in SQL. Source: Nutch, `AbstractFetchSchedule.shouldFetch`."""
    plain = f"fetch_time <= {options.now}"
    if not options.interval_max:
        return f"({plain})"
    far = options.now + options.interval_max * 1000
    return f"({plain} or fetch_time > {far})"


def reason_expression(options: SelectOptions) -> str:
    """The first test that refuses a row, in SQL; null for a candidate."""
    tests = [
        ("rules", "excluded is not null"),
        ("schedule", f"not {due_expression(options)}"),
        ("lease", f"leased is not null and leased_until > {options.now}"),
    ]
    if options.where:
        tests.append(("where", f"not coalesce(try_cast(({options.where}\n) as boolean), false)"))
    if options.status:
        tests.append(("status", f"status <> {options.status}"))
    if options.min_sort > 0:
        tests.append(("score", f"({options.sort}) < {_double(options.min_sort)}"))
    if options.max_interval:
        tests.append(("interval", f'"interval" > {options.max_interval}'))
    cases = " ".join(f"when {test} then '{reason}'" for reason, test in tests)
    return f"case {cases} end"


def check_where(kernel: Kernel, text: str) -> None:
    """Check a condition that a user wrote.

    Raises:
        UserSqlError: It is none; the message says where, and which columns there are.
    """
    columns = ", ".join(f'null::{one.type} as "{one.name}"' for one in COLUMNS)
    kernel.check_expression(text, f"(select {columns})", _NAMES)


def refuse(kernel: Kernel, table: str, options: SelectOptions, since: int) -> SelectCounts:
    """Leave the candidates of a table in the table `candidates`, and count the others.

    `candidates` has `key`, `host`, `cap` (host or domain), `sort` and `tie`.

    Args:
        kernel: The kernel.
        table: A table with all columns, as readers see them.
        options: Which rows may be chosen.
        since: Rows that were found later than this are fresh, ms.
    """
    reason = reason_expression(options)
    name = f'"{table}"'
    host = HOST.format("coalesce(url, key)")
    kernel.execute(
        f"create or replace temp table judged_rows as select key, {host} as host, {reason} as "
        f"reason, coalesce(({options.sort})::DOUBLE, 0) as sort, fetch_time, excluded, first_seen "
        f"from {name}"
    )
    known, fresh, next_due = kernel.rows(
        f"select count(*), count(*) filter (first_seen > {since}), "
        "min(fetch_time) filter (reason = 'schedule') from judged_rows"
    )[0]
    reasons = "select reason, count(*) from judged_rows where reason is not null group by 1"
    refused = dict(kernel.rows(reasons))
    excluded = dict(
        kernel.rows("select excluded, count(*) from judged_rows where reason = 'rules' group by 1")
    )
    kernel.execute(
        "create or replace temp table candidates as select key, host, host as cap, sort, "
        "md5_number_lower(key) as tie from judged_rows where reason is null"
    )
    kernel.execute("drop table judged_rows")
    if options.cap_by == "domain":
        _cap_by_domain(kernel)
    due = kernel.value("select count(*) from candidates")
    return SelectCounts(known, fresh, due, refused, excluded, next_due)


def _cap_by_domain(kernel: Kernel) -> None:
    """Let the cap of candidates be that of their registered domains."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    hosts = [host for (host,) in kernel.rows("select distinct host from candidates")]
    domains = [registered_domain(host) or host for host in hosts]
    kernel.load("domains", pa.table({"host": hosts, "domain": domains}))
    kernel.execute(
        "update candidates set cap = domains.domain from domains "
        "where domains.host = candidates.host"
    )


# ---- the order of all candidates


def number_candidates(kernel: Kernel, options: SelectOptions, ends: Sequence[Place | None]) -> str:
    """Name the table of candidates that no list has, and that the cap lets into the next one.

    `chosen` gets those of the lists that are known: the columns of `candidates`, and `segment`
    from 0.

    Args:
        kernel: The kernel, with the table `candidates`.
        options: For the cap.
        ends: Where each list ends that was chosen so far.
    """
    kernel.execute(
        "create or replace temp table chosen as select *, 0 as segment from candidates limit 0"
    )
    kernel.execute("create or replace temp table rest as select * from candidates")
    for number, end in enumerate(ends):
        kernel.execute(
            f"insert into chosen select *, {number} from {_open(kernel, options)} "
            f"where {_from(end)}"
        )
        kernel.execute("delete from rest where key in (select key from chosen)")
    return _open(kernel, options)


def _open(kernel: Kernel, options: SelectOptions) -> str:
    if not options.max_count:
        return "rest"
    order = "row_number() over (partition by cap order by sort desc, tie desc)"
    kernel.execute(
        f"create or replace temp table capped as select * from rest qualify {order} <= "
        f"{options.max_count}"
    )
    return "capped"


def _from(end: Place | None) -> str:
    """Rows from the first one to a place, in SQL."""
    if end is None:
        return "true"
    value = _double(end.sort)
    return f"(sort > {value} or (sort = {value} and tie >= {end.tie}))"


def _double(value: float) -> str:
    """A number in SQL, to the last bit."""
    return f"'{value!r}'::DOUBLE"


class OrderPoints(NamedTuple):
    """The places of some open candidates of a task, between two places.

    Attributes:
        above: Candidates above the upper place.
        inside: Candidates between, both ends included.
        points: Places of every n-th of them, the greatest first; the last one is always there.
        step: That n.
    """

    above: int
    inside: int
    points: tuple[Place, ...]
    step: int


def order_points(
    kernel: Kernel, table: str, between: "Bracket", points: int = POINTS
) -> OrderPoints:
    """The places of candidates between two places.

    Args:
        kernel: The kernel.
        table: What `number_candidates` named.
        between: The bracket; None in it: there is no bound.
        points: Places to tell.
    """
    upper, lower, _ = between
    above = 0
    conditions = []
    if upper is not None:
        value = _double(upper.sort)
        greater = f"(sort > {value} or (sort = {value} and tie > {upper.tie}))"
        above = int(kernel.value(f"select count(*) from {table} where {greater}"))
        conditions.append(f"not {greater}")
    if lower is not None:
        conditions.append(_from(lower))
    where = " and ".join(conditions) or "true"
    inside = int(kernel.value(f"select count(*) from {table} where {where}"))
    step = max(1, -(-inside // points))
    rows = kernel.rows(
        f"select sort, tie from (select sort, tie, row_number() over (order by sort desc, tie "
        f"desc) as n from {table} where {where}) where n % {step} = 0 or n = {inside} order by n"
    )
    return OrderPoints(above, inside, tuple(Place(float(a), int(b)) for a, b in rows), step)


class Bracket(NamedTuple):
    """Two places between which a list ends.

    Attributes:
        upper: The last place of the list is this one or less; None: not known.
        lower: It is this one or greater; None: not known.
        found: It is `lower` exactly.
    """

    upper: Place | None = None
    lower: Place | None = None
    found: bool = False


NOWHERE = Bracket()
"""The bracket before the first look."""


def bracket(looks: Sequence[OrderPoints], wanted: int, before: Bracket = NOWHERE) -> Bracket:
    """Narrow the place at which a list of so many candidates ends.

    Of a task whose first `rank` candidates are at or above a place, fewer than `step` others may
    be, unless its last point is among them.

    Args:
        looks: What all tasks told of the same bracket.
        wanted: Length of the list, at least 1.
        before: That bracket.
    """
    above = sum(one.above for one in looks)
    if above + sum(one.inside for one in looks) <= wanted:
        return before._replace(found=True)
    points = sorted(
        (
            (point, task, min(number * look.step, look.inside))
            for task, look in enumerate(looks)
            for number, point in enumerate(look.points, 1)
        ),
        reverse=True,
    )
    ranks = [0] * len(looks)
    least, unsure = above, sum(_unsure(look, 0) for look in looks)
    upper: Place | None = None
    for point, task, rank in points:
        least += rank - ranks[task]
        unsure += _unsure(looks[task], rank) - _unsure(looks[task], ranks[task])
        ranks[task] = rank
        if least >= wanted:
            return Bracket(upper, point, found=all(look.step == 1 for look in looks))
        if least + unsure < wanted:
            upper = point
    return Bracket(upper)


def _unsure(look: OrderPoints, rank: int) -> int:
    """The number of others of a task that may lie before its next point."""
    return max(0, min(look.step, look.inside - rank) - 1)
