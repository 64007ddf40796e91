"""`metrics.listen`: who is answered, and that a job without it pays nothing."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nacre.core.events import Alert, Event, Events
from nacre.job.background.metrics_server import MetricsServer, is_local, serve_metrics
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from tests.job.opened import opened

LOCAL = "Host: localhost:9464\r\n"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def job_at(root: Path, port: int, session: object = None) -> Any:
    settings = JobSettings.model_validate({"metrics": {"listen": f"127.0.0.1:{port}"}})
    return cast(
        "Any",
        SimpleNamespace(layout=Layout(root), settings=settings, events=Events(), session=session),
    )


async def ask(port: int, request: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    answer = await reader.read()
    writer.close()
    return answer.decode()


@pytest.mark.parametrize(
    ("request_text", "begins"),
    [
        (f"GET /metrics HTTP/1.1\r\n{LOCAL}\r\n", "HTTP/1.1 200 OK"),
        ("GET /metrics?x HTTP/1.1\r\nHost: [::1]:1\r\n\r\n", "HTTP/1.1 200 OK"),
        (f"HEAD /metrics HTTP/1.0\r\n{LOCAL}\r\n", "HTTP/1.1 200 OK"),
        (f"GET / HTTP/1.1\r\n{LOCAL}\r\n", "HTTP/1.1 404 "),
        (f"POST /metrics HTTP/1.1\r\n{LOCAL}\r\n", "HTTP/1.1 405 "),
        ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 421 "),
        ("GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 421 "),
        ("nonsense\r\n\r\n", "HTTP/1.1 400 "),
        ("GET /" + "x" * 20_000 + " HTTP/1.1\r\n\r\n", "HTTP/1.1 431 "),
    ],
)
def test_who_is_answered(request_text: str, begins: str):
    server = MetricsServer(lambda accept: ("text/plain", b"nacre_x 1\n"), only_local=True)

    async def play() -> str:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=16_384)
        async with listening:
            return await ask(listening.sockets[0].getsockname()[1], request_text)

    answer = asyncio.run(play())
    assert answer.startswith(begins)
    assert answer.endswith("nacre_x 1\n") is (begins.endswith("OK") and "HEAD" not in request_text)


@pytest.mark.parametrize(
    ("field", "local"),
    [("localhost", True), ("127.0.0.1:80", True), ("[::1]:80", True), ("", False),
     ("localhost.evil.example", False), ("10.0.0.1", False), ("[", False)],
)  # fmt: skip
def test_hosts_of_this_machine(field: str, local: bool):
    assert is_local(field) is local


def test_a_session_is_measured(tmp_path: Path):
    port = free_port()

    async def play() -> list[str]:
        job = job_at(tmp_path / "新闻", port)
        request = f"GET /metrics HTTP/1.1\r\n{LOCAL}\r\n"
        async with serve_metrics(job):
            before = await ask(port, request)
            async with opened(tmp_path / "job") as session:
                job.session = session
                during = await ask(port, request)
        return [before, during]

    before, during = asyncio.run(play())
    assert 'nacre_job_state{job="新闻",state="PREPARING"} 1.0' in before
    assert 'nacre_job_uris{job="新闻",status="queued"} 1.0' in during
    assert 'nacre_job_loop_gap_seconds{job="新闻"} 0.0' in during


def test_a_port_in_use_is_an_alert(tmp_path: Path):
    heard: list[Event] = []

    async def play() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            job = job_at(tmp_path, taken.getsockname()[1])
            job.events.subscribe(heard.append)
            async with serve_metrics(job):
                pass

    asyncio.run(play())
    (event,) = heard
    assert isinstance(event, Alert)
    assert "Address already in use" in event.message


@pytest.mark.parametrize(
    ("metrics", "says"),
    [
        ({"listen": "0.0.0.0:9464"}, "public: true"),
        ({"listen": "example.org:9464"}, "an address and a port"),
        ({"listen": "127.0.0.1"}, "an address and a port"),
        ({"listen": "127.0.0.1:70000"}, "ports go from 1 to 65535"),
    ],
)
def test_what_may_be_listened_at(metrics: dict[str, object], says: str):
    with pytest.raises(ValueError, match=says):
        JobSettings.model_validate({"metrics": metrics})


def test_addresses():
    def address(text: str, **more: bool) -> tuple[str, int]:
        return JobSettings.model_validate({"metrics": {"listen": text, **more}}).metrics.address

    assert address("9464") == ("127.0.0.1", 9464)
    assert address("[::1]:9464") == ("::1", 9464)
    assert address("0.0.0.0:9464", public=True) == ("0.0.0.0", 9464)


def test_a_job_without_it_loads_nothing():
    code = "import nacre.job.job, sys; print([m for m in sys.modules if 'prometheus' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
