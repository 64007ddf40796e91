"""The comparison of two versions of a page: a class and a score, biased to "changed" (pure).

A block is identified by its content alone: a page is a collection of texts and addresses, and a
block stays the same if its place or the elements around it change. A difference is a change unless
something proves it to be noise: its words change by themselves (`masking`), paired fetches differ
in it, or other pages of the run have the same difference (`template`).
"""

import math
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, NamedTuple

from nacre.config.component import Component, section, setting
from nacre.core.pagerow import PageView, Piece
from nacre.planner.change_detection.excuses import CODES, PROOFS, Excuses
from nacre.planner.change_detection.pairing import (
    READ,
    TEXTS,
    count_pieces,
    differences,
    edited_share,
    identity,
)
from nacre.planner.change_detection.signatures import (
    ProfileSettings,
    TextProfile,
    paper_changed,
    text_distance,
    text_profile,
)
from nacre.planner.change_detection.template import EventKeys, PieceDifference, Template


class PieceMoves(NamedTuple):
    """Texts that both versions have, and that moved.

    Attributes:
        reordered: Texts in another order among the texts at their place.
        exchanged: A text replaced another kind of text.
        relaid: Texts that began a block and now begin a line of a block, or the reverse.
    """

    reordered: tuple[Piece, ...]
    exchanged: bool
    relaid: tuple[Piece, ...]


def find_moves(old: PageView, new: PageView, differing: Sequence[PieceDifference]) -> PieceMoves:
    """Find texts that moved: exchanged cells of a table are a change, moved sections are not.

    Args:
        old: The earlier version.
        new: The current version.
        differing: The differences; their pieces are left out.
    """
    apart = {identity(piece) for pair in differing for piece in pair if piece is not None}
    before, after = (
        [piece for piece in view.pieces if piece.kind in TEXTS and identity(piece) not in apart]
        for view in (old, new)
    )
    ranks: dict[str, deque[int]] = {}
    for rank, piece in enumerate(after):
        ranks.setdefault(piece.text, deque()).append(rank)
    there = {piece.place for piece in before} & {piece.place for piece in after}
    last: dict[int, int] = {}
    reordered, relaid, exchanged = [], [], False
    for piece in before:
        rank = ranks[piece.text].popleft()
        if piece.is_line != after[rank].is_line:
            relaid.append(piece)
        if rank < last.get(piece.place, rank):
            reordered.append(piece)
        last[piece.place] = rank
        place = after[rank].place
        exchanged |= place != piece.place and {place, piece.place} <= there
    return PieceMoves(tuple(reordered), exchanged, tuple(relaid))


def says_the_same(old: PageView, new: PageView, differing: Sequence[PieceDifference]) -> bool:
    """Whether the text is only cut into other blocks."""
    if any(pair.piece.kind not in TEXTS for pair in differing):
        return False
    return _words(old) == _words(new)


def _words(view: PageView) -> str:
    """The texts of a page, those of attributes too."""
    return " ".join(piece.text for piece in view.pieces if piece.kind in TEXTS)


class ChangeClass(StrEnum):
    """The size of the difference between two versions, as an archivist sees it."""

    NONE = "none"
    MARKUP = "markup"
    NOISE = "noise"
    TEMPLATE = "template"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def is_change(self) -> bool:
        """Whether the content of the page itself differs."""
        return self in {ChangeClass.MINOR, ChangeClass.MAJOR}


