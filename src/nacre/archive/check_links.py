"""Follows references to outlinks: the record must exist, and match its digest."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from nacre.archive.check_rules import Defect
from nacre.archive.fields import strip_brackets
from nacre.archive.link_files import LinkFiles, reference_of
from nacre.archive.link_reference import LinkReference, LinksError
from nacre.archive.reader import WarcEntry, record_at


class LinksCheck:
    """Follows the references in any number of files.

    About 100 bytes of memory for each kind of reference; its outlinks are read once.

    Attributes:
        count: References that lead to the right record.
    """

    def __init__(self) -> None:
        self._files = LinkFiles()
        self._known: set[bytes] = set()
        self._later: list[tuple[Path, int]] = []
        self.count = 0

    def add(self, path: Path) -> None:
        """One file more."""
        self._files.add(path)

    def record(self, path: Path, entry: WarcEntry, start: bytes) -> Iterator[Defect]:
        """Follow the reference of a record, if it has one; later, where it leads to a later file.

        Args:
            path: The file of the record.
            entry: The record.
            start: The beginning of its block.
        """
        reference = None if entry.left else reference_of(entry, start)
        if reference is None:
            return
        if entry.length > len(start):
            self._later.append((path, entry.offset))
            return
        try:
            self._follow(reference, search=False)
        except LinksError as error:
            if error.code == "links-unresolved":
                self._later.append((path, entry.offset))
            else:
                yield error.code, _message(entry, error)

    def finish(self) -> Iterator[tuple[str, int, str, str]]:
        """Follow references that lead to later files: file, offset, code, message of defects."""
        later, self._later = self._later, []
        for path, offset in later:
            try:
                with record_at(path, offset) as entry:
                    defect = None if entry is None else self._defect(entry)
            except OSError as error:
                defect = "unreadable", error.strerror or str(error)
            if defect is not None:
                yield str(path), offset, *defect

    def _defect(self, entry: WarcEntry) -> Defect | None:
        """What is wrong with the reference of a record; None for nothing."""
        reference = reference_of(entry, b"".join(iter(entry.read, b"")))
        try:
            if reference is not None:
                self._follow(reference, search=True)
        except LinksError as error:
            return error.code, _message(entry, error)
        return None

    def _follow(self, reference: LinkReference, *, search: bool) -> None:
        """Read the outlinks, if there was no such reference before.

        Raises:
            LinksError: They are nowhere, or are others.
        """
        mark = _mark(reference)
        if mark not in self._known:
            self._files.lines(reference, search=search)
            self._known.add(mark)
        self.count += 1


def _message(entry: WarcEntry, error: LinksError) -> str:
    url = strip_brackets(entry.get("WARC-Target-URI") or "")[:200]
    return (
        f"the outlinks of {url}: {error}; put back its WARC, or let a recrawl with "
        "keep.full_every=0 store them in full again"
    )


def _mark(reference: LinkReference) -> bytes:
    about = f"{reference.record_id}\n{reference.digest}\n".encode("utf-8", "replace")
    return blake2b(about + b"\n".join(reference.parts), digest_size=16).digest()
