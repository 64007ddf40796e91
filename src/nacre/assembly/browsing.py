"""Builds the part of a run that opens pages in a browser, and answers their requests."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple
from uuid import UUID

from nacre.assembly.fetching import Fetching, extract_settings
from nacre.assembly.rules import JobRules
from nacre.assembly.scheduling import Scheduling
from nacre.assembly.storing import Storing
from nacre.browser.settings import BrowserSettings
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.rendered import PageRenderer, PageTask, RenderedPage, RequestHandler
from nacre.engine.engine import Engine
from nacre.engine.logs import JobLogs
from nacre.engine.pages.handler import RequestParts
from nacre.engine.pages.prerequisites import InlinePrerequisites
from nacre.engine.steps.quotas import QuotaBook
from nacre.engine.steps.render import RenderStep
from nacre.errors import BrowserError
from nacre.machine.layout import Layout


class _NoBrowser:
    """Opens no page."""

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        raise BrowserError(f"no browser can open {task.url} yet ({type(handler).__name__})")

    async def close(self) -> None:
        """There is nothing to end."""


def open_renderer(_settings: BrowserSettings, _layout: Layout) -> PageRenderer:
    """Return what opens pages; the browser itself starts with the first page."""
    return _NoBrowser()


class CrawlParts(NamedTuple):
    """The parts of a run that answer requests of pages.

    Attributes:
        rules: The settings under each combination of sheets.
        quotas: What may be taken of a host.
        scheduling: Judges requests.
        storing: Gives ids.
        fetching: Opens pages.
        logs: For bugs of processors.
        clock: The time.
    """

    rules: JobRules
    quotas: QuotaBook
    scheduling: Scheduling
    storing: Storing
    fetching: Fetching
    logs: JobLogs
    clock: Clock


def make_render_step(parts: CrawlParts, engine: Callable[[], Engine]) -> RenderStep:
    """Build the step that runs pages.

    Args:
        parts: The parts that are ready.
        engine: Returns the engine, which is made after the chain.
    """
    rules, logs = parts.rules, parts.logs
    overlay_of = rules.sheets.of

    def run_chain(visit: Visit) -> Awaitable[None]:
        return engine().run_chain(visit)

    def end(visit: Visit) -> Awaitable[bool]:
        return engine().end_prerequisite(visit)

    def prerequisite(visit: Visit, url: str) -> CrawlURI:
        return engine().disposition.back.prerequisite(visit, url)

    prerequisites = InlinePrerequisites(
        run_chain,
        end,
        prerequisite,
        release=parts.quotas.release,
        overlay_of=overlay_of,
        clock=parts.clock,
    )
    answering = RequestParts(
        run=prerequisites.run_chain,
        judge=parts.scheduling.candidates.judge_request,
        overlay_of=overlay_of,
        clock=parts.clock,
    )
    return RenderStep(
        rules.effective.then(lambda s: s.browser),
        parts.fetching.renderer,
        answering,
        rules.effective.then(extract_settings),
        logs.alert,
        new_id=lambda: str(UUID(bytes=parts.storing.numbers.record_id(), version=4)),
    )
