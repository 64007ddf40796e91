import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

PAGE = "/j/crawls~one/settings/sheets"
JOB = f"{API}/jobs/crawls~one"


def play(folder: Path, scene: Callable[[GivenConsole, Path], Awaitable[None]]) -> None:
    (folder / "crawls").mkdir()
    root = folder / "crawls" / "one"
    assert nacre("new", root, "http://127.0.0.1:9/a/").code == 0

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console, root)

    asyncio.run(played())


def test_a_place_gets_other_settings_after_a_preview(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        url = "http://a.test/档案/"
        shown = await client.get(PAGE, headers=fields, params={"u": url, "key": "politeness.delay"})
        assert shown.status_code == 200, shown.text
        assert 'name="value"' in shown.text
        form = {**token, "what": "place", "u": url, "key": "politeness.delay", "value": "9"}
        looked = await client.post(PAGE, headers=fields, data=form)
        assert looked.status_code == 200, looked.text
        assert "sheets:" not in (root / "crawl.yaml").read_text()
        pending = re.search(r'name="pending" value="([^"]+)"', looked.text)
        assert pending is not None
        apply = {**token, "pending": unescape(pending[1]), "u": url}
        done = await client.post(PAGE, headers=fields, data=apply)
        assert done.status_code == 200, done.text
        assert "档案" in (root / "crawl.yaml").read_text()
        assert "Take off" in done.text
        wrong = await client.post(PAGE, headers=fields, data={**form, "value": "soon"})
        assert wrong.status_code == 422
        assert "notice-error" in wrong.text

    play(tmp_path, scene)


@pytest.mark.parametrize(
    "more",
    [{"moves_secrets": True}, {"live_only": True}, {"preview": False}, {"未知": 1}],
)
def test_a_form_that_came_back_has_only_what_the_page_offers(tmp_path: Path, more: dict[str, Any]):
    async def scene(console: GivenConsole, root: Path) -> None:
        before = (root / "crawl.yaml").read_bytes()
        fields, client = console.as_session(Role.OPERATOR), console.client
        wish = {"assignments": ["politeness.delay=9"], "place": "http://a.test/", **more}
        form = {"x-nacre-token": fields.pop("x-nacre-token"), "pending": json.dumps(wish)}
        sent = await client.post(PAGE, headers=fields, data=form)
        assert sent.status_code == 422
        assert "not a change" in sent.text
        assert next(iter(more)) in sent.text
        assert (root / "crawl.yaml").read_bytes() == before

    play(tmp_path, scene)


def test_a_form_that_came_back_moves_no_secret(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        config = root / "crawl.yaml"
        login = "{origin: 'http://a.test', username: u, password: hunter2}"
        config.write_text(
            f"{config.read_text('utf-8')}fetch: {{credentials: [{login}]}}\n", "utf-8"
        )
        before = config.read_bytes()
        fields, client = console.as_session(Role.OPERATOR), console.client
        wish = {"assignments": ["fetch.credentials.0.origin=https://evil.test"]}
        form = {"x-nacre-token": fields.pop("x-nacre-token"), "pending": json.dumps(wish)}
        sent = await client.post(PAGE, headers=fields, data=form)
        assert sent.status_code == 422
        assert "what this secret is sent to" in sent.text
        assert config.read_bytes() == before

    play(tmp_path, scene)


def test_sheets_over_rest(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        slow = {"name": "slow", "assignments": ["politeness.delay=9", "fetch.timeout=50"]}
        made = await client.post(f"{JOB}/sheets", headers=key, json=slow)
        assert made.status_code == 200, made.text
        for name, surts in (("veryPolite", ["http://a.test"]), ("slow", ["http://b.a.test/x/"])):
            wish = {"sheets": [name], "surts": surts}
            added = await client.post(f"{JOB}/associations", headers=key, json=wish)
            assert added.status_code == 200, added.text
        polite = {"name": "slow", "assignments": ["politeness.min_delay=1"]}
        assert (await client.post(f"{JOB}/sheets", headers=key, json=polite)).status_code == 200
        found = (await client.get(f"{JOB}/sheets", headers=key)).json()
        assert [(one["depth"], one["sheets"]) for one in found["places"]] == [
            (0, ["veryPolite"]), (1, ["slow"]),
        ]  # fmt: skip
        lone = (await client.get(f"{JOB}/sheets/slow", headers=key)).json()
        assert lone["values"]["fetch.timeout"] == "50"
        assert [one["surts"] for one in lone["associations"]] == [["http://b.a.test/x/"]]
        listed = await client.get(f"{JOB}/associations", headers=key)
        assert [one["sheets"] for one in listed.json()["items"]] == [["veryPolite"], ["slow"]]
        assert listed.headers["etag"]
        none = await client.get(f"{JOB}/sheets/none", headers=key)
        assert (none.status_code, none.json()["code"]) == (404, "not-found")
        at = await client.get(f"{JOB}/sheets/at", headers=key, params={"u": "b.a.test/x/y"})
        said = at.json()
        assert said["sheets"] == ["veryPolite", "slow"]
        holds = {one["path"]: one for one in said["holds"]}
        one = holds["politeness.min_delay"]
        assert (one["value"], one["sheet"]) == ("1", "slow")
        assert one["overruled"] == [{"sheet": "veryPolite", "value": "10"}]
        used = await client.delete(f"{JOB}/sheets/slow", headers=key)
        assert used.status_code == 422
        wish = {"sheets": ["slow"], "surts": ["http://b.a.test/x/"]}
        off = await client.request("DELETE", f"{JOB}/associations", headers=key, json=wish)
        assert off.status_code == 200, off.text
        gone = await client.delete(f"{JOB}/sheets/slow", headers=key)
        assert gone.status_code == 200, gone.text
        assert "slow" not in (root / "crawl.yaml").read_text()
        bad = await client.get(f"{JOB}/sheets/at", headers=key, params={"u": "http://"})
        assert bad.status_code == 422

    play(tmp_path, scene)
