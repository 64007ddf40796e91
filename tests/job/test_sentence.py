import re
from string import Formatter
from typing import Any

import pytest
from msgspec import structs

from nacre.job.overview import JobOverview, SlowQueue
from nacre.job.sentence import (
    LEVERS,
    MESSAGES,
    Sentence,
    SentenceFacts,
    SuspectedTrap,
    TroubledHost,
    sentence_of,
    words,
)

RUNNING = JobOverview("RUNNING", parallel=25, busy=3, queued=100, finished=50, elapsed=10.0)
SLOW = SlowQueue("org,example,", 95, 5.0, 475.0, alone=True, host="example.org")


def facts(state: str = "RUNNING", slowest: tuple[SlowQueue, ...] = (), **more: Any):
    """Facts of a job: numbers of its overview, and other facts, by their names."""
    names = JobOverview.__struct_fields__
    numbers = {name: value for name, value in more.items() if name in names}
    others = {name: value for name, value in more.items() if name not in names}
    if state not in {"RUNNING", "EMPTY", "PAUSED", "PAUSING", "STOPPING"}:
        numbers = {"parallel": 0, "busy": 0, **numbers}
    overview = structs.replace(RUNNING, state=state, **numbers)
    return SentenceFacts(overview, slowest, 1000.0, **others)


@pytest.mark.parametrize(
    ("given", "code", "lever"),
    [
        (facts("NASCENT"), "ready", "start"),
        (facts("NASCENT", problems=0), "ready", "start"),
        (facts("NASCENT", problems=3, first_problem="seeds: none"), "problems", "fix"),
        (facts("PREPARING"), "preparing", None),
        (facts("PREPARING", why="the disk failed"), "waiting", None),
        (facts("STOPPING"), "stopping", None),
        (facts("PAUSING", why="operator"), "pausing", "resume"),
        (facts("PAUSED", why="operator"), "paused-operator", "resume"),
        (facts("PAUSED", why="control/pause"), "paused-file", "resume"),
        (facts("PAUSED", why="runtime limit"), "paused-runtime", "resume"),
        (facts("PAUSED", why="disk, operator"), "paused-disk", "free-space"),
        (facts("PAUSED", why="disk", free=2_100, reserve=4_000), "paused-space", "free-space"),
        (facts("PAUSED", why="calibration"), "paused", "resume"),
        (facts("FINISHED"), "finished-some-time", "recrawl"),
        (facts("FINISHED", ended_at=5.0, failed_pages=1), "finished", "seeds"),
        (facts("FINISHED", endless=7), "finished-left-some-time", "recrawl"),
        (facts("FINISHED", ended_at=5.0, deleted=3), "finished-left", "recrawl"),
        (facts("ABORTED"), "stopped", "go-on"),
        (facts("INTERRUPTED"), "interrupted", "go-on"),
        (facts("CRASHED"), "crashed", "go-on"),
        (facts("FINISHED_TIME_LIMIT"), "limit-time", "limits"),
        (facts("FINISHED_QUEUE_BUDGET"), "limit-budget", "unretire"),
        (facts("SOMETHING_NEW"), "ended", "go-on"),
        (facts(trouble="http://x.test/: no name"), "retries", "wake"),
        (facts(trouble="http://x.test/: no name", gives_up=2000.0), "retries-until", "wake"),
        (facts(slowest=(SLOW,)), "one-host-crawl-delay", "delay"),
        (facts(slowest=(structs.replace(SLOW, alone=False),)), "one-host", "delay"),
        (facts(slowest=(structs.replace(SLOW, pending=50),) * 2), "few-hosts", "delay"),
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
        (facts(left=3600.0), "running-left", None),
    ],
)  # fmt: skip
def test_the_first_rule_that_holds_makes_the_sentence(
    given: SentenceFacts, code: str, lever: str | None
):
    found = sentence_of(given)
    assert found.code == code
    assert next(iter(found.lever), None) == lever
    assert set(found.lever) <= set(LEVERS)
    assert "{" not in words(found)


def test_earlier_rules_come_first():
    held = facts("PAUSED", slowest=(SLOW,), why="operator", trouble="x", gap=900.0)
    assert sentence_of(held).code == "paused-operator"
    stuck = facts(slowest=(SLOW,), trouble="http://x.test/: no name", gap=900.0)
    assert sentence_of(stuck).code == "retries"
    assert sentence_of(facts(slowest=(SLOW,), gap=900.0)).code == "one-host-crawl-delay"


def test_the_sentence_in_words():
    found = sentence_of(facts(slowest=(structs.replace(SLOW, pending=48_211, needs=241_055.0),)))
    assert words(found) == (
        "waits for one host: example.org allows a fetch each 5.0 s (Crawl-delay); "
        "48,211 URIs there need 2 d 18 h"
    )
    assert words(sentence_of(facts(rate=41.26, left=10_800.0))) == "41.3 URIs/s; about 3 h left"
    space = facts("PAUSED", why="disk", free=2_100_000_000, reserve=4_000_000_000)
    assert words(sentence_of(space)) == (
        "paused: 2.1 GB are free, 4.0 GB are kept in reserve; it goes on by itself"
    )
    over = facts("FINISHED", ended_at=1_795_442_580.0, documents=12_480, failed_pages=3)
    assert words(sentence_of(over)) == (
        "finished 2026-11-23 14:03:00 UTC: 12,480 documents, 3 pages failed"
    )
    refused = facts(troubled=TroubledHost("图书馆.test", 429, 0.5, 60.0))
    assert words(sentence_of(refused)) == "图书馆.test answers 429; its delay is 1 min now"


def test_a_sentence_in_another_language():
    texts = {MESSAGES["slots-busy"]: "{hosts}、{parallel}"}
    sentence = Sentence("slots-busy", {"parallel": 25, "hosts": 310})
    assert words(sentence, texts.__getitem__) == "310、25"


def test_each_message_can_be_worded():
    for code, message in MESSAGES.items():
        names = [name for _, name, _, _ in Formatter().parse(message) if name]
        assert re.fullmatch(r"[a-z-]+", code)
        assert "{" not in words(Sentence(code, dict.fromkeys(names, 1)))
