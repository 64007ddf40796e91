"""Samples of classes of which little is known, and second fetches of what looked changed.

All other pages: by the value of a visit, and a random sample that measures the recall.
"""

from string import ascii_lowercase

import pytest

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_rate.events import section_of
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.phases.phase import ValueOutcome
from nacre.planner.phases.samples import (
    MoreSamples,
    PagesByValue,
    SampleDraws,
    Samples,
    SecondFetches,
)
from nacre.planner.slices import ROWS
from nacre.planner.step import random_sample
from nacre.planner.visited import DigestJudge
from tests.planner.phases.scene import (
    NOW,
    SITE,
    Scene,
    chosen,
    page,
    paths,
    slices,
    valued,
    whole,
)


def _samples(scene: Scene) -> Samples:
    draws = SampleDraws(NOW)
    for row in scene.rows.scan():
        draws.take(row)
    return Samples(draws, scene.pages, scene.valuation, scene.sites, scene.step)


def _unseen(count: int, name: str = "page{}.html", kind: PageKind = PageKind.PAGE) -> list[PageRow]:
    return [page(name.format(number), kind, evidence=b"", visits=1) for number in range(count)]


def test_a_few_pages_of_a_class_of_which_nothing_is_known_are_visited() -> None:
    result = chosen(_samples(Scene(*_unseen(500))), room=10_000)
    assert len(result.visits) == 200
    assert {(one.reason, one.propensity) for one in result.visits} == {("sample", 0.4)}
    assert all(0.0 < one.chance < 1.0 for one in result.visits)


def test_samples_are_those_with_the_smallest_numbers_of_all() -> None:
    rows = _unseen(3_000)
    result = chosen(_samples(Scene(*rows)), room=10_000)
    urls = sorted((row.url for row in rows), key=lambda url: random_sample(url, NOW))
    assert [one.url for one in result.visits] == urls[:200]
    assert result.visits[0].propensity == pytest.approx(200 / 3_000)


def test_a_class_that_wants_one_more_page_has_one_sampled() -> None:
    known = [page(f"page{number}.html") for number in range(500, 699)]
    assert len(chosen(_samples(Scene(*_unseen(300), *known)), room=10_000).visits) == 1


def test_no_more_of_a_class_is_remembered_than_could_be_wanted() -> None:
    draws, counts = SampleDraws(NOW), []
    for row in _unseen(1_300):
        draws.take(row)
        counts.append(len(draws._unknown[section_of(row)]))
    assert (max(counts), counts[798], counts[799]) == (799, 799, 400)
    assert counts[1_198] == 799
    assert counts[1_199] == 400


def test_of_many_classes_each_has_four_samples() -> None:
    rows = [row for name in ascii_lowercase for row in _unseen(9, f"{name}/page{{}}.html")]
    rows += [row for name in ascii_lowercase for row in _unseen(9, f"{name}{name}/page{{}}.html")]
    assert len(chosen(_samples(Scene(*rows)), room=10_000).visits) == 4 * 52


def test_what_was_compared_or_chosen_in_the_step_counts() -> None:
    rows = _unseen(300)
    scene = Scene(*rows)
    scene.step.compared[section_of(rows[0])] = 150
    found = chosen(_samples(scene), room=10_000)
    assert len(found.visits) == 50
    scene.step.take(found.visits[:10])
    again = chosen(_samples(scene), room=10_000)
    assert not {one.url for one in again.visits} & scene.step.done


def test_what_speaks_for_no_others_is_not_sampled() -> None:
    """Lists, what was never visited, what a source told of, what is gone from the rows."""
    rows = [
        *(page(f"a{number}", evidence=b"", index=INDEX) for number in range(5)),
        *(page(f"b{number}", evidence=b"", visits=0) for number in range(5)),
        *(page(f"c{number}", evidence=b"", told=("feed",)) for number in range(5)),
        *(page(f"d{number}.png", PageKind.EMBED, evidence=b"") for number in range(5)),
    ]
    scene = Scene(*rows)
    assert chosen(_samples(scene), room=10_000).visits == []
    draws = SampleDraws(NOW)
    draws.take(page("unknown", evidence=b""))
    lost = Samples(draws, scene.pages, scene.valuation, scene.sites, scene.step)
    assert chosen(lost, room=10_000).visits == []


def test_samples_take_a_tenth_of_the_room_at_most() -> None:
    assert len(chosen(_samples(Scene(*_unseen(500))), room=100).visits) == 10


def test_what_is_known_of_a_class_already_counts() -> None:
    known = [page(f"page{number}.html") for number in range(500, 700)]
    assert chosen(_samples(Scene(*_unseen(300), *known)), room=10_000).visits == []


