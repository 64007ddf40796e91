"""A policy on the real crawler: the settings of its job, and what it sees of a visit."""

import os

import pytest

from nacre_simweb.archetypes import archetype
from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.crawling import CarelessDisk, job_settings
from nacre_simweb.driver import DriverSteps
from nacre_simweb.policy import EmbedMode, Task, VisitOutcome, WantedVisit
from nacre_simweb.simulated import crawl_simulated
from nacre_simweb.world import World


@pytest.mark.parametrize(("served", "address"), [(True, "127.0.0.1"), (False, "198.18.0.1")])
def test_the_hosts_of_a_world_have_addresses(served, address):
    world = World(archetype("multi-host"), 1)
    settings = job_settings(world, make_policy("full", world), served=served, delay=2.0)
    hosts = settings.dns.hosts
    assert len(hosts) == 40
    assert hosts[world.site.hosts[0]] == (address,) or address in str(hosts[world.site.hosts[0]])
    assert settings.politeness.delay == 2.0
    assert settings.seeds == ()


def test_the_policy_says_whether_to_deduplicate_and_to_ask_with_validators():
    world = World(archetype("small"), 1)
    for name in ("full", "heritrix", "nacre"):
        policy = make_policy(name, world)
        settings = job_settings(world, policy, served=False, delay=0.0)
        assert (settings.dedup.mode == "all") is policy.dedup
        assert settings.dedup.conditional is policy.conditional


def test_nothing_but_what_is_wanted_is_in_scope():
    world = World(archetype("small"), 1)
    settings = job_settings(world, make_policy("full", world), served=False, delay=0.0)
    assert [rule.rule_name for rule in settings.scope] == ["reject", "prerequisite-accept"]


def test_a_careless_disk_waits_for_nothing(tmp_path, monkeypatch):
    synced: list[int] = []
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, synced.append)
    disk = CarelessDisk()
    handle = disk.create(str(tmp_path / "file"))
    disk.pwrite(handle, b"text", 0)
    disk.fdatasync(handle)
    disk.close(handle)
    disk.fsync_dir(str(tmp_path))
    assert synced == []
    assert (tmp_path / "file").read_bytes() == b"text"


class TwoPages:
    """A policy that visits the start page and one that is not there."""

    name = "two"
    conditional = True
    dedup = True
    embeds: EmbedMode = "new"

    def __init__(self):
        self.outcomes: list[VisitOutcome] = []
        self._wanted: list[str] = []

    def begin(self, task: Task) -> None:
        self._starts = [*task.starts, "http://www.small.test/nowhere"]

    def choose(self, now: float, room: int) -> list[WantedVisit]:
        asked, self._starts = self._starts, []
        return [WantedVisit(url) for url in asked]

    def learn(self, outcome: VisitOutcome) -> None:
        self.outcomes.append(outcome)


@pytest.mark.timeout(120)
def test_a_policy_sees_http_and_nothing_else(tmp_path):
    world, policy = World(archetype("small", "honest"), 7), TwoPages()
    archive, _ = crawl_simulated(world, policy, DriverSteps(DAY, 1), tmp_path)
    found = {one.url: one for one in policy.outcomes}
    start, missing = found["http://www.small.test/"], found["http://www.small.test/nowhere"]
    reply = world.respond("http://www.small.test/", 0.0)
    assert (start.status, start.mime, start.length) == (200, "text/html", len(reply.body))
    assert start.etag == reply.header("ETag")
    assert b"<html" in start.body()
    links = {link.url for link in reply.page.links if link.hop == "L"}
    assert links <= {link.url for link in start.links}
    assert missing.status == 404
    assert {row.url for row in archive.rows} >= {start.url, missing.url}
