"""Tasks of reader processes for those who edit the seed list of a job."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.config.ordinary import read_ordinary
from nacre.console.readers.editing import changed_lines
from nacre.core.message_data import to_builtins
from nacre.engine.seeding.seedfile import UTF_8, file_coding
from nacre.engine.seeding.seeds import BadSeed, Seed, read_seeds
from nacre.errors import JobError, Problem
from nacre.job.apply_change import alone
from nacre.job.control import is_running
from nacre.messages import message
from nacre.settings.load import load_job
from nacre.store.disk import RealDisk
from nacre.store.layout import Layout
from nacre.store.writer import write_whole

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
        why = _closed(layout, named, path)
        if path is not None and not why:
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
        why = "coding"
    if any(isinstance(seed, Seed) and seed.login for seed in read_seeds(text.splitlines())):
        why = "login"
    return KeptSeedList(file, why=why) if why else KeptSeedList(file, text, tag)


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


def save_seed_list(layout: Layout, arguments: Arguments) -> dict[str, Any]:
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
    found, seeds = list[Problem](), 0
    for number, line in enumerate(lines, 1):
        for seed in read_seeds([line]):
            if isinstance(seed, BadSeed):
                said = message(
                    "console.seed-format",
                    "{text!r} is no seed: {why}",
                    text=seed.text[:MOST],
                    why=seed.why,
                )
                found.append(Problem("text", said, line=number))
            elif isinstance(seed, Seed):
                seeds += 1
                if seed.login:
                    said = message(
                        "console.seed-with-password",
                        "a password cannot be entered here; put it into `fetch.credentials`",
                    )
                    found.append(Problem("text", said, line=number))
        if len(found) >= MOST:
            break
    if not seeds and not found:
        found.append(Problem("text", message("console.no-url-line", "there is no line with a URL")))
    return found, seeds
