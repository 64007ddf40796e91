"""A world is a pure function, and does what its parameters say."""

import gzip
import hashlib

import pytest

from nacre.simweb.archetypes import ARCHETYPES, archetype
from nacre.simweb.calendar import DAY
from nacre.simweb.parameters import WorldParameters
from nacre.simweb.reply import Reply
from nacre.simweb.truth import Truth
from nacre.simweb.validators import Request
from nacre.simweb.world import World

START = "http://www.small.test/"


def url_of(world, article, time=0.0, *, second=False):
    host = world.site.hosts[article.host]
    return f"http://{host}{world.resources.names.article(article, int(second))}"


def walk(world, time, limit=4000):
    """All that can be reached from the start pages, with replies."""
    todo = list(world.starts)
    seen: dict[str, Reply] = {}
    while todo and len(seen) < limit:
        url = todo.pop()
        if url in seen:
            continue
        reply = seen[url] = world.respond(url, time)
        if reply.resource.kind not in {"embed", "file"}:
            todo += [link.url for link in reply.page.links]
    return seen


def articles_where(world, test):
    for host in world.site.articles:
        for article in host:
            if test(world.lives.of(article)):
                return article
    raise AssertionError("no such article in this world")


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


def test_links_of_pages_answer(small):
    statuses = {reply.status for reply in walk(small, 30 * DAY).values()}
    assert statuses <= {200, 301, 302, 404, 410}
    assert {200, 404} <= statuses  # neighbours of deleted articles are dead links


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


def test_half_of_the_worlds_know_no_poisson_page():
    free = [
        name
        for name in ARCHETYPES
        if all(kind != "poisson" for kind, _ in archetype(name).edits.processes)
    ]
    assert len(free) >= len(ARCHETYPES) / 2


@pytest.mark.parametrize("name", sorted(ARCHETYPES))
def test_start_pages_of_all_worlds(name):
    parameters = archetype(name)
    tiny = parameters.shape.model_copy(update={"pages": 120})
    traps = parameters.traps.model_copy(update={"wide": min(parameters.traps.wide, 50)})
    world = World(parameters.model_copy(update={"shape": tiny, "traps": traps}), 1)
    for start in world.starts:
        assert world.respond(start, 3601.0).status in {200, 503}


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
