"""Versions of a page: texts that return, and the newest version if it is not stored (pure)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec
from msgspec import structs

from nacre.core.pagerow import PageView, Piece, PieceEdit, UnstoredVersion
from nacre.planner.change_detection.change import Change, ChangeClass
from nacre.planner.change_detection.masking import masked
from nacre.planner.change_detection.pairing import READ, identity
from nacre.planner.change_detection.template import common_ends, name_of
from nacre.planner.tuning import guess

RETURNED = "returned"
"""Reason of a verdict: the page had this text before."""
FAILURES = 2
"""Visits in a row at which a page without its text may be a failure; the next one is a change."""
_VERSIONS = 8
"""A bound of memory: texts of a page that are remembered."""
_OFTEN = guess(
    "returning.often",
    3,
    "Number of returns to known texts, with no new text between, from which on a further one is "
    "noise.",
)
_LATELY = guess("returning.lately", 8, "Number of visits in which those returns are counted.")


class PastVersions(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The texts that a page had, the last one first; kept in the store.

    Attributes:
        texts: Their digests.
        returns: Numbers of the last visits at which a known text returned, since the last new one.
        wholes: Digests of whole versions that were stored, the last one first.
        turns: Numbers of the last visits at which one of these came back.
        left_out: Of earlier versions; not used.
        failed_at: Number of the visit before the page came without its text; -1 before any.
        failures: Visits in a row since then at which it did so.
    """

    texts: tuple[int, ...] = ()
    returns: tuple[int, ...] = ()
    wholes: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    left_out: int = 0
    failed_at: int = -1
    failures: int = 0


def own_text(view: PageView) -> int:
    """A digest of what a page says, in whatever order; menus, clocks and counters left out."""
    return name_of(
        "\n".join(sorted(masked(piece.text) for piece in view.pieces if piece.kind in READ))
    )


def whole_version(view: PageView) -> int:
    """A digest of all texts and addresses of a page, in their order; tokens of links left out."""
    return name_of("\n".join(" ".join(identity(piece)) for piece in view.pieces))


def with_past(
    change: Change, past: PastVersions, text: int, visit: int
) -> tuple[Change, PastVersions]:
    """The verdict on a change in the light of earlier versions, and these with the new one.

    A text that returns is a change with the reason `returned`. Of a page that goes to and fro
    between texts that the archive has, a further return is noise.

    Args:
        change: The verdict beside the last version.
        past: Texts before.
        text: Digest of the text now.
        visit: Number of the visit.
    """
    if text == past.texts[0]:
        return change, past
    texts = (text, *(past_text for past_text in past.texts if past_text != text))[:_VERSIONS]
    if text not in past.texts:
        return change, structs.replace(past, texts=texts, returns=())
    lately = tuple(number for number in past.returns if number > visit - _LATELY)
    now = structs.replace(past, texts=texts, returns=(*lately, visit)[-_LATELY:])
    if len(lately) >= _OFTEN and change.kind is not ChangeClass.MAJOR:
        return change._replace(kind=ChangeClass.NOISE, reason=RETURNED), now
    return change._replace(reason=RETURNED), now


def with_wholes(
    change: Change, past: PastVersions, whole: int, visit: int
) -> tuple[Change, PastVersions]:
    """Return the verdict on a version that may be stored already, and the updated past versions.

    A version is proven to be noise if it has the same content as the last one, or if it returns on
    a page that alternates between versions that the archive has: all that a reader sees is stored,
    in the same order.

    Args:
        change: The verdict.
        past: The earlier versions.
        whole: Digest of the current version.
        visit: Number of the visit.
    """
    lately = tuple(turn for turn in past.turns if turn > visit - _LATELY)
    proven = not change.kind.is_change and whole in past.wholes
    if whole in past.wholes[1:]:
        proven = proven and len(lately) >= _OFTEN
        lately = (*lately, visit)[-_LATELY:]
    change = change._replace(reason=RETURNED, proven=True) if proven else change
    wholes = (whole, *(past_whole for past_whole in past.wholes if past_whole != whole))[:_VERSIONS]
    return change, structs.replace(past, wholes=wholes, turns=lately)


_MOST_EDITED = 32_000
"""A bound of memory: bytes of a row for the differences of a version that is not stored."""


def unstored_version(stored: PageView, newest: PageView) -> UnstoredVersion | None:
    """The data of a version that is not stored; None if too much of it differs."""
    edits = _edits(stored.pieces, newest.pieces)
    size = len(msgspec.msgpack.encode(edits))
    return UnstoredVersion(whole_version(stored), edits) if size <= _MOST_EDITED else None


def newest_version(stored: PageView, unstored: UnstoredVersion | None) -> PageView:
    """The newest version of a page; the stored one if that is read in another way than it was."""
    if unstored is None or unstored.base != whole_version(stored):
        return stored
    pieces: list[Piece] = []
    begin = 0
    for edit in unstored.edits:
        pieces += (*stored.pieces[begin : edit.start], *edit.pieces)
        begin = edit.end
    return structs.replace(stored, pieces=(*pieces, *stored.pieces[begin:]))


def _edits(stored: Sequence[Piece], newest: Sequence[Piece]) -> tuple[PieceEdit, ...]:
    """What differs between two versions, whatever is around the pieces."""
    before, after = (
        [(piece.kind, piece.text, piece.is_line) for piece in s] for s in (stored, newest)
    )
    head, tail = common_ends(before, after)
    end, last = len(before) - tail, len(after) - tail
    edits: list[PieceEdit] = []
    begin = first = head
    shared = ((head + a, head + b) for a, b in _shared(before[head:end], after[head:last]))
    for at, place in (*shared, (end, last)):
        if at > begin or place > first:
            edits.append(PieceEdit(begin, at, tuple(newest[first:place])))
        begin, first = at + 1, place + 1
    return tuple(edits)


def _shared(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Numbers of items that both have, in the order of both; nearly as many as there are.

    The n-th of equal items is that of the other side. So it takes O(n log n) steps whatever the
    items are; `difflib` takes O(n³), which is seconds, where few texts are repeated among others.
    """
    places = {name: place for place, name in enumerate(_numbered(right))}
    pairs = [(at, places[name]) for at, name in enumerate(_numbered(left)) if name in places]
    # Patience sorting: the lowest last place of a series of each length, and its pair.
    lowest: list[int] = []
    lasts: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(lowest, place)
        before.append(lasts[length - 1] if length else -1)
        lowest[length : length + 1], lasts[length : length + 1] = [place], [number]
    series: list[tuple[int, int]] = []
    number = lasts[-1] if lasts else -1
    while number >= 0:
        series.append(pairs[number])
        number = before[number]
    return series[::-1]


def _numbered(items: Iterable[Hashable]) -> Iterator[tuple[Hashable, int]]:
    """Yield each item with the number of earlier items that are equal."""
    counts: Counter[Hashable] = Counter()
    for item in items:
        yield item, counts[item]
        counts[item] += 1
