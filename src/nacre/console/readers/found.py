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
from nacre.core.message_data import to_builtins
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.seeding.seedbook import listed_rows, redirect_targets
from nacre.frontier.pending import matcher
from nacre.inspect.analysis.page_history import found_by, page
from nacre.inspect.explain.explain import Explainer
from nacre.inspect.reports.crawl_summary import CrawlSummaryReport
from nacre.inspect.reports.seed_outcomes import SeedOutcome, SeedOutcomes, SeedState
from nacre.report.statistics import CrawlTotals, totals
from nacre.runs.runs import RunRow, all_runs
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
        self.targets = redirect_targets(store)
        self.total = sum(1 for _ in listed_rows(store))


def list_seeds(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A page of seeds, in the order of the list.

    Args:
        layout: The job.
        arguments: `state`: a `SeedState`, `not crawled`, or "" for all; `re`: expression in the
            URL; `limit`; `after`: number of seeds before the page.
    """
    state = str(arguments["state"])
    if state not in {"", _NOT_CRAWLED, *_STATES}:
        names = ", ".join((_NOT_CRAWLED, *sorted(_STATES)))
        raise RefusedRequestError(400, "bad-query", f"there is no state {state}; there are {names}")
    first, limit = int(arguments["after"]), int(arguments["limit"])
    urls = matcher(str(arguments.get("re", "")))
    with VIEWS.looking(layout, _since(arguments)) as view:
        seeds: _SeedView = view.once("seeds", lambda: _SeedView(view))
        budget, found, place = ScanBudget(), list[dict[str, Any]](), first
        more = False
        for row in islice(listed_rows(view.store), first, None):
            if len(found) == limit or budget.spent:
                more = True
                break
            place += 1
            if not urls(row.url):
                continue
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
    item = to_builtins(end)
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
            "explanation": to_builtins(explained),
            "visits": [_plain(visit) for visit in history.get("visits", ())],
            "as_of": iso(view.as_of),
        }


def _plain(visit: dict[str, Any]) -> dict[str, Any]:
    """A visit with the fields that a page shows."""
    shown = {name: visit[name] for name in ("run", "verdict", "status")}
    time = iso(visit["time"]) if visit["time"] else ""
    return {"time": time, "size": visit["bytes"], **shown}


def list_runs(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A page of the runs, the newest first, with what each got and found.

    Args:
        layout: The job.
        arguments: `limit`: most runs; `after`: number of the run behind which it begins; 0 for the
            newest one.
    """
    limit, after = int(arguments["limit"]), int(arguments["after"])
    with VIEWS.looking(layout, _since(arguments)) as view:
        rows = [row for row in all_runs(view.store) if not row.fresh]
        older = [row for row in reversed(rows) if not after or row.number < after]
        found = []
        for row in older[:limit]:
            is_last = row is rows[-1]
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
                    "got": _got(totals(view.store)) if is_last else _got_before(layout, row),
                    "found": found_by(view.store, row) if row.number > 1 else {},
                    "closed": row.closed,
                }
            )
        following = found[-1]["number"] if len(older) > limit else None
        return {"items": found, "next": following, "as_of": iso(view.as_of)}


def _got(tally: CrawlTotals) -> dict[str, int]:
    """The replies and failures of the last run by kind."""
    return {
        "documents": tally.documents, "errors": tally.errors, "redirects": tally.redirects,
        "unchanged": tally.unchanged, "failed": tally.failed_pages,
    }  # fmt: skip


_KEPT: Final[Mapping[str, str]] = {
    "documents": "documents",
    "errors": "error_replies",
    "redirects": "redirects",
    "unchanged": "not_modified_uris",
    "failed": "failed_pages",
}
_LARGE: Final = 1 << 20


def _got_before(layout: Layout, row: RunRow) -> dict[str, int]:
    """The same of an earlier run, from the summary that it left; {} where that cannot be read.

    The store has the counts of the last run alone.
    """
    path = layout.run(row.name) / "reports" / CrawlSummaryReport.file
    try:
        with path.with_suffix(".json").open("rb") as file:
            numbers = msgspec.json.decode(file.read(_LARGE), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return {}
    values = {name: numbers.get(key) for name, key in _KEPT.items()}
    return {name: value for name, value in values.items() if isinstance(value, int)}
