"""The writer of Apache Solr, by pysolr. Source: Nutch, `indexer-solr` (reference N 1.14)."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nacre.config.extras import MissingExtraError
from nacre.errors import StorageError
from nacre.search.document import SearchDocument
from nacre.search.writers.servers import (
    PendingDocuments,
    RequestRetries,
    UnfinishedMark,
    quiet,
    tried,
)

if TYPE_CHECKING:
    import pysolr

_BUSY = re.compile(r"\(HTTP (?:429|503)\)|Failed to connect|timed out")
_DELETES = 1_000

T = TypeVar("T")


class SolrPlace(NamedTuple):
    """The place of a Solr, and how it is spoken to.

    Attributes:
        url: URL of the core or collection.
        login: User and password; None for none.
        timeout: Limit of a request, in seconds.
        batch: Documents of a request.
        retries: The times at which requests are made again.
    """

    url: str
    login: tuple[str, str] | None
    timeout: float
    batch: int
    retries: RequestRetries


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
        self._client: pysolr.Solr | None = None
        self._pending = PendingDocuments(self._add, place.batch)

    def open(self, *, rebuild: bool = False) -> bool:
        """See `DocumentWriter.open`; a rebuilt one shows nothing new before its first commit."""
        self._client = self._made()
        empty = self._asked(lambda solr: solr.search("*:*", rows=0)).hits == 0
        anew = rebuild or empty or self._mark.is_there
        if anew:
            self._mark.leave()
        if rebuild:
            self._asked(lambda solr: solr.delete(q="*:*", commit=False))
        return anew

    def write(self, batch: Sequence[SearchDocument]) -> None:
        """See `DocumentWriter.write`."""
        self._pending.add([self._fields(one) for one in batch])

    def delete(self, ids: Sequence[str]) -> None:
        """See `DocumentWriter.delete`."""
        self._pending.flush()
        plain = [one.encode("utf-8", "replace").decode() for one in ids if one]
        for at in range(0, len(plain), _DELETES):
            part = plain[at : at + _DELETES]
            self._deleted(part)

    def _deleted(self, ids: Sequence[str]) -> None:
        self._asked(lambda solr: solr.delete(id=list(ids), commit=False))

    def commit(self) -> None:
        """See `DocumentWriter.commit`."""
        self._pending.flush()
        self._asked(lambda solr: solr.commit())
        self._mark.remove()

    def close(self) -> None:
        """See `DocumentWriter.close`."""
        self._pending.forget()
        if self._client is not None:
            self._client.get_session().close()
            self._client = None

    def _add(self, rows: Sequence[dict[str, Any]]) -> None:
        self._asked(lambda solr: solr.add(list(rows), commit=False))

    def _made(self) -> "pysolr.Solr":
        try:
            import pysolr  # noqa: PLC0415 - an extra
        except ImportError:
            raise MissingExtraError(f"the writer `{self.name}` needs", "solr") from None
        quiet("pysolr")
        place = self._place
        return pysolr.Solr(place.url, timeout=place.timeout, auth=place.login)

    def _asked(self, request: "Callable[[pysolr.Solr], T]") -> T:
        """What Solr answers.

        Raises:
            StorageError: It refuses, or is not reached.
        """
        client = self._client
        assert client is not None, "opened first"  # noqa: S101 - an order that callers keep
        try:
            return tried(lambda: request(client), self._place.retries, _is_busy)
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> StorageError:
        said = " ".join(str(error).split())[:500]
        return StorageError(
            f"the writer `{self.name}`: Solr at {self._place.url}: {said}; look whether it runs, "
            "whether `url` ends with the name of a core or collection, and whether its schema has "
            "the fields"
        )


def _is_busy(error: Exception) -> bool:
    return bool(_BUSY.search(str(error)))