class ChangeSettings(Component):
    """The thresholds from which a difference between two versions is a change."""

    signature: Literal["blocks", "paper", "md5", "text-profile", "text-profile-cjk"] = setting(
        "blocks",
        "How two versions of a page are compared: `blocks` (its pieces, without noise and "
        "boilerplate), `paper` (the text in p and span and beside br, as in the paper of the "
        "National Library of China), `md5` (every byte), `text-profile` (Nutch's; blind to "
        "Chinese), `text-profile-cjk` (the same for text without spaces).",
        live=False,
        sheets=False,
    )
    threshold: float = setting(
        0.0,
        "For `paper`: share of the text that must differ for a change; 0: any difference.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    text_profile: ProfileSettings = section(
        ProfileSettings, "For `text-profile` and `text-profile-cjk`: how words count."
    )
    major: float = setting(
        0.10,
        "Share of a page that must differ for a major change.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    noise_limit: float = setting(
        1.0,
        "Share of the page beyond which differences in noise and boilerplate are a change; "
        "pieces that seldom differ on unchanged pages have more weight. 1: never, 0: always.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    shown: int = setting(
        5, "Differing pieces kept as evidence.", unit="pieces", ge=0, live=False, sheets=False
    )


class Change(NamedTuple):
    """The verdict on two versions.

    Attributes:
        kind: Class.
        score: Share of the page that differs, noise and frame weighed down; 0 to 1.
        reason: Code of the reason: `payload`, `markup`, or that of an excuse (`Excuses.code`); of a
            change: `text`, `title`, `heading`, `link`, `image`, `file`, `nav`, `order` (the same
            texts in another order), `layout` (lines became blocks, or blocks lines), `score`,
            `unread` (it differs beyond the parsed part); or the name of the signature.
        proven: It is proven that a reader sees nothing new: only then may a version be left out.
        differing: The differences in document order, each with its excuse; "" for none.
        unproven: Names of the differences that other pages of the run may yet prove an event.
    """

    kind: ChangeClass
    score: float = 0.0
    reason: str = ""
    proven: bool = False
    differing: tuple[tuple[PieceDifference, str], ...] = ()
    unproven: tuple[EventKeys, ...] = ()

    @property
    def real(self) -> list[PieceDifference]:
        """The differences without an excuse."""
        return [pair for pair, code in self.differing if not code]


SAME = Change(ChangeClass.NONE, 0.0, "payload", proven=True)
_EVENT = frozenset(("event", "frame", "navigation"))
"""Excuses that lead to the verdict `template`."""


def compare(
    old: PageView,
    new: PageView,
    template: Template,
    settings: ChangeSettings,
    *,
    listing: bool = False,
) -> Change:
    """The verdict on two versions of one page whose payloads differ.

    Args:
        old: The earlier version.
        new: The current version.
        template: The knowledge learned from the pages of its site.
        settings: When a difference is a change.
        listing: The page is an index: its links are content; on other pages they are navigation.
    """
    differing = differences(old.pieces, new.pieces)
    if (old.truncated or new.truncated) and not differing:
        return Change(ChangeClass.MINOR, 0.0, "unread")
    if differing and says_the_same(old, new, differing):
        return Change(ChangeClass.MARKUP, 0.0, "markup", proven=True)
    coded: tuple[tuple[PieceDifference, str], ...] = ()
    score = 0.0
    if differing:
        excuses = Excuses(old, new, differing, template, listing=listing)
        coded = tuple((pair, excuses.code(pair)) for pair in differing)
        score = _score(differing, old, new, template)
        real = [pair for pair, code in coded if not code]
        if real:
            unproven = tuple(map(excuses.keys, real))
            return _change(real, score, settings)._replace(differing=coded, unproven=unproven)
    if differing and score >= settings.noise_limit < 1.0:
        return Change(ChangeClass.MINOR, score, "score", differing=coded)
    return _moved(old, new, template, coded)._replace(score=score)


def _moved(
    old: PageView,
    new: PageView,
    template: Template,
    coded: tuple[tuple[PieceDifference, str], ...],
) -> Change:
    """Return the verdict on versions whose differences are all excused; texts may have moved."""
    differing = [pair for pair, _ in coded]
    moves = find_moves(old, new, differing)
    if _has_own(moves.reordered, template):
        kind = ChangeClass.NOISE if template.is_shuffled else ChangeClass.MINOR
        return Change(kind, reason=ORDER, differing=coded)
    if _has_own(moves.relaid, template):
        return Change(ChangeClass.MINOR, reason="layout", differing=coded)
    is_whole = not (old.truncated or new.truncated or any(moves))
    return _excused(coded, can_prove=is_whole)


