"""The comparison of two versions of a page: a class and a score, biased to "changed" (pure).

A block is what it says: a page is a collection of texts and addresses, and neither the place of a
block nor the names of the elements around it make another block of it. A difference is a change
unless something proves it to be noise: its words change by themselves (`masking`), paired fetches
differ in it, or other pages of the run have the same difference (`template`).
"""

import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple

from nacre.config.component import Component, section, setting
from nacre.core.pageview import PageView, Piece
from nacre.recrawl.planner.change_detection.masking import Mask, differs_by_itself, masked
from nacre.recrawl.planner.change_detection.signatures import (
    ProfileSettings,
    TextProfile,
    paper_changed,
    text_distance,
    text_profile,
)
from nacre.recrawl.planner.change_detection.template import (
    MENU,
    EventKeys,
    PieceDifference,
    Template,
    by_place,
    event_keys,
)


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
        reason: Code of what decided: `payload`, `markup`, or of an excuse (`Excuses.code`); of a
            change: `text`, `title`, `heading`, `link`, `image`, `file`, `nav`, `order` (the same
            texts in another order), `score`, `unread` (it differs behind what was taken apart);
            or the name of the signature.
        proven: It is proven that a reader sees nothing new: only then may a version be left out.
        differing: What differs, in the order of the document, each with its excuse; "" for none.
        unproven: The names of those that other pages of the run may yet show to be an event.
    """

    kind: ChangeClass
    score: float = 0.0
    reason: str = ""
    proven: bool = False
    differing: tuple[tuple[PieceDifference, str], ...] = ()
    unproven: tuple[EventKeys, ...] = ()

    @property
    def real(self) -> list[PieceDifference]:
        """The differences that nothing excuses."""
        return [one for one, code in self.differing if not code]


SAME = Change(ChangeClass.NONE, 0.0, "payload", proven=True)
PROOFS = frozenset(("masked", "volatile", "event"))
"""Excuses that prove that a difference is noise; others only make it likely."""
_EVENT = frozenset(("event", "frame", "navigation"))


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
        old: The version before.
        new: The version now.
        template: What the pages of its site have taught.
        settings: When a difference is a change.
        listing: The page is an index: its links are what it says; elsewhere they lead around.
    """
    differing = differences(old.pieces, new.pieces)
    if (old.truncated or new.truncated) and not differing:
        return Change(ChangeClass.MINOR, 0.0, "unread")
    if differing and _says_the_same(old, new, differing):
        return Change(ChangeClass.MARKUP, 0.0, "markup", proven=True)
    coded: tuple[tuple[PieceDifference, str], ...] = ()
    score = 0.0
    if differing:
        excuses = Excuses(old, new, differing, template, listing=listing)
        coded = tuple((one, excuses.code(one)) for one in differing)
        score = _score(differing, old, new, template)
        real = [one for one, code in coded if not code]
        if real:
            unproven = tuple(excuses.keys(one) for one, code in coded if code not in PROOFS)
            return _change(real, score, settings)._replace(differing=coded, unproven=unproven)
    if differing and score >= settings.noise_limit < 1.0:
        return Change(ChangeClass.MINOR, score, "score", differing=coded)
    moves = _moves(old, new, differing)
    if any(piece.kind in _READ and not template.is_frame(piece) for piece in moves.reordered):
        kind = ChangeClass.NOISE if template.is_shuffled else ChangeClass.MINOR
        return Change(kind, score, ORDER, differing=coded)
    whole = not (old.truncated or new.truncated or moves.reordered or moves.exchanged)
    return _excused(coded, score, can_prove=whole)


def _excused(
    coded: Sequence[tuple[PieceDifference, str]], score: float, *, can_prove: bool
) -> Change:
    """The verdict on differences of which none is a change."""
    codes = {code for _, code in coded}
    proven = can_prove and codes <= PROOFS
    reason = next((code for code in _EXCUSES if code in codes), "markup")
    kind = ChangeClass.TEMPLATE if codes & _EVENT else ChangeClass.NOISE
    kind = kind if coded else ChangeClass.MARKUP
    return Change(kind, score, reason, proven, tuple(coded))


