"""The phase of embeds and files: when style sheets, scripts, images are asked for again (pure).

Hints about them are rare, and most never change. There are three reasons for a second visit. The
first is the rate of the class, which files of one directory and type share, with a floor. The
second is a sign: a page that changed, or whose boilerplate changed, refers to the file; a known
page refers to a new file next to it; or a file next to it changed. The third is a sample of a few
files of each class that was never revisited. Signs are followed folder by folder: small folders as
a whole, larger ones as long as enough files prove changed. A folder in which signs have led to
nothing is trusted less each time. A name whose checksum suffix was replaced is not revisited.
"""

import re
from collections import Counter
from collections.abc import Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.core.urlshape import shaped
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer, Life
from nacre.planner.change_rate.value import DAY
from nacre.planner.phases.phase import Pages, PhaseResult
from nacre.planner.phases.valuation import Valuation
from nacre.planner.ranking import VisitValue, choices
from nacre.planner.sites import TRIED
from nacre.planner.slices import ROWS, Slices
from nacre.planner.step import Choice, PlannerInputs, Step, random_sample
from nacre.planner.tuning import guess
from nacre.planner.visited import SeenLink, Visited, VisitFinding

KINDS = frozenset((PageKind.EMBED, PageKind.FILE))
SMALL = guess(
    "embeds.small",
    16,
    "Size of a folder of embeds up to which all are visited at the first sign of "
    "a change; of a larger folder, so many are visited first.",
)
_FILES = guess(
    "embeds.files",
    4,
    "The same size for folders of attached files, which are larger and appear one by one.",
)
_HOPEFUL = guess(
    "embeds.hopeful",
    0.05,
    "Share of the visited embeds of a folder that must have changed for more of "
    "them to be visited.",
    most=1.0,
)
_LEARNED = guess(
    "embeds.learned",
    16,
    "Number of revisits after which the history of a folder determines how far "
    "signs are trusted there.",
)
_INDEXED = guess(
    "embeds.indexed",
    64,
    "Number of embeds of a folder that signs are stored for; the others are "
    "visited by the rate of their class.",
)
_FOLDERS = 2_000
"""A bound of memory: folders that are remembered, twice as many for a while. On a site with
more, others at each step, at random; the rest goes by the rates of their classes."""
_NAMED = 100_000
"""A bound of memory: versions of names, and classes, of which a note is kept, of each."""
_REFERRED = 1_000
"""A bound of memory: references to one folder by pages that changed."""
_SAMPLE = guess(
    "embeds.sample",
    2,
    "Number of revisits to embeds of a folder and type without any revisit.",
)
_SAMPLES = guess("embeds.samples", 30, "Number of such revisits in a step.")
_RESERVE = guess(
    "embeds.reserve",
    0.02,
    "Share of a tight budget that is reserved for the embeds of pages.",
    most=1.0,
)

_BUSTER = re.compile(r"\?(?:(?:v|ver|version|rev|hash|h|cb|t|ts|_)=)?[\w.~-]+\Z")
"""A checksum, version or time after a name, which makes caches fetch the new version."""


class Folder:
    """Embeds, or files, of one directory; directories that differ in numbers and dates are one.

    Attributes:
        index: Some of them: those with the smallest random numbers.
        direct: References to each by pages that changed.
        signed: There is a reason to check the folder.
        tried: Number chosen for this reason.
        looked: Number visited again in this step.
        changed: Number of these that changed or are gone.
        past: Second visits in earlier steps, and changes found by them.
    """

    def __init__(self, kind: PageKind) -> None:
        self.index: list[tuple[float, str]] = []
        self.direct: Counter[str] = Counter()
        self.signed = False
        self.tried = self.looked = self.changed = 0
        self.past = (0, 0)
        self._first: int = SMALL if kind is PageKind.EMBED else _FILES

    def recall(self, row: PageRow) -> None:
        """Count the second visits of a member in earlier steps."""
        visits, changes = self.past
        self.past = visits + row.visits - 1, changes + row.changes

    def sign(self) -> None:
        """Note a reason to check the folder."""
        self.signed = True

    def look(self, *, changed: bool) -> None:
        """Count a second visit in this step."""
        self.looked += 1
        self.changed += changed
        self.signed = self.signed or changed

    def keep(self, drawn: float, url: str) -> None:
        """Remember a member, if its random number is small enough."""
        self.index.append((drawn, url))
        if len(self.index) >= 2 * _INDEXED:
            self.index.sort()
            del self.index[_INDEXED:]

    def refer(self, url: str) -> None:
        """Note that a page that changed refers to one of them."""
        self.signed = True
        if url in self.direct or len(self.direct) < _REFERRED:
            self.direct[url] += 1

    @property
    def size(self) -> int:
        """The number of embeds to visit next."""
        if not self.signed:
            return 0
        if not self.tried:
            return max(1, round(self._first * self._belief))
        return 2 * self.tried if self.changed >= _HOPEFUL * self.looked else 0

    @property
    def _belief(self) -> float:
        visits, changes = self.past
        if visits < _LEARNED:
            return 1.0
        return min(1.0, (changes + 0.5) / (visits + 1.0) / _HOPEFUL)

    def next(self, done: set[str], most: int) -> list[str]:
        """The next to look at: what changed pages refer to, the most wanted first, then others."""
        urls = [url for url, _ in self.direct.most_common() if url not in done]
        if self._first == SMALL:
            listed = {*urls, *done}
            urls += [url for _, url in sorted(self.index) if url not in listed]
        selected = urls[: min(self.size, most)]
        self.tried += len(selected)
        return selected


