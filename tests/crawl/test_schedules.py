"""Pages under a schedule are visited when they are due, over several passes; new links at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.core.pagerow import TimingRow
from nacre.inspect.analysis.page_history import forget
from nacre.inspect.explain.next_visits import NextVisits
from nacre.inspect.view import reading
from nacre.job.continuous import PassesWhenDue
from nacre.machine.layout import Layout
from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.runs.passes import next_pass
from nacre.runs.runs import all_runs
from nacre.store.store import Store
from tests.crawl.again import again, first, settings
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.77"
PAGE = "<html><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p>{2}</body></html>"
TEXT = "Once upon a time there was page {0}, and it said little more than that."


def write(site: Path, name: str, text: str, *links: str) -> None:
    site.mkdir(exist_ok=True, parents=True)
    anchors = "".join(f'<a href="{link}">To {link}</a> ' for link in links)
    (site / name).write_text(PAGE.format(name, text, anchors))


def small(site: Path) -> None:
    names = ["a.html", "b.html", "c.html"]
    write(site, "index.html", "Where all begins.", *names)
    for name in names:
        write(site, name, TEXT.format(name))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, folder / "site", directives="open_file_cache off;")
    with serving([server], folder / "nginx"):
        yield f"http://{ADDRESS}:{port}/index.html"


def visited(job: Path) -> list[dict[str, str]]:
    """Of each run, names and why they were visited."""
    runs: dict[int, dict[str, str]] = {}
    with Store.open(str(job / "state/store"), read_only=True) as store:
        for row in fetch_rows(store):
            runs.setdefault(row.run, {})[row.url.rpartition("/")[2]] = row.wanted
    return [runs.get(number, {}) for number in range(1, max(runs) + 1)]


def timing(job: Path, name: str) -> TimingRow:
    with Store.open(str(job / "state/store"), read_only=True) as store:
        pages = PageStore(store)
        url = next(row.url for row in pages.scan() if row.url.endswith(name))
        found = pages.timing(url)
    assert found is not None
    return found


def passes(job: Path, seed: str, days: list[float], schedule: dict[str, Any], **more: Any) -> None:
    for day in days:
        assert again(job, seed, day, recrawl={"schedule": schedule, "probes": 0}, **more)


ALL = {"index.html", "a.html", "b.html", "c.html"}


def test_a_fixed_interval(tmp_path: Path) -> None:
    """Weekly; a pass in between visits nothing, and finds new links only where it looks."""
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    with served(tmp_path) as seed:
        first(job, seed)
        passes(job, seed, [6.9, 7.1, 13.9], {"kind": "fixed"})
        write(site, "a.html", TEXT.format("a"), "d.html")
        write(site, "d.html", TEXT.format("d"))
        passes(job, seed, [14.2, 20.0, 21.3], {"kind": "fixed"})
    runs = visited(job)
    assert runs[1] == {}
    assert runs[2] == dict.fromkeys(ALL, "due")
    assert runs[3] == {}
    assert runs[4] == {**dict.fromkeys(ALL, "due"), "d.html": "new"}
    assert runs[5] == {}
    assert runs[6] == dict.fromkeys(ALL | {"d.html"}, "due")
    assert timing(job, "d.html").interval == 7 * 86_400


def test_nutch_adaptive(tmp_path: Path) -> None:
    """Rates of the code: 0.2 both; one page changes at each visit, one is gone, two rest."""
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    nutch = {"interval": "10d", "inc_rate": 0.2, "sync_delta": False}
    schedule = {"kind": "nutch-adaptive", "nutch": nutch}
    with served(tmp_path) as seed:
        first(job, seed)
        (site / "c.html").unlink()
        for number, day in enumerate([9.9, 10.1, 18.0, 18.2, 22.0, 22.2, 25.2]):
            write(
                site, "a.html", f"It is something else altogether, time and again: {number * 'x'}."
            )
            passes(job, seed, [day], schedule)
    runs = visited(job)
    assert runs[1] == {}
    assert runs[2] == dict.fromkeys(ALL, "due")
    # Changed: 8 days on; unchanged: 12; gone: 15.
    assert runs[3] == {}
    assert runs[4] == {"a.html": "due"}
    assert runs[5] == {}
    assert runs[6] == {"index.html": "due", "b.html": "due"}
    assert runs[7] == {"a.html": "due", "c.html": "due"}
    days = {name: timing(job, name).interval / 86_400 for name in ALL}
    assert days == pytest.approx(
        {"a.html": 5.12, "b.html": 14.4, "index.html": 14.4, "c.html": 22.5}, abs=0.001
    )


def test_some_sites_by_the_clock_and_others_by_worth(tmp_path: Path) -> None:
    """Sheets tell them apart; the planner still visits what it wants of the others."""
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    for name in ("x.html", "y.html"):
        write(site / "old", name, TEXT.format(name))
    write(
        site, "index.html", "Where all begins.", *ALL - {"index.html"}, "old/x.html", "old/y.html"
    )
    with served(tmp_path) as seed:
        first(job, seed)
        place = seed.replace("index.html", "old/")
        sheets = {"weekly": {"recrawl.schedule.kind": "fixed"}}
        by_sheet = [{"surts": [place], "sheets": ["weekly"]}]
        for day in (3.0, 7.1, 8.0):
            again(job, seed, day, sheets=sheets, sheet_associations=by_sheet,
                  recrawl={"probes": 0, "recall": 1.0, "least": 0.0})  # fmt: skip
    runs = visited(job)
    assert [run.keys() & {"x.html", "y.html"} for run in runs[1:]] == [
        set(), {"x.html", "y.html"}, set(),
    ]  # fmt: skip
    assert runs[2]["x.html"] == "due"
    assert runs[1]["index.html"] == "start"
    assert all(run.keys() >= ALL for run in runs)


def test_due_pages_within_a_budget_come_in_order_of_their_time(tmp_path: Path) -> None:
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    schedule = {"kind": "fixed", "interval": "1d"}
    with served(tmp_path) as seed:
        first(job, seed)
        for day in (1.5, 2.0, 2.6):
            again(job, seed, day, budget="2", recrawl={"schedule": schedule, "probes": 0})
    runs = visited(job)
    assert [len(run) for run in runs[1:]] == [2, 2, 2]
    assert runs[1].keys() | runs[2].keys() == ALL
    assert runs[3].keys() == runs[1].keys()


def test_times_survive_a_rebuild_and_their_loss(tmp_path: Path) -> None:
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    schedule = {"kind": "heritrix"}
    with served(tmp_path) as seed:
        first(job, seed)
        passes(job, seed, [0.6], schedule)
        before = timing(job, "a.html")
        with Store.open(str(job / "state/store")) as store:
            forget(store)
        passes(job, seed, [0.7], schedule)
        assert timing(job, "a.html") == before
        with Store.open(str(job / "state/store")) as store:
            forget(store)
            for key, _ in list(store.scan("pages", b"n", b"o")):
                store.delete("pages", key)
            store.commit()
        passes(job, seed, [0.8], schedule)
        again_read = timing(job, "a.html")
    assert visited(job)[2:] == []
    assert again_read.visited == pytest.approx(before.visited, abs=1.0)
    assert (again_read.interval, again_read.mime) == (before.interval, before.mime)


def test_a_signature_decides_what_changed(tmp_path: Path) -> None:
    """By the paper's digest a new menu is nothing; by MD5 it is a change."""
    kinds = {}
    for signature in ("paper", "md5"):
        folder = tmp_path / signature
        site, job = folder / "site", folder / "job"
        small(site)
        with served(folder) as seed:
            first(job, seed)
            page = (site / "a.html").read_text()
            (site / "a.html").write_text(page.replace("</body>", "<div>Another menu</div></body>"))
            again(job, seed, 40, keep="lean", recrawl={"recall": 1.0, "least": 0.0, "probes": 0},
                  change={"signature": signature})  # fmt: skip
        with Store.open(str(job / "state/store"), read_only=True) as store:
            rows = [row for row in fetch_rows(store) if row.url.endswith("/a.html")]
        kinds[signature] = [(row.kind, row.reason) for row in rows]
    assert kinds["paper"] == [("new", "payload"), ("noise", "paper")]
    assert kinds["md5"][1][0] in {"minor", "major"}
    assert kinds["md5"][1][1] == "md5"


