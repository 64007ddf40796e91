import pytest

from nacre.rights.ledger import SignalVersion, hold, named_licenses
from nacre.rights.policy_files import policy_signals
from nacre.rights.reply_signals import reply_signals
from nacre.rights.robots_lines import robots_signals
from nacre.rights.signals import AI_TXT, LLMS_TXT, ROBOTS, RSL, TDMREP
from nacre.rights.vocabulary import Preference

URL = "https://h.test/p"
NONE: dict[str, SignalVersion | None] = dict.fromkeys((ROBOTS, TDMREP, AI_TXT, LLMS_TXT))


def version(signals=()) -> SignalVersion:
    return SignalVersion(1, URL, "urn:uuid:1", tuple(signals))


def robots(text: bytes) -> SignalVersion:
    return version(robots_signals(b"User-agent: *\n" + text, "nacre", 9999).signals)


def own(*headers: tuple[bytes, bytes], metas=()) -> SignalVersion:
    return version(reply_signals(headers, metas, "nacre"))


def tdmrep(reserved: int) -> SignalVersion:
    text = b'[{"location": "/", "tdm-reservation": %d}]' % reserved
    return version(policy_signals(TDMREP, text).signals)


@pytest.mark.parametrize(
    ("own_version", "site", "values"),
    [
        # Nothing was collected: unknown, never allowed.
        (None, {}, {"train-ai": "unknown", "tdm": "unknown", "search": "unknown"}),
        (own(), {}, {"train-ai": "unknown"}),
        (own(), {ROBOTS: robots(b"")}, {"train-ai": "none", "tdm": "unknown"}),
        (own(), {ROBOTS: robots(b"Content-Usage: train-ai=y")}, {"train-ai": "y"}),
        (None, {ROBOTS: robots(b"Content-Usage: train-ai=y")}, {"train-ai": "unknown"}),
        (None, {ROBOTS: robots(b"Content-Usage: train-ai=n")}, {"train-ai": "n"}),
        # The strictest counts.
        (own((b"content-usage", b"train-ai=n")), {ROBOTS: robots(b"Content-Usage: train-ai=y")},
         {"train-ai": "n"}),
        (own(), {ROBOTS: robots(b"Content-Usage: train-ai=n\nContent-Usage: /p train-ai=y")},
         {"train-ai": "y"}),
        # The use of what may not be crawled is not allowed by robots.txt.
        (own(), {ROBOTS: robots(b"Disallow: /p\nContent-Usage: train-ai=y")},
         {"train-ai": "none", "crawl": "n"}),
        (own(), {ROBOTS: robots(b"Disallow: /p\nAllow: /p")}, {"crawl": "y"}),
        # TDM: HTML before headers before the file.
        (own(), {TDMREP: tdmrep(1)}, {"tdm": "n"}),
        (own((b"tdm-reservation", b"0")), {TDMREP: tdmrep(1)}, {"tdm": "y"}),
        (own((b"tdm-reservation", b"0")), {}, {"tdm": "y"}),
        (own((b"tdm-reservation", b"0"), metas=[("tdm-reservation", "1")]), {}, {"tdm": "n"}),
    ],
)  # fmt: skip
def test_values(own_version, site, values):
    held = hold(URL, 5, own_version, NONE | site, {}, is_collected=False)
    assert {key: held.value(key) for key in values} == values


def test_a_license_file_that_was_not_collected_may_disallow():
    site = NONE | {ROBOTS: robots(b"Content-Usage: train-ai=y")}
    held = hold(URL, 5, own(), site, {"https://h.test/l.xml": None}, is_collected=True)
    assert held.value("train-ai") == "unknown"
    rule = b'<content url="/"><license><prohibits>ai-train</prohibits></license></content>'
    text = b'<rsl xmlns="https://rslstandard.org/rsl">' + rule + b"</rsl>"
    files = {"https://h.test/l.xml": version(policy_signals(RSL, text).signals)}
    assert hold(URL, 5, own(), site, files, is_collected=True).value("train-ai") == "n"


@pytest.mark.parametrize(
    ("lines", "files"),
    [
        (b"License: HTTPS://H.test/a/../l.xml#x", ["https://h.test/l.xml"]),
        (b"License: http://[bad/x", ["http://[bad/x"]),
        (b"", []),
    ],
)
def test_licenses_are_named_by_the_urls_that_are_fetched(lines, files):
    assert named_licenses(URL, None, robots(lines)) == files


def test_few_of_many_licenses_are_looked_up():
    link = (b"Link", b'<l%d>; rel=license; type="application/rsl+xml"')
    headers = [(link[0], link[1] % number) for number in range(90)]
    files = named_licenses(URL, own(*headers), None)
    assert files == [f"https://h.test/l{number}" for number in range(50)]


def test_directives_are_given_or_not_or_unknown():
    wanted = Preference("noarchive")
    given = hold(URL, 5, own((b"x-robots-tag", b"noarchive")), NONE, {}, is_collected=True)
    assert (given.has(wanted), given.is_unknown(wanted)) == (True, False)
    missing = hold(URL, 5, None, NONE, {}, is_collected=False)
    assert (missing.has(wanted), missing.is_unknown(wanted)) == (False, True)
    without = hold(URL, 5, None, NONE, {}, is_collected=True)
    assert (without.has(wanted), without.is_unknown(wanted)) == (False, False)


def test_the_cell_of_a_table():
    site = NONE | {ROBOTS: robots(b"Allow: /\nContent-Signal: search=yes, ai-train=no")}
    held = hold(URL, 5, own((b"x-robots-tag", b"noarchive")), site, {}, is_collected=True)
    assert held.text() == "noarchive, search=y, train-ai=n"


@pytest.mark.parametrize(("since", "until", "time", "holds"), [
    (2, 0, 1, False), (2, 0, 2, True), (2, 4, 3, True), (2, 4, 4, False),
])  # fmt: skip
def test_a_version_holds_from_its_capture_to_the_next(since, until, time, holds):
    assert SignalVersion(since, URL, "", (), "", until).holds_at(time) is holds
