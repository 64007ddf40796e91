from typing import Any

import pytest
from msgspec import structs

from nacre.frontier.policy import DelayCause, delay_limit
from nacre.frontier.settings import PolitenessSettings
from nacre.job.diagnosis import (
    CrowdedKind,
    DiagnosisFacts,
    SuspectedTrap,
    TroubledHost,
    crowd_diagnosis,
    delay_diagnosis,
    diagnose,
)
from nacre.job.diagnosis_text import REMEDIES, diagnosis_text
from nacre.job.overview import JobOverview, SlowQueue

RUNNING = JobOverview("RUNNING", parallel=25, busy=3, queued=100, finished=50, elapsed=10.0)
SLOW = SlowQueue("org,example,", 95, 5.0, 475.0, alone=True, host="example.org")
CROWD = CrowdedKind("test,a,", "http://a.test/rili?", 98, 100)


def facts(state: str = "RUNNING", slowest: tuple[SlowQueue, ...] = (), **more: Any):
    """Facts of a job: numbers of its overview, and other facts, by their names."""
    names = JobOverview.__struct_fields__
    numbers = {name: value for name, value in more.items() if name in names}
    others = {name: value for name, value in more.items() if name not in names}
    if state not in {"RUNNING", "EMPTY", "PAUSED", "PAUSING", "STOPPING"}:
        numbers = {"parallel": 0, "busy": 0, **numbers}
    overview = structs.replace(RUNNING, state=state, **numbers)
    return DiagnosisFacts(overview, slowest, 1000.0, **others)


@pytest.mark.parametrize(
    ("given", "code", "lever"),
    [
        (facts("NASCENT"), "ready", "start"),
        (facts("NASCENT", problems=0), "ready", "start"),
        (facts("NASCENT", problems=3, first_problem="seeds: none"), "problems", "fix"),
        (facts("NASCENT", free=3_999, reserve=4_000), "ready-space", "free-space"),
        (facts("NASCENT", free=4_000, reserve=4_000), "ready", "start"),
        (facts("NASCENT", problems=1, free=1, reserve=2), "problems", "fix"),
        (facts("PREPARING"), "preparing", None),
        (facts("PREPARING", why="the disk failed"), "waiting", None),
        (facts("STOPPING"), "stopping", None),
        (facts("PAUSING", why="operator"), "pausing", "resume"),
        (facts("PAUSED", why="operator"), "paused-operator", "resume"),
        (facts("PAUSED", why="operator", paused_by="anna"), "paused-by", "resume"),
        (facts("PAUSED", why="runtime limit", paused_by="anna"), "paused-runtime", "resume"),
        (facts("PAUSED", why="control/pause"), "paused-file", "resume"),
        (facts("PAUSED", why="runtime limit"), "paused-runtime", "resume"),
        (facts("PAUSED", why="disk, operator"), "paused-disk", "free-space"),
        (facts("PAUSED", why="disk", free=2_100, reserve=4_000), "paused-space", "free-space"),
        (facts("PAUSED", why="calibration"), "paused", "resume"),
        (facts("FINISHED"), "finished-some-time", "recrawl"),
        (facts("FINISHED", ended_at=5.0, failed_pages=1), "finished", "failed"),
        (facts("FINISHED", endless=7), "finished-some-time", "traps"),
        (facts("FINISHED", unvisited=7, repeated=2), "finished-some-time", "recrawl"),
        (facts("FINISHED", held=1), "finished-some-time", "trap-share"),
        (facts("FINISHED", ended_at=5.0, seeds=3, seeds_got=2), "finished", "seeds"),
        (facts("FINISHED", ended_at=5.0, seeds=3, seeds_got=3), "finished", "recrawl"),
        (facts("ABORTED"), "stopped", "go-on"),
        (facts("INTERRUPTED"), "interrupted", "go-on"),
        (facts("CRASHED"), "crashed", "go-on"),
        (facts("FINISHED_TIME_LIMIT"), "limit-time", "limits"),
        (facts("FINISHED_QUEUE_BUDGET"), "limit-budget", "unretire"),
        (facts("SOMETHING_NEW"), "ended", "go-on"),
        (facts(trouble="http://x.test/: no name"), "retries", "wake"),
        (facts(trouble="http://x.test/: no name", gives_up=2000.0), "retries", "wake"),
        (facts(slowest=(SLOW,)), "one-host-crawl-delay", "delay"),
        (facts(slowest=(structs.replace(SLOW, alone=False),)), "one-host", "delay"),
        (facts(slowest=(structs.replace(SLOW, pending=50),) * 2), "few-hosts", "delay"),
        (facts(slowest=(SLOW,), grows=True), "one-host-crawl-delay", "look-waiting"),
        (facts(slowest=(SLOW,), crowded=CROWD), "one-host-crawl-delay", "exclude"),
        (facts(slowest=(structs.replace(SLOW, pending=50),)), "running", None),
        (facts(slowest=(structs.replace(SLOW, delay=0.0),)), "running", None),
        (facts(slowest=(SLOW,), queues={"ready": 9}), "running", None),
        (facts(busy=25, queues={"ready": 310}), "slots-busy", "parallel"),
        (facts(busy=25, slowest=(SLOW,)), "running", None),
        (facts(troubled=TroubledHost("x.test", 429, 0.5, 60.0)), "refuses", "retire"),
        (facts(troubled=TroubledHost("x.test", -2, 0.5, 60.0)), "fails", "retire"),
        (facts(troubled=TroubledHost("x.test", 429, 0.2)), "running", None),
        (facts(gap=201.0), "busy-machine", "watch"),
        (facts(gap=200.0, committed=996.0), "running", None),
        (facts(committed=994.0), "slow-disk", "watch"),
        (facts(trap=SuspectedTrap("http://x.test/calendar/", 0.9)), "trap", "exclude"),
        (facts("EMPTY"), "empty", None),
        (facts(seconds_left=3600.0), "running", None),
    ],
)  # fmt: skip
def test_the_first_rule_that_holds_makes_the_sentence(
    given: DiagnosisFacts, code: str, lever: str | None
):
    found = diagnose(given)
    assert found.code == code
    assert next(iter(found.remedies), None) == lever
    assert set(found.remedies) <= set(REMEDIES)
    assert "{" not in diagnosis_text(found)


