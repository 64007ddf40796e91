"""Lives of articles: versions, ends, moves."""

import math

import pytest

from nacre_simweb.calendar import DAY
from nacre_simweb.draw import Draw
from nacre_simweb.life import NEVER, ArticleLife, Lives, Version
from nacre_simweb.parameters import Births, Deaths, Edits, Moves, WorldParameters
from nacre_simweb.site import Article


def lives_of(number=400, born=0.0, **parts):
    lives = Lives(WorldParameters(days=365, **parts), Draw(3))
    return [lives.of(Article(0, 0, serial, serial, born)) for serial in range(number)]


QUIET = Edits(untouched=1.0, hot=0.0, early_per_day=0.0)


def test_versions_are_those_of_a_moment():
    life = ArticleLife(
        (Version(5.0, "new"), Version(8.0, "major")), (), (), 10.0, 20.0, "gone", NEVER, True, 0.0
    )
    assert [life.version(time) for time in (4.9, 5.0, 7.9, 8.0, 30.0)] == [-1, 0, 0, 1, 1]
    there = [time for time in (4.9, 5.0, 9.9, 10.0, 19.9, 20.0) if life.lives(time)]
    assert there == [5.0, 9.9, 20.0]


def test_a_life_is_the_same_whenever_it_is_asked_for():
    first, again = lives_of(20), list(reversed(lives_of(20)))
    assert first == again[::-1]


def test_an_article_that_nobody_edits_has_one_version():
    for life in lives_of(50, edits=QUIET, deaths=Deaths(per_year=0)):
        assert [version.change for version in life.versions] == ["new"]
        assert (life.died, life.rate) == (NEVER, 0.0)


def test_changes_come_in_their_shares_and_in_their_order():
    edits = Edits(untouched=0, hot=1.0, hot_per_day=1, minor=0.5, images=0.25, documents=0.25,
                  dates=0, tables=0, reverts=0)  # fmt: skip
    lives = lives_of(40, edits=edits)
    kinds = [version.change for life in lives for version in life.versions[1:]]
    images = sum(len(life.images) for life in lives)
    documents = sum(len(life.documents) for life in lives)
    assert set(kinds) == {"minor"}
    assert images == pytest.approx(len(kinds) / 2, rel=0.1)
    assert documents == pytest.approx(len(kinds) / 2, rel=0.1)
    for life in lives:
        starts = [version.start for version in life.versions]
        assert starts == sorted(set(starts))


def test_half_of_the_articles_change_with_a_release():
    births = Births(releases=(20.0,))
    lives = lives_of(400, edits=QUIET, births=births)
    changed = sum(len(life.versions) == 2 for life in lives)
    assert changed == pytest.approx(200, abs=40)
    assert {life.versions[1].start for life in lives if len(life.versions) == 2} == {20 * DAY}
    assert all(
        len(life.versions) == 1 for life in lives_of(50, 30 * DAY, edits=QUIET, births=births)
    )


def test_ends_come_in_their_shares():
    deaths = Deaths(per_year=1.0, missing=0.5, gone=0.0, soft=0.5, home=0.0, back=0.25)
    lives = lives_of(800, edits=QUIET, deaths=deaths)
    within = sum(life.died < 365 * DAY for life in lives)
    assert within == pytest.approx(800 * (1 - math.exp(-1)), rel=0.1)
    assert {life.end for life in lives} == {"missing", "soft"}
    back = [life for life in lives if life.back < NEVER]
    assert len(back) == pytest.approx(200, rel=0.25)
    assert all(7 * DAY <= life.back - life.died <= 37 * DAY for life in back)


def test_moves_are_told_or_silent():
    moves = Moves(redirected_per_year=0.5, silent_per_year=0.5)
    lives = lives_of(400, edits=QUIET, deaths=Deaths(per_year=0), moves=moves)
    told = sum(life.redirects for life in lives)
    assert told == pytest.approx(200, abs=40)
    none = Moves(redirected_per_year=0, silent_per_year=0)
    assert {life.moved for life in lives_of(20, edits=QUIET, moves=none)} == {NEVER}


def test_a_redesign_moves_what_is_there_on_one_day():
    moves = Moves(redirected_per_year=0, silent_per_year=0, redesign=45)
    lives = lives_of(100, edits=QUIET, deaths=Deaths(per_year=0), moves=moves)
    assert {life.moved for life in lives} == {45 * DAY}
    later = lives_of(20, 50 * DAY, edits=QUIET, deaths=Deaths(per_year=0), moves=moves)
    assert {life.moved for life in later} == {NEVER}


def test_what_is_dead_does_not_move():
    deaths = Deaths(per_year=5.0)
    moves = Moves(redirected_per_year=0, silent_per_year=0, redesign=45)
    for life in lives_of(100, edits=QUIET, deaths=deaths, moves=moves):
        assert life.moved == (45 * DAY if life.died > 45 * DAY else NEVER)


def test_a_fresh_article_is_corrected_more_often():
    lives = Lives(WorldParameters(edits=Edits(early_per_day=2.0, early_days=1.0)), Draw(3))
    article = Article(0, 0, 0, 0, 10 * DAY)
    rates = [lives.rate(article, (10 + age) * DAY) * DAY for age in (0, 1, 50)]
    usual = lives.of(article).rate * DAY
    assert rates == pytest.approx([usual + 2.0, usual + 2 / math.e, usual])
