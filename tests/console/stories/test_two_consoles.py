"""Two consoles on one place: the second only shows it, and takes over when the first is killed."""

from contextlib import closing
from pathlib import Path

import httpx
import pytest

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from tests.console.stories.running import ConsoleProcess, console_of, new_job, until

pytestmark = pytest.mark.console


def client_of(console: ConsoleProcess) -> httpx.Client:
    with closing(ConsoleDatabase(console.state)) as database:
        key = KeyBook(database, SystemClock()).add("test", Role.ADMIN)
    fields = {"authorization": f"Bearer {key}"}
    return httpx.Client(base_url=console.url, headers=fields, timeout=60, trust_env=False)


@pytest.mark.slow
def test_the_second_console_takes_over_when_the_first_is_killed(tmp_path: Path):
    new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/")
    later = tmp_path / "later"
    later.mkdir()
    second = ConsoleProcess(later)
    second.crawls = tmp_path / "crawls"
    with console_of(tmp_path) as first:
        second.start()
        try:
            with client_of(first) as one, client_of(second) as two:
                path, change = "api/v1/jobs/crawls~demo", {"tags": ["seen"]}
                refused = two.patch(path, json=change)
                assert (refused.status_code, refused.json()["code"]) == (409, "read-only")
                assert f"process {first.pid} on" in refused.json()["detail"]
                page = two.get("j/crawls~demo").text
                assert 'id="elsewhere"' in page
                assert f"process {first.pid} on" in page
                assert "/labels" not in page
                assert two.get(path).json()["item"]["state"] == "NASCENT"
                assert 'id="elsewhere"' not in one.get("j/crawls~demo").text
                assert one.patch(path, json=change).status_code == 200
                first.kill()
                until(lambda: two.patch(path, json=change).status_code == 200)
                assert 'id="elsewhere"' not in two.get("j/crawls~demo").text
        finally:
            second.stop()
