"""`nacre index JOB`: writes the pages of a continuous crawl to an index of words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from nacre.indexing.document_choice import OTHERWISE, DocumentChoice
from nacre.indexing.page_document import PLUMBING, DocumentMaker, PageFacts
from nacre.indexing.page_states import ChangedPage, PageStates
from nacre.indexing.shown_text import PART, shown_text
from nacre.inspect.archived_replies import ArchivedReplies
from nacre.inspect.typed_urls import typed_in_store
from nacre.inspect.view import reading
from nacre.machine.layout import Layout
from nacre.search.document import SearchDocument, is_cut
from nacre.search.writers import DocumentWriter
from nacre.settings.settings import JobSettings
from nacre.uri.parse import parse

_PORTION = 2_000
_BATCH = 100
_MOST = 64_000_000
"""Bytes of a record; a longer one has no text."""


class IndexedPages(NamedTuple):
    """The outcome of an indexing.

    Attributes:
        writer: Name of the writer.
        added: Documents written for the first time.
        updated: Documents that replaced others.
        deleted: Documents that were removed, by reason.
        skipped: Pages without a document, by reason.
        cut: Documents whose text, or whose repeated part, is cut by `max_content`.
        examples: The first skipped page of each reason.
    """

    writer: str
    added: int
    updated: int
    deleted: dict[str, int]
    skipped: dict[str, int]
    cut: int
    examples: dict[str, str]


def index_job(
    layout: Layout,
    settings: JobSettings,
    writer: DocumentWriter,
    *,
    when: str = "",
    rebuild: bool = False,
    dry: bool = False,
) -> IndexedPages:
    """Write the changed pages of a job to a writer, and remove pages that are gone.

    The job may be running.

    Args:
        layout: The job's directories.
        settings: Its settings.
        writer: The writer; it is opened here.
        when: Condition on documents; see `DocumentChoice`.
        rebuild: Begin with an empty index.
        dry: Only count the work: documents are not made, so none is left out.

    Raises:
        JobError: The job never ran.
        UserSqlError: `when` is no condition.
        StorageError: A file cannot be read or written.
    """
    with (
        DocumentChoice(when, writer.name) as choice,
        reading(layout, settings) as view,
        PageStates(layout.index / "pages.sqlite") as states,
    ):
        archive = ArchivedReplies(layout.root, view.store)
        states.update(archive)
        if dry:
            return _plan(states, writer.name, anew=rebuild)
        anew = writer.open(rebuild=rebuild)
        agent = settings.extract.robots_agent or settings.robots.agent
        try:
            with DocumentMaker(settings.cycle.index, agent) as maker:
                most = settings.cycle.index.max_content
                return _JobIndexing(archive, states, writer, maker, choice, most).run(anew=anew)
        finally:
            writer.close()


def _plan(states: PageStates, name: str, *, anew: bool) -> IndexedPages:
    """Return the work to do, by the indexes of the archive only."""
    had = [page.had for page in states.pages_to_write(name, anew=anew)]
    deleted = Counter(reason for _, reason in states.lost(name))
    return IndexedPages(name, len(had) - sum(had), sum(had), dict(deleted), {}, 0, {})


def check_page(
    layout: Layout, settings: JobSettings, text: str
) -> tuple[str, SearchDocument | str]:
    """Return the URL of a page, and its document for an index, or why it has none.

    Args:
        layout: The job's directories.
        settings: Its settings.
        text: The URL as it is typed; see `uri.typed.typed_url`.

    Raises:
        JobError: The job never ran.
        StorageError: A file cannot be read.
        URIError: It is no URL, or may be several.
    """
    with (
        reading(layout, settings) as view,
        PageStates(layout.index / "pages.sqlite") as states,
    ):
        archive = ArchivedReplies(layout.root, view.store)
        states.update(archive)
        url = parse(typed_in_store(view.store, text))
        page = states.page(url)
        if isinstance(page, str):
            return url, page
        agent = settings.extract.robots_agent or settings.robots.agent
        with DocumentMaker(settings.cycle.index, agent) as maker:
            shown = shown_text(archive, page)
            return url, maker.document(archive.read(page.reply, _MOST), _facts(page), shown)


def _facts(page: ChangedPage) -> PageFacts:
    reply = page.reply
    return PageFacts(
        key=page.url,
        digest=page.digest,
        mime=reply.mime,
        time=round(datetime.fromisoformat(page.date).timestamp() * 1000),
        segment=reply.file.partition("runs/")[2].partition("/")[0],
        warc_file=reply.file.rpartition("/")[2].removesuffix(".open"),
        warc_offset=reply.offset,
    )


class _JobIndexing:
    def __init__(
        self,
        archive: ArchivedReplies,
        states: PageStates,
        writer: DocumentWriter,
        maker: DocumentMaker,
        choice: DocumentChoice,
        most: int,
    ) -> None:
        self._archive = archive
        self._states = states
        self._writer = writer
        self._maker = maker
        self._choice = choice
        self._added = self._updated = 0
        self._deleted: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._most = most
        self._cut = 0

    def run(self, *, anew: bool) -> IndexedPages:
        name = self._writer.name
        lost = self._states.lost(name)
        self._writer.delete([url for url, _ in lost])
        self._deleted.update(reason for _, reason in lost)
        # Rows are written while these are read, so all are read first; they contain no texts.
        changed = list(self._states.pages_to_write(name, anew=anew))
        notes: list[tuple[str, str | None, str]] = [(url, None, reason) for url, reason in lost]
        remaining = iter(changed)
        # A rebuilt index replaces the old one when it is complete.
        size = len(changed) + 1 if anew else _PORTION
        while True:
            portion = list(islice(remaining, size))
            notes += self._write(portion)
            if notes:
                self._writer.commit()
                self._states.note(name, notes)
            if not portion:
                break
            notes = []
        return IndexedPages(
            name, self._added, self._updated, dict(self._deleted), dict(self._skipped),
            self._cut, self._examples,
        )  # fmt: skip

    def _write(self, pages: Sequence[ChangedPage]) -> Iterator[tuple[str, str | None, str]]:
        """Write the documents of pages; yield the state to record of each page."""
        batch: list[tuple[ChangedPage, SearchDocument]] = []
        archive, changed = self._archive, {page.url: page for page in pages}
        documents = self._maker.documents(
            map(_facts, pages),
            lambda facts: archive.read(changed[facts.key].reply, _MOST),
            lambda facts: shown_text(archive, changed[facts.key]),
        )
        for page, document in zip(pages, documents, strict=True):
            if isinstance(document, str):
                self._leave_out(page, document)
                yield page.url, page.digest, document
                continue
            batch.append((page, document))
            if len(batch) >= _BATCH:
                yield from self._pass_on(batch)
                batch = []
        yield from self._pass_on(batch)

    def _pass_on(
        self, batch: Sequence[tuple[ChangedPage, SearchDocument]]
    ) -> Iterator[tuple[str, str | None, str]]:
        """Write the chosen documents; yield the state to record of each page."""
        chosen, ids = self._choice.parted([document for _, document in batch])
        left_out = frozenset(ids)
        if chosen:
            self._writer.write(chosen)
            self._cut += sum(is_cut(item, self._most) for item in chosen)
        for page, document in batch:
            reason = OTHERWISE if document.id in left_out else ""
            if reason:
                self._leave_out(page, reason)
            else:
                self._updated += page.had
                self._added += not page.had
            yield page.url, page.digest, reason

    def _leave_out(self, page: ChangedPage, reason: str) -> None:
        if page.had:
            self._writer.delete([page.url])
            self._deleted[reason] += 1
        elif reason not in {"type", PLUMBING, PART}:  # images and the like
            self._skipped[reason] += 1
            self._examples.setdefault(reason, page.url)
