"""The page of two captures, and that of the citation of a capture, with their REST paths."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from nacre.catalogue.holdings import open_holding
from nacre.console.answering import reading
from nacre.console.call import Call, PageAnswer
from nacre.console.links import job_path
from nacre.console.parts import ActionParts
from nacre.console.route_row import API, Answer, RouteRow, RouteView
from nacre.console.task_answers import read
from nacre.errors import JobError
from nacre.inspect.analysis.difference import LEFT_OUT, NOISE
from nacre.machine.layout import Layout
from nacre.messages import error_text
from nacre.ops.citation import CitationRequest, cite_capture
from nacre.ops.compare import CompareRequest, CompareSection, compare_captures
from nacre.ops.fields import LineText, ShortText
from nacre.ops.operation import Role
from nacre.replay.citation import CITATION_FORMATS, Citation, format_citation, is_uuid_urn
from nacre.replay.compare import SECTIONS, CompareView
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import PROGRESS, reader_task


class CompareQuery(msgspec.Struct, frozen=True):
    """Two captures.

    Attributes:
        u: The URL.
        to: Another URL, for the newer capture; "" for the same.
        a: The older capture: a time, its beginning, or `WARC:OFFSET`; "" for the last one before
            the newer that differs from it.
        b: The newer capture; "" for the last.
        section: The only section to make; "" for all.
    """

    u: LineText = ""
    to: LineText = ""
    a: ShortText = ""
    b: ShortText = ""
    section: CompareSection = ""


class CitationQuery(msgspec.Struct, frozen=True):
    """A capture.

    Attributes:
        u: Its URL; "" if the URN has it.
        at: A time, its beginning, or `WARC:OFFSET`; "" for the last capture.
        urn: Its `urn:uuid:…` or `urn:pwid:…`; "" for that of the URL.
    """

    u: LineText = ""
    at: ShortText = ""
    urn: LineText = ""


class CitationTexts(msgspec.Struct, frozen=True):
    """A citation, and its text in each format.

    Attributes:
        citation: The citation.
        texts: By name of the format: `text`, `bibtex`, `ris`, `csl`.
    """

    citation: Citation
    texts: dict[str, str]


@reader_task("compare-captures")
def compare_job_captures(layout: Layout, query: CompareQuery) -> CompareView:
    """Compare two captures of a job."""
    request = CompareRequest(query.u, query.to, query.a, query.b, query.section)
    return compare_captures(open_holding([layout.root]), request)


@reader_task("cite-capture")
def cite_job_capture(layout: Layout, query: CitationQuery) -> CitationTexts:
    """Cite a capture of a job by its URL or its PWID, which the index answers."""
    return _cited(layout, query)


@reader_task("cite-record")
def cite_job_record(layout: Layout, query: CitationQuery) -> CitationTexts:
    """Cite a capture of a job by the id of a record, for which the WARCs are read: a long task."""
    return _cited(layout, query)


def _cited(layout: Layout, query: CitationQuery) -> CitationTexts:
    request = CitationRequest(query.u, query.at, query.urn)
    citation = cite_capture(open_holding([layout.root]), request, tell=PROGRESS.tell)
    texts = {form: format_citation(citation, form) for form in CITATION_FORMATS}
    return CitationTexts(citation, texts)


_compare = reading(compare_job_captures)


async def _cite(call: Call) -> CitationTexts | HeldTask:
    """The citation of a capture, or the task that looks for it in the WARCs."""
    query: CitationQuery = call.query
    task = cite_job_record if is_uuid_urn(query.urn or query.u) else cite_job_capture
    return await read(call, task, query)


async def compare_page(call: Call) -> Answer | None:
    """The page of two captures; without a URL, the form that asks for it."""
    if not call.query.u.strip():
        return _form("compare.html", call)
    try:
        return await _compare(call)
    except JobError as error:
        return _form("compare.html", call, error_text(error))


def _form(template: str, call: Call, refusal: str = "") -> PageAnswer:
    """The form of a page without a result; `refusal` says why there is none."""
    return PageAnswer(template, {"found": None, "base": _base(call), "refusal": refusal})


async def compare_facts(call: Call, view: CompareView) -> Mapping[str, Any]:
    """The facts of the page of two captures."""
    query: CompareQuery = call.query
    chosen = {"u": query.u, "to": query.to, "a": query.a, "b": query.b}
    return {
        "base": _base(call),
        "views": [
            (section, "?" + urlencode({**chosen, "section": section}), section == query.section)
            for section in ("", *SECTIONS)
        ],
        "noise": NOISE,
        "left_out": LEFT_OUT,
    }


async def citation_page(call: Call) -> Answer | None:
    """The page of a citation; without a URL or a URN, the form that asks for it."""
    if not (call.query.u.strip() or call.query.urn.strip()):
        return _form("citation.html", call)
    try:
        return await _cite(call)
    except JobError as error:
        return _form("citation.html", call, error_text(error))


async def citation_facts(call: Call, texts: CitationTexts) -> Mapping[str, Any]:
    """The facts of the page of a citation."""
    return {"base": _base(call), "url": texts.citation.url}


def _base(call: Call) -> str:
    return job_path(call.job().id)


_JOB = f"{API}/jobs/{{job}}"
COMPARE_ROUTES: tuple[RouteRow[ActionParts], ...] = (
    RouteRow("GET", "/j/{job}/compare", Role.VIEWER, compare_page, "Two captures of a URL.",
             query=CompareQuery,
             view=RouteView("compare.html", compare_facts)),
    RouteRow("GET", f"{_JOB}/compare", Role.VIEWER, _compare, "Two captures of a URL compared.",
             query=CompareQuery, answer=CompareView),
    RouteRow("GET", "/j/{job}/cite", Role.VIEWER, citation_page, "The citation of a capture.",
             query=CitationQuery,
             view=RouteView("citation.html", citation_facts)),
    RouteRow("GET", f"{_JOB}/citation", Role.VIEWER, _cite, "The citation of a capture.",
             query=CitationQuery, answer=CitationTexts),
)  # fmt: skip
"""The routes of comparison and citation."""
