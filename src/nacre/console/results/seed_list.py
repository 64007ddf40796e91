"""`/api/v1/jobs/J/seed-list` and `/j/J/seeds/list`: the file with the seeds of a job."""

import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.config.ordinary import read_ordinary
from nacre.console.call import Call, PageAnswer
from nacre.console.links import job_path
from nacre.console.live.hub import Notice
from nacre.console.settings.file_page import difference
from nacre.console.settings.file_tasks import changed_lines
from nacre.console.spoken import spoken_problem
from nacre.core.message_data import to_builtins, to_json
from nacre.engine.seeding.seedfile import UTF_8, file_coding
from nacre.engine.seeding.seeds import BadSeed, Seed, read_seeds
from nacre.errors import JobError, Problem
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.apply_change import alone
from nacre.job.control import is_running
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import ShortText, Text
from nacre.settings.load import load_job
from nacre.store.disk import RealDisk
from nacre.store.writer import write_whole
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails
from nacre.web.versions import EditedThing


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
"""Why a seed list cannot be edited here, by the codes of `KeptSeedList`."""
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
    """The list as `KeptSeedList` has it."""
    answer: dict[str, Any] = await call.services.readers.ask(
        "seed-list", job.layout.root, _PATIENCE
    )
    return answer


async def save_seed_list(call: Call, job: FoundJob, text: str, tag: str) -> dict[str, Any]:
    """Save a list; the answer of `write_seed_list`.

    Args:
        call: The caller.
        job: The job.
        text: The lines.
        tag: ETag that they are based on; "*" for any.

    Raises:
        RefusedRequestError: The job runs, or the list cannot be edited here (409).
    """
    answer: dict[str, Any] = await call.services.readers.ask(
        "save-seed-list", job.layout.root, _PATIENCE, text=text, etag=tag
    )
    outcome = answer["outcome"]
    call.note.change(None, {"outcome": outcome, "difference": answer.get("difference", [])})
    if outcome == "closed":
        raise RefusedRequestError(409, answer["why"], WHYS[answer["why"]])
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
    return answer


async def get_seed_list(call: Call) -> SeedListFile:
    """The seed list of a job."""
    answer = await ask_seed_list(call, call.job())
    return SeedListFile(answer["file"], answer["text"], answer["why"])


async def seed_list_version(call: Call) -> EditedThing:
    """The seed list as it is."""
    answer = await ask_seed_list(call, call.job())
    return EditedThing(answer["etag"], answer["text"])


async def put_seed_list(call: Call) -> SavedSeedList | Response:
    """Save another seed list of a job that does not run."""
    request: SeedListWish = call.body
    answer = await save_seed_list(call, call.job(), request.text, "*")
    if answer["outcome"] == "problems":
        return problem_answer(call, answer["problems"])
    return SavedSeedList(answer["seeds"], answer["outcome"] == "saved")


def problem_answer(call: Call, problems: list[dict[str, Any]]) -> Response:
    """The answer (422) to lines that are no seeds, each with its number."""
    first = problems[0]
    text = first["message"]
    if first["line"]:
        text = message("console.line", "line {line}: {text}", line=first["line"], text=text)
    details = ProblemDetails(
        HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-seeds", text,
        tuple(problems),
    )  # fmt: skip
    data = to_json(spoken_problem(details, call.language))
    return Response(data, 422, media_type=PROBLEM_TYPE)


# ---- the page


async def page(call: Call) -> PageAnswer:
    """The seed list; of a job that never ran it is all there is about its seeds."""
    answer = await ask_seed_list(call, call.job())
    return PageAnswer("seed_list.html", await _facts(call, answer["text"], answer))


