"""`nacre simweb paper`: three crawls over HTTP, and what the table says of them."""

import json

import pytest
from typer.testing import CliRunner

from nacre.archive.reader import WarcReader
from nacre.archive.restoring import is_delta
from nacre.cli.app import app
from nacre_simweb.archetypes import archetype
from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.experiment import ExperimentPlan
from nacre_simweb.paper.bound import RecallBound
from nacre_simweb.paper.experiment import compare
from nacre_simweb.paper.figures import Necessary, relative, saving
from nacre_simweb.paper.missed import Missed, counted
from nacre_simweb.recall import CountedWindow
from nacre_simweb.score import score, score_bytes
from nacre_simweb.simulated import crawl_served
from nacre_simweb.world import World
from tests.simweb.paper.figures import figures

pytestmark = pytest.mark.timeout(180)
RUN = ["simweb", "paper", "--world", "small", "--seed", "7", "--after", "30d"]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    outcome = CliRunner().invoke(app, [*RUN, "--hints", "honest", "--out", str(out), "--json"])
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout), out


@pytest.mark.crawl
def test_the_incremental_crawl_holds_what_differs(result):
    found, _ = result
    epoch = found["runs"]["incremental"]["scores"]["epoch"]
    assert found["problems"] == []
    assert epoch["differing"] > 40
    assert epoch["recall"] >= 0.98
    assert found["runs"]["incremental"]["scores"]["invariants"]["robots_violations"] == 0
    # The paper's design never looks at an old page again.
    paper = found["runs"]["the paper's design"]["scores"]["epoch"]
    assert paper["recall_changed"] == 0
    assert paper["recall"] < epoch["recall"] - 0.2


@pytest.mark.crawl
def test_versions_that_are_differences_count_as_held_and_take_less_room(tmp_path):
    plan = ExperimentPlan("small", "honest", 7, 14.0, 14 * DAY, ("nacre",), mode="http")
    found = compare(plan, "delta", tmp_path / "delta")
    assert found.problems == []
    assert found.incremental.recall("epoch", "recall_changed") == 1.0
    assert found.incremental.stored < found.least.stored
    assert any(map(_holds_differences, (tmp_path / "delta/job/runs").rglob("*.warc.gz")))


def _holds_differences(path):
    with path.open("rb") as file:
        return any(map(is_delta, WarcReader(file)))


@pytest.mark.crawl
def test_the_jobs_can_be_looked_at_and_not_be_run(result):
    _, out = result
    for job in ("job", "full2"):
        assert CliRunner().invoke(app, ["report", str(out / job), "savings"]).exit_code == 0
        assert CliRunner().invoke(app, ["recrawl", str(out / job)]).exit_code == 2
    savings = CliRunner().invoke(app, ["report", str(out / "job"), "savings"]).stdout
    assert "All incremental runs" in savings


@pytest.mark.crawl
def test_full_crawls_are_what_the_world_holds(result):
    found, out = result
    rows = [json.loads(line) for line in (out / "server.log").read_text().splitlines()]
    late = [row for row in rows if row[0] > 0 and row[2] in {"article", "list", "home"}]
    full = found["runs"]["full 2"]
    assert full["scores"]["epoch"]["recall_new"] == 1
    assert full["scores"]["epoch"]["recall_changed"] == 1
    answered = sum(row[3] in {200, 304} for row in late)
    assert full["html"] + found["runs"]["incremental"]["html"] == answered
    assert found["runs"]["full 1"]["scores"] is None


@pytest.mark.crawl
def test_the_files(result):
    found, out = result
    text = (out / "table.txt").read_text()
    assert "the paper's design" in text
    assert "What to look at next" in text
    page = (out / "paper.html").read_text()
    assert "<svg" in page
    assert "src=" not in page
    lines = (out / "missed.tsv").read_text().splitlines()
    assert lines[0] == "kind\tchange\twhy\turl"
    assert len(lines) - 1 == sum(number for *_, number in found["missed"])
    assert (out / "job/runs").is_dir()
    assert (out / "full2/runs").is_dir()


@pytest.mark.crawl
def test_results_are_not_overwritten(result):
    _, out = result
    again = CliRunner().invoke(app, [*RUN, "--out", str(out)])
    assert again.exit_code == 2
    assert "is there already: choose another --out" in again.output


def test_a_time_that_is_none(tmp_path):
    outcome = CliRunner().invoke(app, [*RUN[:-1], "soon", "--out", str(tmp_path)])
    assert outcome.exit_code == 2
    assert "--after 'soon'" in outcome.output


@pytest.mark.crawl
def test_the_papers_design_scores_the_same_over_http_and_by_decisions(tmp_path):
    """So that its row may be made by decisions alone."""
    parameters = archetype("small")
    shape = parameters.shape.model_copy(update={"pages": 14, "sections": 2})
    small, steps = parameters.model_copy(update={"shape": shape}), DriverSteps(30 * DAY, 30)
    one, two = World(small, 11), World(small, 11)
    decisions = Decisions(one)
    drive(one, make_policy("nlc", one), decisions, steps)
    served, _ = crawl_served(two, make_policy("nlc", two), steps, tmp_path)
    window = CountedWindow(steps.times)
    assert score_bytes(score(one, decisions.archive, window)) == score_bytes(
        score(two, served, window)
    )


def test_savings_of_the_paper_follow_from_its_own_figures():
    first, second, run = (
        figures("full 1", 514, 14, 1971, 1971, 0),
        figures("full 2", 638, 25, 2488, 2488, 0),
        figures("incremental", 53.5, 4, 194, 194, 0),
    )
    assert saving(run, first).time == pytest.approx(0.7143, abs=1e-4)
    assert saving(run, second).time == pytest.approx(0.84)
    assert saving(run, second).storage == pytest.approx(0.9161, abs=1e-4)
    assert saving(run, second).embeds is None


def test_relative_savings_are_1_for_who_fetches_what_is_necessary():
    full, least = figures("full 2", 1, 1, 100, 100, 50), Necessary(20, 20, 10, 0)
    exact = figures("incremental", 1, 1, 20, 20, 10)
    assert relative(exact, full, least) == {"requests": 1.0, "embeds": 1.0, "time": 1.0}
    wasteful = figures("incremental", 1, 1, 60, 60, 50)
    assert relative(wasteful, full, least) == {"requests": 0.5, "embeds": 0.0, "time": 0.333333}


def test_the_bound_takes_the_likeliest_first():
    bound = RecallBound(must=5.0, new=3.0, chances=(0.5, 0.4, 0.1))
    assert bound.requests(0.0) == 5
    assert bound.requests(3.5 / 4) == 6
    assert bound.requests(3.9 / 4) == 7
    assert bound.requests(1.0) == 8
    points = bound.curve()
    assert points[0] == (5.0, 0.75)
    assert points[-1][0] == 8.0
    assert points[-1][1] == pytest.approx(1.0)


def test_what_was_missed_is_counted_by_reason():
    one = Missed("article", "new", "never asked for", "http://a.test/1")
    found = counted([one, one._replace(url="http://a.test/2"), one._replace(kind="file")])
    assert found == [
        ("article", "new", "never asked for", 2),
        ("file", "new", "never asked for", 1),
    ]