ORDER = "order"
"""Reason of a verdict: the page has the same texts in another order."""
_EXCUSES = ("event", "frame", "navigation", "advert", "churn", "token", "masked", "volatile")
"""Codes, the one that says most first."""


class Excuses:
    """Knows why differences between two versions are not a change of the page.

    Args:
        old: The version before.
        new: The version now.
        differing: What differs.
        template: What the pages of its site have taught.
        listing: The page is an index.
    """

    def __init__(
        self,
        old: PageView,
        new: PageView,
        differing: Sequence[PieceDifference],
        template: Template,
        *,
        listing: bool = False,
    ) -> None:
        self._old, self._new = old, new
        self._template = template
        self._listing = listing or _is_mostly_links(old, new, template)
        self._framed = _framed(old, template) | _framed(new, template) if self._listing else set()
        parts = set() if self._listing else set(filter(self._is_elsewhere, differing))
        texts = sum(one.piece.kind in _TEXTS for one in parts)
        self._parts = parts if texts >= _PART else set()

    def keys(self, one: PieceDifference) -> EventKeys:
        """The names of a difference."""
        return event_keys(one, listing=self._listing and one.piece not in self._framed)

    def code(self, one: PieceDifference) -> str:
        """The reason why a difference is not a change: a code; "" when it is one.

        `masked` (a clock, a counter), `advert`, `volatile` (paired fetches differ in it), `token`,
        `churn` (one pair differed in it, and each visit so far),
        `event` (so many other pages of the run have it), `frame` (a part of the frame of the site,
        which other pages have, came or went), `navigation` (links that lead around).
        """
        if noise := self._noise(one):
            return noise
        if self._template.is_event(self.keys(one)):
            return "event"
        if one in self._parts:
            return "frame"
        around = one.piece.kind in MENU and (not self._listing or one.piece in self._framed)
        return "navigation" if around else ""

    def _noise(self, one: PieceDifference) -> str:
        """The reason why a difference is noise: a code; "" when it is none."""
        if _is_masked(one, Mask.CLOCKS):
            return "masked"
        if one.piece.kind == "advert":
            return "advert"
        if self._template.is_noise(one):
            # Pairs had nothing in common at the place: that is no proof where something stays.
            proven = self._template.is_proven_noise(one)
            stays = not one.skeletons and one.piece.place in self._stable
            return "volatile" if proven and not stays else "churn"
        return "token" if _is_masked(one, Mask.ALL) else ""

    @cached_property
    def _stable(self) -> frozenset[int]:
        """The places of the page at which something is as it was."""
        before, after = by_place(self._old), by_place(self._new)
        return frozenset(place for place in before if before[place] & after.get(place, frozenset()))

    def _is_elsewhere(self, one: PieceDifference) -> bool:
        """Whether a piece came or went that other pages have."""
        alone = one.was is None or one.now is None
        others = self._template.frequency(one.piece) - (one.was is not None)
        return alone and others >= _ELSEWHERE


_PART = 5
"""Blocks of a part of a frame: a single one that other pages have may be like `Cancelled`."""
_ELSEWHERE = 2
"""Other pages that must have each of these blocks."""
_NEAR = 3
"""Blocks between two blocks of the frame that belong to it: entries that a menu has got."""


def _framed(view: PageView, template: Template) -> set[Piece]:
    """The pieces between neighbours that belong to the frame of the site."""
    pieces = [piece for piece in view.pieces if piece.kind in _TEXTS or piece.kind in MENU]
    frame = [piece.kind in _TEXTS and template.is_frame(piece) for piece in pieces]
    return {
        piece
        for at, piece in enumerate(pieces)
        if any(frame[max(0, at - _NEAR) : at]) and any(frame[at + 1 : at + 1 + _NEAR])
    }


def _is_mostly_links(old: PageView, new: PageView, template: Template) -> bool:
    """Whether links are most of what stayed on a page, what belongs to the frame left out."""
    there = {piece.text for piece in old.pieces}
    linked = plain = 0
    for piece in new.pieces:
        if piece.kind in _TEXTS and piece.text in there and not template.is_frame(piece):
            if piece.kind == "nav":
                linked += len(piece.text)
            else:
                plain += len(piece.text)
    return linked > plain


