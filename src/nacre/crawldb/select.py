"""Select the rows of a bucket that may be in a list, and those that are.

Source: Nutch, `Generator` (reference N 1.6). `refuse` applies Nutch's tests in its order and counts
each refusal. The other rows are candidates, in a total order: by sort value, then by a hash of
the key. Caps hold for hosts and registered domains, whose rows are in one bucket; the top N is
exact over all buckets: `order_points` returns places of values, and `bracket` narrows the place
at which the list ends until it is known.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nacre.crawldb.conditions import READER_COLUMNS, row_condition
from nacre.crawldb.hosts import HOST_COLUMNS, RANK, host_sql, load_domains
from nacre.crawldb.kernels import Kernel, quoted
from nacre.crawldb.row import COLUMNS
from nacre.crawldb.user_sql import check_expression, fields_in, names_in

POINTS = 1_024
"""Number of order points that a task returns per pass; with fewer than 8 it may not end."""

_NAMES = tuple(column.name for column in COLUMNS)
_TESTED = (
    "key", "rules", "excluded", "status", "fetch_time", "interval", "leased_until", "first_seen",
)  # fmt: skip
_HOST = "host"
_COUNTED, _COUNTED_OF = "coalesce(counted, host)", "coalesce(d.counted, d.host)"
"""The host that caps count a candidate for."""
_OF_HOST = (*HOST_COLUMNS, RANK)
"""Columns of a host that expressions may use."""
_NO_HOST = "{" + ", ".join(f"'{column.name}': null::{column.type}" for column in _OF_HOST) + "}"


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
        now: The clock with the added days, ms since the epoch.
        clock: The clock without them, which leases are compared with.
        sort: Sort value in SQL, a DOUBLE (`scoring.sort_sql`).
        interval_max: A row that is due later than this from now is due now, s (Nutch's pull); 0 for
            none.
        where: Condition in SQL over the columns of readers and `host.*`; "" for none.
        status: Only rows of this status; 0: all.
        min_sort: Least sort value.
        max_interval: Longest interval, s; 0: no limit.
        cap_by: `host` or `domain`: the unit of `max_count`.
        max_count: Rows of a host or domain in one list; 0: no limit.
        cap_where: A number in SQL over `host.*` that replaces `max_count` if it is not null;
            for a domain the largest of its hosts. "" for none.
        limits: There is a table `limits`, see `load_limits`.
        where_sql: `where` over the columns of files, by `row_where`; "" if not translated yet.
    """

    now: int
    clock: int
    sort: str = "score::DOUBLE"
    interval_max: int = 0
    where: str = ""
    status: int = 0
    min_sort: float = 0.0
    max_interval: int = 0
    cap_by: str = "host"
    max_count: int = 0
    cap_where: str = ""
    limits: bool = False
    where_sql: str = ""

    @property
    def capped(self) -> bool:
        """Whether there is any cap."""
        return bool(self.max_count or self.cap_where or self.limits)


class SelectCounts(NamedTuple):
    """Counts of the rows of a bucket.

    Attributes:
        known: Rows.
        fresh: Rows that were found since a time.
        due: Candidates.
        refused: Refusals by reason, one of `REASONS`.
        excluded: Refusals by rules, by rule.
        next_due: The next time at which a row becomes due, ms since the epoch; None for none.
    """

    known: int
    fresh: int
    due: int
    refused: dict[str, int]
    excluded: dict[str, int]
    next_due: int | None


REASONS = ("rules", "schedule", "lease", "host", "where", "status", "score", "interval")
"""Reasons of refusals, in the order of the tests; `host`: it has URLs in another list."""


def needed_columns(kernel: Kernel, options: SelectOptions, sorted_by: Sequence[str]) -> list[str]:
    """Return the columns that `refuse` reads.

    Args:
        kernel: The kernel.
        options: The conditions.
        sorted_by: Columns in `options.sort`.
    """
    where = _where_sql(kernel, options)
    named = names_in(kernel, where) if where else set()
    needed = {*_TESTED, *sorted_by, *named}
    return [name for name in _NAMES if name in needed]


