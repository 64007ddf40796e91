"""The value of a visit counts hints, lists, schedules of sitemaps, and traps.

New URLs that differ in idle parameters alone wait, when that is wanted, and few are tested.
"""

from collections.abc import Iterable
from hashlib import sha1

import pytest
from msgspec.structs import replace

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.planner.discovery.hints import HintSource, HintTrust
from nacre.planner.discovery.index_pages import INDEX, Shown
from nacre.planner.phases.valuation import IdleParameters, TrapShare
from nacre.planner.planner import Planner
from nacre.planner.ranking import VisitValue
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import ShownRow, Sites
from nacre.planner.slices import ROWS, at_once
from nacre.planner.step import Choice
from nacre.planner.visited import DigestJudge, MemoryRows
from tests.history.visits import Link, Visit
from tests.planner.phases.scene import DAY, NOW, SITE, Scene, page

QUIET = observe(NO_EVIDENCE, 900.0, changed=False)


def _value(scene: Scene, row: PageRow) -> VisitValue:
    found = scene.valuation.of(row)
    assert found is not None
    return found


def _trust(scene: Scene, source: HintSource, told: float, false: float) -> None:
    scene.sites._site(SITE).trust[str(source)] = HintTrust(told=told, false=false)


def test_a_source_that_proved_right_is_believed_to_that_degree() -> None:
    row = page("told", evidence=QUIET, told=("listing",))
    scene = Scene(row)
    before = _value(scene, row).chance
    _trust(scene, HintSource.LISTING, 90.0, 10.0)
    assert before < 0.8 < _value(scene, row).chance
    assert _value(scene, row).value >= 0.8
    row.weight = 2.0
    assert _value(scene, row).value > 1.6


@pytest.mark.parametrize(("told", "believed"), [(50.0, True), (49.0, False), (9.0, False)])
def test_a_source_is_believed_that_was_right_as_often_as_not(told: float, believed: bool) -> None:
    """The value does not change where it was wrong more often, or hardly tried."""
    row = page("told", evidence=QUIET, told=("listing",))
    scene = Scene(row)
    _trust(scene, HintSource.LISTING, told, 0.0 if told == 9.0 else 50.0)
    right = scene.sites.proved(row)
    assert (right >= 0.5) is believed
    assert (_value(scene, row).chance >= 0.5) is believed


def test_without_hints_no_source_is_heard() -> None:
    row = page("told", evidence=QUIET, told=("listing",))
    scene = Scene(row, hints=False)
    assert _value(scene, row).chance < 0.1
    assert scene.valuation.quiet(row) == b""


def test_a_list_that_would_overflow_is_due() -> None:
    row = page("list/", index=0.9, arrivals=observe(NO_EVIDENCE, 0.1, changed=True))
    scene = Scene(row)
    scene.sites.keep_list(row.url, ShownRow(Shown(), NOW - 7 * DAY, window=2))
    found = _value(scene, row)
    assert (found.due, found.reason) == (True, "window")


def test_a_later_page_of_a_list_that_only_repeats_others_is_worth_little() -> None:
    row = page("list/index_2.html", index=0.9)
    scene = Scene(row)
    first = _value(scene, row).value
    scene.sites.keep_list(row.url, ShownRow(Shown(), NOW - 7 * DAY, settled=3))
    assert _value(scene, row).value < first


def test_pages_of_which_a_proven_sitemap_is_silent_rest() -> None:
    row = page("quiet", evidence=QUIET, lastmod="2020-01-01", listed=NOW)
    other = page("unlisted", evidence=QUIET)
    scene = Scene(row, other)
    scene.sites.read_map(SITE + "map.xml", NOW)
    site = scene.sites._site(SITE)
    site.watched = 20
    _trust(scene, HintSource.SITEMAP, 50.0, 0.0)
    rests = scene.valuation.rests
    assert rests(row, _value(scene, row))
    assert rests(row, _value(scene, row)._replace(chance=0.049))
    assert not rests(row, _value(scene, row)._replace(chance=0.05))
    assert not rests(other, _value(scene, other))
    assert not rests(row, _value(scene, row)._replace(due=True))


def test_files_that_hardly_change_rest_but_for_the_floor() -> None:
    row = page("file.pdf", PageKind.FILE, evidence=QUIET)
    scene = Scene(row)
    value = _value(scene, row)
    assert scene.valuation.rests(row, value)
    assert not scene.valuation.rests(row, value._replace(due=True))
    assert not scene.valuation.rests(row, value._replace(chance=0.5))


def test_what_was_put_while_the_rows_were_read_is_not_overwritten() -> None:
    row = page("gone", listed=NOW - 9.0, lastmod="2020-01-01")
    scene = Scene(row)
    scene.sites.read_map(SITE + "map.xml", NOW - 9.0)
    scene.sites.read_map(SITE + "map.xml", NOW)
    scene.rows.put(page("gone", listed=NOW - 9.0, lastmod="2020-01-01", visits=9))
    found = scene.valuation.withdrawn(row)
    assert (found.visits, found.told) == (9, ("sitemap",))
    assert scene.rows.get(row.url) is found
    dead = page("dead", life="gone", listed=NOW - 9.0, lastmod="2020-01-01")
    assert scene.valuation.withdrawn(dead) is dead
    assert dead.told == ()


