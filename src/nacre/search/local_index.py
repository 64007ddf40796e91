"""The embedded index (tantivy): its fields, its writer, and its search.

What words are is decided by `analysis`, so that the index is given terms between blanks. A document
is kept whole beside them, for snippets. Places and ranks: BM25 in each field of text; title and
texts of links count more than content, and repeated parts of a site less.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from nacre.config.extras import MissingExtraError
from nacre.errors import DamageError, JobError, StorageError
from nacre.search.analysis import VERSION, QueryPhrase, index_terms
from nacre.search.document import SearchDocument, kind_of
from nacre.search.query import ParsedQuery, QueryClause
from nacre.search.snippets import Snippet, snippet_of
from nacre.search.writers import LOCAL

if TYPE_CHECKING:
    import tantivy

_WEIGHTS = {"title": 3.0, "anchor": 2.0, "content": 1.0, "rest": 0.3}
"""Text fields that are searched for a word without a field, and their weights. A guess: to halve or
double them changes only the order of results."""
_TIE = 0.2
_HEAP = 64_000_000
_NEW = ".new"
_BUSY = "{}: another command writes this index; wait for its end"
_ANALYSIS = "analysis"
"""The file of an index with the version of the analysis of its texts."""
_FACETS = {"site": "domain", "type": "kind", "lang": "lang", "segment": "segment"}
"""Facets and the fields that they count."""


class SearchOptions(NamedTuple):
    """Options of a search.

    Attributes:
        limit: Hits.
        offset: Hits that are left out before them.
        newest: The newest first, instead of the best; so it is, too, where no words are looked
            for.
        facets: Facets that are counted, of `site`, `type`, `lang`, `segment`.
        width: Characters of a snippet.
        explain: Return the parts of the score of each hit.
    """

    limit: int = 10
    offset: int = 0
    newest: bool = False
    facets: tuple[str, ...] = ()
    width: int = 220
    explain: bool = False


_USUAL = SearchOptions()


class ScorePart(NamedTuple):
    """A part of the score of a document: that of one word or phrase in one field.

    Attributes:
        words: The word or phrase, as it was typed.
        field: The field.
        value: BM25 there, times the weight of the field.
    """

    words: str
    field: str
    value: float


class SearchHit(NamedTuple):
    """A document that was found.

    Attributes:
        score: Its score; the time of its fetch in ms where the answer is `by_time`.
        document: The document.
        snippet: The part of it with the matches.
        parts: Parts of its score, if requested: of each word the best field counts wholly and the
            others by a fifth.
        factor: What the sum of them was multiplied by, for the importance of the page.
    """

    score: float
    document: SearchDocument
    snippet: Snippet
    parts: tuple[ScorePart, ...] = ()
    factor: float = 1.0


class SearchAnswer(NamedTuple):
    """The answer to a query.

    Attributes:
        total: Documents that were found.
        hits: The requested hits.
        facets: By facet the counts of its values, the greatest first.
        by_time: The newest come first.
    """

    total: int
    hits: tuple[SearchHit, ...]
    facets: Mapping[str, tuple[tuple[str, int], ...]]
    by_time: bool = False


def _library() -> Any:  # noqa: ANN401 - a module
    try:
        import tantivy  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("the embedded index needs", "search") from None
    return tantivy


def _schema() -> "tantivy.Schema":
    builder = _library().SchemaBuilder()
    builder.add_text_field("id", tokenizer_name="raw", index_option="basic")
    for name in (*_WEIGHTS, "url"):
        builder.add_text_field(name, tokenizer_name="whitespace")
    for name in ("site", "host", "type", "digest"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("domain", "kind", "lang", "segment"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_integer_field("tstamp", indexed=True, fast=True)
    builder.add_float_field("boost", fast=True)
    builder.add_bytes_field("document", stored=True)
    schema: tantivy.Schema = builder.build()
    return schema


def rebuild_reason(folder: Path) -> str:
    """Return the reason why an index is to be built again; "" if it need not be, or there is none.

    Args:
        folder: The folder of the index.
    """
    if not (folder / "meta.json").is_file():
        return ""
    try:
        version = int((folder / _ANALYSIS).read_text())
    except (OSError, ValueError):
        version = 1
    if version == VERSION:
        return ""
    return (
        f"{folder} was made with another analysis of words (version {version}, now {VERSION}): "
        "pages in it may not be found, until `index --rebuild` makes it again"
    )


# ---- writing


class LocalWriter:
    """The writer of the embedded index. A second writer at a time is refused.

    Args:
        folder: Folder of the index; created if missing.
        name: See `DocumentWriter`.
        threads: Threads that build it.
    """

    def __init__(self, folder: Path, name: str = LOCAL, threads: int = 1) -> None:
        self.name = name
        self._folder = folder
        self._threads = threads
        self._target = folder
        self._writer: tantivy.IndexWriter | None = None
        self._lock: int | None = None
        self._encoder = msgspec.msgpack.Encoder()

    def open(self, *, rebuild: bool = False) -> bool:
        """See `DocumentWriter.open`. A rebuilt index takes the place of the old one at a commit."""
        library = _library()
        self._hold()
        self._target = self._folder.with_name(self._folder.name + _NEW) if rebuild else self._folder
        if rebuild:
            shutil.rmtree(self._target, ignore_errors=True)
        try:
            self._target.mkdir(parents=True, exist_ok=True)
            is_new = not library.Index.exists(str(self._target))
            index = library.Index(_schema(), path=str(self._target))
            self._writer = index.writer(_HEAP * self._threads, self._threads)
            index.reload()
            is_empty = is_new or index.searcher().num_docs == 0
            if is_empty:
                (self._target / _ANALYSIS).write_text(f"{VERSION}\n")
        except (ValueError, OSError) as error:
            raise _failure(self._target, error) from error
        return is_empty

    def write(self, batch: Sequence[SearchDocument]) -> None:
        """See `DocumentWriter.write`."""
        writer, library = self._open(), _library()
        try:
            for document in batch:
                writer.delete_documents_by_term("id", document.id)
                entry = library.Document.from_dict(self._fields(document))
                entry.add_bytes("document", self._encoder.encode(document))
                writer.add_document(entry)
        except (ValueError, OSError) as error:
            raise _failure(self._target, error) from error

    def delete(self, ids: Sequence[str]) -> None:
        """See `DocumentWriter.delete`."""
        writer = self._open()
        try:
            for key in ids:
                writer.delete_documents_by_term("id", key)
        except (ValueError, OSError) as error:
            raise _failure(self._target, error) from error

    def commit(self) -> None:
        """See `DocumentWriter.commit`."""
        try:
            self._open().commit()
        except (ValueError, OSError) as error:
            raise _failure(self._target, error) from error
        if self._target != self._folder:
            self._take_place()

    def close(self) -> None:
        """See `DocumentWriter.close`."""
        self._end()
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _end(self) -> None:
        """End the threads that build. Their errors were raised by `write` or `commit`."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(ValueError, OSError):
                writer.wait_merging_threads()

    def _hold(self) -> None:
        """Lock the index against other commands, also while a command rebuilds it."""
        if self._lock is not None:
            return
        path = self._folder.with_name(f"{self._folder.name}.lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise StorageError(_BUSY.format(self._folder)) from None
        except OSError as error:
            self.close()
            raise StorageError(f"{path}: {error}") from error

    def _take_place(self) -> None:
        """Put the rebuilt index where the old one is, and go on there."""
        self._end()
        old = self._folder.with_name(self._folder.name + ".old")
        try:
            shutil.rmtree(old, ignore_errors=True)
            if self._folder.exists():
                self._folder.rename(old)
            self._target.rename(self._folder)
            shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise StorageError(f"{self._folder} cannot be replaced: {error}") from error
        self.open()

    def _open(self) -> "tantivy.IndexWriter":
        if self._writer is None:
            raise StorageError(f"{self._folder}: the index is not open")
        return self._writer

    def _fields(self, document: SearchDocument) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "id": document.id,
            "title": index_terms(document.title),
            "content": index_terms(document.content),
            "rest": index_terms(document.rest),
            "anchor": [index_terms(anchor) for anchor in document.anchor],
            "url": index_terms(document.url),
            "site": document.site,
            "host": document.host,
            "domain": document.domain,
            "type": document.type,
            "kind": kind_of(document.type),
            "digest": document.digest,
            "segment": document.segment,
            "lang": _languages(document.lang),
            "tstamp": document.tstamp,
            "boost": float(document.boost),
        }
        return {name: value for name, value in fields.items() if value not in ("", [])}


