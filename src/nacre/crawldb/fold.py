"""The fold: a bucket's rows from its `base` and later `set` and `add` files, in SQL.

`merge_query` returns the rows of files: it is associative, so that any compaction leaves the same
rows. Values that were never set stay null. `fold_query` returns the rows of readers: with
defaults, with duplicates as status, and without purged rows. A new base is written from
`merge_query`, never from `fold_query`.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import Kernel, UserSqlError, parquet, quoted
from nacre.crawldb.row import (
    COLUMNS,
    GROUP_NAMES,
    FoldRule,
    RowColumn,
    Status,
    group_columns,
)
from nacre.crawldb.user_sql import mentions

_BY_NAME = {column.name: column for column in COLUMNS}
_FIRSTS = tuple(column for column in COLUMNS if column.rule is FoldRule.FIRST)
_TOTALS = {FoldRule.SUM: "sum", FoldRule.MIN: "min", FoldRule.MAX: "max"}

# Columns of readers depend on these, too.
_NEEDS = {
    "status": ("dup_of",),
    "fetch_time": ("first_seen",),
    "rules": ("judged",),
    "md": ("seed_md",),
}
_ALWAYS = ("key", "purged", "last_inlink")
_STATUS = "status"


class KeyRange(NamedTuple):
    """A range of keys, bytewise.

    Attributes:
        low: The least key; "" for no bound.
        high: Keys are less than this; "" for no bound.
    """

    low: str
    high: str

    def condition(self, column: str = "key") -> str:
        """Return an SQL condition for the keys of the range."""
        parts = [f"{column} >= {quoted(self.low)}"] if self.low else []
        parts += [f"{column} < {quoted(self.high)}"] if self.high else []
        return " and ".join(parts) or "true"

    def has(self, key: str) -> bool:
        """Return whether a key is in the range."""
        data = key.encode()
        return data >= self.low.encode() and (not self.high or data < self.high.encode())


def merge_query(  # noqa: PLR0913 - files, then the choice of rows
    base: Sequence[str],
    sets: Sequence[tuple[str, str]] = (),
    adds: Sequence[str] = (),
    within: KeyRange | None = None,
    *,
    columns: Collection[str] | None = None,
    keys: str = "",
    order: bool = True,
) -> str:
    """Return SQL that folds the files of a bucket into rows of files.

    Args:
        base: Files of the base; no key is in two of them.
        sets: Files of sets, each with its group, in fold order.
        adds: Files of adds, in any order.
        within: The keys to fold, with all keys of the base; None for all.
        columns: Columns to return; None for all, as a new base needs them.
        keys: A table of the kernel with the column `key` of the rows to return; "" for all.
        order: Sort by key, bytewise.

    Raises:
        ValueError: There is no file, or an unknown group or column.
    """
    picked = _columns(columns)
    groups = {
        group: paths
        for group in GROUP_NAMES
        if (paths := [path for path, of in sets if of == group])
        and any(column.group == group for column in picked)
    }
    _check_groups(sets)
    deltas = [*([_adds_sql(_source(adds, keys, within), picked)] if adds else [])]
    deltas += [
        _last_of(group, [_source([path], keys, within) for path in paths])
        for group, paths in groups.items()
    ]
    names = [*(["adds"] if adds else []), *(f"set_{group}" for group in groups)]
    # A key may only be in a set; a set without returned columns still adds its keys.
    unread = [path for path, of in sets if of not in groups]
    if unread:
        deltas.append(f"others as (select distinct key from {_source(unread, keys, within)})")
        names.append("others")
    if not names:
        if not base:
            raise ValueError("a fold needs a file")
        query = f"select {_listed(picked)} from {_source(base, keys)} b"
    else:
        query = _join_sql(_source(base, keys) if base else "", picked, deltas, names)
    return f"{query} order by key" if order else query


def leased_query(base: Sequence[str], sets: Sequence[tuple[str, str]], clock: int) -> str:
    """Return SQL of the leased keys of a bucket, including purged rows.

    It reads little if no key is leased: the statistics of a base skip whole row groups.

    Args:
        base: See `merge_query`.
        sets: See `merge_query`.
        clock: Leases that end later than this count, ms.
    """
    sources = [_source([path], "") for path, of in sets if of == "lease"]
    of_base = f"select key from {_source(base, '')} where leased_until > {clock}" if base else ""
    if not sources:
        return of_base or "select null::VARCHAR as key limit 0"
    named = f"with {_last_of('lease', sources)}"
    of_sets = f"select key from set_lease where v.leased_until > {clock}"
    base_rows = f" union all {of_base} and key not in (select key from set_lease)" if base else ""
    return f"{named} {of_sets}{base_rows}"


def sum_adds_sql(source: str) -> str:
    """Return SQL of added rows, one for each key, sorted by key.

    Args:
        source: SQL after `from` for them: the columns of `row.ADD_COLUMNS`.
    """
    picked = [column for column in COLUMNS if column.rule is not FoldRule.SET]
    return _join_sql("", picked, [_adds_sql(source, picked)], ["adds"]) + " order by key"


def fold_query(  # noqa: PLR0913 - files, then the choice of rows
    base: Sequence[str],
    sets: Sequence[tuple[str, str]] = (),
    adds: Sequence[str] = (),
    within: KeyRange | None = None,
    *,
    interval: int,
    columns: Collection[str] | None = None,
    keys: str = "",
    order: bool = True,
) -> str:
    """Return SQL that folds the files of a bucket into rows of readers.

    A row that is only in adds is db_unfetched, due since it was first seen. A row with `dup_of` is
    db_duplicate. A purged row is omitted unless a link to it was seen later.

    Args:
        base: See `merge_query`.
        sets: See `merge_query`.
        adds: See `merge_query`.
        within: See `merge_query`.
        interval: Interval of a row that has none, s.
        columns: Columns to return; None for all.
        keys: See `merge_query`.
        order: Sort by key, bytewise.
    """
    picked = _columns(columns)
    names = {column.name for column in picked}
    needed = names.union(_ALWAYS, *(_NEEDS.get(name, ()) for name in names))
    merged = merge_query(base, sets, adds, within, columns=needed, keys=keys, order=False)
    return _reader_sql(merged, picked, interval) + (" order by key" if order else "")


def _columns(names: Collection[str] | None) -> list[RowColumn]:
    if names is None:
        return list(COLUMNS)
    unknown = sorted(set(names) - set(_BY_NAME))
    if unknown:
        raise ValueError(f"the CrawlDb has no column {unknown[0]!r}")
    return [column for column in COLUMNS if column.name in names or column.name == "key"]


def _check_groups(sets: Sequence[tuple[str, str]]) -> None:
    for _, group in sets:
        group_columns(group)


def _listed(columns: Sequence[RowColumn]) -> str:
    return ", ".join(f'"{column.name}"' for column in columns)


# ---- differences by key


def _source(paths: Sequence[str], keys: str, within: KeyRange | None = None) -> str:
    """Return SQL after `from` of files, or of their rows with some keys."""
    rows = parquet(paths)
    if within is not None:
        rows = f"(select * from {rows} where {within.condition()})"
    if not keys:
        return rows
    return f"(select f.* from {rows} f semi join {keys} k on f.key = k.key)"


def _adds_sql(source: str, picked: Sequence[RowColumn]) -> str:
    """Return SQL of all adds of a key in one row; `first` is the first discovery."""
    names = {column.name for column in picked}
    # The first discovery also needs `first_seen`: see `_older`.
    firsts = any(column in _FIRSTS for column in picked)
    totals = [
        f'{_TOTALS[column.rule]}("{column.name}")::{column.type} as "{column.name}"'
        for column in COLUMNS
        if column.rule in _TOTALS
        and (column.name in names or (firsts and column.name == "first_seen"))
    ]
    if firsts:
        totals.append(f"min({_first_struct('')}) as first")
    return f"adds as (select {', '.join(['key', *totals])} from {source} group by key)"


def _first_struct(table: str) -> str:
    """Return SQL of the columns of the discovery of a URL, in the order of the comparison.

    Text instead of nulls, so that the order is total and the same everywhere.
    """
    texts = ("via", "path", "source", "url")
    parts = [
        f"'first_seen': {table}first_seen",
        *(f"'{name}': coalesce({table}\"{name}\", '')" for name in texts),
        f"'text': coalesce({table}md::VARCHAR, '')",
        f"'md': {table}md",
    ]
    return "{" + ", ".join(parts) + "}"


def _last_of(group: str, sources: Sequence[str]) -> str:
    """Return SQL of the last row of a group for each key; in one file a key occurs once."""
    columns = group_columns(group)
    fields = ", ".join(f"'{column.name}': \"{column.name}\"" for column in columns)
    value = "{" + fields + "}"
    if len(sources) == 1:
        return f"set_{group} as (select key, {value} as v from {sources[0]})"
    parts = " union all ".join(
        f"select {number} as n, * from {source}" for number, source in enumerate(sources)
    )
    return f"set_{group} as (select key, arg_max({value}, n) as v from ({parts}) group by key)"


# ---- base and differences together


def _join_sql(base: str, picked: Sequence[RowColumn], deltas: list[str], names: list[str]) -> str:
    """Return SQL of differences joined with each other, then with the base."""
    source = names[0]
    key = f"{names[0]}.key"
    for name in names[1:]:
        source += f" full join {name} on {name}.key = {key}"
        key = f"coalesce({key}, {name}.key)"
    parts = [f"{key} as key"]
    parts += [f"{name} as d_{name}" for name in names if name != "others"]
    deltas.append(f"deltas as (select {', '.join(parts)} from {source})")
    picks = [_pick(column, names, has_base=bool(base)) for column in picked]
    rows = "deltas d" if not base else f"{base} b full join deltas d on b.key = d.key"
    return f"with {', '.join(deltas)} select {', '.join(picks)} from {rows}"


def _pick(column: RowColumn, names: Sequence[str], *, has_base: bool) -> str:
    name = f'"{column.name}"'
    if column.rule is FoldRule.KEY:
        return "coalesce(b.key, d.key) as key" if has_base else "d.key as key"
    old = f"b.{name}" if has_base else f"null::{column.type}"
    if column.rule is FoldRule.SET:
        return f"{_set_value(column, names, old)} as {name}"
    if "adds" not in names:
        return f"{old} as {name}"
    if column.rule is FoldRule.FIRST:
        return f"{_first_value(column, old, has_base=has_base)} as {name}"
    return f"{_total(column, old, has_base=has_base)} as {name}"


def _total(column: RowColumn, old: str, *, has_base: bool) -> str:
    new = f'd.d_adds."{column.name}"'
    if not has_base:
        return new
    if column.rule is FoldRule.SUM:
        return f"coalesce({old} + {new}, {old}, {new})::{column.type}"
    pick = "least" if column.rule is FoldRule.MIN else "greatest"
    return f"{pick}({old}, {new})"  # Both leave nulls out.


def _set_value(column: RowColumn, names: Sequence[str], old: str) -> str:
    if f"set_{column.group}" not in names:
        return old
    row = f"d.d_set_{column.group}"
    # A join without a match gives null for the whole row, or for each of its columns.
    return f'case when {row}.v is null then {old} else {row}.v."{column.name}" end'


def _first_value(column: RowColumn, old: str, *, has_base: bool) -> str:
    first = "d.d_adds.first"
    new = f"{first}.{column.name}"
    if column.type == "VARCHAR":
        new = f"nullif({new}, '')"
    if not has_base:
        return new
    older = (
        f"{first} is not null and (b.first_seen is null or {first}.first_seen < b.first_seen or "
        f"({first}.first_seen = b.first_seen and {first} < {_first_struct('b.')}))"
    )
    return f"case when {older} then {new} else {old} end"


# ---- what readers see


def _reader_sql(merged: str, picked: Sequence[RowColumn], interval: int) -> str:
    columns = {
        "status": f"case when dup_of is not null and status in ({int(Status.FETCHED)}, "
        f"{int(Status.NOT_MODIFIED)}) then {int(Status.DUPLICATE)} "
        f"else coalesce(status, {int(Status.UNFETCHED)}) end::UTINYINT",
        "fetch_time": "coalesce(fetch_time, first_seen, 0)",
        "interval": f'coalesce("interval", {interval})::INTEGER',
        "retries": "coalesce(retries, 0)::UTINYINT",
        "modified": "coalesce(modified, 0)",
        "rules": "coalesce(rules, judged)",
        "md": "case when seed_md is null then md when md is null then seed_md "
        "else map_concat(md, seed_md) end",
        "score": "coalesce(score, 0)::DECIMAL(38,0)",
        "cash": "coalesce(cash, 0)::DECIMAL(38,0)",
        "inlinks": "coalesce(inlinks, 0)",
    }
    picks = [
        f'{columns[column.name]} as "{column.name}"'
        if column.name in columns
        else f'"{column.name}"'
        for column in picked
    ]
    source = f"({merged})" if " " in merged.strip() else merged
    alive = "purged is null or last_inlink > purged"
    return f"select {', '.join(picks)} from {source} m where {alive}"


def label_sql(column: str = "status") -> str:
    """Return SQL of Nutch's name of a status."""
    cases = " ".join(f"when {int(s)} then {quoted(s.label)}" for s in Status)
    return f"case {column} {cases} end"


