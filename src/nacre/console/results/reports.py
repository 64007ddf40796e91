"""The reports and studies of a job, each in one of its forms."""

from typing import Final
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.results.report_tasks import MadeReport, ReportTaskRequest, make_report
from nacre.console.task_answers import later, read
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


async def report_of(
    call: Call, query: ReportQuery, form: str, **page: object
) -> MadeReport | HeldTask:
    """Make the report of a request; return the task if it takes longer.

    Args:
        call: The request.
        query: The options of the report.
        form: As of `ReportTaskRequest`.
        page: Its fields for a page.
    """
    values = {
        "name": str(call.params["report"]), "form": form, "language": query.lang, "url": query.u,
        "old": query.old, "new": query.new, "run": query.run, "toes": await ask_toes(call.job()),
    }  # fmt: skip
    return await read(call, make_report, msgspec.convert({**values, **page}, ReportTaskRequest))


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
    report = await report_of(call, query, form)
    if isinstance(report, HeldTask):
        return later(report)
    kind = next(kind for kind, formats in FORMS.items() if formats == form)
    fields = {"content-type": kind + ("" if form == "json" else "; charset=utf-8")}
    if query.download or form == "html":
        # An HTML report is a complete page: as a download, it cannot act on behalf of the console.
        file = quote(f"{job.name}-{name}.{_ENDS[form]}")
        fields["content-disposition"] = f"attachment; filename*=UTF-8''{file}"
    return Response(report.body, headers=fields)
