"""The fold: a bucket's rows out of its `base` and later `set` and `add` files, in SQL.

`merge_query` gives the rows as files hold them: associative, so that any compaction at any time
leaves the same rows. What nobody has set stays null in it. `fold_query` gives the rows as readers
see them: with defaults, duplicates shown as such, purged rows left out. A new base is written from
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

# What readers see depends on these too.
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
        low: The least; "" for no bound.
        high: Less than this; "" for no bound.
    """

    low: str
    high: str

    def condition(self, column: str = "key") -> str:
        """SQL that is true for the keys of the range."""
        parts = [f"{column} >= {quoted(self.low)}"] if self.low else []
        parts += [f"{column} < {quoted(self.high)}"] if self.high else []
        return " and ".join(parts) or "true"

    def has(self, key: str) -> bool:
        """Whether a key lies in it."""
        said = key.encode()
        return said >= self.low.encode() and (not self.high or said < self.high.encode())


def merge_query(  # noqa: PLR0913 - files, then what is wanted of their rows
    base: Sequence[str],
    sets: Sequence[tuple[str, str]] = (),
    adds: Sequence[str] = (),
    within: KeyRange | None = None,
    *,
    columns: Collection[str] | None = None,
    keys: str = "",
    order: bool = True,
) -> str:
    """SQL that folds the files of a bucket into rows as files hold them.

    Args:
        base: Files of the base; no key is in two of them.
        sets: Files of sets, each with its group, in fold order.
        adds: Files of adds, in any order.
        within: The keys that are folded, all of the base among them; None: all.
        columns: Those that are wanted; None for all, as a new base needs them.
        keys: A table of the kernel whose column `key` names the wanted rows; "" for all.
        order: Sort by key, bytewise.

    Raises:
        ValueError: There is no file, or no such group or column.
    """
    wanted = _columns(columns)
    groups = {
        group: paths
        for group in GROUP_NAMES
        if (paths := [path for path, of in sets if of == group])
        and any(column.group == group for column in wanted)
    }
    _check_groups(sets)
    deltas = [*([_adds(_source(adds, keys, within), wanted)] if adds else [])]
    deltas += [
        _last_of(group, [_source([path], keys, within) for path in paths])
        for group, paths in groups.items()
    ]
    names = [*(["adds"] if adds else []), *(f"set_{group}" for group in groups)]
    # A row that only a set knows has no base; a set whose columns are not wanted still makes one.
    others = [path for path, of in sets if of not in groups]
    if others:
        deltas.append(f"others as (select distinct key from {_source(others, keys, within)})")
        names.append("others")
    if not names:
        if not base:
            raise ValueError("a fold needs a file")
        query = f"select {_listed(wanted)} from {_source(base, keys)} b"
    else:
        query = _joined(_source(base, keys) if base else "", wanted, deltas, names)
    return f"{query} order by key" if order else query


def leased_query(base: Sequence[str], sets: Sequence[tuple[str, str]], clock: int) -> str:
    """SQL of the keys of a bucket that are leased by its files; rows that were purged are in it.

    It reads little where nothing is leased: whole parts of a base are skipped by their statistics.

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
    others = f" union all {of_base} and key not in (select key from set_lease)" if base else ""
    return f"{named} {of_sets}{others}"


def summed_adds(source: str) -> str:
    """SQL of rows that are added, one for each key, sorted by it.

    Args:
        source: What stands behind `from` for them: the columns of `row.ADD_COLUMNS`.
    """
    wanted = [column for column in COLUMNS if column.rule is not FoldRule.SET]
    return _joined("", wanted, [_adds(source, wanted)], ["adds"]) + " order by key"


def fold_query(  # noqa: PLR0913 - files, then what is wanted of their rows
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
    """SQL that folds the files of a bucket into rows as readers see them.

    A row that only adds know is db_unfetched, due since it was first seen. A row with `dup_of` is
    db_duplicate. A purged row is left out unless a link to it was seen later.

    Args:
        base: See `merge_query`.
        sets: See `merge_query`.
        adds: See `merge_query`.
        within: See `merge_query`.
        interval: Interval of a row that has none, s.
        columns: Those that are wanted; None for all.
        keys: See `merge_query`.
        order: Sort by key, bytewise.
    """
    wanted = _columns(columns)
    names = {column.name for column in wanted}
    needed = names.union(_ALWAYS, *(_NEEDS.get(name, ()) for name in names))
    merged = merge_query(base, sets, adds, within, columns=needed, keys=keys, order=False)
    return _seen(merged, wanted, interval) + (" order by key" if order else "")


def seen_query(merged: str, *, interval: int, columns: Collection[str] | None = None) -> str:
    """SQL that shows merged rows, as files hold them, as readers see them.

    Args:
        merged: A query or, in brackets or not, the name of a table with all columns.
        interval: See `fold_query`.
        columns: Those that are wanted; None for all.
    """
    return _seen(merged, _columns(columns), interval)


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
    """SQL behind `from` of files, or of their rows with wanted keys."""
    rows = parquet(paths)
    if within is not None:
        rows = f"(select * from {rows} where {within.condition()})"
    if not keys:
        return rows
    return f"(select f.* from {rows} f semi join {keys} k on f.key = k.key)"


def _adds(source: str, wanted: Sequence[RowColumn]) -> str:
    """All adds of a key in one row; `first` is the least of what was found first."""
    names = {column.name for column in wanted}
    # Which one was first also says when it was first seen: see `_older`.
    firsts = any(column in _FIRSTS for column in wanted)
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
    """The columns of the finding of a URL, in the order by which the first one is chosen.

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
    """The last row of a group for each key; in one file a key stands once."""
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


