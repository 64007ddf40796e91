"""The names that a plug-in imports from Nacre, and nothing else; see docs/plugins.md.

`CONTRACT` is its version. The names here keep their meaning while that number stays the same.
"""

from nacre.config.component import (
    Bytes,
    FileName,
    ListenAddress,
    NetworkName,
    Seconds,
    ServerAddress,
    setting,
)
from nacre.config.effective import Effective
from nacre.config.registry import CONTRACT
from nacre.core.capture import Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Candidate, FinalProcessor, LinkProcessor, Processor, Result, Visit
from nacre.core.status import FetchStatus
from nacre.crawldb.scoring import LinkShare, PageScore, ScoreChange, Scoring
from nacre.engine.chain.entry import (
    CHECKS,
    LINKS,
    NAMES,
    ORDERED,
    REPLY,
    SCOPED,
    ChainName,
    Entry,
    Kit,
)
from nacre.engine.steps.links import add_links
from nacre.errors import ConfigError, StorageError
from nacre.extract.document import Document, document_of
from nacre.extract.extractors import Extractor
from nacre.extract.links import LinkCollector
from nacre.inspect.reports.base import Audience, Report, ReportRequest, ReportSubject
from nacre.inspect.view import View
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.scope.rules.rule import Predicated, Rule
from nacre.scope.scope import Decision, Predicate
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need, Subject
from nacre.search.document import SearchDocument, plain_document
from nacre.search.filters import DocumentFilter
from nacre.search.writer_kinds import WriterSettings
from nacre.search.writers import DocumentWriter

__all__ = [
    "CHECKS",
    "CONTRACT",
    "LINKS",
    "NAMES",
    "ORDERED",
    "REPLY",
    "SCOPED",
    "Audience",
    "Bytes",
    "Candidate",
    "Capture",
    "ChainName",
    "Column",
    "ConfigError",
    "CrawlURI",
    "DataTable",
    "Decision",
    "Document",
    "DocumentFilter",
    "DocumentWriter",
    "Effective",
    "Entry",
    "Extractor",
    "FetchStatus",
    "FileName",
    "FinalProcessor",
    "Format",
    "Hop",
    "Kit",
    "LinkCollector",
    "LinkProcessor",
    "LinkShare",
    "ListenAddress",
    "Need",
    "NetworkName",
    "Outlink",
    "PageScore",
    "Predicate",
    "Predicated",
    "Processor",
    "Report",
    "ReportDocument",
    "ReportRequest",
    "ReportSubject",
    "Result",
    "Rule",
    "ScopeState",
    "ScoreChange",
    "Scoring",
    "SearchDocument",
    "Seconds",
    "Section",
    "ServerAddress",
    "StorageError",
    "Subject",
    "View",
    "Visit",
    "WriterSettings",
    "add_links",
    "document_of",
    "plain_document",
    "setting",
]
