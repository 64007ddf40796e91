"""The step `dedup`: groups over rounds, pages that change, canonical pages, stale signatures."""

from decimal import Decimal

import pytest

from nacre.cli.cycle.steps import dedup_text
from nacre.crawldb.settings import CycleDedupSettings
from nacre.rounds.steps.dedup import DedupResult, dedup
from nacre.rounds.steps.dedup_files import covers, mark_of
from tests.rounds.made import NOW, found
from tests.rounds.steps.fetched import FetchedCycle
from tests.rounds.visits.test_page_content import read

A, B, C, D = (f"http://{name}.example/" for name in ("a", "b", "c", "d"))
SAME, OTHER = b"s" * 16, b"o" * 16


@pytest.fixture
def cycle(tmp_path):
    made = FetchedCycle(tmp_path)
    made.add(*(found(key, score=Decimal(score)) for score, key in enumerate((D, C, B, A))))
    return made


def looked(cycle, **settings) -> DedupResult:
    with cycle.context() as context:
        return dedup(context, context.settings.cycle.dedup.model_copy(update=settings))


def copies(cycle):
    return {
        one["key"]: one["dup_of"]
        for one in cycle.rows()
        if one["status"] == 7 and one["dup_of"] is not None
    }


def page(key, signature=SAME, **more):
    return {"key": key, "status": 200, "signature": signature, **more}


def test_the_best_page_counts_and_the_others_are_copies_of_it(cycle):
    cycle.visit("s1", page(A), page(B), page(C, OTHER))
    result = looked(cycle)
    assert (result.pages, result.groups, result.marked, result.released) == (2, 1, 1, 0)
    assert copies(cycle) == {B: A}
    assert looked(cycle) == DedupResult(), "nothing is new"


def test_a_page_of_a_later_round_is_compared_with_those_before(cycle):
    cycle.visit("s1", page(B), page(C, OTHER))
    looked(cycle)
    assert copies(cycle) == {}
    cycle.visit("s2", page(A), page(D))
    assert looked(cycle).marked == 2
    assert copies(cycle) == {B: A, D: A}


@pytest.mark.slow
def test_copies_are_released_when_the_page_that_counted_changes(cycle):
    cycle.visit("s1", page(A), page(B), page(C))
    looked(cycle)
    assert copies(cycle) == {B: A, C: A}
    cycle.clock = NOW + 10
    cycle.visit("s2", page(A, OTHER))
    result = looked(cycle)
    assert (result.marked, result.released) == (1, 1)
    assert copies(cycle) == {C: B}
    cycle.visit("s3", {"key": B, "status": 404})
    looked(cycle)
    assert copies(cycle) == {}


def test_a_page_that_was_not_modified_stays_what_it_was(cycle):
    cycle.visit("s1", page(A), page(B))
    looked(cycle)
    cycle.visit("s2", {"key": B, "status": 304})
    looked(cycle)
    assert copies(cycle) == {B: A}


def test_a_stale_row_of_the_index_makes_no_copy(cycle):
    cycle.visit("s1", page(A), page(B, OTHER))
    looked(cycle)
    # The state of B was changed by something that no visit told of.
    cycle.set("state", {"key": B, "status": 3, "fetch_time": NOW, "signature": OTHER})
    cycle.visit("s2", page(C, OTHER))
    assert looked(cycle).marked == 0


def test_hosts_are_apart_where_options_say_so(cycle):
    cycle.add(found("http://a.example/2"))
    cycle.visit("s1", page(A), page(B), page("http://a.example/2"))
    assert looked(cycle, group="host").marked == 1
    assert copies(cycle) == {"http://a.example/2": A}


def test_domains_are_apart_where_options_say_so(cycle):
    cycle.add(found("http://www.a.example/"))
    cycle.visit("s1", page(A), page(B), page("http://www.a.example/"))
    looked(cycle, group="domain")
    assert copies(cycle) == {"http://www.a.example/": A}


