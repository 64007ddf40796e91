"""The answers, compared key by key with those of a real Heritrix; see `differences.md`."""

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from nacre.job.overview import JobOverview
from nacre_migrate.port.answers import Tree, xml_document
from nacre_migrate.port.model import (
    HeapFacts,
    HeritrixJobFacts,
    engine_tree,
    job_tree,
    pretty,
    script_tree,
)

BASE = "https://127.0.0.1:8443/engine"
HEAP = HeapFacts(1, 2, 3)
QUEUES = {"inactive": 1}

NEW_KEYS = {"warcNovelContentBytes", "warcNovelUrls", "profiles"}
"""Keys of 3.15, or of Heritrix once something was written."""
LEFT_OUT = {"alertLogFilePath", "alertLogFileUrl"}
"""Keys that a built job has in Heritrix before its first launch."""


def job(state: str, ended: str = "", **seen: object) -> HeritrixJobFacts:
    launched = state not in {"", "NASCENT"}
    return HeritrixJobFacts(
        "demo", "/srv/heritrix/jobs/demo", BASE, "crawler-beans.cxml", state=state, exit=ended,
        launch="20261122121145" if launched else "", run="/srv/x" if launched else "",
        launches=int(launched), launched=1795349505.563 if launched else 0.0,
        overview=JobOverview(state, queues=QUEUES, **seen) if launched else None,  # type: ignore[arg-type]
    )  # fmt: skip


def told(root: str, tree: Tree) -> ElementTree.Element:
    return ElementTree.fromstring(xml_document(root, tree))


def keys(element: ElementTree.Element, path: str = "") -> set[str]:
    """All paths of elements but those of lists, which have as many items as there are."""
    found = set()
    for child in element:
        if child.tag != "value":
            at = f"{path}/{child.tag}"
            found |= {at} | keys(child, at)
    return found


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("03-job-unbuilt", job("")),
        ("06-build", job("NASCENT")),
        ("08-launch", job("PAUSED", parallel=25, queued=1, discovered=1)),
        ("11-job-running", job("RUNNING", parallel=25, succeeded=3)),
        ("12-pause", job("PAUSING", parallel=25)),
        ("24-terminate", job("STOPPING", parallel=25)),
        ("25-job-finished", job("FINISHED", "ABORTED")),
    ],
)
def test_a_job_has_the_keys_states_and_actions_of_heritrix(
    golden: Path, name: str, facts: HeritrixJobFacts
):
    theirs = ElementTree.fromstring((golden / f"{name}.xml").read_text())
    ours = told("job", job_tree(facts, HEAP))
    missing = keys(theirs) - keys(ours)
    assert {path.rpartition("/")[2] for path in missing} <= LEFT_OUT | {
        "crawlLogFilePath", "crawlLogFileUrl",
    }  # fmt: skip
    assert {path.rpartition("/")[2] for path in keys(ours) - keys(theirs)} <= NEW_KEYS
    for key in (
        "shortName", "crawlControllerState", "crawlExitStatus", "statusDescription", "launchCount",
        "lastLaunch", "isProfile", "primaryConfig", "primaryConfigUrl", "isRunning",
        "isLaunchable", "hasApplicationContext", "isLaunchInfoPartial",
    ):  # fmt: skip
        assert ours.findtext(key) == theirs.findtext(key), key
    actions = "availableActions/value"
    assert [one.text for one in ours.findall(actions)] == [
        one.text for one in theirs.findall(actions)
    ]
    reports = "reports/value/className"
    assert [one.text for one in ours.findall(reports)] == [
        one.text for one in theirs.findall(reports)
    ]


@pytest.mark.parametrize(
    ("name", "jobs"),
    [("01-engine-empty", []), ("02-create", [job("")]), ("22-engine-one", [job("PAUSED")])],
)
def test_the_engine_has_the_keys_of_heritrix(golden: Path, name: str, jobs: list[HeritrixJobFacts]):
    theirs = ElementTree.fromstring((golden / f"{name}.xml").read_text())
    ours = told("engine", engine_tree("3.15.0", HEAP, "/srv/heritrix/jobs", BASE, jobs, []))
    assert keys(ours) - keys(theirs) == {"/profiles"}
    assert not keys(theirs) - keys(ours)
    differing = {"primaryConfigUrl"}
    for mine, other in zip(ours.findall("jobs/value"), theirs.findall("jobs/value"), strict=True):
        assert [one.tag for one in mine] == [one.tag for one in other]
        for one, same in zip(mine, other, strict=True):
            assert one.text == same.text or one.tag in differing, one.tag


def test_the_form_of_scripts_has_the_keys_of_heritrix(golden: Path):
    theirs = ElementTree.fromstring((golden / "18-script-form.xml").read_text())
    ours = told("script", script_tree(job("PAUSED")))
    assert ElementTree.tostring(ours).strip() == ElementTree.tostring(theirs).strip()


def test_a_refused_script_looks_like_one_that_failed(golden: Path):
    theirs = ElementTree.fromstring((golden / "20-script-error.xml").read_text())
    ours = told("script", script_tree(job("PAUSED"), "this is no script(", error="not run"))
    assert [one.tag for one in ours] == [one.tag for one in theirs]
    assert ours.findtext("failure") == "true"


def test_a_script_that_printed(golden: Path):
    theirs = ElementTree.fromstring((golden / "19-script.xml").read_text())
    script = theirs.findtext("script") or ""
    ours = told("script", script_tree(job("PAUSED"), script, "6\n"))
    assert ElementTree.tostring(ours).strip() == ElementTree.tostring(theirs).strip()


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0ms"), (294, "294ms"), (10608, "10s608ms"), (11043, "11s43ms"), (3_723_000, "1h2m3s")],
)
def test_times_are_written_as_theirs(milliseconds: int, text: str):
    assert pretty(milliseconds) == text


def test_toes_and_queues_are_told_by_the_numbers_of_the_job():
    facts = msgspec.structs.replace(
        job("RUNNING", parallel=25, busy=3),
        steps={"dns": 1, "fetch": 2},
        counts={"congestion": 1.5, "average": 4, "deepest": 9},
    )
    told_of = job_tree(facts, HEAP)
    assert told_of["threadReport"] == {
        "toeCount": 25,
        "steps": ["22 ABOUT_TO_GET_URI", "3 ABOUT_TO_BEGIN_PROCESSOR"],
        "processors": ["22 noActiveProcessor", "2 fetch", "1 dns"],
    }
    assert told_of["loadReport"] == {
        "busyThreads": 3, "totalThreads": 25, "congestionRatio": 1.5,
        "averageQueueDepth": 4, "deepestQueueDepth": 9,
    }  # fmt: skip


def test_the_checkpoint_of_a_launch_stands_before_those_that_there_are():
    assert "checkpointName" not in job_tree(job("RUNNING"), HEAP)
    facts = msgspec.structs.replace(job("RUNNING"), checkpoint="cp00002-中")
    names = list(job_tree(facts, HEAP))
    at = names.index("checkpointName")
    assert names[at - 1 : at + 2] == ["alertCount", "checkpointName", "checkpointFiles"]
    assert told("job", job_tree(facts, HEAP)).findtext("checkpointName") == "cp00002-中"