DAY = 86_400.0


def layout(job: Path) -> Layout:
    """The job's directories; commands want a file of its settings there."""
    (job / "crawl.yaml").write_text("{}\n")
    return Layout(job)


def started(job: Path) -> float:
    """When the last run began, by its clock."""
    with Store.open(str(job / "state/store"), read_only=True) as store:
        return list(all_runs(store))[-1].started


def test_the_next_pass_begins_when_the_next_page_is_due(tmp_path: Path) -> None:
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    recrawl = {"schedule": {"kind": "fixed"}, "probes": 0, "gap": "1h"}
    with served(tmp_path) as seed:
        first(job, seed)
        passes = PassesWhenDue(layout(job), settings(seed, recrawl=recrawl))
        # Nothing is known so far: the first pass, which reads the WARCs, need not wait.
        assert passes.begins(5.0) == (5.0, "")
        again(job, seed, 1, recrawl=recrawl)
        began = started(job)
        following = passes.following(began, began + 60.0)
        assert following is not None
        assert following.time == pytest.approx(began + 6 * DAY, abs=60.0)
        assert following.reason.endswith("fixed, 7 d after the last visit")
        assert passes.begins(began + 60.0) == following
        with Store.open(str(job / "state/store"), read_only=True) as store:
            assert next_pass(store) == following
        # What is due already waits for the smallest gap.
        late = passes.following(began + 9 * DAY, began + 9 * DAY + 60.0)
        assert late is not None
        assert late.time == began + 9 * DAY + 3600.0
        again(job, seed, 2, recrawl=recrawl)
    with Store.open(str(job / "state/store"), read_only=True) as store:
        assert next_pass(store) is None


