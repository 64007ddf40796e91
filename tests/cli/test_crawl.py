import json
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.ops.fields import field_shape
from nacre.ops.job_options import JobOptions
from nacre.ops.new_job import default_directory, values_of
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.load import load_job
from tests.cli.conftest import Crawled
from tests.cli.site import many_pages, nacre, site


def test_the_last_lines_tell_what_where_and_how_to_look(crawled: Crawled):
    lines = crawled.out.splitlines()
    assert lines[0].startswith("Finished")
    assert "got      5 documents (4 HTML), " in crawled.out
    assert "replies  200: 6 (1 of them for robots.txt)" in crawled.out
    assert "0 failed, 1 disregarded" in crawled.out
    assert "nacre report" in crawled.out
    assert f"nacre replay {crawled.job}" in crawled.out


def test_it_is_an_ordinary_job(crawled: Crawled):
    assert (crawled.job / "seeds.txt").read_text() == f"{crawled.home}\n"
    latest = crawled.job / "latest"
    assert (latest / "logs" / "crawl.log").is_file()
    assert len(list((latest / "archive").glob("*.warc.gz"))) == 1
    assert len(list((latest / "archive").glob("*.cdxj"))) == 1
    assert not (crawled.job / "state" / "control").exists()


def test_an_existing_job_is_left_alone(crawled: Crawled):
    done = nacre("crawl", crawled.home, "--out", crawled.job)
    assert done.code == 2
    assert "nacre run" in done.err
    assert "--out" in done.err


def test_a_public_crawl_needs_a_contact(tmp_path: Path):
    done = nacre("crawl", "http://site.example/", "--delay", "0", "--out", tmp_path / "job")
    assert done.code == 2
    assert "site.example is public" in done.err
    assert "--contact" in done.err
    assert str(tmp_path / "config" / "nacre" / "config.yaml") in done.err
    assert "politeness.delay" in done.err
    assert not (tmp_path / "job").exists()


def test_the_contact_of_the_user_holds_for_all_crawls(tmp_path: Path):
    config = tmp_path / "config" / "nacre" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("fetch: {contact: https://library.example/}\n")
    done = nacre("new", tmp_path / "job", "http://site.example/")
    assert (done.code, done.err) == (0, "")


def test_a_limit(tmp_path: Path):
    with site(many_pages(60), slow=0.02) as home:
        done = nacre(
            "crawl", home, "--delay", 0, "--parallel", 1, "--max-pages", 5,
            "--out", tmp_path / "job", "-q",
        )  # fmt: skip
        assert done.code == 4
        assert "limits.documents" in done.out
        assert "left " in done.out
        goes_on = nacre("run", tmp_path / "job", "--set", "limits.documents=0", "-q", "--json")
    assert goes_on.code == 0
    told = json.loads(goes_on.out)
    assert told["statuses"] == {"200": 61, "404": 1}
    assert told["queued"] == 0


@pytest.mark.parametrize(
    ("limit", "counted"),
    [
        ("limits.bytes=6000", "bytes"),
        ("limits.novel_bytes=6000", "novel_bytes"),
        ("limits.novel_documents=9", "replies"),
        ("limits.warc_bytes=9000", "warc_bytes"),
        ("archive.max_total=9000", "warc_bytes"),
    ],
)
def test_a_limit_holds_however_fast_the_crawl_is(tmp_path: Path, limit: str, counted: str):
    with site(many_pages(120)) as home:
        done = nacre(
            "crawl", home, "--delay", 0, "--parallel", 2, "--set", limit,
            "--out", tmp_path / "job", "-q", "--json",
        )  # fmt: skip
    assert done.code == 4, done.err
    told = json.loads(done.out)
    wanted = int(limit.partition("=")[2])
    told["replies"] = told["documents"] + told["errors"] + told["prerequisites"]
    assert wanted <= told[counted] < wanted * 1.6, "what is in process is finished, no more"


