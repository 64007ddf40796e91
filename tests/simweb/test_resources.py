"""What each URL of a world is at a moment."""

import pytest

from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.parameters import WorldParameters
from nacre_simweb.traps import HUGE, SLOW
from nacre_simweb.validators import Request
from nacre_simweb.world import World
from tests.simweb.worlds import articles_where, url_of, walk

START = "http://www.small.test/"


def test_every_version_has_bytes_of_its_own(small):
    checked = 0
    for article in small.site.articles[0]:
        life = small.lives.of(article)
        for before, after in zip(life.versions, life.versions[1:], strict=False):
            if before.start < 0 or not life.lives(after.start) or after.start >= life.moved:
                continue
            one = small.respond(url_of(small, article), after.start - 0.001)
            two = small.respond(url_of(small, article), after.start)
            if one.status == 200 and after.change != "revert":
                assert one.body != two.body, (article, after)
                assert one.resource.version + 1 == two.resource.version
                checked += 1
    assert checked > 100


def test_noise_changes_bytes_and_not_the_version(small):
    noisy = 0
    for article in small.site.articles[0][:40]:
        replies = [small.respond(url_of(small, article), DAY, Request(n)) for n in range(4)]
        assert len({reply.resource.version for reply in replies}) == 1
        noisy += len({reply.body for reply in replies}) > 1
    assert 5 < noisy < 35


def test_ends_of_articles():
    parameters = archetype("dying").model_copy(update={"failures": WorldParameters().failures})
    world = World(parameters, 3)
    for end, status in (("missing", 404), ("gone", 410), ("soft", 200), ("home", 302)):
        article = articles_where(world, lambda life, end=end: life.end == end and life.died < 1e7)
        died = world.lives.of(article).died
        assert world.respond(url_of(world, article), died - 1).resource.kind == "article"
        reply = world.respond(url_of(world, article), died)
        assert reply.status == status
        assert reply.resource.kind in {"error", "redirect"}
    back = articles_where(world, lambda life: life.back < 9e6)
    assert world.respond(url_of(world, back), world.lives.of(back).back).status == 200


def test_moves(small):
    article = articles_where(small, lambda life: life.moved < 5e6 and life.redirects)
    moved = small.lives.of(article).moved
    old, new = url_of(small, article), url_of(small, article, second=True)
    assert small.respond(new, moved - 1).status == 404
    assert small.respond(old, moved).header("Location") == new
    assert small.respond(new, moved).status == 200


def test_traps_have_no_end():
    world = World(archetype("trap"), 5)
    url = "http://www.trap.test/calendar/2026-1"
    for _ in range(50):
        url = world.respond(url, 0.0).page.links[0].url
    assert url.endswith("/calendar/2030-3")
    ring = "http://www.trap.test/loop/0"
    for _ in range(5):
        ring = world.respond(ring, 0.0).header("Location")
    assert ring.endswith("/loop/0")


def test_a_list_names_its_pages_and_its_versions_follow_its_bytes():
    parameters = archetype("small")
    quiet = parameters.noise.model_copy(update={"share": 0.0})
    world = World(parameters.model_copy(update={"noise": quiet}), 4)
    for number, listing in enumerate(world.listings[0][:-1]):
        url = START + world.resources.names.list_page(number, 0)[1:]
        before = world.respond(url, 0.0)
        for time in sorted({event.time for event in listing.events})[:60]:
            after = world.respond(url, time)
            same = after.resource.version == before.resource.version
            moved = after.resource.mark.split(".")[1] != before.resource.mark.split(".")[1]
            if not moved:
                assert (after.body == before.body) == same, (number, time)
            before = after


def test_links_of_pages_answer(small):
    statuses = {reply.status for reply in walk(small, 30 * DAY).values()}
    assert statuses <= {200, 301, 302, 404, 410}
    assert {200, 404} <= statuses  # neighbours of deleted articles are dead links


@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [
        ("", "home", 200),
        ("index.html", "home", 200),
        ("xwzx/", "list", 200),
        ("xwzx/index_999.html", "error", 404),
        ("static/e0.css", "embed", 200),
        ("static/e999.css", "error", 404),
        ("robots.txt", "robots", 200),
        ("sitemap.xml", "hint", 200),
        ("nowhere", "error", 404),
        ("xwzx/202611/t20261120_10999.html", "error", 404),
    ],
)
def test_paths(small, path, kind, status):
    reply = small.respond(START + path, 0.0)
    assert (reply.resource.kind, reply.status) == (kind, status)


def test_an_article_under_a_wrong_date_is_not_there(small):
    article = articles_where(small, lambda life: life.moved > 5e6)
    url = url_of(small, article)
    assert small.respond(url, 0.0).status == 200
    assert small.respond(url.replace("/t20", "/t19"), 0.0).status == 404


def test_an_article_is_not_there_before_its_birth(small):
    article = next(one for one in small.site.articles[0] if one.born > DAY)
    url = url_of(small, article)
    assert small.respond(url, article.born - 1).status == 404
    assert small.respond(url, article.born).status == 200


def test_another_host_gives_no_reply(small):
    assert small.respond("http://www.other.test/", 0.0).status == 0


def test_large_and_slow_files_are_there_only_in_the_world_of_traps(small):
    world = World(archetype("trap"), 5)
    for path in (HUGE, SLOW):
        assert world.respond(f"http://www.trap.test{path}", 0.0).resource.kind == "trap"
        assert small.respond(f"{START}{path[1:]}", 0.0).status == 404


def test_a_reverted_version_says_what_an_earlier_one_said():
    world = World(archetype("wiki"), 3)
    article = articles_where(
        world, lambda life: any(version.change == "revert" for version in life.versions[2:])
    )
    versions = world.lives.of(article).versions
    number = next(n for n in range(2, len(versions)) if versions[n].change == "revert")
    said = [world.resources.said(article, one) for one in range(number + 1)]
    assert said[number] in said[: number - 1]
    assert said[number] != said[number - 1]