def test_earlier_rules_come_first():
    held = facts("PAUSED", slowest=(SLOW,), why="operator", trouble="x", gap=900.0)
    assert diagnose(held).code == "paused-operator"
    stuck = facts(slowest=(SLOW,), trouble="http://x.test/: no name", gap=900.0)
    assert diagnose(stuck).code == "retries"
    assert diagnose(facts(slowest=(SLOW,), gap=900.0)).code == "one-host-crawl-delay"


def test_the_sentence_in_words():
    found = diagnose(facts(slowest=(structs.replace(SLOW, pending=48_211, needs=241_055.0),)))
    assert diagnosis_text(found) == (
        "waits for one host: example.org allows one request every 5.0 s (Crawl-delay); "
        "48,211 URLs left, about 2 d 18 h"
    )
    assert (
        diagnosis_text(diagnose(facts(rate=41.26, seconds_left=10_800.0)))
        == "41.3 URIs/s; about 3 h left"
    )
    space = facts("PAUSED", why="disk", free=2_100_000_000, reserve=4_000_000_000)
    assert diagnosis_text(diagnose(space)) == (
        "paused: 2.1 GB are free, 4.0 GB are kept in reserve; it goes on by itself"
    )
    over = facts("FINISHED", ended_at=1_795_442_580.0, documents=12_480, failed_pages=3)
    assert diagnosis_text(diagnose(over)) == (
        "finished 2026-11-23 14:03:00 UTC: 12,480 documents; 3 pages failed"
    )
    counted = structs.replace(over.overview, seeds=4, seeds_got=3, endless=5_483, deleted=1)
    assert diagnosis_text(diagnose(structs.replace(over, overview=counted))) == (
        "finished 2026-11-23 14:03:00 UTC: 12,480 documents; 3 of 4 seeds captured; 3 pages failed;"
        " 5,483 URLs of endless places not fetched (traps.budget); 1 URL deleted by the operator"
    )
    lost = diagnose(facts("FINISHED", documents=49, faults=1, unparsed=2))
    assert diagnosis_text(lost) == (
        "finished: 49 documents; 1 URL lost by an error of Nacre's own (runtime-errors.log); 2 "
        "documents too much for the parser: their links are not known"
    )
    withheld = diagnose(facts("FINISHED", documents=6, withheld=6, seeds=1, seeds_got=0))
    assert diagnosis_text(withheld) == (
        "finished: 6 documents; 0 of 1 seed captured; 6 replies withheld, not in the archive "
        "(rights.enforce)"
    )
    trap = diagnose(facts("FINISHED", documents=49, trapped=30, endless=7))
    assert diagnosis_text(trap) == (
        "finished: 49 documents; 30 of these are of what looks like traps; "
        "7 URLs of endless places not fetched (traps.budget)"
    )
    assert trap.remedies == ("traps", "recrawl")
    deep = diagnose(facts("FINISHED", documents=49, too_deep=1))
    assert diagnosis_text(deep) == (
        "finished: 49 documents; 1 URL and its links, left out as too many hops from the seed"
    )
    assert deep.remedies == ("deeper", "recrawl")
    trapped = diagnose(facts("FINISHED", documents=49, too_deep=3, too_deep_poor=2))
    assert diagnosis_text(trapped) == (
        "finished: 49 documents; 3 URLs left out as too many hops from their seeds, most of them of"
        " a kind whose last pages had nothing new (a trap?)"
    )
    assert trapped.remedies == ("traps", "recrawl")
    half = diagnose(facts("FINISHED", documents=49, too_deep=2, too_deep_poor=1, endless=7))
    assert half.remedies == ("traps", "deeper", "recrawl")
    refused = facts(troubled=TroubledHost("图书馆.test", 429, 0.5, 60.0))
    assert diagnosis_text(diagnose(refused)) == "图书馆.test answers 429; its delay is 1 min now"


