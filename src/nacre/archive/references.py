"""Ids and what refers to them: repeated ids, records of one capture, originals of revisits."""

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from nacre.archive.fieldrules import Defect, unbracketed
from nacre.archive.reader import WarcEntry

_NEAR = 4096
"""Records back that a WARC-Concurrent-To is followed to compare dates."""


class _Reference(NamedTuple):
    """What a revisit says of its original."""

    file: str
    offset: int
    original: int
    uri: int
    date: int
    text: str


class References:
    """Follows ids through any number of files; about 200 bytes of memory for each record."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._originals: dict[int, tuple[int, int]] = {}
        self._revisits: list[_Reference] = []
        self._near: OrderedDict[int, str] = OrderedDict()
        self._warcinfos: set[int] = set()
        self._later: list[tuple[int, str, int, str]] = []

    def record(self, file: str, entry: WarcEntry) -> Iterator[Defect]:
        """What is wrong with the id of a record, and with those it refers to within its capture."""
        date, kind = entry.get("WARC-Date") or "", entry.get("WARC-Type")
        own = entry.get("WARC-Record-ID")
        if own is not None:
            mark = _mark(unbracketed(own))
            if mark in self._ids:
                yield "id-repeated", own[:80]
            self._remember(mark, entry, date)
        yield from self._concurrent(file, entry, date)
        info = entry.get("WARC-Warcinfo-ID")
        if info is not None and _mark(unbracketed(info)) not in self._warcinfos:
            yield "warcinfo-unknown", info[:80]
        refers = entry.get("WARC-Refers-To")
        if kind == "revisit" and refers is not None:
            self._revisits.append(_reference(file, entry, refers))

    def _remember(self, mark: int, entry: WarcEntry, date: str) -> None:
        kind = entry.get("WARC-Type")
        self._ids.add(mark)
        self._near[mark] = date
        if len(self._near) > _NEAR:
            self._near.popitem(last=False)
        if kind == "warcinfo":
            self._warcinfos.add(mark)
        elif kind in ("response", "resource"):
            uri = unbracketed(entry.get("WARC-Target-URI") or "")
            self._originals[mark] = (_mark(uri), _mark(date))

    def _concurrent(self, file: str, entry: WarcEntry, date: str) -> Iterator[Defect]:
        for name, value in entry.fields:
            if name.lower() != "warc-concurrent-to":
                continue
            mark = _mark(unbracketed(value))
            near = self._near.get(mark)
            if mark not in self._ids:
                self._later.append((mark, file, entry.offset, value[:80]))
            elif near is not None and near != date:
                yield "concurrent-date", f"{date}, but {near} on {value[:80]}"

    def unresolved(self) -> Iterator[tuple[str, int, str, str]]:
        """References to what is absent, or is not what they say: file, offset, defect."""
        for mark, file, offset, text in self._later:
            if mark not in self._ids:
                yield file, offset, "concurrent-unknown", text
        for revisit in self._revisits:
            original = self._originals.get(revisit.original)
            if original is None:
                yield revisit.file, revisit.offset, "revisit-unresolved", revisit.text
                continue
            uri, date = original
            if revisit.uri and revisit.uri != uri:
                yield revisit.file, revisit.offset, "revisit-uri", revisit.text
            if revisit.date and revisit.date != date:
                yield revisit.file, revisit.offset, "revisit-date", revisit.text


def _reference(file: str, entry: WarcEntry, refers: str) -> _Reference:
    uri = entry.get("WARC-Refers-To-Target-URI")
    date = entry.get("WARC-Refers-To-Date")
    return _Reference(
        file,
        entry.offset,
        _mark(unbracketed(refers)),
        0 if uri is None else _mark(unbracketed(uri)),
        0 if date is None else _mark(date),
        refers[:80],
    )


def _mark(text: str) -> int:
    """Eight bytes that stand for a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
