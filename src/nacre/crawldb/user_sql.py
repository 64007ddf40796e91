"""Expressions and queries of users: the names in them, and whether a kernel may run them.

DuckDB parses them (`json_serialize_sql`); its errors become messages about the text of the user.
Places in it are counted in bytes of UTF-8.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.crawldb.kernels import Kernel, KernelError, UserSqlError

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


_ANEW = (
    "another with every run, and a step that is done again makes the same rows: write a fixed "
    "value, such as a time in ms"
)
_CLOCKS = frozenset(
    ("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp")
)
"""Functions that are written like columns."""
_NAMED = re.compile(r'(?:column|Function with name) "?([^"\s]+)"?')
_NO_SELECT = "Only SELECT statements can be serialized"


def check_expression(
    kernel: Kernel, text: str, table: str, columns: Sequence[str] = (), meant: str = ""
) -> None:
    """Check an expression of a user, such as that of `--where`.

    Args:
        kernel: Has the table.
        text: The expression.
        table: SQL after `from`, with the columns that it may use.
        columns: Their names, for the message.
        meant: The expression that is run in its place; "" for itself.

    Raises:
        UserSqlError: See `check_syntax`; or it has unknown names.
    """
    check_syntax(kernel, text, columns)
    try:
        # Without a row: DuckDB cannot bind some functions of constants that are null.
        kernel.plan(f"select ({meant or text}\n) from {table} where false")
    except KernelError as error:
        raise UserSqlError(_explain_error(_place_error(str(error), text), text, columns)) from None


def check_syntax(kernel: Kernel, text: str, columns: Sequence[str] = ()) -> None:
    """Check the syntax of an expression of a user, not its names.

    Args:
        kernel: Parses it.
        text: The expression.
        columns: Names of the columns that it may use, for the message.

    Raises:
        UserSqlError: It is no single expression, has a subquery, or uses other rows, the time or
            random values; the message has the position and the columns.
    """
    if not text.strip():
        raise UserSqlError("the expression is empty: a syntax error")
    head = "select "
    parsed = _parse(kernel, f"{head}({text}\n)", text, len(head) + 1, columns)
    for part in parts_of(parsed):
        if part.get("class") == "SUBQUERY" or part.get("type") == "TABLE_FUNCTION":
            raise UserSqlError(f"{text!r} has a query in it; only expressions are allowed")
        if reason := _no_row_has(kernel, part):
            at = int(part.get("query_location") or 0) - len(head)
            raise UserSqlError(f"{text!r}: at character {max(at, 1)} {reason}")


def _no_row_has(kernel: Kernel, part: Mapping[str, Any]) -> str:
    """Return why the value of a part depends on more than its row; "" if it does not."""
    name = str(part.get("function_name") or "").lower()
    if part.get("class") == "WINDOW":
        return f"{name}() over … asks for other rows; each is looked at by itself"
    if part.get("class") == "COLUMN_REF":
        name = str(part["column_names"][-1]).lower()
        clock = name in _CLOCKS and len(part["column_names"]) == 1
        return f"{name} is {_ANEW}" if clock else ""
    if part.get("class") != "FUNCTION":
        return ""
    kinds = dict(
        kernel.rows(
            "select function_type, max(coalesce(stability, '') not in ('CONSISTENT', '')) from "
            "duckdb_functions() where function_name = ? group by 1",
            [name],
        )
    )
    if "aggregate" in kinds and "scalar" not in kinds:
        return f"{name.removesuffix('_star')}() counts other rows; each is looked at by itself"
    return f"{name}() is {_ANEW}" if kinds.get("scalar") else ""


def names_in(kernel: Kernel, text: str) -> set[str]:
    """Return the names of columns in an expression, without the fields after a dot.

    Raises:
        UserSqlError: It is no expression.
    """
    parsed = _parse(kernel, f"select ({text}\n)", text, len("select ") + 1, ())
    return {
        str(part["column_names"][0]).lower()
        for part in parts_of(parsed)
        if part.get("class") == "COLUMN_REF" and part.get("column_names")
    }


def fields_in(kernel: Kernel, text: str, column: str) -> set[str]:
    """Return the fields of a column in an expression, lower case; "" for the whole column.

    Raises:
        UserSqlError: It is no expression.
    """
    parsed = _parse(kernel, f"select ({text}\n)", text, len("select ") + 1, ())
    fields = set()
    for part in parts_of(parsed):
        if part.get("class") == "COLUMN_REF":
            first, *inner = (str(name).lower() for name in part["column_names"])
            if first == column:
                fields.add(inner[0] if inner else "")
    return fields


def mentions(kernel: Kernel, text: str, column: str) -> list[ColumnMention]:
    """Return the mentions of a column in an expression next to constants; positions are in bytes.

    Raises:
        UserSqlError: It is no expression.
    """
    parsed, head = parse_expression(kernel, text)
    return mentions_in(parsed, column, head)


def parse_expression(kernel: Kernel, text: str) -> tuple[dict[str, Any], int]:
    """Parse an expression; return the statement, and its bytes before the expression.

    Raises:
        UserSqlError: It is no expression.
    """
    head = "select ("
    return _parse(kernel, f"{head}{text}\n)", text, len(head), ()), len(head)


def check_query(kernel: Kernel, text: str) -> None:
    """Check that the SQL of a user is one query that only reads.

    Raises:
        UserSqlError: It is not; the message has the position.
    """
    _parse(kernel, text, text, 0, ())


def _parse(kernel: Kernel, sql: str, text: str, at: int, columns: Sequence[str]) -> dict[str, Any]:
    """Parse SQL that has a user's text in it.

    Args:
        kernel: Parses it.
        sql: The SQL.
        text: The text of the user, for messages.
        at: Characters of the SQL before the text; 0: the text is a query, not an expression.
        columns: Names of the columns that it may use, for messages.

    Raises:
        UserSqlError: It cannot be parsed, or is more than one query or expression.
    """
    tree: dict[str, Any] = json.loads(kernel.value("select json_serialize_sql(?)", [sql]))
    if tree.get("error"):
        message, position = str(tree.get("error_message", "")), tree.get("position")
        where = f" at character {int(position) - at + 1}" if position is not None else ""
        raise UserSqlError(_explain_error(f"{message}{where}", text, columns))
    if len(tree["statements"]) != 1:
        raise UserSqlError(f"{text!r} is not one statement")
    node = tree["statements"][0]["node"]
    if at and (node["type"] != "SELECT_NODE" or node["from_table"]["type"] != "EMPTY"):
        raise UserSqlError(f"{text!r} is not one expression")
    if at and len(node["select_list"]) != 1:
        raise UserSqlError(f"{text!r} is not one expression")
    return tree


def _place_error(message: str, text: str) -> str:
    """Return the first line of an error, with the position of the name that it is about.

    Args:
        message: The message of DuckDB.
        text: The SQL; the position is left out if the name does not occur in it.
    """
    first = message.strip().partition("\n")[0]
    match = _NAMED.search(first)
    position = text.find(match[1]) if match else -1
    return f"{first} at character {position + 1}" if position >= 0 else first


def _explain_error(message: str, text: str, columns: Sequence[str]) -> str:
    """Return the fault of an expression, with the columns that it may use.

    Args:
        message: The message of DuckDB.
        text: The expression.
        columns: The columns; none are listed if there are none.
    """
    first = message.strip().splitlines()[0] if message.strip() else "not an expression"
    if first.startswith(_NO_SELECT):
        first = "not a query that only reads: it begins with select, from or with"
    listed = f"; columns: {', '.join(columns)}" if columns else ""
    return f"{text!r}: {first}{listed}"
