"""Politeness beyond one queue: groups of an address, and other jobs."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.politeness import AddressGroups
from nacre.frontier.queues import Queue, QueueRow, QueueState
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.frontier.shared_slots import OccupiedQueue
from tests.frontier.making import NOW, candidate
from tests.frontier.memory_rows import MemoryRows


class Slots:
    """Slots of a machine on which another job has some hosts.

    Args:
        waits: Seconds that a queue has to wait, by the first letter of its name.
    """

    def __init__(self, waits: dict[str, float] | None = None) -> None:
        self.waits = waits or {}
        self.log: list[tuple[str, float]] = []
        self.seen: list[OccupiedQueue] = []

    def take(self, identity: bytes, limit: int, mono: float) -> float:
        wait = self.waits.get(name_of(identity), 0.0)
        self.log.append((f"take {name_of(identity)} of {limit}", mono))
        return wait

    def give(self, identity: bytes, until: float) -> None:
        self.log.append((f"give {name_of(identity)}", until))

    def look(self, mono: float, occupied: Callable[[], Iterable[OccupiedQueue]]) -> None:
        self.seen = list(occupied())

    def close(self, occupied: Iterable[OccupiedQueue]) -> None:
        self.seen = list(occupied)


def name_of(identity: bytes) -> str:
    return next(one for one in "abc" if Queue(QueueRow(f"{one},")).identity == identity)


def made(
    hosts: str = "ab", delay: float = 2.0, slots: Slots | None = None, in_flight: int = 1
) -> Frontier:
    polite = PolitenessSettings(delay=delay, in_flight=in_flight)
    settings = fixed(FrontierSettings())
    front = Frontier(MemoryRows(), settings, fixed(polite), NOW, 0.0, slots=slots)
    front.schedule([candidate(host, str(n)) for host in hosts for n in range(3)], NOW)
    return front


def share(front: Frontier, queues: Sequence[str], *addresses: str) -> None:
    for name in queues:
        front.share(f"{name},", addresses)


def take(front: Frontier, mono: float = 0.0) -> CrawlURI:
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    return uri


# ---- groups


def test_a_group_waits_for_the_last_of_its_addresses() -> None:
    groups = AddressGroups()
    groups.begin("1.1.1.1 2.2.2.2")
    groups.begin("2.2.2.2")
    assert groups.until("3.3.3.3", 5.0, 1) == 5.0
    assert groups.until("1.1.1.1", 5.0, 2) == 5.0
    assert groups.until("1.1.1.1", 5.0, 1) == "1.1.1.1"
    assert groups.until("2.2.2.2", 5.0, 2) == "2.2.2.2"
    groups.end("1.1.1.1 2.2.2.2", 9.0, 5.0)
    assert groups.until("1.1.1.1", 5.0, 1) == 9.0
    assert groups.until("2.2.2.2", 5.0, 1) == "2.2.2.2"
    groups.end("2.2.2.2", 7.0, 5.0)
    assert groups.until("2.2.2.2", 5.0, 1) == 9.0, "the later of two delays holds"


def test_what_comes_back_twice_leaves_no_place_too_many() -> None:
    groups = AddressGroups()
    groups.end("1.1.1.1", 3.0, 0.0)
    groups.begin("1.1.1.1")
    assert groups.until("1.1.1.1", 0.0, 1) == "1.1.1.1"


def test_another_delay_holds_for_the_groups_that_had_the_old_one() -> None:
    groups = AddressGroups()
    for name, wake in (("1.1.1.1", 10.0), ("2.2.2.2", 20.0)):
        groups.begin(name)
        groups.end(name, wake, 0.0)
    groups.repace("1.1.1.1 2.2.2.2 3.3.3.3", 10.0, 4.0, 0.0)
    assert groups.until("1.1.1.1", 0.0, 1) == 4.0
    assert groups.until("2.2.2.2", 0.0, 1) == 20.0
    assert groups.until("3.3.3.3", 0.0, 1) == 0.0


def test_many_addresses_are_forgotten_when_their_delay_is_over() -> None:
    groups = AddressGroups()
    groups.begin("busy")
    for number in range(10_001):
        groups.end(f"a{number}", 5.0 if number else 1e6, 9.0)
    assert groups.until("busy", 9.0, 1) == "busy"
    assert groups.until("a0", 9.0, 1) == 1e6
    assert groups.until("a1", 9.0, 1) == 9.0


def test_hosts_of_one_address_are_fetched_from_one_at_a_time() -> None:
    front = made()
    share(front, "ab", "1.1.1.1")
    first = take(front)
    assert front.next(NOW, 0.0) is None
    assert front.queue_states.find("b,").row.state is QueueState.SNOOZED
    assert front.next_wake(0.0) is None, "only a finish can help"
    front.finished(first, Attempt(200, 2.0), 1.0)
    assert front.next_wake(1.0) == pytest.approx(2.0)
    assert front.next(NOW + 2.9, 2.9) is None
    assert take(front, 3.0).queue == "b,"


def test_many_parked_queues_are_looked_at_one_a_second() -> None:
    hosts = [f"h{number}" for number in range(200)]
    front = Frontier(
        MemoryRows(), fixed(FrontierSettings()), fixed(PolitenessSettings(delay=0.5)), NOW, 0.0
    )
    front.schedule([candidate(host, str(n)) for host in hosts for n in range(2)], NOW)
    share(front, hosts, "1.1.1.1")
    groups = front.politeness.groups
    for step in range(0, 600, 4):
        mono = step / 4
        uri = take(front, mono)
        assert front.next(NOW + mono, mono) is None
        front.finished(uri, Attempt(200, 0.25), mono + 0.5)
        assert len(groups._due) <= 3, "one for what came back last, and one look a second"
    assert len(groups._addresses["1.1.1.1"].parked) > 50


def test_a_parked_queue_that_does_not_take_its_place_holds_up_no_other() -> None:
    front = made("abcd")
    share(front, "abcd", "1.1.1.1")
    groups = front.politeness.groups
    first = take(front)
    assert front.next(NOW, 0.0) is None
    front.finished(first, Attempt(200, 2.0), 0.0)
    woken = [groups.released(mono) for mono in (1.9, 2.0, 2.0, 2.9, 3.0, 3.5, 4.0, 9.0)]
    names = [queue.name if queue is not None else "" for queue in woken]
    assert names == ["", "b,", "", "", "c,", "", "d,", ""]
    assert groups.wait(9.0) is None


def test_queues_that_are_parked_for_one_address_take_turns() -> None:
    front = made("abc")
    share(front, "abc", "1.1.1.1")
    order, mono = [], 0.0
    while not front.is_empty:
        uri = take(front, mono)
        assert front.next(NOW + mono, mono) is None, "one at a time"
        order.append(uri.queue[0])
        front.finished(uri, Attempt(200, 2.0), mono)
        mono += 2.0
    assert "".join(order) == "abc" * 3


def test_a_shorter_delay_wakes_what_is_parked_for_an_address() -> None:
    front = made()
    share(front, "ab", "1.1.1.1")
    front.finished(take(front), Attempt(200, 50.0), 0.0)
    assert front.next(NOW + 10, 10.0) is None
    front.queue_states.settings.politeness.replace([PolitenessSettings(delay=12)])
    front.operator.apply_settings(10.0)
    assert front.next(NOW + 11, 11.9) is None
    assert take(front, 12.1).queue in {"a,", "b,"}


def test_a_host_that_changes_its_address_takes_its_fetches_along() -> None:
    front = made()
    share(front, "a", "1.1.1.1")
    share(front, "b", "2.2.2.2")
    first = take(front)
    share(front, [first.queue[0]], "2.2.2.2")
    assert front.next(NOW, 0.0) is None, "the other host waits for it now"
    front.finished(first, Attempt(200), 0.0)
    take(front)


def test_a_host_without_neighbours_waits_for_nobody() -> None:
    front = made()
    share(front, "ab", "1.1.1.1")
    share(front, "b")
    assert {take(front).queue, take(front).queue} == {"a,", "b,"}


# ---- other jobs


def test_a_host_that_another_job_has_waits_and_is_asked_for_again() -> None:
    slots = Slots({"a": 7.0})
    front = made("a", slots=slots)
    assert front.next(NOW, 0.0) is None
    assert front.next_wake(0.0) == pytest.approx(7.0)
    slots.waits.clear()
    uri = take(front, 7.1)
    front.finished(uri, Attempt(200, 2.0), 8.0)
    assert slots.log == [("take a of 1", 0.0), ("take a of 1", 7.1), ("give a", 10.0)]


def test_a_long_rest_of_another_job_is_asked_about_every_half_minute() -> None:
    front = made("a", slots=Slots({"a": 5_000.0}))
    assert front.next(NOW, 0.0) is None
    assert front.next_wake(0.0) == pytest.approx(30.0)


def test_queues_without_a_delay_take_no_slots() -> None:
    slots = Slots({"a": 7.0})
    front = made("a", delay=0.0, slots=slots)
    assert take(front).queue == "a,"
    assert slots.log == []


def test_other_jobs_hear_of_what_is_in_process_and_what_rests() -> None:
    slots = Slots()
    front = made("abc", slots=slots, in_flight=2)
    front.finished(take(front), Attempt(200, 5.0), 1.0)
    take(front, 1.0)
    front.politeness.look(2.0)
    told = {name_of(one.identity): one[1:] for one in slots.seen}
    assert told == {"a": (0, 6.0), "b": (1, 0.0)}


def test_a_job_that_ends_tells_what_rests_and_asks_for_no_slot_again() -> None:
    slots = Slots()
    front = made("ab", slots=slots)
    front.snooze("a,", NOW + 500, NOW, 0.0)
    front.finished(take(front), Attempt(200, 5.0), 0.0)
    front.politeness.leave()
    assert sorted(name_of(one.identity) for one in slots.seen) == ["a", "b"]
    before = len(slots.log)
    assert take(front, 6.0).queue == "b,"
    assert len(slots.log) == before


def asleep(front: Frontier) -> Iterator[str]:
    return (queue.name for queue in front.queue_states.sleeping())


def test_what_sleeps_in_the_store_is_told_to_a_job_that_comes() -> None:
    slots = Slots()
    front = made("a", slots=slots)
    front.finished(take(front), Attempt(200, 500.0), 0.0)
    assert list(asleep(front)) == ["a,"]
    front.politeness.look(1.0)
    assert (name_of(slots.seen[0].identity), slots.seen[0][2]) == ("a", 500.0)
