"""`/api/v1/jobs/J/seed-list` and `/j/J/seeds/list`: the file with the seeds of a job."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.places import FoundJob
from nacre.console.links import job_path
from nacre.console.live.notices import Notice
from nacre.console.problems import PROBLEM_TYPE, ProblemDetails, RefusedRequestError
from nacre.console.settings.file_page import difference
from nacre.console.spoken import spoken_problem
from nacre.console.versions import EditedThing
from nacre.messages import message
from nacre.ops.fields import ShortText, Text


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
"""Why a seed list cannot be edited here, by the codes of `readers.seed_list`."""
_PATIENCE: Final = 20.0


class SeedListFile(msgspec.Struct, frozen=True):
    """The seed list of a job.

    Attributes:
        file: The file, as the settings name it; "" where the list is in the settings.
        text: Its lines: URLs, `+` and `-` directives, comments.
        why: Why it cannot be edited here; "" where it can.
    """

    file: str
    text: str
    why: str = ""


class SeedListWish(msgspec.Struct, frozen=True):
    """Another seed list, as its lines."""

    text: Text


class SeedListForm(msgspec.Struct, frozen=True):
    """The form of a seed list.

    Attributes:
        text: Its lines.
        etag: ETag of the list that they are based on; "*" for any.
    """

    text: Text = ""
    etag: ShortText = "*"


class SavedSeedList(msgspec.Struct, frozen=True):
    """A seed list that was saved.

    Attributes:
        seeds: Seeds in it.
        changed: It is another one than before.
    """

    seeds: int
    changed: bool


async def ask_seed_list(call: Call, job: FoundJob) -> dict[str, Any]:
    """The list as `readers.seed_list.KeptSeedList` has it."""
    found: dict[str, Any] = await call.services.readers.ask("seed-list", job.layout.root, _PATIENCE)
    return found


async def save_seed_list(call: Call, job: FoundJob, text: str, tag: str) -> dict[str, Any]:
    """Save a list; the answer of `readers.seed_list.save_seed_list`.

    Args:
        call: Who asks.
        job: The job.
        text: The lines.
        tag: ETag that they are based on; "*" for any.

    Raises:
        RefusedRequestError: The job runs, or the list cannot be edited here (409).
    """
    found: dict[str, Any] = await call.services.readers.ask(
        "save-seed-list", job.layout.root, _PATIENCE, text=text, etag=tag
    )
    outcome = found["outcome"]
    call.note.change(None, {"outcome": outcome, "difference": found.get("difference", [])})
    if outcome == "closed":
        raise RefusedRequestError(409, found["why"], WHYS[found["why"]])
    if outcome == "running":
        raise RefusedRequestError(
            409,
            "running",
            message(
                "console.seeds-of-running-job",
                "the job runs, and its list of seeds cannot be replaced: add seeds to the run, or "
                "stop the job first",
            ),
        )
    return found


async def get_seed_list(call: Call) -> SeedListFile:
    """The seed list of a job."""
    found = await ask_seed_list(call, call.job())
    return SeedListFile(found["file"], found["text"], found["why"])


async def seed_list_version(call: Call) -> EditedThing:
    """The seed list as it is."""
    found = await ask_seed_list(call, call.job())
    return EditedThing(found["etag"], found["text"])


async def put_seed_list(call: Call) -> SavedSeedList | Response:
    """Save another seed list of a job that does not run."""
    wish: SeedListWish = call.body
    found = await save_seed_list(call, call.job(), wish.text, "*")
    if found["outcome"] == "problems":
        return problem_answer(call, found["problems"])
    return SavedSeedList(found["seeds"], found["outcome"] == "saved")


def problem_answer(call: Call, problems: list[dict[str, Any]]) -> Response:
    """The answer (422) to lines that are no seeds, each with its number."""
    first = problems[0]
    place = f"line {first['line']}: " if first["line"] else ""
    details = ProblemDetails(
        HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-seeds", f"{place}{first['message']}",
        tuple(problems),
    )  # fmt: skip
    data = msgspec.json.encode(spoken_problem(details, call.language))
    return Response(data, 422, media_type=PROBLEM_TYPE)


# ---- the page


async def page(call: Call) -> PageAnswer:
    """The seed list; of a job that never ran it is all there is about its seeds."""
    found = await ask_seed_list(call, call.job())
    return PageAnswer("seed_list.html", await _facts(call, found["text"], found))


async def _facts(call: Call, text: str, found: dict[str, Any]) -> dict[str, Any]:
    """The facts of the page about a text.

    Args:
        call: The request.
        text: It.
        found: The list that is saved, with its ETag.
    """
    job = call.job()
    seen = await call.services.poller.fresh(job)
    why = found.get("why", "")
    return {
        "text": text, "etag": found.get("etag", "*"), "file": found.get("file", ""),
        "why": call.language.texts.gettext(WHYS[why]) if why else "",
        "in_settings": why == "settings",
        "running": seen.running, "never_ran": not job.layout.has_store,
        "problems": (), "changed": False, "diff": (),
    }  # fmt: skip


async def submit(call: Call) -> PageAnswer | RedirectResponse:
    """Save the list; a form."""
    form, job = call.body, call.job()
    text = form.text.replace("\r\n", "\n")
    answer = await save_seed_list(call, job, text, form.etag)
    outcome = answer["outcome"]
    if outcome in {"saved", "same"}:
        _tell(call, outcome, answer["seeds"])
        await call.services.poller.look(job)
        return RedirectResponse(f"{job_path(call.job().id)}/seeds/list", 303)
    saved = answer if outcome == "changed" else await ask_seed_list(call, job)
    facts = await _facts(call, text, saved)
    if outcome == "changed":
        facts |= {"changed": True, "diff": difference(saved["text"], text)}
        return PageAnswer("seed_list.html", facts, 412)
    return PageAnswer("seed_list.html", {**facts, "problems": answer["problems"]}, 422)


def _tell(call: Call, outcome: str, seeds: int) -> None:
    texts = call.language.texts
    if outcome == "same":
        said = texts.gettext("Nothing is different from the saved list.")
    else:
        said = texts.ngettext(
            "The list is saved: {number} seed.", "The list is saved: {number} seeds.", seeds
        ).format(number=f"{seeds:,}")
    if call.session is not None:
        call.services.notices.add(call.identity.session, Notice("done", said))
