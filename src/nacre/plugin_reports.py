"""The names that plug-ins import for their reports, beside `nacre.plugin`: docs/plugins.md.

It is a separate module because it loads much that rules and processors do not need.
"""

from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.reports.base import Audience, Report, ReportRequest, ReportSubject
from nacre.inspect.view import View
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section

__all__ = [
    "Analysis",
    "Audience",
    "Column",
    "DataTable",
    "Format",
    "RecrawlData",
    "Report",
    "ReportDocument",
    "ReportRequest",
    "ReportSubject",
    "Section",
    "View",
]
