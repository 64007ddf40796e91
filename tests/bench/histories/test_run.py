"""A whole run over a repository that the test makes: server, crawls by `--now`, judges."""

import subprocess
from pathlib import Path

import pytest

from bench.histories import ota, site
from bench.histories.__main__ import main
from bench.histories.driver import Crawler
from bench.histories.feed import judge_feed
from bench.histories.loading import load_site
from bench.histories.states import held_shares
from bench.histories.truth import Truth
from bench.histories.worlds import read_plan
from nacre.core.clock import parse_time
from tests.bench.histories.repository import Commit, make_repository
from tools.nginx import free_port

START = "2024-07-01T12:00:00Z"
DAY = 86_400
ADDRESS = "127.0.49.201"


def at(day: float) -> int:
    return int(parse_time(START) + day * DAY)


def page(*paragraphs: str) -> str:
    return "<html><body>" + "".join(f"<p>{text}</p>" for text in paragraphs) + "</body></html>"


TEXT = [f"Clause {n} says what the parties have agreed on, at some length." for n in range(9)]


def world(folder: Path, **facts: str) -> Path:
    """A file of one world with two daily steps."""
    lines = "".join(f"{name} = {value}\n" for name, value in facts.items())
    file = folder / "worlds.toml"
    file.write_text(f'[tiny]\nstart = "{START}"\ndays = 1\nsteps = 2\n{lines}')
    return file