def _has_own(pieces: Sequence[Piece], template: Template) -> bool:
    """Whether one of the pieces is a text of the page itself, not of the frame of its site."""
    return any(piece.kind in READ and not template.is_frame(piece) for piece in pieces)


def _excused(coded: tuple[tuple[PieceDifference, str], ...], *, can_prove: bool) -> Change:
    """Return the verdict on differences if none of them is a change."""
    codes = {code for _, code in coded}
    proven = can_prove and codes <= PROOFS
    reason = next((code for code in CODES if code in codes), "markup")
    kind = ChangeClass.TEMPLATE if codes & _EVENT else ChangeClass.NOISE
    kind = kind if coded else ChangeClass.MARKUP
    return Change(kind, 0.0, reason, proven, coded)


ORDER = "order"
"""Reason of a verdict: the page has the same texts in another order."""


def _change(real: Sequence[PieceDifference], score: float, settings: ChangeSettings) -> Change:
    reasons = [pair.piece.kind for pair in real]
    reason = next((kind for kind in _TELLING if kind in reasons), "text")
    heavy = score >= settings.major or reason in {"title", "file"}
    kind = ChangeClass.MAJOR if heavy else ChangeClass.MINOR
    return Change(kind, score, reason)


_TELLING = ("title", "file", "heading", "text", "image", "link", "nav", "nav-link")


def _score(
    differing: Sequence[PieceDifference], old: PageView, new: PageView, template: Template
) -> float:
    pieces = {identity(piece): piece for piece in (*old.pieces, *new.pieces)}
    union = count_pieces(old.pieces) | count_pieces(new.pieces)
    whole = sum(count * _weight(pieces[name], template) for name, count in union.items())
    changed = 0.0
    for pair in differing:
        share = 1.0 if pair.was is None or pair.now is None else edited_share(*_texts(pair))
        changed += _weight(pair.piece, template) * share
        if pair.was is not None and pair.now is not None:
            # The union holds both sides of an edit, which is one piece of the page.
            whole -= min(_weight(pair.was, template), _weight(pair.now, template))
    return min(1.0, changed / whole) if whole > 0.0 else 0.0


def _texts(pair: PieceDifference) -> tuple[str, str]:
    return ("" if pair.was is None else pair.was.text, "" if pair.now is None else pair.now.text)


def _weight(piece: Piece, template: Template) -> float:
    calm = 1.0 - template.volatility(piece.place)
    length = len(piece.text) if piece.kind in TEXTS else 10
    return length * calm / (1.0 + math.log2(1.0 + template.frequency(piece)))


_PROFILES = {"text-profile": False, "text-profile-cjk": True}


def compare_whole(old: PageView, new: PageView, settings: ChangeSettings) -> Change:
    """The verdict on two versions of one page whose payloads differ.

    Args:
        old: The earlier version.
        new: The current version.
        settings: The signature, and the share from which on a change is major.
    """
    name = settings.signature
    if not _differ(old, new, settings):
        return Change(ChangeClass.NOISE, 0.0, name)
    score = text_distance(old.text, new.text)
    kind = ChangeClass.MAJOR if score >= settings.major else ChangeClass.MINOR
    return Change(kind, score, name)


def _differ(old: PageView, new: PageView, settings: ChangeSettings) -> bool:
    if settings.signature == "paper":
        return paper_changed(old, new, settings.threshold)
    if settings.signature in _PROFILES:
        how = TextProfile(
            **settings.text_profile.model_dump(), unspaced=_PROFILES[settings.signature]
        )
        # Where there is no text the payload signs, and the payloads differ.
        return text_profile(old.text, b"old", how) != text_profile(new.text, b"new", how)
    return True
