"""`/api/v1/jobs/J/{seeds,explain,reports,studies,runs,checkpoints,files}`: results of a job."""

import asyncio
import os
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.responses import Response, StreamingResponse

from nacre.console.api.pushes import PushState, push_state
from nacre.console.background.answers import later, read_or_later
from nacre.console.background.frontier_work import import_lines
from nacre.console.call import Call
from nacre.console.catalogue import ENGLISH
from nacre.console.cursors import cursor_of, place_of
from nacre.console.expressions import containing
from nacre.console.fleet.job_files import FilePlace, byte_range, list_files, open_file, pieces
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.readers.background import HeldTask
from nacre.core.clock import iso
from nacre.errors import NacreError
from nacre.inspect.explain.answers import Explanation
from nacre.job.background.checkpoints import ListedCheckpoint, list_checkpoints
from nacre.job.control import ask_command
from nacre.ops.fields import Cursor, LineText, RowCount, ShortText, Texts

_TOES: Final = 2.0
"""Seconds that a running job has to say what its workers do."""
_CLOSED: Final = 20.0
"""Seconds that the question may take which files hold secrets."""
FORMS: Final = {
    "application/json": "json",
    "text/plain": "text",
    "text/csv": "csv",
    "text/html": "html",
}
"""The forms of a report by their media types."""
_ENDS: Final = {"json": "json", "text": "txt", "csv": "csv", "html": "html"}


class SeedsQuery(msgspec.Struct, frozen=True):
    """The filters of the seeds.

    Attributes:
        state: `got`, `error`, `no reply`, `refused`, `waits`, `not due`; `not crawled`: all but
            the first; "" for all.
        contains: Only seeds whose URL has this text, in letters or with its escapes; "" for all.
        after: `next` of the page before; "" for the first.
        limit: Seeds on a page, 1 to 500.
    """

    state: ShortText = ""
    contains: LineText = ""
    after: Cursor = ""
    limit: RowCount = 50


class SeedItem(msgspec.Struct, frozen=True):
    """A seed.

    Attributes:
        url: The seed.
        state: Its outcome, or that of its redirect's target.
        status: Fetch status of the last try; 0 when it was not tried.
        cause: Why it was not got, in words; "" when it was.
        tries: Tries so far.
        next_try: When it is tried again, RFC 3339; "" when nothing says so.
        target: Where it redirected to; "" for nowhere.
        failed_runs: Runs in a row in which it could not be connected to; from two on it has two
            tries a run.
    """

    url: str
    state: str
    status: int
    cause: str
    tries: int
    next_try: str
    target: str
    failed_runs: int = 0


class SeedOutcomeList(msgspec.Struct, frozen=True):
    """A page of seeds, in the order of the list.

    Attributes:
        items: The seeds.
        next: The `after` of the next page; null for none.
        as_of: The moment of these data, RFC 3339.
        searched: Seeds that were looked at.
        total: All seeds.
    """

    items: tuple[SeedItem, ...]
    next: str | None
    as_of: str
    searched: int
    total: int


class NewSeeds(msgspec.Struct, frozen=True):
    """Seeds for a job.

    Attributes:
        lines: Lines of a seed list: URLs, `+` and `-` directives.
        retry: They are seeds already, and are to be fetched again.
    """

    lines: Texts
    retry: bool = False


class SeedsTaken(msgspec.Struct, frozen=True):
    """The result of new seeds, or of a retry: how many were scheduled, counts, rejected lines."""

    changed: int
    tally: dict[str, int]
    rejected: tuple[dict[str, Any], ...]


class UrlQuery(msgspec.Struct, frozen=True):
    """The URL that is asked about, as typed."""

    u: LineText = ""


class UrlVisit(msgspec.Struct, frozen=True):
    """A visit of a URL in an incremental run; null where a field is not known.

    Attributes:
        time: When, RFC 3339; "" where that is not known.
        run: Its run.
        verdict: The result: new, changed, same and so on.
        status: Fetch status.
        size: Bytes.
    """

    time: str = ""
    run: Any = None
    verdict: Any = None
    status: Any = None
    size: Any = None


class ExplainedUrl(msgspec.Struct, frozen=True):
    """All that is known of a URL: the explanation, its visits, and the moment of these data."""

    explanation: Explanation
    visits: tuple[UrlVisit, ...]
    as_of: str


