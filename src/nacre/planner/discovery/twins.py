"""Twins: URLs that always answer with the same bytes, which are one page (pure).

The links of javadoc to `index.html?Class` are an example: one page under a thousand names. A
family is a path with all queries. It counts as one page if five of its members had the same bytes
as another member, and no member had others in the same step. Then only its representative is
visited, and now and then another member, as a spot check. A member that differs ends this at once.
Families of one template (`/3.1/api/index.html?Class`) are proved together: the javadoc of each
release is one page more. Of a family that is new, two members are visited, and compared.

URLs with different paths are copies if they have the same bytes, and either name the same folder
(`/a/` and `/a/index.html`), or changed at least twice, last in the same step. Once the
representative changes, the bytes differ, and each copy is visited again.

A path with empty segments (`//a/b`) most often leads to the same page as without, and the relative
links of that page lead to a whole site under such URLs. If the plain URL of such new URLs is a
page, a step visits only enough of them for a proof; the others wait, unless one had other bytes.
"""

import re
from collections import Counter
from typing import NamedTuple

from nacre.core.pagerow import PageRow
from nacre.core.urlshape import shaped
from nacre.planner.discovery.traps import PAIRS
from nacre.planner.step import Choice, random_sample
from nacre.planner.visited import Rows
from nacre.uri.parse import authority

_FAMILIES = 100_000
"""A bound of memory: families that are compared in a step."""
_TIMES = 8
"""A bound of memory: steps of which the bytes of a family are compared."""
_SURE = 4 * PAIRS
"""Members with the same bytes from which on spot checks are rare. A guess that no goal depends on:
either way they are few."""
_SPOT = 0.1
"""Share of the steps in which such a family is checked. A guess, likewise."""
_OPENING = 2
"""Members of a new family that are visited in a step: the fewest that can be compared."""
_NEW = frozenset(("new", "late"))
_FREE = frozenset(("start", "due", "pair"))
"""Reasons of visits that are made even if the page repeats another."""


class Family:
    """The members of a family, compared.

    Args:
        kind: Template of its path.

    Attributes:
        first: The representative.
        same: Members with the bytes of another, in whatever step they were visited.
        other: Members with other bytes than one that was visited in the same step.
        spot: The member to be checked, by its random number.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.first = ""
        self.same = self.other = 0
        self.spot = (2.0, "")
        self._digests: dict[float, str] = {}

    def take(self, url: str, digest: str, time: float, drawn: float) -> None:
        """Add a member, with the digest of its last visit."""
        if not self.first or url < self.first:
            self.first = url
        self.spot = min(self.spot, (drawn, url))
        if self._digests.get(time, digest) != digest:
            self.other += 1
            return
        self.same += digest in self._digests.values()
        if len(self._digests) < _TIMES:
            self._digests[time] = digest

    @property
    def is_one_page(self) -> bool:
        """Whether all members were the same page so far."""
        return self.same >= PAIRS and not self.other


class _CopyKey(NamedTuple):
    """Equal for copies: the URL of their folder or their host, bytes, and time of the change."""

    place: str
    digest: str
    changed: float


def _copy_key(row: PageRow) -> _CopyKey | None:
    """The key of a page among possible copies; None if it cannot be one."""
    if "?" in row.url or not row.visits or not row.digest or row.life != "live":
        return None
    folder, _, name = row.url.rpartition("/")
    if not name or _START.match(name):
        return _CopyKey(f"{folder}/", row.digest, 0.0)
    if row.changes >= _TOGETHER:
        return _CopyKey(authority(row.url), row.digest, row.last_change)
    return None


_START = re.compile(r"(?i)^(?:index|default|home)\.\w{2,5}$")
_TOGETHER = 2
"""Changes of copies in different folders. A guess that no goal depends on: copies are few."""
_COPIES = 4
"""Copies of a page at most: many pages with the same bytes may say that all are out of order."""


class Copies:
    """The copies of a step: URLs with different paths that are one page."""

    def __init__(self) -> None:
        self._keys: dict[str, _CopyKey] = {}
        self._urls: dict[_CopyKey, list[str]] = {}

    def take(self, row: PageRow) -> None:
        """Note a row; all of them at the beginning of a step."""
        key = _copy_key(row)
        if key is None or len(self._keys) >= _FAMILIES:
            return
        urls = self._urls.setdefault(key, [])
        if len(urls) <= _COPIES:
            urls.append(row.url)
            self._keys[row.url] = key

    def has_original(self, url: str) -> bool:
        """Whether a page is the copy of another one, which has the shortest URL of them."""
        key = self._keys.get(url)
        urls = [] if key is None else self._urls[key]
        return 1 < len(urls) <= _COPIES and url != min(urls, key=lambda other: (len(other), other))

    def __bool__(self) -> bool:
        """Whether two pages may be copies."""
        return len(self._keys) > len(self._urls)


_SLASHES = re.compile(r"(?<!:)/{2,}")
"""Empty segments of a path; not what follows the scheme."""


class SlashedNames:
    """The URLs of a step with empty segments in their path, and whether they repeat plain ones.

    Args:
        rows: The rows of all known pages.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._differing: set[str] = set()
        self._left = PAIRS

    def take(self, row: PageRow) -> None:
        """Note a row; all of them at the beginning of a step."""
        plain = self._plain(row.url) if row.visits and row.digest else None
        together = plain is not None and plain.last_visit == row.last_visit
        if together and plain is not None and plain.digest != row.digest:
            self._differing.add(authority(row.url))

    def admits(self, url: str) -> bool:
        """Whether a new URL is to be visited."""
        plain = self._plain(url)
        if plain is None or not plain.digest or authority(url) in self._differing:
            return True
        self._left -= 1
        return self._left >= 0

    def _plain(self, url: str) -> PageRow | None:
        """The row of the URL without empty segments; None if it has none, or there is no row."""
        path, mark, query = url.partition("?")
        plain = _SLASHES.sub("/", path)
        return None if plain == path else self._rows.get(plain + mark + query)


