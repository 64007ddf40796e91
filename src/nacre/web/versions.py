"""Versions of what can be edited: ETags, and the refusal of a change of an older version.

Source: RFC 9110, sections 8.8.3 and 13.1.1.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec
from starlette.responses import Response

from nacre.core.message_data import to_json, to_plain
from nacre.web.problems import PROBLEM_TYPE

IF_MATCH: Final = "if-match"


class EditedThing(NamedTuple):
    """A version of something that can be edited.

    Attributes:
        tag: Changes with each version; without quotes.
        saved: The version itself, as JSON can have it.
    """

    tag: str
    saved: Any

    @property
    def etag(self) -> str:
        """Its ETag, with quotes."""
        return f'"{self.tag}"'

    def fits(self, field: str) -> bool:
        """Whether an `If-Match` field matches this version, by its ETag or by `*`.

        The prefix of weak ETags is ignored, because proxies that compress add it.
        """
        tags = [tag.strip().removeprefix("W/").strip('"') for tag in field.split(",")]
        return "*" in tags or self.tag in tags


def edited(saved: object) -> EditedThing:
    """A version by its content (pure).

    Args:
        saved: What can be edited, and nothing else: a number that changes by itself would refuse
            each change.
    """
    plain = to_plain(saved)
    digest = hashlib.sha256(msgspec.json.encode(plain, order="deterministic"))
    return EditedThing(digest.hexdigest()[:32], plain)


def conflict(now: EditedThing, yours: object) -> Response:
    """The answer (412) to one who changed an older version: both versions (pure).

    Args:
        now: The version that there is.
        yours: What was sent.
    """
    body = {
        "title": HTTPStatus.PRECONDITION_FAILED.phrase,
        "status": 412,
        "code": "changed",
        "detail": "it was changed meanwhile: `saved` is its current state, `yours` what you sent; "
        "merge them, and save with the new ETag",
        "etag": now.tag,
        "saved": now.saved,
        "yours": to_plain(yours),
    }
    data = to_json(body)
    return Response(data, 412, {"etag": now.etag}, media_type=PROBLEM_TYPE)


class EditTurns:
    """Lets one change of a thing at a time look at its version and change it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """While the block runs, no other block of the same name does.

        Args:
            name: Name of the thing.
        """
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield
