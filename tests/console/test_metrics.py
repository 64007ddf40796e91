import re
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from nacre.console.app import ConsoleApp
from nacre.console.routes import API
from nacre.core.states import CRASHED, JobState
from nacre.fleet.schedule_book import ScheduleNote, ScheduleWish
from nacre.job.metrics import JobFigures, metric_families
from nacre.job.overview import JobOverview
from nacre.ops.operation import Role
from tests.console.given import ORIGIN, GivenConsole, play
from tests.console.test_app import add_job


def test_metrics_are_of_the_console_and_of_all_jobs(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    for name in ("a", "图书馆"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        await console.client.get(f"{API}/jobs/<none>", headers=console.as_key())
        answer = await console.client.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain")
        found = {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        assert found["nacre_job_state", ("job", "crawls~图书馆"), ("state", "NASCENT")] == 1
        assert found["nacre_job_disk_free_bytes", ("job", "crawls~a")] > 0
        assert found["nacre_console_streams",] == 0
        route = (("code", "404"), ("method", "GET"), ("route", f"{API}/jobs/{{job}}"))
        assert found["nacre_console_http_request_duration_seconds_count", *route] == 1
        assert "none" not in answer.text
        other = {"accept": "application/openmetrics-text; version=1.0.0"}
        open_metrics = await console.client.get("/metrics", headers=other)
        assert open_metrics.text.endswith("# EOF\n")

    play(tmp_path, scene)


def test_a_run_of_the_calendar_is_a_next_pass_also_when_it_is_late(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    for name in ("a", "b"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        book, name = console.parts.books.schedules, "nacre_job_next_pass_timestamp_seconds"
        job = next(one for one in console.parts.common.fleet.jobs if one.name == "a")
        book.add(ScheduleWish(job.id, "@hourly"), str(job.layout.root), "anna")

        async def told() -> dict[str, float]:
            families = text_string_to_metric_families((await console.client.get("/metrics")).text)
            found = next(one for one in families if one.name == name)
            return {sample.labels["job"]: sample.value for sample in found.samples}

        now = console.parts.common.clock.now()
        assert list(await told()) == ["crawls~a"]
        assert now < (await told())["crawls~a"] <= now + 3601
        # Nobody has looked at the schedules for three hours.
        book.keep(1, now - 3 * 3600, ScheduleNote(), waits=False)
        assert now - 3 * 3600 < (await told())["crawls~a"] <= now - 2 * 3600 + 1

    play(tmp_path, scene)


def test_the_nearest_of_two_next_passes_is_told():
    both = JobFigures("a", JobOverview("FINISHED", next_pass=20.0), next_run=10.0)
    own = JobFigures("b", JobOverview("FINISHED", next_pass=20.0))
    (family,) = (one for one in metric_families([both, own]) if "next_pass" in one.name)
    assert [sample.value for sample in family.samples] == [10.0, 20.0]


def test_the_rules_for_prometheus_are_about_metrics_that_there_are():
    text = Path("examples/operations/nacre-alerts.yml").read_text("utf-8")
    known = {
        f"{one.name}_total" if one.type == "counter" else one.name for one in metric_families([])
    }
    rules = [rule for group in YAML(typ="safe").load(text)["groups"] for rule in group["rules"]]
    assert len(rules) == 7
    for rule in rules:
        assert set(re.findall(r"nacre_\w+", rule["expr"])) <= known, rule["alert"]
        assert rule["annotations"]["summary"]
        state = re.search(r'state="(\w+)"', rule["expr"])
        assert state is None or state[1] in {*JobState, CRASHED}


def test_asvs_8_2_1_from_another_machine_metrics_need_a_key(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, "a")

    async def scene(console: GivenConsole) -> None:
        far = httpx.ASGITransport(ConsoleApp(console.parts).asgi(), client=("192.0.2.7", 1))
        async with httpx.AsyncClient(transport=far, base_url=ORIGIN) as client:
            refused = await client.get("/metrics")
            assert (refused.status_code, refused.json()["code"]) == (401, "no-login")
            taken = await client.get("/metrics", headers=console.as_key())
            assert "crawls~a" in taken.text
            key = console.parts.access.keys.add("elsewhere", Role.VIEWER, ["other"])
            part = await client.get("/metrics", headers={"authorization": f"Bearer {key}"})
            assert part.status_code == 200
            assert "crawls~a" not in part.text

    play(tmp_path, scene)
