"""Parts that writers of search servers share: their fields, repeated requests, and the mark.

A server shows documents before the commit. So a writer that starts an index leaves a mark in the
folder of the job until its first commit: after a kill it starts again.
"""

import logging
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nacre.errors import StorageError
from nacre.search.document import SearchDocument, plain_document
from nacre.search.writers.files import FieldMapping

_DATES = ("tstamp", "modified")
_LONGEST_WAIT = 600.0

T = TypeVar("T")


class RequestRetries(NamedTuple):
    """The attempts at a request that a server has no room for. Source: Nutch.

    Attributes:
        times: Further attempts; 0 for none.
        backoff: Wait before the first of them, in seconds; each later one is twice as long.
    """

    times: int
    backoff: float

    def waits(self) -> Iterator[float]:
        """Yield the waits, in seconds; ten minutes at most."""
        for number in range(self.times):
            yield min(self.backoff * 2**number, _LONGEST_WAIT)


def retry_request(
    request: Callable[[], T], retries: RequestRetries, again: Callable[[Exception], bool]
) -> T:
    """Return the result of a request, which is made again while the server has no room.

    Args:
        request: Makes it.
        retries: How often, and when.
        again: Whether an error goes away by itself.

    Raises:
        Exception: The error of the last attempt.
    """
    for wait in retries.waits():
        try:
            return request()
        except Exception as error:
            if not again(error):
                raise
        time.sleep(wait)
    return request()


def dated_fields(document: SearchDocument) -> dict[str, Any]:
    """Return the fields of a document in Nutch's names, with times in ISO 8601."""
    fields = plain_document(document)
    for name in _DATES:
        if name in fields:
            fields[name] = iso_time(fields[name])
    return fields


def server_fields(fields: dict[str, Any], mapping: FieldMapping) -> dict[str, Any]:
    """Fields as a server takes them: copied and renamed, and all text in Unicode."""
    return {_clean(name): _clean(value) for name, value in mapping(fields).items()}


def iso_time(time: int) -> str:
    """Return a time in ms since the epoch as `2026-11-23T17:00:00Z`."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _clean(value: Any) -> Any:  # noqa: ANN401 - a value of a field
    """Return a value without lone surrogates, which are no text to a server."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value


def quiet(name: str) -> None:
    """Silence the log of a client: its failures are in the message of the error."""
    logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class UnfinishedMark:
    """The mark of an index that was begun and has not had its first commit.

    Args:
        folder: The folder `index` of the job.
        name: Name of the writer.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.unfinished"

    @property
    def is_there(self) -> bool:
        """Whether there is one."""
        return self._path.exists()

    def leave(self) -> None:
        """Leave it.

        Raises:
            StorageError: The folder cannot be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch()
        except OSError as error:
            raise StorageError(f"{self._path}: {error.strerror}") from error

    def remove(self) -> None:
        """Remove it, if it is there."""
        self._path.unlink(missing_ok=True)
