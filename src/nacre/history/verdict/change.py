"""Has a page changed? A class and a score, by pieces, biased to "changed" (pure).

Levels: L0 the payload, L1 the markup without what never matters, L2 the pieces of the page, of
which those that are noise or belong to the template do not count.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Literal, NamedTuple

from nacre.config.component import Component, section, setting
from nacre.core.pageview import PageView, Piece
from nacre.history.verdict.signature import ProfileSettings
from nacre.history.verdict.template import Template
from nacre.history.verdict.volatile import masked


class ChangeClass(StrEnum):
    """What the difference between two versions amounts to: the archivist's size of the update."""

    NONE = "none"
    MARKUP = "markup"
    NOISE = "noise"
    TEMPLATE = "template"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def is_change(self) -> bool:
        """The page itself says something else."""
        return self in {ChangeClass.MINOR, ChangeClass.MAJOR}


class ChangeSettings(Component):
    """When a difference is a change."""

    signature: Literal["blocks", "paper", "md5", "text-profile", "text-profile-cjk"] = setting(
        "blocks",
        "What two versions of a page are compared by: `blocks` (its pieces, without noise and "
        "boilerplate), `paper` (the text in p and span and beside br, as the National Library of "
        "China has it), `md5` (every byte), `text-profile` (Nutch's; blind to Chinese), "
        "`text-profile-cjk` (the same for text without spaces).",
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
        "Share of the page beyond which differences in noise and boilerplate are a change after "
        "all; a piece counts the more, the more seldom it differs on unchanged pages. 1: never, "
        "0: always.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    shown: int = setting(
        5, "Differing pieces kept as evidence.", unit="pieces", ge=0, live=False, sheets=False
    )


class Difference(NamedTuple):
    """One piece that differs: what it was (None: new), what it is (None: gone)."""

    was: Piece | None
    now: Piece | None

    @property
    def piece(self) -> Piece:
        """Either."""
        found = self.now or self.was
        if found is None:
            raise ValueError("a difference of nothing")
        return found


class Change(NamedTuple):
    """The verdict on two versions.

    Attributes:
        kind: Class.
        score: Share of the page that differs, noise and boilerplate weighed down; 0 to 1.
        reason: Code of what decided: `payload`, `markup`, `masked`, `volatile`, `template`,
            `navigation`, `text`, `title`, `heading`, `date`, `link`, `image`, `file`, `score`,
            `unread` (it differs behind what was taken apart); or the name of the signature.
        evidence: The first differences that decided.
    """

    kind: ChangeClass
    score: float = 0.0
    reason: str = ""
    evidence: tuple[Difference, ...] = ()


