"""What is told of URIs that leave the frontier without a fetch."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.frontier.removal import Removed
from nacre.job.admission.identity import Identity, canonicalizer
from nacre.job.configuration.settings import JobSettings
from nacre.job.intake.edits import note_removed
from nacre.job.visit.outcomes import Outcomes
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
        (-2, -61, "robots.txt of http://a.test could not be had "
         "(-2: No connection, or its TLS handshake failed)"),
        (503, -61, "robots.txt of http://a.test could not be had (503: HTTP status 503)"),
        (None, -61, "robots.txt of http://a.test could not be had"),
        (-2, -2, ""),
    ],
)  # fmt: skip
def test_a_uri_given_up_for_want_of_robots_txt_says_why(
    robots: int | None, status: int, error: str
):
    outcomes = Outcomes(Store(MemoryEngine()))
    if robots is not None:
        outcomes.put(Visit(uri(HOME + "robots.txt"), status=robots))
    parts = SimpleNamespace(
        outcomes=outcomes, identity=IDENTITY, frontier=SimpleNamespace(journal=None),
        clock=Mock(), statistics=Mock(), logs=Mock(), commit=Mock(),
    )  # fmt: skip
    note_removed(cast("Any", parts), Removed(uri(HOME), status))
    outcome = outcomes.get(IDENTITY.key(HOME))
    assert outcome is not None
    assert (outcome.status, outcome.error) == (status, error)
    parts.commit.visit_done.assert_called_once_with()
