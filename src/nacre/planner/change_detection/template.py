"""Knowledge of the pages of a site, for comparison: noise, the frame, events of a run (pure).

Paired fetches prove noise. Blocks are counted by distinct URLs, each URL's newest version alone.
What the pages of one run have in common of their differences is an event of the site.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import NamedTuple

import msgspec

from nacre.core.pagerow import PageView, Piece
from nacre.messages import message
from nacre.planner.change_detection.masking import (
    TOKEN_LINKS,
    renewed_addresses,
    renewed_tokens,
)
from nacre.planner.tuning import guess

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
_FRAME = guess(
    "template.frame",
    3,
    "Number of URLs whose newest versions have a block before it counts as a part of the frame "
    "of the site.",
)
_SKELETON = guess(
    "template.skeleton",
    2,
    "Number of paired fetches in which a text differed between the same words before such a "
    "difference counts as noise.",
)
_STABLE = guess(
    "template.stable",
    0.3,
    "Share of the words of a block that two fetches must have in common to be one text in which "
    "something varies.",
    most=1.0,
)
EVENT_PAGES = guess(
    "template.event_pages",
    5,
    "Number of URLs of a run that must show the same new block, or the same substitution, before "
    "it counts as an event of the site.",
)
MENU_PAGES = guess(
    "template.menu_pages",
    2,
    "The same number for a block that is little but links, on pages that are no lists.",
)
_MAX_PLACES = 2_000
"""A bound of memory: places of a site."""
_MAX_TOKENS = 200
"""A bound of memory: parameters of links of a site."""
_VARIANT = 2
"""URLs on which a block must come and go by itself to be noise on others."""
_MAX_BLOCKS = 20_000
"""A bound of memory: blocks of a site."""
_MOST_PAIRS = 10_000
"""A bound of work: pairs of words of two texts that are compared, without their common ends.
Texts with the same number of words are compared word by word."""
_FEW_WORDS = 8
"""Words of a substitution: a longer difference is a separate text."""
_WORDS = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]+(?:[.:/-][A-Za-z0-9_\u00c0-\u024f]+)*|\S")
"""A number with its dots is one word: of `3.2.1` and `3.2.3` more than a digit differs."""
MENU = frozenset(("nav", "nav-link"))
"""Kinds of pieces that lead around."""


class PlaceCounts(msgspec.Struct, array_like=True):
    """The counts at one place of a template.

    Attributes:
        pairs: Paired fetches in which it came.
        differed: Those in which they had nothing in common there: noise by construction.
        visits: Ordinary visits of pages seen before.
        gone: Those at which nothing of the last version was left there.
    """

    pairs: float = 0.0
    differed: float = 0.0
    visits: int = 0
    gone: int = 0


class PieceDifference(NamedTuple):
    """A piece that differs: its old version (None: new) and its current version (None: gone)."""

    was: Piece | None
    now: Piece | None

    @property
    def piece(self) -> Piece:
        """Either."""
        either = self.now or self.was
        if either is None:
            raise ValueError(message("recrawl.difference-of-nothing", "a difference of nothing"))
        return either

    @property
    def skeletons(self) -> tuple[int, ...]:
        """Names of what stayed of its text; none where it came or went, or is another text."""
        if self.was is None or self.now is None:
            return ()
        return skeletons(self.was.text, self.now.text)


class EventKeys(NamedTuple):
    """The names of a difference, which identify it on other pages.

    Attributes:
        least: URLs that must have it.
        substitutions: Of the replaced words, alone or with the words that precede or follow.
        blocks: Of the blocks that appeared and disappeared.
    """

    least: int
    substitutions: tuple[int, ...]
    blocks: tuple[int, ...]


class Template(msgspec.Struct, array_like=True):
    """The knowledge from the pages of one site. It is kept in the store.

    Attributes:
        places: By place.
        blocks: On how many URLs a block is, newest versions alone, by its fingerprint.
        pages: URLs counted in `blocks`.
        pairs: Paired fetches made.
        false_changes: Those that looked changed anyway.
        skeletons: Paired fetches in which a text differed between the same words, by these words.
        run: Time of the run of `events`.
        events: On how many URLs of the run the same difference was seen, by its key.
        shuffles: Paired fetches in which the same texts came in another order.
        tokens: Parameters whose values differ in links at each request; see `masking.token_links`.
        renewals: Visits in a row at which the value of a parameter of links was another one.
        variants: URLs on which a block comes and goes by itself, by its fingerprint; a few.
    """

    places: dict[int, PlaceCounts] = {}
    blocks: dict[int, int] = {}
    pages: int = 0
    pairs: int = 0
    false_changes: int = 0
    skeletons: dict[int, int] = {}
    run: float = 0.0
    events: dict[int, int] = {}
    shuffles: int = 0
    tokens: frozenset[str] = frozenset()
    renewals: dict[str, int] = {}
    variants: dict[int, frozenset[int]] = {}

    @property
    def is_shuffled(self) -> bool:
        """Whether paired fetches have shown that the order of texts changes by itself."""
        return self.shuffles >= _SKELETON

    @property
    def noise(self) -> float:
        """Probability that an unchanged page looks changed; small before any paired fetch."""
        return (self.false_changes + _SELDOM * _SURE) / (self.pairs + _SURE)

    # ---- noise

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
        return (_churns(counts) and counts.differed > 0.0) or _lower_bound(counts) > _NOISY

    def is_proven_noise(self, difference: PieceDifference) -> bool:
        """Whether so many paired fetches have shown it that a version may be left out for it."""
        keys = difference.skeletons
        if keys:
            return max(self.skeletons.get(key, 0) for key in keys) >= _SKELETON
        counts = self.places.get(difference.piece.place)
        return counts is not None and _lower_bound(counts) > _NOISY

    def is_noise(self, difference: PieceDifference) -> bool:
        """Whether paired fetches have shown that a piece differs by itself."""
        keys = difference.skeletons
        if keys:
            pairs = max(self.skeletons.get(key, 0) for key in keys)
            place = self.places.get(difference.piece.place)
            return pairs >= _SKELETON or (pairs > 0 and place is not None and _churns(place))
        return self.is_volatile(difference.piece.place)

    def is_suspect(self, place: int) -> bool:
        """Whether a change there may be noise: noise was seen, and too few pairs contradict it.

        A place that is noise is suspect too: the previous verdict may have shown the noise.
        """
        counts = self.places.get(place)
        if counts is None or 2 * counts.gone < max(1, counts.visits):
            return self.is_volatile(place)
        return counts.pairs - counts.differed < _CALM or self.is_volatile(place)

    def learn_pair(
        self,
        first: PageView,
        second: PageView,
        differing: Iterable[PieceDifference],
        *,
        looked_changed: bool,
        shuffled: bool = False,
    ) -> frozenset[int]:
        """Learn from two fetches within seconds: what differs is noise.

        Args:
            first: The page of the first fetch.
            second: The page of the second.
            differing: The pieces that differ between them.
            looked_changed: The verdict on them would have been a change.
            shuffled: They have the same texts in another order.

        Returns:
            The places that differ.
        """
        self.pairs += 1
        self.false_changes += looked_changed
        self.shuffles += shuffled
        worded: set[int] = set()
        places: set[int] = set()
        for difference in differing:
            places.add(difference.piece.place)
            for key in difference.skeletons:
                worded.add(difference.piece.place)
                self._count(self.skeletons, key)
        texts, others = by_place(first), by_place(second)
        for place in texts.keys() | others.keys():
            counts = self._counts(place)
            if counts is not None:
                shared = texts.get(place, frozenset()) & others.get(place, frozenset())
                counts.pairs += 1.0
                counts.differed += place in places and place not in worded and not shared
        return frozenset(places)

    def learn_visit(self, old: PageView, new: PageView) -> None:
        """Learn churn from two versions of one page."""
        before, after = by_place(old), by_place(new)
        for place, pieces in before.items():
            counts = self._counts(place)
            if counts is not None:
                counts.visits += 1
                counts.gone += not pieces & after.get(place, frozenset())

        for key, links in renewed_tokens(old, new).items():
            if links >= TOKEN_LINKS and len(self.tokens) < _MAX_TOKENS:
                self.tokens |= {key}
            self._count_renewal(key, is_renewed=links > 0)
        for key, is_renewed in renewed_addresses(old, new, self.renewals).items():
            self._count_renewal(key, is_renewed=is_renewed)

    def _count_renewal(self, key: str, *, is_renewed: bool) -> None:
        if not is_renewed:
            self.renewals.pop(key, None)
        elif len(self.renewals) < _MAX_TOKENS:
            self.renewals[key] = self.renewals.get(key, 0) + 1

    def is_renewed(self, keys: Iterable[str]) -> bool:
        """Whether the values of parameters of links were others at each visit so far."""
        return all(self.renewals.get(key, 0) >= _CHURN_VISITS for key in keys)

    def learn_variants(self, url: str, differing: Iterable[PieceDifference]) -> None:
        """Note what differs between the versions of a page that goes to and fro between them."""
        for difference in differing:
            for piece in difference:
                if piece is not None and len(self.variants) < _MAX_PLACES:
                    name = fingerprint(piece)
                    urls = self.variants.get(name, frozenset())
                    if len(urls) < _VARIANT:
                        self.variants[name] = urls | {name_of(url)}

    def is_variant(self, difference: PieceDifference) -> bool:
        """Whether the blocks of a difference come and go by themselves on several URLs."""
        return all(
            piece is None or len(self.variants.get(fingerprint(piece), ())) >= _VARIANT
            for piece in difference
        )

    def _counts(self, place: int) -> PlaceCounts | None:
        counts = self.places.get(place)
        if counts is None and len(self.places) < _MAX_PLACES:
            counts = self.places[place] = PlaceCounts()
        return counts

    # ---- the frame of the site

    def frequency(self, piece: Piece) -> int:
        """On how many URLs a block is, newest versions alone."""
        return self.blocks.get(fingerprint(piece), 0)

    def is_frame(self, piece: Piece) -> bool:
        """Whether so many URLs have a block that it belongs to the frame of the site."""
        return self.is_frame_print(fingerprint(piece))

    def is_frame_print(self, name: int) -> bool:
        """The same of a block by its fingerprint."""
        return self.blocks.get(name, 0) >= _FRAME

    def learn_page(self, view: PageView, old: PageView | None = None) -> None:
        """Count the blocks of a URL's newest version in the place of those of the one before."""
        now = {fingerprint(piece) for piece in view.pieces}
        before = set() if old is None else {fingerprint(piece) for piece in old.pieces}
        self.pages += old is None
        for name in before - now:
            pages = self.blocks.get(name, 0) - 1
            if pages > 0:
                self.blocks[name] = pages
            else:
                self.blocks.pop(name, None)
        for name in now - before:
            self._count(self.blocks, name)

    @staticmethod
    def _count(counts: dict[int, int], name: int) -> None:
        counts[name] = counts.get(name, 0) + 1
        if len(counts) > _MAX_BLOCKS:
            # What is common is of use: what one page has makes room for it.
            rare = sorted(counts.values())[_MAX_BLOCKS // 2]
            for rare_key in [key for key, count in counts.items() if count <= rare]:
                del counts[rare_key]

    # ---- events of the site

    def begin_run(self, time: float) -> None:
        """Forget the differences of the run before."""
        if time != self.run:
            self.run, self.events = time, {}

    def learn_differences(self, differing: Collection[PieceDifference]) -> None:
        """Count the differences of one page, once for each URL in a run."""
        keys = [event_keys(difference) for difference in differing]
        for key in {key for event in keys for key in (*event.substitutions, *event.blocks)}:
            self._count(self.events, key)

    def witnesses(self, keys: EventKeys) -> int:
        """On how many URLs of the run the same difference was seen."""
        blocks = min((self.events.get(key, 0) for key in keys.blocks), default=0)
        return max(blocks, *(self.events.get(key, 0) for key in keys.substitutions), 0)

    def is_event(self, keys: EventKeys, *, own: int = 0) -> bool:
        """Whether so many URLs of the run have a difference that it is one of the site.

        Args:
            keys: The names of the difference.
            own: 1 if that of the page itself is counted.
        """
        return self.witnesses(keys) - own >= keys.least - 1


@lru_cache(maxsize=4_096)
def event_keys(difference: PieceDifference, *, listing: bool = False) -> EventKeys:
    """The names of a difference; see `EventKeys`.

    Args:
        difference: The difference.
        listing: The page is a list, so its links are content.
    """
    was, now = difference
    sides = [(sign, piece) for sign, piece in (("-", was), ("+", now)) if piece is not None]
    around = not listing and all(piece.kind in MENU for _, piece in sides)
    least = MENU_PAGES if around else EVENT_PAGES
    blocks = [name_of(f"{sign}{piece.text}") for sign, piece in sides]
    replaced = _substitutions(was.text, now.text) if was and now else ()
    return EventKeys(least, tuple(map(name_of, replaced)), tuple(blocks))


def _substitutions(was: str, now: str) -> tuple[str, ...]:
    """Return the texts that identify a substitution on other pages.

    A substitution with long texts on both sides, such as `3.2.1` by `3.2.3`, is the same at any
    place. A short one, such as `2023` by `2024` or nothing by `not`, is the same only next to the
    same words: those that precede or those that follow.
    """
    pair = substitution(was, now)
    if pair is None:
        return ()
    replaced = "\x00".join(pair)
    if min(len(side.encode("utf-8", "replace")) for side in pair) >= _LONG:
        return (replaced,)
    old_words, new_words = _WORDS.findall(was), _WORDS.findall(now)
    head, tail = common_ends(old_words, new_words)
    before = old_words[max(0, head - _AROUND) : head]
    behind = old_words[len(old_words) - tail :][:_AROUND]
    starts, ends = ("\x01" * (size < _AROUND) for size in (head, tail))
    sides = (
        (before, f"{starts}{' '.join(before)}\x00{replaced}\x00"),
        (behind, f"\x00{replaced}\x00{' '.join(behind)}{ends}"),
    )
    return tuple(name for words, name in sides if words)


_LONG = 5
"""Bytes of each side of a substitution that is known without the words around it."""
_AROUND = 3
"""Words before or behind a shorter one."""


def substitution(was: str, now: str) -> tuple[str, str] | None:
    """The words that differ between two texts: (before, after); None when most of them do."""
    before, after = _WORDS.findall(was), _WORDS.findall(now)
    head, tail = common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(len(old), len(new)) <= _FEW_WORDS:
        return (" ".join(old), " ".join(new)) if head + tail else None
    parts = _replaced(old, new)
    few = len(parts) == 1 and max(map(len, next(iter(parts)))) < 80
    return next(iter(parts)) if few else None


def _replaced(old: list[str], new: list[str]) -> set[tuple[str, str]]:
    """What differs between the words of two texts; nothing if the comparison takes too long."""
    if len(old) == len(new):
        runs = groupby(zip(old, new, strict=True), lambda pair: pair[0] == pair[1])
        places = [list(run) for is_equal, run in runs if not is_equal]
        pairs = {(" ".join(a), " ".join(b)) for a, b in (zip(*run, strict=True) for run in places)}
        if len(pairs) == 1:
            return pairs
    if len(old) * len(new) > _MOST_PAIRS:
        return set()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {(" ".join(old[a:b]), " ".join(new[c:d])) for tag, a, b, c, d in codes if tag != "equal"}


def skeletons(was: str, now: str) -> tuple[int, ...]:
    """Names of the words that two texts have in common around what differs; none for too few.

    One is of the words before and behind. Of texts that differ in numbers alone another is of the
    text without numbers: a clock is in one pair a minute late, and at the next visit a day. Words
    without a letter do not count: a cell with nothing but `1,000` or `12 %` is like any other.
    """
    names = []
    plain = _NUMBERS.sub("#", was)
    if plain == _NUMBERS.sub("#", now) and _has_letter(plain):
        names.append(name_of(f"#{plain}"))
    old_words, new_words = _WORDS.findall(was), _WORDS.findall(now)
    head, tail = common_ends(old_words, new_words)
    before, behind = old_words[:head], old_words[len(old_words) - tail :]
    is_stable = head + tail >= _STABLE * max(len(old_words), len(new_words))
    if is_stable and _has_letter((*before, *behind)):
        names.append(name_of("\x00".join((*before, "\x01", *behind))))
    return tuple(names)


def _has_letter(words: Iterable[str]) -> bool:
    return any(character.isalpha() for word in words for character in word)


_NUMBERS = re.compile(r"\d+")


def common_ends(left: Sequence[object], right: Sequence[object]) -> tuple[int, int]:
    """The numbers of words, or pieces, that two texts share at the beginning and at the end."""
    shorter = min(len(left), len(right))
    head = 0
    while head < shorter and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < shorter - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    return head, tail


def on_urls(count: int) -> str:
    """The proof of an event, in words."""
    return f"on {count} URLs of the run: "


_LONGEST_WORDS = 100
"""Characters of each side of a difference that are shown."""


def in_words(difference: PieceDifference) -> str:
    """A difference for people: `3.2.1 → 3.2.3`, `+ New entry`, `- Old entry`."""
    was, now = difference
    if was is not None and now is not None:
        before, after = substitution(was.text, now.text) or (was.text, now.text)
        return f"{_shown_text(before)} → {_shown_text(after)}"
    return f"{'+' if now else '-'} {_shown_text(difference.piece.text)}"


def _shown_text(text: str) -> str:
    """The beginning of a text from the web, without what controls a terminal."""
    text = "".join(char if char.isprintable() else "\ufffd" for char in text[:_LONGEST_WORDS])
    return text or "nothing"


def name_of(text: str) -> int:
    """64 bits of a text, never 0, the same in every process."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


@lru_cache(maxsize=16_384)
def fingerprint(piece: Piece) -> int:
    """64 bits of the text of a piece, the same in every process."""
    return name_of(piece.text)


def by_place(view: PageView) -> dict[int, frozenset[str]]:
    """Texts of a page at each place."""
    texts_at: dict[int, set[str]] = {}
    for piece in view.pieces:
        texts_at.setdefault(piece.place, set()).add(f"{piece.kind} {piece.text}")
    return {place: frozenset(texts) for place, texts in texts_at.items()}


def _churns(counts: PlaceCounts) -> bool:
    """Whether nothing at a place ever lived until the next visit."""
    return counts.visits >= _CHURN_VISITS and counts.gone == counts.visits


def _lower_bound(counts: PlaceCounts) -> float:
    """About the 2.5 % quantile of the volatility, by a normal approximation of the Beta."""
    yes = counts.differed + _PRIOR_YES
    total = counts.pairs + _PRIOR_YES + _PRIOR_NO
    mean = yes / total
    spread = math.sqrt(mean * (1.0 - mean) / (total + 1.0))
    return mean - 1.96 * spread