class Twins:
    """The families and copies of a step.

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
        self._copies = Copies()
        self._slashed = SlashedNames(rows)
        self._kinds: frozenset[str] | None = None
        self._opened: Counter[str] = Counter()
        self.held = 0

    def take(self, row: PageRow) -> None:
        """Note a row; all of them at the beginning of a step."""
        self._copies.take(row)
        self._slashed.take(row)
        path, mark, _ = row.url.partition("?")
        if not mark or not row.visits or not row.digest:
            return
        self._kinds = None
        family = self._families.get(path)
        if family is None:
            if len(self._families) >= _FAMILIES:
                return
            family = self._families[path] = Family(shaped(path).name)
            plain = self._rows.get(path)
            if plain is not None and plain.visits and plain.digest:
                family.take(path, plain.digest, plain.last_visit, 1.0)
        family.take(row.url, row.digest, row.last_visit, random_sample(row.url, self._time))

    def rests(self, url: str) -> bool:
        """Whether a page only repeats another one, and is not to be checked in this step."""
        path, mark, _ = url.partition("?")
        if not mark:
            return self._copies.has_original(url) and random_sample(url, self._time) >= _SPOT
        family = self._families.get(path)
        if family is None or url == family.first or not self._is_one_page(family):
            return False
        checked = family.same < _SURE or random_sample(path, self._time) < _SPOT
        return not (checked and url == family.spot[1])

    def _is_one_page(self, family: Family) -> bool:
        return family.is_one_page or family.kind in self._one_page_kinds()

    def _one_page_kinds(self) -> frozenset[str]:
        """The templates of paths of which all families together are proved to be one page each."""
        if self._kinds is None:
            same: Counter[str] = Counter()
            for family in self._families.values():
                same[family.kind] += family.same
            differing = {family.kind for family in self._families.values() if family.other}
            self._kinds = frozenset(kind for kind in same if same[kind] >= PAIRS) - differing
        return self._kinds

    def admitted(self, chosen: list[Choice]) -> list[Choice]:
        """Return the chosen visits that are not held back."""
        admitted = [choice for choice in chosen if self._admits(choice)]
        self.held += len(chosen) - len(admitted)
        return admitted

    def _admits(self, choice: Choice) -> bool:
        if choice.reason in _FREE:
            return True
        if choice.reason in _NEW and not self._slashed.admits(choice.url):
            return False
        return self._opens(choice.url) and not self.rests(choice.url)

    def _opens(self, url: str) -> bool:
        """Whether a URL is not a member of a new family that is likely one page, or is needed."""
        path, mark, _ = url.partition("?")
        if not mark or path in self._families or shaped(path).name not in self._one_page_kinds():
            return True
        self._opened[path] += 1
        return self._opened[path] <= _OPENING
