"""A crawl that never ends: the next pass begins when the next page is due."""

from typing import NamedTuple

from nacre.history.pagestore import PageStore
from nacre.history.schedule.timing import NEVER
from nacre.job.configuration.settings import JobSettings
from nacre.job.explaining.upcoming import Upcoming
from nacre.job.layout import Layout
from nacre.job.offline import View, reading
from nacre.job.runrow import RunRow
from nacre.job.runs.budget import UNLIMITED, affordable, parse_budget
from nacre.job.runs.following import Following, note_pass
from nacre.job.runs.newrun import ended, spent_by
from nacre.job.runs.runs import is_over, read_run
from nacre.store.store import Store

_NEARLY = 0.9


class WhenDue(NamedTuple):
    """Passes as pages become due, and as the budget of the day allows.

    Attributes:
        layout: The job's directories.
        settings: Its settings.
        budget: See `parse_budget`; "" for none.
    """

    layout: Layout
    settings: JobSettings
    budget: str = ""

    def following(self, began: float, now: float) -> Following | None:
        """See `passes.Passes`; it is noted, for `nacre status`."""
        with reading(self.layout, self.settings) as view:
            found = self._found(view, began, now)
            last = read_run(view.store)
        if found is None or last is None:
            return found
        with Store.open(str(self.layout.store), memory=self.settings.store.memory) as store:
            note_pass(store, last, found)
            store.commit()
        return found

    def begins(self, now: float) -> Following | None:
        """When the first pass begins: where one ran already, as if it had just ended."""
        with reading(self.layout, self.settings) as view:
            last = read_run(view.store)
            known = next(PageStore(view.store).scan(), None) is not None
            waits = last is not None and is_over(last) and not last.fresh and known
        return self.following(last.started, now) if waits and last else Following(now)

    def _found(self, view: View, began: float, now: float) -> Following | None:
        last = read_run(view.store)
        soonest = max(now, min(began, now) + self.settings.recrawl.gap)
        affordable_at = affordable(parse_budget(self.budget), ended(view.store), now)
        left = last is not None and _is_spent(last, view.store)
        due = Upcoming(view, now).earliest(max(soonest, affordable_at), left=left)
        if due is None or due.time == NEVER:
            return None
        why = f"{due.url}: {due.why}" if due.url else due.why
        if affordable_at > max(soonest, due.time):
            return Following(affordable_at, f"the budget of {self.budget} is spent until then")
        return Following(max(soonest, affordable_at, due.time), why)


def _is_spent(last: RunRow, store: Store) -> bool:
    """The last run has spent its budget, nearly: it may have left new pages over."""
    budget = parse_budget(last.budget)
    spent = spent_by(store, last).plus(last.before).of(budget.unit)
    return budget.amount < UNLIMITED and spent >= _NEARLY * budget.amount
