"""Check one page with the settings of a job, and store nothing: its parse, and its document.

Source: Nutch, `ParserChecker` and `IndexingFiltersChecker`. For the parse a temporary directory has
links to the job's settings and to the other files of the job; its only round lists the page, and a
unit fetches it like any other.
"""

import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import bucket_of
from nacre.machine.layout import Layout
from nacre.rounds.fetch_check import fetch_check
from nacre.rounds.segment_commands import visits_of
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.given import GivenOptions, generate_given
from nacre.rounds.steps.index import boost_of, links_to, newest_facts
from nacre.rounds.steps.index_tasks import (
    ChangesSpec,
    DocumentsSpec,
    changes_task,
    documents_task,
    page_of,
)
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.rounds.storage import localize, remove_folder
from nacre.rounds.tables.tables import CRAWLDB, archived_warcs, buckets_of
from nacre.scope.seeds import SeedList
from nacre.search.document import SearchDocument

_LEFT_OUT = frozenset(("action", "archive", "control", "cycle", "index", "latest", "runs", "state"))
SETTINGS = ('cycle.storage=""', "cycle.fetch.follow=none", 'cycle.scratch=""')
"""Settings in which the temporary directory differs from the job."""
_ABOVE = ".above"
"""Name of the folders above the directory, which is short: a path has a greatest length."""

Opened = Callable[[Path], AbstractContextManager[StepContext]]
"""Opens a directory for steps."""


class CheckedPage(NamedTuple):
    """A page that was fetched for a check.

    Attributes:
        url: Its URL.
        visit: The columns of its visit.
        links: Links that the scope accepts: target, hop, context and text of each.
    """

    url: str
    visit: dict[str, Any]
    links: list[dict[str, Any]]


def check_page(layout: Layout, url: str, opened: Opened) -> CheckedPage | None:
    """Fetch and parse a page; None if no unit tried it.

    Args:
        layout: The directory of the job, which stays as it is.
        url: The URL.
        opened: Opens the directory in the temporary folder, with `SETTINGS`.

    Raises:
        ConfigError: A fetch would refuse it, as without a contact.
    """
    with _temporary_job(layout) as directory, opened(directory) as context:
        lists = [SeedList("", (url,))]
        inject(context, lists, InjectOptions(filter=False))
        generated = generate_given(context, lists, GivenOptions(1), fetch_check(context))
        if not generated.segments:
            return None
        fetch(context, generated.segments[0], FetchOptions())
        return _read_page(context, generated.segments[0])


@contextmanager
def _temporary_job(layout: Layout) -> Iterator[Path]:
    """Yield a directory with links to the files of a job except its crawl; removed at the end.

    Nothing is copied, as the job may contain files of any size. The folders above have links to the
    entries above the job, so that `../shared/rules.txt` in a setting means the same file.
    """
    above = layout.root.resolve()
    temporary = Path(tempfile.mkdtemp(prefix="nacre-page-"))
    folders = [above.name, *(_ABOVE for _ in above.parents[1:])][::-1]
    directory = temporary.joinpath(*folders)
    try:
        directory.mkdir(parents=True)
        _link_entries(above, directory, _LEFT_OUT)
        for folder, real in zip(directory.parents, above.parents, strict=False):
            _link_entries(real, folder, ())
        yield directory
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _link_entries(source: Path, folder: Path, left_out: Collection[str]) -> None:
    """Link the entries of a directory in a folder, except entries that the folder has.

    A directory that cannot be listed has no entries.
    """
    with suppress(PermissionError):
        for path in source.iterdir():
            if path.name not in left_out and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)


def _read_page(context: StepContext, segment: str) -> CheckedPage | None:
    version = context.cycle.newest()
    with context.place.open() as work:
        visits = [row for batch in visits_of(work, version, [segment]) for row in batch.to_pylist()]
        if not visits:
            return None
        names = facts_of(segment, version.segments[segment]).files("links")
        source = parquet(local_facts(work.storage, names, work))
        query = f"select dst, hop, context, anchor from {source} order by rank"
        links = work.kernel.arrow(query).to_pylist()
    visit = visits[0]
    return CheckedPage(str(visit["url"] or visit["key"]), visit, links)


def checked_document(context: StepContext, key: str) -> SearchDocument | str:
    """Return the document of a page, or why it has none; nothing is stored.

    Args:
        context: The context of the driver.
        key: Key of the page.

    Returns:
        The document; or a reason: `unknown` if the CrawlDb has no such page that is fetched, in the
        scope and with a text.

    Raises:
        DamageError: A WARC is missing.
    """
    folder = f"exchange/check-{secrets.token_hex(8)}"
    try:
        return _document(context, key, folder)
    finally:
        remove_folder(context.cycle.storage, folder)


def _document(context: StepContext, key: str, folder: str) -> SearchDocument | str:
    cycle = context.cycle
    version = cycle.newest()
    if CRAWLDB not in version.tables:
        return "unknown"
    number = bucket_of(key, version.tables[CRAWLDB].buckets)
    group = tuple(b for b in buckets_of(cycle, version, CRAWLDB) if b.bucket == number)
    facts, links = newest_facts(version), links_to(cycle, version, group)
    changes = f"{folder}/changes.parquet"
    spec = ChangesSpec(
        context.place, group, {}, facts, writer="", anew=True, exchange=changes,
        boost=boost_of(context), links=links, news=facts, key=key,
    )  # fmt: skip
    changes_result = changes_task(spec)
    if not (changes_result.written or changes_result.removed):  # then there is no file
        return "unknown"
    with context.place.open() as work:
        source = parquet([str(localize(work.storage, changes, work.scratch))])
        rows = work.kernel.arrow(f"select * from {source} where key = ?", [key]).to_pylist()
        if not rows or rows[0]["reason"]:
            return rows[0]["reason"] if rows else "unknown"
        settings = context.settings
        agent = settings.extract.robots_agent or settings.robots.agent
        archive = archived_warcs(cycle, version)
        documents = documents_task(
            DocumentsSpec(
                context.place, (page_of(rows[0]),), archive, settings.cycle.index, agent,
                f"{folder}/document.msgpack",
            )
        )  # fmt: skip
        if documents.skipped:
            return documents.skipped[0][1]
        data = work.storage.read(documents.exchange)
        return msgspec.msgpack.decode(data, type=list[SearchDocument])[0]
