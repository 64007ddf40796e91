"""Replies of services that keep crawlers out, in place of the site. Source: Heritrix 3.17."""

from typing import Any, Literal

from nacre.annotations import bot_block
from nacre.config.effective import Effective
from nacre.core.processor import Processor, Result, Visit
from nacre.engine.chain.entry import REPLY, Entry, Kit


class BotBlock(Entry):
    """Annotates replies of services that block crawlers: `botblock:SERVICE` in crawl.log.

    The services are Akamai, Anubis, Cloudflare, DataDome and Incapsula.
    """

    heritrix = "BotBlockDetector"
    behind = "fetch-http"
    needs = frozenset((REPLY,))
    processor: Literal["bot-block"] = "bot-block"

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return BotBlockStep()


class BotBlockStep:
    """The worker of `BotBlock`."""

    def __init__(self) -> None:
        # A reader of a configuration needs no parsers, which are slow to load.
        from nacre.engine.wall_evidence import wall_evidence  # noqa: PLC0415
        from nacre.extract.walls import blocking_service  # noqa: PLC0415

        self._evidence, self._service = wall_evidence, blocking_service

    def accepts(self, visit: Visit) -> bool:
        """Replies of HTTP."""
        return visit.capture is not None and visit.status > 0 and visit.uri.url.startswith("http")

    async def process(self, visit: Visit) -> Result:
        """Annotate it."""
        capture = visit.capture
        service = "" if capture is None else self._service(self._evidence(visit, capture))
        if service:
            visit.annotate(bot_block(service))
        return Result.PROCEED
