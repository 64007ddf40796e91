"""only what the operator writes opens a private network (docs/threat-model.md).

On the code before, what a public seed's name resolved to was taken for a named network: all of
loopback, or 10.0.0.1, was open to the whole job.
"""

import json
from dataclasses import dataclass

import pytest

from tests.crawl.private_seeds import LOOPBACK, PRIVATE, PUBLIC
from tests.netns import run_isolated

pytestmark = pytest.mark.crawl


@dataclass(frozen=True)
class Told:
    """Of a case: requests by address, log lines, and by URL what went wrong."""

    asked: dict[str, int]
    log: list[str]
    errors: dict[str, str]

    def statuses(self, host: str) -> set[int]:
        """Of the front page of a host."""
        end = f"http://{host}:8099/"
        return {int(line.split()[1]) for line in self.log if line.split()[3] == end}


def case(name, tmp_path):
    return Told(**json.loads(run_isolated("tests.crawl.private_seeds", name, tmp_path / "job")))


@pytest.mark.parametrize(
    "name",
    [
        "public", "rebinding", "mixed",
        pytest.param("recrawl", marks=pytest.mark.slow),
        pytest.param("others", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_public_name_opens_nothing(name, tmp_path):
    told = case(name, tmp_path)
    assert told.asked[PUBLIC] > 0
    assert told.asked.keys() == {PUBLIC}


def test_the_refusal_names_the_flag_that_would_allow_it(tmp_path):
    told = case("public", tmp_path)
    assert told.statuses("shop.example.com") == {200}
    assert told.statuses("rogue.example.com") == told.statuses("thief.example.com") == {-61}
    for name, address in (("rogue", LOOPBACK), ("thief", PRIVATE)):
        error = told.errors[f"http://{name}.example.com:8099/"]
        assert f"{name}.example.com: {address} is refused" in error
        assert f"--allow-net {address}/32" in error
    assert case("allowed", tmp_path / "again").statuses("shop.example.com") == {200}


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("address", PRIVATE),
        ("mapping", "shop.example.com"),
        ("中文", "xn--fsqu00a.xn--fiqs8s"),
        ("internal", "db.internal"),
        pytest.param("local", "wiki.local", marks=pytest.mark.slow),
        pytest.param("home", "nas.home.arpa", marks=pytest.mark.slow),
        pytest.param("chinese", "xn--fsqu00a.test", marks=pytest.mark.slow),
    ],
)
def test_what_the_operator_writes_opens_its_own_addresses(name, host, tmp_path):
    told = case(name, tmp_path)
    assert told.statuses(host) == {200}
    assert LOOPBACK not in told.asked
