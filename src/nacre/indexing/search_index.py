"""`nacre index JOB`: the pages of a continuous crawl, given to an index of words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from nacre.indexing.document_choice import OTHERWISE, DocumentChoice
from nacre.indexing.page_document import PLUMBING, DocumentMaker, PageFacts
from nacre.indexing.page_states import ChangedPage, PageStates
from nacre.inspect.archived_replies import ArchivedReplies
from nacre.inspect.typed_urls import typed_in_store
from nacre.inspect.view import reading
from nacre.search.document import SearchDocument, is_cut
from nacre.search.writers import DocumentWriter
from nacre.settings.settings import JobSettings
from nacre.store.layout import Layout
from nacre.uri.parse import parse

_PORTION = 2_000
_BATCH = 100
_MOST = 64_000_000
"""Bytes of a record; a longer one has no text."""


class IndexedPages(NamedTuple):
    """The outcome of an indexing.

    Attributes:
        writer: Name of the writer.
        added: Documents that it was given for the first time.
        updated: Documents that took the place of others.
        deleted: Documents that were removed, by reason.
        skipped: Pages without a document, by reason.
        cut: Documents whose text, or what a site repeats of it, is cut by `max_content`.
        examples: Of each reason for which pages were skipped the first of them.
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
    """Give a writer the pages of a job that changed, and let it remove those that are gone.

    The job may be running.

    Args:
        layout: The job's directories.
        settings: Its settings.
        writer: The writer; it is opened here.
        when: Condition on documents; see `DocumentChoice`.
        rebuild: Begin with an empty index.
        dry: Only count what there is to do: documents are not made, so nothing is left out.

    Raises:
        JobError: The job never ran.
        UserSqlError: `when` is no condition.
        StorageError: Something cannot be read or written.
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
    """What there is to do, by the indexes of the archive alone."""
    had = [page.had for page in states.wanted(name, anew=anew)]
    deleted = Counter(why for _, why in states.lost(name))
    return IndexedPages(name, len(had) - sum(had), sum(had), dict(deleted), {}, 0, {})


def check_page(
    layout: Layout, settings: JobSettings, text: str
) -> tuple[str, SearchDocument | str]:
    """The URL of a page, and the document that an index would be given, or why it has none.

    Args:
        layout: The job's directories.
        settings: Its settings.
        text: The URL as it is typed; see `uri.typed.typed_url`.

    Raises:
        JobError: The job never ran.
        StorageError: Something cannot be read.
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
            return url, maker.document(archive.read(page.reply, _MOST), _facts(page))


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
        self._deleted.update(why for _, why in lost)
        # The rows are noted while these are read: so all are taken first, which are no texts.
        changed = list(self._states.wanted(name, anew=anew))
        notes: list[tuple[str, str | None, str]] = [(url, None, why) for url, why in lost]
        rest = iter(changed)
        # A rebuilt index takes the place of the old one when it is whole.
        size = len(changed) + 1 if anew else _PORTION
        while True:
            portion = list(islice(rest, size))
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
        """Write the documents of pages; what is to be noted of each."""
        made: list[tuple[ChangedPage, SearchDocument]] = []
        replies = {page.url: page.reply for page in pages}
        documents = self._maker.documents(
            map(_facts, pages), lambda facts: self._archive.read(replies[facts.key], _MOST)
        )
        for page, found in zip(pages, documents, strict=True):
            if isinstance(found, str):
                self._leave_out(page, found)
                yield page.url, page.digest, found
                continue
            made.append((page, found))
            if len(made) >= _BATCH:
                yield from self._pass_on(made)
                made = []
        yield from self._pass_on(made)

    def _pass_on(
        self, made: Sequence[tuple[ChangedPage, SearchDocument]]
    ) -> Iterator[tuple[str, str | None, str]]:
        """Give the writer those documents that it is to have; what is to be noted of each page."""
        wanted, ids = self._choice.parted([document for _, document in made])
        others = frozenset(ids)
        if wanted:
            self._writer.write(wanted)
            self._cut += sum(is_cut(one, self._most) for one in wanted)
        for page, document in made:
            why = OTHERWISE if document.id in others else ""
            if why:
                self._leave_out(page, why)
            else:
                self._updated += page.had
                self._added += not page.had
            yield page.url, page.digest, why

    def _leave_out(self, page: ChangedPage, why: str) -> None:
        if page.had:
            self._writer.delete([page.url])
            self._deleted[why] += 1
        elif why not in {"type", PLUMBING}:  # images and the like
            self._skipped[why] += 1
            self._examples.setdefault(why, page.url)
