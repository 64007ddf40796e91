"""What comes with pages: when style sheets, scripts, images and files are asked for again (pure).

Hardly any hint tells of them, and most never change. Three things lead to a second visit. What its
class taught: directory and type share a rate, and a floor sees to the rest. A sign: a page that
changed, or whose boilerplate did, refers to it; a known page refers to something new beside it; or
something beside it changed. And a few of each class that was never looked at again. Signs are
followed folder by folder, small ones whole, larger ones as long as enough of it proves changed; a
folder in which signs have led to nothing is believed less each time. A name that has another
checksum behind it by now is left alone.
"""

import re
from collections import Counter
from collections.abc import Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.urlshape import shaped
from nacre.history.recrawl.choice import Choice, choices, lot
from nacre.history.recrawl.ranking import DAY, Bid
from nacre.history.recrawl.sites import TRIED
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.verdict.change import ChangeClass
from nacre.history.verdict.deletion import Answer, Life
from nacre.history.visited import Finding, SeenLink, Visited

KINDS = frozenset((PageKind.EMBED, PageKind.FILE))
SMALL = 16
"""A folder of no more embeds is looked through at the first sign; a larger one begins with them."""
_FILES = 4
"""The same of files, which are larger, and come one by one."""
_HOPEFUL = 0.05
"""Share of what was looked at that must have changed for more of the folder to be looked at."""
_LEARNED = 16
"""Second visits after which a folder's past says how far signs are to be believed there."""
_INDEXED = 64
"""Members of a folder that are remembered for signs; the rest goes by the rate of its class."""
_FOLDERS = 2_000
"""So many folders are remembered, twice as many for a while: on a site with more, others at each
step, by lot. The rest goes by the rates of their classes."""
_NAMED = 100_000
"""Versions of names, and classes, of which a note is kept, of each: a bound of memory."""
_REFERRED = 1_000
"""The same of the references to one folder by pages that changed."""
_SAMPLE = 2
_SAMPLES = 30
"""Second looks at what had none yet: of each directory and type, and in a step."""
_RESERVE = 0.02
"""Share of a tight budget that is kept for what comes with pages."""

_BUSTER = re.compile(r"\?(?:(?:v|ver|version|rev|hash|h|cb|t|ts|_)=)?[\w.~-]+\Z")
"""A checksum, version or time behind a name, so that no cache holds what is old."""


class Folder:
    """Embeds, or files, of one directory; directories that differ in numbers and dates are one.

    Attributes:
        index: Some of them: those with the smallest lots.
        direct: References to each by pages that changed.
        signed: Something speaks for a look.
        tried: Chosen because of that.
        looked: Visited again in this step.
        changed: Of those, changed or gone.
        past: Second visits in steps before, and changes found at them.
    """

    def __init__(self, kind: PageKind) -> None:
        self.index: list[tuple[float, str]] = []
        self.direct: Counter[str] = Counter()
        self.signed = False
        self.tried = self.looked = self.changed = 0
        self.past = (0, 0)
        self._first = SMALL if kind is PageKind.EMBED else _FILES

    def keep(self, drawn: float, url: str) -> None:
        """Remember a member, if its lot is small enough."""
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
        """How many to look at next."""
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
        wanted = [url for url, _ in self.direct.most_common() if url not in done]
        if self._first == SMALL:
            known = {*wanted, *done}
            wanted += [url for _, url in sorted(self.index) if url not in known]
        taken = wanted[: min(self.size, most)]
        self.tried += len(taken)
        return taken


