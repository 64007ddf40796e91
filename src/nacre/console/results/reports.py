"""The reports and studies of a job: their names, and a report in one of its forms."""

from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.catalogue import ENGLISH
from nacre.console.links import ItemList
from nacre.console.task_answers import later, read_or_later
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.snapshot import ask_toes
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText
from nacre.web.workers.background import HeldTask

FORMS: Final = {
    "application/json": "json",
    "text/plain": "text",
    "text/csv": "csv",
    "text/html": "html",
}
"""The forms of a report by their media types."""
_ENDS: Final = {"json": "json", "text": "txt", "csv": "csv", "html": "html"}


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


class ReportNames(ItemList[ReportItem], frozen=True):
    """The reports.

    Attributes:
        groups: The same by who reads them, each with its `audience`, `purpose` and `reports`.
    """

    groups: tuple[dict[str, Any], ...]


async def report_of(
    call: Call, job: FoundJob, name: str, query: ReportQuery, form: str, **sorting: object
) -> tuple[Any, HeldTask | None]:
    """A report in a form; or the task that will have it."""
    return await read_or_later(
        call, job, "report", name=name, url=query.u, old=query.old, new=query.new, run=query.run,
        language=query.lang, form=form, toes=await ask_toes(job),
        **{"table": -1, "sort": -1, "falling": False, "spoken": ENGLISH, **sorting},
    )  # fmt: skip


def form_wanted(accept: str) -> str:
    """The form of a report that an `Accept` field wants first; JSON where it wants none (pure)."""
    best, form = 0.0, "json"
    for part in accept.split(",")[:20]:
        kind, _, options = part.partition(";")
        quality = options.partition("q=")[2].split(";")[0].strip() if "q=" in options else "1"
        try:
            weight = float(quality)
        except ValueError:
            continue
        if kind.strip().lower() in FORMS and weight > best:
            best, form = weight, FORMS[kind.strip().lower()]
    return form


async def get_report(call: Call) -> Response:
    """A report as JSON, text, CSV or HTML."""
    query: ReportQuery = call.query
    name, job = str(call.params["report"]), call.job()
    form = query.form or form_wanted(call.request.headers.get("accept", ""))
    if form not in _ENDS:
        raise RefusedRequestError(
            400,
            "bad-query",
            message(
                "console.report-form",
                "a report is {names}; not {form}",
                names=", ".join(_ENDS),
                form=form,
            ),
        )
    answer, task = await report_of(call, job, name, query, form)
    if task is not None:
        return later(task)
    kind = next(kind for kind, formats in FORMS.items() if formats == form)
    fields = {"content-type": kind + ("" if form == "json" else "; charset=utf-8")}
    if query.download or form == "html":
        # A whole page of its own: as a file, it cannot act in the name of the console.
        file = quote(f"{job.name}-{name}.{_ENDS[form]}")
        fields["content-disposition"] = f"attachment; filename*=UTF-8''{file}"
    return Response(answer["body"], headers=fields)


async def list_reports(call: Call) -> ReportNames:
    """The names of all reports."""
    answer = await call.services.readers.ask("reports", call.job().layout.root)
    items = [
        {**data, "audience": group["audience"]}
        for group in answer["groups"]
        for data in group["reports"]
    ]
    return msgspec.convert({**answer, "items": items, "next": None, "as_of": call.now}, ReportNames)