SAME = Change(ChangeClass.NONE, 0.0, "payload")


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
        template: What the pages of its kind have taught.
        settings: When a difference is a change.
        listing: The page is an index: its links are what it says; elsewhere they lead around.
    """
    if old.canonical == new.canonical and old.pieces == new.pieces:
        return Change(ChangeClass.MARKUP, 0.0, "markup")
    differing = differences(old.pieces, new.pieces)
    if not differing and (old.truncated or new.truncated):
        return Change(ChangeClass.MINOR, 0.0, "unread")
    if not differing:
        return Change(ChangeClass.MARKUP, 0.0, "markup")
    sorted_ = _Sorted(template, listing=listing or _is_mostly_links(new, template))
    for one in differing:
        sorted_.add(one)
    score = _score(differing, old, new, template)
    if sorted_.real:
        return _change(sorted_.real, score, settings)
    if score >= settings.noise_limit < 1.0:
        return Change(ChangeClass.MINOR, score, "score", tuple(differing[: settings.shown]))
    kind = ChangeClass.TEMPLATE if sorted_.template else ChangeClass.NOISE
    return Change(kind, score, sorted_.reason, tuple(differing[: settings.shown]))


class _Sorted:
    """Differences by what they are."""

    def __init__(self, template: Template, *, listing: bool) -> None:
        self._template = template
        self._listing = listing
        self.real: list[Difference] = []
        self.template = False
        self.reason = "volatile"

    def add(self, one: Difference) -> None:
        """Put a difference where it belongs."""
        code = excuse(one, self._template, listing=self._listing)
        if not code:
            self.real.append(one)
        elif code == "masked":
            self.reason = code
        elif code in {"template", "navigation"}:
            self.template, self.reason = True, code


def excuse(one: Difference, template: Template, *, listing: bool = False) -> str:
    """Why a difference is no change of the page: a code; "" when it is one.

    `masked` (a clock, a counter, a token), `advert`, `volatile` (its place is noise), `template`
    (on most pages of the site), `navigation` (links that lead around: in a place that many pages
    have, on a page that is no list).
    """
    if _is_masked(one):
        return "masked"
    if one.piece.kind == "advert":
        return "advert"
    if template.is_volatile(one.piece.place):
        return "volatile"
    if _is_boilerplate(one, template):
        return "template"
    around = not listing and one.piece.kind in _NAVIGATION
    return "navigation" if around and template.is_slot(one.piece.place) else ""


def _is_mostly_links(view: PageView, template: Template) -> bool:
    """Links are most of what a page says by itself: they are its content."""
    linked = plain = 0
    for piece in view.pieces:
        if piece.kind in _WORDS and not template.is_common(piece):
            if piece.kind == "nav":
                linked += len(piece.text)
            else:
                plain += len(piece.text)
    return linked > plain


def _is_boilerplate(one: Difference, template: Template) -> bool:
    """Both sides belong to the template; a piece that is new everywhere is one of them."""
    sides = [piece for piece in one if piece is not None]
    return any(map(template.is_common, sides)) and all(
        template.is_common(piece) or piece is one.now for piece in sides
    )


def _change(real: Sequence[Difference], score: float, settings: ChangeSettings) -> Change:
    reasons = [one.piece.kind for one in real]
    told = next((kind for kind in _TELLING if kind in reasons), "text")
    heavy = score >= settings.major or told in {"title", "file"}
    kind = ChangeClass.MAJOR if heavy else ChangeClass.MINOR
    return Change(kind, score, told, tuple(real[: settings.shown]))


_NAVIGATION = frozenset(("nav", "nav-link"))
_TELLING = ("title", "file", "heading", "text", "date", "image", "link", "nav", "nav-link")


def _is_masked(one: Difference) -> bool:
    if one.was is None or one.now is None:
        return False
    return one.was.kind == one.now.kind and masked(one.was.text) == masked(one.now.text)


def differences(old: Sequence[Piece], new: Sequence[Piece]) -> list[Difference]:
    """Pieces that one version has and the other has not, like ones paired, in document order."""
    before, after = Counter(old), Counter(new)
    gone = _left(old, before - after)
    came = _left(new, after - before)
    waiting: dict[tuple[str, int], list[Piece]] = {}
    for piece in gone:
        waiting.setdefault((piece.kind, piece.place), []).append(piece)
    paired: list[Difference] = []
    for piece in came:
        partners = waiting.get((piece.kind, piece.place))
        paired.append(Difference(partners.pop(0) if partners else None, piece))
    paired.extend(Difference(piece, None) for left in waiting.values() for piece in left)
    return paired


def _left(pieces: Iterable[Piece], counts: Counter[Piece]) -> list[Piece]:
    found = []
    for piece in pieces:
        if counts[piece] > 0:
            counts[piece] -= 1
            found.append(piece)
    return found


def _score(
    differing: Sequence[Difference], old: PageView, new: PageView, template: Template
) -> float:
    union = Counter(old.pieces) | Counter(new.pieces)
    whole = sum(count * _weight(piece, template) for piece, count in union.items())
    changed = 0.0
    for one in differing:
        changed += _weight(one.piece, template) * _edited_share(one)
        if one.was is not None and one.now is not None:
            # The union holds both sides of an edit, which is one piece of the page.
            whole -= min(_weight(one.was, template), _weight(one.now, template))
    return min(1.0, changed / whole) if whole > 0.0 else 0.0


_WORDS = frozenset(("text", "title", "heading", "nav"))


def _weight(piece: Piece, template: Template) -> float:
    calm = 1.0 - template.volatility(piece.place)
    length = len(piece.text) if piece.kind in _WORDS else 10
    return length * calm / (1.0 + math.log2(1.0 + template.frequency(piece)))


def _edited_share(one: Difference) -> float:
    """Share of a pair that was edited: what stands between a common beginning and a common end."""
    if one.was is None or one.now is None:
        return 1.0
    was, now = one.was.text, one.now.text
    shorter, longer = sorted((len(was), len(now)))
    if not longer:
        return 0.0
    head = 0
    while head < shorter and was[head] == now[head]:
        head += 1
    tail = 0
    while tail < shorter - head and was[-1 - tail] == now[-1 - tail]:
        tail += 1
    return (longer - head - tail) / longer
