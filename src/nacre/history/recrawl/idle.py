"""New URLs that differ in idle query parameters alone wait, where that is wanted (pure).

Which parameters are idle is learned anew at each step (`history.finding.parameters`); whether a
page is known without them is a matter of its exact URL. A few are visited all the same: one that
differs takes its parameter out of the idle ones.
"""

from hashlib import blake2b

from nacre.history.finding.parameters import Pairs
from nacre.history.recrawl.choice import Choice, lot
from nacre.history.recrawl.step import Knowledge
from nacre.history.slices import ROWS, Slices
from nacre.uri.parse import authority

AUDITED = 0.05
"""Share of the waiting URLs that is visited all the same, as an audit."""
_NEW = frozenset(("new", "late"))


class IdleParameters:
    """Holds new URLs back whose page is known under another one.

    Args:
        known: What the planner knows and wants.

    Attributes:
        held: URLs of the step that wait.
    """

    def __init__(self, known: Knowledge) -> None:
        self._rows = known.rows
        self._wanted = known.settings.idle_parameters == "skip"
        self._names: frozenset[tuple[str, str]] = frozenset()
        self._known: set[bytes] = set()
        self.held = 0

    def begin(self) -> Slices[None]:
        """Begin a step: learn which parameters are idle, and what is known without them."""
        self.held, self._known = 0, set()
        if not self._wanted:
            return
        pairs = Pairs()
        for number, row in enumerate(self._rows.scan()):
            if not number % ROWS:
                yield
            if "?" in row.url:
                pairs.add(row.url, row.digest)
        self._names = frozenset((one.site, one.name) for one in pairs.found() if one.idle)
        if not self._names:
            return
        for number, row in enumerate(self._rows.scan()):
            if not number % ROWS:
                yield
            if row.visits and row.digest and (key := self._key(row.url)):
                self._known.add(key)

    def admitted(self, wave: list[Choice], now: float) -> list[Choice]:
        """Of what was chosen, what is to be visited."""
        if not self._names:
            return wave
        return [found for one in wave if (found := self._admit(one, now)) is not None]

    def _admit(self, choice: Choice, now: float) -> Choice | None:
        key = self._key(choice.url) if choice.reason in _NEW else b""
        if not key:
            return choice
        if key not in self._known:
            self._known.add(key)
            return choice
        if lot(choice.url, now) < AUDITED:
            return choice._replace(propensity=AUDITED)
        self.held += 1
        return None

    def _key(self, url: str) -> bytes:
        """What a URL is without its idle parameters; b"" when it has none."""
        path, mark, query = url.partition("?")
        parts = query.split("&") if mark else []
        site = authority(url) if parts else ""
        kept = [part for part in parts if (site, part.partition("=")[0]) not in self._names]
        if len(kept) == len(parts):
            return b""
        return blake2b(
            f"{path}?{'&'.join(kept)}".encode("utf-8", "replace"), digest_size=16
        ).digest()
