"""Ids and what refers to them: repeated ids, records of one capture, originals of revisits."""

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from nacre.archive.block import label_of
from nacre.archive.fieldrules import Defect, unbracketed
from nacre.archive.reader import WarcEntry

_NEAR = 4096
"""Records back that a WARC-Concurrent-To is followed to compare dates."""


_BY_DIGEST = "identical-payload-digest"


class _Facts(NamedTuple):
    """Of an original: marks of its URI, date and payload digest; 0 for what is not told."""

    uri: int
    date: int
    digest: int


class _Reference(NamedTuple):
    """What a revisit says of its original, which has the id `original`; 0 for none."""

    file: str
    offset: int
    original: int
    facts: _Facts
    text: str


class References:
    """Follows ids through any number of files; about 250 bytes of memory for each record."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._originals: dict[int, _Facts] = {}
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
        if kind == "revisit" and (reference := _reference(file, entry)):
            self._revisits.append(reference)

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
            digest = _digest_mark(entry.get("WARC-Payload-Digest"))
            self._originals[mark] = _Facts(_mark(uri), _mark(date), digest)

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
        places = self._places()
        for revisit in self._revisits:
            told = revisit.facts
            original = (
                self._originals.get(revisit.original)
                if revisit.original
                else places.get((told.uri, told.date))
            )
            for code in ["revisit-unresolved"] if original is None else _unlike(told, original):
                yield revisit.file, revisit.offset, code, revisit.text

    def _places(self) -> dict[tuple[int, int], _Facts]:
        """Originals by URI and date, where a revisit gives no id."""
        if all(revisit.original for revisit in self._revisits):
            return {}
        return {(facts.uri, facts.date): facts for facts in self._originals.values()}


def _unlike(told: _Facts, original: _Facts) -> Iterator[str]:
    if told.uri and told.uri != original.uri:
        yield "revisit-uri"
    if told.date and told.date != original.date:
        yield "revisit-date"
    comparable = told.digest and (told.digest ^ original.digest) & _SHAPE == 0
    if comparable and told.digest != original.digest:
        yield "revisit-digest"


def _reference(file: str, entry: WarcEntry) -> _Reference | None:
    """What a revisit says; None when it says too little to find the original."""
    refers = entry.get("WARC-Refers-To")
    uri, date = entry.get("WARC-Refers-To-Target-URI"), entry.get("WARC-Refers-To-Date")
    if refers is None and (uri is None or date is None):
        return None
    same = _BY_DIGEST in (entry.get("WARC-Profile") or "")
    return _Reference(
        file,
        entry.offset,
        0 if refers is None else _mark(unbracketed(refers)),
        _Facts(
            0 if uri is None else _mark(unbracketed(uri)),
            0 if date is None else _mark(date),
            _digest_mark(entry.get("WARC-Payload-Digest")) if same else 0,
        ),
        (refers or f"{uri} of {date}")[:80],
    )


_SHAPE = 0xFFFF


def _digest_mark(text: str | None) -> int:
    """A mark whose last two bytes stand for the algorithm and the base; 0 for no digest."""
    if text is None:
        return 0
    value = text.partition(":")[2].lower().rstrip("=")
    shape = _mark(f"{label_of(text)} {len(value)}") & _SHAPE
    return _mark(value) & ~_SHAPE | shape


def _mark(text: str) -> int:
    """Eight bytes that stand for a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
