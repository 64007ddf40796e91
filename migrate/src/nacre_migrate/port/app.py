"""The application of Heritrix's port: the log-in, and the answers to each path.

Whoever asks is known by Digest (or Basic) with a key of this interface. Looking needs the role
viewer, all else operator, the end of the console admin.
"""

import asyncio
import resource
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from nacre import __version__
from nacre.errors import JobError, NacreError
from nacre.fleet.audit import AuditEntry, AuditNote, copy_to_jobs
from nacre.fleet.reach import PortOptions
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import NOBODY, Requester
from nacre.fleet.snapshot import ask_toes
from nacre.fleet.users import REALM, ha1
from nacre.ops.operation import Role
from nacre.settings.layers import profile_names
from nacre.web.gate import LOOPBACK, SAFE, is_same_origin
from nacre.web.middleware import RequestGuard
from nacre.web.port import PortApp, PortConsole, PortParts
from nacre_migrate.port import answers, files
from nacre_migrate.port.access import DigestGuard, Proof, certificate_files, parse_field
from nacre_migrate.port.actions import BuiltJobs, HeritrixJobs, latest_run
from nacre_migrate.port.bean_browser import BeanBrowser
from nacre_migrate.port.conversion import note
from nacre_migrate.port.file_desk import FileDesk
from nacre_migrate.port.making import JobMaker
from nacre_migrate.port.model import (
    MORE_REPORTS,
    HeapFacts,
    HeritrixJobFacts,
    engine_tree,
    job_tree,
    script_tree,
)
from nacre_migrate.port.script_runner import ScriptRunner
from nacre_migrate.port.scripts import Deed, RecognisedScript, recognise, refusal
from nacre_migrate.port.statements import ScriptStep, read_statements

VERSION: Final = f"3.15.0-nacre-{__version__}"
LAG: Final = 6.0
_MOST_LATE: Final = 50
"""Failed tries that wait at a time; further ones are answered at once."""
"""Seconds between two failed tries to log in."""

Handler = Callable[[Request], Awaitable[Response]]


def make_port(parts: PortParts, options: PortOptions, console: PortConsole) -> PortApp:
    """Make the application of the port: see `web.port.PortMaker`."""
    app = HeritrixApp(parts, options, console.pages, console.on_exit)
    files = certificate_files(console.folder, parts.clock)
    return PortApp(app.asgi(parts.reach.hosts), *files)


