"""The writer of Apache Solr, by its JSON commands. Source: Nutch, `indexer-solr` (N 1.14).

Each request has a separate connection: it carries a thousand documents, and a connection that the
server closed in the meantime is never used again.
"""

import json
import ssl
from base64 import b64encode
from collections.abc import Callable, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from nacre import __version__
from nacre.errors import StorageError
from nacre.search.document import SearchDocument
from nacre.search.writers.servers import RequestRetries, UnfinishedMark, retry_request

_BUSY = (429, 503)
_DELETES = 1_000
_UPDATE = "update?wt=json"
_LONGEST_ANSWER = 1_000_000
"""Bytes of an answer that are read; those of the requests made here are far shorter."""


class SolrPlace(NamedTuple):
    """The place of a Solr, and how it is spoken to.

    Attributes:
        url: URL of the core or collection.
        login: User and password; None for none.
        ca: File of certificates that its own is checked by; "" for those of the system.
        timeout: Limit of a request, in seconds.
        batch: Documents of a request.
        batch_bytes: Bytes of a request; a document that is longer goes alone.
        retries: The times at which requests are made again.
    """

    url: str
    login: tuple[str, str] | None
    ca: str
    timeout: float
    batch: int
    batch_bytes: int
    retries: RequestRetries


class _RefusedError(Exception):
    """An answer of Solr that is no success."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"HTTP {status}: {reason}")
        self.status = status


class SolrWriter:
    """A writer of a core or a collection of Solr.

    Args:
        place: Where it is.
        name: See `DocumentWriter`.
        folder: The folder `index` of the job.
        fields: Makes the fields of a document.
    """

    def __init__(
        self,
        place: SolrPlace,
        name: str,
        folder: Path,
        fields: Callable[[SearchDocument], dict[str, Any]],
    ) -> None:
        self.name = name
        self._place = place
        self._fields = fields
        self._mark = UnfinishedMark(folder, name)
        self._pending: list[bytes] = []
        self._size = 0

    def open(self, *, rebuild: bool = False) -> bool:
        """See `DocumentWriter.open`; a rebuilt one shows nothing new before its first commit."""
        anew = rebuild or self._is_empty() or self._mark.is_there
        if anew:
            self._mark.leave()
        if rebuild:
            self._command({"delete": {"query": "*:*"}})
        return anew

    def write(self, batch: Sequence[SearchDocument]) -> None:
        """See `DocumentWriter.write`."""
        for document in batch:
            row = json.dumps(self._fields(document)).encode()
            if len(self._pending) >= self._place.batch or (
                self._size + len(row) > self._place.batch_bytes
            ):
                self._flush()
            self._pending.append(row)
            self._size += len(row)

    def delete(self, ids: Sequence[str]) -> None:
        """See `DocumentWriter.delete`."""
        self._flush()
        plain = [key.encode("utf-8", "replace").decode() for key in ids if key]
        for at in range(0, len(plain), _DELETES):
            self._command({"delete": plain[at : at + _DELETES]})

    def commit(self) -> None:
        """See `DocumentWriter.commit`."""
        self._flush()
        self._command({"commit": {}})
        self._mark.remove()

    def close(self) -> None:
        """See `DocumentWriter.close`."""
        self._pending, self._size = [], 0

    def _flush(self) -> None:
        """Send the documents that wait; each replaces the one with its id."""
        if self._pending:
            rows, self._pending, self._size = self._pending, [], 0
            self._request(_UPDATE, b"[" + b",".join(rows) + b"]")

    def _is_empty(self) -> bool:
        response = self._request("select?q=*:*&defType=lucene&rows=0&wt=json").get("response")
        number = response.get("numFound") if isinstance(response, dict) else None
        if not isinstance(number, int):
            raise self._failure("its answer has no number of documents")
        return number == 0

    def _command(self, command: dict[str, Any]) -> None:
        self._request(_UPDATE, json.dumps(command).encode())

    def _request(self, target: str, body: bytes | None = None) -> dict[str, Any]:
        """What Solr answers.

        Raises:
            StorageError: It refuses, or is not reached.
        """
        place = self._place
        try:
            return retry_request(lambda: _answer(place, target, body), place.retries, _is_busy)
        except (OSError, HTTPException, ValueError, _RefusedError) as error:
            raise self._failure(str(error) or type(error).__name__) from error

    def _failure(self, problem: str) -> StorageError:
        return StorageError(
            f"the writer `{self.name}`: Solr at {self._place.url}: "
            f"{' '.join(problem.split())[:500]}; "
            "look whether it runs, whether `url` ends with the name of a core or collection, and "
            "whether its schema has the fields"
        )


def _is_busy(error: Exception) -> bool:
    return isinstance(error, _RefusedError) and error.status in _BUSY


def _answer(place: SolrPlace, target: str, body: bytes | None) -> dict[str, Any]:
    """Return the answer to one request.

    Args:
        place: The server.
        target: Target of the request, below the URL of the core.
        body: JSON to be posted; None for a request without any.

    Raises:
        _RefusedError: Its status is no success.
        HTTPException: It is no HTTP, or no object of JSON.
        OSError: The server is not reached.
        ValueError: It is no JSON.
    """
    parts = urlsplit(place.url)
    fields = {"User-Agent": f"Nacre/{__version__}", "Connection": "close"}
    if body is not None:
        fields["Content-Type"] = "application/json"
    if place.login:
        fields["Authorization"] = f"Basic {b64encode(':'.join(place.login).encode()).decode()}"
    connection = _connection(place)
    try:
        method = "GET" if body is None else "POST"
        connection.request(method, f"{parts.path.rstrip('/')}/{target}", body, fields)
        answer = connection.getresponse()
        data = answer.read(_LONGEST_ANSWER)
    finally:
        connection.close()
    if answer.status != 200:
        raise _RefusedError(answer.status, _reason(data) or answer.reason)
    reply = json.loads(data)
    if not isinstance(reply, dict):
        raise HTTPException("its answer is no object of JSON")
    return reply


def _connection(place: SolrPlace) -> HTTPConnection:
    parts = urlsplit(place.url)
    host = parts.hostname or ""
    if parts.scheme == "http":
        return HTTPConnection(host, parts.port, timeout=place.timeout)
    context = ssl.create_default_context(cafile=place.ca or None)
    return HTTPSConnection(host, parts.port, timeout=place.timeout, context=context)


def _reason(data: bytes) -> str:
    """Solr's own word for a failure; "" if the answer has none, as a page of HTML has not."""
    try:
        return str(json.loads(data)["error"]["msg"])
    except (ValueError, LookupError, TypeError):
        return ""