def test_a_list_that_its_sitemap_replaces_rests() -> None:
    row, other = page("list/", index=0.9), page("b/", index=0.9)
    scene = Scene(row, other)
    assert not scene.valuation.rests(row, _value(scene, row))
    scene.sites.read_map(SITE + "map.xml", NOW)
    assert scene.valuation.rests(row, _value(scene, row))
    assert not scene.valuation.rests(row, _value(scene, row)._replace(due=True))


def test_a_list_that_its_sitemap_replaces_never_overflows() -> None:
    row = page("list/", index=0.9, arrivals=observe(NO_EVIDENCE, 0.1, changed=True))
    scene = Scene(row)
    scene.sites.keep_list(row.url, ShownRow(Shown(), NOW - 7 * DAY, window=2))
    assert _value(scene, row).reason == "window"
    scene.sites.read_map(SITE + "map.xml", NOW)
    assert _value(scene, row).reason != "window"


def test_values_of_many_come_in_slices_without_what_is_new_or_shut() -> None:
    rows = [page(f"p{number}") for number in range(3 * ROWS)]
    scene = Scene(*rows)
    every = [*rows, page("new", visits=0)]
    assert sum(1 for _ in scene.valuation.of_all(every)) == 4
    values = at_once(scene.valuation.of_all(every))
    assert [one.url for one in values] == [row.url for row in rows]
    scene.traps.is_shut = lambda row: row.url.endswith("7")  # type: ignore[method-assign]
    left = at_once(scene.valuation.of_all(rows))
    assert not [one for one in left if one.url.endswith("7")]


def test_rates_are_brought_up_to_date_in_slices() -> None:
    scene = Scene(*(page(f"p{number}") for number in range(3 * ROWS)))
    scene.step.touched.update((f"{SITE}p{number}", None) for number in range(3 * ROWS))
    scene.step.touched[SITE + "unknown"] = None
    assert 3 <= sum(1 for _ in scene.valuation.update_rates()) < 20


def test_silence_speaks_for_pages_that_nobody_told_of() -> None:
    row = page("quiet", evidence=b"", lastmod="2020-01-01", listed=NOW)
    scene = Scene(row)
    scene.sites.read_map(SITE + "map.xml", NOW)
    _trust(scene, HintSource.SITEMAP, 50.0, 0.0)
    assert scene.valuation.quiet(row)
    for facts in ({"visits": 0}, {"told": ("feed",)}):
        assert scene.valuation.quiet(replace(row, **facts)) == b""


def _endless(trap_share: float = 0.1, count: int = 200) -> tuple[Scene, list[PageRow]]:
    """Pages of a kind without end, which lead on to their like and all say the same."""
    rows = [page(f"endless/{number}.html") for number in range(count)]
    scene = Scene(*rows, trap_share=trap_share)
    for _ in range(50):
        scene.sites.traps.read(rows[0].template, 7, leads=True)
    assert scene.sites.traps.is_endless(rows[0].template)
    scene.traps.begin([])
    return scene, rows


def _visits(rows: Iterable[PageRow], reason: str = "rate") -> list[Choice]:
    return [Choice(row.url, 0.5, reason) for row in rows]


@pytest.mark.parametrize(
    ("share", "room", "known", "let"),
    [
        (0.1, 1_000, 500, 50), (0.1, 300, 5_000, 30), (0.02, 300, 300, 10), (0.0, 300, 300, 0),
        (1.0, 300, 300, 200),
    ],
)  # fmt: skip
def test_traps_take_a_share_of_the_visits(share: float, room: int, known: int, let: int) -> None:
    scene, rows = _endless(trap_share=share)
    admitted = scene.traps.admitted(_visits(rows), room, known)
    assert len(admitted) == let
    assert scene.traps.held == 200 - let
    assert scene.traps.is_shut(rows[0]) is (let < 200)
    assert not scene.traps.is_shut(page("other"))


def test_traps_that_were_visited_do_not_raise_their_own_share() -> None:
    scene, rows = _endless(trap_share=0.1)
    assert len(scene.traps.admitted(_visits(rows[:40]), 1_000, 500)) == 40
    assert len(scene.traps.admitted(_visits(rows[40:]), 960, 500)) == 6, "a tenth of 460"
    assert scene.traps.held == 154


def test_the_share_of_a_step_counts_what_another_process_chose() -> None:
    scene, rows = _endless(trap_share=0.1)
    scene.traps.admitted(_visits(rows), 1_000, 500)
    assert scene.traps.is_shut(rows[0])
    scene.traps.begin(_visits(rows[:45]))
    assert (scene.traps.held, scene.traps.is_shut(rows[0])) == (0, False)
    assert len(scene.traps.admitted(_visits(rows[45:]), 1_000, 545)) == 5
    scene.traps.begin([])
    assert not scene.traps.is_shut(rows[0])