def _joined(base: str, wanted: Sequence[RowColumn], deltas: list[str], names: list[str]) -> str:
    """Differences joined with one another, then with the base."""
    source = names[0]
    key = f"{names[0]}.key"
    for name in names[1:]:
        source += f" full join {name} on {name}.key = {key}"
        key = f"coalesce({key}, {name}.key)"
    parts = [f"{key} as key"]
    parts += [f"{name} as d_{name}" for name in names if name != "others"]
    deltas.append(f"deltas as (select {', '.join(parts)} from {source})")
    picks = [_pick(column, names, has_base=bool(base)) for column in wanted]
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


def _seen(merged: str, wanted: Sequence[RowColumn], interval: int) -> str:
    seen = {
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
        f'{seen[column.name]} as "{column.name}"' if column.name in seen else f'"{column.name}"'
        for column in wanted
    ]
    source = f"({merged})" if " " in merged.strip() else merged
    alive = "purged is null or last_inlink > purged"
    return f"select {', '.join(picks)} from {source} m where {alive}"


def label_sql(column: str = "status") -> str:
    """SQL of Nutch's name of a status."""
    cases = " ".join(f"when {int(one)} then {quoted(one.label)}" for one in Status)
    return f"case {column} {cases} end"


def require_statuses(kernel: Kernel, text: str) -> None:
    """Raise UserSqlError where a condition compares `status` with what no status is.

    That is a name that no status has, and a number that it is to be or not to be.
    """
    for one in mentions(kernel, text, _STATUS):
        names = one.texts if one.whole else []
        numbers = one.numbers if one.exact else []
        unknown = [repr(name) for name in names if name not in _LABELLED]
        unknown += [number.text for number in numbers if _numbered(number.text) is None]
        if unknown:
            known = ", ".join(f"{one.label} ({int(one)})" for one in Status)
            raise UserSqlError(f"{text!r}: there is no status {unknown[0]}; one of: {known}")


_LABELLED = frozenset(one.label for one in Status)


def _numbered(text: str) -> Status | None:
    """The status of a number in SQL; None for none."""
    value = float(text)
    return next((one for one in Status if int(one) == value), None)


def with_names_alone(kernel: Kernel, text: str) -> str:
    """A condition with names in place of numbers where `status` is compared with both."""
    said = text.encode()
    mixed = (one for one in mentions(kernel, text, _STATUS) if one.whole and one.texts)
    numbers = {number for one in mixed for number in one.numbers}
    for number in sorted(numbers, key=lambda one: one.place, reverse=True):
        status = _numbered(number.text)
        name = quoted(status.label) if status is not None else quoted(number.text)
        said = said[: number.place] + name.encode() + said[number.place + number.size :]
    return said.decode()


def with_status_names(kernel: Kernel, text: str) -> str:
    """A condition whose `status` is a name where it is compared with a text, as in `readdb`.

    Args:
        kernel: The kernel.
        text: A condition over rows, whose `status` is a number.

    Raises:
        UserSqlError: It is no expression.
    """
    if _STATUS not in text.lower():
        return text
    named = with_names_alone(kernel, text)
    places = {one.place for one in mentions(kernel, named, _STATUS) if one.texts}
    return _with_status(named, places, label_sql())


def with_status_codes(kernel: Kernel, text: str) -> str:
    """A condition whose `status` is a number where it is compared with one, as in `generate`.

    Args:
        kernel: The kernel.
        text: A condition over readable rows, whose `status` is a name.

    Raises:
        UserSqlError: It is no expression.
    """
    if _STATUS not in text.lower():
        return text
    cases = " ".join(f"when {quoted(one.label)} then {int(one)}" for one in Status)
    named = with_names_alone(kernel, text)
    places = {one.place for one in mentions(kernel, named, _STATUS) if not one.texts}
    return _with_status(named, places, f"case status {cases} end")


def _with_status(text: str, places: Collection[int], sql: str) -> str:
    """A condition with SQL in place of `status` at some places, counted in bytes."""
    said = text.encode()
    for place in sorted(places, reverse=True):
        end = place + len(_STATUS) + 2 * said[place:].startswith(b'"')
        said = said[:place] + f"({sql})".encode() + said[end:]
    return said.decode()
