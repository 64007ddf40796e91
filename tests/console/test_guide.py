from pathlib import Path

from nacre.console.routes import API, ROUTES
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play


def test_people_read_the_operations_in_their_language_and_try_them(tmp_path: Path):
    assert nacre("new", tmp_path / "crawls" / "a b", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)

        async def get(path: str, status: int = 200, language: str = "en") -> str:
            spoken = {**fields, "accept-language": language}
            answer = await console.client.get(path, headers=spoken)
            assert answer.status_code == status, answer.text
            return answer.text if status == 200 else answer.headers.get("location", answer.text)

        text = await get(f"{API}/")
        assert text.count('href="?operation=') == sum(row.is_api for row in ROUTES)
        assert "The logs of a run." in text
        assert "一次运行的日志" in await get(f"{API}/", language="zh")
        few = await get(f"{API}/?find=checkpoints")
        assert few.count('href="?operation=') < 5
        assert "No operation is like this." in await get(f"{API}/?find=nothing-at-all")
        one = await get(f"{API}/?operation=get_jobs_job_logs_log")
        assert f"http://localhost:8410{API}/jobs/crawls~a%20b/logs/LOG" in one
        assert 'id="type-LogLineList"' in one
        assert 'value="crawls~a b"' in one
        job, log = "in-path-job=crawls~a+b", "in-path-log=crawl"
        sent = await get(f"/api/try/get_jobs_job_logs_log?{job}&{log}&limit=&match=%2F%2F", 303)
        assert sent == f"{API}/jobs/crawls~a%20b/logs/crawl?match=%2F%2F"
        assert (await get("/api/try/get_jobs?name=a", 303)) == f"{API}/jobs?name=a"
        assert "needs log" in await get(f"/api/try/get_jobs_job_logs_log?{job}", 422)
        assert "is not asked by a form" in await get("/api/try/delete_session", 409)
        await get("/api/try/nothing", 404)
        await get(f"{API}/?operation=nothing", 404)
        users = await get(f"{API}/?operation=get_users")
        assert "This needs the role admin." in users
        assert 'action="/api/try/' not in users

    play(tmp_path, scene)


def test_nobody_reads_no_page_of_the_interface(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        answer = await console.client.get(f"{API}/")
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith("text/html")

    play(tmp_path, scene)
