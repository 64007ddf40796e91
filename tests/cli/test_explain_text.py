"""`nacre explain` as text: one record, one text."""

from typing import Any

import pytest
from msgspec import structs

from nacre.cli.explain_text import explanation_lines, robots_lines
from nacre.core.crawluri import Directive
from nacre.core.status import FetchStatus
from nacre.inspect.explain.answers import (
    CaptureAnswer,
    Explanation,
    PathStep,
    PendingAnswer,
    PrerequisiteAnswer,
    QueueAnswer,
    RobotsAnswer,
    RuleOpinion,
    ScopeAnswer,
    SettingAnswer,
    Standing,
)
from nacre.inspect.other_jobs import QueueSharer
from nacre.inspect.reports.seed_outcomes import SeedOutcome, SeedState

URL, SITE = "http://a.test/x", "http://a.test"
ACCEPTED = ScopeAnswer("ACCEPT", "surt-prefixed", [])
DENIED = RobotsAnswer("obey", SITE, "rules", 200, allowed=False, line="Disallow: /x")
UNKNOWN_ROBOTS = RobotsAnswer("obey", SITE)


def sections(standing: Standing = Standing.QUEUED, **facts: Any) -> dict[str, list[str]]:
    """The lines by the name of their section."""
    given: dict[str, Any] = {
        "scope": ACCEPTED,
        "queue": QueueAnswer("test,a,"),
        "politeness": "3 s between fetches, 1 at a time",
    }
    what = Explanation(URL, facts.pop("canonical", URL), standing, **(given | facts))
    first, *lines = explanation_lines(what, "crawls/job")
    assert first == URL
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        name = line[2:14].strip() or name
        found.setdefault(name, []).append(line[14:])
    return found


def pending(**facts: Any) -> PendingAnswer:
    known: dict[str, Any] = {
        "where": "queue",
        "ahead": 2,
        "directive": 3,
        "precedence": 1,
        "attempts": 0,
    }
    return PendingAnswer(**(known | {"last_status": 0} | facts))


def behind(url: str = f"{SITE}/robots.txt", attempts: int = 2, **facts: Any) -> PrerequisiteAnswer:
    return PrerequisiteAnswer(url, attempts, facts.pop("last_status", 0), **facts)


@pytest.mark.parametrize(
    ("standing", "facts", "text"),
    [
        (Standing.QUEUED, {}, "it waits to be fetched"),
        (Standing.QUEUED, {"robots": DENIED},
         "it waits for its turn, and will not be fetched then: robots.txt denies it"),
        (Standing.QUEUED, {"behind": behind()},
         "it waits for robots.txt, which could not be fetched so far: see queue"),
        (Standing.QUEUED, {"behind": behind("dns:a.test")},
         "it waits for the address of its host, which could not be fetched so far: see queue"),
        (Standing.QUEUED, {"behind": behind(attempts=0)}, "it waits to be fetched"),
        (Standing.QUEUED, {"pending": pending(attempts=1, last_status=-2)},
         "it waits to be tried again; the last try: "),
        (Standing.QUEUED, {"pending": pending(attempts=1, last_status=200)}, ", cut short"),
        (Standing.QUEUED, {"later": "a calendar"}, "it waits behind other links: a calendar"),
        (Standing.QUEUED, {"later": "a trap", "pending": pending(directive=Directive.ENDLESS)},
         "it waits until nothing else is left: a trap"),
        (Standing.IN_PROCESS, {}, "it is being fetched at this moment"),
        (Standing.SEEN, {}, "it was scheduled, but is not among the first URIs of its queue"),
        (Standing.KNOWN, {},
         "known from earlier runs, and not visited in this one: it was not chosen"),
        (Standing.UNKNOWN, {},
         "never seen in this crawl; found by a link on a seed it would be crawled"),
        (Standing.UNKNOWN, {"scope": ScopeAnswer("REJECT", "reject", [])},
         "never seen in this crawl; found by a link on a seed it would not be crawled"),
        (Standing.REFUSED, {"scope": ScopeAnswer("REJECT", "x", [], refused_by="too-many-hops")},
         "not crawled: out of scope, refused by the rule too-many-hops"),
        (Standing.REFUSED, {"scope": structs.replace(ACCEPTED, refused_by="my-processor")},
         "not crawled: refused by my-processor"),
        (Standing.FINISHED, {"status": 200, "meaning": "OK."}, "fetched: OK."),
        (Standing.FINISHED, {"status": 200, "meaning": "OK.", "capture": CaptureAnswer("w", 1)},
         "captured: OK."),
        (Standing.FINISHED, {"status": -9998, "meaning": "Denied."},
         "not captured: -9998 robots-precluded. Denied."),
    ],
)  # fmt: skip
def test_the_answer_says_where_it_stands(standing: Standing, facts: dict[str, Any], text: str):
    assert text in sections(standing, **facts)["answer"][0]


