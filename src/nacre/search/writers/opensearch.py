"""The writer of OpenSearch, by opensearch-py. Source: Nutch, `indexer-opensearch-1x` (N 1.14).

An index that is not there is made, with fields of text that find Chinese as well as English.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nacre.config.extras import MissingExtraError
from nacre.errors import StorageError
from nacre.search.document import FIELDS, SearchDocument
from nacre.search.writers.servers import RequestRetries, UnfinishedMark, quiet, retry_request

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

_LONGEST_ID = 512
"""Bytes of an id; a longer one is taken by its hash."""

_BUSY = (429, 503)
_TEXTS = {"type": "text", "analyzer": "cjk"}
_KINDS: dict[str, dict[str, Any]] = {
    "title": _TEXTS,
    "content": _TEXTS,
    "anchor": _TEXTS,
    "tstamp": {"type": "date"},
    "modified": {"type": "date"},
    "boost": {"type": "float"},
    "length": {"type": "long"},
    "warc_offset": {"type": "long"},
}

T = TypeVar("T")


class OpenSearchPlace(NamedTuple):
    """The place of an OpenSearch, and how it is spoken to.

    Attributes:
        urls: URLs of its nodes.
        index_name: The index.
        login: User and password; None for none.
        ca: File of certificates that its own is checked by; "" for those of the system.
        timeout: Limit of a request, in seconds.
        batch: Documents of a request.
        batch_bytes: Bytes of a request.
        retries: The times at which requests are made again.
    """

    urls: tuple[str, ...]
    index_name: str
    login: tuple[str, str] | None
    ca: str
    timeout: float
    batch: int
    batch_bytes: int
    retries: RequestRetries


class OpenSearchWriter:
    """A writer of an index of OpenSearch.

    Args:
        place: Where it is.
        name: See `DocumentWriter`.
        folder: The folder `index` of the job.
        fields: Makes the fields of a document.
        rename: Fields that get other names.
    """

    def __init__(
        self,
        place: OpenSearchPlace,
        name: str,
        folder: Path,
        fields: Callable[[SearchDocument], dict[str, Any]],
        rename: Mapping[str, str],
    ) -> None:
        self.name = name
        self._place = place
        self._fields = fields
        self._rename = rename
        self._mark = UnfinishedMark(folder, name)
        self._client: OpenSearch | None = None

    def open(self, *, rebuild: bool = False) -> bool:
        """See `DocumentWriter.open`; a rebuild deletes the content of the index at once."""
        self._client = self._make_client()
        index = self._place.index_name
        if not self._request(lambda client: client.indices.exists(index=index)):
            body = index_body(self._rename)
            self._request(lambda client: client.indices.create(index=index, body=body))
        anew = rebuild or self._mark.is_there
        anew = anew or self._request(lambda client: client.count(index=index))["count"] == 0
        if anew:
            self._mark.leave()
        if rebuild:
            self._request(self._empty_index)
        return anew

    def write(self, batch: Sequence[SearchDocument]) -> None:
        """See `DocumentWriter.write`."""
        self._bulk(
            {
                "_index": self._place.index_name,
                "_id": server_id(document.id),
                "_source": self._fields(document),
            }
            for document in batch
        )

    def delete(self, ids: Sequence[str]) -> None:
        """See `DocumentWriter.delete`."""
        self._bulk(
            {"_op_type": "delete", "_index": self._place.index_name, "_id": server_id(key)}
            for key in ids
        )

    def commit(self) -> None:
        """See `DocumentWriter.commit`: accepted documents are durable, and become visible."""
        self._request(lambda client: client.indices.refresh(index=self._place.index_name))
        self._mark.remove()

    def close(self) -> None:
        """See `DocumentWriter.close`; a request is durable when it is answered."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _make_client(self) -> "OpenSearch":
        try:
            from opensearchpy import OpenSearch  # noqa: PLC0415 - an extra
        except ImportError:
            raise MissingExtraError(f"the writer `{self.name}` needs", "opensearch") from None
        quiet("opensearch")
        place = self._place
        return OpenSearch(
            list(place.urls),
            http_auth=place.login,
            ca_certs=place.ca or None,
            timeout=place.timeout,
            max_retries=0,
        )

    def _empty_index(self, client: "OpenSearch") -> None:
        client.delete_by_query(
            index=self._place.index_name,
            body={"query": {"match_all": {}}},
            conflicts="proceed",
            refresh=True,
        )

    def _bulk(self, actions: Iterable[dict[str, Any]]) -> None:
        """Send actions in requests within the limits; repeat actions that a busy server refused.

        Raises:
            StorageError: A document is refused, or the server is not reached.
        """
        from opensearchpy.helpers import streaming_bulk  # noqa: PLC0415 - an extra

        place = self._place
        retries = place.retries
        try:
            for is_done, item in streaming_bulk(
                self._client,
                actions,
                chunk_size=place.batch,
                max_chunk_bytes=place.batch_bytes,
                max_retries=retries.times,
                initial_backoff=retries.backoff,  # type: ignore[arg-type] # a fraction is slept, too
                raise_on_error=False,
            ):
                if not is_done:
                    self._judge(item)
        except StorageError:
            raise
        except Exception as error:
            raise self._failure(error) from error

    def _judge(self, item: Mapping[str, Any]) -> None:
        """Raise StorageError for an action that failed, but not for a deletion of nothing."""
        for action, outcome in item.items():
            if action == "delete" and outcome.get("status") == 404:
                continue
            reason = outcome.get("error")
            if isinstance(reason, Mapping):
                reason = f"{reason.get('type')}: {reason.get('reason')}"
            raise StorageError(
                f"the writer `{self.name}`: OpenSearch refuses {outcome.get('_id')}: {reason}"
            )

    def _request(self, request: "Callable[[OpenSearch], T]") -> T:
        client = self._client
        assert client is not None, "opened first"  # noqa: S101 - an order that callers keep
        try:
            return retry_request(lambda: request(client), self._place.retries, _is_busy)
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> StorageError:
        problem = " ".join(str(error).split())[:500]
        where = f"{', '.join(self._place.urls)}, index {self._place.index_name}"
        return StorageError(
            f"the writer `{self.name}`: OpenSearch at {where}: {problem}; "
            "look whether it runs, and whether `user`, `password` and `ca` are right"
        )


def _is_busy(error: Exception) -> bool:
    return getattr(error, "status_code", None) in _BUSY


def server_id(key: str) -> str:
    """The id of a document in OpenSearch, which has at most 512 bytes: its key, or its hash."""
    data = key.encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest() if len(data) > _LONGEST_ID else data.decode()


def index_body(rename: Mapping[str, str]) -> dict[str, Any]:
    """Return the body that a new index is made with: the kinds of its fields.

    Args:
        rename: Fields that get other names.
    """
    kinds = {
        rename.get(name, name): _KINDS.get(name, {"type": "keyword", "ignore_above": 8000})
        for name in FIELDS
    }
    return {"mappings": {"properties": kinds}}