@pytest.mark.parametrize(
    ("cause", "most", "says"),
    [
        ("slow", 30.0, "one host: example.org gets one request every 25 s; its replies are slower"
         " than usual, which makes the delay longer, up to 30 s (politeness.max_delay); 95 URLs"),
        ("refused", 300.0, "gets one request every 25 s; it refused requests (429 or 503), which"
         " makes the delay longer, up to 5 min (politeness.backoff_up_to); 95 URLs"),
        ("retry-after", 3600.0, "it asked for this pause (Retry-After), which counts up to 1 h"),
        ("duration", 30.0, "gets one request every 25 s; 95 URLs"),
        ("crawl-delay", 300.0, "allows one request every 25 s (Crawl-delay); 95 URLs"),
        ("", 0.0, "allows one request every 25 s (Crawl-delay); 95 URLs"),
    ],
)  # fmt: skip
def test_a_longer_delay_has_its_reason_and_its_limit(cause: str, most: float, says: str):
    queue = structs.replace(SLOW, delay=25.0, cause=cause, most=most)
    assert says in diagnosis_text(diagnose(facts(slowest=(queue,))))


@pytest.mark.parametrize("cause", [cause for cause in DelayCause if cause])
def test_every_cause_of_a_delay_has_words(cause: DelayCause):
    sentence = delay_diagnosis(cause, delay_limit(PolitenessSettings(), cause))
    assert sentence is not None
    assert diagnosis_text(sentence)


def test_a_cause_that_is_not_known_has_no_words():
    assert delay_diagnosis("", 0.0) is None


