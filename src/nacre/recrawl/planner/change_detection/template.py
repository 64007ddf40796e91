"""Knowledge of a template: places that are noise, blocks that every page has (pure).

Paired fetches prove noise, churn suggests it, and document frequency finds boilerplate.
"""

import math
from functools import lru_cache
from hashlib import blake2b

import msgspec

from nacre.core.pageview import PageView, Piece
from nacre.recrawl.planner.tuning import guess

_PRIOR_YES = guess(
    "template.prior_yes",
    0.5,
    "Number of imaginary paired fetches in which a place differed, added before "
    "the first real one.",
)
_PRIOR_NO = guess(
    "template.prior_no",
    5.0,
    "Number of imaginary paired fetches in which a place did not differ, added "
    "before the first real one.",
)
_NOISY = guess(
    "template.noisy",
    0.2,
    "Share of paired fetches in which a place must surely differ to count as noise.",
    most=1.0,
)
_SELDOM = guess(
    "template.seldom",
    0.01,
    "Share of unchanged pages that look changed, assumed before the first paired "
    "fetch. With a large share every change would count as noise.",
    most=1.0,
)
_SURE = guess(
    "template.sure",
    5.0,
    "Number of paired fetches that the assumed share (template.seldom) weighs as much as.",
)
_COMMON = guess(
    "template.common",
    0.3,
    "Share of the last pages of a template on which a piece must be to count as boilerplate.",
    most=1.0,
)
_SLOT = guess(
    "template.slot",
    0.1,
    "Share of the last pages of a template that must have a place for it to "
    "belong to the template.",
    most=1.0,
)
_ENOUGH_PAGES = guess(
    "template.enough_pages",
    5,
    "Number of pages of a template that must be known before a piece can count as boilerplate.",
)
_CHURN_VISITS = guess(
    "template.churn_visits",
    4,
    "Number of visits at which a place has new content each time before it counts"
    " as noise without paired fetches.",
)
_CALM = guess(
    "template.calm",
    3.0,
    "Number of paired fetches without a difference that show that a place has no noise.",
)
_WINDOW = guess(
    "template.window",
    200,
    "Number of pages after which the counts of pieces are halved, so that a new design is learned.",
)
_MAX_PLACES = 2_000
"""A bound of memory: places of a site."""
_MAX_PRINTS = 20_000
"""A bound of memory: pieces of a site."""
_MAX_ONCE = 5_000
"""A bound of memory: pieces of a site that were common once."""


class PlaceCounts(msgspec.Struct, array_like=True):
    """The counts at one place of a template.

    Attributes:
        pairs: Paired fetches in which it came.
        differed: Those in which it differed: noise by construction.
        visits: Ordinary visits of pages seen before.
        gone: Those at which nothing of the last version was left there.
    """

    pairs: float = 0.0
    differed: float = 0.0
    visits: int = 0
    gone: int = 0


