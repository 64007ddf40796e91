"""`${name:default}` and what else in a text was to be filled in before Heritrix reads it."""

import re
from collections.abc import Mapping

from nacre.migrate.texts import TO_FILL_IN

_VARIABLE = re.compile(r"\$\{([^${}:]+)(?::([^${}]*))?\}")
_OF_HERITRIX = frozenset(("launchId", "prefix", "timestamp17", "timestamp14", "serialno"))
_OPEN = (
    (re.compile(r"#\{"), "an expression of Spring"),
    (re.compile(r"\$\{(?P<name>[^}]*)\}?"), "a placeholder, which only Spring fills in"),
    (TO_FILL_IN, "a placeholder of a template"),
)
_GROUP = re.compile(r"env:|[0-9]+\Z")
_WRITE = "write the value"
_ROUNDS = 10
_MAX_CHARS = 1_000_000


def open_doubt(text: str) -> str:
    """Why a text is not used as it stands; "" where it is."""
    why = still_open(text)
    return f"{why}: {_WRITE}" if why else ""


def still_open(text: str) -> str:
    """What in a text was to be filled in; "" for nothing. Heritrix fills in names of its own."""
    for expression, what in _OPEN:
        for match in expression.finditer(text):
            name = match.groupdict().get("name")
            if name is None or not (_is_heritrix(name) or _GROUP.match(name)):
                return what
    return ""


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its `${name}` and `${name:default}` filled in, as far as they are known."""

    def value(found: re.Match[str]) -> str:
        name = found[1].strip()
        if _is_heritrix(name):
            return found[0]
        return values.get(name, found[0] if found[2] is None else found[2])

    for _ in range(_ROUNDS):
        before, text = text, _VARIABLE.sub(value, text)
        if text == before or len(text) > _MAX_CHARS:
            break
    return text


def _is_heritrix(name: str) -> bool:
    return name in _OF_HERITRIX or name.startswith("heritrix.")