def test_the_answer_says_why_when_and_what_was_noted():
    ended = SeedOutcome(URL, SeedState.NO_REPLY, -2, "no connection", 3)
    lines = sections(
        Standing.FINISHED,
        status=-2,
        meaning="No connection.",
        same_as="http://a.test/y",
        not_got=ended,
        error="refused",
        time="2026-11-22T10:00:00Z",
        annotations=("3t", "err=x"),
    )["answer"]
    assert lines[1] == "it counts as the same as http://a.test/y, which is fetched in its place"
    assert lines[2].startswith("why: no connection")
    assert not lines[2].endswith("(-2)")
    assert lines[3:] == ["refused", "fetched 2026-11-22T10:00:00Z", "annotations: 3t, err=x"]


def test_a_page_of_earlier_runs_points_to_its_history():
    assert sections(Standing.KNOWN)["look"] == [f"nacre history crawls/job url {URL}"]
    assert "look" not in sections()
    assert sections(Standing.KNOWN)["found"] == ["not in this run"]


def test_a_url_that_is_hard_to_read_is_written_readably_too():
    what = Explanation(
        "http://a.test/%E4%B9%A6",
        "http://a.test/%E4%B9%A6",
        Standing.QUEUED,
        ACCEPTED,
        QueueAnswer("test,a,"),
        "3 s",
    )
    assert "  reads       http://a.test/书" in list(explanation_lines(what))


def test_the_host_of_any_script_is_written_in_its_letters_too():
    url = "http://xn--bcher-kva.test/%E4%B9%A6"
    what = Explanation(url, url, Standing.QUEUED, ACCEPTED, QueueAnswer("test,xn,"), "3 s")
    assert list(explanation_lines(what))[:2] == [url, "  reads       http://bücher.test/书"]


def test_the_way_from_the_seed():
    way = [PathStep("http://a.test/", "", 200), PathStep("http://a.test/2", "R", -2)]
    found = sections(way=way, path="RE", context="img/@src")["found"]
    assert found[0] == "seed: http://a.test/ (200)"
    assert found[1].startswith("redirect: http://a.test/2 (")
    assert found[2] == "embed: this URL by img/@src, hop path RE"
    assert sections()["found"] == ["seed: this URL"]
    assumed = structs.replace(ACCEPTED, assumed=True)
    assert sections(Standing.UNKNOWN, scope=assumed)["found"] == ["never"]


def test_the_rules_that_spoke_and_the_one_that_decides():
    opinions = [
        RuleOpinion("reject", "REJECT", "REJECT"),
        RuleOpinion("sequence", "ACCEPT", "NONE"),
        RuleOpinion("surt-prefixed", "ACCEPT", "ACCEPT", 1),
        RuleOpinion("too-many-hops", "NONE", "REJECT"),
        RuleOpinion("other", "NONE", "NONE"),
    ]
    head, *rows = sections(scope=ScopeAnswer("ACCEPT", "sequence", opinions))["scope"]
    assert head == "ACCEPT, decided by sequence"
    assert [" ".join(row.split()) for row in rows] == [
        "REJECT reject",
        "ACCEPT sequence",
        "ACCEPT surt-prefixed <- the last rule with an opinion decides",
        "- too-many-hops (could say REJECT)",
        "- other",
    ]


