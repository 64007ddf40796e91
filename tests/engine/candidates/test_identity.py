"""What the frontier keeps of a URL: seen key, queue, place; and what descends from page to page."""

import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.charsets import LINK
from nacre.core.crawluri import CrawlURI, Directive, Hop, Outlink
from nacre.engine.candidates.identity import Identity, again_at, canonicalizer
from nacre.engine.settings import UriSettings
from nacre.frontier.settings import FrontierSettings
from nacre.uri.canonical import Canonicalizer


def identity(**more: object) -> Identity:
    settings = FrontierSettings.model_validate(more)
    return Identity(Canonicalizer(), fixed(settings))


def queue(url: str, addresses: tuple[str, ...] = (), **assignment: object) -> str:
    settings = FrontierSettings.model_validate({"queue_assignment": assignment})
    made = Identity(Canonicalizer(), fixed(settings), lambda _: addresses)
    return made.queue(url)


SEED = identity().seed("http://a.test/", source="http://a.test/", heritable={"x": "1", "_y": "2"})


def child(url: str, hop: Hop = Hop.LINK, parent: CrawlURI = SEED, **more: object) -> CrawlURI:
    return identity().child(parent, Outlink(url, hop, "a/@href", **more))  # type: ignore[arg-type]


def test_a_seed():
    assert SEED.is_seed
    assert (SEED.queue, SEED.path, SEED.via) == ("test,a,", "", "")
    assert SEED.directive is Directive.MEDIUM
    assert SEED.source == "http://a.test/"


def test_a_child_inherits_source_and_what_may_descend():
    found = child("http://b.test/x")
    assert (found.via, found.path, found.context) == ("http://a.test/", "L", "a/@href")
    assert (found.queue, found.source) == ("test,b,", "http://a.test/")
    assert found.heritable == {"x": "1"}
    assert not found.is_seed
    assert not found.force_fetch


@pytest.mark.parametrize("context", ["script/@src", "link[rel='stylesheet']/@href", "=JS_IMPORT"])
def test_the_target_of_a_redirect_is_loaded_as_what_was_asked_for(context: str):
    script = identity().child(SEED, Outlink("http://a.test/s", Hop.EMBED, context))
    first = child("http://a.test/2", Hop.REDIRECT, script)
    second = child("http://a.test/3", Hop.REDIRECT, first)
    assert [one.element for one in (script, first, second)] == [context] * 3
    assert second.context == "a/@href"
    assert child("http://a.test/4", Hop.EMBED, second).element == "a/@href"


def test_the_target_of_the_redirect_of_a_page_is_a_page():
    page = child("http://a.test/p")
    assert child("http://a.test/q", Hop.REDIRECT, page).heritable == {"x": "1"}


def test_a_child_keeps_the_charset_of_its_link_and_that_it_is_a_sitemap():
    found = child("http://a.test/map", charset="gbk", sitemap=True)
    assert found.heritable == {"x": "1", LINK: "gbk"}
    assert found.annotations == ("isSitemap",)


@pytest.mark.parametrize(
    ("url", "hop", "forced"),
    [
        ("http://a.test/?", Hop.REDIRECT, True),
        ("http://a.test/", Hop.REDIRECT, False),
        ("http://a.test/?", Hop.LINK, False),
        ("http://b.test/", Hop.REDIRECT, False),
    ],
)
def test_a_redirect_to_another_spelling_of_its_page_is_forced(url: str, hop: Hop, forced: bool):
    found = child(url, hop)
    assert (found.key == SEED.key) is url.startswith("http://a.test")
    assert found.force_fetch is forced


def test_the_redirect_target_of_a_seed_is_a_seed():
    link = Outlink("http://b.test/", Hop.REDIRECT, "Location:")
    found = identity().redirected_seed(SEED, link)
    assert found.is_seed
    assert found.force_fetch
    assert found.directive is Directive.MEDIUM


def test_a_prerequisite_waits_in_the_queue_of_its_uri_and_comes_first():
    found = identity().prerequisite(SEED, "dns:a.test", {"z": "3"})
    assert (found.queue, found.via, found.path) == (SEED.queue, SEED.url, "P")
    assert found.force_fetch
    assert found.directive < SEED.directive
    assert found.heritable == {"z": "3"}


@pytest.mark.parametrize(
    ("url", "addresses", "assignment", "expected"),
    [
        ("http://www.a.test:81/x", (), {}, "test,a,www,#81"),
        ("https://a.test/x", (), {"policy": "hostname"}, "a.test#443"),
        ("http://a.test/x", (), {"policy": "hostname"}, "a.test"),
        ("http://www.a.test/x", (), {"labels": 2}, "test,a,"),
        ("http://a.test/x", ("192.0.2.7",), {"policy": "ip"}, "192.0.2.7"),
        ("http://[2001:db8::1]/x", (), {"policy": "ip"}, "2001:db8::1"),
        ("http://a.test/x", (), {"policy": "ip"}, "a.test"),
        ("dns:a.test", (), {}, "test,a,"),
    ],
)
def test_queues(url: str, addresses: tuple[str, ...], assignment: dict[str, object], expected: str):
    assert queue(url, addresses, **assignment) == expected


def test_a_queue_that_is_split_has_a_key_for_each_part():
    said = {"parallel_queues": 4, "parallel_by": "url"}
    found = {queue(f"http://a.test/{number}", (), **said) for number in range(200)}
    assert len(found) == 4
    assert queue("http://a.test/1", (), **said) in found


def test_uris_move_only_where_their_queue_depends_on_what_is_learned():
    addresses: list[str] = []
    stay, move = (
        FrontierSettings(),
        FrontierSettings.model_validate({"queue_assignment": {"policy": "ip"}}),
    )
    both = Effective([stay, move])
    made = Identity(Canonicalizer(), both, lambda _: addresses)
    uri = made.seed("http://a.test/")
    assert made.moves
    assert not identity().moves
    addresses.append("192.0.2.7")
    assert made.requeue(uri, 0) == uri.queue
    assert made.requeue(uri, 1) == "192.0.2.7"


def test_a_file_gives_precedences():
    settings = FrontierSettings.model_validate(
        {"uri_precedence": {"policy": "preloaded", "file": "order.txt"}}
    )
    given = {SEED.key: 7}
    asked: list[str] = []

    def preloaded(name: str, key: bytes) -> int | None:
        asked.append(name)
        return given.get(key)

    made = Identity(Canonicalizer(), fixed(settings), preloaded=preloaded)
    assert made.seed("http://a.test/").precedence == 7
    link = Outlink("http://a.test/", Hop.LINK, "a/@href")
    assert made.child(SEED, link).precedence == 7
    other = made.child(SEED, Outlink("http://b.test/", Hop.LINK, "a/@href"))
    assert other.precedence == child("http://b.test/").precedence
    assert set(asked) == {"order.txt"}


@pytest.mark.parametrize(
    ("canonical", "same"),
    [
        ("default", True),
        ("heritrix", True),
        ([], False),
        ([{"rule": "Regex", "regex": "(.*)\\?$", "format": "$1"}], True),
    ],
)
def test_the_settings_say_which_urls_are_the_same(canonical: object, same: bool):
    made = canonicalizer(UriSettings.model_validate({"canonical": canonical}))
    session = "http://a.test/x?"
    assert (made.canonical(session) == made.canonical("http://a.test/x")) is same


def test_what_is_fetched_again_begins_anew():
    found = again_at(SEED, 5.0)
    assert (found.not_before, found.force_fetch, found.attempts) == (5.0, True, 0)
    assert found.key == SEED.key
