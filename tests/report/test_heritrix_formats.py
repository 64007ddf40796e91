"""Logs and reports have the form of those of a real Heritrix: labels, columns, words.

The labels stand here in words; where real files of Heritrix 3.13 are at hand (`NACRE_SAMPLES`, or
`../shared/samples` beside the checkout), they are compared with those too.
"""

import gzip
import os
import re
from pathlib import Path

import pytest

from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl

PAGES = {
    "/": '<a href="a.html">文</a> <a href="http://">nothing</a><a href="http://a b/">no host</a>'
    '<img src="i.png">',
    "/a.html": '<p>text</p><a href="//">nothing</a>',
    "/i.png": "PNG",
}

CRAWL_REPORT = """\
crawl name: crawl status: duration: seeds crawled: seeds uncrawled: hosts visited: URIs processed:
URI successes: URI failures: URI disregards: novel URIs: total crawled bytes: novel crawled bytes:
URIs/sec: KB/sec:"""
FRONTIER = """\
Discovered: Queued: Finished: Successfully: Failed: Disregarded: Already included size: pending:
All class queues map size: Active queues: In-process: Ready: Snoozed: Inactive queues:
Retired queues: Exhausted queues: Last state:"""
QUEUE = "last enqueued: last peeked: total expended: active balance: last(avg) cost:"
HEADERS = {
    "hosts-report.txt": "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls] "
    "[#novel-bytes] [#dup-by-hash-urls] [#dup-by-hash-bytes] [#not-modified-urls] "
    "[#not-modified-bytes]",
    "mimetype-report.txt": "[#urls] [#bytes] [mime-types]",
    "responsecode-report.txt": "[#urls] [rescode]",
    "seeds-report.txt": "[code] [status] [seed] [redirect]",
}
PROGRESS = """\
timestamp discovered queued downloaded doc/s(avg) KB/s(avg) dl-failures busy-thread mem-use-KB
heap-size-KB congestion max-depth avg-depth"""
STATES = ["PREPARING", "RUNNING", "STOPPING", "EMPTY", "FINISHED"]
EVENTS = [
    "CRAWL RUNNING - Preparing",
    "CRAWL ENDING - Finished",
    "CRAWL EMPTY - Running",
    "CRAWL ENDED - Finished",
]
LEFT_OUT = {
    # Java's threads, and what Heritrix counts of each queue beside: see docs/heritrix.md.
    "Java Thread State",
    "Blocked/Waiting On",
}


def labels(text: str) -> list[str]:
    """What stands before the colons of lines, in their order; of a line with two, the first."""
    found = (re.match(r" *([A-Za-z][^:\d#\[]*):(?: |$)", line) for line in text.splitlines())
    return [match[1] for match in found if match]