def test_what_the_operator_wants_is_no_trap() -> None:
    scene, rows = _endless(trap_share=0.0)
    for reason in ("start", "due", "pair", "sitemap", "feed"):
        assert len(scene.traps.admitted(_visits(rows, reason), 1_000, 500)) == 200
    other = [page("other")]
    scene.rows.put(other[0])
    assert len(scene.traps.admitted(_visits(other), 1_000, 500)) == 1
    assert len(scene.traps.admitted(_visits([page("unknown")]), 1_000, 500)) == 1


def test_where_there_is_no_trap_all_are_let_through() -> None:
    scene = Scene(*(page(f"calendar/{number}") for number in range(20)), trap_share=0.0)
    wanted = _visits(scene.rows.scan())
    scene.traps.begin(wanted)
    assert scene.traps.admitted(wanted, 10, 20) == wanted


START = 1_767_571_200.0
HOME = "http://a.test/"


class _Site:
    """Ten pages, each linked under some values of `from`, which does not change what they say.

    Attributes:
        values: Of `from`.
        telling: It has a meaning by now.
    """

    def __init__(self) -> None:
        self.pages, self.values, self.telling = 10, ["a", "b"], False

    def urls(self) -> list[str]:
        return [
            f"{HOME}view?from={value}&id={page}"
            for page in range(self.pages)
            for value in self.values
        ]

    def visit(self, url: str, now: float) -> Visit:
        links = [Link(each) for each in self.urls()] if url == HOME else []
        said = url if self.telling else url.partition("&")[2]
        text = repr(links) if url == HOME else f"{said} {sha1(said.encode()).hexdigest()}"
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        return Visit(url, now, 200, digest, "text/html", 10, links, bytes)


def _planner(mode: str) -> Planner:
    said = {"lots": 0.0, "floor": 0, "trap_share": 1.0, "idle_parameters": mode}
    settings = RecrawlSettings.model_validate(said)
    planner = Planner(MemoryRows(), Sites(), DigestJudge(), settings)
    planner.begin([HOME])
    return planner


def _new(planner: Planner, site: _Site, now: float) -> list[Choice]:
    """The new pages of a step."""
    chosen: list[Choice] = []
    while wave := planner.choose(now, 10**6):
        chosen += [one for one in wave if one.reason in {"new", "late"}]
        for one in wave:
            planner.learn(site.visit(one.url, now))
    return chosen


def _settled(mode: str) -> tuple[_Site, Planner]:
    site, planner = _Site(), _planner(mode)
    assert len(_new(planner, site, START)) == 20
    site.values = [f"v{number}" for number in range(200)]
    return site, planner


def test_by_default_all_are_visited() -> None:
    site, planner = _settled("report")
    assert len(_new(planner, site, START + DAY)) == 2_000
    assert planner.repeated == 0


def test_where_it_is_wanted_few_are_and_pages_of_their_own_all() -> None:
    site, planner = _settled("skip")
    site.pages = 12
    found = _new(planner, site, START + DAY)
    repeated = [one for one in found if one.propensity < 1.0]
    assert len(repeated) == pytest.approx(120, rel=0.3)
    assert planner.repeated == 2_398 - len(repeated)
    alone = [one.url.partition("&")[2] for one in found if one.propensity == 1.0]
    assert alone == ["id=10", "id=11"]


def test_a_parameter_that_has_a_meaning_after_all_holds_nothing_back() -> None:
    site, planner = _settled("skip")
    site.telling = True
    tested = len(_new(planner, site, START + DAY))
    assert 0 < tested < 200
    assert len(_new(planner, site, START + 2 * DAY)) == 2_000 - tested


def test_at_even_odds_a_page_counts_as_a_list() -> None:
    row = page("list/", index=INDEX, arrivals=observe(NO_EVIDENCE, 0.1, changed=True))
    scene = Scene(row)
    scene.sites.keep_list(row.url, ShownRow(Shown(), NOW - 7 * DAY, window=2))
    assert _value(scene, row).reason == "window"
    scene.sites.read_map(SITE + "map.xml", NOW)
    assert _value(scene, row).reason != "window"
    assert scene.valuation.rests(row, _value(scene, row)._replace(due=False, chance=1.0))


def test_a_file_at_the_least_chance_does_not_rest() -> None:
    row = page("file.pdf", PageKind.FILE, evidence=QUIET)
    scene = Scene(row)
    value = _value(scene, row)._replace(due=False)
    assert not scene.valuation.is_idle_file(row, value._replace(chance=0.1))
    assert scene.valuation.is_idle_file(row, value._replace(chance=0.099))


def test_nothing_is_held_before_the_first_step() -> None:
    inputs = Scene().inputs
    share = TrapShare(inputs)
    assert (share.held, share.closed, IdleParameters(inputs).held) == (0, False, 0)


def test_idle_parameters_are_looked_for_in_slices() -> None:
    rows = [page(f"view?from={value}&id={number}", digest=f"sha1:{number}")
            for number in range(2 * ROWS) for value in "ab"]  # fmt: skip
    scene = Scene(*rows, idle_parameters="skip")
    assert sum(1 for _ in IdleParameters(scene.inputs).begin()) == 8
