"""Does a 304 tell the truth? Some pages are asked for without validators, to see."""

from collections.abc import MutableMapping

from nacre.core.processor import Visit
from nacre.history.finding.hints import Audit
from nacre.history.finding.urlshape import shaped
from nacre.history.recrawl.choice import Choice, lot
from nacre.uri.parse import authority

AUDIT = "audit"
"""Annotation of a visit that asked without validators to see whether they tell the truth."""
BANNED = "untrusted-validators"
"""Annotation of one that asked without them because they did not."""
PAIR = "pair"
"""Annotation of a second fetch within the step."""
_KNOWN = 10
"""Clean audits after which a template is believed though others of its host lied."""
_EARLY = 0.25
"""Share of audits until then: they cost bytes, and no request."""
_UNVISITED = frozenset(("new", "late", "start"))


class Audits:
    """What audits have shown, by host and URL template.

    Args:
        rows: Where that is kept.
    """

    def __init__(self, rows: MutableMapping[str, Audit]) -> None:
        self._rows = rows

    def unconditional(self, choice: Choice, step: float, share: float) -> str:
        """Why a visit that was chosen asks without validators; "" when it does not.

        Args:
            choice: The visit.
            step: Time of the step, seconds since the epoch.
            share: Share of all visits that are audits.
        """
        if choice.reason == PAIR:
            return PAIR
        return "" if choice.reason in _UNVISITED else self.plain(choice.url, step, share)

    def plain(self, url: str, step: float, share: float) -> str:
        """Why a URL is to be asked for without validators; "" when it is not.

        Args:
            url: The URL.
            step: Time of the step, seconds since the epoch.
            share: Share of all visits that are audits, once some were made; 0: none at all.
        """
        row, host = self._rows.get(_name(url)), self._rows.get(_host(url))
        if row is not None and not row.trusted(step):
            return BANNED
        known = row is not None and row.clean >= _KNOWN
        if not known and host is not None and not host.trusted(step):
            return BANNED
        if share > 0.0 and not known:
            share = max(share, _EARLY)
        return AUDIT if lot(f"{AUDIT} {url}", step) < share else ""

    def lied(self, visit: Visit, step: float, *, changed: bool) -> bool:
        """Learn from an audit; True when the page is another under the same validators.

        Args:
            visit: The audit.
            step: Time of the step, seconds since the epoch.
            changed: The verdict on it; validators need not tell of noise.
        """
        capture, known = visit.capture, visit.history
        if capture is None or known is None or visit.status != 200 or not known.date:
            return False
        asked = (known.etag, b"etag") if known.etag else (known.last_modified, b"last-modified")
        if not asked[0] or capture.header(asked[1]) != asked[0]:
            return False
        lied = changed and capture.payload_digest != known.served
        self.observe(visit.uri.url, step, lied=lied)
        return lied

    def observe(self, url: str, step: float, *, lied: bool) -> None:
        """Count an audit whose reply had the validators of the last 200."""
        for name in (_name(url), _host(url)):
            row = self._rows.get(name) or Audit()
            row.observe(step, lied=lied)
            self._rows[name] = row


def _host(url: str) -> str:
    return f"{authority(url)} *"


def _name(url: str) -> str:
    return f"{authority(url)} {shaped(url).name}"
