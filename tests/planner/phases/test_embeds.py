"""Embeds and files: asked for again by the rate of their class, by signs, and now and then."""

from string import ascii_lowercase

import pytest

from nacre.core.pagerow import PageKind, PageRow
from nacre.core.urlshape import shaped
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_rate.rates import (
    NO_EVIDENCE,
    PAGES,
    Classes,
    chance_of_change,
    observe,
)
from nacre.planner.phases import embeds
from nacre.planner.phases.embeds import SMALL, Embeds, EmbedSigns, Folder
from nacre.planner.ranking import VisitValue
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.slices import ROWS
from nacre.planner.step import PlannerInputs, Step
from nacre.planner.visited import DigestJudge, MemoryRows, VisitFinding
from tests.history.visits import Link, Visit
from tests.planner.phases.scene import LIVELY, Scene, chosen, page, paths, slices, valued

DAY = 86_400.0
NOW = 1_767_571_200.0
EVIDENCE = b"seen again"


def _row(path: str, kind: PageKind = PageKind.EMBED, **more: object) -> PageRow:
    url = f"http://a.test/{path}"
    facts = {"visits": 1, "last_visit": NOW - 7 * DAY, **more}
    return PageRow(url, kind, shaped(url).name, **facts)  # type: ignore[arg-type]


class _World:
    """Signs with some rows, at the beginning of a step."""

    def __init__(self, *rows: PageRow, **said: object) -> None:
        settings = RecrawlSettings.model_validate(said)
        self.rows, self.step = MemoryRows(), Step()
        known = PlannerInputs(self.rows, Sites(), DigestJudge(), settings)
        self.step.begin(NOW)
        self.signs = EmbedSigns(known, self.step)
        for row in rows:
            self.rows.put(row)
            self.signs.take(row)

    def page(self, *links: str, kind: ChangeClass = ChangeClass.MAJOR, visits: int = 2) -> None:
        """A page is visited."""
        shown = [Link(f"http://a.test/{link}", "E") for link in links]
        visit = Visit("http://a.test/p.html", NOW, 200, "", "text/html", 0, shown, bytes)
        row = _row("p.html", PageKind.PAGE, visits=visits)
        self.signs.saw(row, visit, VisitFinding(Answer.THERE, kind))

    def look(self, path: str, *, changed: bool) -> None:
        """An embed is visited again."""
        row = self.rows.get(f"http://a.test/{path}")
        assert row is not None
        row.visits, row.last_visit = row.visits + 1, NOW
        row.last_change = NOW if changed else row.last_change
        visit = Visit(row.url, NOW, 200, "", "", 0, (), bytes)
        self.signs.saw(row, visit, VisitFinding(Answer.THERE))

    def batch(self, room: int = 1000) -> list[str]:
        """Paths of the next visits, which are made."""
        result = self.signs.batch(room)
        self.step.done |= result.left_out
        chosen = result.visits
        self.step.take(chosen)
        return [one.url.removeprefix("http://a.test/") for one in chosen]

    def reasons(self, room: int = 1000) -> set[str]:
        return {one.reason for one in self.signs.batch(room).visits}


