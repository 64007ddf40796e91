"""The application behind Heritrix's port: who asks, and the answers to each path.

Whoever asks is known by Digest (or Basic) with a key of this interface. Looking needs the role
viewer, all else operator, the end of the console admin.
"""

import asyncio
import resource
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from nacre import __version__
from nacre.console.access.audit import AuditEntry, AuditNote
from nacre.console.access.digest import REALM, DigestGuard, Proof, ha1, parse_field
from nacre.console.access.heritrix_keys import HeritrixKeyBook
from nacre.console.access.origin import LOOPBACK, SAFE, is_same_origin
from nacre.console.access.roles import NOBODY, Requester, Role
from nacre.console.actions import name_of
from nacre.console.api.results import toes_of
from nacre.console.app import RequestGuard
from nacre.console.heritrix import files
from nacre.console.heritrix.actions import HeritrixJobs, PortOptions, job_log, latest_run
from nacre.console.heritrix.bean_browser import BeanBrowser
from nacre.console.heritrix.model import MORE_REPORTS, HeapFacts, engine_tree, job_tree, script_tree
from nacre.console.heritrix.scripts import Deed, RecognisedScript, recognise, refusal
from nacre.console.heritrix.xml import json_document, xml_document
from nacre.console.job_notes import copy_to_jobs
from nacre.console.problems import RefusedRequestError, problem_of
from nacre.console.readers.beans import CXML
from nacre.console.services import ConsoleServices
from nacre.errors import NacreError

VERSION: Final = f"3.15.0-nacre-{__version__}"
LAG: Final = 6.0
"""Seconds between two failed tries to log in."""
MESSAGE: Final = "nacre-message"
"""Field of an answer with what Heritrix's pages flash."""
_TEXT_LIMIT: Final = 4 << 20
_KINDS: Final[Mapping[str, str]] = {
    ".cxml": "application/xml", ".xml": "application/xml", ".json": "application/json",
    ".gz": "application/gzip", ".warc": "application/warc", ".yaml": "text/plain; charset=utf-8",
}  # fmt: skip
_PAGE: Final = "<h1>Page not found</h1>\nThe page you are looking for does not exist.\n"

Handler = Callable[[Request], Awaitable[Response]]


