import re
from urllib.parse import parse_qs, urlsplit

from nacre.console.jobs.overview import lever_links, only_looks
from nacre.job.diagnosis import Diagnosis, Value
from nacre.job.diagnosis_text import REMEDIES
from nacre.job.overview import SlowQueue


def same(text: str) -> str:
    return text


def test_every_lever_leads_somewhere():
    links = lever_links("crawls~a b/c", Diagnosis("ready", {}, tuple(REMEDIES)), (), same)
    assert [one.label for one in links] == list(REMEDIES.values())
    for one in links:
        assert one.url.startswith("/j/crawls~a%20b%2Fc"), one
        assert one.url != "/j/crawls~a%20b%2Fc", one


def test_levers_for_a_host_name_it():
    levers = ("delay", "in_flight", "retire", "wake")
    params: dict[str, Value] = {"host": "a&b.example.org"}
    queue = SlowQueue("org,example,a&b,", 5, 1.0, 5.0, host="a&b.example.org")
    found = lever_links("j", Diagnosis("x", params, levers), [queue], same)
    links = {one.name: one.url for one in found}
    asked = parse_qs(urlsplit(links["delay"]).query)
    assert asked == {"u": ["http://a&b.example.org/"], "key": ["politeness.delay"]}
    assert "key=politeness.in_flight" in links["in_flight"]
    there = [SlowQueue("1.2.3.4#8080", 5, 1.0, 5.0, host="1.2.3.4")]
    (port,) = lever_links("j", Diagnosis("x", {"host": "1.2.3.4"}, ("delay",)), there, same)
    assert parse_qs(urlsplit(port.url).query)["u"] == ["http://1.2.3.4:8080/"]
    for name in ("retire", "wake"):
        (expression,) = parse_qs(urlsplit(links[name]).query)["re"]
        assert re.fullmatch(expression, queue.name)
    waits = lever_links("j", Diagnosis("x", params, ("look-waiting",)), [queue], same)
    assert waits[0].url == "/j/j/uris?queue=org%2Cexample%2Ca%26b%2C"
    named = Diagnosis("retries", {"queue": "org,b,"}, ("wake",))
    (one,) = lever_links("j", named, [queue], same)
    assert parse_qs(urlsplit(one.url).query)["re"] == ["^org,b,$"]
    (unknown,) = lever_links("j", Diagnosis("x", params, ("retire",)), (), same)
    assert unknown.url == "/j/j/frontier"


def test_the_place_of_a_trap_becomes_an_expression():
    sentence = Diagnosis("trap", {"prefix": "http://x.org/calendar/"}, ("exclude",))
    (link,) = lever_links("j", sentence, (), same)
    (found,) = parse_qs(urlsplit(link.url).query)["urls"]
    assert found == r"^https?://x\.org/calendar/"
    assert "action=exclude" in link.url


def test_who_may_only_look_gets_no_link_to_what_changes_something():
    levers = ("exclude", "look-waiting", "deeper", "recrawl", "traps", "seeds")
    found = only_looks(lever_links("j", Diagnosis("x", {"prefix": "http://a/"}, levers), (), same))
    assert [one.name for one in found] == list(levers)
    assert {one.name for one in found if one.url} == {"look-waiting", "traps", "seeds"}