class RunItem(msgspec.Struct, frozen=True):
    """A run.

    Attributes:
        name: Its directory.
        number: From 1.
        mode: `full` or `incremental`.
        started: When, RFC 3339.
        ended: The same; "" while it runs.
        elapsed: Seconds that it ran.
        exit: How it ended; RUNNING while it runs, or after a crash.
        budget: What it might spend; "" for no limit.
        keep: What of its visits is stored in full.
        got: Its replies and failures: `documents`, `errors`, `redirects`, `unchanged` (304),
            `failed`; {} where an earlier run has left no summary.
        found: Its pages by what a comparison with earlier runs showed; {} where none was made: of
            the first run, and of a full one until the next incremental run.
        closed: It was ended for good.
    """

    name: str
    number: int
    mode: str
    started: str
    ended: str
    elapsed: float
    exit: str
    budget: str
    keep: str
    got: dict[str, int]
    found: dict[str, int]
    closed: bool


class RunsQuery(msgspec.Struct, frozen=True):
    """The place in the list of runs.

    Attributes:
        after: `next` of the page before; "" for the newest ones.
        limit: Runs on a page, 1 to 500.
    """

    after: Cursor = ""
    limit: RowCount = 50


class RunList(msgspec.Struct, frozen=True):
    """A page of runs, the newest first.

    Attributes:
        items: They.
        as_of: The moment of these data, RFC 3339.
        next: The `after` of the next page; null for none.
    """

    items: tuple[RunItem, ...]
    as_of: str
    next: str | None = None


class CheckpointItem(msgspec.Struct, frozen=True):
    """A checkpoint.

    Attributes:
        name: Its name.
        made: When, RFC 3339.
        run: Its run; "" where that was not noted.
        finished: URIs done then; null where that was not noted.
        queued: URIs that waited then; likewise.
    """

    name: str
    made: str
    run: str = ""
    finished: int | None = None
    queued: int | None = None


class CheckpointList(msgspec.Struct, frozen=True):
    """All checkpoints, the newest first; `next` is always null."""

    items: tuple[CheckpointItem, ...]
    as_of: str
    next: str | None = None


class FileItem(msgspec.Struct, frozen=True):
    """A file of a job.

    Attributes:
        path: Its path, as `/files/PATH` takes it.
        size: Bytes.
        modified: When it was written last, RFC 3339.
        pushed: The OutbackCDX server of the settings has taken it; null for what is no index of a
            closed WARC, and where nothing was ever posted.
    """

    path: str
    size: int
    modified: str
    pushed: bool | None = None


class FilesQuery(msgspec.Struct, frozen=True):
    """The filters of the files.

    Attributes:
        run: Only files of the run of this name; "" for all.
        after: `next` of the page before; "" for the first.
        limit: Files on a page, 1 to 500.
    """

    run: ShortText = ""
    after: Cursor = ""
    limit: RowCount = 50


class FileList(msgspec.Struct, frozen=True):
    """A page of the files of a job, the newest run first.

    Attributes:
        items: They.
        as_of: The time of the answer, RFC 3339.
        next: The `after` of the next page; null for none.
        gone: Indexes that the OutbackCDX server has, and the archive has not any more.
    """

    items: tuple[FileItem, ...]
    as_of: str
    next: str | None = None
    gone: int = 0


class ReportQuery(msgspec.Struct, frozen=True):
    """The options of a report.

    Attributes:
        u: The page, for those that are of one page; "" for none.
        old: Beginning of the date of the older version, for `diff`.
        new: The same of the newer one.
        run: ShortText or number of a run, for `run`.
        lang: `en` or `zh`, for `run`.
        form: `json`, `text`, `csv` or `html`; "" for what `Accept` wants.
        download: The answer is a file to be kept.
    """

    u: LineText = ""
    old: ShortText = ""
    new: ShortText = ""
    run: ShortText = ""
    lang: ShortText = "en"
    form: ShortText = ""
    download: bool = False


class ReportItem(msgspec.Struct, frozen=True):
    """A report.

    Attributes:
        name: Its name, as `/reports/NAME` takes it.
        summary: What it is about.
        subject: What it is of.
        audience: Who reads it.
    """

    name: str
    summary: str
    subject: str
    audience: str


