from nacre.core.crawluri import Hop, Outlink
from nacre.job.admission.seen import RecentURLs


def knows(recent: RecentURLs, url: str) -> bool:
    return not recent.unknown([Outlink(url, Hop.LINK, "a/@href")])


def test_an_accepted_url_is_known_whatever_the_way():
    recent = RecentURLs(capacity=8)
    recent.add("http://a.test/")
    assert knows(recent, "http://a.test/")
    assert not knows(recent, "http://a.test/b")


def test_the_target_of_a_redirect_is_judged_although_it_is_known():
    recent = RecentURLs(capacity=8)
    recent.add("u")
    links = [Outlink("u", Hop.LINK, "a/@href"), Outlink("u", Hop.REDIRECT, "Location:")]
    assert recent.unknown(links) == links[1:]


def test_a_refusal_holds_only_for_its_way():
    recent = RecentURLs(capacity=8)
    recent.refuse("http://b.test/", "LL")
    assert recent.refuses("http://b.test/", "LL")
    assert not recent.refuses("http://b.test/", "E")


def test_memory_is_bounded_and_the_recent_ones_stay():
    recent = RecentURLs(capacity=100)
    for number in range(1000):
        recent.add(f"u{number}")
        recent.refuse(f"r{number}", "L")
    known = [number for number in range(1000) if knows(recent, f"u{number}")]
    refused = [number for number in range(1000) if recent.refuses(f"r{number}", "L")]
    assert 50 <= len(known) <= 100
    assert known == list(range(1000 - len(known), 1000))
    assert 50 <= len(refused) <= 100


def test_switched_off_or_told_to_forget_it_knows_nothing():
    recent = RecentURLs()
    recent.add("u")
    recent.enabled = False
    assert not knows(recent, "u")
    recent.enabled = True
    recent.forget()
    assert not knows(recent, "u")
