"""Builds the part of a run that opens pages in a browser, and answers their requests."""

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractContextManager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from uuid import UUID

from nacre.assembly.fetching import extract_settings
from nacre.assembly.records import RunRecords
from nacre.assembly.rules import JobRules
from nacre.assembly.scheduling import Queues
from nacre.browser.settings import BrowserSettings
from nacre.browser.site_scripts import load_site_scripts
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import PageRenderer, PageTask, RenderedPage, RequestHandler
from nacre.engine.engine import Engine
from nacre.engine.keeping import Bases
from nacre.engine.pages.blocking import block_list
from nacre.engine.pages.cookies import PageCookies
from nacre.engine.pages.handler import RequestParts
from nacre.engine.pages.learned_signs import NewLinks, PageChoice
from nacre.engine.pages.prerequisites import InlinePrerequisites
from nacre.engine.pages.repetition import PageRepetition
from nacre.engine.pages.repetition_rows import RepetitionRows
from nacre.engine.pages.room import PageRoom
from nacre.engine.pages.stored_replies import StoredReplies
from nacre.engine.steps.extract import DocumentExtractor
from nacre.engine.steps.render import RenderParts, RenderStep
from nacre.fetch.settings import FetchSettings, fill_user_agent
from nacre.frontier.slot_owners import slots_directory
from nacre.history.dedup import Digests
from nacre.machine.layout import Layout

_PRODUCT = "nacre/{version} +{contact}"
"""The crawler in user agents of pages, behind the browser's own."""


class LazyRenderer:
    """Opens pages in a pool of browsers that it makes for the first page.

    A crawl without pages in a browser loads none of its modules.

    Args:
        make: Makes the pool.
    """

    def __init__(self, make: Callable[[], PageRenderer]) -> None:
        self._make = make
        self._pool: PageRenderer | None = None

    @property
    def slots(self) -> int:
        """See `PageRenderer`."""
        return self._open().slots

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        """See `PageRenderer`."""
        return await self._open().render(task, handler)

    async def close(self) -> None:
        """See `PageRenderer`."""
        if self._pool is not None:
            await self._pool.close()

    def _open(self) -> PageRenderer:
        if self._pool is None:
            self._pool = self._make()
        return self._pool


def open_renderer(settings: BrowserSettings, layout: Layout) -> PageRenderer:
    """Return what opens pages; the browser itself starts with the first page."""

    def make() -> PageRenderer:
        # The browser's modules are slow to load, and most crawls open no page.
        from nacre.browser.authority import CertificateAuthority  # noqa: PLC0415
        from nacre.browser.driver import open_page  # noqa: PLC0415
        from nacre.browser.pool import BrowserPool  # noqa: PLC0415
        from nacre.browser.proxy import RecordingProxy  # noqa: PLC0415
        from nacre.browser.running import PageParts  # noqa: PLC0415

        authority = CertificateAuthority(scratch=layout.scratch)
        parts = PageParts(RecordingProxy(authority), open_page, authority.spki_hash)
        slots = slots_directory().with_name("pages")
        return BrowserPool(settings, layout.scratch, slots, parts)

    return LazyRenderer(make)


