"""Tasks of reader processes on what a job has found: seeds, one URL, runs."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from nacre.config.effective import fixed
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.views import VIEWS, OpenView
from nacre.console.readers.waiting import ScanBudget
from nacre.core.clock import iso
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.seeding.seedbook import seed_rows
from nacre.inspect.analysis.page_history import found_by, page
from nacre.inspect.explain.explain import Explainer
from nacre.inspect.reports.seed_outcomes import SeedOutcome, SeedOutcomes, SeedState
from nacre.report.statistics import totals
from nacre.runs.runs import all_runs
from nacre.store.layout import Layout

MOST_WAITING: Final = 5_000
"""Pending URIs that are looked at for seeds that wait."""
_STATES: Final = frozenset(state.value for state in SeedState)
_NOT_CRAWLED: Final = "not crawled"


def _since(arguments: Mapping[str, Any]) -> float:
    return float(arguments.get("since", 0.0))


class _SeedView:
    """The seeds of a job, looked up as of one view."""

    def __init__(self, view: OpenView) -> None:
        settings, store = view.loaded.settings, view.store
        identity = Identity(canonicalizer(settings.uri), fixed(settings.frontier))
        self.outcomes = SeedOutcomes(store, identity, MOST_WAITING)
        self.targets: dict[str, str] = {}
        self.total = 0
        for row in seed_rows(store):
            if row.redirect_from:
                self.targets[row.redirect_from] = row.url
            else:
                self.total += 1


def list_seeds(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A page of seeds, in the order of the list.

    Args:
        layout: The job.
        arguments: `state`: a `SeedState`, `not crawled`, or "" for all; `limit`; `after`: number of
            seeds before the page.
    """
    state = str(arguments["state"])
    if state not in {"", _NOT_CRAWLED, *_STATES}:
        names = ", ".join((_NOT_CRAWLED, *sorted(_STATES)))
        raise RefusedRequestError(400, "bad-query", f"there is no state {state}; there are {names}")
    first, limit = int(arguments["after"]), int(arguments["limit"])
    with VIEWS.looking(layout, _since(arguments)) as view:
        seeds: _SeedView = view.once("seeds", lambda: _SeedView(view))
        budget, found, place = ScanBudget(), list[dict[str, Any]](), first
        more = False
        for row in islice(
            (one for one in seed_rows(view.store) if not one.redirect_from), first, None
        ):
            if len(found) == limit or budget.spent:
                more = True
                break
            place += 1
            end = seeds.outcomes.of(row, seeds.targets)
            if _is_wanted(end, state):
                found.append(_seed_item(end))
        return {
            "items": found, "next": place if more else None, "searched": budget.looked,
            "total": seeds.total, "as_of": iso(view.as_of),
        }  # fmt: skip


def _is_wanted(end: SeedOutcome, state: str) -> bool:
    if state == _NOT_CRAWLED:
        return end.state is not SeedState.GOT
    return state in {"", end.state.value}


def _seed_item(end: SeedOutcome) -> dict[str, Any]:
    item = msgspec.to_builtins(end)
    item["next_try"] = iso(end.next_try) if end.next_try else ""
    return dict(item)


def explain_url(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """All that is known of a URL: the explanation, and its visits.

    Args:
        layout: The job.
        arguments: `url`; `running`: a process works on the job.

    Raises:
        URIError: That is no URL.
    """
    with VIEWS.looking(layout, _since(arguments)) as view:
        looked = view.view(running=bool(arguments["running"]))
        explainer: Explainer = view.once("explainer", lambda: Explainer(looked))
        explained = explainer.explain(str(arguments["url"]))
        history = page(view.store, explained.same_as or explained.url) or {}
        return {
            "explanation": msgspec.to_builtins(explained),
            "visits": [_plain(visit) for visit in history.get("visits", ())],
            "as_of": iso(view.as_of),
        }


def _plain(visit: dict[str, Any]) -> dict[str, Any]:
    """A visit with the fields that a page shows."""
    return {name: visit.get(name) for name in ("time", "run", "verdict", "status", "size")}


def list_runs(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """All runs, the newest first, with what each found."""
    with VIEWS.looking(layout, _since(arguments)) as view:
        rows = [row for row in all_runs(view.store) if not row.fresh]
        last = totals(view.store)
        found = []
        for row in reversed(rows):
            pages = found_by(view.store, row) if row.number > 1 else {}
            if row is rows[-1] and not pages:
                pages = {
                    "documents": last.documents, "errors": last.errors,
                    "redirects": last.redirects, "failed": last.failed_pages,
                }  # fmt: skip
            found.append(
                {
                    "name": row.name,
                    "number": row.number,
                    "mode": row.mode,
                    "started": iso(row.started),
                    "ended": iso(row.ended) if row.ended else "",
                    "elapsed": row.elapsed,
                    "exit": str(row.exit),
                    "budget": row.budget,
                    "keep": row.keep,
                    "found": pages,
                    "closed": row.closed,
                }
            )
        return {"items": found, "as_of": iso(view.as_of)}