def _folder(count: int, visits: int = 1) -> list[PageRow]:
    """Embeds of one folder, of each of which something is known already."""
    names = [ascii_lowercase[number % 26] * (1 + number // 26) for number in range(count)]
    return [_row(f"_static/{name}.css", evidence=EVIDENCE, visits=visits) for name in names]


def test_a_page_that_changed_leads_to_what_it_needs_and_what_lies_beside() -> None:
    world = _World(*_folder(6))
    assert world.batch() == []
    world.page("_static/c.css")
    found = world.batch()
    assert found[0] == "_static/c.css"
    assert len(found) == len(set(found)) == 6
    assert world.batch() == []


@pytest.mark.parametrize(
    ("kind", "visits"), [(ChangeClass.NOISE, 2), (ChangeClass.MARKUP, 2), (ChangeClass.MAJOR, 1)]
)
def test_noise_and_first_visits_are_no_signs(kind: ChangeClass, visits: int) -> None:
    world = _World(*_folder(6))
    world.page("_static/c.css", kind=kind, visits=visits)
    assert world.batch() == []


def test_other_boilerplate_is_a_sign() -> None:
    world = _World(*_folder(6))
    world.page("_static/c.css", kind=ChangeClass.TEMPLATE)
    assert len(world.batch()) == 6


def test_something_new_beside_it_is_a_sign() -> None:
    world = _World(*_folder(6))
    world.page("_static/brand-new.css")
    assert len(world.batch()) == 6


def test_a_large_folder_is_looked_through_as_long_as_that_pays() -> None:
    world = _World(*_folder(60))
    world.page("_static/c.css")
    first = world.batch()
    assert len(first) == SMALL
    for path in first:
        world.look(path, changed=path == first[0])
    second = world.batch()
    assert len(second) == 2 * SMALL
    for path in second:
        world.look(path, changed=False)
    assert world.batch() == []


def test_one_that_changed_leads_to_those_beside_it() -> None:
    world = _World(*_folder(6))
    world.look("_static/a.css", changed=False)
    assert world.batch() == []
    world.step.done.add("http://a.test/_static/b.css")
    world.look("_static/b.css", changed=True)
    assert len(world.batch()) == 5
    assert world.signs.take_news()
    assert not world.signs.take_news()


def test_a_folder_where_signs_led_to_nothing_is_believed_less() -> None:
    world = _World(*_folder(20, visits=12))
    world.page("_static/c.css")
    assert world.batch() == ["_static/c.css"]


def test_files_are_asked_for_where_a_changed_page_leads_to_them() -> None:
    files = [_row(f"_sources/{name}.txt", PageKind.FILE, evidence=EVIDENCE) for name in "abcdefgh"]
    world = _World(*files)
    world.page("_sources/a.txt", "_sources/b.txt")
    found = world.batch()
    assert sorted(found) == ["_sources/a.txt", "_sources/b.txt"]


def test_a_few_of_each_class_that_was_never_looked_at_again() -> None:
    rows = [_row(f"img/{number}.jpg") for number in range(50)]
    world = _World(*rows, *_folder(3))
    assert len(world.batch()) == 2
    assert world.batch() == []


def test_a_small_budget_takes_no_samples() -> None:
    world = _World(*[_row(f"img/{number}.jpg") for number in range(50)])
    assert world.batch(room=49) == []


def _bid(row: PageRow, chance: float) -> VisitValue:
    return VisitValue(chance, chance, row.url, due=False, reason="rate")


def test_embeds_that_likely_changed_are_asked_for_the_likeliest_first() -> None:
    rows = _folder(4)
    world = _World(*rows)
    for row, chance in zip(rows, (0.01, 0.2, 0.12, 0.5), strict=True):
        world.signs.claim(row, _bid(row, chance))
    assert world.batch() == ["_static/d.css", "_static/b.css", "_static/c.css"]


def test_the_floor_of_embeds_is_their_own() -> None:
    row = _row("img/a.jpg", evidence=EVIDENCE, last_visit=NOW - 366 * DAY)
    for floor, reasons in ((365 * DAY, {"floor"}), (400 * DAY, set())):
        world = _World(row, embed_floor=floor)
        world.signs.claim(row, _bid(row, 0.0))
        assert world.reasons() == reasons


def test_those_that_are_alike_are_judged_once() -> None:
    rows = [_row(f"img/{number}.jpg") for number in range(3)]
    world = _World(*rows)
    assert not world.signs.is_idle(rows[1])
    world.signs.claim(rows[0], _bid(rows[0], 0.001))
    assert world.signs.is_idle(rows[1])
    other = _row("img/9.jpg", last_visit=NOW - 90 * DAY)
    assert not world.signs.is_idle(other)
    within_a_day = _row("img/8.jpg", last_visit=NOW - 7.4 * DAY)
    assert world.signs.is_idle(within_a_day)


def test_a_sign_of_another_process_is_found_again() -> None:
    changed = _row("_static/z.css", visits=2, last_visit=NOW, last_change=NOW, evidence=EVIDENCE)
    world = _World(*_folder(6), changed)
    world.step.done.add(changed.url)
    assert len(world.batch()) == 6


def test_a_tight_budget_keeps_a_little_back() -> None:
    world = _World(*_folder(6))
    assert world.signs.reserve(500) == 0
    world.page("_static/c.css")
    assert world.signs.reserve(500) == 10


def test_a_name_with_another_checksum_behind_it_by_now_is_left_alone() -> None:
    old = [
        _row(f"_static/{name}", first_seen=NOW - 30 * DAY, evidence=EVIDENCE)
        for name in ("a.css?v=12ab", "b.css?v=77", "c.css", "menu.php?id=3")
    ]
    new = [_row("_static/a.css?v=34cd", first_seen=NOW - 7 * DAY, evidence=EVIDENCE)]
    world = _World(*old, *new)
    world.page("_static/c.css")
    found = world.batch()
    assert sorted(found) == [
        "_static/a.css?v=34cd", "_static/b.css?v=77", "_static/c.css", "_static/menu.php?id=3",
    ]  # fmt: skip
    assert world.batch() == []


def test_versions_that_were_seen_at_once_are_all_in_use() -> None:
    rows = [
        _row(f"_static/a.css?v={number}", first_seen=NOW - DAY, evidence=EVIDENCE)
        for number in range(2)
    ]
    world = _World(*rows)
    world.page("_static/a.css?v=0")
    assert len(world.batch()) == 2


def _chance(name: str, days: float, changed: int = 0, same: int = 0) -> float:
    """Of one of a class of which some were visited again after as many days."""
    seen = [number < changed for number in range(changed + same)]
    rows = [
        _row(f"{number}{name}", evidence=observe(NO_EVIDENCE, days, changed=bit))
        for number, bit in enumerate(seen)
    ]
    classes = Classes(lambda row: row.evidence, PAGES)
    classes.fit(rows)
    return chance_of_change(classes.posterior(_row(f"999{name}")), days)


def test_scripts_are_taken_to_change_and_images_not() -> None:
    least = RecrawlSettings().least_embed
    assert _chance(".css", 7.0) > least
    assert _chance(".css", 7.0, same=10) < least
    assert _chance(".jpg", 91.0) < least / 2


def test_a_single_change_does_not_bring_back_thousands_of_images() -> None:
    least = RecrawlSettings().least_embed
    assert _chance(".jpg", 91.0, changed=1, same=17) < least
    assert _chance(".jpg", 91.0, changed=9, same=9) > least


def test_what_is_remembered_of_a_site_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more folders than that, those with a sign stay, and it is followed."""
    monkeypatch.setattr(embeds, "_FOLDERS", 20)
    monkeypatch.setattr(embeds, "_NAMED", 50)
    names = [f"{one}{two}" for one in ascii_lowercase for two in ascii_lowercase[:10]]
    signed = {"last_visit": NOW, "last_change": NOW, "visits": 2, "evidence": EVIDENCE}
    rows = [
        _row(f"{name}/a.css?v=1", **(signed if name == "bc" else {"evidence": b""}))
        for name in names
    ]
    signs = _World(*rows, _row("bc/b.css", evidence=EVIDENCE)).signs
    held = (signs._folders, signs._newest, signs._unknown)
    assert [len(each) for each in held] == [pytest.approx(30, abs=10), 50, 50]
    assert "http://a.test/bc/b.css" in {one.url for one in signs.batch(1000).visits}


def test_folders_are_forgotten_as_soon_as_there_are_twice_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embeds, "_FOLDERS", 20)
    names = [f"{one}{two}" for one in ascii_lowercase for two in ascii_lowercase]
    signs = _World(*(_row(f"{name}/a.css") for name in names[:40])).signs
    assert len(signs._folders) == 40
    signs.take(_row(f"{names[40]}/a.css"))
    assert len(signs._folders) == 21


@pytest.mark.parametrize(
    ("looked", "changes", "looks"), [(8, 0, 9), (8, 1, SMALL), (7, 0, SMALL), (20, 0, 4)]
)
def test_a_folder_is_believed_by_its_past(looked: int, changes: int, looks: int) -> None:
    """After sixteen second visits; one change in twenty of them is enough for all looks."""
    rows = _folder(20)
    for row in rows[:looked]:
        row.visits = 3
    rows[0].changes = changes
    world = _World(*rows)
    world.page("_static/c.css")
    assert len(world.batch()) == looks


def test_the_last_of_a_budget_goes_to_the_first_folders() -> None:
    world = _World(*_folder(6), *(_row(f"img/{name}.png", evidence=EVIDENCE) for name in "abc"))
    world.page("_static/c.css")
    world.page("img/a.png")
    assert len(world.batch(room=5)) == 5
    assert world.batch(room=0) == []


def test_the_least_chance_is_enough() -> None:
    row = _folder(1)[0]
    world = _World(row)
    world.signs.claim(row, _bid(row, RecrawlSettings().least_embed))
    assert world.batch() == ["_static/a.css"]


def test_what_was_chosen_or_claimed_twice_is_visited_once() -> None:
    rows = _folder(3)
    world = _World(*rows)
    for row in (*rows, rows[2]):
        world.signs.claim(row, _bid(row, 0.5))
    world.step.done.add(rows[0].url)
    assert sorted(world.batch()) == ["_static/b.css", "_static/c.css"]
    world.signs.claim(rows[1], None)
    assert world.batch() == []


def test_samples_are_taken_where_there_is_room_for_them() -> None:
    rows = [_row(f"img{name}/x{name}.jpg") for name in ascii_lowercase]
    assert len(_World(*rows).batch(room=1_500)) == 26
    assert len(_World(*rows).batch(room=500)) == 10
    looked = [_row(f"imga/y{number}.jpg", evidence=EVIDENCE) for number in range(2)]
    assert len(_World(*rows, *looked).batch(room=1_500)) == 25


def _phase(scene: Scene) -> Embeds:
    return Embeds(scene.embeds, scene.pages, scene.valuation, scene.step)


def test_what_changed_in_the_step_speaks_for_all_of_its_class() -> None:
    rows = [page(f"css/{number}.css", PageKind.EMBED, evidence=b"", visits=1) for number in (1, 2)]
    other = page("news.html")
    scene = Scene(*rows, other)
    for row in rows:
        scene.embeds.take(row)
    assert chosen(_phase(scene), room=40).visits == []
    scene.step.done.add(rows[0].url)
    rows[0].visits, rows[0].last_visit, rows[0].last_change = 2, NOW, NOW
    rows[0].evidence = LIVELY
    scene.step.touched[rows[0].url] = None
    visit = Visit(rows[0].url, NOW, 200, "", "text/css", 0, (), bytes)
    valued(scene, {"css/2.css": (1.0, 0.5), "css/1.css": (1.0, 0.5), "news.html": (1.0, 0.9)})
    scene.embeds._folders.clear()
    scene.embeds.saw(rows[0], visit, VisitFinding(Answer.THERE, ChangeClass.MAJOR))
    scene.embeds._folders.clear()
    result = chosen(_phase(scene), room=40)
    assert paths(result) == paths(result, "rate") == ["css/2.css"]
    scene.step.take(result.visits)
    assert chosen(_phase(scene), room=40).visits == []


def test_the_rows_are_looked_through_in_slices() -> None:
    rows = [page(f"css/{number}.css", PageKind.EMBED) for number in range(3 * ROWS)]
    scene = Scene(*rows)
    visit = Visit(rows[0].url, NOW, 200, "", "text/css", 0, (), bytes)
    rows[0].last_change = NOW
    scene.embeds.saw(rows[0], visit, VisitFinding(Answer.THERE))
    scene.embeds._folders.clear()
    assert 4 <= slices(_phase(scene)) < 20


def test_references_to_a_folder_are_counted_up_to_a_bound() -> None:
    folder = Folder(PageKind.EMBED)
    for number in range(3_000):
        folder.refer(f"http://a.test/{number}.png")
    folder.refer("http://a.test/5.png")
    assert len(folder.direct) == 1_000
    assert folder.next(set(), 1) == ["http://a.test/5.png"]


def test_files_of_which_their_class_alone_speaks_are_tried_with_a_few() -> None:
    files = [_row(f"doc/{number}.pdf", PageKind.FILE) for number in range(100)]
    seen = _row("doc/seen.pdf", PageKind.FILE, evidence=EVIDENCE)
    due = [_row(f"doc/due{number}.pdf", PageKind.FILE) for number in range(30)]
    world = _World(*files, seen, *due)
    for row in (*files, seen):
        world.signs.claim(row, _bid(row, 0.2))
    for row in due:
        world.signs.claim(row, _bid(row, 0.0)._replace(due=True, reason="floor"))
    first = world.batch()
    assert len(first) == 20 + 1 + 30
    assert "doc/seen.pdf" in first
    assert world.batch() == []