def due_expression(options: SelectOptions) -> str:
    """Return an SQL condition for due rows. Source: Nutch, `AbstractFetchSchedule.shouldFetch`."""
    plain = f"fetch_time <= {options.now}"
    if not options.interval_max:
        return f"({plain})"
    far = options.now + options.interval_max * 1000
    return f"({plain} or fetch_time > {far})"


def reason_expression(options: SelectOptions, *, out: bool = False) -> str:
    """Return SQL of the first test that refuses a row; null for a candidate.

    Args:
        options: The tests.
        out: There is a table `out_hosts` of hosts with URLs in other lists.
    """
    tests = [
        ("rules", "excluded is not null"),
        ("schedule", f"not {due_expression(options)}"),
        ("lease", f"leased_until > {options.clock}"),
    ]
    if out:
        tests.append(("host", f"{host_sql('key')} in (from out_hosts)"))
    if options.where:
        tests.append(("where", f"not {true_sql(options.where_sql or options.where)}"))
    if options.status:
        tests.append(("status", f"status <> {options.status}"))
    if options.min_sort > 0:
        tests.append(("score", f"({options.sort}) < {_double(options.min_sort)}"))
    if options.max_interval:
        tests.append(("interval", f'"interval" > {options.max_interval}'))
    cases = " ".join(f"when {test} then '{reason}'" for reason, test in tests)
    return f"case {cases} end"


def true_sql(condition: str) -> str:
    """Return SQL that is true if a user's condition is true, and else false.

    Any other value is false, also a failure, such as a cast of metadata that are no number.
    """
    return f"coalesce(try(try_cast(({condition}\n) as boolean)), false)"


def row_where(kernel: Kernel, text: str) -> str:
    """Check a user's condition on rows, and translate it to the columns of files.

    Raises:
        UserSqlError: It is invalid; the message has the position and the columns.
    """
    columns = ", ".join(f'null::{c.type} as "{c.name}"' for c in COLUMNS)
    names = (*READER_COLUMNS, *(f"host.{c.name}" for c in _OF_HOST[1:]))
    return row_condition(kernel, text, f"(select {columns}, {_NO_HOST} as host)", names)


def _where_sql(kernel: Kernel, options: SelectOptions) -> str:
    if not options.where:
        return ""
    return options.where_sql or row_where(kernel, options.where)


def check_cap(kernel: Kernel, text: str) -> None:
    """Check a user's expression over `host.*` for a cap.

    Raises:
        UserSqlError: It is invalid; the message has the position and the columns.
    """
    names = [f"host.{c.name}" for c in _OF_HOST]
    check_expression(kernel, text, f"(select {_NO_HOST} as host)", names)


def check_hosts(kernel: Kernel, text: str) -> None:
    """Check a user's condition on rows of hosts.

    Raises:
        UserSqlError: It is invalid; the message has the position and the columns.
    """
    columns = ", ".join(f'null::{c.type} as "{c.name}"' for c in _OF_HOST)
    check_expression(kernel, text, f"(select {columns})", [c.name for c in _OF_HOST])


def names_rank(kernel: Kernel, options: SelectOptions) -> bool:
    """Return whether a condition or a cap uses the rank of hosts, or all columns of a host."""
    return any(
        not {RANK.name, ""}.isdisjoint(fields_in(kernel, text, _HOST))
        for text in (_where_sql(kernel, options), options.cap_where)
        if text
    )


CountAs = Callable[[Sequence[str]], list[str]]
"""Returns the hosts that caps count URLs for."""


