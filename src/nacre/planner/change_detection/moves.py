"""Texts that both versions of a page have, and that moved, or are laid out otherwise (pure)."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from nacre.core.pageview import PageView, Piece
from nacre.planner.change_detection.pairing import TEXTS, identity
from nacre.planner.change_detection.template import PieceDifference


class PieceMoves(NamedTuple):
    """Texts that both versions have, and that moved.

    Attributes:
        reordered: They came in another order among the texts at their place.
        exchanged: One is where another kind of text was.
        relaid: They began a block and begin a line of one, or the other way round.
    """

    reordered: tuple[Piece, ...]
    exchanged: bool
    relaid: tuple[Piece, ...]


def find_moves(old: PageView, new: PageView, differing: Sequence[PieceDifference]) -> PieceMoves:
    """Find texts that moved: exchanged cells of a table are a change, moved sections are none.

    Args:
        old: The version before.
        new: The version now.
        differing: What differs; it is left out.
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