def words(text: str) -> list[str]:
    return [" ".join(one.split()) for one in text.split(":")[:-1]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    with site(PAGES) as url:
        told = nacre("crawl", url, "--out", folder / "job", "--set", "politeness.delay=0")
        assert told.code == 0, told.err
    return folder / "job" / "latest"


@pytest.fixture
def sample() -> Path:
    """A run of a real Heritrix."""
    named = os.environ.get("NACRE_SAMPLES")
    beside = Path(__file__).parents[2].parent / "shared" / "samples"
    folder = (Path(named) if named else beside) / "heritrix" / "run"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; name the samples' folder with NACRE_SAMPLES")
    return folder


def text(run: Path, name: str) -> str:
    return (run / name).read_text("utf-8")


def test_the_crawl_report(run: Path):
    report = text(run, "reports/crawl-report.txt")
    assert labels(report) == words(CRAWL_REPORT)
    assert re.search(r"^total crawled bytes: \d+ \(.+ .*B\) $", report, re.MULTILINE)


def test_the_frontier_report(run: Path):
    report = text(run, "reports/frontier-summary-report.txt")
    assert re.match(r"Frontier report - \d{12}\n Job being crawled: \S+\n\n", report)
    found = labels(report)
    assert set(words(FRONTIER)) | set(words(QUEUE)) <= set(found)
    assert "Queue 127.0.0.1#" in report or "Queue 127.0.0.1 " in report


@pytest.mark.parametrize("name", HEADERS)
def test_tables_have_the_columns(run: Path, name: str):
    first, *rows = text(run, f"reports/{name}").splitlines()
    assert first == HEADERS[name]
    blank = " " if name == "hosts-report.txt" else ""
    assert rows
    assert all(row == f"{row.strip()}{blank}" for row in rows)


def test_reports_of_nothing(run: Path):
    assert text(run, "reports/threads-report.txt").strip() == "no ToeThreads"
    source = text(run, "reports/source-report.txt")
    assert source.startswith("No source tag information. (Is 'sourceTagSeeds' enabled?")


def test_the_processors(run: Path):
    report = text(run, "reports/processors-report.txt")
    assert [*re.findall(r"^(\w+Chain) - Processors report - \d{12}$", report, re.MULTILINE)] == [
        "CandidateChain",
        "FetchChain",
        "DispositionChain",
    ]
    assert re.search(r"^  \d+ links from \d+ CrawlURIs$", report, re.MULTILINE)
    for label in ("Function:", "Total CrawlURIs:", "Revisit records:"):
        assert f"\n  {label} " in report
    uncompressed = r"^  Total uncompressed bytes \(including all warc records\): (\d+) \(.*B\)$"
    found = re.search(uncompressed, report, re.MULTILINE)
    assert found
    assert int(found[1]) == sum(
        len(gzip.decompress(file.read_bytes())) for file in (run / "warcs").glob("*.warc.gz")
    )
    assert re.search(r"^  Total size on disk \(compressed\): \d+ \(.*B\)$", report, re.MULTILINE)


def test_progress_statistics(run: Path):
    first, *lines = text(run, "logs/progress-statistics.log").splitlines()
    assert first.split() == PROGRESS.split()
    rows = [line.split() for line in lines if " CRAWL " not in line]
    assert rows
    assert all(len(row) == len(first.split()) for row in rows)
    assert rows[0][4] == "0(NaN)"
    assert [line.partition(" ")[2] for line in lines if " CRAWL " in line] == EVENTS


def test_the_states_in_job_log(run: Path):
    assert (run / "job.log").readlink() == Path("logs/job.log")
    lines = [line.split(" ", 2) for line in text(run, "job.log").splitlines()]
    assert all(level == "INFO" for _, level, _ in lines)
    told = [message for *_, message in lines]
    name = run.resolve().name
    assert [message.split()[0] for message in told if message.endswith(name)] == STATES
    assert told[:2] == ["Job instantiated", "Job launched"]
    assert told[-1] == "Job instance discarded"


def test_uri_errors(run: Path):
    lines = text(run, "logs/uri-errors.log").splitlines()
    assert lines
    assert all(re.fullmatch(r'\S+Z \S+ "[^"]*" \S+', line) for line in lines)


def test_every_log_is_there_from_the_start(run: Path):
    names = {file.name for file in (run / "logs").iterdir()}
    assert names >= {
        "alerts.log",
        "crawl.log",
        "nonfatal-errors.log",
        "progress-statistics.log",
        "runtime-errors.log",
        "uri-errors.log",
    }


def test_guesses_that_are_not_tried_leave_no_line_but_a_number(tmp_path: Path):
    guesses = ",".join(f'"data/名{n}/x.html"' for n in range(400))
    home = f"<!DOCTYPE html><meta charset=utf-8><script>var a=[{guesses}];</script>"
    quick = ("--set", "politeness.delay=0", "--set", "politeness.in_flight=1")
    with site({"/": home}) as url:
        assert nacre("crawl", url, "--out", tmp_path / "job", *quick).code == 0
    job = tmp_path / "job"
    report = text(job / "latest", "reports/crawl-report.txt")
    (number,) = re.findall(r"^guesses not tried: (\d+)$", report, re.MULTILINE)
    assert int(number) > 200
    lines = text(job / "latest", "logs/crawl.log").splitlines()
    assert f"URIs processed: {len(lines)}\n" in report
    assert not any(line.split()[1] == "-5000" for line in lines)
    tried = {line.split()[3] for line in lines}
    everything = {f"{url}data/%E5%90%8D{n}/x.html" for n in range(400)}
    left_out = sorted(everything - tried)
    assert len(left_out) == int(number)
    assert "guesses of its kind" in nacre("explain", job, left_out[0]).out


def test_label_by_label(run: Path, sample: Path):
    """What a real Heritrix writes has its place in ours, in the same order."""
    for name in ("crawl-report.txt", "frontier-summary-report.txt", *HEADERS, "threads-report.txt"):
        theirs, ours = (text(each, f"reports/{name}") for each in (sample, run))
        wanted = [label for label in labels(theirs) if label not in LEFT_OUT]
        found = iter(labels(ours))
        first = dict.fromkeys(wanted)  # a block for each queue has its labels again
        assert all(label in found for label in first), (name, wanted, labels(ours))
        if name in HEADERS:
            assert ours.splitlines()[0] == theirs.splitlines()[0]
    theirs, ours = (text(each, "logs/progress-statistics.log") for each in (sample, run))
    assert ours.splitlines()[0] == theirs.splitlines()[0]
    events = [line.partition(" ")[2] for line in theirs.splitlines() if " CRAWL " in line]
    assert [event for event in events if event in EVENTS] == EVENTS
    states = [line.split()[2] for line in text(sample, "job.log").splitlines()]
    assert [state for state in states if state in STATES] == STATES