def refuse(  # noqa: PLR0913 - rows, tests, and their data
    kernel: Kernel,
    table: str,
    options: SelectOptions,
    since: int,
    hosts: str = "",
    count_as: CountAs | None = None,
    *,
    out: str = "",
) -> SelectCounts:
    """Write the candidates of a table into the table `candidates`, and count the others.

    `candidates` has `key`, `host`, `counted` (the host that caps count it for; null: its own),
    `domain`, `sort`, `tie` and the caps `host_most`, `domain_most` and `hosts_most` (null: none);
    `domain` is null if no cap needs it.

    Args:
        kernel: The kernel.
        table: A table with `needed_columns`, as readers see them.
        options: The conditions.
        since: Rows that were found later than this are fresh, ms.
        hosts: A table of host rows; "" for none, `host.*` is null then.
        count_as: Returns the hosts that caps count URLs for; None for their own.
        out: SQL of the hosts that have URLs in other lists, `host`; "" if the table has all of
            their URLs.
    """
    name = f'"{table}"'
    of_table = (
        f"select distinct {host_sql('key')} as host from {name} "
        f"where leased_until > {options.clock}"
    )
    kernel.execute(f"create or replace temp table out_hosts as {out or of_table}")
    is_out = bool(kernel.value("select count(*) from out_hosts"))
    where = _where_sql(kernel, options)
    options = options._replace(where_sql=where)
    source = name
    if where and _HOST in names_in(kernel, where):
        joined = f"left join {hosts} h on h.host = {host_sql('s.key')}" if hosts else ""
        source = f"(select s.*, {'h' if hosts else _NO_HOST} as host from {name} s {joined})"
    reason = reason_expression(options, out=is_out)
    counts = _count_reasons(kernel, f"select {reason} as reason, * from {source}", since)
    # Keys of refused rows are not copied: in a large table most rows are refused.
    _make_candidates(
        kernel,
        options,
        # NaN, which a plug-in may return, has no place in an order.
        f"select key, if(isfinite(s), s, 0) as sort from "
        f"(select *, ({options.sort})::DOUBLE as s from {source}) "
        f"where ({reason}) is null",
        hosts,
        count_as,
    )
    return counts


def _count_reasons(kernel: Kernel, judged: str, since: int) -> SelectCounts:
    """Count rows by the reason of their refusal, null for a candidate."""
    counts = SelectCounts(0, 0, 0, {}, {}, None)
    groups = kernel.rows(
        "select reason, case when reason = 'rules' then excluded end as rule, count(*), "
        f"count(*) filter (first_seen > {since}), min(fetch_time) from ({judged}) group by all"
    )
    for reason, rule, rows, fresh, due in groups:
        counts = counts._replace(known=counts.known + rows, fresh=counts.fresh + fresh)
        if reason is None:
            counts = counts._replace(due=counts.due + rows)
            continue
        counts.refused[reason] = counts.refused.get(reason, 0) + rows
        if reason == "rules":
            counts.excluded[rule] = rows
        elif reason == "schedule":
            counts = counts._replace(next_due=due)
    return counts


def _make_candidates(
    kernel: Kernel, options: SelectOptions, due: str, hosts: str, count_as: CountAs | None
) -> None:
    """Make the table `candidates`, with the caps of their hosts and domains."""
    none = "null::BIGINT"
    domain, cap, host_most, domain_most, hosts_most = "null::VARCHAR", none, none, none, none
    rows = (
        f"select key, {host_sql('key')} as host, null::VARCHAR as counted, sort, "
        f"md5_number_lower(key) as tie from ({due})"
    )
    source, joins = f"({rows})", ""
    if options.capped:
        kernel.execute(f"create or replace temp table due_rows as {rows}")
        source = "due_rows"
        if count_as is not None:
            _write_counted_hosts(kernel, count_as)
    if options.capped and (options.cap_by == "domain" or options.limits):
        named = kernel.rows(f"select distinct {_COUNTED} from due_rows")
        load_domains(kernel, "domains", [name for (name,) in named])
        joins, domain = f" join domains g on g.host = {_COUNTED_OF}", "g.domain"
    if options.max_count:
        cap = f"{options.max_count}::BIGINT"
    if options.cap_where:
        joins += _host_caps(kernel, options, hosts)
        cap = f"coalesce(x.most, {cap})"
    if options.cap_by == "domain":
        domain_most = cap
    else:
        host_most = cap
    if options.limits:
        joins += " left join limits l on l.domain = g.domain"
        host_most, domain_most = (
            f"coalesce(l.per_host, {host_most})",
            f"coalesce(l.urls, {domain_most})",
        )
        hosts_most = "l.hosts"
    kernel.execute(
        "create or replace temp table candidates as select d.key, d.host, d.counted, "
        f"{domain} as domain, d.sort, d.tie, {host_most} as host_most, "
        f"{domain_most} as domain_most, {hosts_most} as hosts_most from {source} d{joins}"
    )
    kernel.execute("drop table if exists due_rows")