def make_render_step(records: RunRecords, engine: Callable[[], Engine]) -> RenderStep:
    """Build the step that runs pages.

    Args:
        records: The parts that are ready.
        engine: Returns the engine, which is made after the chain.

    Raises:
        ConfigError: A list of blocked requests, or a site script, cannot be read.
    """
    effective, context = records.rules.effective, records.context
    fetching, storing, queues = records.fetching, records.storing, records.queues

    def lend() -> AbstractContextManager[None]:
        return engine().lend_toe()

    browser, extract = effective.then(lambda s: s.browser), effective.then(extract_settings)
    choice = PageChoice(storing.store, browser, context.clock, _new_links(queues))
    requests = _request_parts(records, engine)

    def new_id() -> str:
        return str(UUID(bytes=storing.numbers.record_id(), version=4))

    rows, draw = RepetitionRows(storing.store, context.clock), partial(_draw, context.run.started)
    repetition = PageRepetition(browser, requests, new_id, storing.pages.close, draw, rows)
    for seal in (choice.seal, rows.seal):
        storing.commit.on_seal(seal)

    def drop(page: PageUnit) -> None:
        for request in page.visits:
            queues.quotas.release(request)
        storing.pages.close(page)

    page_parts = RenderParts(
        renderer=fetching.renderer,
        choice=choice,
        extractor=DocumentExtractor(fetching.parser),
        requests=requests,
        repetition=repetition,
        cookies=PageCookies(
            fetching.jar,
            fetching.cookie_rows.keep,
            effective.then(lambda s: s.cookies.enabled),
            context.clock,
        ),
        room=PageRoom(lambda: fetching.renderer.slots, lend, lambda: engine().is_halting),
        stopped=lambda: engine().stopped,
        new_id=new_id,
        alert=records.reporting.logs.alert,
        scripts=effective.then(lambda s: _scripts(s.browser, context.layout.root)),
        languages=effective.then(lambda s: _language(s.fetch)),
        drop=drop,
        operator=fill_user_agent(_PRODUCT, records.rules.settings.fetch.contact),
    )
    return RenderStep(browser, extract, page_parts)


def _new_links(queues: Queues) -> NewLinks:
    """Return what knows which URLs were never seen."""

    def new_links(urls: Collection[str]) -> frozenset[str]:
        known_urls = queues.frontier.seen.contains([queues.identity.key(url) for url in urls])
        return frozenset(url for url, is_seen in zip(urls, known_urls, strict=True) if not is_seen)

    return new_links


def _language(settings: FetchSettings) -> str:
    """Return the Accept-Language that all requests carry; "" for none."""
    return next((text for name, text in settings.fields if name.lower() == "accept-language"), "")


def _draw(began: float, url: str) -> float:
    """Return a number from 0 to 1, of a URL in a run: another one in each run."""
    key = f"{began} {url}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=6).digest(), "big") / (1 << 48)


def _scripts(settings: BrowserSettings, root: Path) -> tuple[tuple[str, str], ...]:
    """Return the names and sources of the site scripts.

    Raises:
        ConfigError: A file cannot be read or is no script.
    """
    scripts = load_site_scripts(settings.scripts, root) if settings.scripts else ()
    return tuple((script.name, script.source) for script in scripts)


def _request_parts(records: RunRecords, engine: Callable[[], Engine]) -> RequestParts:
    rules, storing, context = records.rules, records.storing, records.context
    queues, read_lines = records.queues, rules.rule_files.read_lines
    prerequisites = inline_prerequisites(rules, queues, context.clock, engine)

    def guard(url: str) -> str:
        address = queues.hosts.address(url)
        return records.fetching.guard.refusal(address) if address else ""

    bases = Bases(context.layout.root, storing.store, Digests(storing.store))
    return RequestParts(
        run=prerequisites.run_chain,
        release=queues.quotas.release,
        close=prerequisites.close,
        judge=records.scheduling.candidates.judge_request,
        overlay_of=rules.sheets.of,
        blocks=rules.effective.then(lambda s: block_list(s.browser.block, read_lines)),
        stored=StoredReplies(
            storing.archive.history,
            bases,
            int(context.run.started * 1e6),
            conditional=records.is_conditional,
        ),
        guard=guard,
        pack=storing.pages.pack,
        clock=context.clock,
    )


def inline_prerequisites(
    rules: JobRules, queues: Queues, clock: Clock, engine: Callable[[], Engine]
) -> InlinePrerequisites:
    """Build what passes requests of browsers along the chain, their prerequisites first.

    Args:
        rules: The settings under each combination of sheets.
        queues: The quotas.
        clock: The time.
        engine: Returns the engine, which is made after the chain.
    """

    def run_chain(visit: Visit) -> Awaitable[None]:
        return engine().visits.run_chain(visit)

    def end(visit: Visit) -> Awaitable[bool]:
        return engine().visits.end_prerequisite(visit)

    def prerequisite(visit: Visit, url: str) -> CrawlURI:
        return engine().visits.disposition.back.prerequisite(visit, url)

    return InlinePrerequisites(
        run_chain,
        end,
        prerequisite,
        release=queues.quotas.release,
        overlay_of=rules.sheets.of,
        clock=clock,
    )
