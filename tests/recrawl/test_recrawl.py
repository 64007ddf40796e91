"""An incremental run of a small site: what it visits, keeps and learns."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from nacre.core.history import FetchRow
from nacre.engine.counters import NotVisited, not_visited
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.planner.planner import Planner
from nacre.planner.step import Step
from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.runs.runs import plan_run, read_run
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.cli.site import site
from tests.crawl.again import Later, settings

ARTICLE = "<h1>Article {n}</h1><p>{text} This is article number {n}, and it is long enough.</p>"


def _pages() -> dict[str, str]:
    links = "".join(f'<a href="news/{n}.html">Article {n}</a>' for n in range(8))
    pages = {f"/news/{n}.html": ARTICLE.format(n=n, text="As it was.") for n in range(8)}
    return {"/": f'<h1>News</h1>{links}<img src="logo.png">', "/logo.png": "PNG", **pages}


class _Twice:
    """A site, a job that crawled it in full, and incremental runs days later."""

    def __init__(self, root: Path, url: str, pages: dict[str, str]) -> None:
        self.root = root
        self.url = url
        self.pages = pages
        asyncio.run(Job(root, self._settings({})).run())

    def _settings(self, more: Mapping[str, object]) -> JobSettings:
        return settings(self.url, **more)

    def left(self) -> NotVisited:
        """The due pages that the last run did not visit."""
        with Store.open(str(Layout(self.root).store)) as store:
            run = read_run(store)
            assert run is not None
            assert not_visited(store, run.number - 1) == NotVisited()
            return not_visited(store, run.number)

    def again(
        self, days: float, *, keep: str = "strict", budget: str = "", **more: object
    ) -> dict[str, FetchRow]:
        """One more run; its visits by path."""
        clock = Later(days)
        with Store.open(str(Layout(self.root).store)) as store:
            run = plan_run(
                store, Layout(self.root), clock.now(), mode="incremental", keep=keep, budget=budget
            )
        wanted = {"recrawl": {"recall": 1.0, "least": 0.0, **more}}
        assert str(asyncio.run(Job(self.root, self._settings(wanted), clock=clock).run()))
        with Store.open(str(Layout(self.root).store)) as store:
            rows = [row for row in fetch_rows(store) if row.run == run.number]
        rows = [row for row in rows if row.wanted != "pair"]
        return {row.url.removeprefix(self.url): row for row in rows}


@pytest.fixture
def twice(tmp_path: Path) -> Iterator[_Twice]:
    pages = _pages()
    with site(pages) as url:
        yield _Twice(tmp_path / "job", url, pages)


def test_a_run_finds_what_changed_what_is_new_and_what_is_gone(twice: _Twice) -> None:
    twice.pages["/news/1.html"] = ARTICLE.format(n=1, text="Everything is different now.")
    twice.pages["/news/9.html"] = ARTICLE.format(n=9, text="It is new.")
    twice.pages["/"] += '<a href="news/9.html">Article 9</a>'
    del twice.pages["/news/2.html"]
    seen = twice.again(7)
    assert seen["news/1.html"].kind in {"minor", "major"}
    assert seen["news/9.html"].kind == "new"
    assert (seen["news/2.html"].status, seen["news/2.html"].answer) == (404, "missing")
    assert {seen[f"news/{n}.html"].kind for n in (0, 3, 4)} == {"none"}
    with Store.open(str(Layout(twice.root).store)) as store:
        row = PageStore(store).get(f"{twice.url}news/2.html")
    assert row is not None
    assert row.life == "suspect"


def test_what_is_gone_is_looked_at_again_and_counts_then(twice: _Twice) -> None:
    del twice.pages["/news/2.html"]
    twice.again(7)
    seen = twice.again(14)
    assert seen["news/2.html"].wanted == "gone?"
    with Store.open(str(Layout(twice.root).store)) as store:
        row = PageStore(store).get(f"{twice.url}news/2.html")
    assert row is not None
    assert row.life == "gone"


def test_a_budget_bounds_the_visits_of_a_run(twice: _Twice) -> None:
    seen = twice.again(7, budget="4", probes=0)
    assert 1 <= len(seen) <= 5
    left = twice.left()
    assert (left.held, left.repeated) == (0, 0)
    assert left.unvisited >= len(_pages()) - 1 - len(seen)
    twice.again(14, probes=0)
    assert twice.left() == NotVisited()


def test_lean_keeps_a_note_of_what_differs_in_markup_alone(twice: _Twice) -> None:
    twice.pages["/news/3.html"] += "<!-- made by another version -->"
    seen = twice.again(7, keep="lean")
    assert (seen["news/3.html"].kind, seen["news/3.html"].stored) == ("markup", "noted")


def test_what_lean_leaves_out_of_an_event_is_not_met_again(twice: _Twice) -> None:
    event = {f"/news/{n}.html": f"<h1>{n}</h1><p>As it was.</p><p>版本 3.2.3</p>" for n in range(8)}
    for path, page in event.items():
        twice.pages[path] = page.replace("3.2.3", "3.2.1")
    twice.again(7, keep="lean")
    twice.pages.update(event)
    left_out = {path for path, row in twice.again(8, keep="lean").items() if row.stored == "noted"}
    assert len(left_out) >= 3
    page = left_out.pop()
    twice.pages[f"/{page}"] += "<!-- made by another version -->"
    row = twice.again(9, keep="lean")[page]
    assert (row.kind, row.stored) == ("markup", "noted")
    twice.pages[f"/{page}"] += "<p>A paragraph of its own.</p>"
    row = twice.again(10, keep="lean")[page]
    assert (row.reason, row.evidence) == ("text", "+ A paragraph of its own.")


@pytest.mark.parametrize("keep", ["strict", "lean"])
@pytest.mark.parametrize(
    "instead", ["<h1>Verify you are human</h1>", "<h1>An unexpected error has occurred</h1>"]
)
def test_what_comes_in_place_of_a_page_is_stored_and_is_no_version_of_it(
    twice: _Twice, instead: str, keep: str
) -> None:
    page, text = "news/1.html", ARTICLE.format(n=1, text="Open on all days. " * 30)
    twice.pages[f"/{page}"] = text
    assert twice.again(7, keep=keep)[page].kind in {"minor", "major"}
    twice.pages[f"/{page}"] = instead
    row = twice.again(14, keep=keep)[page]
    assert (row.answer, row.stored) == ("silent", "novel")
    twice.pages[f"/{page}"] = f"{text}<!-- made by another version -->"
    assert twice.again(21, keep=keep)[page].kind == "markup"


def test_a_schedule_says_when_its_pages_are_visited(twice: _Twice) -> None:
    weekly = {"kind": "fixed", "interval": "7d"}
    assert "news/1.html" not in twice.again(2, schedule=weekly)
    seen = twice.again(9, schedule=weekly)
    assert seen["news/1.html"].wanted == "due"


def test_made_up_names_are_no_pages(twice: _Twice) -> None:
    del twice.pages["/news/5.html"]
    seen = twice.again(7, probes=1)
    with Store.open(str(Layout(twice.root).store)) as store:
        known = [row.url for row in PageStore(store).scan()]
    assert len(known) == len(_pages())
    assert {row.run for row in seen.values()} == {2}


def test_of_what_the_scope_refuses_now_only_seeds_are_visited(twice: _Twice) -> None:
    with Store.open(str(Layout(twice.root).store)) as store:
        plan_run(store, Layout(twice.root), Later(7).now(), mode="incremental")
    rules = [{"rule": "reject"}]
    clock = Later(7)
    refusing = settings(twice.url, scope=rules)
    asyncio.run(Job(twice.root, refusing, clock=clock).run())
    with Store.open(str(Layout(twice.root).store)) as store:
        assert {row.url for row in fetch_rows(store) if row.run == 2} == {twice.url}


def test_a_run_knows_the_time_of_the_run_before(
    twice: _Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[float, float]] = []
    begin, begin_step = Planner.begin, Step.begin
    lasts: list[float] = []

    def note(
        self: Planner, starts: Sequence[str], last: float = 0.0, marginal: float = 0.0
    ) -> None:
        lasts.append(last)
        begin(self, starts, last, marginal)

    def note_step(self: Step, now: float) -> None:
        begin_step(self, now)
        steps.append((now, self.every))

    monkeypatch.setattr(Planner, "begin", note)
    monkeypatch.setattr(Step, "begin", note_step)
    twice.again(7.0)
    twice.again(21.0)
    assert [round(every) for _, every in steps] == [7, 14]
    assert lasts[1] == steps[0][0]