@pytest.mark.slow
def test_a_page_that_names_its_canonical_one_is_a_copy_of_it_whatever_its_content(cycle):
    cycle.visit("s1", page(A, OTHER, canonical=C), page(C), page(B), page(D, canonical=D))
    result = looked(cycle, canonical=True)
    assert (result.canonical, result.marked) == (1, 3)
    assert copies(cycle) == {A: C, C: B, D: B}
    # Equal pages of later rounds do not take it from there.
    cycle.add(found("http://e.example/"))
    cycle.visit("s2", page("http://e.example/", OTHER))
    looked(cycle, canonical=True)
    assert copies(cycle)[A] == C
    # Visited again without the declaration it is none.
    cycle.visit("s3", page(A, b"new" * 5))
    looked(cycle, canonical=True)
    assert A not in copies(cycle)


@pytest.mark.slow
def test_all_segments_are_looked_at_again_with_options_that_find_more(cycle):
    cycle.visit("s1", page(A, canonical=B), page(B), page(C, OTHER, canonical=D))
    cycle.visit("s2", page(D, b"d" * 16))
    looked(cycle)
    assert copies(cycle) == {B: A}, "the better page counts, whatever it declares"
    again = looked(cycle, canonical=True)
    assert (again.again, again.segments, again.canonical) == (2, ("s1", "s2"), 2)
    assert (again.marked, again.released) == (2, 1)
    assert copies(cycle) == {A: B, C: D}
    assert dedup_text(again).startswith("2 segments compared again, with other options: ")
    # What was found stays, and is found by what looks for less.
    assert looked(cycle, canonical=True) == DedupResult()
    assert looked(cycle) == DedupResult()
    cycle.add(found("http://e.example/"))
    cycle.visit("s3", page("http://e.example/", b"e" * 16, canonical=D))
    assert looked(cycle).segments == ("s3",)
    assert copies(cycle) == {A: B, C: D}
    assert looked(cycle, canonical=True)[0] == ("s1", "s2", "s3")
    assert copies(cycle) == {A: B, C: D, "http://e.example/": D}


def test_the_newest_declaration_counts_when_all_segments_are_looked_at_again(cycle):
    cycle.visit("s1", page(A, OTHER, canonical=C), page(B, b"b" * 16, canonical=C), page(C))
    looked(cycle)
    cycle.clock += 1000
    cycle.visit("s2", page(A, OTHER), {"key": B, "status": 304}, {"key": D, "status": 404})
    looked(cycle)
    assert looked(cycle, canonical=True).marked == 1
    assert copies(cycle) == {B: C}


@pytest.mark.slow
def test_other_groups_and_another_order_are_chosen_anew(cycle):
    cycle.visit("s1", page(A), page(B))
    cycle.clock += 1000
    cycle.visit("s2", {"key": A, "status": 304}, {"key": B, "status": 304})
    looked(cycle)
    assert copies(cycle) == {B: A}
    assert looked(cycle, group="host").released == 1
    assert copies(cycle) == {}
    cycle.visit("s3", page("http://a.example/longer"), page(C, OTHER))
    looked(cycle, group="host")
    assert copies(cycle) == {"http://a.example/longer": A}
    assert looked(cycle).again == 3
    assert copies(cycle) == {"http://a.example/longer": A, B: A}


@pytest.mark.parametrize(
    ("mark", "settings", "covered"),
    [
        (True, {}, True),
        (True, {"canonical": True}, False),
        (True, {"near": True}, False),
        ({"near": True}, {}, True),
        ({"group": "host"}, {}, False),
        ({"order": ["score"]}, {"order": ("score",)}, True),
        ({"canonical": True}, {"near": True}, False),
    ],
)
def test_options_of_a_mark_that_find_all_that_is_looked_for(mark, settings, covered):
    wanted = CycleDedupSettings(**settings)
    assert covers(mark, wanted) is covered
    assert covers(mark_of(wanted, mark), wanted), "it is marked now"


def test_a_mark_keeps_what_was_found_beside():
    wanted = CycleDedupSettings(near=True)
    assert mark_of(wanted, mark_of(CycleDedupSettings(canonical=True)))["canonical"]
    other = mark_of(CycleDedupSettings(canonical=True, group="host"))
    assert not mark_of(wanted, other)["canonical"]


def test_a_canonical_page_that_is_not_known_changes_nothing(cycle):
    cycle.visit("s1", page(A, canonical="http://unknown.example/"))
    assert looked(cycle, canonical=True).marked == 0