def test_of_attached_files_that_will_hardly_change_none_is_sampled() -> None:
    scene = Scene(*_unseen(50, "file{}.pdf", PageKind.FILE))
    assert chosen(_samples(scene), room=10_000).visits == []


def test_of_files_that_may_change_ten_are_tried_and_more_when_one_did() -> None:
    scene = Scene(*_unseen(100, "file{}.pdf", PageKind.FILE), least_file=0.0)
    samples = _samples(scene)
    first = chosen(samples, room=10_000)
    assert len(first.visits) == 10
    scene.step.take(first.visits)
    more = MoreSamples(samples, scene.pages, scene.step)
    assert chosen(more, room=10_000).visits == []
    row = scene.rows.get(first.visits[0].url)
    assert row is not None
    row.last_change = NOW
    assert len(chosen(more, room=10_000).visits) == 10


def test_where_a_sitemap_is_believed_its_pages_are_one_class() -> None:
    rows = [*_unseen(300, "a{}.html"), *_unseen(300, "b/{}.html")]
    scene = Scene(*rows)
    scene.sites.read_map(SITE + "map.xml", NOW)
    result = chosen(_samples(scene), room=10_000)
    assert len(result.visits) == 20
    assert {path[0] for path in paths(result)} == {"a", "b"}


def test_a_site_of_which_a_sitemap_tells_may_have_one_page_of_a_kind() -> None:
    scene = Scene(page("one.html", evidence=b"", visits=1))
    scene.sites.read_map(SITE + "map.xml", NOW)
    assert paths(chosen(_samples(scene), room=10_000)) == ["one.html"]


def test_a_page_that_changed_has_more_of_its_site_sampled_where_a_sitemap_is_believed() -> None:
    rows = _unseen(300, "a{}.html")
    scene = Scene(*rows)
    scene.sites.read_map(SITE + "map.xml", NOW)
    samples = _samples(scene)
    first = chosen(samples, room=10_000)
    assert len(first.visits) == 20
    scene.step.take(first.visits)
    changed = scene.rows.get(first.visits[3].url)
    assert changed is not None
    changed.last_change = NOW
    assert len(chosen(MoreSamples(samples, scene.pages, scene.step), room=10_000).visits) == 40
    site = scene.sites._site(SITE)
    site.watched = 39
    again = chosen(MoreSamples(samples, scene.pages, scene.step), room=10_000)
    assert len(again.visits) == 1


def test_of_a_small_site_a_tenth_is_sampled_at_once_and_four_pages_at_least() -> None:
    for count, size in ((20, 4), (100, 10), (115, 12)):
        scene = Scene(*_unseen(count, "a{}.html"))
        scene.sites.read_map(SITE + "map.xml", NOW)
        assert len(chosen(_samples(scene), room=10_000).visits) == size


def test_many_of_a_class_are_drawn_at_random_within_bounds() -> None:
    draws = SampleDraws(NOW)
    for row in _unseen(2_000):
        draws.take(row)
    assert len(draws._unknown[section_of(_unseen(1)[0])]) < 800


class _Unsure(DigestJudge):
    """A judge that learns from three second fetches of a site."""

    def pairs_wanted(self, url: str) -> int:
        return 3


def _pairs(scene: Scene, *starts: str) -> SecondFetches:
    return SecondFetches(starts, 0, scene.scheduled, scene.judge, scene.step)


def test_pages_that_looked_changed_are_fetched_again_as_long_as_that_teaches() -> None:
    scene = Scene(judge=_Unsure())
    scene.step.looked_changed += [SITE + str(number) for number in range(5)]
    result = chosen(_pairs(scene))
    assert paths(result, "pair") == ["0", "1", "2"]
    assert result.again == {SITE + str(number) for number in range(3)}
    scene.step.take(result.visits)
    assert paths(chosen(_pairs(scene))) == ["3", "4"]


@pytest.mark.parametrize(
    ("room", "least", "most"), [(10, 0, 1), (70, 2, 3), (99, 2, 3), (100, 3, 3)]
)
def test_second_fetches_have_a_share_of_a_tight_budget(room: int, least: int, most: int) -> None:
    scene = Scene(judge=_Unsure())
    scene.step.looked_changed += [SITE + str(number) for number in range(5)]
    pairs = SecondFetches((), 100, scene.scheduled, scene.judge, scene.step)
    assert least <= len(paths(chosen(pairs, room=room))) <= most


def test_what_may_be_noise_is_fetched_again_first() -> None:
    scene = Scene()
    scene.step.unconfirmed.note(SITE + "doubt", 7, lambda: None)
    scene.step.looked_changed.append(SITE + "sure")
    assert paths(chosen(_pairs(scene))) == ["doubt"]


