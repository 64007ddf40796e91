"""Another value for any setting, so that a test can change all of them."""

from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from nacre.config.place import InvalidValuesError, Property, find, with_values
from nacre.config.secret import Secret
from nacre.extract.extractors import EXTRACTORS, Extractor
from tests.wire.signatures import PEM

TEXTS = (
    "x", "Europe/Paris", "a@b.test", "http://a.test/", "http://a.test/b",
    "http://proxy.test:3128", "127.0.0.1",
    "Name: value", "10.0.0.0/8", "User-agent: *", "com,example,", "[0-9]+", "file.txt", "@weekly",
)  # fmt: skip


_FETCHING = ("extract", "fetch-http", "preconditions", "fetch-dns")
_OFF: dict[str, object] = {f"chains.fetch.{name}.enabled": False for name in _FETCHING}
COMPANIONS: dict[str, dict[str, object]] = {
    "frontier.queue_assignment.buckets": {"frontier.queue_assignment.policy": "bucket"},
    "frontier.uri_precedence.base": {"frontier.uri_precedence.policy": "base"},
    "frontier.uri_precedence.file": {"frontier.uri_precedence.policy": "preloaded"},
    "frontier.uri_precedence.navlinks_only": {"frontier.uri_precedence.policy": "hops"},
    "identity.key": {"identity.directory": "https://crawler.test"},
    **{f"chains.fetch.{name}.enabled": _OFF for name in _FETCHING[1:]},
    "frontier.queue_precedence.increments": {"frontier.queue_precedence.policy": "success-counts"},
}
"""What must be said too, because the setting means nothing without it."""


OF_A_PLUG_IN = Extractor("of-a-plug-in", lambda _document, _links: None, contract=1)
KNOWN: dict[str, object] = {
    "identity.directory": "https://crawler.test",
    "identity.key": Secret(PEM, {"env": "NACRE_TEST_KEY"}),
    "browser.scripts": ("site.js",),
    "browser.viewport": [800, 600],
    "extract.extractors": (OF_A_PLUG_IN.name,),
    "archive.wacz": "other.wacz",
    "rights.enforce": ("noarchive",),
}
"""Values that cannot be guessed from the kind of a setting."""


def other_values(settings: BaseModel, found: Property) -> dict[str, object]:
    """A value that the setting may have and has not, and what must be said with it."""
    companions = {k: v for k, v in COMPANIONS.get(found.path, {}).items() if k != found.path}
    if found.path.endswith(".enabled") and found.path in COMPANIONS:
        return companions | {found.path: not found.value}
    if not EXTRACTORS.find(OF_A_PLUG_IN.name):
        EXTRACTORS.add(OF_A_PLUG_IN)
    value = KNOWN.get(found.path) or _other_value(with_values(settings, companions), found)
    if value is None:
        raise AssertionError(f"no other value is known for {found.path}")
    return companions | {found.path: value}


def _other_value(settings: BaseModel, found: Property) -> object:
    for value in _candidates(found.info.annotation, found.value):
        try:
            changed = with_values(settings, {found.path: value})
        except (InvalidValuesError, TypeError):
            continue
        if found.path.endswith(".name") or find(changed, found.path).value != found.value:
            return value
    return None


def _candidates(kind: Any, value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, value / 2, 3, 1)
    yield from _options(kind)
    yield from (True, False, 7, 0, 5.0)
    yield from TEXTS
    for text in TEXTS:
        yield [text]
        yield {text: text}
        yield {"a.test": ["127.0.0.1"]}
    yield [{"days": "sat", "total": 1000}]
    yield [{"origin": "http://a.test", "username": "u", "password": "p"}]
    yield [{"rule": "reject"}, {"rule": "accept"}]
    yield {"text/html": [0.5, 0.1]}
    yield from (["1"], [5, 6], [[0, 1]])


def _options(kind: Any) -> Iterator[object]:
    origin = get_origin(kind)
    if origin is Literal:
        yield from get_args(kind)
    elif origin in (Annotated, Union, UnionType):
        for part in get_args(kind):
            yield from _options(part)
    elif origin is tuple:
        yield from ([option] for part in get_args(kind) for option in _options(part))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield from (member.value for member in kind)
