"""What validation says, in the words of operators: one voice for files, commands and sheets."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from nacre.config.spelling import nearest

_SHOWN = 60


def shown(given: object, message: str) -> str:
    """What was given instead, for the end of a message; "" where it says so already."""
    if given is None:
        return "; nothing is given"
    if isinstance(given, dict | list | tuple):
        return ""
    text = repr(given) if isinstance(given, str) else str(given).lower()
    if text in message:
        return ""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return f" (it is {cut})"


def _plain(number: float) -> str:
    return f"{number:.15g}"


_Say = Callable[[Mapping[str, Any]], str]

_SAYINGS: dict[str, _Say] = {
    "greater_than_equal": lambda c: f"must be at least {_plain(c['ge'])}",
    "greater_than": lambda c: f"must be more than {_plain(c['gt'])}",
    "less_than_equal": lambda c: f"must be at most {_plain(c['le'])}",
    "less_than": lambda c: f"must be less than {_plain(c['lt'])}",
    "finite_number": lambda _: "must be a finite number",
    "int_from_float": lambda _: "must be a whole number",
    "string_type": lambda _: "must be text; put a number or true/false into quotation marks",
    "string_pattern_mismatch": lambda c: f"must match the pattern {c['pattern']}",
    "too_short": lambda c: f"must hold at least {c['min_length']}, and holds {c['actual_length']}",
    "too_long": lambda c: f"may hold at most {c['max_length']}",
    "missing": lambda _: "is missing",
    "none_required": lambda _: "must be none",
}

_KINDS = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "tuple": "must be a list: `[a, b]`, or lines that begin with `- `",
    "list": "must be a list: `[a, b]`, or lines that begin with `- `",
    "frozen": "must be a list: `[a, b]`, or lines that begin with `- `",
    "dict": "must be a section: indented `name: value` lines",
    "model": "must be a section: indented `name: value` lines",
}


def message_of(item: ErrorDetails, *, in_settings: bool = True) -> str:
    """What is wrong, in words for operators.

    Args:
        item: What validation found.
        in_settings: It is about a setting: the message follows its path, and so begins small.
    """
    kind = item["type"]
    context: Mapping[str, Any] = item.get("ctx", {})
    if kind in ("literal_error", "enum"):
        return _choice(item, str(context.get("expected", "")))
    if kind in _SAYINGS:
        return _SAYINGS[kind](context)
    word = kind.partition("_")[0]
    if word in _KINDS and kind != "value_error":
        return _KINDS[word]
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}" if in_settings and message else message


def _choice(item: ErrorDetails, expected: str) -> str:
    known = [name.strip(" '") for name in expected.replace(" or ", ",").split(",")]
    near = nearest(str(item.get("input")), known)
    names = " or ".join(f"`{name}`" for name in known)
    return f"must be {names}" + (f"; did you mean `{near}`?" if near else "")
