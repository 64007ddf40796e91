"""Scores: Nutch's, cash that is conserved to the last unit, depth, orphans, plug-ins."""

import random
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.kernels import Kernel
from nacre.crawldb.scoring import (
    ONE,
    SCORINGS,
    DepthScoring,
    InheritedMetadata,
    LinkShare,
    NutchOpic,
    Opic,
    OrphanScoring,
    PageScore,
    ScoreChange,
    Scoring,
    boost_rule,
    distribute,
    distribute_alike,
    injected,
    orphan_sql,
    sort_columns,
    sort_sql,
    virtual_share,
)

DAY = 86_400_000
SEED = PageScore(score=ONE, depth=1)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (2 / 3, 2 / 3)),
        ({"internal": 0.5}, (1 / 3, 2 / 3)),
        ({"internal": 0.1, "external": 3.0, "count_filtered": True}, (0.02, 0.6)),
    ],
)
def test_a_page_gives_its_score_to_its_links_and_keeps_it(options, expected):
    page = PageScore(score=2 * ONE)
    links, own = distribute([NutchOpic(**options)], page, [True, False, False], 10)
    assert own == (0, 0, 0)
    assert links[0].score / ONE == pytest.approx(expected[0], rel=1e-6)
    assert links[1].score / ONE == links[2].score / ONE == pytest.approx(expected[1], rel=1e-6)


def test_a_page_without_links_keeps_its_score():
    assert distribute([NutchOpic()], SEED, [], 0) == ([], (0, 0, 0))


def test_cash_of_a_seed_is_its_score():
    assert injected([Opic()], SEED) == PageScore(0, ONE, 1)
    assert injected([NutchOpic()], SEED) == SEED


@given(st.integers(0, 2**100), st.integers(0, 500))
def test_cash_is_handed_out_to_the_last_unit(cash, count):
    links, own = distribute([Opic()], PageScore(7, cash, 1), [False] * count, count)
    assert sum(link.cash for link in links) + own.virtual + own.cash == 0
    assert own.score == cash
    assert own.virtual >= max((link.cash for link in links), default=0)


def test_the_sum_of_all_cash_stays_that_of_the_seeds():
    random_ = random.Random(5)
    seeds, pages = 3, 40
    cash = [ONE] * seeds + [0] * (pages - seeds)
    kept = 0
    for _ in range(500):
        page = random_.randrange(pages)
        links = random_.choices(range(pages), k=random_.randrange(9))
        shares, own = distribute([Opic()], PageScore(0, cash[page]), [True] * len(links), 9)
        cash[page] += own.cash
        for target, share in zip(links, shares, strict=True):
            cash[target] += share.cash
        each, kept = virtual_share(kept + own.virtual, seeds)
        cash[:seeds] = [one + each for one in cash[:seeds]]
    assert sum(cash) + kept == seeds * ONE


def test_nothing_is_lost_without_a_seed():
    assert virtual_share(7, 0) == (0, 7)
    assert virtual_share(7, 2) == (3, 1)


def test_depth_counts_links_and_ends_them():
    chain = [DepthScoring(max=3), Opic()]
    links, _ = distribute(chain, PageScore(0, 100, 2), [True], 1)
    assert links[0].depth == 3
    links, own = distribute(chain, PageScore(0, 100, 3), [True], 1)
    assert (list(links), own.virtual) == ([], 100)
    assert not distribute(chain, PageScore(0, 100), [True], 1)[0], "a depth that is not known"


def test_a_seed_has_its_own_depth_and_its_links_inherit_it():
    chain = [DepthScoring(max=2)]
    page = PageScore(depth=2, md={"_maxdepth_": "3"})
    links, _ = distribute(chain, page, [True], 1)
    assert (links[0].depth, links[0].md) == (3, {"_maxdepth_": "3"})
    assert not distribute(chain, page._replace(depth=3), [True], 1)[0]


def test_links_inherit_metadata():
    chain = [InheritedMetadata(tags=("topic", "none"))]
    links, _ = distribute(chain, PageScore(md={"topic": "国", "x": "y"}), [True, False], 2)
    assert [link.md for link in links] == [{"topic": "国"}] * 2


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ([], 1.0),
        ([NutchOpic()], 2.5),
        ([Opic()], 0.5),
        ([DepthScoring(max=5)], 3.0),
        ([DepthScoring(max=5), Opic()], 1.5),
    ],
)
def test_rows_are_sorted_by_the_scores_of_all_kinds(chain, expected):
    row = (
        f"select {5 * ONE // 2}::DECIMAL(38,0) as score, {ONE // 2}::DECIMAL(38,0) as cash, "
        "3::USMALLINT as depth, null::MAP(VARCHAR, VARCHAR) as md"
    )
    with Kernel(again=True) as kernel:
        assert kernel.value(f"select {sort_sql(chain)} from ({row})") == expected
    assert set(sort_columns(chain)) <= {"score", "cash", "depth", "md"}


