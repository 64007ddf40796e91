"""What is told of URIs that leave the frontier without a fetch."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast
from unittest.mock import Mock

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.outcomes import Outcomes
from nacre.frontier.pending import NO_JOURNAL
from nacre.frontier.queue_store import RemovedUri
from nacre.job.frontier_edits import (
    READMITTED,
    RemovalRecorder,
    readmitted_files,
    readmitted_lines,
    takes_back,
)
from nacre.runs.runs import RunRow, write_run
from nacre.scope.patterns.matching import any_text, matcher
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

SETTINGS = JobSettings()
IDENTITY = Identity(canonicalizer(SETTINGS.uri), fixed(SETTINGS.frontier))
HOME = "http://a.test/"


def uri(url: str) -> CrawlURI:
    return CrawlURI(url, IDENTITY.key(url), IDENTITY.queue(url))


@pytest.mark.parametrize(
    ("robots", "status", "error"),
    [
        (-2, -61, "robots.txt of http://a.test could not be fetched "
         "(-2: No connection, or its TLS handshake failed)"),
        (503, -61, "robots.txt of http://a.test could not be fetched (503: HTTP status 503)"),
        (None, -61, "robots.txt of http://a.test could not be fetched"),
        (-2, -2, ""),
    ],
)  # fmt: skip
def test_a_uri_given_up_for_want_of_robots_txt_says_why(
    robots: int | None, status: int, error: str
):
    outcomes = Outcomes(Store(MemoryEngine()))
    if robots is not None:
        outcomes.put(Visit(uri(HOME + "robots.txt"), status=robots))
    commit = Mock()
    recorder = RemovalRecorder(
        frontier=cast("Any", SimpleNamespace(journal=NO_JOURNAL)), statistics=Mock(),
        outcomes=outcomes, identity=IDENTITY, logs=Mock(), commit=commit, clock=Mock(),
    )  # fmt: skip
    recorder.record(RemovedUri(uri(HOME), status))
    outcome = outcomes.get(IDENTITY.key(HOME))
    assert outcome is not None
    assert (outcome.status, outcome.error) == (status, error)
    commit.visit_done.assert_called_once_with()


A = "http://a.test/"


def test_what_was_deleted_and_what_was_refused_comes_back():
    store = Store(MemoryEngine())
    outcomes, refused = Outcomes(store), RejectedUris(store)
    for name, status in (("cal/1", FetchStatus.DELETED), ("cal/old/2", FetchStatus.DELETED),
                         ("cal/3", 200)):  # fmt: skip
        uri = CrawlURI(A + name, name.encode(), "", via=A, path="L")
        outcomes.put(Visit(uri, status=status))
    refused.add(b"4", Subject(f"{A}cal/4", "LL", A), "matches-list-regex")
    refused.add(b"5", Subject(f"{A}other/5", "LL", A), "too-many-hops")
    urls = matcher("/cal/")
    assert list(readmitted_lines(store, "refused", urls)) == [f"F+ {A}cal/4 LL {A}"]
    back = [f"F+ {A}cal/1 L {A}", f"F+ {A}cal/old/2 L {A}"]
    assert list(readmitted_lines(store, "deleted", urls)) == back
    assert list(readmitted_lines(store, "deleted", urls, ["/old/"])) == back[:1]
    assert list(readmitted_lines(store, "deleted", any_text, ["^x$"])) == back
    assert set(READMITTED) == {"deleted", "refused"}


def test_what_comes_back_is_in_files_while_it_is_imported():
    store = Store(MemoryEngine())
    outcomes = Outcomes(store)
    uri = CrawlURI(f"{A}cal/馆", b"1", "", via=A, path="L")
    outcomes.put(Visit(uri, status=FetchStatus.DELETED))

    class Look(NamedTuple):
        store: Store

    looks = list[bool]()

    @contextmanager
    def look() -> Iterator[Look]:
        looks.append(True)
        yield Look(store)
        looks.append(False)

    files = list[Path]()
    for path, options in readmitted_files(look, any_text):
        assert not looks[-1]
        assert path.read_text("utf-8") == f"F+ {A}cal/馆 L {A}\n"
        assert options == READMITTED["deleted"]
        files.append(path)
    (file,) = files  # of what was refused there is nothing
    assert not file.exists()


def test_only_a_run_that_can_be_gone_on_with_takes_urls_back():
    store = Store(MemoryEngine())
    assert not takes_back(store)
    for exit_, closed, back in (
        (ExitStatus.ABORTED, False, True), (ExitStatus.DOCUMENT_LIMIT, False, True),
        (ExitStatus.FINISHED, False, False), (ExitStatus.ABORTED, True, False),
    ):  # fmt: skip
        write_run(store, RunRow("r", 1, 0.0, exit=exit_, closed=closed))
        assert takes_back(store) == back, exit_
