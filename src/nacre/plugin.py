"""What a plug-in imports of Nacre, and nothing else. The contract is docs/plugins.md.

`CONTRACT` is its version. What stands here keeps its meaning while that number stays the same.
"""

from nacre.config.component import CONTRACT, Bytes, Seconds, setting
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import (
    Candidate,
    FinalProcessor,
    LinkProcessor,
    Processor,
    Result,
    Visit,
)
from nacre.core.status import FetchStatus
from nacre.job.chain.entry import ChainName, Entry, Kit
from nacre.job.chain.links import add_links
from nacre.job.chain.stock import CHECKS, LINKS, NAMES, ORDERED, REPLY, SCOPED
from nacre.job.extracting.content import document_of
from nacre.scope.decide import Predicated, Rule
from nacre.scope.rule import Decision, Need, Predicate, Subject
from nacre.scope.state import ScopeState

__all__ = [
    "CHECKS",
    "CONTRACT",
    "LINKS",
    "NAMES",
    "ORDERED",
    "REPLY",
    "SCOPED",
    "Bytes",
    "Candidate",
    "Capture",
    "ChainName",
    "CrawlURI",
    "Decision",
    "Effective",
    "Entry",
    "FetchStatus",
    "FinalProcessor",
    "Hop",
    "Kit",
    "LinkProcessor",
    "Need",
    "Outlink",
    "Predicate",
    "Predicated",
    "Processor",
    "Result",
    "Rule",
    "ScopeState",
    "Seconds",
    "Subject",
    "Visit",
    "add_links",
    "document_of",
    "setting",
]
