"""Holdings: a job, a collection of jobs, files of other crawlers, with their WARCs.

A holding has members, and a member has WARCs with their indexes. Both are the files on disk at that
moment: a crawl may run meanwhile, and no store is opened.
"""

import errno
import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nacre.archive.source import section
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.collections import Collection, CollectionFolder, is_name
from nacre.catalogue.foreign import ForeignFile, prepare_file, require_archive
from nacre.catalogue.index_files import GROWING, SORTED, FilePart, IndexPlace
from nacre.catalogue.job_files import OPEN, WarcPlace, job_warcs, rounds_folder
from nacre.catalogue.wacz import Progress, is_warc
from nacre.errors import JobError, NacreError
from nacre.machine.layout import Layout
from nacre.machine.local_files import home_path, make_private, open_ordinary
from nacre.messages import message, plural
from nacre.store.disk import failure

__all__ = ["WarcPlace"]

JOB, ROUNDS, WARC, WACZ, MISSING = "job", "rounds", "warc", "wacz", "missing"
"""Kinds of members."""
FILE = "file"
"""A WARC or a WACZ."""
COLLECTION, SEVERAL = "collection", "several"
"""Further kinds of holdings."""

_LABEL = 12


class Member(NamedTuple):
    """A part of a holding.

    Attributes:
        name: Name for people.
        root: The directory of the job, or the file; absolute.
        kind: `job`, `rounds`, `warc`, `wacz` or `missing`.
        label: Its label; see `label_of`.
        is_missing: There is nothing to read at `root`: it was moved, removed, or damaged.
        files: The parts of a WARC or WACZ; None for a job.
        reason: Why it, or a part of it, is missing; "" for none.
    """

    name: str
    root: Path
    kind: str
    label: str
    is_missing: bool = False
    files: ForeignFile | None = None
    reason: str = ""

    def warcs(self) -> list[WarcPlace]:
        """Its WARCs at this moment, by run and name; [] if it is missing.

        Raises:
            StorageError: A directory cannot be read.
        """
        if self.is_missing:
            return []
        return list(job_warcs(self.root)) if self.files is None else _foreign_warcs(self.files)

    def indexes(self) -> list[IndexPlace]:
        """Its indexes at this moment; [] if it is missing.

        Raises:
            StorageError: A directory cannot be read.
        """
        if self.files is not None:
            return list(self.files.indexes)
        return [
            IndexPlace(GROWING if path.name.endswith(OPEN) else SORTED, FilePart(path))
            for path in (place.index for place in self.warcs())
            if path is not None
        ]

    @property
    def lacks(self) -> str:
        """A note on WARCs of a job without an index; "" if all have one.

        Raises:
            StorageError: A directory cannot be read.
        """
        if self.files is not None:
            return ""
        places = [place for place in self.warcs() if place.index is None and not place.is_open]
        if not places:
            return ""
        command = (
            "nacre cycle {} storage check --repair"
            if self.kind == ROUNDS
            else ("nacre archive {} index")
        )
        return plural(
            "catalogue.no-index", "{number} WARC of {path} has no index, and is left out: "
            "`{command}` makes it", "{number} WARCs of {path} have no index, and are left out: "
            "`{command}` makes it", number=len(places), path=self.root,
            command=command.format(shlex.quote(str(self.root))),
        )  # fmt: skip


