"""`nacre recrawl --continuous`: the next pass begins when the next page is due."""

from typing import NamedTuple

from nacre.inspect.explain.next_visits import NextVisits
from nacre.inspect.view import View, reading
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.planner.schedules.schedules import NEVER
from nacre.recrawl.pagestore import PageStore
from nacre.runs.budget import UNLIMITED, affordable, parse_budget
from nacre.runs.passes import NextPass, note_pass
from nacre.runs.runs import RunRow, ended_runs, is_over, read_run, spent_by
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

_NEARLY = 0.9


class PassesWhenDue(NamedTuple):
    """Passes as pages become due, and as the budget of the day allows.

    Attributes:
        layout: The job's directories.
        settings: Its settings.
        budget: See `parse_budget`; "" for none.
    """

    layout: Layout
    settings: JobSettings
    budget: str = ""

    def following(self, began: float, now: float) -> NextPass | None:
        """See `PassSchedule`; the pass is noted, for `nacre status`."""
        with reading(self.layout, self.settings) as view:
            coming = self._find_pass(view, began, now)
            last = read_run(view.store)
        if coming is None or last is None:
            return coming
        settings = self.settings.store
        with Store.open(str(self.layout.store), memory=settings.memory) as store:
            note_pass(store, last, coming)
            store.commit()
        return coming

    def begins(self, now: float) -> NextPass | None:
        """The start of the first pass: after an earlier pass, as if it had just ended."""
        with reading(self.layout, self.settings) as view:
            last = read_run(view.store)
            has_pages = next(PageStore(view.store).scan(), None) is not None
            waits = last is not None and is_over(last) and not last.fresh and has_pages
        return self.following(last.started, now) if waits and last else NextPass(now)

    def _find_pass(self, view: View, began: float, now: float) -> NextPass | None:
        last = read_run(view.store)
        recrawl = self.settings.recrawl
        soonest = max(now, min(began, now) + recrawl.gap)
        affordable_at = affordable(parse_budget(self.budget), ended_runs(view.store), now)
        is_spent = last is not None and _is_spent(last, view.store)
        due = NextVisits(view, now).earliest(max(soonest, affordable_at), is_spent=is_spent)
        if due is None or due.time == NEVER:
            return None
        reason = due.reason
        if due.url:
            reason = message("job.url-and-reason", "{url}: {why}", url=due.url, why=due.reason)
        if affordable_at > max(soonest, due.time):
            return NextPass(
                affordable_at,
                message(
                    "job.budget-spent",
                    "the budget of {budget} is spent until then",
                    budget=self.budget,
                ),
            )
        return NextPass(max(soonest, affordable_at, due.time), reason)


def _is_spent(last: RunRow, store: Store) -> bool:
    """The last run has spent its budget, nearly: it may have left new pages over."""
    budget = parse_budget(last.budget)
    spent = spent_by(store, last).plus(last.before).of(budget.unit)
    return budget.amount < UNLIMITED and spent >= _NEARLY * budget.amount
