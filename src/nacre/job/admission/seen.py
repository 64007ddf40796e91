"""URLs met recently: most links of a site lead to pages that are already known."""

from collections.abc import Sequence

from nacre.core.crawluri import Hop, Outlink

_REDIRECT = Hop.REDIRECT


class RecentURLs:
    """Bounded sets of URLs that need not be judged again; each has two generations.

    An accepted URL is in the frontier's seen set whatever way it is found again. A refused one may
    be accepted on another way (an embed, a shorter path), so it is kept with its hop path.

    Attributes:
        enabled: False when every decision must be made and logged.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._half = capacity // 2
        self._young: set[str] = set()
        self._old: set[str] = set()
        self._refused: set[tuple[str, str]] = set()
        self._refused_old: set[tuple[str, str]] = set()
        self.enabled = True

    def unknown(self, links: Sequence[Outlink]) -> Sequence[Outlink]:
        """The links that have to be judged: their URLs are not known to be in the frontier.

        Redirects stay, for they may be forced.
        """
        if not self.enabled:
            return links
        young, old = self._young, self._old
        return [
            link
            for link in links
            if ((url := link.url) not in young and url not in old) or link.hop is _REDIRECT
        ]

    def forget_refusals(self) -> None:
        """The scope is another one: what it refused is to be judged again."""
        self._refused.clear()
        self._refused_old.clear()

    def refuses(self, url: str, path: str) -> bool:
        """The URL was refused on this way."""
        way = (url, path)
        return (way in self._refused or way in self._refused_old) and self.enabled

    def add(self, url: str) -> None:
        """A URL that is in the frontier now, or was before."""
        if len(self._young) >= self._half:
            self._old, self._young = self._young, set()
        self._young.add(url)

    def refuse(self, url: str, path: str) -> None:
        """A URL that the scope refused on this way."""
        if len(self._refused) >= self._half:
            self._refused_old, self._refused = self._refused, set()
        self._refused.add((url, path))

    def forget(self) -> None:
        """Start anew: the scope changed, or URIs were deleted."""
        for known in (self._young, self._old, self._refused, self._refused_old):
            known.clear()
