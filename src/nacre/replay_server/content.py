"""The origin of the pages of a job: the page that opens it, the worker, and the captures."""

from starlette.responses import RedirectResponse, Response

from nacre.replay.memento import read_replay_path
from nacre.replay.page_urls import PageAddress, locate_stray
from nacre.replay_server.access import ReplayAdmission
from nacre.replay_server.captures import answer_place, problem_page
from nacre.replay_server.pages import page
from nacre.replay_server.parts import (
    WORKER_FIELD,
    ReplayCall,
    destination_of,
    is_navigation,
    text_answer,
)
from nacre.replay_server.shelf import ShelfItem
from nacre.replay_server.sites import SINGLE, viewer_path


async def answer_content(call: ReplayCall) -> Response:
    """Answer a request to the origin of a job."""
    admission, label = call.admission, call.part.label
    item = call.parts.shelf.find(label, admission.identity) if admission.permits(label) else None
    place = read_replay_path(call.target.removeprefix("/"))
    is_page = place is not None and bool(place.timestamp or place.modifier)
    if call.path == "/-/boot" or (item is None and is_navigation(call)):
        return boot_page(call, label, is_admitted=item is not None)
    if item is None:
        return text_answer("open this archive by a link of the console or of `nacre replay`", 401)
    if place is None or not is_page:
        return _lead_stray(call)
    if destination_of(call.request) == "document":
        # A page by itself has no sandbox: it belongs into the frame of the viewer.
        path = viewer_path(label, place.timestamp or "9", place.url)
        return RedirectResponse(f"{call.parts.site.viewer}{path}", 302)
    if is_navigation(call) and WORKER_FIELD not in call.request.headers:
        return boot_page(call, label, is_admitted=True)
    return await answer_place(call, item, place, PageAddress("", place.timestamp, place.url))


def _lead_stray(call: ReplayCall) -> Response:
    """Answer a request for no capture: in a frame without a URL, `/x` is of its page's host."""
    target = locate_stray(call.target, call.request.headers.get("referer", ""))
    if target is not None:
        return RedirectResponse(target, 307)
    return problem_page(call, "not a path of a capture: /TIMESTAMPmp_/URL", 404)


async def answer_single(call: ReplayCall) -> Response:
    """Answer a request for a capture on a site with one origin; its path has the grant."""
    grant, _, target = call.target.removeprefix(SINGLE).partition("/")
    admission = call.parts.access.of_path(grant)
    item = _of_grant(call, admission)
    place = read_replay_path(target)
    if item is None:
        return text_answer("this page has expired: open the capture again from the viewer", 401)
    if place is None:
        return problem_page(call, "not a path of a capture: /TIMESTAMPmp_/URL", 404)
    if destination_of(call.request) == "document":
        return RedirectResponse(viewer_path(item.label, place.timestamp or "9", place.url), 302)
    origin = f"{call.parts.site.viewer}{SINGLE}{grant}"
    page_address = PageAddress(origin, place.timestamp, place.url)
    response = await answer_place(call, item, place, page_address)
    response.headers["content-security-policy"] = single_policy(origin, call.parts.site.viewer)
    return response


def single_policy(origin: str, viewer: str) -> str:
    """Return the policy of captures on a site with one origin: no scripts, and nothing else there.

    Args:
        origin: What the URLs of captures begin with.
        viewer: Origin of the viewer.
    """
    return (
        f"sandbox allow-forms; default-src 'none'; img-src {origin}/ data:; media-src {origin}/; "
        f"style-src {origin}/ 'unsafe-inline'; font-src {origin}/ data:; frame-src {origin}/; "
        f"form-action {origin}/; base-uri {origin}/; frame-ancestors {viewer}"
    )


def _of_grant(call: ReplayCall, admission: ReplayAdmission) -> ShelfItem | None:
    label = admission.labels[0] if admission.labels else ""
    return call.parts.shelf.find(label, admission.identity) if label else None


def boot_page(call: ReplayCall, label: str, *, is_admitted: bool) -> Response:
    """Return the page that trades a ticket and installs the worker, and then goes on.

    Args:
        call: The request.
        label: Label of the job.
        is_admitted: The caller has a session for the job.
    """
    needs_worker = call.part.label == label
    to = call.target if call.path != "/-/boot" else "/"
    facts = {"label": label, "worker": needs_worker, "admitted": is_admitted, "to": to}
    is_boot = is_admitted or call.path == "/-/boot"
    return page(call.request, "boot.html", facts, 200 if is_boot else 401)
