"""Conditions of users on rows: `generate --where` has the columns of `readdb` and `sql`.

A column of readers may differ from that of files: `cash` in units of 1 and not of 2^-32, a time and
not ms. `row_condition` translates a condition over columns of readers to columns of files, so
that a fold reads only the used columns. A condition over columns of files stays valid, as in
Nacre 0.1: `fetch_time < 1800000000000`, `cash > 4294967296`, `status = 3`, `hex(etag) = '22'`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from nacre.crawldb.fold import label_sql, require_statuses, with_names_alone
from nacre.crawldb.kernels import Kernel, UserSqlError, quoted
from nacre.crawldb.row import COLUMNS, ONE
from nacre.crawldb.user_sql import (
    check_expression,
    check_syntax,
    operands_of,
    parse_expression,
    parts_of,
)

TIMES_MS = ("fetch_time", "modified", "leased_until", "purged", "first_seen", "last_inlink")
"""Columns of files with ms since the epoch."""
TIMES_US = ("last_time", "warc_date")
"""Columns of files with µs since the epoch."""
_HOST_PATTERN = r"^[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)"
_HOST, _STATUS = "host", "status"
_AMOUNTS = ("score", "cash")
_BYTES = ("etag", "last_modified", "signature")

READER_SQL: Mapping[str, str] = {
    "url": "coalesce(url, key)",
    _HOST: f"regexp_extract(key, {quoted(_HOST_PATTERN)}, 1)",
    _STATUS: label_sql(),
    "modified": "case when modified <> 0 then epoch_ms(modified) end",
    **{name: f"epoch_ms({name})" for name in TIMES_MS if name != "modified"},
    **{name: f"make_timestamp({name})" for name in TIMES_US},
    **{name: f"({name}::DOUBLE / {ONE})" for name in _AMOUNTS},
    # Bytes of servers, in any encoding.
    **{name: f"decode({name}, 'replace')" for name in ("etag", "last_modified")},
    "signature": "lower(hex(signature))",
}
"""SQL of the columns of readers over columns of files, where they differ."""

READER_COLUMNS = (
    COLUMNS[0].name, COLUMNS[1].name, _HOST, *(column.name for column in COLUMNS[2:]),
)  # fmt: skip
"""The columns of readers, in their order."""

_RAW_AMOUNT = 2**20
"""A constant next to an amount of at least this value is in 2^-32: no score is so great."""
_POWERS = frozenset(("pow", "power", "**", "^"))
_HEX = frozenset(("hex", "to_hex"))
_TO_BYTES = frozenset(("unhex", "from_hex", "encode", "from_base64", "from_binary", "unbin"))
_NUMBER_TYPES = frozenset(
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
     "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "INT", "INT1", "INT2", "INT4", "INT8",
     "SHORT", "LONG", "SIGNED", "REAL", "NUMERIC", "FLOAT4", "FLOAT8", "DEC")
)  # fmt: skip
_PLACE_IN = frozenset(("ARRAY_EXTRACT", "ARRAY_SLICE"))
_FIELD_OF = frozenset(("ARRAY_EXTRACT", "struct_extract", "array_extract"))
_MOST_TRIED = 6


class _Mention(NamedTuple):
    """A mention of a column of readers that differs from that of files.

    Attributes:
        column: Its name, lower case.
        place: Its position, in bytes.
        size: Its length, in bytes.
        raw: It means the column of files.
    """

    column: str
    place: int
    size: int
    raw: bool


_RAW = _Mention("", 0, 0, raw=True)


def row_condition(kernel: Kernel, text: str, table: str, names: Sequence[str]) -> str:
    """Check a condition over columns of readers, and translate it to columns of files.

    Args:
        kernel: The kernel.
        text: The condition of a user.
        table: SQL after `from` of a table with the columns of files, and `host` as a struct.
        names: Columns that a condition may use, for the message.

    Raises:
        UserSqlError: It is invalid; the message has the position and the columns.
    """
    check_syntax(kernel, text, names)
    require_statuses(kernel, text)
    named = with_names_alone(kernel, text)
    mentions = _mentions(kernel, named)
    first: UserSqlError | None = None
    for choice in _choices(mentions):
        meant = _replace_mentions(named, mentions, choice)
        try:
            check_expression(kernel, text, table, names, meant)
        except UserSqlError as error:
            first = first or error
        else:
            return meant
    raise first or UserSqlError(f"{text!r} is no condition")


def _choices(mentions: Sequence[_Mention]) -> Iterator[frozenset[_Mention]]:
    """Yield sets of mentions to read as the other kind of column, the fewest columns first.

    First columns of readers are read as those of files, then the reverse. A kernel checks each set:
    times and numbers do not mix, nor do texts and bytes.
    """
    kinds = sorted({(m.raw, m.column) for m in mentions})
    if len(kinds) > _MOST_TRIED:
        yield frozenset()
        yield frozenset(m for m in mentions if not m.raw)
        return
    sets = [chosen for n in range(len(kinds) + 1) for chosen in combinations(kinds, n)]
    for chosen in sorted(sets, key=lambda kinds: sum(is_raw for is_raw, _ in kinds)):
        yield frozenset(m for m in mentions if (m.raw, m.column) in chosen)


def _replace_mentions(text: str, mentions: Sequence[_Mention], swapped: frozenset[_Mention]) -> str:
    """Return the condition with SQL in place of the mentions of columns of readers."""
    data = text.encode()
    for m in sorted(mentions, key=lambda mention: mention.place, reverse=True):
        if m.raw == (m in swapped):
            sql = f"({READER_SQL[m.column]})".encode()
            data = data[: m.place] + sql + data[m.place + m.size :]
    return data.decode()


def _mentions(kernel: Kernel, text: str) -> list[_Mention]:
    """Return the mentions of columns that differ, each classified by its neighbours."""
    parsed, head = parse_expression(kernel, text)
    by_place: dict[int, _Mention] = {}
    for part, above in _columns(parsed, ()):
        column = str(part["column_names"][0]).lower()
        if len(part["column_names"]) == 1 and column in READER_SQL:
            place = int(part["query_location"]) - head
            size = int(part["query_location_length"])
            raw = _is_raw(column, part, above)
            # `case status when 2 then … when 3 …` has the same mention twice.
            by_place[place] = _Mention(column, place, size, raw and by_place.get(place, _RAW).raw)
    return list(by_place.values())


Node = dict[str, Any]


def _columns(node: object, above: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield every mention of a column in a parsed statement, with its ancestors."""
    if isinstance(node, list):
        for n in node:
            yield from _columns(n, above)
    elif isinstance(node, dict):
        if node.get("class") == "COLUMN_REF":
            if not any(_is_parameter(node, n) for n in above):
                yield node, above
            return
        inner = (*above, node) if "class" in node else above
        for value in node.values():
            yield from _columns(value, inner)


