"""The viewer: the toolbar around an archived page, the list of its captures, the start page."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from nacre.config.seed_file import seed_lines
from nacre.errors import ConfigError
from nacre.machine.layout import SEEDS
from nacre.replay.memento import (
    ReplayPath,
    original_url,
    seconds_timestamp,
    timestamp_seconds,
)
from nacre.replay.page_urls import PageAddress
from nacre.replay_server.captures import answer_place
from nacre.replay_server.pages import language_of, page
from nacre.replay_server.parts import ReplayCall, text_answer
from nacre.replay_server.shelf import OpenedHolding, ShelfItem
from nacre.replay_server.sites import SINGLE, content_path, viewer_path
from nacre.replay_server.timeline import MOST, CaptureRow, Timeline, row_of, timeline_of
from nacre.uri.surt import index_key

SANDBOX: Final = "allow-scripts allow-same-origin allow-forms"
"""What an archived page may do: no navigation of the viewer, no windows, downloads or dialogs."""
_WRONG_TIME: Final = "a time has up to 14 digits, as 20261129185000"
_FIRST_PAGES: Final = 100
_SCANNED: Final = 2000
"""Lines of an index that the start page looks at for one host or beginning."""


def _(text: str) -> str:
    """Mark a text for the catalogues."""
    return text


async def answer_view(call: ReplayCall, item: ShelfItem, target: str) -> Response:
    """Answer a request below `/view/LABEL/`.

    Args:
        call: The request.
        item: The job or collection.
        target: What follows, `TIMESTAMP/URL`, with its query; "" for the start page.
    """
    opened = await run_in_threadpool(call.parts.shelf.open, item)
    query = call.request.query_params
    name, _slash, url = target.partition("/")
    action = name.partition("?")[0]
    if action == "go":
        return _go(item, query.get("url", ""), query.get("t", ""))
    if action in _ABOUT:
        return await _ABOUT[action](call, opened)
    if not url:
        return await _start(call, opened, "")
    if is_time(name):
        return await _view(call, opened, name, original_url(url))
    pages = {"prefix": _start, "*": _list}
    if name in pages:
        return await pages[name](call, opened, original_url(url))
    return text_answer(_WRONG_TIME, 400)


async def _download(call: ReplayCall, opened: OpenedHolding) -> Response:
    """Answer with the bytes of a capture: `raw?u=&t=`."""
    query = call.request.query_params
    time = query.get("t", "")
    if time and not is_time(time):
        return text_answer(_WRONG_TIME, 400)
    address = PageAddress("", time, original_url(query.get("u", "")))
    place = ReplayPath(address.timestamp, "id_", address.url)
    return await answer_place(call, opened.item, place, address)


async def _compare(call: ReplayCall, opened: OpenedHolding) -> Response:
    """See `comparison.answer_compare`, which takes long to load, while a first page waits."""
    from nacre.replay_server.comparison import answer_compare  # noqa: PLC0415

    return await answer_compare(call, opened)


async def _cite(call: ReplayCall, opened: OpenedHolding) -> Response:
    """See `comparison.answer_citation`, likewise."""
    from nacre.replay_server.comparison import answer_citation  # noqa: PLC0415

    return await answer_citation(call, opened)


_ABOUT: Final = {"compare": _compare, "cite": _cite, "raw": _download}
"""Answers about captures, by the last part of their path."""


def is_time(text: str) -> bool:
    """Whether a text is a time, 1 to 14 digits."""
    return text.isascii() and text.isdigit() and len(text) <= 14


def _go(item: ShelfItem, text: str, timestamp: str) -> Response:
    """Lead from the box for a URL to its page; a `*` at the end lists what begins so."""
    text = text.strip()
    if not text:
        return RedirectResponse(f"/view/{item.label}/", 303)
    url = original_url(text)
    if url.endswith("*"):
        path = viewer_path(item.label, "prefix", url[:-1])
    else:
        is_kept = timestamp == "*" or is_time(timestamp)
        path = viewer_path(item.label, timestamp if is_kept else "9", url)
    return RedirectResponse(path, 303)


def _jobs(opened: OpenedHolding) -> list[str]:
    return [member.name for member in opened.holding.members]


def find_timeline(opened: OpenedHolding, url: str, timestamp: str) -> Timeline:
    """Return the captures of a URL, at most `MOST`, those nearest to a time.

    Args:
        opened: The holding.
        url: The URL.
        timestamp: Up to 14 digits; "" for the newest.
    """
    time = seconds_timestamp(timestamp_seconds(timestamp)) if timestamp else ""
    captures = opened.lookup.closest(index_key(url), time, MOST + 1)
    return timeline_of(captures, _jobs(opened), timestamp)


def _facts(call: ReplayCall, opened: OpenedHolding) -> dict[str, Any]:
    """Return the facts of every page of a holding."""
    item, holding = opened.item, opened.holding
    console = call.parts.console
    return {
        "label": item.label,
        "title": item.title,
        "console": f"{console}/j/{quote(item.name, safe='')}" if console else "",
        "gaps": [member for member in holding.members if member.is_missing],
        "has_jobs": len(holding.members) > 1,
        "is_incomplete": opened.is_incomplete,
        "view_of": lambda row: viewer_path(item.label, row.timestamp, row.url),
    }


async def _view(call: ReplayCall, opened: OpenedHolding, timestamp: str, url: str) -> Response:
    timeline = await run_in_threadpool(find_timeline, opened, url, timestamp)
    chosen = timeline.current
    if chosen is not None and timestamp != chosen.timestamp:
        is_newest = timestamp == "9" or len(timestamp) < 14
        if is_newest:  # so that the address of the page has its time
            return RedirectResponse(viewer_path(opened.item.label, chosen.timestamp, url), 302)
    facts = {
        **_facts(call, opened), "url": url, "timestamp": timestamp, "timeline": timeline,
        "content_origin": call.parts.site.content(opened.item.label), "sandbox": SANDBOX,
        "frame": "",
    }  # fmt: skip
    if call.request.headers.get("x-nacre-part") == "bar":
        return page(call.request, "bar.html", facts)
    facts["frame"] = _frame(call, opened.item, timestamp, url)
    if call.parts.site.is_single:
        facts["sandbox"] = "allow-forms"
    return page(call.request, "view.html", facts)


def _frame(call: ReplayCall, item: ShelfItem, timestamp: str, url: str) -> str:
    """Return the URL of the frame: the page that trades a ticket, and goes on to the capture."""
    parts, subject = call.parts, call.admission.subject
    path = content_path(timestamp, url)
    if parts.site.is_single:
        return f"{SINGLE}{parts.access.path_grant(subject, item.label)}{path}"
    fragment = urlencode({"t": parts.access.ticket(subject, item.label), "to": path})
    return f"{parts.site.content(item.label)}/-/boot#{fragment}"


async def _list(call: ReplayCall, opened: OpenedHolding, url: str) -> Response:
    timeline = await run_in_threadpool(find_timeline, opened, url, "")
    nearest: list[CaptureRow] = []
    if not timeline.rows:
        nearest = await run_in_threadpool(_same_host, opened, url)
    facts = {**_facts(call, opened), "url": url, "timeline": timeline, "nearest": nearest}
    return page(call.request, "captures.html", facts, 200 if timeline.rows else 404)


def _same_host(opened: OpenedHolding, url: str) -> list[CaptureRow]:
    """Return some pages of the host of a URL."""
    host = index_key(url).partition(")")[0]
    return first_rows(opened, f"{host})", 10)


def first_rows(opened: OpenedHolding, prefix: str, most: int) -> list[CaptureRow]:
    """Return the first capture of each URL whose key begins with a text.

    Args:
        opened: The holding.
        prefix: The beginning; "" for all.
        most: Number of rows at most.
    """
    rows: dict[str, CaptureRow] = {}
    for capture in opened.lookup.prefix(prefix, "", _SCANNED):
        if not capture.method and capture.key not in rows and capture.url.startswith("http"):
            rows[capture.key] = row_of(capture)
            if len(rows) >= most:
                break
    return list(rows.values())


def host_rows(opened: OpenedHolding, most: int) -> list[CaptureRow]:
    """Return the first page of each host.

    Args:
        opened: The holding.
        most: Number of rows at most.
    """
    rows: list[CaptureRow] = []
    after = ""
    while len(rows) < most:
        captures = opened.lookup.prefix("", after, 1)
        if not captures:
            break
        host = captures[0].key.partition(")")[0]
        of_host = first_rows(opened, f"{host})", 20)
        pages = [row for row in of_host if row.mime == "text/html" and row.status == 200]
        rows += (pages or of_host)[:1]
        # The end of the host: no key of it follows this one.
        last = captures[0]._replace(key=f"{host})\U0010ffff", timestamp="9" * 14)
        after = last.position
    return rows


def seed_rows(opened: OpenedHolding, most: int) -> list[CaptureRow]:
    """Return the newest capture of each seed of the jobs; seeds without a capture are left out.

    Args:
        opened: The holding.
        most: Number of seeds at most that are looked up.
    """
    rows: list[CaptureRow] = []
    for member in opened.holding.members:
        with suppress(ConfigError):  # a job may have its seeds elsewhere
            for line in islice(seed_lines(SEEDS, member.root), most - len(rows)):
                captures = opened.lookup.closest(index_key(original_url(line.strip())), "", 1)
                rows += map(row_of, captures)
    return list({row.url: row for row in rows}.values())


def start_rows(opened: OpenedHolding, most: int) -> list[CaptureRow]:
    """Return the seeds, and the first page of each host without a seed.

    Args:
        opened: The holding.
        most: Number of rows at most.
    """
    rows = seed_rows(opened, most)
    hosts = {index_key(row.url).partition(")")[0] for row in rows}
    for row in host_rows(opened, most - len(rows)):
        if index_key(row.url).partition(")")[0] not in hosts:
            rows.append(row)
    return rows


async def _start(call: ReplayCall, opened: OpenedHolding, prefix: str) -> Response:
    """Answer with the start page of a holding, or the URLs that begin with a text."""
    if prefix:
        rows = await run_in_threadpool(first_rows, opened, index_key(prefix), _FIRST_PAGES)
        heading = _("URLs that begin so")
    else:
        rows = await run_in_threadpool(start_rows, opened, _FIRST_PAGES)
        heading = _("First pages")
    fields: Mapping[str, str] = {} if prefix else opened.holding.fields
    facts = {
        **_facts(call, opened), "rows": rows, "prefix": prefix, "fields": fields,
        "heading": language_of(call.request).text(heading), "has_more": len(rows) >= _FIRST_PAGES,
    }  # fmt: skip
    return page(call.request, "start.html", facts)
