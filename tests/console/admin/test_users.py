from pathlib import Path
from typing import Any

import httpx
import pytest

from nacre.console.admin.sessions import inner_path
from nacre.console.app import ConsoleApp
from nacre.console.routes import API
from nacre.fleet.reach import ConsoleReach
from nacre.ops.operation import Role
from tests.console.given import ORIGIN, GivenConsole, play
from tests.console.test_app import add_job

WORD = "correct horse battery staple"
OURS = {"sec-fetch-site": "same-origin"}


def forget(console: GivenConsole) -> None:
    """Forget failed logins."""
    console.parts.access.logins._throttle._known.clear()


async def log_in(
    console: GivenConsole, name: str, password: str = WORD, **more: str
) -> httpx.Response:
    fields = {"name": name, "password": password, **more}
    return await console.client.post("/login", data=fields, headers=OURS)


def fields_of(console: GivenConsole, answer: httpx.Response) -> dict[str, str]:
    """Fields of a browser with the session of an answer."""
    cookie = answer.headers["set-cookie"].partition(";")[0]
    session = console.parts.access.sessions.find(cookie.partition("=")[2])
    assert session is not None
    return {**OURS, "cookie": cookie, "x-nacre-token": session.token}


async def add_user(console: GivenConsole, name: str, role: str, **more: Any) -> httpx.Response:
    body = {"name": name, "password": WORD, "role": role, **more}
    return await console.client.post(f"{API}/users", json=body, headers=console.as_key(Role.ADMIN))


