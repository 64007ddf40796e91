"""Pages of the viewer about captures: two of them compared, and the citation of one."""

from typing import Any, Final, cast

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from nacre.errors import JobError
from nacre.messages import error_text
from nacre.ops.citation import CitationRequest, cite_capture
from nacre.ops.compare import CompareRequest, CompareSection, compare_captures
from nacre.replay.citation import CITATION_FORMATS, format_citation
from nacre.replay.compare import SECTIONS
from nacre.replay.compare_report import compare_document
from nacre.replay.memento import original_url
from nacre.replay.records import ReplayError
from nacre.replay_server.captures import problem_page
from nacre.replay_server.pages import language_of, page
from nacre.replay_server.parts import ReplayCall
from nacre.replay_server.shelf import OpenedHolding
from nacre.replay_server.sites import viewer_path
from nacre.report.formatting import heading, written
from nacre.report.localize import localize

_MOST_ROWS: Final = 1_000
"""Rows of a table, and lines of a comparison, on a page."""
_LONGEST: Final = 8_000
"""Characters of a URL or a time of a request."""
_LOCAL: Final = "localhost"


async def answer_compare(call: ReplayCall, opened: OpenedHolding) -> Response:
    """Answer with the page of two captures: `compare?u=&a=&b=&section=`."""
    query = {name: value[:_LONGEST] for name, value in call.request.query_params.items()}
    url, to = original_url(query.get("u", "")), query.get("to", "")
    section = query.get("section", "")
    request = CompareRequest(
        url,
        original_url(to) if to else "",
        query.get("a", ""),
        query.get("b", ""),
        cast("CompareSection", section if section in SECTIONS else ""),
    )
    try:
        view = await run_in_threadpool(compare_captures, opened.holding, request, opened.lookup)
    except (JobError, ReplayError) as error:
        return problem_page(call, error_text(error), 404, url)
    reader = language_of(call.request)
    facts: dict[str, Any] = {
        "label": opened.item.label,
        "title": opened.item.title,
        "url": url,
        "request": msgspec.structs.asdict(request),
        "sections": SECTIONS,
        "document": localize(compare_document(view), reader.template, reader.tag),
        "dates": view.dates,
        "sides": (view.old, view.new),
        "heading": heading,
        "written": written,
        "most": _MOST_ROWS,
    }
    return page(call.request, "comparison.html", facts)


async def answer_citation(call: ReplayCall, opened: OpenedHolding) -> Response:
    """Answer with the citation of a capture: `cite?u=&t=`.

    It has the address of the viewer only if other machines reach it.
    """
    query = {name: value[:_LONGEST] for name, value in call.request.query_params.items()}
    url, time = original_url(query.get("u", "")), query.get("t", "")
    site = call.parts.site
    address = site.viewer + viewer_path(opened.item.label, time or "9", url)
    request = CitationRequest(url, time, replay="" if _LOCAL in site.name else address)
    try:
        citation = await run_in_threadpool(cite_capture, opened.holding, request, opened.lookup)
    except (JobError, ReplayError) as error:
        return problem_page(call, error_text(error), 404, url)
    facts: dict[str, Any] = {
        "label": opened.item.label,
        "title": opened.item.title,
        "url": url,
        "citation": citation,
        "texts": {form: format_citation(citation, form) for form in CITATION_FORMATS},
    }
    return page(call.request, "citation.html", facts)