class HeritrixApp:
    """Makes the application.

    Args:
        parts: The parts of the console that the port uses.
        options: Its options.
        pages: URL of the console's own pages, with a slash at its end.
        on_exit: Ends the console.
    """

    def __init__(
        self,
        parts: PortParts,
        options: PortOptions,
        pages: str,
        on_exit: Callable[[], None],
    ) -> None:
        self._parts = parts
        self._keys = parts.keys
        self._options = options
        self._pages = pages
        self._on_exit = on_exit
        self._guard = DigestGuard()
        self._built = BuiltJobs()
        self._failed = -LAG
        self._late = 0
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
        names = frozenset((*LOOPBACK, *(host.lower() for host in hosts)))
        return Starlette(routes=routes, middleware=[Middleware(RequestGuard, hosts=names)])

    # ---- the user

    def _jobs(self, request: Request) -> HeritrixJobs:
        """The jobs as the user of a request sees them."""
        return HeritrixJobs(self._parts, self._options, self._built, request.state.identity)

    def _files(self, request: Request) -> FileDesk:
        return FileDesk(self._parts, self._jobs(request), request.state.identity)

    def _maker(self, request: Request) -> JobMaker:
        return JobMaker(self._parts, self._jobs(request), request.state.identity)

    def _beans(self, request: Request) -> BeanBrowser:
        return BeanBrowser(self._parts, self._jobs(request))

    def _guarded(self, handler: Handler, action: str) -> Handler:
        async def answer(request: Request) -> Response:
            request.state.identity, request.state.note = NOBODY, AuditNote()
            request.state.outcome = "bug"
            status = 500
            try:
                response = await self._answer(handler, request)
                status = response.status_code
            finally:
                if request.method not in SAFE:
                    await self._audit(request, action, status)
            return response

        return answer

    async def _answer(self, handler: Handler, request: Request) -> Response:
        """The answer of a handler, or of a refusal."""
        state, audit = request.state, self._parts.audit
        try:
            identity, refused = await self._identify(request)
            if refused is not None:
                state.outcome = "no-login"
                await answers.drained(request)
                return refused
            state.identity = identity
            _require(request, identity)
            if request.method not in SAFE:
                self._parts.standing.require()
            if request.method not in SAFE and audit.is_full:
                raise RefusedRequestError(503, "audit", audit.trouble)
            state.outcome = "done"
            return await handler(request)
        except NacreError as error:
            answers.refused(request, error)
            await answers.drained(request)
            return answers.problem(error)
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
        job = self._jobs(request).all().get(str(request.path_params.get("job", "")))
        entry = AuditEntry(
            self._parts.audit.now(), identity.name, "heritrix" if identity.name else "",
            request.client.host if request.client else "", action, status, request.state.outcome,
            path=request.url.path, job=job.id if job is not None else "",
            before=note.before, after=note.after,
        )  # fmt: skip
        await self._parts.audit.add(entry)
        await copy_to_jobs(entry, [] if job is None else [job])

    async def _identify(self, request: Request) -> tuple[Requester, Response | None]:
        """The user, or the answer with the challenge to log in."""
        value = request.headers.get("authorization", "")
        now = self._parts.clock.now()
        field = parse_field(value)
        proof, identity = Proof.NONE, NOBODY
        if field is not None and (field.scheme == "basic") == self._options.basic:
            identity, stored = self._keys.find(field.username)
            if field.scheme == "basic":
                same = bool(stored) and ha1(field.username, field.values["password"]) == stored
                proof = Proof.GOOD if same else Proof.WRONG
            else:
                proof = self._guard.check(
                    field, request.method, answers.target(request), stored, now
                )
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
        """Wait `LAG` between two failed tries, one after another, as Heritrix does."""
        if self._late >= _MOST_LATE:
            return  # the keys are random: more tries find none
        self._late += 1
        try:
            await self._have_waited()
        finally:
            self._late -= 1

    async def _have_waited(self) -> None:
        async with self._failing:
            clock = self._parts.clock
            rest = self._failed + LAG - clock.monotonic()
            if rest > 0:
                await clock.sleep(rest)
            self._failed = clock.monotonic()

    # ---- the engine

    async def _root(self, _: Request) -> Response:
        return Response(status_code=302, headers={"location": "/engine"})

    async def _engine(self, request: Request) -> Response:
        if answers.kind(request) == "html":
            return Response(status_code=302, headers={"location": self._pages})
        base = answers.base(request)
        visible = self._jobs(request)
        jobs = [await visible.facts(name, base, logs=False) for name in visible.all()]
        jobs.sort(key=lambda job: job.launched, reverse=True)
        own = [job.name for job in jobs if job.profile]
        profiles = dict.fromkeys([*own, *await asyncio.to_thread(profile_names)])
        tree = engine_tree(VERSION, _heap(), visible.shown_directory, base, jobs, list(profiles))
        return answers.document(request, "engine", tree)

    async def _engine_action(self, request: Request) -> Response:
        form = await answers.form(request)
        maker, action, message = self._maker(request), form.get("action", ""), ""
        try:
            if action == "rescan":
                await self._jobs(request).rescan()
            elif action == "create":
                message = await maker.create(form.get("createpath", ""), form.get("profile", ""))
            elif action == "add":
                message = await maker.add(form.get("addpath") or form.get("path", ""))
            elif action == "exit java process":
                message = await self._exit(request, form)
        except NacreError as error:
            message = answers.refused(request, error)
        return answers.see_other(str(answers.own_url(request)), message)

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
            names = [f"{job_name}/" for job_name in self._jobs(request).all()]
            return answers.html(files.directory_html("jobs", names))
        return await self._files(request).served(request, name, rest)

    async def _any_path(self, _: Request) -> Response:
        raise RefusedRequestError(403, "no-such-path", "files outside of jobs are not served")

    # ---- a job

    async def _job(self, request: Request) -> Response:
        name = request.path_params["job"]
        job = self._jobs(request).job(name)
        if answers.kind(request) == "html":
            return Response(
                status_code=302, headers={"location": f"{self._pages}j/{quote(job.id)}"}
            )
        facts = await self._jobs(request).facts(name, answers.base(request))
        return answers.document(request, "job", job_tree(facts, _heap()))

    async def _job_action(self, request: Request) -> Response:
        name, jobs = request.path_params["job"], self._jobs(request)
        jobs.job(name)
        form = await answers.form(request)
        to, message = form.get("copyTo"), ""
        place = answers.own_url(request)
        if to is None and form.get("action") == "delete":
            return answers.see_other(answers.base(request), await self._delete(request, name))
        try:
            if to is not None:
                as_profile = "on" in {form.get("asProfile"), form.get("as_profile")}
                message = await self._maker(request).copy(name, to, as_profile=as_profile)
                place = f"{answers.base(request)}/job/{quote(to)}"
            else:
                message = await _act(jobs, name, form, request.state.identity.log_name)
        except NacreError as error:
            message = answers.refused(request, error)
            if (job := jobs.all().get(name)) is not None:
                action = "copy" if to is not None else form.get("action", "")
                note(self._parts, job.layout, "SEVERE", f"{action}: {message}")
        answer = answers.see_other(place, message)
        if form.get("action") == "unpause":
            answer.background = BackgroundTask(jobs.finish_unpause, name)
        return answer

    async def _delete(self, request: Request, name: str) -> str:
        """Delete a job; a refusal is an answer with its reason, not a redirect to the job.

        Raises:
            RefusedRequestError: It is built, or ran (409).
        """
        jobs = self._jobs(request)
        try:
            return await jobs.delete(name)
        except JobError as error:
            note(self._parts, jobs.job(name).layout, "SEVERE", f"delete: {error}")
            raise RefusedRequestError(409, "not-deleted", str(error)) from None

    async def _report(self, request: Request) -> Response:
        name = request.path_params["job"]
        job = self._jobs(request).job(name)
        report = MORE_REPORTS.get(request.path_params["name"])
        facts = await self._jobs(request).facts(name, answers.base(request), logs=False)
        if report is None or not facts.is_built:
            raise RefusedRequestError(500, "no-report", "no such report, or the job is not built")
        answer = await self._parts.readers.ask(
            "write-report", job.layout.root, 60.0, name=report, toes=await ask_toes(job)
        )
        modified = round(answer["modified"] * 1000)
        file = quote(f"{facts.launch}/reports/{answer['file']}")
        return answers.see_other(
            f"{answers.base(request)}/job/{quote(name)}/jobdir/{file}?m={modified}", ""
        )

    async def _bean(self, request: Request) -> Response:
        """The settings of a job under the names of beans."""
        name, path = request.path_params["job"], request.path_params.get("path", "")
        if answers.kind(request) == "html":
            job = quote(self._jobs(request).job(name).id)
            return Response(status_code=302, headers={"location": f"{self._pages}j/{job}/settings"})
        return answers.document(
            request, "beans", await self._beans(request).tree(name, answers.base(request), path)
        )

    async def _change_bean(self, request: Request) -> Response:
        """Change a property; theirs goes to the page of its path."""
        name, form = request.path_params["job"], await answers.form(request)
        path = form.get("beanPath", "")
        request.state.note.change(None, {path: form.get("newVal", "")})
        try:
            message = await self._beans(request).change(
                name, path, form.get("newVal", ""), request.state.identity,
                persist=form.get("persist") == "on",
            )  # fmt: skip
        except NacreError as error:
            message = answers.refused(request, error)
            if (job := self._jobs(request).all().get(name)) is not None:
                note(self._parts, job.layout, "SEVERE", f"beans: {path}: {message}")
        place = f"{answers.base(request)}/job/{quote(name)}/beans/{quote(path)}"
        return answers.see_other(place.rstrip("/"), message)

    async def _script(self, request: Request) -> Response:
        name = request.path_params["job"]
        facts = await self._jobs(request).facts(name, answers.base(request), logs=False)
        if request.method in SAFE:
            return answers.document(request, "script", script_tree(facts))
        script = (await answers.form(request)).get("script", "")
        recognised = recognise(script)
        steps = read_statements(script) if recognised is None else None
        if steps is not None:
            return await self._run_steps(request, facts, script, steps)
        if recognised is None:
            request.state.outcome = "no-script"
            error = refusal(script, facts.root)
            return answers.document(request, "script", script_tree(facts, script, error=error))
        try:
            output = await _do(self._jobs(request), name, recognised, facts.launch)
        except NacreError as error:
            message = answers.refused(request, error)
            if recognised.deed is Deed.WARCS:
                message = f"javax.script.ScriptException: java.io.FileNotFoundException: {error}"
            failed = answers.document(request, "script", script_tree(facts, script, error=message))
            if recognised.deed is Deed.DELETE:
                failed.status_code = 409  # clients look at nothing but the status of a deletion
            return failed
        return answers.document(request, "script", script_tree(facts, script, output))

    async def _run_steps(
        self, request: Request, facts: HeritrixJobFacts, script: str, steps: Sequence[ScriptStep]
    ) -> Response:
        """Carry out a script of plain statements."""
        requester, jobs = request.state.identity, self._jobs(request)
        runner = ScriptRunner(self._parts, jobs, facts.name, requester)
        try:
            output = await runner.run(steps)
        except NacreError as error:
            message = answers.refused(request, error)
            note(self._parts, jobs.job(facts.name).layout, "SEVERE", f"script: {message}")
            return answers.document(request, "script", script_tree(facts, script, error=message))
        done = ", ".join(dict.fromkeys(step.step.value for step in steps))
        text = f"script: {done}, by {requester.name}"
        note(self._parts, jobs.job(facts.name).layout, "INFO", text)
        return answers.document(request, "script", script_tree(facts, script, output))

    # ---- files of a job

    async def _file(self, request: Request) -> Response:
        path = request.path_params.get("path", "")
        return await self._files(request).served(request, request.path_params["job"], path)

    async def _put_file(self, request: Request) -> Response:
        return await self._files(request).put(request)

    async def _post_file(self, request: Request) -> Response:
        return await self._files(request).post(request)


