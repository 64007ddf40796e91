"""Content first: what has no end is known for it while it is crawled, and waits for the rest."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bench.traps import needed
from bench.worlds.calendar import Calendar
from bench.worlds.plain import Plain
from bench.worlds.sessions import Sessions
from bench.worlds.shop import Shop
from bench.worlds.world import Served, World, served
from nacre.cli.app import app

pytestmark = pytest.mark.crawl

GOAL = 1.3


def told(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def crawled(site: Served, job: Path, *more: str) -> Result:
    result = told("crawl", site.url, "--out", job, "--set", "politeness.delay=0", *more)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize(
    "world", [Calendar(events=150), Shop(products=100)], ids=["calendar", "shop"]
)
def test_the_pages_come_first_and_the_run_ends(world: World, tmp_path: Path) -> None:
    with served(world) as site:
        result = crawled(site, tmp_path / "job")
        took = needed(site.curve(), len(world.truth))
        assert took is not None
        assert took <= GOAL * len(world.truth)
        assert site.curve()[-1] == len(world.truth)
    assert "Finished" in result.output


def test_what_is_left_is_told_and_goes_on_when_asked_for(tmp_path: Path) -> None:
    job = tmp_path / "job"
    with served(Calendar(events=20)) as site:
        result = crawled(site, job)
        assert "URLs of endless places are left" in result.output
        assert f"run {job} --traps` fetches more" in result.output
        before = len(site.log)
        assert told("run", job).exit_code == 0
        assert len(site.log) == before  # it is finished

        listed = told("frontier", job, "list")
        urls = re.findall(r"http://\S+/calendar/\S+", listed.output)
        assert urls
        asked = told("explain", job, urls[0])
        assert "it waits until nothing else is left" in asked.output
        assert "had nothing new and led to" in asked.output
        report = told("report", job, "traps")
        assert "no end" in report.output
        assert "/calendar/" in report.output

        limit = ("--set", f"limits.documents={before + 60}")
        assert told("run", job, "--traps", *limit).exit_code == 4
        assert len(site.log) > before + 30


def test_a_session_in_the_path_is_no_new_page(tmp_path: Path) -> None:
    world = Sessions(pages=30)
    with served(world) as site:
        result = crawled(site, tmp_path / "job", "--set", "traps.budget=20")
        took = needed(site.curve(), len(world.truth))
        assert took is not None
        assert took <= 2 * len(world.truth)  # each page is behind a redirect
        assert len(site.log) < 20 * len(world.truth)
    assert "URLs of endless places are left" in result.output


def test_a_crawl_that_goes_on_has_not_forgotten(tmp_path: Path) -> None:
    world, job = Calendar(events=150), tmp_path / "job"
    with served(world) as site:
        told("crawl", site.url, "--out", job, "--set", "politeness.delay=0",
             "--set", "limits.documents=60")  # fmt: skip
        assert 60 <= len(site.log) <= 70
        assert told("run", job, "--set", "limits.documents=0").exit_code == 0
        took = needed(site.curve(), len(world.truth))
        assert took is not None
        assert took <= GOAL * len(world.truth)


def test_a_site_without_traps_is_captured_the_same(tmp_path: Path) -> None:
    found = []
    for learn in ("true", "false"):
        with served(Plain(pages=400)) as site:
            crawled(site, tmp_path / learn, "--set", f"traps.learn={learn}")
            found.append(sorted(site.log))
    assert found[0] == found[1]
    assert len(found[0]) > 400