def test_the_depth_of_a_seed_counts_for_the_order_and_an_unknown_depth_comes_last():
    with Kernel(again=True) as kernel:
        row = "select 3::USMALLINT as depth, map{'_maxdepth_': '9'} as md"
        assert kernel.value(f"select {sort_sql([DepthScoring(max=5)])} from ({row})") == 7
        row = "select null::USMALLINT as depth, null::MAP(VARCHAR, VARCHAR) as md"
        assert kernel.value(f"select {sort_sql([DepthScoring(max=5)])} from ({row})") == 1


def test_pages_without_links_become_gone_then_orphans():
    sql = orphan_sql([Opic(), OrphanScoring()], 100 * DAY)
    with Kernel(again=True) as kernel:
        rows = f"select {sql} from (values (90), (69), (59), (null)) t(d), "
        found = kernel.rows(f"{rows}lateral (select d::BIGINT * {DAY} as last_inlink)")
    assert found == [(None,), (3,), (8,), (None,)]
    assert orphan_sql([Opic()], 5) == ""


class Doubled(Scoring):
    """Twice the score."""

    contract = 1
    scoring: Literal["doubled"] = "doubled"

    def sort_sql(self, inner: str) -> str:
        return f"(2 * {inner})"

    def distribute(self, page, links, total):
        return [link._replace(score=2 * link.score) for link in links], ScoreChange(1)


def test_a_kind_of_a_plug_in_takes_its_place_in_the_list():
    chain = [NutchOpic(), Doubled()]
    assert sort_sql(chain).startswith("(2 * (score")
    links, own = distribute(chain, PageScore(score=10), [True], 1)
    assert (links[0].score, own) == (20, ScoreChange(1))


def test_kinds_are_read_by_name_or_mapping():
    assert SCORINGS.read("opic") == Opic()
    assert SCORINGS.read({"scoring": "depth", "max": 5}) == DepthScoring(max=5)
    with pytest.raises(ValueError, match="did you mean `opic`"):
        SCORINGS.read("opik")
    with pytest.raises(ValueError, match="max"):
        SCORINGS.read({"scoring": "depth", "max": 0})
    assert LinkShare(internal=True).depth == 0


CHAINS: tuple[list[Scoring], ...] = (
    [],
    [NutchOpic(internal=0.5, count_filtered=True)],
    [Opic()],
    [DepthScoring(max=3), Opic()],
    [Opic(), DepthScoring(max=3)],
    [OrphanScoring(), InheritedMetadata(tags=("topic",)), NutchOpic(external=0.25)],
)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize(("inside", "outside"), [(0, 0), (3, 0), (0, 2), (5, 4)])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_links_that_are_alike_are_given_the_same_at_once(chain, inside, outside, depth):
    page = PageScore(7 * 2**32 + 3, 11 * 2**32 + 5, depth, {"topic": "国", "_maxdepth_": "4"})
    internal = [True] * inside + [False] * outside
    links, own = distribute(chain, page, internal, 12)
    shares, change = distribute_alike(chain, page, inside, outside, 12)
    assert all(one.alike for one in chain)
    assert change == own
    given = [] if shares is None else [shares[not inner] for inner in internal]
    assert given == list(links)


class Said(Scoring):
    """The boost that a test says."""

    contract: ClassVar[int] = 1
    columns: ClassVar[tuple[str, ...]] = ("depth", "md")
    scoring: Literal["said"] = "said"
    sql: str = ""

    def boost_sql(self, inner: str) -> str:
        return self.sql.format(inner=inner)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((), 1.5),
        (("{inner} * 2",), 3.0),
        (("{inner} * 2", "{inner} + 1"), 4.0),
        (("case when md['kind'] = 'news' then 8 else {inner} end",), 8.0),
        (("{inner} / depth",), 0.5),
        (("null",), 1.5),
        (("{inner} * -1",), 1.5),
        (("'nan'::DOUBLE",), 1.5),
        (("'inf'::DOUBLE",), 1.5),
    ],
)
def test_kinds_say_one_behind_the_other_how_much_a_page_counts_in_a_search(said, expected):
    rule = boost_rule([NutchOpic(), *(Said(sql=one) for one in said)], 0.5)
    assert rule.columns == (("depth", "md") if said else ())
    row = f"{2 * ONE} as score, {ONE // 4} as cash, 3 as depth, map {{'kind': 'news'}} as md"
    with Kernel(again=True) as kernel:
        assert kernel.value(f"select {rule.sql} from (select {row})") == expected
        gone = "null as score, null as cash, 3 as depth, null::MAP(VARCHAR, VARCHAR) as md"
        assert kernel.value(f"select {boost_rule([], 0.0).sql} from (select {gone})") == 1.0
        assert kernel.value(f"select {boost_rule([], 0.5).sql} from (select {gone})") == 0.0