def require_statuses(kernel: Kernel, text: str) -> None:
    """Raise UserSqlError if a condition compares `status` with an unknown status.

    That is an unknown name, or an unknown number in a test of equality.
    """
    for m in mentions(kernel, text, _STATUS):
        names = m.texts if m.whole else []
        numbers = m.numbers if m.exact else []
        unknown = [repr(name) for name in names if name not in _LABELLED]
        unknown += [number.text for number in numbers if _status_of_number(number.text) is None]
        if unknown:
            labels = ", ".join(f"{m.label} ({int(m)})" for m in Status)
            raise UserSqlError(f"{text!r}: there is no status {unknown[0]}; one of: {labels}")


_LABELLED = frozenset(status.label for status in Status)


def _status_of_number(text: str) -> Status | None:
    """Return the status of a number in SQL; None for none."""
    value = float(text)
    return next((s for s in Status if int(s) == value), None)


def with_names_alone(kernel: Kernel, text: str) -> str:
    """Return a condition with names in place of numbers if `status` is compared with both."""
    data = text.encode()
    mixed = (m for m in mentions(kernel, text, _STATUS) if m.whole and m.texts)
    numbers = {number for m in mixed for number in m.numbers}
    for number in sorted(numbers, key=lambda m: m.place, reverse=True):
        status = _status_of_number(number.text)
        name = quoted(status.label) if status is not None else quoted(number.text)
        data = data[: number.place] + name.encode() + data[number.place + number.size :]
    return data.decode()


