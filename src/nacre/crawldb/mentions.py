"""The mentions of a column beside constants in an expression of SQL: `status in ('db_gone', 4)`.

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
        text: Its value, as it is written without quotes.
        is_text: It is a text and no number.
        place: Where it begins.
        size: Its length, with quotes.
    """

    text: str
    is_text: bool
    place: int
    size: int


class ColumnMention(NamedTuple):
    """A mention of a column beside constants.

    Attributes:
        place: Where it begins.
        whole: The column is compared with values, and not with patterns as of `like`.
        exact: It is asked whether it is one of the values, or none of them.
        constants: The constants.
    """

    place: int
    whole: bool
    exact: bool
    constants: tuple[SqlConstant, ...]

    @property
    def texts(self) -> list[str]:
        """The texts among the constants."""
        return [one.text for one in self.constants if one.is_text]

    @property
    def numbers(self) -> list[SqlConstant]:
        """The numbers among the constants."""
        return [one for one in self.constants if not one.is_text]


def mentions_in(parsed: Mapping[str, Any], column: str, head: int) -> list[ColumnMention]:
    """The mentions of a column beside constants in a parsed statement.

    Args:
        parsed: The statement.
        column: Name of the column, lower case.
        head: Bytes of the statement before the expression.
    """
    found = []
    for part in parts_of(parsed):
        neighbours = beside(part)
        constants = tuple(said for one in neighbours if (said := _literal(one, head)) is not None)
        kind = str(part.get("type"))
        whole = part.get("class") == "COMPARISON" or "IN" in kind.split("_")
        found += [
            ColumnMention(int(one["query_location"]) - head, whole, kind in _EXACT, constants)
            for one in neighbours
            if constants and _is_column(one, column)
        ]
    return found


def beside(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts that a comparison, an operator or a function of a parsed statement has."""
    return [
        *(part[side] for side in _SIDES if isinstance(part.get(side), dict)),
        *(one for one in part.get("children") or () if isinstance(one, dict)),
        *(one["expression"] for one in part.get("arguments") or ()),
    ]


def _is_column(part: Mapping[str, Any], column: str) -> bool:
    names = part["column_names"] if part.get("class") == "COLUMN_REF" else []
    return [str(name).lower() for name in names] == [column]


def _literal(part: Mapping[str, Any], head: int) -> SqlConstant | None:
    """A text or a number of a parsed statement; None for all else."""
    if part.get("class") != "CONSTANT":
        return None
    kind = str(part["literal"]["kind"])
    if kind not in {_STRING, *_NUMBERS}:
        return None
    place, size = int(part["query_location"]) - head, int(part["query_location_length"])
    return SqlConstant(str(part["literal"]["text"]), kind == _STRING, place, size)


def parts_of(node: object) -> Iterator[dict[str, Any]]:
    """Every mapping in a parsed statement."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from parts_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from parts_of(value)