class Companions:
    """Chooses embeds, and files on a sign; learns from visits what the signs are.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, known: Knowledge, step: Step) -> None:
        self._rows, _, _, self._settings = known
        self._step = step
        self.begin()

    def begin(self) -> None:
        """Begin a step."""
        self._folders: dict[str, Folder] = {}
        self._claims: list[Bid] = []
        self._seen_again: Counter[str] = Counter()
        self._unknown: dict[str, list[tuple[float, str]]] = {}
        self._newest: dict[str, float] = {}
        self._sampled = False
        self._news = False
        self._idle: set[tuple[str, int]] = set()

    # ---- what is known at the beginning

    def take(self, row: PageRow) -> None:
        """Look at a row; all of them at the beginning of a step."""
        if row.kind not in KINDS or not row.visits:
            return
        folder, drawn = self._folder(row), lot(row.url, self._step.time)
        folder.keep(drawn, row.url)
        visits, changes = folder.past
        folder.past = visits + row.visits - 1, changes + row.changes
        if row.last_visit == row.last_change == self._step.time and row.visits > 1:
            folder.signed = True  # in a process before this one
        if row.kind is not PageKind.EMBED:
            return
        self._note(row)
        name = _class(row)
        self._seen_again[name] += bool(row.evidence)
        if not row.evidence and (name in self._unknown or len(self._unknown) < _NAMED):
            lots = self._unknown.setdefault(name, [])
            lots.append((drawn, row.url))
            if len(lots) > _SAMPLE:
                lots.sort()
                del lots[_SAMPLE:]

    def _note(self, row: PageRow) -> None:
        """When a name was first seen with the newest of its versions."""
        name = _bare(row.url)
        if name and (name in self._newest or len(self._newest) < _NAMED):
            self._newest[name] = max(self._newest.get(name, 0.0), row.first_seen)

    def _folder(self, row: PageRow) -> Folder:
        name = f"{row.kind} {_directory(row.template)}"
        found = self._folders.get(name)
        if found is None:
            if len(self._folders) >= 2 * _FOLDERS:
                self._forget_folders()
            found = self._folders[name] = Folder(row.kind)
        return found

    def _forget_folders(self) -> None:
        """Keep those in which something speaks for a look, then those with the smallest lots."""
        folders, now = self._folders, self._step.time
        names = sorted(folders, key=lambda name: (not folders[name].signed, lot(name, now)))
        self._folders = {name: folders[name] for name in names[:_FOLDERS]}

    def claim(self, row: PageRow, bid: Bid | None) -> None:
        """Let a bid stand, if its chance or the floor speaks for it."""
        if bid is None:
            return
        embed, settings = row.kind is PageKind.EMBED, self._settings
        if embed and row.life == Life.LIVE:
            due = 0.0 < settings.embed_floor <= self._step.time - row.last_visit
            bid = bid._replace(due=due, reason="floor" if due else "rate")
        least = settings.least_embed if embed else settings.least_file
        if bid.due or bid.chance >= least:
            self._claims.append(bid)
        elif not row.evidence and row.life == Life.LIVE and len(self._idle) < _NAMED:
            self._idle.add(self._likes(row))

    def is_idle(self, row: PageRow) -> bool:
        """Whether nothing spoke for its like: one of the same class, visited on the same day."""
        return not row.evidence and row.life == Life.LIVE and self._likes(row) in self._idle

    def _likes(self, row: PageRow) -> tuple[str, int]:
        return row.template, int((self._step.time - row.last_visit) / DAY)

    def take_news(self) -> bool:
        """Whether something of what comes with pages changed since the last call."""
        news, self._news = self._news, False
        self._idle.clear()
        return news

    # ---- what visits show

    def saw(self, row: PageRow, visit: Visited, finding: Finding) -> None:
        """Learn from a visit of anything; `row` is as it is after it."""
        if row.kind is PageKind.EMBED and row.visits == 1:
            self._note(row)
        if row.visits < 2 or finding.answer is Answer.SILENT:
            return
        if row.kind in KINDS:
            self._looked(row, changed=row.last_change == visit.time)
        elif finding.kind.is_change or finding.kind is ChangeClass.TEMPLATE:
            self._signs(visit.links)

    def _looked(self, row: PageRow, *, changed: bool) -> None:
        folder = self._folder(row)
        folder.looked += 1
        folder.changed += changed
        folder.signed = folder.signed or changed
        self._news = self._news or changed

    def _signs(self, links: Sequence[SeenLink]) -> None:
        """A page changed: what it refers to may have changed with it."""
        for link in links:
            row = self._rows.get(link.url) if link.hop in "EL" else None
            if row is not None and row.kind in KINDS and row.visits:
                folder = self._folder(row)
                folder.refer(row.url)
            elif row is None and link.hop == "E":
                # Something new beside what was there: a build with other names for what is new.
                name = _directory(shaped(link.url).name)
                beside = self._folders.get(f"{PageKind.EMBED} {name}")
                if beside is not None:
                    beside.signed = True

    # ---- what is chosen

    def reserve(self, room: int) -> int:
        """Visits of a tight budget that are kept back."""
        waits = bool(self._claims) or any(folder.size for folder in self._folders.values())
        return round(_RESERVE * room) if waits else 0

    def batch(self, room: int) -> list[Choice]:
        """What to visit next; nothing when no sign is left that promises anything."""
        chosen = self._chosen(room)
        stale = {one.url for one in chosen if self._is_stale(one.url)}
        self._step.done |= stale
        return [one for one in chosen if one.url not in stale]

    def _chosen(self, room: int) -> list[Choice]:
        done = self._step.done
        chosen = self._claimed(room, done) + self._samples(room, done)
        taken = {*done, *(one.url for one in chosen)}
        for folder in self._folders.values():
            most = room - len(chosen)
            if most <= 0:
                break
            if folder.size:
                urls = folder.next(taken, most)
                taken.update(urls)
                chosen += [Choice(url, 0.0, "sign") for url in urls]
        return chosen[:room]

    def _is_stale(self, url: str) -> bool:
        """The same name has another checksum or version behind it by now."""
        name = _bare(url)
        row = self._rows.get(url) if name else None
        return row is not None and row.first_seen < self._newest.get(name, 0.0)

    def _claimed(self, room: int, done: set[str]) -> list[Choice]:
        claims, self._claims = self._claims, []
        claims.sort(key=lambda bid: (not bid.due, -bid.chance, lot(bid.url, self._step.time)))
        wanted = [bid for bid in dict.fromkeys(claims) if bid.url not in done]
        untried = [bid.url for bid in wanted if self._is_untried(bid)]
        held = set(untried[TRIED:])
        return choices([bid for bid in wanted if bid.url not in held][:room])

    def _is_untried(self, bid: Bid) -> bool:
        """A file of which its class alone speaks: a few are visited before the others.

        What is known of a class comes from a handful of visits, and of those on a sign more had
        changed than of others.
        """
        row = self._rows.get(bid.url)
        return row is not None and row.kind is PageKind.FILE and not row.evidence and not bid.due

    def _samples(self, room: int, done: set[str]) -> list[Choice]:
        """A few of each class that was never looked at again."""
        if self._sampled:
            return []
        self._sampled = True
        found: list[tuple[float, str]] = []
        for name, lots in self._unknown.items():
            wanted = max(0, _SAMPLE - self._seen_again[name])
            found += [one for one in lots if one[1] not in done][:wanted]
        most = min(_SAMPLES, room // 50)
        return [Choice(url, 0.0, "sample") for _, url in sorted(found)[:most]]


def _directory(template: str) -> str:
    return template.partition("/?")[0].rpartition("/")[0]


def _class(row: PageRow) -> str:
    """Directory and type."""
    path = row.template.partition("/?")[0]
    return f"{_directory(path)} {path.rpartition('/')[2].rpartition('.')[2]}"


def _bare(url: str) -> str:
    """A URL without the checksum or version behind its name; "" where it has none."""
    found = _BUSTER.search(url)
    return url[: found.start()] if found else ""
