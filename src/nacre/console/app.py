"""The application: answers requests by the table of routes.

Each request passes the check of its Host, then that of its sender and their role, then its query
and body become structs, and the handler answers. All answers have the fields of `gate.HEADERS`.
"""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from nacre.console.answering import answer_of, page_facts
from nacre.console.assets import FOR_EVER, PREFIX, assets
from nacre.console.call import Call, NounCall, PageAnswer
from nacre.console.forms import in_place
from nacre.console.interface.operations import ApiOperation, operations_of
from nacre.console.openapi import describe
from nacre.console.parts import ConsoleParts
from nacre.console.rendering import header_facts, menu_of, render
from nacre.console.routes import API, ROUTES, Answer, AnyRow
from nacre.core.message_data import to_builtins, to_json
from nacre.errors import NacreError
from nacre.fleet.audit import AuditEntry, AuditNote, copy_to_jobs
from nacre.fleet.reach import takes_links
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import NOBODY, Requester
from nacre.messages import message
from nacre.ops.operation import Role
from nacre.web.decoding import JSON_TYPE, body_of, form_of, path_of, query_of
from nacre.web.gate import HEADERS, LOOPBACK, SAFE, Visitor, form_token, identify, require
from nacre.web.languages import (
    Language,
    language,
    named_language,
    preferred,
    spoken_problem,
)
from nacre.web.live.hub import Notice
from nacre.web.middleware import GzipWish, RequestGuard
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails, problem_of
from nacre.web.repeats import FIELD, KeptAnswer, request_of
from nacre.web.versions import IF_MATCH, EditTurns, conflict

OF_ONESELF: Final = frozenset(("/login", "/account", f"{API}/session"))
"""Paths that change only the caller's session, which work even if another console has the locks."""
_HTML: Final = "text/html; charset=utf-8"
_LOGIN: Final = "login.html"
_LEVEL: Final = 5
"""Of the compression of pages and JSON: higher ones take more time than they save."""
_NOT_PACKED: Final = ("application/octet-stream", "text/csv", "text/plain")
"""Downloads: they have their length and parts, and may be packed already. Streams of events are
left out by the library."""