async def _facts(call: Call, text: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The facts of the page about a text.

    Args:
        call: The request.
        text: The text.
        answer: The list that is saved, with its ETag.
    """
    job = call.job()
    snapshot = await call.services.poller.fresh(job)
    reason = answer.get("why", "")
    return {
        "text": text, "etag": answer.get("etag", "*"), "file": answer.get("file", ""),
        "why": call.language.texts.gettext(WHYS[reason]) if reason else "",
        "in_settings": reason == "settings",
        "running": snapshot.running, "never_ran": not job.layout.has_store,
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
        text = texts.gettext("Nothing is different from the saved list.")
    else:
        text = texts.ngettext(
            "The list is saved: {number} seed.", "The list is saved: {number} seeds.", seeds
        ).format(number=f"{seeds:,}")
    if call.session is not None:
        call.services.notices.add(call.identity.session, Notice("done", text))


Arguments = Mapping[str, Any]
LONGEST: Final = 4 << 20
"""Bytes of a list that is edited in a page; a longer one is a matter of the command line."""
MOST: Final = 100
"""Problems that are named."""


class KeptSeedList(msgspec.Struct, frozen=True):
    """The seed list of a job.

    Attributes:
        file: The file, as the settings name it; "" where the list is in the settings.
        text: Its text; "" where it cannot be edited.
        etag: Changes with each version.
        why: Why it cannot be edited: `settings` (it is in them), `rounds` (they have their seeds in
            a table), `elsewhere` (not in the directory of the job), `packed`, `long`, `login` (a
            password is in it) or `coding` (it is not all text); "" where it can.
    """

    file: str = ""
    text: str = ""
    etag: str = ""
    why: str = ""


def kept_seed_list(layout: Layout) -> KeptSeedList:
    """The seed list of a job.

    Raises:
        ConfigError: The settings cannot be read.
        JobError: The file cannot be read.
    """
    named = load_job(layout).settings.seeds
    file = named if isinstance(named, str) else ""
    path, text, tag = file_of(layout, file), "", ""
    try:
        detail = _closed(layout, named, path)
        if path is not None and not detail:
            data, changed = _read(path)
            tag = hashlib.sha256(b"%d %s" % (changed, data)).hexdigest()[:32]
            text = data.decode(file_coding(path) if data else UTF_8).removeprefix("\ufeff")
    except OSError as error:
        raise JobError(
            message(
                "console.file-unreadable",
                "{path} cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    except UnicodeDecodeError:
        detail = "coding"
    if any(isinstance(seed, Seed) and seed.login for seed in read_seeds(text.splitlines())):
        detail = "login"
    return KeptSeedList(file, why=detail) if detail else KeptSeedList(file, text, tag)


def _closed(layout: Layout, named: object, path: Path | None) -> str:
    """Why a list cannot be edited, as far as its file says; "" where it can."""
    if layout.in_rounds:
        return "rounds"
    if path is None:
        return "elsewhere" if isinstance(named, str) else "settings"
    if path.suffix == ".gz":
        return "packed"
    return "long" if path.exists() and path.stat().st_size > LONGEST else ""


def _read(path: Path) -> tuple[bytes, int]:
    """The bytes of a file, and when it was changed, ns; none of a file that is not there."""
    if not path.exists():
        return b"", 0
    return read_ordinary(path, LONGEST), path.stat().st_mtime_ns


def file_of(layout: Layout, named: str) -> Path | None:
    """The file of a seed list; None for none in the job's directory itself."""
    path = layout.root / named
    is_inside = bool(named) and Path(named).name == named and not named.startswith(".")
    return path if is_inside and not path.is_symlink() else None


def seed_list(layout: Layout, _: Arguments) -> dict[str, Any]:
    """The seed list, as `KeptSeedList` has it."""
    layout.require()
    return dict(to_builtins(kept_seed_list(layout)))


def write_seed_list(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Write another seed list of a job that does not run, in UTF-8.

    Args:
        layout: The job.
        arguments: `text`; `etag` that it is based on, "*" for any.

    Returns:
        `outcome`: `saved` (with `seeds`, how many there are, and `difference`), `same`, `changed`
        (with the list that there is), `running`, `closed` (with it too: it cannot be edited), or
        `problems` (with them).
    """
    layout.require()
    with alone(layout):
        now = kept_seed_list(layout)
        if now.why:
            return {"outcome": "closed", **to_builtins(now)}
        if arguments["etag"] not in {"*", now.etag}:
            return {"outcome": "changed", **to_builtins(now)}
        if is_running(layout.socket):
            return {"outcome": "running"}
        lines = str(arguments["text"]).splitlines()
        text = "".join(f"{line}\n" for line in lines)
        problems, seeds = examined(lines) if _fits(text) else ([_TOO_LONG], 0)
        if problems:
            return {"outcome": "problems", "problems": [problem._asdict() for problem in problems]}
        if text == now.text:
            return {"outcome": "same", "seeds": seeds}
        _write(layout.root / now.file, text)
        changes = changed_lines(now.text, text)
        return {"outcome": "saved", "seeds": seeds, "difference": changes}


_TOO_LONG: Final = Problem(
    "text", message("console.seed-list-size", "the list has more than {longest} MiB, and no "
    "page could show it again: put it "
"into a file", longest=LONGEST >> 20),
)  # fmt: skip


def _fits(text: str) -> bool:
    """Whether a list can be opened again once it is saved."""
    return len(text.encode(errors="replace")) <= LONGEST


def _write(path: Path, text: str) -> None:
    """Write the file, durably and in one step; its rights stay."""
    mode = path.stat().st_mode if path.exists() else None
    write_whole(RealDisk(), str(path), text.encode())
    if mode is not None:
        path.chmod(mode & 0o7777)


def examined(lines: list[str]) -> tuple[list[Problem], int]:
    """The problems of the lines of a seed list, `MOST` at most, and its number of seeds (pure)."""
    problems, seeds = list[Problem](), 0
    for number, line in enumerate(lines, 1):
        for seed in read_seeds([line]):
            if isinstance(seed, BadSeed):
                text = message(
                    "console.seed-format",
                    "{text!r} is no seed: {why}",
                    text=seed.text[:MOST],
                    why=seed.why,
                )
                problems.append(Problem("text", text, line=number))
            elif isinstance(seed, Seed):
                seeds += 1
                if seed.login:
                    text = message(
                        "console.seed-with-password",
                        "a password cannot be entered here; put it into `fetch.credentials`",
                    )
                    problems.append(Problem("text", text, line=number))
        if len(problems) >= MOST:
            break
    if not seeds and not problems:
        problems.append(
            Problem("text", message("console.no-url-line", "there is no line with a URL"))
        )
    return problems, seeds
