"""The built-in components of a job in the order a URI meets them, with Heritrix's names.

This is the one table of them: `crawl.yaml` has a section for each, the reference is written from
it, and `nacre check --explain FetchHTTP` finds a section by the name that Heritrix gives it. Rules
are components too, with a separate table (`scope.table`); plug-ins add to it (`plugins`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from nacre.config.component import Component
from nacre.settings.settings import JobSettings

HERITRIX: dict[str, tuple[str, ...]] = {
    "uri": ("RulesCanonicalizationPolicy", "BdbUriUniqFilter"),
    "engine": ("CrawlController", "CrawlerLoggerModule"),
    "chains": ("CandidateChain", "FetchChain", "DispositionChain", "Preselector"),
    "action": ("ActionDirectory",),
    "alerts": ("AlertThreadGroup",),
    "checkpoint": ("CheckpointService",),
    "frontier": ("BdbFrontier", "CandidatesProcessor", "FrontierPreparer"),
    "traps": (),
    "politeness": ("DispositionProcessor",),
    "robots": ("PreconditionEnforcer", "RobotsPolicy"),
    "fetch": ("FetchHTTP", "CrawlMetadata", "CredentialStore"),
    "identity": (),
    "network": (),
    "dns": ("FetchDNS",),
    "cookies": ("BdbCookieStore", "SimpleCookieStore"),
    "extract": (
        "ExtractorHTTP",
        "ExtractorHTML",
        "ExtractorCSS",
        "ExtractorJS",
        "ExtractorXML",
        "ExtractorJson",
        "ExtractorRobotsTxt",
        "ExtractorSitemap",
        "ExtractorParameters",
    ),
    "browser": ("BrowserProcessor",),
    "walls": (),
    "rights": (),
    "dedup": ("ContentDigestHistoryLoader", "ContentDigestHistoryStorer", "FetchHistoryProcessor"),
    "recrawl": (),
    "keep": (),
    "change": (),
    "archive": ("WARCWriterChainProcessor", "WARCWriterProcessor"),
    "bandwidth": (),
    "quotas": ("QuotaEnforcer",),
    "limits": ("CrawlLimitEnforcer", "RuntimeLimitEnforcer"),
    "disk": ("DiskSpaceMonitor", "LowDiskPauseProcessor"),
    "store": ("BdbModule",),
    "metrics": (),
    "cycle": (),
}
"""What Heritrix has in place of each section, by its class names."""


class Registered(NamedTuple):
    """One component.

    Attributes:
        name: Its short name: the section of `crawl.yaml`.
        kind: Its settings.
        heritrix: Class names of Heritrix that it replaces.
    """

    name: str
    kind: type[Component]
    heritrix: tuple[str, ...] = ()


def sections() -> Iterator[Registered]:
    """The sections of `crawl.yaml`, in order."""
    for name, info in JobSettings.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, Component):
            yield Registered(name, kind, HERITRIX.get(name, ()))


def section_named(heritrix: str) -> str:
    """The section that replaces a class of Heritrix, with or without its package; "" for none."""
    class_name = heritrix.rpartition(".")[2].lower()
    for section in sections():
        if class_name in (name.lower() for name in section.heritrix):
            return section.name
    return ""
