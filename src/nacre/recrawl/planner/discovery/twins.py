"""Twins: URLs that differ in their query alone and always answer with the same bytes (pure).

The links of javadoc to `index.html?Class` are an example: one page under a thousand names. A
family is a path with all queries. Once five of its members had the same bytes as another that was
visited in the same step, and none had others, it counts as one page: only its representative is
visited, and now and then another member, as a spot check. One that differs ends this at once.
"""

from nacre.core.pagerow import PageRow
from nacre.recrawl.planner.discovery.traps import PAIRS
from nacre.recrawl.planner.step import Choice, random_sample
from nacre.recrawl.planner.visited import Rows

_FAMILIES = 100_000
"""A bound of memory: families that are compared in a step."""
_TIMES = 8
"""A bound of memory: steps of which the bytes of a family are compared."""
_SURE = 4 * PAIRS
"""Members with the same bytes from which on spot checks are rare. A guess that no goal depends on:
either way they are few."""
_SPOT = 0.1
"""Share of the steps in which such a family is checked. A guess, likewise."""
_FREE = frozenset(("start", "due", "pair"))
"""Reasons of visits that are made whatever the page is known to repeat."""


class Family:
    """The members of a family, compared.

    Attributes:
        first: The representative.
        same: Members with the bytes of another that was visited in the same step.
        other: Members with other bytes than that.
        spot: The member to be checked, by its random number.
    """

    def __init__(self) -> None:
        self.first = ""
        self.same = self.other = 0
        self.spot = (2.0, "")
        self._digests: dict[float, str] = {}

    def take(self, url: str, digest: str, time: float, drawn: float) -> None:
        """Take in a member, with its bytes when it was visited last."""
        if not self.first or url < self.first:
            self.first = url
        self.spot = min(self.spot, (drawn, url))
        before = self._digests.get(time)
        if before is None:
            if len(self._digests) < _TIMES:
                self._digests[time] = digest
        elif before == digest:
            self.same += 1
        else:
            self.other += 1

    @property
    def is_one_page(self) -> bool:
        """Whether all members were the same page so far."""
        return self.same >= PAIRS and not self.other


class Twins:
    """The families of a step.

    Args:
        rows: All that is known of the pages.
        time: Of the step, seconds since the epoch.

    Attributes:
        held: New URLs of the step that wait, because their family is known.
    """

    def __init__(self, rows: Rows, time: float) -> None:
        self._rows = rows
        self._time = time
        self._families: dict[str, Family] = {}
        self.held = 0

    def take(self, row: PageRow) -> None:
        """Look at a row; all of them at the beginning of a step."""
        path, mark, _ = row.url.partition("?")
        if not mark or not row.visits or not row.digest:
            return
        family = self._families.get(path)
        if family is None:
            if len(self._families) >= _FAMILIES:
                return
            family = self._families[path] = Family()
            plain = self._rows.get(path)
            if plain is not None and plain.visits and plain.digest:
                family.take(path, plain.digest, plain.last_visit, 1.0)
        family.take(row.url, row.digest, row.last_visit, random_sample(row.url, self._time))

    def rests(self, url: str) -> bool:
        """Whether a page only repeats another one, and is not to be checked in this step."""
        path, mark, _ = url.partition("?")
        family = self._families.get(path) if mark else None
        if family is None or not family.is_one_page or url == family.first:
            return False
        checked = family.same < _SURE or random_sample(path, self._time) < _SPOT
        return not (checked and url == family.spot[1])

    def admitted(self, chosen: list[Choice]) -> list[Choice]:
        """Of what was chosen, what is to be visited."""
        if not self._families:
            return chosen
        admitted = [one for one in chosen if one.reason in _FREE or not self.rests(one.url)]
        self.held += len(chosen) - len(admitted)
        return admitted