def _is_parameter(column: Node, node: Node) -> bool:
    """Return whether a name is a parameter of a lambda and no column."""
    if node.get("class") != "LAMBDA":
        return False
    return any(
        ref["column_names"] == column["column_names"] for ref, _ in _columns(node["lhs"], ())
    )


def _is_raw(column: str, part: Node, above: Sequence[Node]) -> bool:
    """Return whether a mention means the column of files, by its ancestors and neighbours."""
    if not above:
        return False
    parent = above[-1]
    siblings = [n for n in operands_of(parent) if n is not part]
    if column == _HOST:
        kinds = {str(parent.get("type")), str(parent.get("function_name")).lower()}
        return not kinds.isdisjoint(_FIELD_OF) and any(map(_is_text, siblings))
    if column in _AMOUNTS:
        inside = next((n for n in reversed(above) if _is_comparison(n)), None)
        return inside is not None and _has_raw_amount(inside)
    if column in _BYTES:
        is_hex = str(parent.get("function_name")).lower() in _HEX
        return is_hex or _cast_type(parent) == "BLOB" or any(map(_is_bytes, siblings))
    # An index of a text is no neighbour in this sense.
    if column == _STATUS and (parent.get("type") in _PLACE_IN or any(map(_is_text, siblings))):
        return False
    is_number = _is_number if column == _STATUS else _is_calculated
    return column in (_STATUS, *TIMES_MS, *TIMES_US) and (
        _cast_type(parent) in _NUMBER_TYPES or any(map(is_number, siblings))
    )


def _is_text(node: Node) -> bool:
    return node.get("class") == "CONSTANT" and node["literal"]["kind"] == "STRING"


def _is_number(node: Node) -> bool:
    """Whether a part is a number: a constant, or a calculation with constants alone."""
    if node.get("class") == "CONSTANT":
        return node["literal"]["kind"] in {"INTEGER", "NUMERIC"}
    if node.get("class") == "CAST":
        return _cast_type(node) in _NUMBER_TYPES and _is_number(node["child"])
    inner = operands_of(node) if node.get("class") == "FUNCTION" else []
    return bool(inner) and all(map(_is_number, inner))


def _is_calculated(node: Node) -> bool:
    """Whether a part is a number without functions that may make a time, as `make_date` does."""
    return _is_number(node) and not any(
        part.get("class") == "FUNCTION"
        and not part.get("is_operator")
        and str(part.get("function_name")).lower() not in _POWERS
        for part in parts_of(node)
    )


def _is_bytes(node: Node) -> bool:
    r"""Whether a part is bytes: `'\xAA'`, `unhex('aa')`, `'aa'::blob`."""
    if _is_text(node):
        return "\\x" in node["literal"]["text"]
    is_made = str(node.get("function_name")).lower() in _TO_BYTES
    return is_made or _cast_type(node) == "BLOB"


def _is_comparison(node: Node) -> bool:
    kind = str(node.get("type"))
    return node.get("class") in {"COMPARISON", "BETWEEN"} or kind.startswith("COMPARE_")


def _has_raw_amount(node: Node) -> bool:
    """Whether a comparison has a constant of 2^20 and more, or 2^32 as a power."""
    if node.get("class") == "CONSTANT":
        return _is_number(node) and abs(float(node["literal"]["text"])) >= _RAW_AMOUNT
    inner = [*operands_of(node), *([node["child"]] if node.get("class") == "CAST" else [])]
    if str(node.get("function_name")).lower() in _POWERS and all(map(_is_number, inner)):
        return True
    return any(map(_has_raw_amount, inner))


def _cast_type(node: Node) -> str:
    """Return the type that a part is cast to; "" if it is no cast."""
    if node.get("class") != "CAST":
        return ""
    return str(node["type_expr"].get("type_name")).upper()