class Template(msgspec.Struct, array_like=True):
    """One template of a site, as far as comparison needs it. It is kept in the store.

    Attributes:
        places: By place.
        prints: On how many of the last pages a piece was seen, by its fingerprint.
        pages: Pages counted in `prints`.
        pairs: Paired fetches made.
        false_changes: Those that looked changed anyway.
        once: Fingerprints that were common once: boilerplate stays known after a new one took its
            place on most pages.
        slots: On how many of the last pages a place was seen: links at one that many pages have
            were put there by the template, whichever they are.
    """

    places: dict[int, PlaceCounts] = {}
    prints: dict[int, int] = {}
    pages: int = 0
    pairs: int = 0
    false_changes: int = 0
    once: set[int] = set()
    slots: dict[int, int] = {}

    @property
    def noise(self) -> float:
        """Probability that an unchanged page looks changed; small before any paired fetch."""
        return (self.false_changes + _SELDOM * _SURE) / (self.pairs + _SURE)

    def volatility(self, place: int) -> float:
        """Expected share of paired fetches in which a place differs."""
        counts = self.places.get(place)
        if counts is None:
            return _PRIOR_YES / (_PRIOR_YES + _PRIOR_NO)
        return (counts.differed + _PRIOR_YES) / (counts.pairs + _PRIOR_YES + _PRIOR_NO)

    def is_volatile(self, place: int) -> bool:
        """A place is noise: proved by pairs, or nothing there ever lived until the next visit."""
        counts = self.places.get(place)
        if counts is None:
            return False
        if counts.visits >= _CHURN_VISITS and counts.gone == counts.visits and counts.differed:
            return True
        return _lower_bound(counts) > _NOISY

    def is_suspect(self, place: int) -> bool:
        """Whether a change there may be noise: noise was seen, and too few pairs contradict it.

        A place that is noise is suspect too: what was judged just before may have shown it.
        """
        counts = self.places.get(place)
        if counts is None or 2 * counts.gone < max(1, counts.visits):
            return self.is_volatile(place)
        return counts.pairs - counts.differed < _CALM or self.is_volatile(place)

    def frequency(self, piece: Piece) -> int:
        """On how many of the last pages a piece was seen."""
        return self.prints.get(fingerprint(piece), 0)

    def is_common(self, piece: Piece) -> bool:
        """A piece of the template: on more than 30 % of its pages, now or once."""
        print_ = fingerprint(piece)
        if print_ in self.once:
            return True
        seen = self.prints.get(print_, 0)
        common = self.pages >= _ENOUGH_PAGES and seen > _COMMON * self.pages
        if common and len(self.once) < _MAX_ONCE:
            self.once.add(print_)
        return common

    def is_slot(self, place: int) -> bool:
        """A place that more than a tenth of the pages have."""
        return self.pages >= _ENOUGH_PAGES and self.slots.get(place, 0) > _SLOT * self.pages

    def learn_page(self, view: PageView) -> None:
        """Count the pieces of one page, once for each page and version."""
        if self.pages >= _WINDOW:
            self._halve()
        self.pages += 1
        for print_ in {fingerprint(piece) for piece in view.pieces}:
            if print_ in self.prints or len(self.prints) < _MAX_PRINTS:
                self.prints[print_] = self.prints.get(print_, 0) + 1
        for place in {piece.place for piece in view.pieces}:
            if place in self.slots or len(self.slots) < _MAX_PLACES:
                self.slots[place] = self.slots.get(place, 0) + 1

    def learn_pair(self, one: PageView, two: PageView, *, looked_changed: bool) -> frozenset[int]:
        """Learn from two fetches within seconds: what differs is noise.

        Args:
            one: The first.
            two: The second.
            looked_changed: The verdict on them would have been a change.

        Returns:
            The places that differ.
        """
        self.pairs += 1
        self.false_changes += looked_changed
        first, second = by_place(one), by_place(two)
        places = first.keys() | second.keys()
        differing = frozenset(place for place in places if first.get(place) != second.get(place))
        for place in places:
            counts = self._counts(place)
            if counts is not None:
                counts.pairs += 1.0
                counts.differed += place in differing
        return differing

    def learn_visit(self, old: PageView, new: PageView) -> None:
        """Learn churn from two versions of one page."""
        before, after = by_place(old), by_place(new)
        for place, pieces in before.items():
            counts = self._counts(place)
            if counts is not None:
                counts.visits += 1
                counts.gone += not pieces & after.get(place, frozenset())

    def _counts(self, place: int) -> PlaceCounts | None:
        counts = self.places.get(place)
        if counts is None and len(self.places) < _MAX_PLACES:
            counts = self.places[place] = PlaceCounts()
        return counts

    def _halve(self) -> None:
        """Old pages fade, so that a new design is learned."""
        self.pages //= 2
        self.prints = _halved(self.prints)
        self.slots = _halved(self.slots)


def _halved(counts: dict[int, int]) -> dict[int, int]:
    return {name: count // 2 for name, count in counts.items() if count > 1}


@lru_cache(maxsize=16_384)
def fingerprint(piece: Piece) -> int:
    """64 bits of a piece, the same in every process."""
    text = f"{piece.kind}\x00{piece.text}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


def by_place(view: PageView) -> dict[int, frozenset[str]]:
    """Texts of a page at each place."""
    found: dict[int, set[str]] = {}
    for piece in view.pieces:
        found.setdefault(piece.place, set()).add(f"{piece.kind} {piece.text}")
    return {place: frozenset(texts) for place, texts in found.items()}


def _lower_bound(counts: PlaceCounts) -> float:
    """About the 2.5 % quantile of the volatility, by a normal approximation of the Beta."""
    yes = counts.differed + _PRIOR_YES
    total = counts.pairs + _PRIOR_YES + _PRIOR_NO
    mean = yes / total
    spread = math.sqrt(mean * (1.0 - mean) / (total + 1.0))
    return mean - 1.96 * spread