class ReportNames(msgspec.Struct, frozen=True):
    """The reports.

    Attributes:
        items: They.
        next: Always null: all are on this page.
        as_of: The time of the answer, RFC 3339.
        groups: The same by who reads them, each with its `audience`, `purpose` and `reports`.
    """

    items: tuple[ReportItem, ...]
    next: str | None
    as_of: str
    groups: tuple[dict[str, Any], ...]


async def seeds_of(call: Call, query: SeedsQuery) -> SeedOutcomeList | HeldTask:
    """A page of seeds; or the task that will have it."""
    after = place_of(query.after, int) or 0
    found, held = await read_or_later(
        call, call.job(), "seeds", state=query.state, after=max(after, 0),
        limit=query.limit, re=containing(query.contains.strip()),
    )  # fmt: skip
    if held is not None:
        return held
    following = cursor_of(found["next"]) if found["next"] is not None else None
    return msgspec.convert({**found, "next": following}, SeedOutcomeList)


async def list_seeds(call: Call) -> SeedOutcomeList | Response:
    """A page of seeds with their outcomes."""
    found = await seeds_of(call, call.query)
    return later(found) if isinstance(found, HeldTask) else found


async def add_seeds(call: Call) -> SeedsTaken | Response:
    """Add seeds to the run, or fetch some of them again."""
    wish: NewSeeds = call.body
    held = begin_seeds(call, "\n".join(wish.lines), retry=wish.retry)
    root = call.job().layout.root
    found = await held.outcome(call.services.readers.patience("import-uris", root))
    return msgspec.convert(found, SeedsTaken) if held.ended else later(held)


def begin_seeds(call: Call, text: str, *, retry: bool) -> HeldTask:
    """Begin to take seeds in.

    Args:
        call: The request.
        text: Lines of a seed list.
        retry: They are seeds already, and are to be fetched again.
    """
    if not text.strip():
        raise RefusedRequestError(422, "no-seeds", "there is no line with a URL")
    mode = "import" if retry else "seeds"
    return import_lines(call, call.job(), f"{text}\n", mode, force=retry)


async def explain_of(call: Call, job: FoundJob, url: str) -> ExplainedUrl | HeldTask:
    """All that is known of a URL; or the task that will have it."""
    running = call.services.poller.snapshot(job).running
    found, held = await read_or_later(call, job, "explain", url=url, running=running)
    return held if held is not None else msgspec.convert(found, ExplainedUrl)


async def explain(call: Call) -> ExplainedUrl | Response:
    """Explain why a URL was or was not crawled."""
    found = await explain_of(call, call.job(), str(call.query.u))
    return later(found) if isinstance(found, HeldTask) else found


async def report_of(
    call: Call, job: FoundJob, name: str, query: ReportQuery, form: str, **sorting: object
) -> tuple[Any, HeldTask | None]:
    """A report in a form; or the task that will have it."""
    return await read_or_later(
        call, job, "report", name=name, url=query.u, old=query.old, new=query.new, run=query.run,
        language=query.lang, form=form, toes=await toes_of(job),
        **{"table": -1, "sort": -1, "falling": False, "spoken": ENGLISH, **sorting},
    )  # fmt: skip


async def toes_of(job: FoundJob) -> dict[str, Any] | None:
    """The answer of a running job about its workers; None where it does not run, or is too busy."""
    try:
        return await ask_command(job.layout.socket, "toes", _TOES)
    except NacreError:
        return None


def form_wanted(accept: str) -> str:
    """The form of a report that an `Accept` field wants first; JSON where it wants none (pure)."""
    best, found = 0.0, "json"
    for part in accept.split(",")[:20]:
        kind, _, options = part.partition(";")
        quality = options.partition("q=")[2].split(";")[0].strip() if "q=" in options else "1"
        try:
            weight = float(quality)
        except ValueError:
            continue
        if kind.strip().lower() in FORMS and weight > best:
            best, found = weight, FORMS[kind.strip().lower()]
    return found


async def get_report(call: Call) -> Response:
    """A report as JSON, text, CSV or HTML."""
    query: ReportQuery = call.query
    name, job = str(call.request.path_params["report"]), call.job()
    form = query.form or form_wanted(call.request.headers.get("accept", ""))
    if form not in _ENDS:
        raise RefusedRequestError(400, "bad-query", f"a report is {', '.join(_ENDS)}; not {form}")
    found, held = await report_of(call, job, name, query, form)
    if held is not None:
        return later(held)
    kind = next(kind for kind, known in FORMS.items() if known == form)
    fields = {"content-type": kind + ("" if form == "json" else "; charset=utf-8")}
    if query.download or form == "html":
        # A whole page of its own: as a file, it cannot act in the name of the console.
        file = quote(f"{job.name}-{name}.{_ENDS[form]}")
        fields["content-disposition"] = f"attachment; filename*=UTF-8''{file}"
    return Response(found["body"], headers=fields)


