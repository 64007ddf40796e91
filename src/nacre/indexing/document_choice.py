"""The documents that a writer is given: those for which its condition in SQL is true.

The condition is a user's. It has the fields of one document, and reads nothing else (`user_sql`).
Source: Nutch, `Exchanges` (reference N 1.14).
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from nacre.config.extras import MissingExtraError
from nacre.search.document import FIELDS, SearchDocument

OTHERWISE = "when"
"""The reason why a writer has no document of a page: its condition is not true for it."""

_KINDS = {"site": "varchar[]", "anchor": "varchar[]", "boost": "double"}
_NUMBERS = ("tstamp", "modified", "length", "warc_offset")
_MORE = "more"
_MEMORY = 200 * 10**6


class ChosenDocuments(NamedTuple):
    """Documents, parted.

    Attributes:
        chosen: Documents that the writer receives.
        left_out: Ids of the other documents.
    """

    chosen: list[SearchDocument]
    left_out: list[str]


class DocumentChoice:
    """Parts documents by the condition of a writer.

    Args:
        text: The condition, over the fields of documents, and `more['name']`, a list of texts, for
            others; "" if the writer is given all.
        writer: Name of the writer, for messages.

    Raises:
        UserSqlError: The condition is invalid; the message has the place.
        MissingExtraError: There is a condition, and the extra `cycle` is not installed.
    """

    def __init__(self, text: str, writer: str) -> None:
        self._text = text
        self._kernel: Any = None
        if not text:
            return
        try:
            from nacre.crawldb.kernels import Kernel, UserSqlError  # noqa: PLC0415 - an extra
            from nacre.crawldb.user_sql import check_expression  # noqa: PLC0415 - an extra
        except ImportError:
            feature = f"`when` of the writer `{writer}` needs"
            raise MissingExtraError(feature, "cycle") from None
        self._kernel = Kernel(_MEMORY)
        try:
            check_expression(self._kernel, text, f"({_EMPTY})", (*FIELDS, _MORE))
            self._kernel.bound()
        except UserSqlError as error:
            self.close()
            raise UserSqlError(
                f"cycle.index.writers: `when` of the writer `{writer}`: {error}"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        if self._kernel is not None:
            self._kernel.close()

    def parted(self, documents: Sequence[SearchDocument]) -> ChosenDocuments:
        """Return the documents that the writer receives, in their order, and the ids of the others.

        A condition that is null or fails, as a cast of a text that is no number, is not true.
        """
        if self._kernel is None or not documents:
            return ChosenDocuments(list(documents), [])
        self._kernel.load("documents", _table(documents))
        true = f"coalesce(try(try_cast(({self._text}\n) as boolean)), false)"
        # The condition is checked: it is one expression over the row, and reads nothing.
        rows = self._kernel.rows(f"select _number from documents where {true}")  # noqa: S608
        numbers = {number for (number,) in rows}
        chosen, left_out = [], []
        for number, document in enumerate(documents):
            if number in numbers:
                chosen.append(document)
            else:
                left_out.append(document.id)
        return ChosenDocuments(chosen, left_out)


def _kind(name: str) -> str:
    return _KINDS.get(name, "bigint" if name in _NUMBERS else "varchar")


_EMPTY = (
    "select "
    + ", ".join(f'null::{_kind(name)} as "{name}"' for name in FIELDS)
    + f", null::map(varchar, varchar[]) as {_MORE}"
)


def _table(documents: Sequence[SearchDocument]) -> Any:  # noqa: ANN401 - a table of Arrow
    """Return the documents as a table; empty values are null."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("`when` of a writer needs", "cycle") from None
    types = {
        "varchar": pa.string(), "varchar[]": pa.list_(pa.string()), "double": pa.float64(),
        "bigint": pa.int64(),
    }  # fmt: skip
    columns: dict[str, Any] = {}
    for name in FIELDS:
        values = [_plain(getattr(document, name)) for document in documents]
        columns[name] = pa.array(values, types[_kind(name)])
    more = [
        [(_plain(k) or "", _plain(v)) for k, v in document.more.items()] for document in documents
    ]
    columns[_MORE] = pa.array(more, pa.map_(pa.string(), pa.list_(pa.string())))
    columns["_number"] = pa.array(range(len(documents)), pa.int64())
    return pa.table(columns)


def _plain(value: Any) -> Any:  # noqa: ANN401 - a value of a field
    """Return a value without lone surrogates, which Arrow refuses; None for an empty value."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() or None
    if isinstance(value, list):
        return [_plain(item) for item in value] or None
    return value or None