def _change(real: Sequence[PieceDifference], score: float, settings: ChangeSettings) -> Change:
    reasons = [one.piece.kind for one in real]
    told = next((kind for kind in _TELLING if kind in reasons), "text")
    heavy = score >= settings.major or told in {"title", "file"}
    kind = ChangeClass.MAJOR if heavy else ChangeClass.MINOR
    return Change(kind, score, told)


_TELLING = ("title", "file", "heading", "text", "image", "link", "nav", "nav-link")
_TEXTS = frozenset(("text", "title", "heading", "nav", "advert"))
"""Kinds whose text a reader sees."""
_READ = frozenset(("text", "title", "heading"))
"""Kinds whose order is content; that of menus and advertisements is not."""
_LINKS = frozenset(("link", "nav-link"))


def _is_masked(one: PieceDifference, mask: Mask) -> bool:
    if one.was is None or one.now is None:
        return False
    return differs_by_itself(one.was.text, one.now.text, mask)


def _identity(piece: Piece) -> tuple[str, str]:
    """What a piece is, whatever is around it: its text, or its address."""
    if piece.kind in _TEXTS:
        return "text", piece.text
    if piece.kind == "image":
        name = piece.text.partition("?")[0].rpartition("/")[2]
        return "image", name if _PICTURE.search(name) else piece.text
    return "link" if piece.kind in _LINKS else piece.kind, piece.text


_PICTURE = re.compile(r"(?i).\.(?:avif|gif|jpe?g|png|svg|webp)$")
"""A picture is known by its name: servers of pictures move, and scale them."""


def differences(old: Sequence[Piece], new: Sequence[Piece]) -> list[PieceDifference]:
    """Pieces that one version has and the other has not, like ones paired, in document order.

    Dates in the head of a page, which nobody sees, are left out.
    """
    before, after = _counted(old), _counted(new)
    gone, came = _left(old, before - after), _left(new, after - before)
    paired: list[PieceDifference] = []
    partners = _partners(gone, came)
    for piece, partner in zip(came, partners, strict=True):
        paired.append(PieceDifference(partner, piece))
    taken = Counter(id(piece) for piece in partners if piece is not None)
    paired.extend(PieceDifference(piece, None) for piece in gone if not taken[id(piece)])
    return paired


def _counted(pieces: Iterable[Piece]) -> Counter[tuple[str, str]]:
    """How often each piece comes; of a link or picture only that it comes."""
    counts = Counter(_identity(piece) for piece in pieces if piece.kind != "date")
    return Counter({name: n if name[0] == "text" else 1 for name, n in counts.items()})


def _left(pieces: Iterable[Piece], counts: Counter[tuple[str, str]]) -> list[Piece]:
    found = []
    for piece in pieces:
        name = _identity(piece)
        if counts[name] > 0:
            counts[name] -= 1
            found.append(piece)
    return found


_MOST_PAIRS = 40_000
"""A bound of work: pairs of pieces that are compared to find those that are alike."""
_ALIKE = 0.5
"""Share of a piece that a partner must have in common with it."""


def _partners(gone: Sequence[Piece], came: Sequence[Piece]) -> list[Piece | None]:
    """For each piece that came, the one that it takes the place of; None for none."""
    free: dict[int, Piece] = {id(piece): piece for piece in gone}
    found: list[Piece | None] = [None] * len(came)
    for name in (_by_mask, _by_place):
        waiting: dict[object, list[Piece]] = {}
        for piece in free.values():
            waiting.setdefault(name(piece), []).append(piece)
        for at, piece in enumerate(came):
            queue = waiting.get(name(piece)) if found[at] is None else None
            if queue:
                found[at] = queue.pop(0)
                del free[id(found[at])]
        if name is _by_mask and len(free) * len(came) <= _MOST_PAIRS:
            _match(free, came, found)
    return found


def _by_mask(piece: Piece) -> object:
    return _identity(piece)[0], masked(piece.text)


def _by_place(piece: Piece) -> object:
    return _identity(piece)[0], piece.place


