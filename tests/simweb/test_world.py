"""A world is a pure function, and does what its parameters say."""

import gzip
import hashlib

import pytest

from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.truth import Truth
from nacre_simweb.validators import Request
from nacre_simweb.world import World
from tests.simweb.worlds import articles_where, url_of, walk

START = "http://www.small.test/"


def test_the_same_question_has_the_same_answer_in_any_order(small):
    urls = list(walk(small, 20 * DAY))
    again = World(archetype("small", "honest"), 7)
    backwards = [again.respond(url, 20 * DAY) for url in reversed(urls)]
    forwards = [small.respond(url, 20 * DAY) for url in urls]
    for one, other in zip(forwards, reversed(backwards), strict=True):
        assert (one.status, one.headers, one.body) == (other.status, other.headers, other.body)


def test_another_seed_is_another_world(small):
    other = World(archetype("small", "honest"), 8)
    assert other.respond(START, 0.0).body != small.respond(START, 0.0).body


def test_every_living_article_can_be_reached(small):
    time = 30 * DAY
    found = walk(small, time)
    for article in small.site.articles[0]:
        life = small.lives.of(article)
        if life.lives(time):
            url = url_of(small, article, second=time >= life.moved)
            assert found[url].status == 200


@pytest.mark.parametrize("time", [0.0, 10.5 * DAY, 50 * DAY])
def test_identity_tells_bodies_apart(small, time):
    bodies: dict[object, str] = {}
    names: dict[object, object] = {}
    for nonce in range(3):
        for url in walk(small, time):
            reply = small.respond(url, time, Request(nonce))
            digest = hashlib.sha1(reply.page.body).hexdigest()
            if reply.page.body:
                assert bodies.setdefault(reply.identity, digest) == digest
                assert names.setdefault((reply.url, digest), reply.identity) == reply.identity
    assert len(bodies) > 50


def test_honest_validators(small):
    article = articles_where(small, lambda life: len(life.versions) > 2 and life.moved > 5e6)
    url, change = url_of(small, article), small.lives.of(article).versions[1].start
    first = small.respond(url, change - 1)
    tagged = Request(1, etag=first.header("ETag"))
    dated = Request(1, modified=first.header("Last-Modified"))
    for request in (tagged, dated):
        assert small.respond(url, change - 1, request).status == 304
        assert small.respond(url, change, request).status == 200


@pytest.mark.parametrize(
    ("mode", "status"),
    [("stable", 304), ("now", 200), ("never", 200), ("none", 200), ("node", 200)],
)
def test_dishonest_validators(mode, status):
    """`stable` hides an edit; the others never save a byte (`node` on another node)."""
    parameters = archetype("small", "honest")
    modes = parameters.validators.model_copy(update={"modes": ((mode, 1.0),)})
    world = World(parameters.model_copy(update={"validators": modes}), 7)
    article = articles_where(world, lambda life: len(life.versions) > 2 and life.moved > 5e6)
    url, change = url_of(world, article), world.lives.of(article).versions[1].start
    first = world.respond(url, change - 1)
    request = Request(1, first.header("ETag"), first.header("Last-Modified"))
    assert world.respond(url, change + 5, request).status == status


def test_honest_sitemap_and_feed(small):
    time = 30 * DAY
    index = small.respond(START + "sitemap.xml", time).page
    told: dict[str, str] = {}
    for part in index.links:
        told |= {each.url: each.lastmod for each in small.respond(part.url, time).page.links}
    living = [a for a in small.site.articles[0] if small.lives.of(a).lives(time)]
    assert len(told) == len(living)
    for article in living:
        life = small.lives.of(article)
        assert url_of(small, article, second=time >= life.moved) in told
    feed = small.respond(START + "feed.xml", time).page
    assert len(feed.links) == 50


def test_outages_and_silence():
    world = World(archetype("dying"), 5)
    urls = [url_of(world, article) for article in world.site.articles[0][:40]]
    statuses = {world.respond(url, hour * 3600.0).status for url in urls for hour in range(6 * 24)}
    assert statuses >= {0, 200, 503}


def test_a_page_may_travel_in_another_charset_or_coding():
    parameters = archetype("small")
    noise = parameters.noise.model_copy(update={"share": 1.0, "kinds": ("coding", "charset")})
    site = World(parameters.model_copy(update={"noise": noise}), 3)
    url = next(iter(Truth(site).tracks))
    replies = [site.respond(url, 0.0, Request(nonce)) for nonce in range(8)]
    assert len({reply.text for reply in replies}) == 1
    assert len({reply.body for reply in replies}) == len({reply.identity for reply in replies}) > 1
    for reply in replies:
        body = reply.body
        if reply.header("Content-Encoding"):
            body = gzip.decompress(body)
        charset = reply.header("Content-Type").partition("charset=")[2]
        assert body.decode(charset).encode() == reply.text
    assert {reply.form.charset for reply in replies} <= {"utf-8", "gb18030"}


def test_a_share_of_all_urls_shows_a_challenge_for_a_day():
    parameters = archetype("small")
    failures = parameters.failures.model_copy(update={"challenged": 0.5})
    site = World(parameters.model_copy(update={"failures": failures}), 3)
    urls = [url for url in Truth(site).tracks if site.respond(url, 0.0).resource.kind == "wall"]
    assert 0.2 < len(urls) / len(Truth(site).tracks) < 0.8
    one = site.respond(urls[0], 0.0)
    assert one.status == 200
    assert one.body == site.respond(urls[-1], DAY - 1).body
    assert any(site.respond(url, 5 * DAY).resource.kind != "wall" for url in urls)