def _languages(tag: str) -> list[str]:
    """Return a language and its parent languages: `zh-cn` is `zh`, too."""
    if not tag:
        return []
    main = tag.partition("-")[0]
    return [tag] if main == tag else [tag, main]


def _failure(folder: Path, error: Exception) -> StorageError:
    if "LockBusy" in str(error):
        return StorageError(_BUSY.format(folder))
    if any(phrase in str(error).lower() for phrase in ("corrupt", "deserialize", "no such file")):
        return DamageError(f"{folder} is damaged ({error}): `index --rebuild` makes it again")
    if "thread" in str(error) or isinstance(error, OSError):
        return StorageError(_full(folder, error))
    if "schema" in str(error).lower():
        return StorageError(
            f"{folder}: it was made by another version of Nacre ({error}): `index --rebuild` "
            "makes it again"
        )
    return StorageError(f"{folder}: {error}")


def _full(folder: Path, error: Exception) -> str:
    """Return the error of an index that cannot be written: most often the disk is full."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        free = 0
    return (
        f"{folder} cannot be written, and its disk has {free / 1e6:,.0f} MB free ({error}): make "
        "room, and give the command again; it goes on where it was"
    )


# ---- search


class LocalSearch:
    """Searches the embedded index as it was committed last.

    Args:
        folder: Its folder.

    Raises:
        JobError: There is none.
        DamageError: It cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        library = _library()
        if not folder.is_dir() or not library.Index.exists(str(folder)):
            raise JobError(f"there is no index in {folder}")
        try:
            self._index = library.Index.open(str(folder))
            self._index.reload()
            self._searcher = self._index.searcher()
        except (ValueError, OSError) as error:
            raise DamageError(
                f"{folder} cannot be read ({error}): `index --rebuild` makes it again"
            ) from error
        self._queries = _QueryMaker(library, self._index.schema)
        self._decoder = msgspec.msgpack.Decoder(SearchDocument)

    @property
    def documents(self) -> int:
        """Documents in it."""
        return int(self._searcher.num_docs)

    def search(self, query: ParsedQuery, options: SearchOptions = _USUAL) -> SearchAnswer:
        """Find documents, the best first.

        Args:
            query: The query.
            options: What is wanted.
        """
        compiled = self._queries.query(query)
        newest = options.newest or not query.phrases
        order = {"order_by_field": "tstamp"} if newest else {"weight_by_field": "boost"}
        results = self._searcher.search(
            compiled, max(options.limit, 1), offset=options.offset, **order
        )
        hits = results.hits if options.limit else []
        return SearchAnswer(
            int(results.count),
            tuple(self._hit(score, address, query, options) for score, address in hits),
            {name: self._facet(compiled, name) for name in options.facets},
            newest,
        )

    def document(self, key: str) -> SearchDocument | None:
        """Return the document of a key; None: there is none."""
        results = self._searcher.search(self._queries.exact("id", key), 1)
        return self._document(results.hits[0][1]) if results.hits else None

    def _document(self, address: "tantivy.DocAddress") -> SearchDocument:
        stored = self._searcher.doc(address).get_first("document")
        return self._decoder.decode(bytes(stored or b""))

    def _hit(
        self, score: float, address: "tantivy.DocAddress", query: ParsedQuery, how: SearchOptions
    ) -> SearchHit:
        document = self._document(address)
        snippet = snippet_of(document.content, query.phrases, how.width)
        if not snippet.marks and document.rest:
            alternative = snippet_of(document.rest, query.phrases, how.width)
            snippet = alternative if alternative.marks or not snippet.text else snippet
        if not how.explain or how.newest or not query.phrases:
            return SearchHit(float(score), document, snippet)
        parts, total = self._parts(address, query)
        return SearchHit(float(score), document, snippet, parts, score / total if total else 1.0)

    def _parts(
        self, address: "tantivy.DocAddress", query: ParsedQuery
    ) -> tuple[tuple[ScorePart, ...], float]:
        """Return the parts of the score of a document, and their sum without the importance."""
        parts: list[ScorePart] = []
        total = 0.0
        for clause in (c for group in query.groups for c in group if not c.negative):
            values = []
            for field, field_query in self._queries.scoring(clause):
                value = self._value(field_query, address)
                if value:
                    values.append(value)
                    parts.append(ScorePart(clause.value, field, value))
            if values:
                total += (1 - _TIE) * max(values) + _TIE * sum(values)
        return tuple(parts), total

    def _value(self, query: "tantivy.Query", address: "tantivy.DocAddress") -> float:
        """Return the score of a document by one query; 0 if it does not match."""
        try:
            explanation = json.loads(query.explain(self._searcher, address).to_json())
        except ValueError:
            return 0.0
        return float(explanation["value"])

    def _facet(self, query: "tantivy.Query", name: str) -> tuple[tuple[str, int], ...]:
        request = {name: {"terms": {"field": _FACETS[name], "size": 20}}}
        buckets = self._searcher.aggregate(query, request)
        return tuple((str(b["key"]), int(b["doc_count"])) for b in buckets[name]["buckets"])


