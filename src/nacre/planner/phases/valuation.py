"""The value of visits in one step, from all knowledge about a page and its site (pure).

The module also has two limits. Traps may take a share of the visits of a run (`TrapShare`); further
visits to them wait for the next run.

New URLs that differ from a known page in idle query parameters alone wait, if a setting asks for it
(`IdleParameters`). Each step learns again which parameters are idle (`discovery.traps.Pairs`); a
page counts as known only if its exact URL without them is known. A few are visited anyway: if such
a page differs, its parameter is no longer idle.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.rates import Classes, chance_of_change
from nacre.planner.change_rate.value import DAY
from nacre.planner.discovery.index_pages import INDEX, is_later, overflows
from nacre.planner.discovery.traps import Pairs
from nacre.planner.discovery.twins import Twins
from nacre.planner.ranking import Ranking, VisitValue, quiet
from nacre.planner.sites import ShownRow
from nacre.planner.slices import ROWS, Slices
from nacre.planner.step import PAGING, Choice, PlannerInputs, Step, random_sample
from nacre.planner.tuning import guess
from nacre.uri.parse import authority

_LEAST = guess(
    "limits.least",
    10,
    "Number of visits to traps that a run may make, however small their share is.",
)
_FREE = frozenset(("start", "due", "pair", "sitemap", "feed"))
"""Reasons of visits that are made without a limit for traps."""
_LEADING = frozenset(("new", "late", "index", "window", PAGING))
"""Reasons of visits that lead deeper."""


class TrapShare:
    """Limits the visits to traps.

    Args:
        known: What the planner knows and wants.

    Attributes:
        held: Visits of the step that wait.
        closed: The share is used up: some visit had to wait.
    """

    def __init__(self, inputs: PlannerInputs) -> None:
        self._rows, sites, _, self._settings = inputs
        self._traps = sites.traps
        self._taken = 0
        self._room = 0
        self.held = 0
        self.closed = False

    def begin(self, chosen: Sequence[Choice]) -> None:
        """Begin a step, in which another process had chosen these already."""
        self._taken = self._room = self.held = 0
        self.closed = False
        if self._traps.any:
            self._taken = sum(self._is_trap(choice) for choice in chosen)

    def admitted(self, chosen: list[Choice], room: int, pages: int) -> list[Choice]:
        """Return the chosen visits that the share of traps allows.

        Args:
            chosen: The chosen visits.
            room: Visits left in the step.
            pages: Pages that were visited before or chosen in this step.
        """
        self._room = max(self._room, room)
        if not self._traps.any:
            return chosen
        share = self._settings.trap_share
        if share >= 1.0:
            return chosen
        most = max(share * min(self._room, pages - self._taken), _LEAST if share else 0)
        admitted = []
        for choice in chosen:
            if self._is_trap(choice):
                if self._taken >= most:
                    self.held += 1
                    self.closed = True
                    continue
                self._taken += 1
            admitted.append(choice)
        return admitted

    def is_shut(self, row: PageRow) -> bool:
        """Whether a page leads into a trap, and the share of traps is used up."""
        return self.closed and self._traps.is_endless(row.template)

    def _is_trap(self, choice: Choice) -> bool:
        row = None if choice.reason in _FREE else self._rows.get(choice.url)
        if row is None:
            return False
        traps = self._traps
        leads = choice.reason in _LEADING and traps.reason(row.template) != ""
        return leads or traps.is_endless(row.template)


AUDITED = 0.05
"""Share of the waiting URLs that is visited anyway, as an audit. A guess that no goal
depends on: `recrawl.idle_parameters: skip` is off by default."""
_NEW = frozenset(("new", "late"))


class IdleParameters:
    """Holds back new URLs whose page is known under another URL.

    Args:
        known: What the planner knows and wants.

    Attributes:
        held: URLs of the step that wait.
    """

    def __init__(self, inputs: PlannerInputs) -> None:
        self._rows = inputs.rows
        self._wanted = inputs.settings.idle_parameters == "skip"
        self._names: frozenset[tuple[str, str]] = frozenset()
        self._known: set[bytes] = set()
        self.held = 0

    def begin(self) -> Slices[None]:
        """Begin a step: learn which parameters are idle, and which URLs are known without them."""
        self.held, self._known = 0, set()
        if not self._wanted:
            return
        pairs = Pairs()
        for number, row in enumerate(self._rows.scan()):
            if not number % ROWS:
                yield
            if "?" in row.url:
                pairs.add(row.url, row.digest)
        self._names = frozenset(
            (parameter.site, parameter.name) for parameter in pairs.parameters() if parameter.idle
        )
        if not self._names:
            return
        for number, row in enumerate(self._rows.scan()):
            if not number % ROWS:
                yield
            if row.visits and row.digest and (key := self._key(row.url)):
                self._known.add(key)

    def admitted(self, chosen: list[Choice], now: float) -> list[Choice]:
        """Return the chosen visits that are not held back."""
        if not self._names:
            return chosen
        return [
            admitted_choice
            for choice in chosen
            if (admitted_choice := self._admit(choice, now)) is not None
        ]

    def _admit(self, choice: Choice, now: float) -> Choice | None:
        key = self._key(choice.url) if choice.reason in _NEW else b""
        if not key:
            return choice
        if key not in self._known:
            self._known.add(key)
            return choice
        if random_sample(choice.url, now) < AUDITED:
            return choice._replace(propensity=AUDITED)
        self.held += 1
        return None

    def _key(self, url: str) -> bytes:
        """Return the key of a URL without its idle parameters; b"" if it has none."""
        path, mark, query = url.partition("?")
        parts = query.split("&") if mark else []
        site = authority(url) if parts else ""
        active = [part for part in parts if (site, part.partition("=")[0]) not in self._names]
        if len(active) == len(parts):
            return b""
        return blake2b(
            f"{path}?{'&'.join(active)}".encode("utf-8", "replace"), digest_size=16
        ).digest()


_RIGHT = 0.5
"""Precision from which on a source is trusted: it is right more often than not."""


class VisitLimits(NamedTuple):
    """The limits of visits, whatever their value.

    Attributes:
        traps: The share of the step that traps may take.
        twins: URLs that only repeat another one.
    """

    traps: TrapShare
    twins: Twins


class Valuation:
    """Values visits of pages in one step.

    Args:
        inputs: The inputs of the planner.
        step: The current step; read for its times.
        ranking: Values a visit by change rates and hints.
        limits: The limits of visits, whatever their value.
        classes: Priors of change rates, which `ranking` uses.
    """

    def __init__(
        self,
        inputs: PlannerInputs,
        step: Step,
        ranking: Ranking,
        limits: VisitLimits,
        classes: Classes,
    ) -> None:
        self._rows, self._sites, _, self._settings = inputs
        self._step = step
        self._ranking = ranking
        self._traps, self._twins = limits
        self._classes = classes

    def of(self, row: PageRow) -> VisitValue | None:
        """Return the value of a visit of a page; None if there is no reason for a visit."""
        time = self._sites.time(row.url)
        signals = self._sites.signals(row) if self._settings.hints else ()
        list_row = self._sites.list_row(row.url) if row.index >= INDEX else None
        repeats = list_row is not None and list_row.repeats and is_later(row.url)
        mapped = row.index >= INDEX and self._sites.is_mapped(row.url, self._step.time)
        if mapped:
            time = self._sites.beside_map(row.url)
        if row.kind is PageKind.PAGE:
            time = self._sites.forecasting(row, time)
        value = self._ranking.visit(row, self._step.time, time, signals, repeats=repeats)
        if row.told and value is not None and signals and row.index < INDEX:
            return self._proved(value, row)
        if (
            list_row is None
            or value is None
            or repeats
            or mapped
            or not self._overflows(row, list_row)
        ):
            return value
        return value._replace(due=True, reason="window")

    def of_all(self, rows: Iterable[PageRow]) -> Slices[list[VisitValue]]:
        """Return the values of visits of pages that were visited earlier, in slices."""
        values: list[VisitValue] = []
        for number, row in enumerate(rows):
            if not number % ROWS:
                yield
            value = self.of(row) if row.visits and not self.is_shut(row) else None
            if value is not None:
                values.append(value)
        return values

    def is_shut(self, row: PageRow) -> bool:
        """Whether a page leads into a trap, and the share of traps is used up."""
        return self._traps.is_shut(row)

    def take_event_news(self) -> bool:
        """Whether visits showed an event, or that there is none, since the last call."""
        return self._sites.take_event_news()

    def is_left_out(self, row: PageRow) -> bool:
        """Whether a page repeats another one, or leads into a trap that is shut."""
        return self.repeats(row.url) or self.is_shut(row)

    def news_of(self, row: PageRow) -> float:
        """Chance that a sitemap or feed has changed since its last visit."""
        days = (self._step.time - row.last_visit) / DAY
        return chance_of_change(self._classes.posterior(row), days)

    def links_of(self, row: PageRow, days: float) -> float:
        """New links that a page is expected to show first after so many days."""
        return self._ranking.arrivals_a_day(row) * days

    def repeats(self, url: str) -> bool:
        """Whether a page only repeats another one: see `Twins`."""
        return self._twins.rests(url)

    def quiet(self, row: PageRow) -> bytes:
        """Return the evidence that silence gives for a row without evidence; b"" for none."""
        if not row.visits or row.told or not self._settings.hints:
            return b""
        return quiet(row, self._sites.signals(row), self._step.time)

    def update_rates(self) -> Slices[None]:
        """Fit the priors of change rates again, with what the step has shown so far."""
        for number, url in enumerate(tuple(self._step.touched)):
            if not number % ROWS:
                yield
            row = self._rows.get(url)
            if row is not None:
                self._classes.note(row, self.quiet)
        yield from self._classes.refit()

    def withdrawn(self, row: PageRow) -> PageRow:
        """Return the row, with a hint if its sitemap no longer lists the page."""
        is_gone = row.life in {Life.GONE, Life.MOVED}
        if is_gone or not self._sites.look_for_withdrawal(row, self._step.time):
            return row
        # Between two slices the page may have been visited.
        row = self._rows.get(row.url) or row
        self._sites.look_for_withdrawal(row, self._step.time)
        self._rows.put(row)
        return row

    def rests(self, row: PageRow, value: VisitValue) -> bool:
        """Whether a page waits: a file that hardly changes, or one that its sitemap covers."""
        if row.index >= INDEX and not value.due:
            return self._sites.is_mapped(row.url, self._step.time)
        return self.is_idle_file(row, value) or self._is_silent(row, value)

    def is_idle_file(self, row: PageRow, value: VisitValue) -> bool:
        """Whether a page is a file that has hardly changed."""
        idle = value.chance < self._settings.least_file and not value.due
        return idle and row.kind is PageKind.FILE

    def _is_silent(self, row: PageRow, value: VisitValue) -> bool:
        """Whether a correct sitemap reports no change of a page, and a change is not likely.

        If few pages changed, the wanted recall would require visits of all others.
        """
        if value.due or value.chance >= self._settings.least_silent:
            return False
        return self._sites.is_silent(row, self._step.time)

    def _proved(self, value: VisitValue, row: PageRow) -> VisitValue:
        """Return the value of a page that a source announced, by the accuracy of that source.

        The value has this accuracy as its least chance, whatever the class forecasts: after a long
        wait, the false hints of three months would explain any hint.
        """
        right = self._sites.proved(row)
        if right < _RIGHT:
            return value
        best = max(value.value, right * row.weight)
        return value._replace(value=best, chance=max(value.chance, right))

    def _overflows(self, row: PageRow, shown: ShownRow) -> bool:
        """Whether new links would slip through the list if it had to wait for the next step."""
        wait = (self._step.time - row.last_visit) / DAY + self._step.every
        return overflows(shown.window, self._ranking.arrivals_a_day(row), wait)
