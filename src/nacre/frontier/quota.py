"""Quotas: how much may be taken of a server, a host, a queue, a domain, a source.

Source: Heritrix's QuotaEnforcer, HostQuotaEnforcer and SourceQuotaEnforcer.
"""

from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

import msgspec
from pydantic import BeforeValidator, Field

from nacre.annotations import quota
from nacre.config.component import Bytes, Component, section, setting


class Level(StrEnum):
    """The level that a quota is counted by."""

    SERVER = "server"
    HOST = "host"
    GROUP = "group"
    DOMAIN = "domain"
    SOURCE = "source"


class Usage(msgspec.Struct, array_like=True, gc=False):
    """The usage so far.

    Attributes:
        successes: Replies that are a success: see `is_success`.
        success_bytes: Their bytes, heads included.
        responses: All replies.
        bytes: Their bytes.
        novel_urls: Replies stored in full.
        novel_bytes: Their bytes.
    """

    successes: int = 0
    success_bytes: int = 0
    responses: int = 0
    bytes: int = 0
    novel_urls: int = 0
    novel_bytes: int = 0

    def add(self, size: int, *, success: bool, novel: bool) -> None:
        """Count one reply of `size` bytes, its head included."""
        self.responses += 1
        self.bytes += size
        if success:
            self.successes += 1
            self.success_bytes += size
        if novel:
            self.novel_urls += 1
            self.novel_bytes += size


def _number(value: object) -> object:
    """-1 is Heritrix's word for no limit."""
    return None if value == -1 else value


Count = Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(_number)]
Size = Annotated[Bytes | None, BeforeValidator(_number)]


class QuotaLimits(Component):
    """Once one of these is reached, nothing more is fetched. None: no limit; 0: nothing at all."""

    successes: Count = setting(None, "Replies that are a success: see `count`.", unit="URIs")
    success_bytes: Size = setting(None, "Bytes of these, heads included.", unit="bytes")
    responses: Count = setting(None, "All replies.", unit="URIs")
    bytes: Size = setting(None, "Bytes of all replies.", unit="bytes")
    novel_urls: Count = setting(None, "Replies that were stored in full.", unit="URIs")
    novel_bytes: Size = setting(None, "Bytes of these.", unit="bytes")


QuotaCount = Literal["default", "heritrix"]
"""The ways to count: see `QuotaSettings.count`."""


def is_success(status: int, count: QuotaCount) -> bool:
    """Return whether a reply counts as a success.

    Heritrix's frontier takes each status above 0 for one (`CrawlURI.isSuccess`, `FetchStats`).

    Args:
        status: The status of the reply, above 0.
        count: The way to count.
    """
    return status < 400 or count == "heritrix"


class QuotaSettings(Component):
    """Quotas. Fetches in process at the same moment can exceed quotas in bytes."""

    count: QuotaCount = setting(
        "default",
        "What counts. `default`: successes are replies with a status below 400; robots.txt and "
        "`dns:` do not count. `heritrix`: each reply is a success, also 404 and 503; robots.txt "
        "and `dns:` count (lookups not by host); a server of `https` is separate from one of "
        "`http`.",
        sheets=False,
    )

    server: QuotaLimits = section(QuotaLimits, "Of one host and port.")
    host: QuotaLimits = section(QuotaLimits, "Of one host.")
    group: QuotaLimits = section(QuotaLimits, "Of one queue.")
    domain: QuotaLimits = section(QuotaLimits, "Of one registered domain.")
    source: QuotaLimits = section(
        QuotaLimits, "Of what descends from one seed; needs `engine.source_tags`."
    )
    force_retire: bool = setting(
        True,
        "URIs over their quota stay in their queue, which is retired until the quota is raised; "
        "false: each URI is blocked permanently (-5003). Source quotas always block.",
    )


_HERITRIX = {
    "successes": "MaxFetchSuccesses",
    "success_bytes": "MaxSuccessKb",
    "responses": "MaxFetchResponses",
    "bytes": "MaxAllKb",
    "novel_urls": "MaxNovelUrls",
    "novel_bytes": "MaxNovelKb",
}


class QuotaCheck(NamedTuple):
    """One limit: its level, its name, and its value."""

    level: Level
    name: str
    limit: int

    @property
    def annotation(self) -> str:
        """For crawl.log, in Heritrix's words: `Q:hostMaxFetchSuccesses`."""
        return quota(f"{self.level}{_HERITRIX[self.name]}")

    def reached(self, usage: Usage, more: int = 0) -> bool:
        """Return whether the limit is reached: nothing more may be fetched.

        Args:
            usage: What was taken so far.
            more: URIs in process that may count as well; of their bytes nothing is known yet.
        """
        used: int = getattr(usage, self.name)
        return used + (0 if self.name.endswith("bytes") else more) >= self.limit


def checks(settings: QuotaSettings) -> tuple[QuotaCheck, ...]:
    """Return the limits that are set, in Heritrix's order; empty when none is."""
    quota_checks = []
    for level in Level:
        limits = getattr(settings, level)
        for name in _HERITRIX:
            limit = getattr(limits, name)
            if limit is not None:
                quota_checks.append(QuotaCheck(level, name, limit))
    return tuple(quota_checks)