def with_status_names(kernel: Kernel, text: str) -> str:
    """Return a condition whose `status` is a name if it is compared with a text, as in `readdb`.

    Args:
        kernel: The kernel.
        text: A condition over rows, whose `status` is a number.

    Raises:
        UserSqlError: It is no expression.
    """
    if _STATUS not in text.lower():
        return text
    named = with_names_alone(kernel, text)
    places = {m.place for m in mentions(kernel, named, _STATUS) if m.texts}
    return _with_status(named, places, label_sql())


def with_status_codes(kernel: Kernel, text: str) -> str:
    """Return a condition whose `status` is a number if it is compared with one, as in `generate`.

    Args:
        kernel: The kernel.
        text: A condition over readable rows, whose `status` is a name.

    Raises:
        UserSqlError: It is no expression.
    """
    if _STATUS not in text.lower():
        return text
    cases = " ".join(f"when {quoted(m.label)} then {int(m)}" for m in Status)
    named = with_names_alone(kernel, text)
    places = {m.place for m in mentions(kernel, named, _STATUS) if not m.texts}
    return _with_status(named, places, f"case status {cases} end")


def _with_status(text: str, places: Collection[int], sql: str) -> str:
    """Return a condition with SQL in place of `status` at some positions, in bytes."""
    data = text.encode()
    for place in sorted(places, reverse=True):
        end = place + len(_STATUS) + 2 * data[place:].startswith(b'"')
        data = data[:place] + f"({sql})".encode() + data[end:]
    return data.decode()