class HeritrixApp:
    """Makes the application.

    Args:
        services: The parts of the console.
        keys: The keys of this interface.
        options: Its options.
        pages: URL of the console's own pages, with a slash at its end.
        on_exit: Ends the console.
    """

    def __init__(
        self,
        services: ConsoleServices,
        keys: HeritrixKeyBook,
        options: PortOptions,
        pages: str,
        on_exit: Callable[[], None],
    ) -> None:
        self._services = services
        self._keys = keys
        self._options = options
        self._pages = pages
        self._on_exit = on_exit
        self._guard = DigestGuard()
        self._jobs = HeritrixJobs(services, options)
        self._beans = BeanBrowser(services, self._jobs)
        self._failed = -LAG
        self._failing = asyncio.Lock()

    def asgi(self, hosts: tuple[str, ...] = ()) -> Starlette:
        """The application.

        Args:
            hosts: Names beside those of the loopback under which it is reached.
        """
        job = "/engine/job/{job}"
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/", self._root),
            ("GET", "/engine", self._engine),
            ("GET", "/engine/", self._engine),
            ("POST", "/engine", self._engine_action),
            ("POST", "/engine/", self._engine_action),
            ("GET", "/engine/jobsdir/{path:path}", self._jobs_directory),
            ("GET", "/engine/anypath/{path:path}", self._any_path),
            ("PUT", "/engine/anypath/{path:path}", self._any_path),
            ("GET", job, self._job),
            ("GET", f"{job}/", self._job),
            ("POST", job, self._job_action),
            ("POST", f"{job}/", self._job_action),
            ("GET", f"{job}/report/{{name}}", self._report),
            ("GET", f"{job}/beans", self._bean),
            ("GET", f"{job}/beans/{{path}}", self._bean),
            ("POST", f"{job}/beans", self._change_bean),
            ("POST", f"{job}/beans/{{path}}", self._change_bean),
            ("GET", f"{job}/script", self._script),
            ("POST", f"{job}/script", self._script),
            ("GET", f"{job}/jobdir", self._file),
            ("GET", f"{job}/jobdir/{{path:path}}", self._file),
            ("PUT", f"{job}/jobdir/{{path:path}}", self._put_file),
            ("POST", f"{job}/jobdir/{{path:path}}", self._post_file),
        ]
        routes = [
            Route(p, self._guarded(handler, f"{verb} {p}"), methods=[verb])
            for verb, p, handler in table
        ]
        known = frozenset((*LOOPBACK, *(host.lower() for host in hosts)))
        return Starlette(routes=routes, middleware=[Middleware(RequestGuard, hosts=known)])

    # ---- who asks

    def _guarded(self, handler: Handler, action: str) -> Handler:
        async def answer(request: Request) -> Response:
            request.state.identity, request.state.note = NOBODY, AuditNote()
            request.state.outcome = "bug"
            status = 500
            try:
                response = await self._answered(handler, request)
                status = response.status_code
            finally:
                if request.method not in SAFE:
                    await self._audit(request, action, status)
            return response

        return answer

    async def _answered(self, handler: Handler, request: Request) -> Response:
        """The answer of a handler, or of a refusal."""
        state, audit = request.state, self._services.audit
        try:
            identity, refused = await self._identify(request)
            if refused is not None:
                state.outcome = "no-login"
                await _drained(request)
                return refused
            state.identity = identity
            _require(request, identity)
            if request.method not in SAFE:
                self._services.standing.require()
            if request.method not in SAFE and audit.is_full:
                raise RefusedRequestError(503, "audit", audit.trouble)
            state.outcome = "done"
            return await handler(request)
        except NacreError as error:
            _refused(request, error)
            await _drained(request)
            return _problem(error)
        except ClientDisconnect:
            state.outcome = "cut-off"
            return Response(status_code=400)

    async def _audit(self, request: Request, action: str, status: int) -> None:
        """Add the line of a request that changes something, or was refused to.

        A first request without a login has none: that is how Digest begins.
        """
        if status == 401 and not request.headers.get("authorization"):
            return
        identity, note = request.state.identity, request.state.note
        found = self._jobs.all().get(str(request.path_params.get("job", "")))
        entry = AuditEntry(
            self._services.audit.now(), identity.name, "heritrix" if identity.name else "",
            request.client.host if request.client else "", action, status, request.state.outcome,
            path=request.url.path, job=found.id if found is not None else "",
            before=note.before, after=note.after,
        )  # fmt: skip
        await self._services.audit.add(entry)
        await copy_to_jobs(entry, [] if found is None else [found])

    async def _identify(self, request: Request) -> tuple[Requester, Response | None]:
        """Who asks, or the answer that says how to log in."""
        value = request.headers.get("authorization", "")
        now = self._services.clock.now()
        field = parse_field(value)
        proof, identity = Proof.NONE, NOBODY
        if field is not None and (field.scheme == "basic") == self._options.basic:
            identity, kept = self._keys.find(field.username)
            if field.scheme == "basic":
                same = bool(kept) and ha1(field.username, field.values["password"]) == kept
                proof = Proof.GOOD if same else Proof.WRONG
            else:
                proof = self._guard.check(field, request.method, _target(request), kept, now)
        if proof is Proof.GOOD:
            return identity, None
        if value and proof is not Proof.STALE:
            await self._wait()
        challenge = f'Basic realm="{REALM}"'
        if not self._options.basic:
            challenge = self._guard.challenge(now, stale=proof is Proof.STALE)
        text = "log in with a key of `nacre console heritrix-key NAME`\n"
        return NOBODY, PlainTextResponse(text, 401, {"www-authenticate": challenge})

    async def _wait(self) -> None:
        """Let `LAG` lie between two failed tries; one after another, as theirs."""
        async with self._failing:
            clock = self._services.clock
            left = self._failed + LAG - clock.monotonic()
            if left > 0:
                await clock.sleep(left)
            self._failed = clock.monotonic()

    # ---- the engine

    async def _root(self, _: Request) -> Response:
        return Response(status_code=302, headers={"location": "/engine"})

    async def _engine(self, request: Request) -> Response:
        if _kind(request) == "html":
            return Response(status_code=302, headers={"location": self._pages})
        base = _base(request)
        names = list(self._jobs.all())
        jobs = [await self._jobs.facts(name, base, logs=False) for name in names]
        jobs.sort(key=lambda job: job.launched, reverse=True)
        profiles = [job.name for job in jobs if job.profile]
        tree = engine_tree(VERSION, _heap(), str(self._jobs.directory), base, jobs, profiles)
        return _document(request, "engine", tree)

    async def _engine_action(self, request: Request) -> Response:
        form = await _form(request)
        jobs, action, said = self._jobs, form.get("action", ""), ""
        try:
            if action == "rescan":
                await jobs.rescan()
            elif action == "create":
                said = await jobs.create(form.get("createpath", ""), form.get("profile", ""))
            elif action == "add":
                said = await jobs.add(form.get("addpath") or form.get("path", ""))
            elif action == "exit java process":
                said = await self._exit(request, form)
        except NacreError as error:
            said = _refused(request, error)
        return _see_other(str(_own_url(request)), said)

    async def _exit(self, request: Request, form: Mapping[str, str]) -> str:
        """End the console; jobs go on."""
        if request.state.identity.role < Role.ADMIN:
            return "the end of the console needs the role admin"
        if form.get("im_sure") != "on":
            return 'You must tick "I\'m sure" to trigger exit'
        self._on_exit()
        return "Shutting down ... bye; jobs go on"

    async def _jobs_directory(self, request: Request) -> Response:
        """The names of the jobs, and their files."""
        name, _, rest = request.path_params["path"].partition("/")
        if not name:
            names = [f"{one}/" for one in self._jobs.all()]
            return _html(files.directory_html("jobs", names))
        return await self._served(request, name, rest)

    async def _any_path(self, _: Request) -> Response:
        raise RefusedRequestError(403, "no-such-path", "files outside of jobs are not served")

    # ---- a job

    async def _job(self, request: Request) -> Response:
        name = request.path_params["job"]
        job = self._jobs.job(name)
        if _kind(request) == "html":
            return Response(
                status_code=302, headers={"location": f"{self._pages}j/{quote(job.id)}"}
            )
        facts = await self._jobs.facts(name, _base(request))
        return _document(request, "job", job_tree(facts, _heap()))

    async def _job_action(self, request: Request) -> Response:
        name = request.path_params["job"]
        self._jobs.job(name)
        form = await _form(request)
        to, said = form.get("copyTo"), ""
        place = _own_url(request)
        try:
            if to is not None:
                as_profile = "on" in {form.get("asProfile"), form.get("as_profile")}
                said = await self._jobs.copy(name, to, as_profile=as_profile)
                place = f"{_base(request)}/job/{quote(to)}"
            elif form.get("action") == "delete":
                said = await self._jobs.delete(name)
                place = _base(request)
            else:
                said = await self._act(name, form, name_of(request.state.identity))
        except NacreError as error:
            said = _refused(request, error)
            if (job := self._jobs.all().get(name)) is not None:
                self._jobs.note(job.layout, "SEVERE", said)
        answer = _see_other(place, said)
        if form.get("action") == "unpause":
            answer.background = BackgroundTask(self._jobs.finish_unpause, name)
        return answer

    async def _act(self, name: str, form: Mapping[str, str], by: str) -> str:
        """Do an action; one that is not known does nothing, as theirs."""
        jobs, action = self._jobs, form.get("action", "")
        if action == "launch":
            return await jobs.launch(name, by, form.get("checkpoint", ""))
        if action in {"build", "validate", "instantiate", "checkXML"}:
            return await jobs.build(name)
        known: dict[str, Callable[[str, str], Awaitable[str]]] = {
            "pause": jobs.pause, "unpause": jobs.unpause, "checkpoint": jobs.checkpoint,
            "terminate": jobs.terminate, "teardown": jobs.teardown,
        }  # fmt: skip
        if action not in known:
            return f"there is no action {action!r}"
        return await known[action](name, by)

    async def _report(self, request: Request) -> Response:
        name = request.path_params["job"]
        job = self._jobs.job(name)
        report = MORE_REPORTS.get(request.path_params["name"])
        facts = await self._jobs.facts(name, _base(request), logs=False)
        if report is None or not facts.is_built:
            raise RefusedRequestError(500, "no-report", "no such report, or the job is not built")
        found = await self._services.readers.ask(
            "write-report", job.layout.root, 60.0, name=report, toes=await toes_of(job)
        )
        modified = round(found["modified"] * 1000)
        file = quote(f"{facts.launch}/reports/{found['file']}")
        return _see_other(f"{_base(request)}/job/{quote(name)}/jobdir/{file}?m={modified}", "")

    async def _bean(self, request: Request) -> Response:
        """The settings of a job under the names of beans."""
        name, path = request.path_params["job"], request.path_params.get("path", "")
        if _kind(request) == "html":
            job = quote(self._jobs.job(name).id)
            return Response(status_code=302, headers={"location": f"{self._pages}j/{job}/settings"})
        return _document(request, "beans", await self._beans.tree(name, _base(request), path))

    async def _change_bean(self, request: Request) -> Response:
        """Change a property; theirs goes to the page of its path."""
        name, form = request.path_params["job"], await _form(request)
        path = form.get("beanPath", "")
        request.state.note.change(None, {path: form.get("newVal", "")})
        try:
            said = await self._beans.change(
                name, path, form.get("newVal", ""), request.state.identity
            )
        except NacreError as error:
            said = _refused(request, error)
        place = f"{_base(request)}/job/{quote(name)}/beans/{quote(path)}"
        return _see_other(place.rstrip("/"), said)

    async def _script(self, request: Request) -> Response:
        name = request.path_params["job"]
        facts = await self._jobs.facts(name, _base(request), logs=False)
        if request.method in SAFE:
            return _document(request, "script", script_tree(facts))
        script = (await _form(request)).get("script", "")
        known = recognise(script)
        if known is None:
            request.state.outcome = "no-script"
            error = refusal(script, facts.root)
            return _document(request, "script", script_tree(facts, script, error=error))
        try:
            output = await self._do(name, known, facts.launch)
        except NacreError as error:
            said = _refused(request, error)
            if known.deed is Deed.WARCS:
                said = f"javax.script.ScriptException: java.io.FileNotFoundException: {error}"
            return _document(request, "script", script_tree(facts, script, error=said))
        return _document(request, "script", script_tree(facts, script, output))

    async def _do(self, name: str, script: RecognisedScript, launch: str) -> str:
        """Do what a recognised script does; what it prints."""
        layout = self._jobs.job(name).layout
        if script.deed is Deed.LAUNCH_ID:
            return f"{launch or 'null'}\n"
        if script.deed is Deed.DELETE:
            await self._jobs.delete(name)
            return ""
        if script.deed is Deed.WARCS:
            path = files.resolve(f"{script.launch}/warcs", latest_run(layout))
            found = await asyncio.to_thread(files.listed, layout.root, path)
            lines = [f"{script.launch}/warcs/{one}" for one in found if ".warc" in one]
        else:
            every = await asyncio.to_thread(list, files.listed_below(layout.root))
            lines = [p for p, folder in every if (script.folders if folder else script.files)]
        return "".join(f"./jobs/{name}/{line}\n" for line in lines)

    # ---- files of a job

    async def _file(self, request: Request) -> Response:
        path = request.path_params.get("path", "")
        return await self._served(request, request.path_params["job"], path)

    async def _served(self, request: Request, name: str, path: str) -> Response:
        """A file or directory of a job."""
        layout = self._jobs.job(name).layout
        at = files.resolve(path, latest_run(layout))
        if at.is_job_log:
            lines = await asyncio.to_thread(job_log, layout)
            return PlainTextResponse("".join(f"{line}\n" for line in lines))
        found, facts = await asyncio.to_thread(files.find, layout.root, at)
        if found.is_dir():
            if not request.url.path.endswith("/"):
                return _see_other(f"{_own_url(request)}/", "")
            names = await asyncio.to_thread(files.listed, layout.root, at)
            return _html(files.directory_html(found.name, names))
        query = request.query_params
        if query.get("format") == "paged":
            number = _number(query.get("lines", ""), files.LINES)
            position = _number(query.get("pos", ""), 0)
            page = await asyncio.to_thread(files.page_of, found, position, number)
            reverse = query.get("reverse") == "y"
            return _html(files.paged_html(found.name, page, number, reverse=reverse))
        if query.get("format") == "textedit" and facts.st_size <= _TEXT_LIMIT:
            files.writable(at)
            return _html(files.edit_html(found.name, found.read_text("utf-8", "replace")))
        return _streamed(request, found, facts.st_size)

    async def _put_file(self, request: Request) -> Response:
        data = await request.body()
        request.state.note.change(None, {"bytes": len(data)})
        created = await self._written(request, data)
        return Response(status_code=201 if created else 200)

    async def _post_file(self, request: Request) -> Response:
        contents = (await _form(request)).get("contents", "")
        request.state.note.change(None, {"characters": len(contents)})
        await self._written(request, contents.replace("\r\n", "\n").encode())
        return _see_other(_own_url(request), "file updated")

    async def _written(self, request: Request, data: bytes) -> bool:
        """Write a file; True for a new one. Beans become the settings of the job."""
        name, path = request.path_params["job"], request.path_params["path"]
        layout = self._jobs.job(name).layout
        at = files.resolve(path, latest_run(layout))
        files.writable(at)
        if at.parts == ("crawl.yaml",) and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            at = files.JobPath((CXML,))  # clients send beans to whatever is the configuration
        return await self._jobs.write(layout, at.parts, data)


