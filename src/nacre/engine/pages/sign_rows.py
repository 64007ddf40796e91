"""Rows of the knowledge about pages that need a browser, and their place in the store."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import msgspec

from nacre.store.store import Store

_FAMILY: Final = "hosts"
_TEMPLATES, _SITES, _COUNTS = b"pt", b"ph", b"pc"
_HOLDS: Final = 30 * 86_400.0
"""Time for which a verdict holds, seconds."""
ENOUGH: Final = 2
"""Pages of a template that are probed, and that decide if they agree; else one more."""
_MOST_BLANK: Final = 10
"""Pages of a template that are blank before and after, until no more are run; and pages in a row
that gain nothing, although others of their template did."""
_MOST_TEMPLATES: Final = 200
"""Templates of a site; all further ones whose sign runs them are the same, and so are others."""
_MOST_IN_MEMORY: Final = 5_000
_EXAMPLES: Final = 3


class SignTemplateRow(msgspec.Struct, array_like=True):
    """The knowledge about a template of a site.

    Attributes:
        site: Host and port.
        template: See `extract.shell.template_of`.
        verdict: `always`, `never`; "" while it is not decided.
        runs: Pages that were run since it was last undecided.
        gained: How many of them gained by it.
        since: Time of the verdict, seconds since the epoch.
        parts: Hashes of what a browser added to its first page.
        lost: Pages in a row that gained nothing.
    """

    site: str
    template: str
    verdict: str = ""
    runs: int = 0
    gained: int = 0
    since: float = 0.0
    parts: list[int] = []
    lost: int = 0

    def verdict_at(self, now: float) -> str:
        """Return the verdict; one that is too old is forgotten."""
        if self.verdict and not 0 <= now - self.since < _HOLDS:
            self.verdict, self.runs, self.gained, self.lost, self.parts = "", 0, 0, 0, []
        return self.verdict

    def learn_parts(self, parts: Iterable[int]) -> None:
        """Set what a browser added to the first page."""
        self.parts = list(parts)

    def learn(self, *, has_gained: bool, is_blank: bool, now: float) -> None:
        """Take in a page that was run.

        Args:
            has_gained: Whether the browser added something that is the page's own.
            is_blank: Whether the page showed nothing before. Then a gain decides, and a page that
                stays blank says little: its server may have failed.
            now: Seconds since the epoch.
        """
        self.runs += 1
        self.gained += has_gained
        self.lost = 0 if has_gained else self.lost + 1
        if self.verdict == "always":
            if self.lost >= _MOST_BLANK:  # such as the shell that a server sends for any URL
                self._decide("never", now)
        elif has_gained and (is_blank or self.gained >= ENOUGH):
            self._decide("always", now)
        elif not has_gained and self.runs >= (_MOST_BLANK if is_blank else ENOUGH):
            self._decide("never", now)

    def _decide(self, verdict: str, now: float) -> None:
        self.verdict, self.since, self.parts = verdict, now, []


class SignSiteRow(msgspec.Struct, array_like=True):
    """The counts of a site on which a sign was seen.

    Attributes:
        site: Host and port.
        has_gained: Whether a browser ever added something to one of its pages.
        pages: Pages that were searched for signs.
        vain: Pages that were run in vain, blank ones apart.
        templates: Templates that it has.
    """

    site: str
    has_gained: bool = False
    pages: int = 0
    vain: int = 0
    templates: int = 0


class SignCount(msgspec.Struct, array_like=True):
    """The number of pages that showed a sign, and of those that gained by a browser.

    Attributes:
        sign: The sign; `learned` and `probe` for pages without any.
        pages: Pages that showed it.
        run: How many of them were run.
        gained: How many of those gained by it.
        vain: How many did not; pages that failed are neither.
        examples: The first URLs, three at most.
    """

    sign: str
    pages: int = 0
    run: int = 0
    gained: int = 0
    vain: int = 0
    examples: list[str] = []

    def see(self, url: str) -> None:
        """Count a page."""
        self.pages += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(url)

    def learn(self, *, has_gained: bool) -> None:
        """Count the result of a page that was run."""
        self.gained += has_gained
        self.vain += not has_gained


class SignRows:
    """The rows of a job, as many as are in use in memory.

    Args:
        store: Stores them.

    Attributes:
        counts: Counts by sign; "" has those of all pages.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._templates: OrderedDict[tuple[str, str], SignTemplateRow] = OrderedDict()
        self._sites: OrderedDict[str, SignSiteRow] = OrderedDict()
        self._changed: dict[bytes, msgspec.Struct] = {}
        self.counts = {row.sign: row for row in sign_counts(store)}

    def template(self, site: str, template: str) -> SignTemplateRow:
        """Return the row of a template; a new one if there is none."""
        key = site, template
        row = self._templates.get(key)
        if row is None:
            value = self._store.get(_FAMILY, _template_key(site, template))
            row = _decode_template(value) if value else self._new_template(site, template)
            self._templates[key] = row
            self._shrink(self._templates)
        self._templates.move_to_end(key)
        return row

    def site(self, site: str) -> SignSiteRow:
        """Return the row of a site; a new one if there is none."""
        row = self._sites.get(site)
        if row is None:
            value = self._store.get(_FAMILY, _SITES + _digest(site))
            row = self._sites[site] = _decode_site(value) if value else SignSiteRow(site)
            self._shrink(self._sites)
        self._sites.move_to_end(site)
        return row

    def count(self, sign: str) -> SignCount:
        """Return the count of a sign, which is about to change."""
        row = self.counts.setdefault(sign, SignCount(sign))
        self._changed[_COUNTS + sign.encode()] = row
        return row

    def change(self, row: SignTemplateRow | SignSiteRow) -> None:
        """Have a row written with the next group."""
        if isinstance(row, SignSiteRow):
            self._changed[_SITES + _digest(row.site)] = row
        else:
            if row.runs == 1:
                of_site = self.site(row.site)
                of_site.templates += 1
                self.change(of_site)
            self._changed[_template_key(row.site, row.template)] = row

    def seal(self) -> None:
        """Write changed rows; called just before a group is sealed."""
        for key, row in self._changed.items():
            self._store.put(_FAMILY, key, _encode(row))
        self._changed.clear()

    def _new_template(self, site: str, template: str) -> SignTemplateRow:
        """Return a row that is counted once it is changed; one for all if there are many."""
        if self.site(site).templates < _MOST_TEMPLATES:
            return SignTemplateRow(site, template)
        kind = template.partition("\n")[0]
        return SignTemplateRow(site, kind) if template == kind else self.template(site, kind)

    def _shrink(self, rows: OrderedDict[Any, Any]) -> None:
        """Drop the row that was used least lately, if there are many; changes are stored before."""
        if len(rows) > _MOST_IN_MEMORY:
            self.seal()
            rows.popitem(last=False)


def sign_counts(store: Store) -> list[SignCount]:
    """Return the counts of each sign; "" has the counts of all pages, without examples."""
    rows = store.scan(_FAMILY, _COUNTS, _COUNTS + b"\xff")
    return [_decode_count(value) for _, value in rows]


def learned_templates(store: Store) -> Iterator[SignTemplateRow]:
    """Yield the templates of which something is learned."""
    for _, value in store.scan(_FAMILY, _TEMPLATES, _TEMPLATES + b"\xff" * 17):
        yield _decode_template(value)


def _template_key(site: str, template: str) -> bytes:
    return _TEMPLATES + _digest(site) + _digest(template)


@lru_cache(maxsize=4_096)
def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode_template = msgspec.msgpack.Decoder(SignTemplateRow).decode
_decode_site = msgspec.msgpack.Decoder(SignSiteRow).decode
_decode_count = msgspec.msgpack.Decoder(SignCount).decode