def test_what_may_be_noise_takes_three_of_a_hundred_visits_and_two_at_least() -> None:
    scene = Scene()
    for number in range(9):
        scene.step.unconfirmed.note(f"{SITE}{number}", 1 + number, lambda: None)
    assert len(paths(chosen(_pairs(scene), room=10))) == 2
    assert len(paths(chosen(_pairs(scene), room=200))) == 6
    assert len(paths(chosen(_pairs(scene), room=1))) == 1


def test_pages_under_a_schedule_are_not_fetched_twice() -> None:
    class _All:
        def governs(self, url: str) -> bool:
            return url.endswith("ruled")

    scene = Scene(judge=_Unsure())
    scene.step.looked_changed += [SITE + "ruled", SITE + "free"]
    pairs = SecondFetches((), 0, _All(), scene.judge, scene.step)  # type: ignore[arg-type]
    assert paths(chosen(pairs)) == ["free"]


@pytest.mark.parametrize(("room", "kept"), [(1_000, 6), (100, 3), (10, 0)])
def test_a_part_of_a_tight_budget_is_kept_for_second_fetches(room: int, kept: int) -> None:
    scene = Scene(judge=_Unsure())
    assert _pairs(scene, SITE, "http://b.test/").reserve(room) == kept


QUIET = observe(NO_EVIDENCE, 900.0, changed=False)


def _by_value(scene: Scene) -> PagesByValue:
    pairs = SecondFetches((), 0, scene.scheduled, scene.judge, scene.step)
    return PagesByValue(
        scene.pages, scene.valuation, scene.embeds, pairs, scene.settings, scene.step
    )


def test_the_most_valuable_visits_come_first_and_the_budget_bounds_them() -> None:
    rows = [page(f"p{number}", weight=float(number)) for number in range(1, 9)]
    result = chosen(_by_value(Scene(*rows, lots=0.0)), room=3)
    assert paths(result) == ["p8", "p7", "p6"]
    assert result.value is not None
    assert result.value.tight
    assert result.value.least > 0.0
    everything, found = result.value.expected
    assert 1.0 < found < everything < 8.0


def test_with_room_for_all_the_wanted_recall_ends_the_choice() -> None:
    rows = [page(f"hot{number}") for number in range(20)]
    rows += [page(f"cold{number}", evidence=QUIET) for number in range(50)]
    result = chosen(_by_value(Scene(*rows, lots=0.0, recall=0.9)), room=1_000)
    assert all(path.startswith("hot") for path in paths(result))
    assert result.value is not None
    assert not result.value.tight


def test_a_part_of_a_budget_is_kept_only_where_it_does_not_do_for_all() -> None:
    rows = [page(f"p{number}") for number in range(100)]
    for room, count in ((100, 100), (99, 96)):
        scene = Scene(*rows, judge=_Unsure(), lots=0.0, recall=1.0, least=0.0)
        pairs = _pairs(scene, SITE)
        by_value = PagesByValue(
            scene.pages, scene.valuation, scene.embeds, pairs, scene.settings, scene.step
        )
        result = whole(by_value, room=room)
        assert len(result.visits) == count
        assert result.value is not None
        assert result.value.tight is (room < 100)


def test_what_a_choice_by_value_came_to() -> None:
    rows = [page(name) for name in "abcd"]
    scene = Scene(*rows, lots=0.0, recall=1.0, least=0.0)
    valued(scene, {"a": (5.0, 0.5), "b": (4.0, 0.25), "c": (3.0, 0.125), "d": (2.0, 0.125)})
    scene.step.found = 2.0
    result = chosen(_by_value(scene), room=2)
    assert result.value == ValueOutcome((3.0, 2.75), 4.0, tight=True)
    full = chosen(_by_value(scene), room=4)
    assert full.value == ValueOutcome((3.0, 3.0), 2.0, tight=False)
    assert chosen(_by_value(Scene(lots=0.0))).value == ValueOutcome((0.0, 0.0), 0.0, tight=False)


def test_files_of_which_something_is_known_compete_with_pages() -> None:
    file = page("file.pdf", PageKind.FILE)
    scene = Scene(file, lots=0.0)
    valued(scene, {"file.pdf": (1.0, 0.5)})
    assert paths(chosen(_by_value(scene))) == ["file.pdf"]
    assert scene.embeds.batch(10).visits == []