# ---- requests and answers


def _refused(request: Request, error: NacreError) -> str:
    """The words of a refusal; the audit log has its code."""
    request.state.outcome = problem_of(error).code
    return str(error)


def _require(request: Request, identity: Requester) -> None:
    """Raise RefusedRequestError (403) for too little a role, and for a page of another site."""
    needed = Role.VIEWER if request.method in SAFE else Role.OPERATOR
    if identity.role < needed:
        raise RefusedRequestError(403, "role", f"this needs the role {needed.title}")
    browser = "sec-fetch-site" in request.headers or "origin" in request.headers
    origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if request.method in SAFE or not browser or request.headers.get("sec-fetch-site") == "none":
        return
    if not is_same_origin(dict(request.headers), origin):
        raise RefusedRequestError(403, "other-origin", "a page of another site sent this")


async def _drained(request: Request) -> None:
    """Read what is left of a body, so that the client gets its answer."""
    try:
        async for _ in request.stream():
            pass
    except (ClientDisconnect, RuntimeError):  # gone, or read already
        return


def _target(request: Request) -> str:
    """Path and query, as they came."""
    raw = request.scope.get("raw_path") or request.url.path.encode()
    path = bytes(raw).decode("latin-1").partition("?")[0]
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def _base(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers['host']}/engine"


