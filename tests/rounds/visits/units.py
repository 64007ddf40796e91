"""A list of URLs in memory, and a job that fetches it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nacre.core.history import HistoryRecord
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.rounds.visits.page_links import LinkFact, LinksByNumber
from nacre.rounds.visits.session_unit import SessionUnit, UnitHost, UnitTask, UnitUri
from nacre.rounds.visits.unit_visits import UnitOptions, VisitFact, VisitFacts
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.parse import host


class Listed:
    """A `UnitList` of URLs."""

    def __init__(
        self,
        urls: Sequence[str],
        *,
        known: Sequence[UnitHost] = (),
        history: dict[str, HistoryRecord] | None = None,
        path: str = "",
        done: Sequence[str] = (),
    ) -> None:
        self._urls = list(urls)
        self._known = known
        self._history = history or {}
        self._path = path
        self._done = done
        self.asked: list[int] = []

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(host(url) for url in self._urls)

    def fetched(self, key: str) -> bool:
        return key in self._done

    def known_hosts(self) -> Sequence[UnitHost]:
        return self._known

    def portion(self, start: int, number: int) -> list[UnitUri | None]:
        self.asked.append(start)
        return [
            None
            if url in self._done
            else UnitUri(url, path=self._path, history=self._history.get(url))
            for url in self._urls[start : start + number]
        ]


def unit_job(
    root: Path,
    uris: Listed,
    options: UnitOptions | None = None,
    beside: Sequence[UnitTask] = (),
    **sections: object,
) -> Job:
    """A job that fetches a list without delays, within one host; `beside`: its further tasks."""
    settings = {
        "name": "unit",
        "seeds": [],
        "scope": [{"rule": "reject"}, {"rule": "matches-regex", "regex": r"http://127\.0\.0\.1.*"}],
        "politeness": {"delay": 0.0, "in_flight": 4},
        "network": {"allow": ["127.0.0.0/8"]},
        "frontier": {"max_retries": 1},
        "extract": {"infer_favicon": False},
    }
    chosen = JobSettings.model_validate({**settings, **sections})
    return Job(root, chosen, unit=SessionUnit(uris, options or UnitOptions(), beside))


def facts_of(root: Path) -> list[VisitFact]:
    """The rows that a job has, in order."""
    with Store.open(str(Layout(root).store), memory=16_000_000) as store:
        facts = VisitFacts(store)
        return list(facts.rows(facts.next))


def links_of(facts: Iterable[VisitFact]) -> dict[str, list[LinkFact]]:
    """The links of rows in their order, by the URL of the page."""
    links: list[LinkFact] = []
    book = LinksByNumber(links.extend)
    return {fact.url: [links[place] for place in book.places(fact.links)] for fact in facts}