def test_a_budget_of_the_day_is_kept_by_all_passes_together(tmp_path: Path) -> None:
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    recrawl = {"schedule": {"kind": "fixed", "interval": "1h"}, "probes": 0, "gap": "1m"}
    with served(tmp_path) as seed:
        first(job, seed)
        for day in (1.0, 1.1, 1.2, 2.05):
            again(job, seed, day, budget="6/day", recrawl=recrawl)
        passes = PassesWhenDue(layout(job), settings(seed, recrawl=recrawl), "6/day")
        now = started(job) + 60.0
        following = passes.following(now - 60.0, now)
    assert [len(run) for run in visited(job)[1:]] == [4, 2, 0, 4]
    assert following is not None
    # The pass of day 1.1 made two visits, that of 2.05 four: room again a day after the former.
    assert following.time == pytest.approx(now - 60.0 + 0.05 * DAY, abs=90.0)
    assert "budget of 6/day" in following.reason


def test_the_planner_says_when_a_page_is_due_and_why(tmp_path: Path) -> None:
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    recrawl = {"probes": 0, "recall": 0.8, "gap": "1h"}
    with served(tmp_path) as seed:
        first(job, seed)
        for day in (3, 6, 9, 12):
            write(site, "a.html", f"It is something else altogether, time and again: {day * 'x'}.")
            again(job, seed, day, recrawl=recrawl)
        plan = settings(seed, recrawl=recrawl)
        with reading(layout(job), plan) as view:
            upcoming = NextVisits(view, started(job))
            due = {name: upcoming.of(seed.replace("index.html", name)) for name in ALL}
            assert upcoming.of("http://nowhere.test/") is None
            ranked = upcoming.first(2)
        following = PassesWhenDue(layout(job), plan).following(started(job), started(job) + 60.0)
    assert due["a.html"] is not None
    assert due["b.html"] is not None
    assert due["a.html"].time < due["b.html"].time
    assert "worth" in due["a.html"].reason
    assert ranked[0].time <= ranked[1].time
    assert following is not None
    assert started(job) + 3600.0 <= following.time <= started(job) + DAY + 3600.0


def test_a_seed_under_a_schedule_keeps_its_own_scope(tmp_path: Path) -> None:
    """Its new links are followed only as far as the seed itself says."""
    site, job = tmp_path / "site", tmp_path / "job"
    small(site)
    write(site / "deep", "index.html", "Below.", "x.html")
    write(site / "deep", "x.html", TEXT.format("x"))
    with served(tmp_path) as home:
        seed = f"{home.replace('index.html', 'deep/index.html')} scope=prefix"
        first(job, seed)
        write(
            site / "deep",
            "index.html",
            "Below, and there is more now.",
            "x.html",
            "y.html",
            "../c.html",
        )
        write(site / "deep", "y.html", TEXT.format("y"))
        passes(job, seed, [8.0], {"kind": "fixed"})
    runs = visited(job)
    assert set(runs[0]) == {"index.html", "x.html"}
    assert runs[1] == {"index.html": "due", "x.html": "due", "y.html": "new"}
