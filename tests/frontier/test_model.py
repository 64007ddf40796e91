"""The frontier against a naive one that keeps everything in lists, through crashes at any point."""

from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain

import pytest
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.status import CountedAs, counted
from nacre.frontier import queue_states
from nacre.frontier.frontier import Attempt
from nacre.frontier.policy import Retry
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.scope.patterns.matching import any_text
from tests.frontier.making import NOW, candidate, frontier
from tests.frontier.memory_rows import MemoryRows

HOSTS = "abcde"
FOREVER = 1e9
EXAMPLES = 60


@dataclass
class Site:
    """A queue of the model; times are frontier times."""

    wake: float = 0.0
    delay: float = 0.0
    retired: bool = False
    pending: list[tuple[int, int, int, str, int]] = field(default_factory=list)


@dataclass
class Model:
    """What the frontier must know."""

    seen: set[str] = field(default_factory=set)
    sites: dict[str, Site] = field(default_factory=dict)
    future: list[tuple[float, str, tuple[int, int, int, str, int]]] = field(default_factory=list)
    ordinal: int = 0
    finished: dict[CountedAs, int] = field(default_factory=lambda: dict.fromkeys(CountedAs, 0))
    time: float = NOW

    def release(self, time: float) -> None:
        for due, host, entry in list(self.future):
            if int(due * 1000) / 1000 <= time:
                self.future.remove((due, host, entry))
                self.sites[host].pending.append(entry)

    @property
    def queued(self) -> int:
        live = {host for host, site in self.sites.items() if not site.retired}
        waiting = sum(1 for _, host, _ in self.future if host in live)
        return waiting + sum(len(self.sites[host].pending) for host in live)


