"""`nacre simweb` from the command line."""

import json

import pytest
from typer.testing import CliRunner

from nacre.cli.app import app

RUN = ["simweb", "run", "--world", "small", "--days", "21", "--policy", "full,uniform,oracle"]


def run(out, *more):
    return CliRunner().invoke(app, [*RUN, "--out", str(out), *more])


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    return run(out, "--budgets", "20,60"), out


@pytest.mark.slow
def test_the_table(result):
    outcome, out = result
    assert outcome.exit_code == 0
    rows = (out / "table.txt").read_text().splitlines()
    assert rows[0].split()[:4] == ["policy", "budget", "ECR", "VR"]
    assert [row.split()[0] for row in rows[1:]] == ["full", *["uniform"] * 2, *["oracle"] * 2]


def test_the_score_file_is_that_of_its_seed(result, tmp_path):
    _, out = result
    again = run(tmp_path, "--budgets", "20,60", "--no-plots", "--json")
    scores = (out / "score.json").read_bytes()
    assert (tmp_path / "score.json").read_bytes() == scores
    assert not (tmp_path / "recall.png").exists()
    found = json.loads(again.stdout)
    assert found["normalised"]["uniform@20"] == 0
    assert found["normalised"]["oracle@20"] == 1
    assert set(found["areas"]) == {"uniform", "oracle"}
    assert b"wall_s" not in scores
    assert set(json.loads((out / "usage.json").read_text())) == set(found["scores"])


def test_plots(result):
    _, out = result
    assert (out / "recall.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "recall.html").read_text()
    assert "<svg" in page
    assert "Epoch-change recall" in page
    assert "src=" not in page


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--world", "moon"], "no world 'moon'"),
        (["--policy", "best"], "no policy 'best'"),
        (["--every", "soon"], "--every 'soon'"),
        (["--budgets", "0"], "more than 0"),
    ],
)
def test_mistakes_are_named(tmp_path, more, message):
    outcome = run(tmp_path, *more)
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_worlds_are_listed():
    outcome = CliRunner().invoke(app, ["simweb", "worlds"])
    assert "gov-twin" in outcome.stdout
    assert "multi-host" in outcome.stdout