def test_any_number_of_buckets_gives_the_same_copies(tmp_path):
    found_by = []
    for buckets in (1, 16):
        (tmp_path / str(buckets)).mkdir()
        made = FetchedCycle(tmp_path / str(buckets), buckets)
        keys = [f"http://h{number}.example/" for number in range(12)]
        made.add(*(found(key, score=Decimal(number % 5)) for number, key in enumerate(keys)))
        made.visit("s1", *(page(key, bytes([n % 3]) * 16) for n, key in enumerate(keys[:8])))
        looked(made)
        made.visit("s2", *(page(key, bytes([n % 3]) * 16) for n, key in enumerate(keys[8:])))
        looked(made)
        found_by.append(copies(made))
    assert found_by[0] == found_by[1]
    assert len(found_by[0]) > 3


def test_visits_without_a_signature_leave_nothing(cycle):
    cycle.visit("s1", {"key": A, "status": 404})
    result = looked(cycle)
    assert (result.pages, result.version is not None) == (0, True)
    assert looked(cycle) == DedupResult()


def test_nothing_is_committed_when_it_is_dry_and_nothing_is_left_behind(cycle):
    cycle.visit("s1", page(A), page(B))
    before = cycle.newest.number
    with cycle.context(dry=True) as context:
        assert dedup(context, context.settings.cycle.dedup).marked == 1
    assert cycle.newest.number == before
    assert not list(cycle.storage.walk("exchange"))


START = 0x0123456789ABCDEF
NEAR, FAR = START ^ 0b101 ^ (1 << 40), ~START & (2**63 - 1)


def text(key, simhash, signature=None, **more):
    return page(key, signature or key.encode(), simhash=simhash, **more)


@pytest.mark.slow
def test_pages_whose_text_is_almost_that_of_a_better_one_are_copies_over_rounds(cycle):
    cycle.visit("s1", text(B, NEAR), text(C, FAR), text(D, None))
    assert looked(cycle, near=True).near == 0
    cycle.clock = NOW + 10
    cycle.visit("s2", text(A, START))
    result = looked(cycle, near=True)
    assert (result.near, result.marked, result.pages) == (1, 1, 0)
    assert copies(cycle) == {B: A}
    # It is not modified: nothing changes. Then its text is another one, near to C.
    cycle.clock = NOW + 20
    cycle.visit("s3", {"key": A, "status": 304})
    assert looked(cycle, near=True).near == 0
    assert copies(cycle) == {B: A}
    cycle.clock = NOW + 30
    cycle.visit("s4", text(A, FAR ^ 1, b"new"))
    result = looked(cycle, near=True)
    assert (result.near, result.released) == (1, 1)
    assert copies(cycle) == {C: A}


@pytest.mark.slow
def test_near_pages_of_other_hosts_and_copies_for_other_reasons_stay(cycle):
    cycle.visit("s1", text(A, START), text(B, NEAR))
    assert looked(cycle, near=True, group="host").near == 0
    cycle.clock = NOW + 10
    cycle.visit("s2", text(A, START, SAME), text(B, START, SAME), text(C, NEAR))
    result = looked(cycle, near=True, group="none")
    # What has the same content is a copy for that.
    assert (result.pages, result.marked, result.near) == (2, 2, 1)
    assert copies(cycle) == {B: A, C: A}
    cycle.clock = NOW + 20
    cycle.visit("s3", text(D, NEAR ^ (1 << 50)))
    assert looked(cycle, near=True).released == 0
    assert copies(cycle)[B] == A


def test_the_same_chinese_text_in_two_encodings_is_one_page(cycle):
    chinese = "".join(chr(0x4E00 + number * number * 31 % 5_000) for number in range(400))
    said = (
        (A, "utf-8", f"<title>书</title><p>{chinese}</p>"),
        (B, "gbk", f"<title>书</title><div class=x><b>{chinese}</b></div>"),
        (C, "gbk", f"<title>书</title><p>{chinese[::-1]}</p>"),
    )
    pages = {key: read(html, encoding, dedup={"near": True}) for key, encoding, html in said}
    cycle.visit("s1", *(text(key, found.simhash) for key, found in pages.items()))
    assert looked(cycle, near=True).near == 1
    assert copies(cycle) == {B: A}