class _QueryMaker:
    """Makes queries of the library from parsed queries."""

    def __init__(self, library: Any, schema: "tantivy.Schema") -> None:  # noqa: ANN401 - a module
        self._library = library
        self._query = library.Query
        self._schema = schema

    def query(self, parsed: ParsedQuery) -> "tantivy.Query":
        occur = self._library.Occur
        parts: list[tuple[Any, Any]] = []
        for group in parsed.groups:
            if len(group) == 1:
                clause = group[0]
                parts.append(
                    (occur.MustNot if clause.negative else occur.Must, self._clause(clause))
                )
                continue
            parts.append((occur.Must, self._query.boolean_query(self._either(group))))
        if all(kind is occur.MustNot for kind, _ in parts):
            parts.append((occur.Must, self._query.all_query()))
        whole: tantivy.Query = self._query.boolean_query(parts)
        return whole

    def exact(self, field: str, value: str) -> "tantivy.Query":
        query: tantivy.Query = self._query.term_query(self._schema, field, value, "basic")
        return query

    def _either(self, group: Iterable[QueryClause]) -> list[tuple[Any, Any]]:
        occur = self._library.Occur
        clauses = []
        for clause in group:
            clause_query = self._clause(clause)
            if clause.negative:
                every = (occur.Must, self._query.all_query())
                clause_query = self._query.boolean_query([(occur.MustNot, clause_query), every])
            clauses.append((occur.Should, clause_query))
        return clauses

    def _clause(self, clause: QueryClause) -> "tantivy.Query":
        if clause.kind == "time":
            return self._times(clause)
        if clause.kind == "value":
            # A filter does not contribute to the score of a document.
            return self._silent(self._value(clause.field, clause.value))
        parts = [field_query for _, field_query in self.scoring(clause)]
        if len(parts) == 1:
            return parts[0]
        query: tantivy.Query = self._query.disjunction_max_query(parts, _TIE)
        return query

    def _value(self, field: str, value: str) -> "tantivy.Query":
        if field == "type":
            occur = self._library.Occur.Should
            by_type, by_kind = self.exact("type", value), self.exact("kind", value)
            query: tantivy.Query = self._query.boolean_query([(occur, by_type), (occur, by_kind)])
            return query
        return self.exact(field, value)

    def _silent(self, query: "tantivy.Query") -> "tantivy.Query":
        silent: tantivy.Query = self._query.const_score_query(query, 0.0)
        return silent

    def _times(self, clause: QueryClause) -> "tantivy.Query":
        kind = self._library.FieldType.Integer
        in_range = self._query.range_query(
            self._schema,
            "tstamp",
            kind,
            clause.since,
            clause.until,
            include_upper=clause.until is None,
        )
        return self._silent(in_range)

    def scoring(self, clause: QueryClause) -> list[tuple[str, "tantivy.Query"]]:
        """The fields in which a clause makes a score, each with its query; none for a filter."""
        if clause.kind != "words":
            return []
        if clause.field and clause.field != "content":
            return [(clause.field, self._phrase(clause.field, clause.phrase))]
        fields = ("content", "rest") if clause.field else tuple(_WEIGHTS)
        return [(name, self._weight(name, clause.phrase)) for name in fields]

    def _weight(self, field: str, phrase: QueryPhrase) -> "tantivy.Query":
        query: tantivy.Query = self._query.boost_query(self._phrase(field, phrase), _WEIGHTS[field])
        return query

    def _phrase(self, field: str, phrase: QueryPhrase) -> "tantivy.Query":
        terms = list(phrase.terms)
        if phrase.prefix:
            patterns = [re.escape(term) for term in terms]
            patterns[-1] += ".*"
            if len(terms) == 1:
                query: tantivy.Query = self._query.regex_query(self._schema, field, patterns[0])
            else:
                query = self._query.regex_phrase_query(self._schema, field, patterns)
        elif len(terms) == 1:
            query = self._query.term_query(self._schema, field, terms[0])
        else:
            query = self._query.phrase_query(self._schema, field, terms)
        return query
