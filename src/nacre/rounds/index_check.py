"""Make the document that `index` would write for one page of rounds (`index --check URL`).

Source: Nutch, `IndexingFiltersChecker`.
"""

import secrets

import msgspec

from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import bucket_of
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.index import boost_of, links_to, newest_facts
from nacre.rounds.steps.index_tasks import (
    ChangesSpec,
    DocumentsSpec,
    changes_task,
    documents_task,
    page_of,
)
from nacre.rounds.storage import localize, remove_folder
from nacre.rounds.tables.tables import CRAWLDB, archived_warcs, buckets_of
from nacre.search.document import SearchDocument


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
    if not (changes_result.given or changes_result.removed):  # then there is no file
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