@pytest.mark.parametrize(
    ("facts", "head"),
    [
        ({"assumed": True}, "ACCEPT, decided by r (as a link on a seed)"),
        ({"refused_by": "gone"}, "ACCEPT, decided by r; the present scope has no such rule"),
        ({"refused_by": "r"},
         "ACCEPT, decided by r; the scope has changed since it was refused"),
    ],
)  # fmt: skip
def test_a_scope_that_has_changed(facts: dict[str, Any], head: str):
    opinions = [RuleOpinion("r", "ACCEPT", "ACCEPT")]
    assert sections(scope=ScopeAnswer("ACCEPT", "r", opinions, **facts))["scope"][0] == head


@pytest.mark.parametrize(
    ("robots", "lines"),
    [
        (RobotsAnswer("ignore", SITE), ["not obeyed (robots.policy is ignore)"]),
        (UNKNOWN_ROBOTS, [f"that of {SITE} has not been fetched"]),
        (RobotsAnswer("obey", SITE, "allow", 404),
         ["there is none (status 404): everything is allowed"]),
        (RobotsAnswer("obey", SITE, "unreachable", 503),
         ["it could not be fetched (status 503): nothing is allowed"]),
        (RobotsAnswer("obey", SITE, "unreachable", -2, error="refused"),
         ["it could not be fetched (-2: refused): nothing is allowed"]),
        (RobotsAnswer("obey", SITE, "redirect", 301),
         ["it redirects elsewhere, and was not fetched there yet"]),
        (DENIED, ["denied by the line `Disallow: /x`"]),
        (RobotsAnswer("obey", SITE, "rules", 200, allowed=True, crawl_delay=2.5),
         ["allowed: no line applies to it", "Crawl-delay: 2.5 s"]),
    ],
)  # fmt: skip
def test_robots(robots: RobotsAnswer, lines: list[str]):
    assert robots_lines(robots) == lines


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, f"that of {SITE} has not been fetched"),
        ({"behind": behind()}, f"that of {SITE} could not be fetched so far: see queue"),
        ({"behind": behind("dns:a.test")}, f"that of {SITE} has not been fetched"),
        ({"status": FetchStatus.PREREQUISITE_ROBOTS_FAILED, "meaning": "No robots.txt."},
         f"that of {SITE} could not be fetched: see answer"),
    ],
)  # fmt: skip
def test_a_robots_txt_that_could_not_be_fetched(facts: dict[str, Any], line: str):
    standing = Standing.FINISHED if "status" in facts else Standing.QUEUED
    assert sections(standing, robots=UNKNOWN_ROBOTS, **facts)["robots.txt"] == [line]


def test_the_queue():
    assert sections()["queue"] == ["test,a, (there is none yet)"]
    queue = QueueAnswer(
        "test,a,", "snoozed", 1, 2, 3.0, 4.0, 1.5, why="the last fetch failed", spent=7, budget=9
    )
    found = sections(queue=queue, pending=pending(attempts=1))["queue"]
    assert found == [
        "test,a, is snoozed: 1 URI waiting, 2 failed",
        "the last fetch failed",
        "precedence 0, spent 7 of 9",
        "2 ahead; directive 3, precedence 1, 1 try so far",
        "hands out again in 4.0 s",
        "last delay 3.0 s, backoff 1.5",
    ]
    slow = QueueAnswer("test,a,", "ready", 5, delay=30.0, cause="slow", most=30.0)
    assert sections(queue=slow)["queue"][-1] == (
        "last delay 30 s, backoff 1.0: its replies are slower than usual, which makes the delay "
        "longer, up to 30 s (politeness.max_delay)"
    )
    calm = QueueAnswer("test,a,", "ready", 5, wait=0.0)
    assert sections(queue=calm, pending=pending(where="future", ahead=None))["queue"] == [
        "test,a, is ready: 5 URIs waiting",
        "precedence 0, spent 0",
        "waits for its time; directive 3, precedence 1, 0 tries so far",
    ]


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (behind(attempts=0), "was not tried yet"),
        (behind(attempts=1), "was tried 1 time; tried again when its turn comes"),
        (behind(wait=-3.0), "was tried 2 times; tried again in 0 ms"),
        (behind(last_status=-2, wait=90.0), "; tried again in 1 min 30 s"),
    ],
)
def test_what_must_come_first(first: PrerequisiteAnswer, text: str):
    queue = QueueAnswer("test,a,", "ready")
    last = sections(queue=queue, behind=first)["queue"][-1]
    assert last.startswith(f"waits for {SITE}/robots.txt, which was ")
    assert last.endswith(text)
    assert ("(-2: " in last) is bool(first.last_status)


