"""The history of `crawl.yaml`: every version that was written, with who wrote it and why.

Versions are stored in `state/edits`, which travels with the job: a line of JSON with the facts,
then the text, compressed. A file that was changed by other means becomes a version of the source
`outside` with the next version that is written; until then `edit_list` shows it at the end.
"""

import difflib
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import zstandard

from nacre.errors import JobError
from nacre.machine.layout import Layout
from nacre.machine.local_files import make_private, read_ordinary
from nacre.messages import message
from nacre.store.disk import RealDisk
from nacre.store.writer import write_whole

KEPT: Final = 200
"""Versions that are kept."""
OUTSIDE: Final = "outside"
LONGEST: Final = 2_000_000
"""Bytes of a file of settings."""
_SUFFIX: Final = ".zst"
_HEAD: Final = 4_096
_LONGEST_WHY: Final = 500


class ConfigEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A version of `crawl.yaml`.

    Attributes:
        number: From 1, in the order of writing.
        time: When it was written, seconds since the epoch.
        who: Who wrote it; "" where that is not known.
        why: Why, in a line; "" for none.
        source: `console`, `restore`, `set` (`nacre set` on a job that lies still), `live` (a
            change of a running job), or `outside`.
        bytes: Length of the text.
        digest: SHA-256 of the text, hexadecimal.
    """

    number: int
    time: float
    who: str = ""
    why: str = ""
    source: str = OUTSIDE
    bytes: int = 0
    digest: str = ""


class TextBefore(NamedTuple):
    """The former content of the file.

    Attributes:
        data: Its bytes.
        time: When it was changed last, seconds since the epoch.
    """

    data: bytes
    time: float


def read_config(path: Path) -> bytes:
    """The bytes of a file of settings.

    Raises:
        JobError: It cannot be read.
    """
    try:
        return read_ordinary(path, LONGEST)
    except OSError as error:
        raise JobError(
            message(
                "job.cannot-be-read-2",
                "{path} cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error


def edit_list(layout: Layout) -> list[ConfigEdit]:
    """All versions, the oldest first; the last one is the file as it is.

    Raises:
        JobError: The file cannot be read.
    """
    versions = _stored_versions(layout)
    text = TextBefore(read_config(layout.config), layout.config.stat().st_mtime)
    now = _outside(text, versions)
    return [*versions, now] if now is not None else versions


def read_edit(layout: Layout, number: int) -> tuple[ConfigEdit, str]:
    """A version with its text.

    Raises:
        JobError: There is none, it is not kept any more, or it cannot be read.
    """
    version = next((edit for edit in edit_list(layout) if edit.number == number), None)
    if version is None:
        raise JobError(
            message(
                "job.has-no-version",
                "{config} has no version {number}; {versions} are kept",
                config=layout.config,
                number=number,
                versions=KEPT,
            )
        )
    path = _path(layout, number)
    if not path.exists():
        return version, read_config(layout.config).decode("utf-8", "replace")
    try:
        _, _, packed = read_ordinary(path, 2 * LONGEST).partition(b"\n")
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=LONGEST)
    except (OSError, zstandard.ZstdError) as error:
        raise JobError(
            message(
                "job.cannot-be-read-3", "{path} cannot be read: {error}", path=path, error=error
            )
        ) from error
    return version, data.decode("utf-8", "replace")


def note_edit(layout: Layout, before: TextBefore, author: str, reason: str, source: str) -> None:
    """Keep the file as it is now, which was just written, as a version.

    A version that cannot be kept is left out: it shows as `outside` later. The caller has locked
    the job's file (`apply_change.alone`).

    Args:
        layout: The job.
        before: The file as it was.
        author: Who wrote it.
        reason: Why, in a line; "" for none.
        source: See `ConfigEdit`.
    """
    with suppress(OSError, JobError):
        make_private(layout.state)
        make_private(layout.edits)
        versions = _stored_versions(layout)
        missed = _outside(before, versions)
        if missed is not None:
            _keep(layout, missed, before.data)
            versions.append(missed)
        data = read_config(layout.config)
        edit = ConfigEdit(
            number=versions[-1].number + 1 if versions else 1,
            time=layout.config.stat().st_mtime,
            who=author[:_LONGEST_WHY],
            why=" ".join(reason.split())[:_LONGEST_WHY],
            source=source,
            bytes=len(data),
            digest=_digest(data),
        )
        _keep(layout, edit, data)
        for old in [*versions, edit][:-KEPT]:
            _path(layout, old.number).unlink(missing_ok=True)


def _outside(text: TextBefore, versions: Sequence[ConfigEdit]) -> ConfigEdit | None:
    """Return the file as a version; None if it is the last version."""
    digest = _digest(text.data)
    if versions and versions[-1].digest == digest:
        return None
    return ConfigEdit(
        number=versions[-1].number + 1 if versions else 1,
        time=text.time,
        bytes=len(text.data),
        digest=digest,
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _path(layout: Layout, number: int) -> Path:
    return layout.edits / f"{number:08d}{_SUFFIX}"


def _keep(layout: Layout, edit: ConfigEdit, data: bytes) -> None:
    path = _path(layout, edit.number)
    fresh = path.with_suffix(".new")
    packed = zstandard.ZstdCompressor().compress(data)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.encode(edit) + b"\n" + packed)
    fresh.replace(path)


def _stored_versions(layout: Layout) -> list[ConfigEdit]:
    """The versions that are kept; one that cannot be read is left out."""
    versions = []
    for path in sorted(layout.edits.glob("*" + _SUFFIX)):
        with suppress(OSError, msgspec.MsgspecError), path.open("rb") as file:
            versions.append(msgspec.json.decode(file.readline(_HEAD), type=ConfigEdit))
    return sorted(versions, key=lambda version: version.number)


def changed_lines(old: str, new: str) -> list[str]:
    """Return the lines that were removed (`-` before them) and added (`+`), in their order.

    Args:
        old: A text without secrets.
        new: Another text.
    """
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return [line for line in islice(lines, 2, None) if line[:1] in {"-", "+"}]


def overwrite_text(path: Path, text: str) -> None:
    """Write a file, durably and in one step; its mode stays."""
    mode = path.stat().st_mode if path.exists() else None
    write_whole(RealDisk(), str(path), text.encode())
    if mode is not None:
        path.chmod(mode & 0o7777)