def _own_url(request: Request) -> str:
    path = _target(request).partition("?")[0]
    return f"{request.url.scheme}://{request.headers['host']}{path.rstrip('/')}"


async def _form(request: Request) -> dict[str, str]:
    """The first value of each field of a form."""
    body = (await request.body()).decode("utf-8", "replace")
    kind = request.headers.get("content-type", "")
    if kind and not kind.startswith("application/x-www-form-urlencoded"):
        raise RefusedRequestError(
            415, "not-a-form", "send a form, application/x-www-form-urlencoded"
        )
    try:
        found = parse_qs(body, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise RefusedRequestError(400, "bad-form", "the form has over 1,000 fields") from None
    fields = {name: values[0] for name, values in found.items()}
    request.state.note.change(None, fields)
    return fields


def _kind(request: Request) -> str:
    """What is accepted: `xml`, `json` or `html`."""
    accept = request.headers.get("accept", "")
    if "application/xml" in accept and "text/html" not in accept:
        return "xml"
    if "application/json" in accept:
        return "json"
    return "html" if "text/html" in accept else "xml"


def _document(request: Request, root: str, tree: Mapping[str, Any]) -> Response:
    if _kind(request) == "json":
        return Response(json_document(tree), media_type="application/json")
    return Response(xml_document(root, tree), media_type="application/xml")


def _html(text: str) -> Response:
    return Response(text, media_type="text/html")


def _see_other(place: str, said: str) -> Response:
    fields = {"location": place}
    if said:
        line = " ".join(said.split())[:500]
        fields[MESSAGE] = quote(line, safe=" !\"#$&'(+*),-./:;<=>?@[]^_`{|}~")
    return Response(status_code=303, headers=fields)


def _problem(error: NacreError) -> Response:
    problem = problem_of(error)
    if problem.status == HTTPStatus.NOT_FOUND:
        return Response(_PAGE, 404, media_type="text/html")
    return PlainTextResponse(f"{problem.detail}\n", problem.status)


def _number(text: str, default: int) -> int:
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) < 19 else default


def _streamed(request: Request, path: Path, size: int) -> Response:
    """A file, or the piece of it that is wanted."""
    wanted = files.byte_range(request.headers.get("range", ""), size)
    start, length = wanted or (0, size)
    fields = {"content-length": str(length), "accept-ranges": "bytes"}
    if wanted is not None:
        fields["content-range"] = f"bytes {start}-{start + length - 1}/{size}"
    kind = _KINDS.get(path.suffix, "text/plain; charset=utf-8")
    content = files.content(path, start, length)
    return StreamingResponse(content, 206 if wanted else 200, fields, media_type=kind)


def _heap() -> HeapFacts:
    """The memory of the console."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return HeapFacts(used, used, used)
