"""The application of replay: the check of the host, the answer, and the headers of every answer.

The Host of a request selects a part of the site: the viewer, the origin of a job, or, under a name
of the loopback, the paths for programs. Under another name nothing is answered, so that no page can
give its own name the address of this machine.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from nacre.errors import NacreError
from nacre.replay.cdx_queries import CdxQueryError
from nacre.replay.headers import PERMISSIONS
from nacre.replay.memento import MementoError
from nacre.replay_server.access import COOKIE, cookie_field
from nacre.replay_server.captures import problem_page
from nacre.replay_server.content import answer_content, answer_single, boot_page
from nacre.replay_server.pages import page, static_files
from nacre.replay_server.parts import ReplayCall, ReplayParts, text_answer
from nacre.replay_server.programs import answer_program
from nacre.replay_server.sites import CONTENT, OWN, PROGRAMS, SINGLE, VIEWER, is_label
from nacre.replay_server.viewer import answer_view

WORKER: Final = "/-/sw.js"
"""Path of the worker of archived pages."""
_BODY: Final = 8192
"""Bytes of a request that trades a ticket."""
_VERBS: Final = frozenset(("GET", "HEAD"))

_COMMON: Final[Mapping[str, str]] = {
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": PERMISSIONS,
    "x-dns-prefetch-control": "off",
    "origin-agent-cluster": "?1",
    "cache-control": "no-store",
}
_OWN: Final[Mapping[str, str]] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class _TicketTrade(msgspec.Struct):
    """The body of a request that trades a ticket."""

    ticket: str
    label: str


class ReplayApp:
    """The application.

    Args:
        parts: The parts that answer.
    """

    def __init__(self, parts: ReplayParts) -> None:
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        response, policy = await self._respond(request)

        async def guarded(event: Message) -> None:
            if event["type"] == "http.response.start":
                fields = MutableHeaders(scope=event)
                for name, value in _COMMON.items():
                    fields.setdefault(name, value)
                if policy and "content-security-policy" not in fields:
                    fields.update({**_OWN, "content-security-policy": policy})
            await send(event)

        await response(scope, receive, guarded)

    async def _respond(self, request: Request) -> tuple[Response, str]:
        """Return the answer, and the policy of an answer without one."""
        hosts = request.headers.getlist("host")
        part = self._parts.site.part_of(hosts[0]) if len(hosts) == 1 else None
        if part is None:
            text = "replay does not answer under that name; --replay-host names another"
            return text_answer(text, 421), ""
        target = request.scope["raw_path"].decode("latin-1")
        if request.scope["query_string"]:
            target += "?" + request.scope["query_string"].decode("latin-1")
        call = ReplayCall(self._parts, request, part, target)
        try:
            response = await self._answer(call)
        except (MementoError, CdxQueryError) as error:
            response = text_answer(str(error), 400)
        except NacreError as error:
            response = problem_page(call, error.message, 503)
        return response, self._policy(call)

    def _policy(self, call: ReplayCall) -> str:
        """Return the content policy of a page of the viewer."""
        frames = "'none'"
        origins = "'none'"
        if call.part.part == VIEWER:
            label = call.path.split("/")[2] if call.path.startswith("/view/") else ""
            frames = self._parts.site.content(label) if is_label(label) else frames
        elif call.part.part == CONTENT:
            origins = f"'self' {self._parts.site.viewer}"
        workers = "'self'" if call.part.part == CONTENT else "'none'"
        return (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"connect-src 'self'; frame-src {frames}; worker-src {workers}; form-action 'self'; "
            f"base-uri 'none'; frame-ancestors {origins}"
        )

    async def _answer(self, call: ReplayCall) -> Response:
        is_worker = call.part.part == CONTENT and call.path == WORKER
        if call.request.headers.get("service-worker") == "script" and not is_worker:
            return text_answer("archived pages cannot install workers", 403)
        if call.part.part == PROGRAMS:
            return await answer_program(call)
        if call.path.startswith(SINGLE) and self._parts.site.is_single:
            return await answer_single(call)
        if call.path.startswith(OWN) and call.path != "/-/boot":
            return await self._own(call)
        if call.part.part == CONTENT:
            return await answer_content(call)
        return await self._viewer(call)

    async def _own(self, call: ReplayCall) -> Response:
        """Answer with a file of the viewer, or trade a ticket."""
        file = static_files().get(call.path.removeprefix(OWN))
        if file is not None and call.request.method in _VERBS:
            fields = {"service-worker-allowed": "/"} if call.path == WORKER else {}
            return Response(file.data, headers=fields, media_type=file.media)
        if call.request.method == "POST" and call.path == "/-/ticket":
            return await self._trade(call)
        if call.request.method == "POST" and call.path == "/-/key":
            return await self._trade_key(call)
        return text_answer("there is no such path", 404)

    async def _trade(self, call: ReplayCall) -> Response:
        """Trade a ticket for a cookie."""
        if not _is_of_this_origin(call) or not _is_short(call):
            return text_answer("only pages of replay trade tickets", 403)
        try:
            trade = msgspec.json.decode(await call.request.body(), type=_TicketTrade)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return text_answer('send {"ticket": …, "label": …}', 400)
        if call.part.part == CONTENT and trade.label != call.part.label:
            return text_answer("the ticket is for another archive", 401)
        cookie = self._parts.access.trade(
            trade.ticket, trade.label, call.request.cookies.get(COOKIE, "")
        )
        if not cookie:
            return text_answer("the ticket has expired, was used, or is for another archive", 401)
        return Response(status_code=204, headers={"set-cookie": cookie_field(cookie)})

    async def _trade_key(self, call: ReplayCall) -> Response:
        """Trade the key that a person typed for a cookie, and lead back."""
        if not _is_of_this_origin(call) or not _is_short(call):
            return text_answer("only pages of replay trade keys", 403)
        text = (await call.request.body()).decode("utf-8", "replace")
        form = dict(parse_qsl(text))
        key, label, to = (form.get(name, "") for name in ("key", "label", "to"))
        if call.part.part == CONTENT:
            label = call.part.label
        cookie = self._parts.access.trade_key(key, label, call.request.cookies.get(COOKIE, ""))
        if not cookie:
            return boot_page(call, label, is_admitted=False)
        safe = to if to.startswith("/") and not to.startswith(("//", "/\\")) else "/"
        return RedirectResponse(safe, 303, {"set-cookie": cookie_field(cookie)})

    async def _viewer(self, call: ReplayCall) -> Response:
        """Answer with a page of the viewer."""
        admission, shelf = call.admission, self._parts.shelf
        if call.request.method not in _VERBS:
            return text_answer("the viewer answers GET alone", 405)
        if call.path == "/":
            items = [
                item for item in shelf.items(admission.identity) if admission.permits(item.label)
            ]
            if len(items) == 1:
                return RedirectResponse(f"/view/{items[0].label}/", 302)
            return page(call.request, "items.html", {"items": items})
        if not call.path.startswith("/view/"):
            return problem_page(call, "there is no such page; paths are /view/LABEL/TIME/URL", 404)
        label, _slash, place = call.target.removeprefix("/view/").partition("/")
        label = label.partition("?")[0]
        item = shelf.find(label, admission.identity) if admission.permits(label) else None
        if item is None or item.label != label:
            return boot_page(call, label, is_admitted=False)
        return await answer_view(call, item, place)


def _is_of_this_origin(call: ReplayCall) -> bool:
    """Whether a page of this origin sent the request, which browsers say."""
    site = call.request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = call.request.headers.get("origin", "")
    return origin == f"{call.parts.site.scheme}://{call.request.headers['host']}"


def _is_short(call: ReplayCall) -> bool:
    size = call.request.headers.get("content-length", "")
    return size.isascii() and size.isdigit() and int(size) <= _BODY