class Holding:
    """Captures that belong together: of a job, a collection, or files.

    Args:
        name: Name in addresses and for people: of the job, the collection or the file.
        kind: The kind of its member, `collection`, or `several` files or jobs.
        members: Its members; their numbers count from 0.
        label: See `label_of`.
        title: Its title; "" for its name.
        fields: Dublin Core fields of a collection or a WACZ.

    Attributes:
        label, name, title, kind, members, fields: As given.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        members: Sequence[Member],
        label: str,
        *,
        title: str = "",
        fields: Mapping[str, str] | None = None,
    ) -> None:
        self.label = label
        self.name = name
        self.title = title or name
        self.kind = kind
        self.members = tuple(members)
        self.fields: Mapping[str, str] = fields or {}
        self._places: dict[int, dict[str, WarcPlace]] = {}

    @property
    def argument(self) -> str:
        """The argument of commands for it, as a shell takes it; `JOB` if there are several."""
        if self.kind == COLLECTION:
            return shlex.quote(self.name)
        return shlex.quote(str(self.members[0].root)) if len(self.members) == 1 else "JOB"

    @property
    def main_page(self) -> str:
        """URL of the page to begin with; "" if no member has one."""
        return next((member.files.main_page for member in self.members if member.files), "")

    @property
    def warnings(self) -> list[str]:
        """Notes on captures that may be missing: absent members, damaged files."""
        gone = [text for member in self.members for text in (member.reason, member.lacks) if text]
        return gone + [
            text for member in self.members if member.files for text in member.files.warnings
        ]

    def warc(self, member: int, name: str) -> WarcPlace | None:
        """Return the place of a WARC; None if it is nowhere.

        Args:
            member: Number of the member.
            name: Name of the WARC in the index.

        Raises:
            StorageError: A directory cannot be read.
        """
        place = self._places.get(member, {}).get(name)
        if place is not None and place.path.exists():
            return place
        if not 0 <= member < len(self.members):
            return None
        places = {place.name: place for place in reversed(self.members[member].warcs())}
        self._places[member] = places
        return places.get(name)

    def open(self, capture: IndexedCapture) -> BinaryIO:
        """Open the record of a capture: byte 0 of the result is the first byte of the record.

        The result goes on to the end of the WARC, so that its length need not be known.

        Args:
            capture: The capture; for another record of its member, with another WARC and offset.

        Raises:
            FileNotFoundError: Its WARC is nowhere.
            OSError: It cannot be opened.
            StorageError: A directory cannot be read.
        """
        place = self.warc(capture.member, capture.warc)
        if place is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), capture.warc)
        file = open_ordinary(place.path)
        size = os.fstat(file.fileno()).st_size
        end = min(size, place.start + place.size) if place.start else size
        return section(file, min(place.start + capture.offset, end), end, closes=True)


def label_of(text: str) -> str:
    """Return the label of a path or `collection:NAME`: 12 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_LABEL]


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress."""


def open_holding(
    targets: Sequence[str | Path],
    *,
    collections: CollectionFolder | None = None,
    tell: Progress = _ignore,
) -> Holding:
    """Return the holding of jobs, collections and files.

    Args:
        targets: Directories of jobs, files (WARC, WACZ), directories of such files, names of
            collections; at least one.
        collections: The collections; None for those of the user.
        tell: Receives the progress where a file has to be indexed, in bytes.

    Raises:
        JobError: One of them is neither, or damaged, encrypted or hostile; with the remedy.
        StorageError: A file cannot be read, or the cache cannot be written.
    """
    folder = collections or CollectionFolder()
    holdings = [_holding(target, folder, tell) for target in targets]
    if not holdings:
        raise JobError(
            message("catalogue.no-target", "name a job, a collection, or a WARC or WACZ file")
        )
    if len(holdings) == 1:
        return holdings[0]
    by_root = {member.root: member for holding in holdings for member in holding.members}
    members = list(by_root.values())
    name = f"{holdings[0].name}+{len(holdings) - 1}"
    label = label_of("\n".join(sorted(str(member.root) for member in members)))
    return Holding(name, SEVERAL, members, label)


def _holding(target: str | Path, folder: CollectionFolder, tell: Progress) -> Holding:
    """Return the holding of one target: the job or file at this path, else the collection."""
    path = home_path(str(target))
    root = Path(os.path.abspath(path))  # noqa: PTH100 - `..` goes, and links stay
    if not root.exists() and is_name(str(target)):
        collection = folder.read(str(target))
        if collection is not None:
            return _collection_holding(collection, tell)
    if root.is_dir() and not is_job(root):
        files = _files_in(root)
        if files:
            return Holding(root.name, SEVERAL, [_member(file, tell) for file in files],
                           label_of(str(root)))  # fmt: skip
    member = _member(root, tell)
    files_of_it = member.files
    if files_of_it is None:
        return Holding(member.name, member.kind, [member], member.label)
    return Holding(
        member.name, member.kind, [member], member.label, title=files_of_it.title,
        fields=files_of_it.fields,
    )  # fmt: skip


def _collection_holding(collection: Collection, tell: Progress) -> Holding:
    """Return the holding of a collection; what cannot be read is a missing member."""
    members = []
    for text in collection.members:
        root = Path(text)
        try:
            members.append(_member(root, tell))
        except NacreError as error:
            label = label_of(text)
            members.append(Member(root.name, root, MISSING, label, is_missing=True,
                                  reason=error.message))  # fmt: skip
    label = label_of(f"collection:{collection.name}")
    return Holding(
        collection.name, COLLECTION, members, label, title=collection.title,
        fields=collection.fields,
    )  # fmt: skip


def _member(root: Path, tell: Progress) -> Member:
    """Return the member at an absolute path.

    Raises:
        JobError: There is nothing, or nothing that can be looked at.
        StorageError: It cannot be read.
    """
    label = label_of(str(root))
    kind = kind_at(root)
    if kind == MISSING:
        raise _no_holding(root)
    if kind != FILE:
        reason = _gap(root) if kind == ROUNDS else ""
        return Member(root.name, root, kind, label, reason=reason)
    files = prepare_file(root, cache_folder() / label / "files", tell)
    return Member(root.name, root, files.kind, label, files=files)


def _gap(root: Path) -> str:
    """Return why WARCs of batch rounds cannot be read here; "" if they can."""
    try:
        if rounds_folder(root) is not None:
            return ""
        reason = "they are in an object store"
    except NacreError as error:
        reason = error.message
    return message(
        "catalogue.no-rounds", "the WARCs of the rounds of {path} cannot be read ({reason}). Copy "
        "the folder archive of their storage to this machine, and name that", path=root,
        reason=reason,
    )  # fmt: skip


def _no_holding(root: Path) -> JobError:
    return JobError(
        message(
            "catalogue.no-holding", "{path} is neither a job, nor a WARC or WACZ file, nor a "
            "collection: `nacre collection list` lists these, and `nacre new` makes a job",
            path=root,
        )
    )  # fmt: skip


def _is_archive(name: str) -> bool:
    return is_warc(name) or name.lower().endswith(".wacz")


def _foreign_warcs(files: ForeignFile) -> list[WarcPlace]:
    """Return the WARCs of a file, with the index if that is a file for itself."""
    whole = [
        index.part.path for index in files.indexes if index.kind == SORTED and not index.part.start
    ]
    index = whole[0] if len(whole) == 1 else None
    return [
        WarcPlace(
            warc.name, warc.part.path, warc.part.start, warc.part.size, index, "", is_open=False
        )
        for warc in files.warcs
    ]


def kind_at(root: Path) -> str:
    """Return the kind of the member at a path: `job`, `rounds`, `file`; `missing` for none."""
    if is_job(root):
        return ROUNDS if Layout(root).in_rounds else JOB
    return FILE if root.is_file() else MISSING


def archives_in(root: Path) -> list[Path]:
    """Return the job or the file at a path, or the WARC and WACZ files in a directory.

    Raises:
        JobError: There is none, or another kind of file.
        StorageError: It cannot be read.
    """
    kind = kind_at(root)
    if kind != MISSING:
        if kind == FILE:
            require_archive(root)
        return [root]
    files = _files_in(root)
    if not files:
        raise _no_holding(root)
    return files


def _files_in(root: Path) -> list[Path]:
    """Return the WARC and WACZ files in a directory by name; [] without a directory."""
    try:
        return [file for file in sorted(root.iterdir()) if _is_archive(file.name)]
    except (NotADirectoryError, FileNotFoundError):
        return []
    except OSError as error:
        raise failure("list", str(root), error) from error


def is_job(root: Path) -> bool:
    """Whether a directory is a job, or has the runs of a job."""
    layout = Layout(root)
    return layout.config.is_file() or layout.in_rounds or (root / "runs").is_dir()


def cache_folder() -> Path:
    """Return the folder for data of foreign files: `nacre/catalogue` in `$XDG_CACHE_HOME`."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "nacre" / "catalogue"


def catalogue_folder(member: Member) -> Path:
    """Return the folder of the catalogue of a member; it is made if it is not there.

    It is `state/` of a job. Where this directory is absent or cannot be written, and for files, it
    is a folder in the cache of the user.

    Raises:
        StorageError: It cannot be made.
    """
    state = Layout(member.root).state
    if member.kind in (JOB, ROUNDS) and os.access(state, os.W_OK | os.X_OK):
        return state
    folder = cache_folder() / member.label
    try:
        make_private(folder)
    except OSError as error:
        raise failure("mkdir", str(folder), error) from error
    return folder
