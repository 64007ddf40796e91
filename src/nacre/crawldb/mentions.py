"""The mentions of a column next to constants in an expression of SQL: `status in ('db_gone', 4)`.

The statement is parsed by DuckDB (`json_serialize_sql`). Places are counted in bytes of UTF-8.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_STRING = "STRING"
_NUMBERS = frozenset(("INTEGER", "NUMERIC"))
_SIDES = ("left", "right", "input", "lower", "upper")
"""Parts of a comparison, and of `between`."""
_EXACT = frozenset(("COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_IN", "COMPARE_NOT_IN"))


class SqlConstant(NamedTuple):
    """A text or a number of an expression.

    Attributes:
        text: Its value, without quotes.
        is_text: It is a text and no number.
        place: Its position.
        size: Its length, with quotes.
    """

    text: str
    is_text: bool
    place: int
    size: int


class ColumnMention(NamedTuple):
    """A mention of a column next to constants.

    Attributes:
        place: Its position.
        whole: The column is compared with values, and not with patterns as in `like`.
        exact: The comparison is a test of equality with the values.
        constants: The constants.
    """

    place: int
    whole: bool
    exact: bool
    constants: tuple[SqlConstant, ...]

    @property
    def texts(self) -> list[str]:
        """The texts among the constants."""
        return [c.text for c in self.constants if c.is_text]

    @property
    def numbers(self) -> list[SqlConstant]:
        """The numbers among the constants."""
        return [c for c in self.constants if not c.is_text]


def mentions_in(parsed: Mapping[str, Any], column: str, head: int) -> list[ColumnMention]:
    """Return the mentions of a column next to constants in a parsed statement.

    Args:
        parsed: The statement.
        column: Name of the column, lower case.
        head: Bytes of the statement before the expression.
    """
    column_mentions = []
    for part in parts_of(parsed):
        neighbours = operands_of(part)
        constants = tuple(literal for n in neighbours if (literal := _literal(n, head)) is not None)
        kind = str(part.get("type"))
        whole = part.get("class") == "COMPARISON" or "IN" in kind.split("_")
        column_mentions += [
            ColumnMention(int(n["query_location"]) - head, whole, kind in _EXACT, constants)
            for n in neighbours
            if constants and _is_column(n, column)
        ]
    return column_mentions


def operands_of(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the operands of a comparison, an operator or a function of a parsed statement."""
    return [
        *(part[side] for side in _SIDES if isinstance(part.get(side), dict)),
        *(child for child in part.get("children") or () if isinstance(child, dict)),
        *(child["expression"] for child in part.get("arguments") or ()),
    ]


def _is_column(part: Mapping[str, Any], column: str) -> bool:
    names = part["column_names"] if part.get("class") == "COLUMN_REF" else []
    return [str(name).lower() for name in names] == [column]


def _literal(part: Mapping[str, Any], head: int) -> SqlConstant | None:
    """Return a text or a number of a parsed statement; None for other nodes."""
    if part.get("class") != "CONSTANT":
        return None
    kind = str(part["literal"]["kind"])
    if kind not in {_STRING, *_NUMBERS}:
        return None
    place, size = int(part["query_location"]) - head, int(part["query_location_length"])
    return SqlConstant(str(part["literal"]["text"]), kind == _STRING, place, size)


def parts_of(node: object) -> Iterator[dict[str, Any]]:
    """Yield every mapping in a parsed statement."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from parts_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from parts_of(value)
