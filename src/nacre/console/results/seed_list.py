"""`/api/v1/jobs/J/seed-list` and `/j/J/seeds/list`: the file with the seeds of a job."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.call import Call, PageAnswer
from nacre.console.links import job_path
from nacre.console.settings.file_page import difference
from nacre.console.task_answers import ask
from nacre.core.message_data import to_json
from nacre.errors import Problem
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import Text
from nacre.ops.seed_list import (
    EditedSeedList,
    SeedListFile,
    SeedListForm,
    SeedListResult,
    read_seed_text,
    save_seed_text,
)
from nacre.web.languages import spoken_problem
from nacre.web.live.hub import Notice
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails
from nacre.web.versions import EditedThing
from nacre.web.workers.task import NoRequest, reader_task


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


WHYS: Final[Mapping[str, str]] = {
    "settings": _("The seeds of this job are a list in its settings: edit them there."),
    "rounds": _(
        "The seeds of a crawl in rounds are in its table: `nacre cycle DIR inject` adds some."
    ),
    "elsewhere": _("The list of seeds lies outside of the directory of the job: edit it there."),
    "packed": _("The list of seeds is compressed: edit it outside of the console."),
    "long": _("The list of seeds is too long to be edited in a page: edit it in a file."),
    "login": _("The list of seeds has a password, which no page shows: edit it in a file."),
    "coding": _("The list of seeds has bytes that are not text: edit it in a file."),
}  # fmt: skip
"""Why a seed list cannot be edited here, by the codes of `SeedListFile`."""


class SeedListWish(msgspec.Struct, frozen=True):
    """Another seed list, as its lines."""

    text: Text


class SavedSeedList(msgspec.Struct, frozen=True):
    """A seed list that was saved.

    Attributes:
        seeds: Seeds in it.
        changed: It differs from the previous list.
    """

    seeds: int
    changed: bool


@reader_task("seed-list")
def read_list(layout: Layout, _: NoRequest) -> EditedSeedList:
    """Read the seed list of a job; see `ops.seed_list.read_seed_text`."""
    return read_seed_text(layout)


@reader_task("save-seed-list")
def write_list(layout: Layout, request: SeedListForm) -> SeedListResult:
    """Replace the seed list of a job; see `ops.seed_list.save_seed_text`."""
    return save_seed_text(layout, request)


async def _save(call: Call, request: SeedListForm) -> SeedListResult:
    """Save a list.

    Raises:
        RefusedRequestError: The job runs, or the list cannot be edited here (409).
    """
    result = await ask(call, write_list, request)
    call.note.change(None, {"outcome": result.outcome, "difference": list(result.difference)})
    if result.outcome == "closed":
        raise RefusedRequestError(409, result.stored.why, WHYS[result.stored.why])
    if result.outcome == "running":
        raise RefusedRequestError(
            409,
            "running",
            message(
                "console.seeds-of-running-job",
                "the job runs, and its list of seeds cannot be replaced: add seeds to the run, or "
                "stop the job first",
            ),
        )
    return result


async def get_seed_list(call: Call) -> SeedListFile:
    """The seed list of a job."""
    stored = await ask(call, read_list, NoRequest())
    return SeedListFile(stored.file, stored.text, stored.why)


async def seed_list_version(call: Call) -> EditedThing:
    """The seed list as it is."""
    stored = await ask(call, read_list, NoRequest())
    return EditedThing(stored.etag, stored.text)


async def put_seed_list(call: Call) -> SavedSeedList | Response:
    """Save another seed list of a job that does not run."""
    request: SeedListWish = call.body
    result = await _save(call, SeedListForm(request.text))
    if result.problems:
        return _problem_answer(call, result.problems)
    return SavedSeedList(result.seeds, result.outcome == "saved")


def _problem_answer(call: Call, problems: Sequence[Problem]) -> Response:
    """The answer (422) to lines that are no seeds, each with its number."""
    first = problems[0]
    text = first.message
    if first.line:
        text = message("console.line", "line {line}: {text}", line=first.line, text=text)
    details = ProblemDetails(
        HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-seeds", text,
        tuple(problem._asdict() for problem in problems),
    )  # fmt: skip
    data = to_json(spoken_problem(details, call.language))
    return Response(data, 422, media_type=PROBLEM_TYPE)


# ---- the page


async def page(call: Call) -> PageAnswer:
    """The seed list; of a job that never ran it is all there is about its seeds."""
    stored = await ask(call, read_list, NoRequest())
    return PageAnswer("seed_list.html", await _facts(call, stored.text, stored))


async def _facts(call: Call, text: str, stored: EditedSeedList) -> dict[str, object]:
    """The facts of the page about a text.

    Args:
        call: The request.
        text: The text.
        stored: The list that is saved.
    """
    job = call.job()
    snapshot = await call.poller.fresh(job)
    return {
        "text": text, "etag": stored.etag, "file": stored.file,
        "why": call.language.texts.gettext(WHYS[stored.why]) if stored.why else "",
        "in_settings": stored.why == "settings",
        "running": snapshot.running, "never_ran": not job.layout.has_store,
        "problems": (), "changed": False, "diff": (),
    }  # fmt: skip


async def submit(call: Call) -> PageAnswer | RedirectResponse:
    """Save the list; a form."""
    form, job = call.body, call.job()
    text = form.text.replace("\r\n", "\n")
    result = await _save(call, SeedListForm(text, form.etag))
    if result.outcome in {"saved", "same"}:
        _tell(call, result.outcome, result.seeds)
        await call.poller.look(job)
        return RedirectResponse(f"{job_path(call.job().id)}/seeds/list", 303)
    facts = await _facts(call, text, result.stored)
    if result.outcome == "changed":
        facts |= {"changed": True, "diff": difference(result.stored.text, text)}
        return PageAnswer("seed_list.html", facts, 412)
    return PageAnswer("seed_list.html", {**facts, "problems": result.problems}, 422)


def _tell(call: Call, outcome: str, seeds: int) -> None:
    texts = call.language.texts
    if outcome == "same":
        text = texts.gettext("Nothing is different from the saved list.")
    else:
        text = texts.ngettext(
            "The list is saved: {number} seed.", "The list is saved: {number} seeds.", seeds
        ).format(number=f"{seeds:,}")
    if call.session is not None:
        call.notices.add(call.identity.session, Notice("done", text))