class EmbedSigns:
    """The signs that embeds and files changed: learned from visits, followed folder by folder.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, inputs: PlannerInputs, step: Step) -> None:
        self._rows, _, _, self._settings = inputs
        self._step = step
        self.begin()

    def begin(self) -> None:
        """Begin a step."""
        self._folders: dict[str, Folder] = {}
        self._claims: list[VisitValue] = []
        self._seen_again: Counter[str] = Counter()
        self._unknown: dict[str, list[tuple[float, str]]] = {}
        self._newest: dict[str, float] = {}
        self._sampled = False
        self._news = False
        self._idle: set[tuple[str, int]] = set()

    # ---- rows at the beginning of a step

    def take(self, row: PageRow) -> None:
        """Collect a row; called for all rows at the beginning of a step."""
        if row.kind not in KINDS or not row.visits:
            return
        folder, drawn = self._folder(row), random_sample(row.url, self._step.time)
        folder.keep(drawn, row.url)
        folder.recall(row)
        if row.last_visit == row.last_change == self._step.time and row.visits > 1:
            folder.sign()  # in a process before this one
        if row.kind is not PageKind.EMBED:
            return
        self._note(row)
        name = _class(row)
        self._seen_again[name] += bool(row.evidence)
        if not row.evidence and (name in self._unknown or len(self._unknown) < _NAMED):
            members = self._unknown.setdefault(name, [])
            members.append((drawn, row.url))
            if len(members) > _SAMPLE:
                members.sort()
                del members[_SAMPLE:]

    def _note(self, row: PageRow) -> None:
        """When a name was first seen with the newest of its versions."""
        name = _bare(row.url)
        if name and (name in self._newest or len(self._newest) < _NAMED):
            self._newest[name] = max(self._newest.get(name, 0.0), row.first_seen)

    def _folder(self, row: PageRow) -> Folder:
        name = f"{row.kind} {_directory(row.template)}"
        folder = self._folders.get(name)
        if folder is None:
            if len(self._folders) >= 2 * _FOLDERS:
                self._forget_folders()
            folder = self._folders[name] = Folder(row.kind)
        return folder

    def _forget_folders(self) -> None:
        """Keep those with a reason for a look, then those with the smallest numbers."""
        folders, now = self._folders, self._step.time
        names = sorted(
            folders, key=lambda name: (not folders[name].signed, random_sample(name, now))
        )
        self._folders = {name: folders[name] for name in names[:_FOLDERS]}

    def consider(self, row: PageRow, valuation: Valuation) -> None:
        """Take an embed or file for a visit, if its chance or the floor is a reason for one.

        One is left out at once when there was no reason for another of the same class that was
        visited on the same day.
        """
        if not self.is_idle(row):
            self.claim(row, valuation.of(row))

    def claim(self, row: PageRow, value: VisitValue | None) -> None:
        """Take it with its value, if its chance or the floor is a reason for a visit."""
        if value is None:
            return
        embed, settings = row.kind is PageKind.EMBED, self._settings
        if embed and row.life == Life.LIVE:
            due = 0.0 < settings.embed_floor <= self._step.time - row.last_visit
            value = value._replace(due=due, reason="floor" if due else "rate")
        least = settings.least_embed if embed else settings.least_file
        if value.due or value.chance >= least:
            self._claims.append(value)
        elif not row.evidence and row.life == Life.LIVE and len(self._idle) < _NAMED:
            self._idle.add(self._likes(row))

    def is_idle(self, row: PageRow) -> bool:
        """Whether there was no reason for another of its class that was visited on the same day."""
        return not row.evidence and row.life == Life.LIVE and self._likes(row) in self._idle

    def _likes(self, row: PageRow) -> tuple[str, int]:
        return row.template, int((self._step.time - row.last_visit) / DAY)

    def take_news(self) -> bool:
        """Whether embeds or other files of pages changed since the last call."""
        news, self._news = self._news, False
        self._idle.clear()
        return news

    # ---- results of visits

    def saw(self, row: PageRow, visit: Visited, finding: VisitFinding) -> None:
        """Learn from any visit; `row` is the row after the visit."""
        if row.kind is PageKind.EMBED and row.visits == 1:
            self._note(row)
        if row.visits < 2 or finding.answer is Answer.SILENT:
            return
        if row.kind in KINDS:
            self._learn_look(row, changed=row.last_change == visit.time)
        elif finding.kind.is_change or finding.kind is ChangeClass.TEMPLATE:
            self._signs(visit.links)

    def _learn_look(self, row: PageRow, *, changed: bool) -> None:
        folder = self._folder(row)
        folder.look(changed=changed)
        self._news = self._news or changed

    def _signs(self, links: Sequence[SeenLink]) -> None:
        """Note that a page changed: the files that it refers to may have changed with it."""
        for link in links:
            row = self._rows.get(link.url) if link.hop in "EL" else None
            if row is not None and row.kind in KINDS and row.visits:
                folder = self._folder(row)
                folder.refer(row.url)
            elif row is None and link.hop == "E":
                # A new file in a known directory: a build gives changed files new names.
                name = _directory(shaped(link.url).name)
                beside = self._folders.get(f"{PageKind.EMBED} {name}")
                if beside is not None:
                    beside.sign()

    # ---- choice of visits

    def reserve(self, room: int) -> int:
        """Return the number of visits of a tight budget that are reserved."""
        waits = bool(self._claims) or any(folder.size for folder in self._folders.values())
        return round(_RESERVE * room) if waits else 0

    def batch(self, room: int, left_out: frozenset[str] = frozenset()) -> PhaseResult:
        """The embeds to visit next; none when no sign of a change is left.

        Args:
            room: Visits left in the step.
            left_out: What a batch just before has left out.
        """
        chosen = self._chosen(room, left_out)
        stale = frozenset(choice.url for choice in chosen if self._is_stale(choice.url))
        visits = [choice for choice in chosen if choice.url not in stale]
        return PhaseResult(visits, left_out=stale, repeat=bool(visits))

    def _chosen(self, room: int, left_out: frozenset[str]) -> list[Choice]:
        visited = self._step.done | left_out if left_out else self._step.done
        chosen = self._claimed(room, visited) + self._samples(room, visited)
        known_urls = {*visited, *(choice.url for choice in chosen)}
        for folder in self._folders.values():
            most = room - len(chosen)
            if most <= 0:
                break
            if folder.size:
                urls = folder.next(known_urls, most)
                known_urls.update(urls)
                chosen += [Choice(url, 0.0, "sign") for url in urls]
        return chosen[:room]

    def _is_stale(self, url: str) -> bool:
        """Whether the name has another checksum or version suffix now."""
        name = _bare(url)
        row = self._rows.get(url) if name else None
        return row is not None and row.first_seen < self._newest.get(name, 0.0)

    def _claimed(self, room: int, done: set[str]) -> list[Choice]:
        claims, self._claims = self._claims, []
        claims.sort(
            key=lambda value: (
                not value.due,
                -value.chance,
                random_sample(value.url, self._step.time),
            )
        )
        values = [value for value in dict.fromkeys(claims) if value.url not in done]
        untried = [value.url for value in values if self._is_untried(value)]
        postponed = set(untried[TRIED:])
        return choices([value for value in values if value.url not in postponed][:room])

    def _is_untried(self, value: VisitValue) -> bool:
        """A file without evidence but its class: a few are visited before the others.

        What is known of a class comes from a handful of visits, and of those on a sign more had
        changed than of others.
        """
        row = self._rows.get(value.url)
        return row is not None and row.kind is PageKind.FILE and not row.evidence and not value.due

    def _samples(self, room: int, done: set[str]) -> list[Choice]:
        """A few of each class that was never looked at again."""
        if self._sampled:
            return []
        self._sampled = True
        drawn: list[tuple[float, str]] = []
        for name, members in self._unknown.items():
            size = max(0, _SAMPLE - self._seen_again[name])
            drawn += [member for member in members if member[1] not in done][:size]
        most = min(_SAMPLES, room // 50)
        return [Choice(url, 0.0, "sample") for _, url in sorted(drawn)[:most]]


class Embeds:
    """Chooses embeds and files, batch after batch, as long as they prove changed.

    Args:
        signs: The reasons for visits.
        pages: The rows.
        valuation: Values visits, and brings the change rates up to date.
        step: The current step.
    """

    def __init__(self, signs: EmbedSigns, pages: Pages, valuation: Valuation, step: Step) -> None:
        self._signs = signs
        self._pages = pages
        self._valuation = valuation
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        yield
        result = self._signs.batch(room)
        if result.visits or not self._signs.take_news():
            return result
        yield from self._valuation.update_rates()
        yield from self._consider_all()
        again = self._signs.batch(room, result.left_out)
        return again._replace(left_out=result.left_out | again.left_out)

    def _consider_all(self) -> Slices[None]:
        """What changed in this step counts for all of its class."""
        for number, row in enumerate(self._pages.scan()):
            if not number % ROWS:
                yield
            if row.kind in KINDS and row.visits and row.url not in self._step.done:
                self._signs.consider(row, self._valuation)


def _directory(template: str) -> str:
    return template.partition("/?")[0].rpartition("/")[0]


def _class(row: PageRow) -> str:
    """Directory and type."""
    path = row.template.partition("/?")[0]
    return f"{_directory(path)} {path.rpartition('/')[2].rpartition('.')[2]}"


def _bare(url: str) -> str:
    """A URL without the checksum or version after its name; "" if it has none."""
    match = _BUSTER.search(url)
    return url[: match.start()] if match else ""
