"""What is told of URIs that leave the frontier without a fetch."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.outcomes import Outcomes
from nacre.frontier.pending import NO_JOURNAL
from nacre.frontier.queue_store import RemovedUri
from nacre.job.frontier_edits import RemovalRecorder
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
