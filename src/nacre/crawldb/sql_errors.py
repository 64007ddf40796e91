"""Messages about SQL that a user wrote, made of the messages of DuckDB."""

import re
from collections.abc import Sequence

_NAMED = re.compile(r'(?:column|Function with name) "?([^"\s]+)"?')
_NO_SELECT = "Only SELECT statements can be serialized"


def place_error(message: str, text: str) -> str:
    """Return the first line of an error, with the position of the name that it is about.

    Args:
        message: The message of DuckDB.
        text: The SQL; the position is left out if the name does not occur in it.
    """
    first = message.strip().partition("\n")[0]
    match = _NAMED.search(first)
    position = text.find(match[1]) if match else -1
    return f"{first} at character {position + 1}" if position >= 0 else first


def explain_error(message: str, text: str, columns: Sequence[str]) -> str:
    """Return what is wrong with an expression, with the columns that it may use.

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