def test_nothing_could_be_fetched(tmp_path: Path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        done = nacre(
            "crawl", f"http://127.0.0.1:{port}/", "--out", tmp_path / "job", "--delay", "0.01",
            "--set", "frontier.max_retries=1", "-q",
        )  # fmt: skip
    assert done.code == 6
    first, why, *_ = done.out.splitlines()
    assert first == "Nothing could be fetched."
    assert why == f"  http://127.0.0.1:{port}/: connection refused (-61)"
    assert "nacre explain" in done.out


def test_commands_to_copy_are_whole_where_the_directory_has_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with site() as home:
        out = nacre("crawl", home, "--delay", "0", "--out", "my crawl.1", "-q").out
    assert "nacre report 'my crawl.1'\n" in out
    assert "nacre replay 'my crawl.1'\n" in out


def test_queues_that_the_operator_retired_are_named_with_what_brings_them_back(tmp_path: Path):
    job = tmp_path / "job"
    with site(many_pages(30)) as home:
        nacre("crawl", home, "--out", job, "--delay", "0", "--parallel", "1", "--max-pages", "2")
        nacre("frontier", job, "retire", "--queue", ".")
        done = nacre("run", job, "-q", "--set", "limits.documents=0")
    assert done.code == 4
    assert "left     the URIs in 1 retired queue\n" in done.out
    assert f"nacre frontier {job} queues" in done.out
    assert f"nacre frontier {job} unretire; nacre run {job}\n" in done.out


def test_progress_is_json_lines_with_json(tmp_path: Path):
    with site() as home:
        done = nacre("crawl", home, "--delay", 0, "--out", tmp_path / "job", "--json")
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert {line["type"] for line in lines} >= {"start", "state", "progress"}
    assert all(line["time"].endswith("Z") for line in lines)
    states = [line["text"] for line in lines if line["type"] == "state"]
    assert states == [
        "NASCENT -> PREPARING",
        "PREPARING -> RUNNING",
        "RUNNING -> STOPPING: FINISHED",
        "STOPPING -> FINISHED: FINISHED",
    ]
    result = json.loads(done.out)
    assert result["exit_code"] == 0
    last = [line for line in lines if line["type"] == "progress"][-1]
    assert last["state"] == "FINISHED"
    assert last["finished"] == result["finished"] > 0


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({}, {}),
        ({"delay": "0"}, {"politeness": {"delay": 0, "in_flight": 25}}),
        (
            {"delay": "0.0s", "parallel": 3},
            {"politeness": {"delay": "0.0s", "in_flight": 3}, "engine": {"parallel": 3}},
        ),
        ({"delay": "1.5"}, {"politeness": {"delay": 1.5}}),
        ({"max_bytes": "5MB", "max_time": "10m"}, {"limits": {"bytes": "5MB", "time": "10m"}}),
        ({"max_pages": 7}, {"limits": {"documents": 7}}),
        ({"robots": "ignore"}, {"robots": {"policy": "ignore"}}),
        ({"browser": "always"}, {"browser": {"use": "always"}}),
        ({"warc_prefix": "NLC"}, {"archive": {"prefix": "NLC"}}),
        ({"contact": "me@x.example"}, {"fetch": {"contact": "me@x.example"}}),
        ({"allow_net": ["10.0.0.0/8"]}, {"network": {"allow": ["10.0.0.0/8"]}}),
        (
            {"delay": "2", "assignments": ["politeness.delay=9", "frontier.max_retries=1"]},
            {"politeness": {"delay": 9}, "frontier": {"max_retries": 1}},
        ),
        # `--delay 0` fetches many pages of a host at a time; a delay that is set after it does not.
        ({"delay": "0", "assignments": ["politeness.delay=2"]}, {"politeness": {"delay": 2}}),
    ],
)
def test_options_are_settings(options: dict[str, Any], values: dict[str, Any]):
    assert values_of(JobOptions(("http://a.test/",), **options)) == values


def test_each_option_is_the_setting_of_its_name(tmp_path: Path):
    said = (
        "--depth", 2, "--robots", "ignore", "--contact", "me@x.example", "--delay", "1.5",
        "--parallel", 3, "--warc-prefix", "NLC", "--max-pages", 7, "--max-bytes", "5MB",
        "--max-time", "10m", "--allow-net", "10.0.0.0/8", "--set", "frontier.max_retries=1",
        "--include", "/in/", "--exclude", "/out/", "--browser", "auto",
    )  # fmt: skip
    job = tmp_path / "job"
    done = nacre("new", job, "http://10.1.2.3/", *said)
    assert done.code == 0, done.err
    settings = load_job(Layout(job)).settings
    assert (settings.robots.policy, settings.archive.prefix) == ("ignore", "NLC")
    assert (settings.fetch.contact, settings.politeness.delay) == ("me@x.example", 1.5)
    assert (settings.engine.parallel, settings.frontier.max_retries) == (3, 1)
    assert settings.browser.use == "auto"
    limits = settings.limits
    assert (limits.documents, limits.bytes, limits.time) == (7, 5_000_000, 600)
    assert list(settings.network.allow) == ["10.0.0.0/8"]
    rules = [rule.model_dump() for rule in settings.scope]
    assert {"/in/", "/out/"} <= {regex for rule in rules for regex in rule.get("regexes", ())}
    assert 2 in [rule.get("max_hops") for rule in rules]


@pytest.mark.parametrize(
    ("command", "words", "use"),
    [("crawl", (), "auto"), ("crawl", ("--browser", "never"), "never"), ("new", (), "never")],
)
def test_only_a_new_crawl_runs_pages_in_a_browser_by_default(
    tmp_path: Path, command: str, words: tuple[str, ...], use: str
):
    job = tmp_path / "job"
    with site({"/": "x"}) as home:
        where = ("--out", job) if command == "crawl" else (job,)
        done = nacre(command, *where, home, *words)
    assert done.code == 0, done.err
    assert load_job(Layout(job)).settings.browser.use == use