def test_the_random_sample_has_its_room_beside_the_choice_by_value() -> None:
    """A part is kept back as soon as values and sample together do not find room."""
    count = 400
    rows = [page(f"p{number}") for number in range(count)]
    scene = Scene(*rows, judge=_Unsure(), lots=1.0, recall=1.0, least=0.0)
    valued(scene, {f"p{number}": (1.0 + number, 0.5) for number in range(count)})
    pairs = _pairs(scene, SITE)
    by_value = PagesByValue(
        scene.pages, scene.valuation, scene.embeds, pairs, scene.settings, scene.step
    )
    sample = [row for row in rows if random_sample(row.url, NOW) < 0.03]
    assert 5 < len(sample) < 25
    result = whole(by_value, room=count)
    assert paths(result, "rate")[0] == "p399"
    assert len(paths(result, "rate")) == count - len(sample) - 3
    assert len(result.visits) <= count


def test_of_a_single_page_the_share_of_the_budget_is_that_of_a_page() -> None:
    drawn = next(f"p{number}" for number in range(1_000)
                 if random_sample(f"{SITE}p{number}", NOW) < 0.1)  # fmt: skip
    row = page(drawn, evidence=QUIET)
    result = chosen(_by_value(Scene(row, lots=1.0, least=1.0)), room=10)
    assert [(one.reason, one.propensity) for one in result.visits] == [("lot", 0.3)]


def test_a_budget_of_nothing_chooses_nothing() -> None:
    result = chosen(_by_value(Scene(page("a"), page("b"), lots=0.0, recall=1.0)), room=0)
    assert result.visits == []


def test_what_is_sampled_and_chosen_is_visited_once() -> None:
    rows = [page(f"p{number}") for number in range(300)]
    result = whole(_by_value(Scene(*rows, lots=1.0, recall=1.0)), room=20_000)
    urls = [one.url for one in result.visits]
    assert len(urls) == len(set(urls)) == 300


def test_what_leads_into_traps_is_left_out_once_their_share_is_used_up() -> None:
    scene = Scene(page("calendar/1"), page("left"), lots=1.0)
    scene.traps.is_shut = lambda row: "calendar" in row.url  # type: ignore[method-assign]
    assert paths(chosen(_by_value(scene))) == ["left"]


def test_the_rows_are_looked_through_in_slices() -> None:
    scene = Scene(*(page(f"p{number}") for number in range(4 * ROWS)), lots=0.0)
    assert 4 <= slices(_by_value(scene)) < 20


def test_what_was_chosen_and_what_was_never_visited_is_left_to_others() -> None:
    scene = Scene(page("done"), page("new", visits=0, evidence=b""), page("left"), lots=0.0)
    scene.step.done.add(SITE + "done")
    assert paths(chosen(_by_value(scene))) == ["left"]


def test_pages_left_out_are_sampled_at_random() -> None:
    rows = [page(f"cold{number}", evidence=QUIET) for number in range(300)]
    result = chosen(_by_value(Scene(*rows, lots=0.1, least=1.0)), room=5_000)
    sample = [one for one in result.visits if one.reason == "lot"]
    assert 15 < len(sample) < 50
    assert {one.propensity for one in sample} == {0.1}


def test_under_a_tight_budget_the_sample_takes_three_of_a_hundred() -> None:
    rows = [page(f"p{number}") for number in range(400)]
    result = chosen(_by_value(Scene(*rows, lots=0.5)), room=100)
    assert 0 < len(paths(result, "lot")) < 12


def test_embeds_and_files_without_evidence_are_left_to_their_phase() -> None:
    embed = page("style.css", PageKind.EMBED)
    file = page("file.pdf", PageKind.FILE, evidence=b"")
    scene = Scene(embed, file, lots=0.0)
    assert paths(chosen(_by_value(scene))) == []
    assert [one.url for one in scene.embeds.batch(10).visits] == [embed.url]


def test_a_page_that_its_sitemap_names_no_more_is_told_of() -> None:
    row = page("gone", listed=NOW - 9.0, lastmod="2020-01-01")
    scene = Scene(row, lots=0.0)
    scene.sites.read_map(SITE + "map.xml", NOW - 9.0)
    scene.sites.read_map(SITE + "map.xml", NOW)
    assert paths(chosen(_by_value(scene)), "told") == ["gone"]


def test_what_a_step_has_shown_so_far_counts_for_all_of_a_class() -> None:
    rows = [page(f"news/{number}.html", evidence=b"") for number in range(40)]
    quiet, lively = Scene(*rows, lots=0.0), Scene(*rows, lots=0.0)
    for number in range(30):
        row = lively.rows.get(f"{SITE}news/{number}.html")
        assert row is not None
        row.evidence = observe(NO_EVIDENCE, 0.5, changed=True)
        lively.step.touched[row.url] = None
    for scene in (quiet, lively):
        scene.step.done |= {f"{SITE}news/{number}.html" for number in range(30)}
    before, after = chosen(_by_value(quiet)).value, chosen(_by_value(lively)).value
    assert before is not None
    assert after is not None
    assert after.expected[0] > 3 * before.expected[0]
