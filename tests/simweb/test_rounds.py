"""The tables of batch rounds are the same to the last column for any units, killed or not."""

import pytest

from tests.simweb.rounds import HOSTS, SimulatedRounds, simulated_rounds

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> SimulatedRounds:
    """Rounds of one unit."""
    return simulated_rounds(tmp_path_factory.mktemp("one") / "c", 1)


def test_the_world_gives_rounds_something_to_do(one):
    first, second, third, last = one.statuses
    assert first == {200: HOSTS}
    assert second[200] + third[200] > 50
    assert last[304] > 20
    assert last[200] > 5
    assert set(one.hashes) >= {"crawldb", "hosts", "links", "signatures"}


def test_three_units_know_what_one_knows(one, tmp_path):
    found = simulated_rounds(tmp_path / "c", 3)
    assert (one.units, found.units) == ([1] * 4, [3] * 4)
    assert found.hashes == one.hashes
    assert found.statuses == one.statuses


def test_units_that_are_killed_and_go_on_know_the_same(one, tmp_path):
    kills = (3, 0, 2, 1, 0, 0, 9, 14, 0, 20, 0, 5, 0, 0, 11, 17, 3, 0)
    found = simulated_rounds(tmp_path / "c", 3, kills)
    assert found.killed == sum(map(bool, kills))
    assert found.hashes == one.hashes
    assert found.statuses == one.statuses
