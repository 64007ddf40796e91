"""URLs that waited in a queue when a page requested them: they are not fetched once more."""

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit

_MOST = 100_000
"""URLs that are kept; those beyond are fetched once more."""
_PARTIAL = 206
_PAGES = frozenset(("text/html", "application/xhtml+xml"))


class CapturedRequests:
    """The requests of pages that this session stored, by seen key.

    HTML is left out: what a page requested as a part is a separate page for a link to it, and may
    be run in a browser.
    """

    def __init__(self) -> None:
        self._statuses: dict[bytes, int] = {}

    def add(self, visit: Visit) -> None:
        """Note the stored request of a page."""
        is_whole = visit.is_of_url and visit.status > 0 and visit.status != _PARTIAL
        if is_whole and visit.mime not in _PAGES and len(self._statuses) < _MOST:
            self._statuses[visit.uri.key] = visit.status

    def take(self, uri: CrawlURI) -> int:
        """Return the status of a URI from a queue if it need not be fetched; 0 if it must be.

        Seeds, and URIs that an operator or a rule wants to be fetched, are fetched.
        """
        if not self._statuses:
            return 0
        if uri.is_seed or uri.force_fetch or uri.method != "GET":
            return 0
        return self._statuses.pop(uri.key, 0)
