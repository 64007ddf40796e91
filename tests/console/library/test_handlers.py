import asyncio
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path

import pytest

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

SECRET = """\
fetch:
  contact: https://example.org/  # 联系
  credentials: [{origin: 'http://a.test', username: anna, password: hunter2}]
  timeout: 50
# password: hunter3
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "nacre"


def play(folder: Path, scene: Callable[[GivenConsole, Path], Awaitable[None]]) -> None:
    (folder / "crawls").mkdir()
    root = folder / "crawls" / "one"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console, root)

    asyncio.run(played())


def test_a_job_becomes_a_profile_without_seeds_and_secrets(tmp_path: Path, home: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        text = (root / "crawl.yaml").read_text() + SECRET
        (root / "crawl.yaml").write_text(text)
        wish = {"name": "ours", "purpose": "为国家图书馆", "job": "crawls~one"}
        made = await client.post(f"{API}/profiles", headers=key, json=wish)
        assert made.status_code == 201, made.text
        saved = (home / "profiles" / "ours.yaml").read_text()
        assert saved.startswith("# 为国家图书馆\n")
        assert "timeout: 50" in saved
        assert "# 联系" in saved
        for gone in ("hunter", "seeds.txt", "\nname:", "anna", "NOT-SHOWN"):
            assert gone not in saved, gone
        again = await client.post(f"{API}/profiles", headers=key, json=wish)
        assert again.status_code == 409
        found = (await client.get(f"{API}/profiles", headers=key)).json()["items"]
        assert {"name": "ours", "purpose": "为国家图书馆", "source": "yours"} in found
        based = {**wish, "name": "merged"}
        (root / "crawl.yaml").write_text(
            "profile: ours\nseeds: [http://127.0.0.1:9/]\nlimits: {documents: 3}\n"
        )
        merged = await client.post(f"{API}/profiles", headers=key, json=based)
        assert merged.status_code == 201, merged.text
        assert "timeout: 50" in merged.json()["text"]
        assert "documents: 3" in merged.json()["text"]
        assert "seeds:" not in merged.json()["text"]
        shipped = await client.delete(f"{API}/profiles/site", headers=key)
        assert shipped.status_code == 409
        assert (await client.delete(f"{API}/profiles/ours", headers=key)).status_code == 204
        assert (await client.get(f"{API}/profiles/ours", headers=key)).status_code == 404
        bad = await client.post(f"{API}/profiles", headers=key, json={**wish, "name": "../x"})
        assert bad.status_code == 422

    play(tmp_path, scene)


def test_clips_are_saved_and_put_in(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        form = {
            **token,
            "name": "slow",
            "title": "慢",
            "place": "politeness",
            "text": "min_delay: '{{wait}}'",
        }
        saved = await client.post("/clips", headers=fields, data=form)
        assert saved.status_code == 200, saved.text
        assert 'href="/clips/slow"' in saved.text
        use = {**token, "job": "crawls~one", "p:wait": "21"}
        shown = await client.post("/clips/slow/use", headers=fields, data=use)
        assert shown.status_code == 200, shown.text
        assert "<ins>+  min_delay: 21</ins>" in shown.text
        text = re.search(r'<textarea id="yaml"[^>]*>\n(.*?)</textarea>', shown.text, re.DOTALL)
        assert text is not None
        assert "min_delay: 21" not in (root / "crawl.yaml").read_text()
        body = {"job": "crawls~one", "values": {"wait": "21"}}
        api = f"{API}/clips/slow"
        made = await client.post(f"{api}/insert", headers={**fields, **_token(token)}, json=body)
        assert made.json()["text"] == unescape(text[1])
        wrong = await client.post("/clips", headers=fields, data={**form, "name": "No Name"})
        assert wrong.status_code == 422
        gone = await client.delete(api, headers={**fields, **_token(token)})
        assert gone.status_code == 204
        key = console.as_key(Role.VIEWER)
        items = (await client.get(f"{API}/clips", headers=key)).json()["items"]
        assert len(items) >= 20

    play(tmp_path, scene)


def _token(form: dict[str, str]) -> dict[str, str]:
    return {"x-nacre-token": form["x-nacre-token"]}