def _write_counted_hosts(kernel: Kernel, count_as: CountAs) -> None:
    """Write the hosts that caps count the rows of `due_rows` for, if not their own."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    keys = [key for (key,) in kernel.rows("select key from due_rows order by key")]
    columns = {"key": pa.array(keys, pa.string()), "name": pa.array(count_as(keys), pa.string())}
    kernel.load("counted_as", pa.table(columns))
    kernel.execute(
        "update due_rows set counted = c.name from counted_as c "
        "where c.key = due_rows.key and c.name <> due_rows.host"
    )


def _host_caps(kernel: Kernel, options: SelectOptions, hosts: str) -> str:
    """Return the join of the caps of `cap_where` as `x`; for a domain the largest of its hosts."""
    join = f"left join {hosts} h on h.host = d.name" if hosts else ""
    kernel.execute(
        "create or replace temp table host_caps as from (select name, "
        f"try(try_cast(({options.cap_where}\n) as BIGINT)) as most from (select d.name, "
        f"{'h' if hosts else _NO_HOST} as host from "
        f"(select distinct {_COUNTED} as name from due_rows) d "
        f"{join})) where most is not null"
    )
    if options.cap_by == "host":
        return f" left join host_caps x on x.name = {_COUNTED_OF}"
    most = "select g.domain, max(c.most) as most from host_caps c join domains g on g.host = c.name"
    return f" left join ({most} group by 1) x on x.domain = g.domain"


# ---- the order of all candidates


def number_candidates(kernel: Kernel, options: SelectOptions, ends: Sequence[Place | None]) -> str:
    """Return the table of candidates that are in no list, and that the cap admits to the next.

    `chosen` gets the candidates of the known lists: the columns of `candidates`, and `segment` from
    0.

    Args:
        kernel: The kernel, with the table `candidates`.
        options: The options with the cap.
        ends: The ends of the lists so far.
    """
    if not options.capped:
        return _order_without_caps(kernel, ends)
    kernel.execute(
        "create or replace temp table chosen as select *, 0 as segment from candidates limit 0"
    )
    kernel.execute("create or replace temp table rest as select * from candidates")
    for number, end in enumerate(ends):
        kernel.execute(
            f"insert into chosen select *, {number} from {_apply_caps(kernel, options)} "
            f"where {_from(end)}"
        )
        kernel.execute("delete from rest where key in (select key from chosen)")
    return _apply_caps(kernel, options)


def _order_without_caps(kernel: Kernel, ends: Sequence[Place | None]) -> str:
    """Return the candidates after the lists, which are consecutive without caps."""
    lists = " ".join(f"when {_from(end)} then {number}" for number, end in enumerate(ends))
    segment = f"case {lists} end" if lists else "null::INTEGER"
    kernel.execute(
        f"create or replace temp table chosen as select * from (select *, {segment} as segment "
        "from candidates) where segment is not null"
    )
    condition = f"not {_from(ends[-1])}" if ends else "true"
    # A view: a search of places reads no other column.
    kernel.execute(
        f"create or replace temp view behind as select * from candidates where {condition}"
    )
    return "behind"


def place_among(
    kernel: Kernel, table: str, expression: str, key: str, segment: int | None = None
) -> int:
    """Return the rank of a candidate among those with the same value of an expression, from 1.

    Args:
        kernel: The kernel.
        table: `chosen`, `rest` or `candidates`, which has the key.
        expression: The expression, such as `host`.
        key: The key.
        segment: Only candidates of this list; None: all.
    """
    of = "" if segment is None else f" and c.segment = {segment}"
    return int(
        kernel.value(
            f"select count(*) from (select *, {expression} as same from {table}) c, "
            f"(select sort, tie, {expression} as same from {table} where key = {quoted(key)}) o "
            f"where c.same = o.same and (c.sort, c.tie) >= (o.sort, o.tie){of}"
        )
    )


def _apply_caps(kernel: Kernel, options: SelectOptions) -> str:
    """Return the candidates that caps admit to the next list, of hosts and domains."""
    kernel.execute(f"create or replace temp table capped as {capped_rows(options, 'rest')}")
    return "capped"


def capped_rows(options: SelectOptions, table: str, lists: int = 1) -> str:
    """Return SQL of the candidates that caps admit to a number of lists.

    Args:
        options: The caps.
        table: The candidates.
        lists: The number of lists; for several it may return too many: caps hold for each list.
    """
    order = "sort desc, tie desc"
    rows = f"select * from {table} qualify " + _within(_COUNTED, "host_most", order, lists)
    if options.limits:
        # A host's place among those of its domain is that of its best row.
        best = f"first_value(tie) over (partition by {_COUNTED} order by {order})"
        top = f"max(sort) over (partition by {_COUNTED})"
        rows = f"select *, {top} as best_sort, {best} as best_tie from ({rows})"
        place = "dense_rank() over (partition by domain order by best_sort desc, best_tie desc)"
        test = f"hosts_most is null or {place} <= hosts_most * {lists}"
        rows = f"select * exclude (best_sort, best_tie) from ({rows} ) qualify {test}"
    if options.limits or options.cap_by == "domain":
        rows = f"select * from ({rows}) qualify " + _within("domain", "domain_most", order, lists)
    return rows


def _within(name: str, most: str, order: str, lists: int) -> str:
    number = f"row_number() over (partition by {name} order by {order})"
    return f"({most} is null or {number} <= {most} * {lists})"


def _from(end: Place | None) -> str:
    """Return an SQL condition for rows from the first to a place."""
    if end is None:
        return "true"
    value = _double(end.sort)
    return f"(sort > {value} or (sort = {value} and tie >= {end.tie}))"


def _double(value: float) -> str:
    """Return an exact number in SQL."""
    return f"'{value!r}'::DOUBLE"


class OrderPoints(NamedTuple):
    """The places of some open candidates of a task, between two places.

    Attributes:
        above: Candidates above the upper place.
        inside: Candidates between, both ends included.
        points: Places of every n-th of them, the greatest first, and always the last.
        step: The number n.
    """

    above: int
    inside: int
    points: tuple[Place, ...]
    step: int


def order_points(
    kernel: Kernel, table: str, between: "Bracket", points: int = POINTS
) -> OrderPoints:
    """Return the places of candidates between two places.

    Args:
        kernel: The kernel.
        table: The result of `number_candidates`.
        between: The bracket; None in it for no bound.
        points: Most places to return.
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
        upper: The last place of the list is this place or less; None if unknown.
        lower: It is this place or greater; None if unknown.
        is_exact: It is `lower` exactly.
    """

    upper: Place | None = None
    lower: Place | None = None
    is_exact: bool = False


NOWHERE = Bracket()
"""The bracket before the first pass."""


def bracket(looks: Sequence[OrderPoints], length: int, before: Bracket = NOWHERE) -> Bracket:
    """Narrow the place at which a list of `length` candidates ends.

    If the first `rank` candidates of a task are at or above a place, fewer than `step` others may
    be, unless its last point is among them.

    Args:
        looks: The results of all tasks for the same bracket.
        length: Length of the list, at least 1.
        before: The bracket of these results.
    """
    above = sum(points_of_task.above for points_of_task in looks)
    if above + sum(points_of_task.inside for points_of_task in looks) <= length:
        return before._replace(is_exact=True)
    points = sorted(
        (
            (point, task, min(number * look.step, look.inside))
            for task, look in enumerate(looks)
            for number, point in enumerate(look.points, 1)
        ),
        reverse=True,
    )
    ranks = [0] * len(looks)
    least, unsure = above, sum(_possible(look, 0) for look in looks)
    upper: Place | None = None
    for point, task, rank in points:
        least += rank - ranks[task]
        unsure += _possible(looks[task], rank) - _possible(looks[task], ranks[task])
        ranks[task] = rank
        if least >= length:
            return Bracket(upper, point, is_exact=all(look.step == 1 for look in looks))
        if least + unsure < length:
            upper = point
    return Bracket(upper)


def _possible(look: OrderPoints, rank: int) -> int:
    """Return the number of other candidates of a task that may be before its next point."""
    return max(0, min(look.step, look.inside - rank) - 1)
