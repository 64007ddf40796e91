"""The seed list of a job at rest: read it as a text, check it, and save another text."""

import hashlib
from pathlib import Path
from typing import Final, Literal

import msgspec

from nacre.config.seed_file import UTF_8, file_coding
from nacre.errors import JobError, Problem
from nacre.job.apply_change import alone
from nacre.job.control import is_running
from nacre.job.edits import changed_lines, overwrite_text
from nacre.machine.layout import Layout
from nacre.machine.local_files import read_ordinary
from nacre.messages import Message, message
from nacre.ops.fields import ShortText, Text
from nacre.scope.seeds import BadSeed, Seed, read_seeds
from nacre.settings.load import load_job

LONGEST: Final = 4 << 20
"""Bytes of a list that can be edited as a text."""
_MOST: Final = 100
"""Problems that an answer has, and characters of a line that a message has."""


class SeedListFile(msgspec.Struct, frozen=True):
    """The seed list of a job.

    Attributes:
        file: The file, as the settings name it; "" if the list is in the settings.
        text: Its lines: URLs, `+` and `-` directives, comments; "" if it cannot be edited.
        why: Why it cannot be edited: `settings` (it is in them), `rounds` (their seeds are in a
            table), `elsewhere` (not in the directory of the job), `packed`, `long`, `login` (it
            contains a password) or `coding` (it contains bytes that are not text); "" if it can.
    """

    file: str
    text: str
    why: str = ""


class EditedSeedList(SeedListFile, frozen=True):
    """The seed list of a job, and its version.

    Attributes:
        etag: Changes with each version.
    """

    etag: str = ""


class SeedListForm(msgspec.Struct, frozen=True):
    """Another text of a seed list.

    Attributes:
        text: Its lines.
        etag: ETag of the list that they are based on; "*" for any.
    """

    text: Text = ""
    etag: ShortText = "*"


class SeedListResult(msgspec.Struct, frozen=True):
    """The result of saving a seed list.

    Attributes:
        outcome: `saved`; `same`, if nothing differs; `changed`, if the list has another ETag;
            `closed`, if it cannot be edited; `running`, if the job runs; or `problems`.
        stored: The list before.
        seeds: Seeds of the new list, if it was saved or is the same.
        difference: The lines that were removed and added.
        problems: Those of the new lines.
    """

    outcome: Literal["saved", "same", "changed", "closed", "running", "problems"]
    stored: EditedSeedList
    seeds: int = 0
    difference: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_seed_text(layout: Layout) -> EditedSeedList:
    """Read the seed list of a job.

    Raises:
        ConfigError: The settings cannot be read.
        JobError: There is no job, or the file cannot be read.
    """
    layout.require()
    named = load_job(layout).settings.seeds
    file = named if isinstance(named, str) else ""
    path, text, tag = _file_of(layout, file), "", ""
    try:
        detail = _why_closed(layout, named, path)
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
    return EditedSeedList(file, "" if detail else text, detail, "" if detail else tag)


def _why_closed(layout: Layout, named: object, path: Path | None) -> str:
    """Return why a list cannot be edited, judged by its file; "" if it can."""
    if layout.in_rounds:
        return "rounds"
    if path is None:
        return "elsewhere" if isinstance(named, str) else "settings"
    if path.suffix == ".gz":
        return "packed"
    return "long" if path.exists() and path.stat().st_size > LONGEST else ""


def _read(path: Path) -> tuple[bytes, int]:
    """The bytes of a file, and the time of its last change, ns; none if there is no file."""
    if not path.exists():
        return b"", 0
    return read_ordinary(path, LONGEST), path.stat().st_mtime_ns


def _file_of(layout: Layout, named: str) -> Path | None:
    """The file of a seed list; None if it is not in the directory of the job itself."""
    path = layout.root / named
    is_inside = bool(named) and Path(named).name == named and not named.startswith(".")
    return path if is_inside and not path.is_symlink() else None


def save_seed_text(layout: Layout, request: SeedListForm) -> SeedListResult:
    """Replace the seed list of a job that does not run, in UTF-8.

    Args:
        layout: The job.
        request: The new text.

    Raises:
        ConfigError: The settings cannot be read.
        JobError: There is no job, or the file cannot be read.
    """
    layout.require()
    with alone(layout):
        stored = read_seed_text(layout)
        if stored.why:
            return SeedListResult("closed", stored)
        if request.etag not in {"*", stored.etag}:
            return SeedListResult("changed", stored)
        if is_running(layout.socket):
            return SeedListResult("running", stored)
        lines = request.text.splitlines()
        text = "".join(f"{line}\n" for line in lines)
        problems, seeds = check_seed_lines(lines) if _fits(text) else ([_TOO_LONG], 0)
        if problems:
            return SeedListResult("problems", stored, problems=tuple(problems))
        if text == stored.text:
            return SeedListResult("same", stored, seeds)
        overwrite_text(layout.root / stored.file, text)
        return SeedListResult("saved", stored, seeds, tuple(changed_lines(stored.text, text)))


_TOO_LONG: Final = Problem(
    "text",
    message(
        "console.seed-list-size",
        "the list has more than {longest} MiB, and no page could show it again: put it into a file",
        longest=LONGEST >> 20,
    ),
)


def _fits(text: str) -> bool:
    """Whether a list can be read again after it is saved."""
    return len(text.encode(errors="replace")) <= LONGEST


def check_seed_lines(lines: list[str]) -> tuple[list[Problem], int]:
    """Return the problems of the lines of a seed list, 100 at most, and its number of seeds."""
    problems, seeds = list[Problem](), 0
    for number, line in enumerate(lines, 1):
        for entry in read_seeds([line]):
            seeds += isinstance(entry, Seed)
            if text := _problem_of(entry):
                problems.append(Problem("text", text, line=number))
        if len(problems) >= _MOST:
            break
    if not seeds and not problems:
        text = message("console.no-url-line", "there is no line with a URL")
        problems.append(Problem("text", text))
    return problems, seeds


def _problem_of(entry: object) -> Message | None:
    """Return why an entry of a seed list is refused; None if it is not."""
    if isinstance(entry, BadSeed):
        return message(
            "console.seed-format",
            "{text!r} is no seed: {why}",
            text=entry.text[:_MOST],
            why=entry.reason,
        )
    if isinstance(entry, Seed) and entry.login:
        return message(
            "console.seed-with-password",
            "a password cannot be entered here; put it into `fetch.credentials`",
        )
    return None