def test_nothing_but_retries_says_when_the_next_one_is():
    known = facts(trouble="dns:x.test: no name", next_try=1240.0, gives_up=1_795_442_580.0)
    found = diagnose(known)
    assert diagnosis_text(found) == (
        "nothing but retries: dns:x.test: no name; next try in 4 min; "
        "given up 2026-11-23 14:03:00 UTC at the latest"
    )
    assert found.params["wait"] == 240.0
    now = diagnose(facts(trouble="dns:x.test: no name", next_try=999.0))
    assert diagnosis_text(now) == "nothing but retries: dns:x.test: no name"


def test_a_number_of_one_is_in_the_singular():
    one = structs.replace(SLOW, pending=1, needs=5.0)
    assert diagnosis_text(diagnose(facts(queued=1, slowest=(one,)))).endswith(
        "(Crawl-delay); 1 URL left, about 5.0 s"
    )
    assert (
        diagnosis_text(diagnose(facts("ABORTED", queued=1)))
        == "stopped by the operator; 1 URI waits"
    )
    assert diagnosis_text(diagnose(facts("ABORTED", queued=0))) == "stopped by the operator"
    over = facts("FINISHED", documents=1, failed_pages=1)
    assert diagnosis_text(diagnose(over)) == "finished: 1 document; 1 page failed"
    problem = facts("NASCENT", problems=1, first_problem="seeds: none")
    assert diagnosis_text(diagnose(problem)) == "1 problem keeps it from starting: seeds: none"
    busy = facts(parallel=1, busy=1, queues={"ready": 1})
    assert diagnosis_text(diagnose(busy)) == "the only fetch slot is busy; 1 host is ready"


def test_the_speed_of_a_job_that_began_just_now_is_its_average():
    assert diagnosis_text(diagnose(facts(finished=70, deleted=20))) == "5.0 URIs/s; 100 URIs wait"


def test_what_grows_gets_no_promise_and_no_more_speed():
    found = diagnose(facts(slowest=(SLOW,), grows=True))
    assert diagnosis_text(found).endswith("; 95 URLs wait there, and more are found than fetched")
    assert not {"delay", "in_flight"} & set(found.remedies)


def test_an_end_says_what_was_due_and_not_visited():
    given = facts("FINISHED", documents=9, unvisited=1_234, held=1, repeated=2)
    said = diagnosis_text(diagnose(given))
    assert "1,234 due pages not visited, because the budget is spent" in said
    assert "1 known URL and its links, not visited, because it leads into" in said
    assert "2 new URLs not visited" in said


def test_what_comes_back_is_not_deleted_any_more():
    assert "3 URLs deleted" in diagnosis_text(diagnose(facts("FINISHED", deleted=5, readmitted=2)))
    assert "deleted" not in diagnosis_text(diagnose(facts("FINISHED", deleted=5, readmitted=5)))


def test_the_only_queue_is_not_to_be_retired():
    slow = structs.replace(SLOW, alone=False)
    only = diagnose(facts(slowest=(slow,), queues={"snoozed": 1, "exhausted": 3, "retired": 1}))
    assert "retire" not in only.remedies
    assert "exclude-part" in only.remedies
    two = diagnose(facts(slowest=(slow,), queues={"snoozed": 2}))
    assert "retire" in two.remedies
    refuses = facts(troubled=TroubledHost("x.test", 429, 0.5, 60.0), queues={"snoozed": 1})
    assert diagnose(refuses).remedies == ("delay", "contact")


def test_a_crowd_offers_no_speed_and_has_a_sentence_of_its_own():
    crowded = diagnose(facts(slowest=(SLOW,), crowded=CROWD, grows=True))
    assert (crowded.remedies, crowded.params["prefix"]) == (
        ("exclude", "look-waiting", "limits"), CROWD.prefix,
    )  # fmt: skip
    grows = diagnosis_text(crowd_diagnosis(CROWD, grows=True))
    assert grows == (
        "Most queued URIs are of one kind: http://a.test/rili? (98 %), and more is found than "
        "fetched. A calendar, or session ids?"
    )
    assert "more is found" not in diagnosis_text(crowd_diagnosis(CROWD, grows=False))
