import asyncio
from pathlib import Path

import pytest

from nacre.console.routes import API
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, play, streaming

SITE: dict[str, str | bytes] = {
    "/": '<meta charset="utf-8"><a href="/%CA%E9.html">书</a><a href="/图.html">图</a>'
    '<a href="/gone">',
    "/%CA%E9.html": '<meta charset="gbk"><title>书</title>'.encode("gbk"),
    "/%E5%9B%BE.html": '<meta charset="utf-8"><title>图</title>',
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    with site(SITE) as url:
        assert (
            nacre("crawl", url, "--out", folder / "crawls" / "demo", "--delay", 0, "-q").code == 0
        )
    return folder


def test_lines_of_a_log_by_bytes_and_by_filters(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        async def get(path: str, **query: str | int) -> tuple[int, dict[str, object]]:
            answer = await console.client.get(
                f"{API}/jobs/crawls~demo/logs{path}", params=query, headers=console.as_session()
            )
            return answer.status_code, answer.json()

        _, logs = await get("")
        names = [item["name"] for item in logs["items"]]  # type: ignore[attr-defined]
        assert {"crawl", "alerts", "job"} <= set(names)
        _, all_lines = await get("/crawl")
        assert all_lines["previous"] is None
        urls = [item["fields"]["url"] for item in all_lines["items"]]  # type: ignore[attr-defined]
        assert any(url.endswith("/%CA%E9.html") for url in urls)
        assert any(url.endswith("/%E5%9B%BE.html") for url in urls)
        _, last = await get("/crawl", limit=1)
        _, before = await get("/crawl", limit=1, before=str(last["previous"]))
        assert before["next"] == last["items"][0]["offset"]  # type: ignore[index]
        _, missing = await get("/crawl", status="404", match="gone$|gone ")
        assert [item["fields"]["words"] for item in missing["items"]] == [  # type: ignore[attr-defined]
            "the server answered 404 (Not Found)"
        ]
        assert (await get("/crawl", match="("))[0] == 400
        assert (await get("/nothing"))[0] == 404
        assert (await get("/..%2Fcrawl"))[0] == 404
        assert (await get("", run="20200101T000000Z"))[0] == 404

    play(crawled, scene)


def test_the_page_shows_a_log_without_script(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        answer = await console.client.get("/j/crawls~demo/log?status=200", headers=fields)
        assert answer.status_code == 200
        assert "/图.html" in answer.text
        assert "gone" not in answer.text
        assert "data-log=" in answer.text
        refused = await console.client.get("/j/crawls~demo/log?match=(", headers=fields)
        assert 'role="alert"' in refused.text
        nothing = await console.client.get("/j/crawls~demo/log?name=none", headers=fields)
        assert nothing.status_code == 404

    play(crawled, scene)


def test_the_logs_of_an_earlier_run_are_chosen_and_linked(tmp_path: Path):
    job = tmp_path / "crawls" / "demo"
    with site(SITE) as url:
        assert nacre("crawl", url, "--out", job, "--delay", 0, "-q").code == 0
        assert nacre("recrawl", job, "-q").code == 0
    first, last = sorted(path.name for path in (job / "runs").iterdir())

    async def scene(console: GivenConsole) -> None:
        async def get(path: str, status: int = 200) -> str:
            answer = await console.client.get(path, headers=console.as_session())
            assert answer.status_code == status, path
            return answer.text

        assert f'href="/j/crawls~demo/log?run={first}"' in await get("/j/crawls~demo/runs")
        report = await get(f"/j/crawls~demo/reports/run?run={first}")
        assert f'href="/j/crawls~demo/log?run={first}"' in report
        newest = await get("/j/crawls~demo/log")
        assert f'<option value="{first}">' in newest
        assert f'<option value="" selected>{last} (the last)' in newest
        earlier = await get(f"/j/crawls~demo/log?run={first}")
        assert f'<option value="{first}" selected>' in earlier
        assert f"This is a log of run {first}." in earlier
        assert "data-log=" not in earlier
        assert "wrote no log none" in await get(f"/j/crawls~demo/log?run={first}&name=none", 404)
        await get("/j/crawls~demo/log?run=20200101T000000Z", 404)
        for day in range(100, 200):
            logs = job / "runs" / f"20190{day}T000000Z" / "logs"
            logs.mkdir(parents=True)
            (logs / "job.log").touch()
        assert (await get("/j/crawls~demo/log")).count('<option value="20190') == 48
        chosen = await get("/j/crawls~demo/log?run=20190100T000000Z&name=none", 404)
        assert '<option value="20190100T000000Z" selected>' in chosen
        lines = await get(f"{API}/jobs/crawls~demo/logs/crawl?run={first}")
        assert (job / "runs" / first / "logs" / "crawl.log").read_text().split()[0] in lines

    play(tmp_path, scene)


def test_a_stream_of_lines_goes_on_at_its_place(crawled: Path):
    log = crawled / "crawls" / "demo" / "latest" / "logs" / "alerts.log"

    async def scene(console: GivenConsole) -> None:
        async with streaming(console) as client:

            async def first(**fields: str) -> list[str]:
                found = []
                url = f"{API}/stream?topics=alerts:crawls~demo"
                headers = {**console.as_session(), **fields}
                async with client.stream("GET", url, headers=headers) as answer:
                    async for line in answer.aiter_lines():
                        if not line:
                            break
                        found.append(line)
                return found

            name, place, data = await first()
            assert name == "event: alerts"
            await asyncio.to_thread(log.write_text, "2026 WARNING <b>\n")
            tail = await console.parts.tails.tail(console.parts.common.fleet.jobs[0], "alerts")
            await asyncio.to_thread(tail.look)
            name, place, data = await first(**{"last-event-id": place.removeprefix("id: ")})
            assert "<b>" in data

    play(crawled, scene)


def test_alerts_are_lines_with_times_and_the_header_counts_them(tmp_path: Path):
    with site(SITE) as url:
        assert (
            nacre("crawl", url, "--out", tmp_path / "crawls" / "demo", "--delay", 0, "-q").code == 0
        )
    log = tmp_path / "crawls" / "demo" / "latest" / "logs" / "alerts.log"
    log.write_text("2026-11-20T15:11:00.123Z WARNING <b>disk</b> is slow\n")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        found = (await console.client.get(f"{API}/jobs/crawls~demo/alerts", headers=fields)).json()
        assert found["items"] == [
            {"offset": 0, "time": "2026-11-20T15:11:00.123Z", "text": "<b>disk</b> is slow"}
        ]
        assert found["next"] is None
        assert (await console.client.get("/alerts", headers=fields)).status_code == 200

    play(tmp_path, scene)
