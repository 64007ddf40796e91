"""One small world, one policy: decisions only, the real crawler inside, and over real HTTP."""

import hashlib
from collections import Counter

import pytest

from nacre.planner.settings import RecrawlSettings
from nacre_simweb.archetypes import archetype
from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.ours import Nacre
from nacre_simweb.recall import CountedWindow
from nacre_simweb.score import score, score_bytes
from nacre_simweb.simulated import crawl_served, crawl_simulated
from nacre_simweb.world import World

pytestmark = pytest.mark.timeout(180)  # a session opens a store; machines may be busy
STEPS = DriverSteps(7 * DAY, 14, 0.6)
AMPLE = STEPS._replace(share=3.0)


def world():
    parameters = archetype("small", "honest")
    shape = parameters.shape.model_copy(update={"pages": 14, "sections": 2, "attachments": 0.3})
    return World(parameters.model_copy(update={"shape": shape}), 11)


def auditing():
    return Nacre(settings=RecrawlSettings(audits=0.5))


def decided(name, steps=STEPS):
    site = world()
    decisions = Decisions(site)
    policy = make_policy(name, site) if isinstance(name, str) else name()
    drive(site, policy, decisions, steps)
    return site, decisions.archive


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    root = tmp_path_factory.mktemp("simulated")
    site = world()
    archive, _ = crawl_simulated(site, make_policy("heritrix", site), STEPS, root)
    return site, archive, root


def requests(archive):
    return [
        (row.time, row.url, row.status, row.nonce, row.conditional, row.length)
        for row in archive.rows
        if row.kind != "robots"
    ]


@pytest.mark.slow
def test_the_real_crawler_and_decisions_alone_score_the_same(simulated):
    site, archive, _ = simulated
    _, expected = decided("heritrix")
    assert archive.problems == []
    assert sorted(requests(archive)) == sorted(requests(expected))
    assert any(row.status == 304 for row in archive.rows)
    assert any(not capture.full for capture in archive.kept)
    window = CountedWindow(STEPS.times)
    assert score_bytes(score(site, archive, window)) == score_bytes(score(site, expected, window))


def test_who_reads_sitemaps_and_feeds_gets_no_larger_budget():
    whole = [row for row in decided("full", STEPS._replace(share=None))[1].rows if row.time == 0]
    site = {row.url for row in whole if row.status == 200 and row.kind not in {"embed", "hint"}}
    for policy in ("heritrix", "nacre"):
        _, archive = decided(policy)
        spent = [row for row in archive.rows if row.time == STEPS.every and row.kind != "embed"]
        assert len(spent) <= round(0.6 * len(site)), policy


@pytest.mark.slow
def test_the_archive_is_the_same_byte_for_byte(simulated, tmp_path):
    _, _, root = simulated
    site = world()
    crawl_simulated(site, make_policy("heritrix", site), STEPS, tmp_path)
    assert sums(tmp_path) == sums(root)
    assert len(sums(root)) > 5


def sums(root):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in root.rglob("*.warc.gz")
    }


@pytest.mark.slow
def test_nacre_makes_pairs_audits_and_probes_in_every_mode(tmp_path):
    site, expected = decided(auditing, AMPLE)
    archive, _ = crawl_simulated(site, auditing(), AMPLE, tmp_path)
    assert archive.problems == []
    assert sorted(requests(archive)) == sorted(requests(expected))
    window = CountedWindow(STEPS.times)
    assert score_bytes(score(site, archive, window)) == score_bytes(score(site, expected, window))
    later = [row for row in archive.rows if row.time > 0]
    known = {row.url for row in archive.rows if row.time == 0 and row.status == 200}
    plain = [row for row in later if row.url in known and not row.conditional]
    assert any(row.status == 200 for row in plain), "audits"
    assert any(row.kind == "error" and row.url not in known for row in later), "probes"
    twice = Counter((row.time, row.url) for row in later)
    assert max(twice.values()) == 2, "pairs"


@pytest.mark.slow
def test_charsets_and_codings_that_vary_score_the_same(tmp_path):
    plain = world().parameters
    noise = plain.noise.model_copy(update={"share": 1.0, "kinds": ("coding", "charset")})
    site = World(plain.model_copy(update={"noise": noise}), 11)
    decisions = Decisions(site)
    drive(site, Nacre(hints=False), decisions, STEPS)
    archive, _ = crawl_simulated(site, Nacre(hints=False), STEPS, tmp_path)
    assert archive.problems == []
    assert sorted(requests(archive)) == sorted(requests(decisions.archive))
    window = CountedWindow(STEPS.times)
    scores = [score_bytes(score(site, one, window)) for one in (archive, decisions.archive)]
    assert scores[0] == scores[1]
    digests: dict[tuple[str, int], set[str]] = {}
    for row in archive.rows:
        if row.kind == "article" and row.status == 200:
            digests.setdefault((row.url, row.version), set()).add(row.digest)
    assert max(map(len, digests.values())) > 1


@pytest.mark.slow
def test_over_real_http_nacre_scores_the_same(tmp_path):
    site, expected = decided(auditing, AMPLE)
    archive, _ = crawl_served(site, auditing(), AMPLE, tmp_path)
    assert archive.problems == []
    window = CountedWindow(STEPS.times)
    assert score_bytes(score(site, archive, window)) == score_bytes(score(site, expected, window))


@pytest.mark.slow
def test_over_real_http_the_score_is_the_same(tmp_path):
    site, expected = decided("full")
    archive, _ = crawl_served(site, make_policy("full", site), STEPS, tmp_path)
    assert archive.problems == []
    window = CountedWindow(STEPS.times)
    assert score_bytes(score(site, archive, window)) == score_bytes(score(site, expected, window))


@pytest.mark.slow
def test_while_time_moves_nothing_is_impolite(tmp_path):
    site = World(archetype("small").model_copy(update={"crawl_delay": 7.0}), 5)
    archive, _ = crawl_simulated(
        site, make_policy("uniform", site), DriverSteps(7 * DAY, 7, 0.3), tmp_path, moving=True
    )
    scores = score(site, archive, CountedWindow([0.0, 7 * DAY]))
    assert archive.problems == []
    assert set(scores["invariants"].values()) == {0.0}
    times = [row.at for row in archive.rows if row.kind != "robots"]
    assert times[-1] > 7 * DAY + 7
