"""The paths for programs: Memento (RFC 7089), CDX, bytes as captured. They require a key.

They answer under the names of the loopback, `http://localhost:8411/JOB/…`, with
`Authorization: Bearer KEY`; a browser cannot be led there, because it has no key.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from nacre.errors import URIError
from nacre.replay.cdx_answers import CdxAnswer, answer_cdx, answer_timemap
from nacre.replay.cdx_queries import CdxQueryError
from nacre.replay.memento import (
    MementoPlaces,
    TimeMapPath,
    memento_links,
    read_accept_datetime,
    read_replay_path,
    read_timemap_path,
    seconds_timestamp,
    timestamp_seconds,
)
from nacre.replay.page_urls import PageAddress
from nacre.replay_server.captures import answer_place
from nacre.replay_server.files import CORS, FOLDER, answer_file
from nacre.replay_server.parts import ReplayCall, text_answer
from nacre.replay_server.shelf import OpenedHolding, ShelfItem
from nacre.replay_server.timeline import closest_place
from nacre.uri.surt import index_key

_MOST: Final = 10_000
"""Captures of a URL among which a TimeGate and the links of a memento choose."""
CDX_PATHS: Final = frozenset(("cdx", "outbackcdx"))
"""Paths of CDX servers: as pywb's, and as OutbackCDX's."""
_NAMES: Final = 20
"""Names of archives in the answer to an unknown name."""
_PARAMETERS: Final = 100
"""Parameters of a query at most."""


class ProgramRequest(NamedTuple):
    """A request of a program for a holding.

    Attributes:
        call: The request.
        item: The job or collection.
        place: The path behind the name of the job, with its query.
        base: URL of the archive, with its slash.
    """

    call: ReplayCall
    item: ShelfItem
    place: str
    base: str


async def answer_program(call: ReplayCall) -> Response:
    """Answer a request of a program.

    Raises:
        MementoError, CdxQueryError: It is malformed (400).
    """
    _name, _slash, place = call.path.removeprefix("/").partition("/")
    if call.parts.allows_origins and place.startswith(FOLDER):
        if call.request.method == "OPTIONS":  # browsers ask it before, without the key
            return Response(status_code=204, headers=dict(CORS))
        answer = await _answer_key(call)
        answer.headers.update(CORS)
        return answer
    return await _answer_key(call)


async def _answer_key(call: ReplayCall) -> Response:
    """Answer a request with a key."""
    admission = call.parts.access.of_key(call.request.headers.get("authorization", ""))
    if not admission.identity.role:
        return Response(
            "send a key as `Authorization: Bearer KEY`: `nacre replay` prints one, and `nacre "
            "console key add NAME` makes one for the console's replay\n",
            401, {"www-authenticate": "Bearer"}, media_type="text/plain",
        )  # fmt: skip
    name, _slash, place = call.target.removeprefix("/").partition("/")
    if not name:
        items = call.parts.shelf.items(admission.identity)
        return JSONResponse([item._asdict() for item in items])
    item = call.parts.shelf.find(name_of(name), admission.identity)
    if item is None:
        return _no_archive(call.parts.shelf.items(admission.identity))
    host = call.request.headers["host"]
    base = f"{call.parts.site.scheme}://{host}/{quote(item.name, safe='~')}/"
    request = ProgramRequest(call, item, place, base)
    return await _answer_place(request)


def _no_archive(items: Sequence[ShelfItem]) -> Response:
    """Return the answer to a name that is not among those that the caller may see."""
    names = [item.name.encode("utf-8", "backslashreplace").decode() for item in items[:_NAMES]]
    rest = f" and {len(items) - _NAMES} more" if len(items) > _NAMES else ""
    listed = f"the names are: {', '.join(names)}{rest}" if names else "there are none"
    return text_answer(f"there is no archive of this name; {listed}. All are listed at /", 404)


async def _answer_place(request: ProgramRequest) -> Response:
    """Answer a request for a file, of a CDX server, for a TimeMap, or of Memento."""
    call, place = request.call, request.place
    if place.startswith(FOLDER):
        opened = await run_in_threadpool(call.parts.shelf.open, request.item)
        key = (call.request.method, call.request.headers.get("range", ""))
        return await answer_file(opened.holding, place.removeprefix(FOLDER), key)
    if place.partition("?")[0] in CDX_PATHS:
        return await _cdx(request)
    if (of_times := read_timemap_path(place)) is not None:
        return await _timemap(request, of_times)
    return await _memento(request)


def name_of(segment: str) -> str:
    """Return the name of a job in a path (pure)."""
    return unquote(segment.partition("?")[0])


def captured_times(opened: OpenedHolding, url: str, time: str) -> list[str]:
    """Return times of captures of a URL in order, each once; [] for a URL that is none.

    Args:
        opened: The holding.
        url: The URL.
        time: Up to 14 digits; "" for the newest. Of more than `_MOST` captures the nearest are
            there, the first and the last.
    """
    lookup = opened.lookup
    try:
        key = index_key(url)
    except URIError:
        return []
    time = seconds_timestamp(timestamp_seconds(time)) if time else ""
    captures = lookup.closest(key, time, _MOST)
    if len(captures) == _MOST:
        captures += [*lookup.prefix(f"{key} ", "", 1), *lookup.closest(key, "", 1)]
    return sorted({capture.timestamp for capture in captures if not capture.method})


async def _timemap(request: ProgramRequest, path: TimeMapPath) -> Response:
    opened = await run_in_threadpool(request.call.parts.shelf.open, request.item)
    places = MementoPlaces(request.base)
    answer = await run_in_threadpool(answer_timemap, opened.lookup, path, places)
    return _lines(answer) if answer is not None else text_answer("not archived", 404)


async def _cdx(request: ProgramRequest) -> Response:
    """Answer a query of a CDX server: `cdx` as pywb's, `outbackcdx` as OutbackCDX's."""
    name, _mark, query = request.place.partition("?")
    if query.count("&") >= _PARAMETERS:
        raise CdxQueryError(f"a query has at most {_PARAMETERS} parameters; send fewer")
    parameters: dict[str, list[str]] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        parameters.setdefault(key, []).append(value)
    opened = await run_in_threadpool(request.call.parts.shelf.open, request.item)
    ask = partial(
        answer_cdx, opened.lookup, parameters, places=MementoPlaces(request.base),
        dialect="outbackcdx" if name == "outbackcdx" else "pywb",
    )  # fmt: skip
    return _lines(await run_in_threadpool(ask))


def _lines(answer: CdxAnswer) -> Response:
    return StreamingResponse(answer.lines, media_type=answer.media)


async def _memento(request: ProgramRequest) -> Response:
    """Answer as a TimeGate without a time in the path, and else with a memento."""
    call, place = request.call, read_replay_path(request.place)
    if place is None:
        return text_answer("paths are /JOB/URL, /JOB/14DIGITS/URL and /JOB/timemap/link/URL", 404)
    opened = await run_in_threadpool(call.parts.shelf.open, request.item)
    requested = call.request.headers.get("accept-datetime", "")
    time = place.timestamp or (read_accept_datetime(requested) if requested else "")
    times = await run_in_threadpool(captured_times, opened, place.url, time)
    places = MementoPlaces(request.base, place.modifier)
    if place.timestamp:
        page = PageAddress(request.base.rstrip("/"), place.timestamp, place.url)
        response = await answer_place(call, request.item, place, page)
        current = times[closest_place(times, place.timestamp)] if times else ""
        if response.status_code < 400:
            response.headers["link"] = memento_links(places, place.url, times, current)
        if place.modifier != "id_":
            response.headers["content-security-policy"] = "sandbox; default-src 'none'"
        return response
    if not times:
        return text_answer("not archived", 404)
    time = times[closest_place(times, time)]
    response = RedirectResponse(places.memento(place.url, time), 302)
    response.headers["vary"] = "accept-datetime"
    response.headers["link"] = memento_links(places, place.url, times, time)
    return response
