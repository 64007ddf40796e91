"""Replay beside a console: links with tickets, users and places, ports in use."""

import asyncio
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from nacre.console.app import ConsoleApp
from nacre.errors import JobError
from nacre.fleet.requester import Requester
from nacre.ops.operation import Role
from nacre.replay_server.beside import beside_console, console_audience, subject_of
from nacre.replay_server.server import ReplayOptions
from nacre.replay_server.shelf import FleetShelf
from nacre.web.serving import loopback_sockets
from tests.console.given import GivenConsole, play, with_common
from tests.replay_server.site import FIRST, new_archive, reply


def _crawls(folder: Path) -> Path:
    (folder / "crawls").mkdir()
    return new_archive(folder / "crawls" / "demo", {"http://h.test/": reply(b"<h1>Home</h1>")}).root


async def _lead(console: GivenConsole, fields: dict[str, str], query: str = "") -> httpx.Response:
    """Ask a console for the way to replay, while replay is served beside it."""
    port = beside_console(ReplayOptions(0), is_fixed=True)(
        console.parts.replay_port("http://localhost:8410")
    )
    app = ConsoleApp(with_common(console.parts, replay=port.link))
    serving = asyncio.create_task(port.work())
    await asyncio.sleep(0)
    try:
        async with console.of(app) as client:
            answer = await client.get(f"/j/crawls~demo/replay{query}", headers=fields)
        if answer.status_code == 303:
            answer.extensions["opened"] = await _open(answer.headers["location"])
        return answer
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def _open(link: str) -> httpx.Response:
    """Follow a link as a browser does: trade its ticket, and open the page."""
    parts = urlsplit(link)
    label = parts.path.split("/")[2]
    base = f"http://127.0.0.1:{parts.port}"
    fields = {"host": parts.netloc, "sec-fetch-site": "same-origin"}
    async with httpx.AsyncClient(trust_env=False, timeout=100) as client:
        body = {"ticket": parts.fragment.removeprefix("t="), "label": label}
        traded = await client.post(f"{base}/-/ticket", json=body, headers=fields)
        assert traded.status_code == 204, traded.text
        fields["cookie"] = traded.headers["set-cookie"].partition(";")[0]
        return await client.get(f"{base}{parts.path}", headers=fields)


def test_a_link_leads_to_a_capture(tmp_path: Path):
    _crawls(tmp_path)

    async def scene(console: GivenConsole) -> None:
        for fields in (console.as_key(), console.as_session(Role.VIEWER)):
            query = f"?u=http://h.test/&t={FIRST}"
            answer = await _lead(console, fields, query)
            assert answer.headers["location"].startswith("http://replay.localhost:")
            assert f"/{FIRST}/http://h.test/#t=" in answer.headers["location"]
            opened = answer.extensions["opened"]
            assert opened.status_code == 200
            assert "http://localhost:8410/j/crawls~demo/url?u=" in opened.text
        start = await _lead(console, console.as_key())
        assert "http://h.test/" in start.extensions["opened"].text
        assert "a search is incomplete" in start.extensions["opened"].text

    play(tmp_path, scene)


def test_nobody_gets_no_link(tmp_path: Path):
    _crawls(tmp_path)

    async def scene(console: GivenConsole) -> None:
        assert (await _lead(console, {})).status_code == 401
        key = console.parts.access.keys.add("elsewhere", Role.VIEWER, ("other",))
        restricted = await _lead(console, {"authorization": f"Bearer {key}"})
        assert restricted.status_code == 404

    play(tmp_path, scene)


def test_a_console_without_replay_says_so(tmp_path: Path):
    _crawls(tmp_path)

    async def scene(console: GivenConsole) -> None:
        answer = await console.client.get("/j/crawls~demo/replay", headers=console.as_key())
        assert answer.status_code == 503
        assert "nacre replay demo" in answer.text

    play(tmp_path, scene)


def test_replay_ends_with_the_session_or_key_of_its_user(tmp_path: Path):
    _crawls(tmp_path)

    async def scene(console: GivenConsole) -> None:
        audience = console_audience(console.parts.replay_port(""))
        sessions, keys = console.parts.access.sessions, console.parts.access.keys
        secret = sessions.begin("anna", Role.VIEWER)
        session = sessions.find(secret)
        assert session is not None
        subject = subject_of(session.identity)
        assert audience.of_subject(subject).name == "anna"
        sessions.end(session.identity)
        assert not audience.of_subject(subject).role
        key = keys.add("script", Role.VIEWER, ("crawls",))
        subject = audience.subject_of_key(key)
        assert audience.of_subject(subject).places == ("crawls",)
        keys.remove("script")
        assert not audience.of_subject(subject).role
        assert audience.subject_of_key(key) == ""
        assert not audience.of_subject("").role

    play(tmp_path, scene)


def test_the_jobs_of_a_place_are_seen_by_those_of_the_place(tmp_path: Path):
    _crawls(tmp_path)

    async def scene(console: GivenConsole) -> None:
        shelf = FleetShelf(console.parts.common.fleet, lambda job: job.name)
        anna = Requester("anna", Role.VIEWER, "key", places=("crawls",))
        ben = Requester("ben", Role.VIEWER, "key", places=("other",))
        (item,) = shelf.items(anna)
        assert (shelf.find(item.label, anna), shelf.find("crawls~demo", anna)) == (item, item)
        assert shelf.items(ben) == shelf.items(Requester()) == []
        assert shelf.find(item.label, ben) is None

    play(tmp_path, scene)


def test_a_port_in_use_is_an_error_if_the_operator_chose_it(tmp_path: Path):
    _crawls(tmp_path)
    (taken, *more) = loopback_sockets(0)
    number: int = taken.getsockname()[1]

    async def scene(console: GivenConsole) -> None:
        parts = console.parts.replay_port("")
        with pytest.raises(JobError, match=f"port {number} is taken.*--replay-port {number + 10}"):
            beside_console(ReplayOptions(number), is_fixed=True)(parts)
        other = beside_console(ReplayOptions(number), is_fixed=False)(parts)
        assert str(number) not in other.url
        serving = asyncio.create_task(other.work())
        await asyncio.sleep(0)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    try:
        play(tmp_path, scene)
    finally:
        for each in (taken, *more):
            with closing(each):
                pass
