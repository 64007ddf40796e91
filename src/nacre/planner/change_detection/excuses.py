"""Reasons why a difference between two versions is not a change of the page itself (pure)."""

import re
from collections.abc import Sequence
from functools import cached_property

from nacre.core.pagerow import PageView, Piece
from nacre.planner.change_detection.masking import (
    TOKEN_LINKS,
    Mask,
    differs_by_itself,
    is_same_in_print,
    masked,
    renewed_tokens,
    token_address,
    token_links,
)
from nacre.planner.change_detection.pairing import READ, TEXTS
from nacre.planner.change_detection.template import (
    EVENT_PAGES,
    MENU,
    MENU_PAGES,
    EventKeys,
    PieceDifference,
    Template,
    by_place,
    event_keys,
)

PROOFS = frozenset(("masked", "volatile", "event", "link-token"))
"""Excuses that prove that a difference is noise; others only make it likely."""
CODES = (
    *("event", "frame", "navigation", "advert", "churn", "variant", "token", "typography"),
    *("link-token", "masked", "volatile"),
)
"""Codes, the most specific first."""


class Excuses:
    """Finds reasons why differences between two versions are not a change of the page.

    Args:
        old: The earlier version.
        new: The current version.
        differing: The differences.
        template: The knowledge learned from the pages of its site.
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
        self._differing = differing
        self._template = template
        self._listing = listing or _is_mostly_links(old, new, template)
        self._framed = self._between if self._listing else set()
        self._parts = frozenset() if self._listing else self._parts_of_frame()

    def keys(self, pair: PieceDifference) -> EventKeys:
        """Return the keys of a difference."""
        keys = event_keys(pair, listing=self._listing and pair.piece not in self._framed)
        if keys.least > MENU_PAGES and self._is_likely_frame(pair):
            # The blocks must be equal: a substitution in another text proves less.
            return EventKeys(MENU_PAGES, (), keys.blocks)
        return keys

    def _is_likely_frame(self, pair: PieceDifference) -> bool:
        """Whether the same difference on another page is enough for the frame of the site."""
        alone = pair.was is None or pair.now is None
        return (alone and self._is_wide) or pair in self._shared or self._is_enclosed(pair)

    def code(self, pair: PieceDifference) -> str:
        """Return the code of the excuse of a difference; "" if the difference is a change.

        `masked` (a clock, a counter), `advert`, `volatile` (paired fetches differ in it), `token`,
        `churn` (one pair differed in it, and each visit so far), `link-token` (a token in a link),
        `variant` (it appears and disappears by itself), `typography` (quotation marks or dashes),
        `event` (enough other pages of the run have it), `frame` (a part of the frame of the site,
        which other pages share, was added, removed or edited), `navigation` (menu links).
        """
        if noise := self._noise(pair):
            return noise
        keys = self.keys(pair)
        if self._template.is_event(keys):
            usual = pair.piece.kind in MENU or self._template.witnesses(keys) >= EVENT_PAGES - 1
            return "event" if usual else "frame"
        if pair in self._parts:
            return "frame"
        around = pair.piece.kind in MENU and (not self._listing or pair.piece in self._framed)
        return "navigation" if around else ""

    def _noise(self, pair: PieceDifference) -> str:
        """Return the code of the noise of a difference; "" if it is not noise."""
        if _is_masked(pair, Mask.CLOCKS):
            return "masked"
        is_noise = self._template.is_noise(pair)
        if is_noise and self._is_proven(pair):
            return "volatile"
        is_advert = pair.piece.kind == "advert"
        if is_noise or is_advert:
            return "advert" if is_advert else "churn"
        if pair.piece.kind not in TEXTS and (code := self._token(pair)):
            return code
        if pair.piece.kind == "image" and _is_of_another_session(pair):
            return "token"
        return self._likely_noise(pair)

    def _is_proven(self, pair: PieceDifference) -> bool:
        """Whether paired fetches prove that a piece is noise, and do not merely make it likely."""
        # Pairs had nothing in common at the place: that is no proof where something stays.
        stays = not pair.skeletons and pair.piece.place in self._stable
        return self._template.is_proven_noise(pair) and not stays

    def _likely_noise(self, pair: PieceDifference) -> str:
        if self._template.is_variant(pair):
            return "variant"
        if pair.was and pair.now and is_same_in_print(pair.was.text, pair.now.text):
            return "typography"
        if not _is_masked(pair, Mask.ALL):
            return ""
        # An address with another token may lead elsewhere; what a picture shows is looked up.
        leads = pair.piece.kind not in TEXTS and pair.piece.kind != "image"
        return "" if leads and not self._template.is_renewed([masked(pair.piece.text)]) else "token"

    # ---- tokens in links

    def _token(self, pair: PieceDifference) -> str:
        """`link-token` or `token` if only tokens differ in a link: the other version has its rest.

        Several links at once are a proof; one that is another at each visit is none.
        """
        keys = set[str]()
        for piece, rests in zip(pair, reversed(self._links), strict=True):
            address = None if piece is None else token_address(piece.text)
            if piece is not None and (address is None or address.remainder not in rests):
                return ""
            keys |= address.keys if address else set()
        if keys <= self._tokens:
            return "link-token"
        return "token" if self._template.is_renewed(keys) else ""

    @cached_property
    def _tokens(self) -> frozenset[str]:
        renewed = renewed_tokens(self._old, self._new).items()
        return self._template.tokens | {key for key, links in renewed if links >= TOKEN_LINKS}

    @cached_property
    def _links(self) -> tuple[frozenset[str], frozenset[str]]:
        """The rests of the links with tokens, of both versions."""
        before, after = (
            frozenset(rest for rests in token_links(view).values() for rest in rests)
            for view in (self._old, self._new)
        )
        return before, after

    # ---- the frame of the site

    @cached_property
    def _stable(self) -> frozenset[int]:
        """The places of the page with at least one unchanged piece."""
        before, after = by_place(self._old), by_place(self._new)
        return frozenset(place for place in before if before[place] & after.get(place, frozenset()))

    def _parts_of_frame(self) -> frozenset[PieceDifference]:
        """Return the added or removed blocks that enough other pages have, or that are enough."""
        alone = [pair for pair in self._differing if pair.was is None or pair.now is None]
        page_counts = {pair: self._count_other_pages(pair) for pair in alone}
        for pages, least in ((_ELSEWHERE, _PART), (1, _WIDE)):
            parts = frozenset(pair for pair in alone if page_counts[pair] >= pages)
            if sum(pair.piece.kind in TEXTS for pair in parts) >= least:
                return parts if pages > 1 or self._is_distinct else frozenset()
        return frozenset()

    def _count_other_pages(self, pair: PieceDifference) -> int:
        """Return the number of other pages that have the piece."""
        return self._template.frequency(pair.piece) - (pair.was is not None)

    @cached_property
    def _is_wide(self) -> bool:
        """Whether so much differs that the same difference on another page shows the site's frame.

        The difference is a new menu, or many blocks of a page whose other text no page shares.
        """
        kinds = [pair.piece.kind for pair in self._differing if pair.piece.kind in TEXTS | MENU]
        menu = sum(kind in MENU for kind in kinds)
        if len(kinds) >= _MENU_BLOCKS and menu >= _MENU_SHARE * len(kinds):
            return True
        return len(kinds) >= _WIDE and self._is_distinct

    @cached_property
    def _shared(self) -> frozenset[PieceDifference]:
        """Blocks that another page has too: edited together, or long, or a version number."""
        edited = [
            pair for pair in self._differing if pair.was and pair.now and self._is_shared(pair)
        ]
        length = sum(len(pair.piece.text) for pair in edited)
        if len(edited) < _EDITED and length < _LONG:
            edited = [pair for pair in edited if _VERSION.fullmatch(pair.piece.text)]
        return frozenset(edited) if edited and self._is_distinct else frozenset()

    def _is_shared(self, pair: PieceDifference) -> bool:
        """Whether another page had the block before, or has the new one already."""
        if pair.was is None or pair.now is None or pair.piece.kind not in READ:
            return False
        counts = map(self._template.frequency, (pair.was, pair.now))
        return sum(counts) > 1

    def _is_enclosed(self, pair: PieceDifference) -> bool:
        """Whether the difference is between blocks of the frame."""
        pieces = {piece for piece in pair if piece is not None}
        return pieces <= self._between and self._is_distinct

    @cached_property
    def _between(self) -> set[Piece]:
        return _framed(self._old, self._template) | _framed(self._new, self._template)

    @cached_property
    def _is_distinct(self) -> bool:
        """Whether no other page has most of the text: it is not one page with two URLs."""
        own = whole = 0
        for piece in self._old.pieces:
            if piece.kind in READ:
                whole += len(piece.text)
                own += len(piece.text) * (self._template.frequency(piece) <= 1)
        return 2 * own > whole


_PART = 5
"""Least number of blocks of a part of a frame: a single shared block may be `Cancelled`."""
_ELSEWHERE = 2
"""Other pages that must have each of these blocks."""
_EDITED = 3
"""Least number of shared blocks edited together: a single short block may be `Sold out`."""
_LONG = 80
"""Least number of characters of fewer shared blocks."""
_VERSION = re.compile(
    r"(?i)(?:(?:version|release|build|v)\b[\s.:]{0,2}|v)?\d{1,9}(?:\.\d{1,9}){2,4}"
)
"""A block that consists of the version of the program that generated the page."""
_WIDE = 20
"""Differing blocks from which on one other page with the same blocks is enough."""
_MENU_BLOCKS = 10
"""The same number, if most of them are a menu."""
_MENU_SHARE = 0.8
"""Share of these blocks that must be a menu: a menu also has labels and pictures."""
_NEAR = 3
"""Blocks between two blocks of the frame that belong to the frame: new entries of a menu."""


def _framed(view: PageView, template: Template) -> set[Piece]:
    """Return the pieces whose neighbours on both sides belong to the frame of the site."""
    pieces = [piece for piece in view.pieces if piece.kind in TEXTS or piece.kind in MENU]
    frame = [piece.kind in TEXTS and template.is_frame(piece) for piece in pieces]
    return {
        piece
        for at, piece in enumerate(pieces)
        if any(frame[max(0, at - _NEAR) : at]) and any(frame[at + 1 : at + 1 + _NEAR])
    }


def _is_mostly_links(old: PageView, new: PageView, template: Template) -> bool:
    """Whether most of the unchanged text of a page is links, without the frame."""
    there = {piece.text for piece in old.pieces}
    linked = plain = 0
    for piece in new.pieces:
        if piece.kind in TEXTS and piece.text in there and not template.is_frame(piece):
            if piece.kind == "nav":
                linked += len(piece.text)
            else:
                plain += len(piece.text)
    return linked > plain


def _is_of_another_session(pair: PieceDifference) -> bool:
    """Whether a picture or frame has the same path in both versions, with a token in each query."""
    if pair.was is None or pair.now is None:
        return False
    was, now = pair.was.text, pair.now.text
    has_tokens = token_address(was) is not None and token_address(now) is not None
    return has_tokens and was.partition("?")[0] == now.partition("?")[0]


def _is_masked(pair: PieceDifference, mask: Mask) -> bool:
    if pair.was is None or pair.now is None:
        return False
    return differs_by_itself(pair.was.text, pair.now.text, mask)
