import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

JOB = f"{API}/jobs/crawls~one"
YAML = {"content-type": "text/yaml"}


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console)

    add_job(folder)
    asyncio.run(played())


def add_job(folder: Path) -> Path:
    root = folder / "crawls" / "one"
    if not root.exists():
        assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    return root


def test_a_file_is_read_changed_and_restored(tmp_path: Path):
    root = add_job(tmp_path)
    first = (root / "crawl.yaml").read_text()

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        answer = await client.get(f"{JOB}/config", headers=key)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/yaml")
        assert answer.text == first
        tag = answer.headers["etag"]
        same = await client.get(f"{JOB}/config", headers={**key, "if-none-match": tag})
        assert same.status_code == 304
        fields = {**key, **YAML, "if-match": tag}
        text = first + "politeness: {min_delay: 7}  # 慢一点\n"
        saved = await client.put(f"{JOB}/config?why=slower", headers=fields, content=text)
        assert saved.status_code == 200, saved.text
        assert (root / "crawl.yaml").read_text() == text
        history = (await client.get(f"{JOB}/config/history", headers=key)).json()["items"]
        assert [(one["number"], one["source"], one["why"]) for one in history] == [
            (2, "console", "slower"), (1, "outside", ""),
        ]  # fmt: skip
        assert history[0]["who"] == "operator key via console"
        line = console.parts.audit.path.read_text().splitlines()[-1]
        assert '"difference":["+politeness: {min_delay: 7}  # 慢一点"]' in line
        late = await client.put(f"{JOB}/config", headers=fields, content=first)
        assert (late.status_code, late.json()["saved"], late.json()["yours"]) == (412, text, first)
        (root / "crawl.yaml").write_text(text + "# by hand\n")
        restored = await client.post(f"{JOB}/config/history/1/restore", headers=key)
        assert restored.status_code == 200, restored.text
        assert (root / "crawl.yaml").read_text() == first
        history = (await client.get(f"{JOB}/config/history", headers=key)).json()["items"]
        assert [one["source"] for one in history] == ["restore", "outside", "console", "outside"]
        old = (await client.get(f"{JOB}/config/history/3", headers=key)).json()
        assert old["text"].endswith("# by hand\n")
        assert (await client.get(f"{JOB}/config/history/9", headers=key)).status_code == 404

    play(tmp_path, scene)


def test_a_file_with_problems_is_saved_by_force_only(tmp_path: Path):
    root = add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        fields = {**key, **YAML, "if-match": "*"}
        wrong = "name: 一\nseeds: [http://127.0.0.1:9/]\npoliteness:\n  min_dealy: 3\n"
        answer = await client.put(f"{JOB}/config", headers=fields, content=wrong.encode())
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()["problems"][0]
        assert (problem["line"], problem["column"]) == (4, 3)
        assert problem["fixes"][0]["insert"] == "min_delay"
        forced = await client.put(f"{JOB}/config?force=1", headers=fields, content=wrong.encode())
        assert forced.status_code == 200, forced.text
        assert forced.json()["findings"]["problems"][0]["line"] == 4
        assert (root / "crawl.yaml").read_text() == wrong
        bare = await client.put(f"{JOB}/config", headers={**key, **YAML}, content=wrong.encode())
        assert bare.status_code == 428
        html = {**fields, "content-type": "text/html"}
        assert (await client.put(f"{JOB}/config", headers=html, content=b"")).status_code == 415

    play(tmp_path, scene)


def test_asvs_14_2_6_no_secret_leaves_and_none_is_entered(tmp_path: Path):
    root = add_job(tmp_path)
    text = (root / "crawl.yaml").read_text() + (
        "fetch:\n  contact: https://example.org/\n"
        "  credentials: [{origin: 'http://a.test', username: a, password: hunter2}]\n"
    )
    (root / "crawl.yaml").write_text(text)

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        answer = await client.get(f"{JOB}/config", headers=key)
        shown = answer.text
        assert "hunter2" not in shown
        for path in ("config/effective", "config/history", "config/history/1"):
            assert "hunter2" not in (await client.get(f"{JOB}/{path}", headers=key)).text, path
        fields = {**key, **YAML, "if-match": answer.headers["etag"]}
        plain = shown.replace("NOT-SHOWN-1", "swordfish")
        refused = await client.put(f"{JOB}/config?force=1", headers=fields, content=plain)
        assert refused.status_code == 422
        assert "plain text" in refused.json()["detail"]
        changed = shown.replace("username: a,", "username: anna,")
        saved = await client.put(f"{JOB}/config", headers=fields, content=changed)
        assert saved.status_code == 200, saved.text
        assert (root / "crawl.yaml").read_text() == text.replace("username: a,", "username: anna,")

    play(tmp_path, scene)


def test_hints_for_a_text(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        text = "# 中文\npoliteness:\n  min_d"
        body = {"text": text, "offset": len(text), "job": "crawls~one"}
        found = (await client.post(f"{API}/config/complete", headers=key, json=body)).json()
        assert "min_delay" in [one["label"] for one in found["items"]]
        hovered = (
            await client.post(f"{API}/config/hover", headers=key, json={"text": text, "offset": 8})
        ).json()
        assert (hovered["found"], hovered["path"]) == (True, "politeness")
        asked = {"text": "name: [x\n", "job": "crawls~one"}
        checked = (await client.post(f"{API}/config/check", headers=key, json=asked)).json()
        assert checked["lights"]["text"] == 1
        made = (
            await client.post(
                f"{API}/config/format", headers=key, json={"text": "a:   [1]  # 一\n"}
            )
        ).json()
        assert made == {"text": "a: [1]    # 一\n"}
        facts = (await client.get(f"{API}/settings/politeness.min_delay", headers=key)).json()
        assert (facts["unit"], facts["live"], facts["type"]) == ("s", True, "number, s")
        assert (await client.get(f"{API}/settings/nothing", headers=key)).status_code == 404
        assert "politeness" in (await client.get(f"{API}/schema", headers=key)).json()["properties"]
        effective = (await client.get(f"{JOB}/config/effective", headers=key)).json()["items"]
        assert {"path": "name", "value": "one", "origin": "file crawl.yaml:7"} in effective

    play(tmp_path, scene)