class Machine(RuleBasedStateMachine):
    """Random lives of a frontier."""

    in_flight = 1
    settings = FrontierSettings(balance_replenish=2, recent_keys=4)

    def __init__(self) -> None:
        super().__init__()
        self.rows = MemoryRows()
        self.model = Model()
        self.mono = 0.0
        self.offset = NOW
        self.politeness = PolitenessSettings(delay=2, in_flight=self.in_flight)
        self.out: dict[str, list[CrawlURI]] = {host: [] for host in HOSTS + "z"}
        self.front = frontier(self.rows, self.settings, self.politeness)
        self.front.queue_states.cache.capacity = 2
        self.keep_going()
        self.save()

    def keep_going(self) -> None:
        """A site that sleeps for ever: without it the frontier would hurry its last retries."""
        sleeper = candidate("z", "0")
        self.front.schedule([sleeper], NOW)
        self.front.snooze("z,", NOW + FOREVER, NOW, 0.0)
        self.model.seen.add(sleeper.url)
        self.model.ordinal = 1
        self.model.sites["z"] = Site(NOW + FOREVER, pending=[(3, 1, 1, sleeper.url, 0)])

    @property
    def time(self) -> float:
        return self.mono + self.offset

    @property
    def now(self) -> float:
        return NOW + self.mono

    @rule(
        links=st.lists(
            st.tuples(
                st.sampled_from(HOSTS),
                st.integers(0, 9),
                st.integers(0, 3),
                st.integers(0, 2),
                st.booleans(),
            ),
            max_size=8,
        )
    )
    def schedule(self, links: list[tuple[str, int, int, int, bool]]) -> None:
        given = [
            candidate(host, str(name), directive=d, precedence=p, force_fetch=force)
            for host, name, d, p, force in links
        ]
        expected = []
        for uri, (host, *_) in zip(given, links, strict=True):
            enters = uri.force_fetch or uri.url not in self.model.seen
            expected.append(enters)
            self.model.seen.add(uri.url)
            site = self.model.sites.get(host)
            if enters:
                site = site or self.model.sites.setdefault(host, Site())
                self.model.ordinal += 1
                entry = (uri.directive, uri.precedence, self.model.ordinal, uri.url, 0)
                site.pending.append(entry)
        assert self.front.schedule(given, self.now) == expected

    @rule()
    def next(self) -> None:
        uri = self.front.next(self.now, self.mono)
        self.model.release(self.time)
        able = {}
        for host, site in self.model.sites.items():
            busy = {out.ordinal for out in self.out[host]}
            free = sorted(entry for entry in site.pending if entry[2] not in busy)
            resting = site.retired or len(busy) >= self.in_flight or site.wake > self.time + 1e-6
            if free and not resting:
                able[host] = free[0]
        if uri is None:
            assert not able
            return
        host = uri.queue[0]
        assert able[host] == (uri.directive, uri.precedence, uri.ordinal, uri.url, uri.attempts)
        self.out[host].append(uri)

    def pick(self, data: st.DataObject) -> CrawlURI:
        host = data.draw(st.sampled_from([host for host in HOSTS if self.out[host]]))
        return self.out[host].pop(data.draw(st.integers(0, len(self.out[host]) - 1)))

    def close(self, uri: CrawlURI, delay: float) -> tuple[Site, tuple[int, int, int, str, int]]:
        site = self.model.sites[uri.queue[0]]
        entry = next(entry for entry in site.pending if entry[2] == uri.ordinal)
        if delay:
            site.delay = delay
            site.wake = max(site.wake, self.time + delay)
        return site, entry

    def is_out(self) -> bool:
        return any(self.out.values())

    @precondition(is_out)
    @rule(
        data=st.data(), delay=st.sampled_from([0, 3, 90]), status=st.sampled_from([200, -2, -9998])
    )
    def finish(self, data: st.DataObject, delay: float, status: int) -> None:
        uri = self.pick(data)
        site, entry = self.close(uri, delay)
        site.pending.remove(entry)
        self.model.finished[counted(status)] += 1
        self.front.finished(uri, Attempt(status, delay), self.mono)

    @precondition(is_out)
    @rule(
        data=st.data(),
        delay=st.sampled_from([0, 3]),
        wait=st.sampled_from([0, 1, 10, 200]),
        hold=st.booleans(),
    )
    def retry(self, data: st.DataObject, delay: float, wait: float, hold: bool) -> None:
        uri = self.pick(data)
        site, entry = self.close(uri, delay)
        again = (*entry[:4], uri.attempts + 1)
        site.pending.remove(entry)
        others = len(site.pending) > len(self.out[uri.queue[0]])
        if hold:
            site.wake = max(site.wake, self.time + wait)
        if hold and not others:
            site.pending.append(again)
        else:
            later = self.time + (2 * max(wait, delay) if hold else wait)
            self.model.future.append((later, uri.queue[0], again))
        self.front.retry(uri, Attempt(-2, delay), Retry(self.now + wait, hold), self.now, self.mono)

    @precondition(is_out)
    @rule(data=st.data())
    def defer(self, data: st.DataObject) -> None:
        uri = self.pick(data)
        self.front.deferred(uri, None, self.mono)

    @rule(host=st.sampled_from(HOSTS), name=st.integers(0, 9))
    def delete(self, host: str, name: int) -> None:
        url = f"http://{host}/{name}"
        gone = {removed.uri.ordinal for removed in self.front.operator.delete(lambda u: u == url)}
        model = self.model
        busy = {out.ordinal for out in self.out[host]}
        waiting = [entry for _, _, entry in model.future] + list(
            chain.from_iterable(site.pending for site in model.sites.values())
        )
        assert gone == {e[2] for e in waiting if e[3] == url and e[2] not in busy}
        for site in model.sites.values():
            site.pending = [entry for entry in site.pending if entry[2] not in gone]
        model.future = [waits for waits in model.future if waits[2][2] not in gone]
        model.finished[CountedAs.DISREGARDED] += len(gone)

    @rule(host=st.sampled_from(HOSTS), name=st.integers(0, 9))
    def first(self, host: str, name: int) -> None:
        url = f"http://{host}/{name}"
        number = sum(self.front.operator.bring_forward(lambda u: u == url, any_text))
        moved = 0
        busy = {out.ordinal for out in self.out[host]}

        def placed(entry: tuple[int, int, int, str, int]) -> tuple[int, int, int, str, int]:
            nonlocal moved
            if entry[3] != url or entry[2] in busy or entry[0] <= Directive.HIGH:
                return entry
            moved += 1
            return (int(Directive.HIGH), *entry[1:])

        for site in self.model.sites.values():
            site.pending = [placed(entry) for entry in site.pending]
        self.model.future = [(due, at, placed(entry)) for due, at, entry in self.model.future]
        assert number == moved

    @rule(host=st.sampled_from(HOSTS))
    def retire(self, host: str) -> None:
        if host in self.model.sites:
            self.model.sites[host].retired = True
            self.front.retire(f"{host},")

    @rule()
    def unretire(self) -> None:
        for site in self.model.sites.values():
            site.retired = False
        self.front.unretire()

    @rule(seconds=st.sampled_from([0.5, 2, 30, 300]))
    def wait(self, seconds: float) -> None:
        self.mono += seconds

    @rule()
    def save(self) -> None:
        self.front.save()
        self.rows.commit()
        self.model.time = self.time
        self.kept = deepcopy(self.model)

    @rule(clock=st.sampled_from([0.0, -86400.0, 5.0]), mono=st.sampled_from([0.0, 1e6]))
    def crash(self, clock: float, mono: float) -> None:
        self.rows.crash()
        now = self.now + clock
        self.model = deepcopy(self.kept)
        self.mono = mono
        self.offset = max(now, self.model.time) - mono
        for site in self.model.sites.values():
            site.wake = max(site.wake, self.time + max(site.delay, 2.0))
        self.out = {host: [] for host in HOSTS + "z"}
        self.front = frontier(self.rows, self.settings, self.politeness, now, mono)
        self.front.queue_states.cache.capacity = 2

    @invariant()
    def counts_agree(self) -> None:
        totals = self.front.totals
        assert totals.discovered == len(self.model.seen)
        assert totals.queued == self.model.queued
        assert totals.succeeded == self.model.finished[CountedAs.SUCCESS]
        assert totals.failed == self.model.finished[CountedAs.FAILURE]
        assert totals.disregarded == self.model.finished[CountedAs.DISREGARDED]
        assert sum(totals.states) == len(self.model.sites)
        assert min(totals.states) >= 0


class WideMachine(Machine):
    """Several fetches of a queue at a time."""

    in_flight = 3
    settings = FrontierSettings(recent_keys=0)


def check_random_steps(machine: type[Machine]) -> None:
    """Run a machine, which compares both frontiers after each of its steps."""
    run_state_machine_as_test(
        machine, settings=budget(max_examples=EXAMPLES, stateful_step_count=40, deadline=None)
    )


@pytest.mark.parametrize("machine", [Machine, WideMachine])
def test_agrees_with_the_naive_frontier(
    machine: type[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_states, "_READ_AHEAD", 2)
    check_random_steps(machine)