class ConsoleApp:
    """Makes the application.

    Args:
        parts: The parts that answer.
        hosts: Host names of the console in addition to those of the loopback interface.
        routes: The table.
    """

    def __init__(
        self,
        parts: ConsoleParts,
        hosts: Sequence[str] = (),
        routes: Sequence[AnyRow] = ROUTES,
    ) -> None:
        self._parts = parts
        self._hosts = frozenset((*LOOPBACK, *(host.lower() for host in hosts)))
        self._hosts |= frozenset(parts.common.reach.names)
        self._assets = assets()
        self._deeds = {f"{row.verb} {row.path}": row.summary for row in routes}
        self._turns = EditTurns()
        self._rows = [
            Route(row.path, _Endpoint(row, self).answer, methods=[row.verb]) for row in routes
        ]
        self._routes = routes

    def asgi(self) -> Starlette:
        """The application."""
        routes: list[BaseRoute] = [*self._rows]
        routes.append(Route(f"{PREFIX}/{{tree}}/{{name:path}}", self._asset))
        routes.append(Route(f"{API}/openapi.json", self._description))
        application = Starlette(
            routes=routes,
            middleware=[
                Middleware(RequestGuard, hosts=self._hosts),
                Middleware(GzipWish),
                Middleware(
                    GZipMiddleware,
                    compresslevel=_LEVEL,
                    exclude_content_types=(*DEFAULT_EXCLUDED_CONTENT_TYPES, *_NOT_PACKED),
                ),
            ],
            exception_handlers={HTTPException: self._http_error, Exception: self._bug},
        )
        application.router.redirect_slashes = False
        application.state.operations = lambda: self._operations
        return application

    async def _asset(self, request: Request) -> Response:
        """A file that pages load. They are the same for everybody."""
        asset = self._assets.find(request.path_params["tree"], request.path_params["name"])
        if asset is None:
            return Response(status_code=404)
        fields = {"cache-control": FOR_EVER, "content-type": asset.kind}
        if asset.packed and "gzip" in request.headers.get("accept-encoding", ""):
            fields |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
            return Response(asset.packed, headers=fields)
        return Response(asset.data, headers=fields)

    @cached_property
    def _described(self) -> dict[str, object]:
        """The description of the API, which is made at the first request."""
        return describe(self._routes)

    @cached_property
    def _operations(self) -> dict[str, ApiOperation]:
        """The same for people: all operations by their names."""
        return {operation.id: operation for operation in operations_of(self._described)}

    @cached_property
    def _openapi(self) -> bytes:
        return to_json(self._described)

    async def _description(self, _: Request) -> Response:
        return Response(self._openapi, media_type=JSON_TYPE)

    async def _http_error(self, request: Request, error: Exception) -> Response:
        """A path or verb that there is not."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 404 and (place := self._without_slash(request)):
            return RedirectResponse(place, 307)
        code = {404: "not-found", 405: "no-such-verb"}.get(status, "refused")
        refused = RefusedRequestError(status, code, HTTPStatus(status).phrase)
        visitor = identify(request, self._parts.access.keys, self._parts.access.sessions)
        answer = self.refusal(
            request, refused, visitor, is_api=request.url.path.startswith(f"{API}/")
        )
        answer.headers.update(getattr(error, "headers", None) or {})
        if status == 405:
            answer.headers["allow"] = ", ".join(self._verbs_of(request.url.path))
        return answer

    def _without_slash(self, request: Request) -> str:
        """Return the place of a page whose path was requested with a slash behind; "" for none."""
        path = request.url.path
        requested: bytes = request.scope.get("raw_path", b"")
        raw = requested.decode("latin-1").partition("?")[0]
        if request.method not in {"GET", "HEAD"} or not raw.endswith("/") or raw.startswith("//"):
            return ""
        fitting = (route for route in self._rows if route.path_regex.match(path[:-1]))
        if not any("GET" in (route.methods or ()) for route in fitting):
            return ""
        return raw[:-1] + (f"?{request.url.query}" if request.url.query else "")

    def _verbs_of(self, path: str) -> list[str]:
        """Return the verbs of all rows of a path; the router knows only those of the first row.

        If two paths match, such as `/sheets/at` and `/sheets/{name}`, the path with fewer
        parameters is used, because it is a separate resource.
        """
        fitting = [route for route in self._rows if route.path_regex.match(path)]
        fewest = min((len(route.param_convertors) for route in fitting), default=0)
        own = [route for route in fitting if len(route.param_convertors) == fewest]
        return sorted({verb for route in own for verb in route.methods or ()})

    async def _bug(self, request: Request, _: Exception) -> Response:
        """A bug of the console: no trace leaves it; the terminal has it."""
        refused = RefusedRequestError(
            500,
            "bug",
            message("console.internal-error", "an error in the console; its terminal says more"),
        )
        is_api = request.url.path.startswith(f"{API}/")
        answer = self.refusal(request, refused, Visitor(NOBODY), is_api=is_api)
        answer.headers.update(HEADERS)  # it passes by the guard, which is within
        return answer

    async def handle(self, row: AnyRow, request: Request) -> Response:
        """Answer a request by its row; one that changes something has its line in the audit log."""
        parts = self._parts
        visitor = identify(request, parts.access.keys, parts.access.sessions)
        note = AuditNote()
        outcome, status = "bug", 500
        began = time.perf_counter()
        try:
            response, outcome = await self._answer(row, request, visitor, note)
            status = response.status_code
        finally:
            parts.times.note(row.path, row.verb, status, time.perf_counter() - began)
            if row.verb not in SAFE and (row.changes or status in {401, 403}):
                entry = _audited(row, request, visitor, note)
                entry = msgspec.structs.replace(
                    entry, time=parts.audit.now(), outcome=note.outcome or outcome, status=status
                )
                await parts.audit.add(entry)
                await copy_to_jobs(entry, parts.common.fleet.jobs, note.jobs)
        return response

    async def _answer(
        self, row: AnyRow, request: Request, visitor: Visitor, note: AuditNote
    ) -> tuple[Response, str]:
        """The answer to a request, and its outcome for the audit log."""
        parts, call = self._parts, None
        try:
            token = await form_token(request) if visitor.session is not None else ""
            require(request, visitor, row.role, token)
            request.scope["path_params"] = path_of(request)
            await self._find(request.path_params.get("job", ""))
            if row.verb not in SAFE and row.changes and row.path not in OF_ONESELF:
                parts.standing.require()
            if row.verb not in SAFE and row.changes and parts.audit.is_full:
                raise RefusedRequestError(503, "audit", parts.audit.trouble)
            call = NounCall(
                parts.common, row.parts(parts), request, self._seen_as(visitor.identity),
                visitor.session, spoken_by(request, visitor), note, query_of(row.query, request),
                await (form_of(row.form, request) if row.form else body_of(row.body, request)),
                request.path_params,
            )  # fmt: skip
            if row.is_api and row.verb == "POST" and FIELD in request.headers and not row.secret:
                return await self._once(row, call)
            response = await self._carry_out(row, call)
        except NacreError as error:
            refused = self.refusal(request, error, visitor, is_api=row.is_api)
            return refused, problem_of(error).code
        else:
            return response, _outcome(response)
        finally:
            await request.close()  # files of a form
            if note.after is None and call is not None:
                note.after = call.body

    async def _find(self, job: str) -> None:
        """Look for a job that is not known."""
        if job and not self._parts.common.fleet.knows(job):
            await self._parts.common.poller.seek(job)

    async def _once(self, row: AnyRow, call: Call) -> tuple[Response, str]:
        """Answer a request that is carried out once, however often it is sent.

        A refusal is not stored, because its cause may be gone when the request is sent again.
        """
        request, repeats = call.request, self._parts.repeats
        requester = f"{call.identity.how} {call.identity.name}"
        path = f"{request.url.path}?{request.url.query}"
        name, body = (
            request_of(requester, "POST", path, request.headers[FIELD]),
            await request.body(),
        )
        stored = repeats.begin(name, body)
        if stored is not None:
            fields = {"idempotency-replayed": "true"}
            return Response(stored.data, stored.status, fields, media_type=stored.media), "repeated"
        answer = None
        try:
            response = await self._carry_out(row, call)
            if response.status_code < 400:
                media = response.headers.get("content-type", "")
                answer = KeptAnswer(response.status_code, media, bytes(response.body))
        finally:
            repeats.end(name, body, answer)
        return response, _outcome(response)

    async def _carry_out(self, row: AnyRow, call: Call) -> Response:
        """The answer of a handler; of what can be edited, with its ETag."""
        if row.version_of is None:
            return self._response(row, call, await answer_of(row, call))
        if row.verb in SAFE:
            response = self._response(row, call, await answer_of(row, call))
            response.headers["etag"] = (await row.version_of(call)).etag
            return response
        field = call.request.headers.get(IF_MATCH, "")
        async with self._turns.turn(f"{row.version_of} {call.request.path_params.get('job', '')}"):
            if field:
                now = await row.version_of(call)
                if not now.fits(field):
                    return conflict(now, call.body)
            response = self._response(row, call, await answer_of(row, call))
            if row.verb != "DELETE" or row.answer is not None:
                response.headers.setdefault("etag", (await row.version_of(call)).etag)
            return response

    def _response(self, row: AnyRow, call: Call, answer: Answer) -> Response:
        if isinstance(answer, Response):
            return answer
        if isinstance(answer, PageAnswer):
            visitor = Visitor(call.identity, call.session)
            page = answer._replace(facts={**page_facts(call), **answer.facts})
            return self._page(page, visitor, call.language)
        data = with_fields(to_builtins(answer), call.request.query_params.get("fields", ""))
        return Response(to_json(data), row.status, media_type=JSON_TYPE)

    def _seen_as(self, requester: Requester) -> Requester:
        """The caller, as pages see them: while another console has the places, all only look."""
        if self._parts.standing.elsewhere is None:
            return requester
        return msgspec.structs.replace(requester, role=min(requester.role, Role.VIEWER))

    def _header(self, requester: Requester) -> dict[str, object]:
        """Return the numbers of the header for a requester; anonymous users see no jobs."""
        snapshots = self._parts.common.poller.snapshots() if requester.role else []
        jobs = [(job, snapshot) for job, snapshot in snapshots if requester.sees(job.place)]
        return header_facts(self._parts.header, jobs, requester)

    def _directory_of(self, job: str) -> str:
        """Return the directory of a job, for commands; "" if the job no longer exists."""
        fleet = self._parts.common.fleet
        return str(fleet.job(job).layout.root) if fleet.knows(job) else ""

    def _name_of(self, job: str) -> str:
        """Return the name that people gave to a job; that of its directory if there is none."""
        label = self._parts.books.labels.of_path(self._directory_of(job)).name
        return label or job.rpartition("~")[2]

    def _page(self, page: PageAnswer, visitor: Visitor, language: Language) -> Response:
        facts = {
            "session": visitor.shown_session,
            "identity": self._seen_as(visitor.identity),
            "elsewhere": self._parts.standing.elsewhere if visitor.identity.role else None,
            "deeds": self._deeds,
            **self._header(visitor.identity),
            "directory_of": self._directory_of,
            "name_of": self._name_of,
            "menu": menu_of(page.template),
            "taken": lambda: self._parts.common.notices.take(visitor.identity.session),
            **page.facts,
        }
        if page.template == _LOGIN:
            parts = self._parts
            has_users, link = not parts.access.users.is_empty, parts.common.reach.local_link
            takes = takes_links(has_users=has_users, local_link=link)
            facts = {"has_users": has_users, "takes_links": takes, "problem": None, **facts}
        content = render(page.template, facts, language, self._assets)
        return Response(content, page.status, dict(page.headers), media_type=_HTML)

    def refusal(
        self, request: Request, error: NacreError, visitor: Visitor, *, is_api: bool
    ) -> Response:
        """The answer that an error becomes: problem details, a page, or the form to log in."""
        language = spoken_by(request, visitor)
        problem = spoken_problem(problem_of(error), language)
        fields = {"www-authenticate": "Bearer"} if problem.status == 401 else {}
        if isinstance(error, RefusedRequestError) and error.retry_after:
            fields["retry-after"] = str(error.retry_after)
        if is_api:
            data = to_json(problem)
            return Response(data, problem.status, fields, media_type=PROBLEM_TYPE)
        # htmx puts an answer into the place of a form: there a whole page would be a second one.
        page = _refused_in_place(problem) if in_place(request) else _problem_page(problem, request)
        facts = {"job_id": self._seen_job(request, visitor), "tab": "", "is_titled": False}
        page = page._replace(facts={**facts, **page.facts})
        answer = self._page(page, visitor, language)
        answer.headers.update(fields)
        return answer

    def _seen_job(self, request: Request, visitor: Visitor) -> str:
        """The job of a request, whose frame its refusal has; "" if the visitor sees none."""
        job, fleet = str(request.path_params.get("job", "")), self._parts.common.fleet
        identity = visitor.identity
        is_seen = identity.role and fleet.knows(job) and identity.sees(fleet.job(job).place)
        return job if is_seen else ""


_LOGIN_CODES: Final = frozenset(
    ("no-login", "wrong-login", "too-many-tries", "used-link", "no-links")
)
"""Refusals that are shown above the form to log in."""


def _refused_in_place(problem: ProblemDetails) -> PageAnswer:
    notices = [Notice("error", problem.detail)]
    return PageAnswer("notices.html", {"notices": notices}, problem.status)


def _problem_page(problem: ProblemDetails, request: Request) -> PageAnswer:
    if problem.code == "no-login":
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return PageAnswer(_LOGIN, {"next": path}, 401)
    if problem.code in _LOGIN_CODES:
        return PageAnswer(_LOGIN, {"next": "/", "problem": problem}, problem.status)
    # Only what may be otherwise the next time is worth another try, and only what changes nothing.
    is_passing = request.method == "GET" and problem.status in {429, 500, 502, 503, 504}
    retry = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    facts = {"problem": problem, "retry": retry if is_passing else ""}
    return PageAnswer("problem.html", facts, problem.status)


def _audited(row: AnyRow, request: Request, visitor: Visitor, note: AuditNote) -> AuditEntry:
    """The line of a request, without its time and outcome."""
    params = request.path_params
    identity = visitor.identity
    return AuditEntry(
        time="",
        who=note.who or identity.name,
        how=note.how or identity.how,
        address=request.client.host if request.client else "",
        action=f"{row.verb} {row.path}",
        status=0,
        outcome="",
        path=request.url.path if params else "",
        job=note.job or str(params.get("job", "")),
        before=note.before,
        after=note.after,
    )


def _outcome(response: Response) -> str:
    """The outcome of an answer for the audit log; some handlers make a refusal themselves."""
    return {412: "changed", 422: "bad-settings"}.get(response.status_code, "done")


class _Endpoint:
    """A row that answers; a class, because Starlette asks a function for its name."""

    def __init__(self, row: AnyRow, app: ConsoleApp) -> None:
        self._row = row
        self._app = app

    async def answer(self, request: Request) -> Response:
        """Answer a request."""
        return await self._app.handle(self._row, request)


def spoken_by(request: Request, visitor: Visitor) -> Language:
    """The language of an answer: that of the query, else the chosen one, else the browser's.

    That of the query holds for this answer alone: looking at a page changes nothing.
    """
    session_language = visitor.session.language if visitor.session is not None else ""
    chosen = named_language(request.query_params.get("lang", "")) or session_language
    return language(preferred(request.headers.get("accept-language", ""), chosen))


def with_fields(answer: Mapping[str, Any], field_names: str) -> Mapping[str, Any]:
    """Reduce an answer to the requested fields; of a list, to those of its items.

    Args:
        answer: The answer.
        field_names: Their names with commas between; "" for all.
    """
    names = frozenset(filter(None, field_names.split(",")))
    if not names:
        return answer
    if isinstance(answer.get("items"), list | tuple):
        items = [{k: v for k, v in item.items() if k in names} for item in answer["items"]]
        return {**answer, "items": items}
    return {name: value for name, value in answer.items() if name in names}