async def _act(jobs: HeritrixJobs, name: str, form: Mapping[str, str], by: str) -> str:
    """Do an action; one that is not known does nothing, as theirs."""
    action = form.get("action", "")
    if action == "launch":
        return await jobs.launch(name, by, form.get("checkpoint", ""))
    if action in {"build", "validate", "instantiate", "checkXML"}:
        return await jobs.build(name)
    actions: dict[str, Callable[[str, str], Awaitable[str]]] = {
        "pause": jobs.pause, "unpause": jobs.unpause, "checkpoint": jobs.checkpoint,
        "terminate": jobs.terminate, "teardown": jobs.teardown,
    }  # fmt: skip
    if action not in actions:
        return f"there is no action {action!r}"
    return await actions[action](name, by)


async def _do(jobs: HeritrixJobs, name: str, script: RecognisedScript, launch: str) -> str:
    """Carry out a recognised script; return its output."""
    layout = jobs.job(name).layout
    if script.deed is Deed.LAUNCH_ID:
        return f"{launch or 'null'}\n"
    if script.deed is Deed.DELETE:
        await jobs.delete(name)
        return ""
    if script.deed is Deed.WARCS:
        path = files.resolve(f"{script.launch}/warcs", latest_run(layout))
        names = await asyncio.to_thread(files.listed, layout.root, path)
        lines = [f"{script.launch}/warcs/{file}" for file in names if ".warc" in file]
    else:
        every = await asyncio.to_thread(list, files.listed_below(layout.root))
        lines = [p for p, folder in every if (script.folders if folder else script.files)]
    return "".join(f"./jobs/{name}/{line}\n" for line in lines)


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


def _heap() -> HeapFacts:
    """The memory of the console."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return HeapFacts(used, used, used)
