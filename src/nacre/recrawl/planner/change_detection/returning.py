"""Versions of a page: texts that return, and the newest one where it is not stored (pure)."""

from collections.abc import Sequence
from difflib import SequenceMatcher

import msgspec
from msgspec import structs

from nacre.core.pagerow import UnstoredVersion
from nacre.core.pageview import PageView, Piece, PieceEdit
from nacre.recrawl.planner.change_detection.change import Change, ChangeClass
from nacre.recrawl.planner.change_detection.masking import masked
from nacre.recrawl.planner.change_detection.pairing import READ, identity
from nacre.recrawl.planner.change_detection.template import common_ends, name_of
from nacre.recrawl.planner.tuning import guess

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
    texts = (text, *(known for known in past.texts if known != text))[:_VERSIONS]
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
    """The verdict on a version that may be stored already, and the past with it.

    A version that says the same as the one before, or that returns on a page that goes to and fro
    between versions that the archive has, is proven to be noise: all that a reader sees is stored,
    in the same order.

    Args:
        change: The verdict.
        past: Versions before.
        whole: Digest of the version now.
        visit: Number of the visit.
    """
    lately = tuple(turn for turn in past.turns if turn > visit - _LATELY)
    proven = not change.kind.is_change and whole in past.wholes
    if whole in past.wholes[1:]:
        proven = proven and len(lately) >= _OFTEN
        lately = (*lately, visit)[-_LATELY:]
    change = change._replace(reason=RETURNED, proven=True) if proven else change
    wholes = (whole, *(known for known in past.wholes if known != whole))[:_VERSIONS]
    return change, structs.replace(past, wholes=wholes, turns=lately)


_MOST_EDITED = 32_000
"""A bound of memory: bytes of the texts in which a version that is not stored differs."""
_MOST_PAIRS = 1_000_000
"""A bound of work: pairs of pieces that are compared, what both versions begin and end with aside;
of longer pages all in between counts as replaced."""


def unstored_version(stored: PageView, newest: PageView) -> UnstoredVersion | None:
    """The data of a version that is not stored; None if too much of it differs."""
    edits = _edits(stored.pieces, newest.pieces)
    size = sum(
        len(piece.text.encode("utf-8", "replace")) for edit in edits for piece in edit.pieces
    )
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
    one, two = ([(piece.kind, piece.text, piece.is_line) for piece in s] for s in (stored, newest))
    head, tail = common_ends(one, two)
    left, right = one[head : len(one) - tail], two[head : len(two) - tail]
    if len(left) * len(right) > _MOST_PAIRS:
        return (PieceEdit(head, head + len(left), tuple(newest[head : head + len(right)])),)
    codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return tuple(
        PieceEdit(head + begin, head + end, tuple(newest[head + first : head + last]))
        for tag, begin, end, first, last in codes
        if tag != "equal"
    )
