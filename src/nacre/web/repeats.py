"""Repeated requests: one with an Idempotency-Key is done once, and answered the same again.

Source: draft-ietf-httpapi-idempotency-key-header-07.
"""

import hashlib
from typing import Final, NamedTuple

from nacre.core.clock import Clock
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message

FIELD: Final = "idempotency-key"
LIFE: Final = 86400.0
"""Seconds for which an answer is kept."""
LONGEST: Final = 200
"""Characters of a key."""
LARGEST: Final = 1_000_000
"""Bytes of an answer that is kept; no answer of an action has more."""


class KeptAnswer(NamedTuple):
    """An answer that is given again.

    Attributes:
        status: Its status code.
        media: Its media type.
        data: Its body.
    """

    status: int
    media: str
    data: bytes


class RepeatBook:
    """The answers to requests with a key, in the console's database.

    Args:
        database: Keeps them.
        clock: The time.
    """

    def __init__(self, database: ConsoleDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._open: set[str] = set()

    def begin(self, request: str, body: bytes) -> KeptAnswer | None:
        """Begin a request; the answer that it had before, or None where it is to be done.

        What begins must end by `end`.

        Args:
            request: The caller, for what, and with which key; see `request_of`.
            body: Its body.

        Raises:
            RefusedRequestError: It is being done (409), or had another body then (422).
        """
        if request in self._open:
            raise RefusedRequestError(
                409,
                "in-process",
                message("console.repeat-running", "the request with this key is being done"),
            )
        row = self._database.row(
            "SELECT body, status, media, answer FROM repeats WHERE request = ? AND made > ?",
            request, self._clock.now() - LIFE,
        )  # fmt: skip
        if row is None:
            self._open.add(request)
            return None
        stored, status, media, answer = row
        if stored != hashlib.sha256(body).hexdigest():
            raise RefusedRequestError(
                422,
                "other-body",
                message(
                    "console.repeat-key-used",
                    "this key was used for another request; take a new one",
                ),
            )
        return KeptAnswer(
            int(str(status)), str(media), answer if isinstance(answer, bytes) else b""
        )

    def end(self, request: str, body: bytes, answer: KeptAnswer | None) -> None:
        """End a request, and keep its answer.

        Args:
            request: As in `begin`.
            body: Its body.
            answer: It; None for one that may turn out otherwise the next time.
        """
        self._open.discard(request)
        if answer is None or len(answer.data) > LARGEST:
            return
        now = self._clock.now()
        self._database.rows("DELETE FROM repeats WHERE made <= ?", now - LIFE)
        self._database.rows(
            "INSERT OR REPLACE INTO repeats VALUES (?, ?, ?, ?, ?, ?)",
            request, hashlib.sha256(body).hexdigest(), answer.status, answer.media, answer.data,
            now,
        )  # fmt: skip


def request_of(requester: str, verb: str, path: str, key: str) -> str:
    """The name of a request with a key (pure).

    Args:
        requester: The caller: name and how they showed it.
        verb: Its verb.
        path: Its path and query.
        key: The key.

    Raises:
        RefusedRequestError: The key is empty or too long (400).
    """
    if not key or len(key) > LONGEST:
        text = message(
            "console.repeat-key-length",
            "an Idempotency-Key has 1 to {longest} characters",
            longest=LONGEST,
        )
        raise RefusedRequestError(400, "bad-key", text)
    return hashlib.sha256("\0".join((requester, verb, path, key)).encode()).hexdigest()