def test_another_job_that_fetches_from_the_host():
    sharers = (QueueSharer("/crawls/二", 7, 40.0, 12.0), QueueSharer("/crawls/three", 8))
    queue = QueueAnswer("test,a,", "snoozed", why="it waits its politeness delay", sharers=sharers)
    assert sections(queue=queue)["queue"][1:4] == [
        "it waits its politeness delay",
        "the delay of 40 s of job /crawls/二 (process 7) is in effect for 12.0 s more",
        "it takes turns with job /crawls/three (process 8)",
    ]


def test_settings_that_somebody_gave_stand_with_their_origin():
    settings = [
        SettingAnswer("politeness.delay", 3.0, "crawl.yaml:4"),
        SettingAnswer("politeness.in_flight", 1, "default"),
        SettingAnswer("robots.policy", "ignore", "sheet slow, crawl.yaml:9"),
        SettingAnswer("limits.runtime.after", None, "--set"),
        SettingAnswer("cookies.enabled", False, "--set"),
        SettingAnswer("fetch.timeout", 9, "program"),
    ]
    found = sections(settings=settings, sheets=("slow", "other"))
    assert found["politeness"] == [
        "3 s between fetches, 1 at a time",
        "politeness.delay = 3.0, from crawl.yaml:4",
    ]
    assert found["other"] == [
        "robots.policy = ignore, from sheet slow, crawl.yaml:9",
        "limits.runtime.after = none, from --set",
        "cookies.enabled = false, from --set",
    ]
    assert found["sheets"] == ["slow, other (the last is the strongest)"]
    assert {"sheets", "other"}.isdisjoint(sections())


def test_captures_and_the_next_visit():
    capture = CaptureAnswer("runs/1/a.warc.gz", 17, "2026-11-22", "sha1:A", 3, "http://b.test/")
    found = sections(
        Standing.FINISHED,
        status=200,
        meaning="OK.",
        capture=capture,
        canonical="http://a.test/X",
        due="tomorrow",
        due_why="its schedule",
    )
    assert found["captures"] == [
        "runs/1/a.warc.gz, offset 17",
        "visited 3 times",
        "content of 2026-11-22, sha1:A",
        "the same content as http://b.test/",
    ]
    assert found["due again"] == ["tomorrow: its schedule"]
    assert found["counts as"] == ["http://a.test/X"]
    assert {"captures", "due again", "counts as"}.isdisjoint(sections())


def test_of_a_recording_the_request_alone_is_told():
    found = sections(
        Standing.FINISHED, status=200, meaning="OK.", recorded=True, context="browser/style",
        via="http://a.test/page", robots=DENIED,
    )  # fmt: skip
    assert found == {
        "answer": ["fetched: OK."],
        "requested": ["by a browser or a program (style)", "on the page http://a.test/page"],
    }
    other = sections(Standing.FINISHED, status=200, recorded=True, context="browser/other")
    assert other["requested"] == ["by a browser or a program"]
    assert sections(Standing.UNKNOWN, recorded=True) == {
        "answer": ["not requested in this recording"]
    }