def test_asvs_6_1_a_user_logs_in_and_gets_a_new_session(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        assert (await add_user(console, "Anna", "admin")).json()["name"] == "anna"
        page = await console.client.get("/j/x?y=1")
        assert 'type="password"' in page.text
        assert 'name="next" value="/j/x?y=1"' in page.text
        assert "#k=" not in page.text
        first = await log_in(console, " ANNA", next="/j/x")
        assert (first.status_code, first.headers["location"]) == (303, "/j/x")
        fields = fields_of(console, first)
        again = await console.client.post(
            "/login", data={"name": "anna", "password": WORD}, headers=fields
        )
        assert again.status_code == 303
        assert fields_of(console, again)["cookie"] != fields["cookie"]
        assert (await console.client.get(f"{API}/session", headers=fields)).status_code == 401
        agents = await console.client.get(f"{API}/sessions", headers=fields_of(console, again))
        (item,) = agents.json()["items"]
        assert (item["name"], item["how"], item["own"]) == ("anna", "password", True)

    play(tmp_path, scene)


def test_asvs_6_3_8_a_failed_login_does_not_say_who_exists(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        await add_user(console, "anna", "admin")
        answers = []
        for name in ("anna", "nobody"):
            forget(console)
            wrong = await log_in(console, name, "wrong password")
            early = await log_in(console, name, WORD)
            answers.append((wrong.status_code, wrong.text, early.status_code, early.text))
            assert early.headers["retry-after"] == "1"
            assert "set-cookie" not in early.headers
        assert answers[0] == answers[1]
        assert answers[0][0] == 401
        assert answers[0][2] == 429
        log = console.parts.audit.path.read_text()
        assert '"name":"anna"' in log
        assert "nobody" not in log
        assert "wrong password" not in log

    play(tmp_path, scene)


def test_wrong_passwords_of_others_lock_no_name(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        await add_user(console, "anna", "admin")
        forget(console)
        app = ConsoleApp(console.parts).asgi()
        transport = httpx.ASGITransport(app, client=("192.0.2.66", 1))
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as other:
            statuses = []
            for name in ("anna", " Anna", "ANNA ", "anna"):
                sent = {"name": name, "password": "wrong password"}
                statuses.append((await other.post("/login", data=sent, headers=OURS)).status_code)
            assert statuses == [401, 429, 429, 429]
        assert (await log_in(console, "anna")).status_code == 303

    play(tmp_path, scene)


def test_asvs_6_3_2_with_users_a_link_opens_nothing(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        key = console.parts.access.keys.new_link()
        await add_user(console, "anna", "admin")
        refused = await console.client.post("/login", data={"key": key}, headers=OURS)
        assert refused.status_code == 403
        assert 'data-code="no-links"' in refused.text
        assert 'id="key"' not in refused.text

    play(tmp_path, scene)


def test_asvs_6_2_3_the_own_password_is_changed_with_the_old_one(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        await add_user(console, "anna", "admin")
        fields = fields_of(console, await log_in(console, "anna"))
        other = fields_of(console, await log_in(console, "anna"))
        path, fresh = f"{API}/session/password", "gelbes haus 77 baum"

        async def change(old: str, new: str) -> httpx.Response:
            body = {"old": old, "password": new}
            return await console.client.put(path, json=body, headers=fields)

        assert (await change("wrong", fresh)).status_code == 401
        forget(console)
        weak = await change(WORD, "password1234")
        assert (weak.status_code, weak.json()["code"]) == (422, "bad-settings")
        done = await change(WORD, fresh)
        assert done.status_code == 204
        for old in (fields, other):
            assert (await console.client.get(f"{API}/session", headers=old)).status_code == 401
        renewed = fields_of(console, done)
        assert (await console.client.get(f"{API}/session", headers=renewed)).status_code == 200
        assert (await log_in(console, "anna", fresh)).status_code == 303
        by_key = await console.client.put(
            path, json={"old": "", "password": fresh}, headers=console.as_key()
        )
        assert by_key.status_code == 409
        assert fresh not in console.parts.audit.path.read_text()

    play(tmp_path, scene)


def test_asvs_8_2_2_a_user_of_one_place_sees_no_other(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, "secret")

    async def scene(console: GivenConsole) -> None:
        await add_user(console, "anna", "admin")
        database = console.parts.access.users._database
        await add_user(console, "bert", "operator", places=["crawls"])
        fields = fields_of(console, await log_in(console, "bert"))
        assert "crawls~secret" in (await console.client.get("/", headers=fields)).text
        database.rows("UPDATE users SET places = '[\"other\"]' WHERE name = 'bert'")
        assert "secret" not in (await console.client.get("/", headers=fields)).text
        jobs = await console.client.get(f"{API}/jobs", headers=fields)
        assert jobs.json()["items"] == []
        for path in (f"{API}/jobs/crawls~secret", "/j/crawls~secret"):
            assert (await console.client.get(path, headers=fields)).status_code == 404
        key = console.parts.access.keys.add("k", Role.OPERATOR, ["other"])
        by_key = await console.client.get(
            f"{API}/jobs/crawls~secret", headers={"authorization": f"Bearer {key}"}
        )
        assert by_key.status_code == 404
        wrong = await add_user(console, "c", "viewer", places=["nowhere"])
        assert (wrong.status_code, wrong.json()["code"]) == (422, "no-place")

    play(tmp_path, scene)


def test_users_are_changed_and_removed(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        admin = console.as_key(Role.ADMIN)
        first = await add_user(console, "anna", "viewer")
        assert (first.status_code, first.json()["code"]) == (409, "refused")
        await add_user(console, "anna", "admin")
        assert (await add_user(console, "bert", "viewer", places=["crawls"])).status_code == 201
        fields = fields_of(console, await log_in(console, "bert"))

        async def change(name: str, body: dict[str, Any]) -> httpx.Response:
            return await console.client.patch(f"{API}/users/{name}", json=body, headers=admin)

        changed = await change("bert", {"role": "operator"})
        assert (changed.json()["role"], changed.json()["places"]) == ("operator", ["crawls"])
        assert (await console.client.get(f"{API}/session", headers=fields)).status_code == 401
        assert (await change("bert", {"password": "gelbes haus 77 baum"})).status_code == 200
        assert (await log_in(console, "bert", "gelbes haus 77 baum")).status_code == 303
        assert (await change("bert", {"role": "admin"})).json()["places"] == []
        assert (await change("carl", {"role": "admin"})).status_code == 404
        for name, status in (("anna", 204), ("bert", 204), ("bert", 404)):
            gone = await console.client.delete(f"{API}/users/{name}", headers=admin)
            assert gone.status_code == status
        listed = await console.client.get(f"{API}/users", headers=admin)
        assert listed.json()["items"] == []

    play(tmp_path, scene)


def test_asvs_7_5_2_sessions_are_listed_and_revoked(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        await add_user(console, "anna", "admin")
        await add_user(console, "bert", "viewer")
        anna = fields_of(console, await log_in(console, "anna"))
        bert = fields_of(console, await log_in(console, "bert"))

        async def listed(fields: dict[str, str]) -> dict[str, str]:
            answer = await console.client.get(f"{API}/sessions", headers=fields)
            return {one["name"]: one["id"] for one in answer.json()["items"]}

        async def revoke(name: str, fields: dict[str, str]) -> int:
            path = f"{API}/sessions/{ids.get(name, name)}"
            return (await console.client.delete(path, headers=fields)).status_code

        ids = await listed(anna)
        assert set(ids) == {"anna", "bert"}
        assert set(await listed(bert)) == {"bert"}
        assert await revoke("anna", bert) == 404
        assert await revoke("", console.as_key()) == 404
        assert await revoke("bert", anna) == 204
        assert (await console.client.get(f"{API}/session", headers=bert)).status_code == 401
        bert = fields_of(console, await log_in(console, "bert"))
        ids = await listed(bert)
        assert await revoke("bert", bert) == 204

    play(tmp_path, scene)


def test_keys_are_made_listed_and_removed(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        admin = console.as_key(Role.ADMIN)
        body = {"name": "a/b 脚本", "role": "operator", "places": ["crawls"]}
        made = await console.client.post(f"{API}/keys", json=body, headers=admin)
        assert made.status_code == 201
        secret = made.json()["key"]
        fields = {"authorization": f"Bearer {secret}"}
        who = await console.client.get(f"{API}/session", headers=fields)
        assert (who.json()["name"], who.json()["role"]) == ("a/b 脚本", "operator")
        listed = (await console.client.get(f"{API}/keys", headers=admin)).json()["items"]
        assert secret not in str(listed)
        assert [one["places"] for one in listed if one["name"] == "a/b 脚本"] == [["crawls"]]
        for status in (204, 404):
            gone = await console.client.delete(f"{API}/keys/a%2Fb 脚本", headers=admin)
            assert gone.status_code == status
        assert (await console.client.get(f"{API}/session", headers=fields)).status_code == 401
        assert secret not in console.parts.audit.path.read_text()

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("given", "leads"),
    [
        ("/j/a?b=c", "/j/a?b=c"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/a\r\nset-cookie: x", "/"),
        ("", "/"),
    ],
)
def test_asvs_3_7_2_a_login_leads_nowhere_else(given: str, leads: str):
    assert inner_path(given) == leads


def test_a_login_is_a_short_form(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        assert console.parts.common.reach == ConsoleReach()
        long = await console.client.post("/login", content=b"a" * 20_000, headers=OURS)
        assert long.status_code == 413
        many = await console.client.post("/login", content=b"a=1&" * 50, headers=OURS)
        assert many.status_code == 401
        page = await console.client.get("/login?next=//evil.example")
        assert 'name="next" value="/"' in page.text

    play(tmp_path, scene)


def test_asvs_8_4_1_a_task_of_an_unseen_job_is_not_there(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    add_job(tmp_path, "secret")

    async def scene(console: GivenConsole) -> None:
        tasks = console.parts.common.tasks

        async def work(_: object) -> None:
            """A task that has nothing to do."""

        held = tasks.begin("crawls~secret", "count", "anna", work)
        for places, status in (((), 200), (("crawls",), 200), (("other",), 404)):
            key = console.parts.access.keys.add(f"key {places}", Role.OPERATOR, places)
            fields = {"authorization": f"Bearer {key}"}
            one = await console.client.get(f"{API}/tasks/{held.id}", headers=fields)
            assert one.status_code == status
            listed = (await console.client.get(f"{API}/tasks", headers=fields)).json()["items"]
            assert len(listed) == (status == 200)
            if status == 404:
                ended = await console.client.delete(f"{API}/tasks/{held.id}", headers=fields)
                assert ended.status_code == 404

    play(tmp_path, scene)