def test_an_assignment_needs_an_equals_sign():
    with pytest.raises(ConfigError, match="no assignment"):
        values_of(JobOptions(assignments=("x",)))


def test_scopes_are_those_that_there_are():
    field = next(field for field in msgspec.structs.fields(JobOptions) if field.name == "scope")
    assert list(field_shape(field.type).choices) == [kind.value for kind in ScopeKind]


@pytest.mark.parametrize(
    ("url", "start"),
    [
        ("http://www.a.test/x", "www.a.test-2"),
        ("a.test", "a.test-2"),
        ("http://[::1]:8080/", "1-2"),
        ("//", "crawl-2"),
    ],
)
def test_names_of_directories(url: str, start: str):
    directory = default_directory([url])
    assert directory.parent == Path("crawls")
    assert directory.name.startswith(start)


def test_jobs_that_begin_in_the_same_second_have_directories_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nacre.ops.new_job.run_name", lambda _now: "T")
    found = []
    for _ in range(3):
        found.append(default_directory(["http://a.test/"]))
        found[-1].mkdir(parents=True)
    assert [path.name for path in found] == ["a.test-T", "a.test-T-2", "a.test-T-3"]


def test_a_queue_over_its_budget_is_no_finished_crawl_and_can_go_on(tmp_path: Path):
    job = tmp_path / "job"
    with site(many_pages(30)) as home:
        spare = ("--delay", "0", "--parallel", "1", "--scope", "host")
        first = nacre("crawl", home, "--out", job, *spare, "--set", "frontier.queue_total_budget=5")
        assert first.code == 4
        assert "used up their budget" in first.out
        assert "--set frontier.queue_total_budget=-1" in first.out
        again = nacre("run", job, "--set", "frontier.queue_total_budget=-1")
    assert again.code == 0
    urls = [line.split()[3] for line in (job / "latest/logs/crawl.log").read_text().splitlines()]
    assert len(urls) == len(set(urls))
    assert len(urls) > 30


def test_a_crawl_that_got_nothing_is_tried_again(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        pass
    spare = ("--delay", "0", "--set", "frontier.max_retries=1")
    assert nacre("crawl", home, "--out", job, *spare).code == 6
    port = int(home.rstrip("/").rpartition(":")[2])
    with site(port=port):
        again = nacre("run", job, "--set", "frontier.max_retries=1")
    assert again.code == 0
    assert "200: " in again.out


def test_robots_txt_is_no_page_of_the_limit(tmp_path: Path):
    with site() as home:
        done = nacre("crawl", home, "--out", tmp_path / "job", "--delay", "0", "--max-pages", "1")
    assert done.code == 4
    log = (tmp_path / "job/latest/logs/crawl.log").read_text()
    assert [line.split()[3] for line in log.splitlines()] == [f"{home}robots.txt", home]


def test_bodies_of_unwanted_types_are_abandoned(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        done = nacre(
            "crawl", home, "--out", job, "--delay", "0", "--set", "fetch.skip_types=[image/]"
        )
    assert done.code == 0
    log = (job / "latest/logs/crawl.log").read_text()
    (picture,) = [line for line in log.splitlines() if "/i.png " in line]
    assert "midFetchAbort" in picture
    assert log.count("midFetchAbort") == 1
    assert nacre("archive", job, "check").code == 0


def test_the_run_keeps_its_settings_and_where_they_came_from(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        nacre(
            *("crawl", home, "--out", job, "--delay", "0"),
            *("--set", "fetch.proxy=''", "--set", "archive.operator=Library"),
        )
    run = job / "latest"
    effective = json.loads((run / "effective.json").read_text())
    assert effective["archive.operator"]["value"] == "Library"
    assert effective["archive.operator"]["origin"].startswith("file crawl.yaml:")
    assert effective["frontier.max_retries"]["origin"] == "default"
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["exit"] == "FINISHED"
    files = {file["path"]: file for file in manifest["files"]}
    assert {path.rpartition(".")[2] for path in files} >= {"gz", "cdxj", "log"}
    for path, file in files.items():
        assert (job / path).stat().st_size == file["bytes"]


def test_failures_lead_to_their_reasons(tmp_path: Path):
    with site() as home:
        gone = "http://127.0.0.1:1/"
        done = nacre(
            "crawl", home, gone, "--scope", "host", "--delay", 0, "--max-time", "3s", "--quiet",
            "--set", "frontier.max_retries=1", "--out", tmp_path / "demo",
        )  # fmt: skip
    assert "1 failed" in done.out
    assert f"report {tmp_path / 'demo'} responsecode" in done.out
