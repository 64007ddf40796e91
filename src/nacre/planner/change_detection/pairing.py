"""Pairs the pieces of two versions of a page: which are the same, which took whose place (pure)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nacre.core.pagerow import Piece
from nacre.planner.change_detection.masking import masked
from nacre.planner.change_detection.template import PieceDifference

TEXTS = frozenset(("text", "title", "heading", "nav", "advert"))
"""Kinds whose text a reader sees."""
READ = frozenset(("text", "title", "heading"))
"""Kinds whose order is content; that of menus and advertisements is not."""
LINKS = frozenset(("link", "nav-link"))


def identity(piece: Piece) -> tuple[str, str]:
    """Return what a piece is, whatever is around it: its text, or its address."""
    if piece.kind in TEXTS:
        return "text", piece.text
    if piece.kind == "image":
        name = piece.text.partition("?")[0].rpartition("/")[2]
        return "image", name if _PICTURE.search(name) else _SERVER.sub(r"\1", piece.text)
    return "link" if piece.kind in LINKS else piece.kind, piece.text


_PICTURE = re.compile(r"(?i).\.(?:avif|gif|jpe?g|png|svg|webp)$")
"""A picture is known by its name: servers of pictures move, and scale them."""
_SERVER = re.compile(r"(?<=//)([a-z-]+)\d+(?=\.)")
"""The number of a server among several: `img1.example.org`."""


def differences(old: Sequence[Piece], new: Sequence[Piece]) -> list[PieceDifference]:
    """Return the pieces that only one version has, in document order, with similar pieces paired.

    Dates in the head of a page are left out, as a browser does not show them.
    """
    before, after = count_pieces(old), count_pieces(new)
    gone, came = _unpaired(old, before - after), _unpaired(new, after - before)
    paired: list[PieceDifference] = []
    partners = _partners(gone, came)
    for piece, partner in zip(came, partners, strict=True):
        paired.append(PieceDifference(partner, piece))
    partner_counts = Counter(id(piece) for piece in partners if piece is not None)
    paired.extend(PieceDifference(piece, None) for piece in gone if not partner_counts[id(piece)])
    return paired


def in_document_order(
    differing: Iterable[PieceDifference], old: Sequence[Piece], new: Sequence[Piece]
) -> list[tuple[int, PieceDifference]]:
    """Return differences in the order of the document, each with its place in the newer version.

    Pieces that are gone have the place that they would have.
    """
    after, before = _places(new), _places(old)
    scale = max(1, len(new)) / max(1, len(old))

    def place(item: PieceDifference) -> float:
        if item.now is not None:
            return float(after[item.now])
        return before[item.piece] * scale

    return [(int(place(item)), item) for item in sorted(differing, key=place)]


def _places(pieces: Sequence[Piece]) -> dict[Piece, int]:
    return {piece: at for at, piece in reversed(list(enumerate(pieces)))}


def count_pieces(pieces: Iterable[Piece]) -> Counter[tuple[str, str]]:
    """Count how often each piece comes; a link or picture counts once."""
    counts = Counter(identity(piece) for piece in pieces if piece.kind != "date")
    return Counter({name: n if name[0] == "text" else 1 for name, n in counts.items()})


def _unpaired(pieces: Iterable[Piece], counts: Counter[tuple[str, str]]) -> list[Piece]:
    unpaired = []
    for piece in pieces:
        name = identity(piece)
        if counts[name] > 0:
            counts[name] -= 1
            unpaired.append(piece)
    return unpaired


_MOST_PAIRS = 40_000
"""A bound of work: pairs of pieces that are compared to find those that are alike."""
_ALIKE = 0.5
"""Share of a piece that a partner must have in common with it."""


def _partners(gone: Sequence[Piece], came: Sequence[Piece]) -> list[Piece | None]:
    """For each piece that came, the one that it takes the place of; None for none."""
    free: dict[int, Piece] = {id(piece): piece for piece in gone}
    partners: list[Piece | None] = [None] * len(came)
    for name in (_by_mask, _by_place):
        waiting: dict[object, list[Piece]] = {}
        for piece in free.values():
            waiting.setdefault(name(piece), []).append(piece)
        for at, piece in enumerate(came):
            queue = waiting.get(name(piece)) if partners[at] is None else None
            if queue:
                partners[at] = queue.pop(0)
                del free[id(partners[at])]
        if name is _by_mask and len(free) * len(came) <= _MOST_PAIRS:
            _match(free, came, partners)
    return partners


def _by_mask(piece: Piece) -> object:
    return identity(piece)[0], masked(piece.text)


def _by_place(piece: Piece) -> object:
    return identity(piece)[0], piece.place


def _match(free: dict[int, Piece], came: Sequence[Piece], partners: list[Piece | None]) -> None:
    """Pair similar pieces: each edited text of a page with its successor."""
    for at, piece in enumerate(came):
        if partners[at] is not None:
            continue
        group = identity(piece)[0]
        best, least = None, 1.0 - _ALIKE
        for other in free.values():
            # A text of another length differs in so much at least.
            apart = abs(len(other.text) - len(piece.text))
            if identity(other)[0] != group or apart > least * max(len(other.text), len(piece.text)):
                continue
            share = edited_share(other.text, piece.text)
            if share < least or (share == least and best is None):
                best, least = other, share
        if best is not None:
            partners[at] = best
            del free[id(best)]


def edited_share(was: str, now: str) -> float:
    """Return the edited share of a text: the part between the common beginning and common end."""
    shorter, longer = sorted((len(was), len(now)))
    if not longer:
        return 0.0
    head = _bisected(shorter, lambda size: was[:size] == now[:size])
    tail = _bisected(shorter - head, lambda size: was[len(was) - size :] == now[len(now) - size :])
    return (longer - head - tail) / longer


def _bisected(most: int, is_common: Callable[[int], bool]) -> int:
    """The largest size up to a number that is common; each smaller is too. O(log) comparisons."""
    least = 0
    while least < most:
        size = (least + most + 1) // 2
        if is_common(size):
            least = size
        else:
            most = size - 1
    return least