def _match(free: dict[int, Piece], came: Sequence[Piece], found: list[Piece | None]) -> None:
    """Pair what is alike: of texts of one page that were edited, each with its own successor."""
    for at, piece in enumerate(came):
        if found[at] is not None:
            continue
        group = _identity(piece)[0]
        best, least = None, 1.0 - _ALIKE
        for one in free.values():
            # A text of another length differs in so much at least.
            apart = abs(len(one.text) - len(piece.text))
            if _identity(one)[0] != group or apart > least * max(len(one.text), len(piece.text)):
                continue
            share = edited_share(one.text, piece.text)
            if share < least or (share == least and best is None):
                best, least = one, share
        if best is not None:
            found[at] = best
            del free[id(best)]


class _Moves(NamedTuple):
    """Texts that both versions have, and that moved.

    Attributes:
        reordered: They came in another order among the texts at their place.
        exchanged: One is where another kind of text was.
    """

    reordered: tuple[Piece, ...]
    exchanged: bool


def _moves(old: PageView, new: PageView, differing: Sequence[PieceDifference]) -> _Moves:
    """How texts moved: cells of a table that were exchanged are a change; moved sections are none.

    Args:
        old: The version before.
        new: The version now.
        differing: What differs; it is left out.
    """
    apart = {_identity(piece) for one in differing for piece in one if piece is not None}
    before, after = (
        [piece for piece in view.pieces if piece.kind in _TEXTS and _identity(piece) not in apart]
        for view in (old, new)
    )
    ranks: dict[str, deque[int]] = {}
    for rank, piece in enumerate(after):
        ranks.setdefault(piece.text, deque()).append(rank)
    there = {piece.place for piece in before} & {piece.place for piece in after}
    last: dict[int, int] = {}
    reordered, exchanged = [], False
    for piece in before:
        rank = ranks[piece.text].popleft()
        if rank < last.get(piece.place, rank):
            reordered.append(piece)
        last[piece.place] = rank
        place = after[rank].place
        exchanged |= place != piece.place and {place, piece.place} <= there
    return _Moves(tuple(reordered), exchanged)


def _says_the_same(old: PageView, new: PageView, differing: Sequence[PieceDifference]) -> bool:
    """Whether the text is only cut into other blocks."""
    if any(one.piece.kind not in _TEXTS for one in differing):
        return False
    return old.text == new.text and _letters(old) == _letters(new)


def _letters(view: PageView) -> str:
    """The texts of a page, those of attributes too, without spaces."""
    return "".join(piece.text for piece in view.pieces if piece.kind in _TEXTS).replace(" ", "")


def _score(
    differing: Sequence[PieceDifference], old: PageView, new: PageView, template: Template
) -> float:
    pieces = {_identity(piece): piece for piece in (*old.pieces, *new.pieces)}
    union = _counted(old.pieces) | _counted(new.pieces)
    whole = sum(count * _weight(pieces[name], template) for name, count in union.items())
    changed = 0.0
    for one in differing:
        share = 1.0 if one.was is None or one.now is None else edited_share(*_texts(one))
        changed += _weight(one.piece, template) * share
        if one.was is not None and one.now is not None:
            # The union holds both sides of an edit, which is one piece of the page.
            whole -= min(_weight(one.was, template), _weight(one.now, template))
    return min(1.0, changed / whole) if whole > 0.0 else 0.0


def _texts(one: PieceDifference) -> tuple[str, str]:
    return ("" if one.was is None else one.was.text, "" if one.now is None else one.now.text)


def _weight(piece: Piece, template: Template) -> float:
    calm = 1.0 - template.volatility(piece.place)
    length = len(piece.text) if piece.kind in _TEXTS else 10
    return length * calm / (1.0 + math.log2(1.0 + template.frequency(piece)))


def edited_share(was: str, now: str) -> float:
    """Share of a text that was edited: what is between a common beginning and a common end."""
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


_PROFILES = {"text-profile": False, "text-profile-cjk": True}


def compare_whole(old: PageView, new: PageView, settings: ChangeSettings) -> Change:
    """The verdict on two versions of one page whose payloads differ.

    Args:
        old: The version before.
        new: The version now.
        settings: Which signature, and from which share on a change is major.
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