async def list_reports(call: Call) -> ReportNames:
    """The names of all reports."""
    found = await call.services.readers.ask("reports", call.job().layout.root)
    items = [
        {**one, "audience": group["audience"]}
        for group in found["groups"]
        for one in group["reports"]
    ]
    now = iso(call.services.clock.now())
    return msgspec.convert({**found, "items": items, "next": None, "as_of": now}, ReportNames)


async def runs_of(call: Call, query: RunsQuery) -> RunList | HeldTask:
    """A page of runs; or the task that will have it."""
    after = max(place_of(query.after, int) or 0, 0)
    found, held = await read_or_later(call, call.job(), "runs", after=after, limit=query.limit)
    if held is not None:
        return held
    following = cursor_of(found["next"]) if found["next"] is not None else None
    return msgspec.convert({**found, "next": following}, RunList)


async def list_runs(call: Call) -> RunList | Response:
    """A page of runs, with what each found."""
    found = await runs_of(call, call.query)
    return later(found) if isinstance(found, HeldTask) else found


async def list_checkpoints_of(call: Call) -> CheckpointList:
    """All checkpoints."""
    layout = call.job().layout
    found = await asyncio.to_thread(lambda: list(list_checkpoints(layout)))
    items = [CheckpointItem(one.name, iso(one.made), *_noted(one)) for one in reversed(found)]
    return CheckpointList(tuple(items), iso(call.services.clock.now()))


def _noted(checkpoint: ListedCheckpoint) -> tuple[str, int | None, int | None]:
    """Run, URIs done and URIs that waited, as far as they were noted."""
    note = checkpoint.moment
    return ("", None, None) if note is None else (note.run, note.finished, note.queued)


def _is_taken(path: str, state: PushState | None) -> bool | None:
    name = path.rpartition("/")[2]
    return name in state.names if state is not None and name.endswith(".cdxj") else None


async def list_files_of(call: Call) -> FileList:
    """A page of the files that can be downloaded."""
    query: FilesQuery = call.query
    layout, after = call.job().layout, place_of(query.after, FilePlace)
    found = await asyncio.to_thread(list_files, layout.root, query.limit, after, query.run)
    state = await asyncio.to_thread(push_state, layout)
    items = tuple(
        FileItem(item.path, item.size, iso(item.modified), _is_taken(item.path, state))
        for item in found.items
    )
    gone = state.gone if state is not None else 0
    following = cursor_of(found.next) if found.next is not None else None
    return FileList(items, iso(call.services.clock.now()), following, gone)


async def get_file(call: Call) -> Response:
    """A file of a job, whole or a part of it (`Range`), always as a download."""
    path = str(call.request.path_params["path"])
    layout = call.job().layout
    opened = await asyncio.to_thread(open_file, layout.root, path)
    try:
        closed = await call.services.readers.ask("closed-files", layout.root, _CLOSED)
    except BaseException:
        os.close(opened.handle)
        raise
    if [opened.device, opened.inode] in closed:
        os.close(opened.handle)
        raise not_found(f"file {path}")
    stamp = f'"{opened.size:x}-{int(opened.modified * 1000):x}"'
    wanted = call.request.headers.get("range", "")
    if call.request.headers.get("if-range", stamp) != stamp:
        wanted = ""
    try:
        part = byte_range(wanted, opened.size)
    except RefusedRequestError:
        os.close(opened.handle)
        raise
    start, length = part or (0, opened.size)
    file = quote(path.rpartition("/")[2])
    fields = {
        "accept-ranges": "bytes",
        "content-length": str(length),
        "content-disposition": f"attachment; filename*=UTF-8''{file}",
        "etag": stamp,
    }
    if part is not None:
        fields["content-range"] = f"bytes {start}-{start + length - 1}/{opened.size}"
    kind = "application/octet-stream"
    status = 200 if part is None else 206
    return StreamingResponse(pieces(opened, start, length), status, fields, media_type=kind)