def test_without_repositories_it_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("HISTORIES", raising=False)
    assert main(["worlds"]) == 0
    assert main(["run", "kafka", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert said.count("skipped") == 2
    assert "https://github.com/apache/kafka-site (branch asf-site" in said
    assert not (tmp_path / "out").exists()


def test_a_missing_commit_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    make_repository(tmp_path / "t+pages", [Commit(at(-9), "first", {"index.html": page("x")})])
    file = world(tmp_path, repository='"https://a.test/t/pages"', commit=f'"{"d" * 40}"')
    monkeypatch.setenv("HISTORIES", str(tmp_path))
    assert main(["--worlds", str(file), "run", "tiny", str(tmp_path / "out")]) == 0
    assert f"does not have commit {'d' * 40}; fetch it" in capsys.readouterr().out


@pytest.mark.crawl
def test_a_site_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    home = page('<a href="a.html">a</a> <a href="b.html">b</a>')
    longer = page('<a href="a.html">a</a> <a href="b.html">b</a> <a href="c.html">c</a>')
    make_repository(
        tmp_path / "t+pages",
        [
            Commit(at(-9), "first", {
                "index.html": home, "a.html": page(*TEXT), "b.html": page("b", *TEXT),
            }),
            Commit(at(0.5), "second", {"a.html": page(*TEXT, "A new clause."), "index.html": longer,
                                       "c.html": page("c", *TEXT)}),
            Commit(at(1.5), "third", {"b.html": None}),
        ],
        branch="asf-site",
    )  # fmt: skip
    url, out = '"https://a.test/t/pages"', tmp_path / "out"
    file = world(tmp_path, repository=url, branch='"asf-site"')
    monkeypatch.setenv("HISTORIES", str(tmp_path))
    words = ["--budget", "all", "--bind", ADDRESS, "--port", str(free_port([ADDRESS]))]
    assert main(["--worlds", str(file), "run", "tiny", str(out), *words]) == 0
    said = capsys.readouterr().out
    assert "# truth: [3, 4, 3] pages; {'gone': 1, 'new': 1, 'same': 4, 'text': 2}" in said
    plan = read_plan(out)
    with load_site(plan) as pages:
        truth = Truth(plan, pages)
        states = site.site_truth(plan, truth)
        figures = site.judge(out, plan, truth, states)
    shares = held_shares(states.states, figures.held, "text")
    assert (shares.ecr.hits, shares.ecr.size) == (4, 4)
    assert {row.own: row.visit.verdict for row in figures.rows if row.path == "/b.html"} == {
        "same": "none", "gone": "missing",
    }  # fmt: skip
    assert "nacre       text         | changed 2/2 = 1.000 | new 1/1 = 1.000" in said


@pytest.mark.slow
@pytest.mark.crawl
def test_terms_are_judged_from_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    noise = [f"<!-- {n} -->" for n in range(3)]
    link = '<a href="/clause/{}">A clause</a>'
    names = make_repository(
        tmp_path / "snapshots",
        [
            Commit(at(-1), "s", {"S/Terms.html": page(*TEXT) + noise[0],
                                 "T/Terms.html": page("t", *TEXT) + link.format(1)}),
            Commit(at(0.5), "s", {"S/Terms.html": page(*TEXT) + noise[1]}),
            Commit(at(1.5), "s", {"S/Terms.html": page(*TEXT, "New: a clause.") + noise[2],
                                  "T/Terms.html": page("t", *TEXT) + link.format(2)}),
        ],
    )  # fmt: skip
    body = "https://a.test/t/pages-snapshots/commit/{}"
    make_repository(
        tmp_path / "versions",
        [
            Commit(at(-1), "First record of S Terms\n\n" + body.format(names[0]),
                   {"S/Terms.md": "old", "T/Terms.md": "t"}),
            Commit(at(1.6), "Record new changes of S Terms\n\n" + body.format(names[2]),
                   {"S/Terms.md": "new"}),
            Commit(at(1.7), "Record new changes of T Terms\n\n" + body.format(names[2]),
                   {"T/Terms.md": "new address"}),
        ],
    )  # fmt: skip
    bundles = tmp_path / "bundles"
    bundles.mkdir()
    for name in ("snapshots", "versions"):
        command = ["git", f"--git-dir={tmp_path / name}", "bundle", "create", "-q"]
        subprocess.run([*command, str(bundles / f"pages-{name}.bundle"), "main"], check=True)
    url = "https://a.test/t/pages-{}"
    file = world(
        tmp_path, repository=f'"{url.format("snapshots")}"', versions=f'"{url.format("versions")}"',
        index="true", hops="1",
    )  # fmt: skip
    monkeypatch.setenv("HISTORIES", str(bundles))
    monkeypatch.setattr("bench.histories.repositories.CACHE", tmp_path / "cache")
    out, port = tmp_path / "out", str(free_port([ADDRESS]))
    words = ["--budget", "all", "--keep", "lean", "--bind", ADDRESS, "--port", port]
    assert main(["--worlds", str(file), "run", "tiny", str(out), *words]) == 0
    figures = ota.judge(out)
    assert (figures.steps, figures.documents, figures.recorded) == (2, 2, 2)
    found = [(row.step, row.document, row.own, row.is_real) for row in figures.rows]
    assert sorted(found) == [
        (1, "S/Terms.html", "markup", False), (1, "T/Terms.html", "same", False),
        (2, "S/Terms.html", "text", True), (2, "T/Terms.html", "numbers", True),
    ]  # fmt: skip
    whole = figures.parts[0]
    assert (whole.recall.hits, whole.recall.size, whole.noise_as_change.hits) == (1, 2, 0)
    assert figures.addresses == (0, 1), "its text is the same"
    feed = judge_feed(out)
    assert (feed.recall, feed.precision, feed.words) == ((1, 2), (1, 1), (1, 1))
    assert [event.url.rpartition(":")[0] for event in feed.missed] == ["http://127.0.49.202"]
    assert figures.stored["exact bytes"] == figures.stored["response"]
    assert (tmp_path / "cache" / "t+pages-snapshots" / "HEAD").is_file()
    _show_the_change_to_curators(out / "job", f"http://{ADDRESS}:{port}/Terms.html")


def _show_the_change_to_curators(job: Path, url: str) -> None:
    """Run the commands of docs/incremental.md that show a change."""
    crawler = Crawler(job, job / "clock")
    assert "minor changes" in crawler.ask("history", "url", url)
    assert "+ [text] New: a clause." in crawler.ask("report", "diff", url, "--new", "2024-07-03")
