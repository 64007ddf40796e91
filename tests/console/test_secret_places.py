"""A secret is bound to its place: an operator cannot have it sent elsewhere, or shown."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console
from tests.migrate.port.test_app import port

JOB = f"{API}/jobs/crawls~one"
LOGIN = "{origin: 'http://a.test', username: 图书馆, password: hunter2}"
SECRETS = f"""fetch:
  credentials:
    - {LOGIN}
cycle:
  index:
    writers:
      - {{writer: solr, url: 'http://solr.test/', user: u, password: solr-word}}
"""
JOBDIR = "/engine/job/one/jobdir"


def new_job(folder: Path, more: str = SECRETS) -> Path:
    root = folder / "crawls" / "one"
    root.parent.mkdir(exist_ok=True)
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    config = root / "crawl.yaml"
    config.write_text(config.read_text("utf-8") + more, "utf-8")
    return root


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console)

    asyncio.run(played())


def yaml_of(console: GivenConsole, role: Role = Role.OPERATOR) -> dict[str, str]:
    return {**console.as_key(role), "content-type": "text/yaml", "if-match": "*"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("http://a.test", "http://e.test"),
        ("http://solr.test/", "http://e.test/"),
        ("writer: solr,", "writer: solr, ca: /tmp/ca.pem,"),
        ("NOT-SHOWN-1", "NOT-SHOWN-2"),
        ("username: 图书馆, password: NOT-SHOWN-1", "username: &p NOT-SHOWN-1, password: *p"),
        ("password: NOT-SHOWN-1}", "password: &p NOT-SHOWN-1}\narchive: {operator: *p}"),
        ("password: NOT-SHOWN-1}", "password: NOT-SHOWN-1}\ninclude: NOT-SHOWN-1"),
        ("password: NOT-SHOWN-1}", "password: NOT-SHOWN-1}\n# NOT-SHOWN-1"),
        ("password: NOT-SHOWN-1}", "password: x-NOT-SHOWN-1}"),
        (
            "    - {origin: 'http://a.test', username: 图书馆, password: NOT-SHOWN-1}",
            "    - &c {origin: 'http://a.test', username: 图书馆, password: NOT-SHOWN-1}\n"
            "    - {<<: *c, origin: 'http://e.test'}",
        ),
        ("fetch:\n", "sheets: {s: {fetch.credentials.0.origin: 'http://e.test'}}\nfetch:\n"),
    ],
)
def test_a_text_sends_and_shows_no_secret_elsewhere(tmp_path: Path, old: str, new: str):
    root = new_job(tmp_path)
    before = (root / "crawl.yaml").read_bytes()

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        shown = (await client.get(f"{JOB}/config", headers=key)).text
        assert old in shown
        text = shown.replace(old, new)
        for query in ("", "?force=1"):
            for role in (Role.OPERATOR, Role.ADMIN):
                fields = yaml_of(console, role)
                put = await client.put(f"{JOB}/config{query}", headers=fields, content=text)
                assert put.status_code == 422, put.text
        assert (root / "crawl.yaml").read_bytes() == before

    play(tmp_path, scene)


def test_a_broken_text_is_no_way_around(tmp_path: Path):
    root = new_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        shown = (await client.get(f"{JOB}/config", headers=key)).text
        for broken in (", bogus: 1}", ", realm: [}"):
            text = shown.replace("password: NOT-SHOWN-1}", f"password: NOT-SHOWN-1{broken}")
            fields = yaml_of(console)
            await client.put(f"{JOB}/config?force=1", headers=fields, content=text)
            mended = (await client.get(f"{JOB}/config", headers=key)).text
            mended = mended.replace(broken, "}").replace("http://a.test", "http://e.test")
            await client.put(f"{JOB}/config?force=1", headers=fields, content=mended)
            saved = (root / "crawl.yaml").read_text("utf-8")
            assert "e.test', username: 图书馆, password: hunter2}" not in saved

    play(tmp_path, scene)


SHEET = f"""sheets:
  s:
    politeness.min_delay: 3
    fetch.credentials: [{LOGIN}]
sheet_associations: [{{surts: ['http://('], sheets: [s]}}]
"""


@pytest.mark.parametrize(
    ("more", "old", "new"),
    [
        (SHEET, "min_delay: 3", "min_delay: soon"),
        (SHEET, "min_delay: 3", "nothing.of.this: 3"),
        (SECRETS, "username: 图书馆, ", ""),
        (SECRETS, "origin: ", "orign: "),
        (SECRETS, "fetch:\n", "fetch: 3\nfetch_:\n"),
    ],
)
@pytest.mark.parametrize("role", [Role.OPERATOR, Role.ADMIN])
def test_a_problem_around_a_secret_does_not_free_it(
    tmp_path: Path, more: str, old: str, new: str, role: Role
):
    root = new_job(tmp_path, more)
    before = (root / "crawl.yaml").read_bytes()

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(role), console.client
        shown = (await client.get(f"{JOB}/config", headers=key)).text
        assert old in shown
        broken = shown.replace(old, new)
        put = await client.put(
            f"{JOB}/config?force=1", headers=yaml_of(console, role), content=broken
        )
        assert put.status_code == 422, put.text
        assert (root / "crawl.yaml").read_bytes() == before

    play(tmp_path, scene)


def test_a_secret_whose_settings_were_broken_by_hand_is_entered_again(tmp_path: Path):
    new_job(tmp_path, SHEET.replace("min_delay: 3", "min_delay: soon"))

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        shown = (await client.get(f"{JOB}/config", headers=key)).text
        mended = shown.replace("soon", "3").replace("http://a.test", "http://e.test")
        put = await client.put(f"{JOB}/config", headers=yaml_of(console), content=mended)
        assert put.status_code == 422
        begun = await client.post(
            f"{JOB}/start", headers=key,
            json={"set": ["sheets.s.politeness.min_delay=3"]},
        )  # fmt: skip
        assert begun.status_code in {409, 422}, begun.text

    play(tmp_path, scene)


def test_what_stays_where_it_is_may_be_edited_around(tmp_path: Path):
    root = new_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        shown = (await client.get(f"{JOB}/config", headers=key)).text
        text = shown.replace("图书馆", "档案馆").replace("\nfetch:\n", "\nfetch:\n  timeout: 9\n")
        text = text.replace("    - {origin", "    # 新的\n    - {origin")
        put = await client.put(f"{JOB}/config", headers=yaml_of(console), content=text)
        assert put.status_code == 200, put.text
        saved = (root / "crawl.yaml").read_text("utf-8")
        assert "username: 档案馆, password: hunter2" in saved

    play(tmp_path, scene)


def test_a_secret_in_a_file_counts_as_one(tmp_path: Path):
    root = new_job(tmp_path, SECRETS.replace("hunter2", "{file: word}"))
    (root / "word").write_text("swordfish\n")
    (root / "word").chmod(0o600)

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        shown = (await client.get(f"{JOB}/config", headers=key)).text
        assert "{file: word}" in shown
        text = shown.replace("http://a.test", "http://e.test")
        put = await client.put(f"{JOB}/config", headers=yaml_of(console), content=text)
        assert put.status_code == 422, put.text
        assert "what this secret is sent to" in put.text
        line = {"assignments": ["fetch.credentials.0.origin=http://e.test"]}
        patch = await client.patch(f"{JOB}/settings", headers=key, json=line)
        assert patch.status_code == 422, patch.text
        word = f"fetch.credentials.0.password={{file: {root / 'word'}}}"
        again = {"assignments": [*line["assignments"], word]}
        patch = await client.patch(f"{JOB}/settings", headers=key, json=again)
        assert patch.status_code == 200, patch.text
        assert "http://e.test" in (root / "crawl.yaml").read_text("utf-8")

    play(tmp_path, scene)


@pytest.mark.parametrize(
    "lines",
    [
        ["fetch.credentials.0.origin=http://e.test"],
        ["sheets.s.fetch.credentials.0.origin=http://e.test"],
        ["cycle.index.writers.solr.url=http://e.test/"],
        ["alerts.webhook.url=http://e.test/"],
    ],
)
def test_single_settings_send_no_secret_elsewhere(tmp_path: Path, lines: list[str]):
    root = new_job(tmp_path, SECRETS + "alerts: {webhook: {url: 'http://w.test/', secret: word}}\n")
    before = (root / "crawl.yaml").read_bytes()

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.ADMIN), console.client
        patch = await client.patch(f"{JOB}/settings", headers=key, json={"assignments": lines})
        assert patch.status_code == 422, patch.text
        assert "what this secret is sent to" in patch.text
        begun = await client.post(f"{JOB}/start", headers=key, json={"set": lines, "paused": True})
        assert begun.status_code == 422, begun.text
        assert (root / "crawl.yaml").read_bytes() == before

    play(tmp_path, scene)


def test_the_owner_at_a_terminal_moves_a_secret(tmp_path: Path):
    root = new_job(tmp_path, SECRETS.replace("hunter2", "{file: word}"))
    (root / "word").write_text("swordfish")
    assert nacre("set", root, "fetch.credentials.0.origin=http://b.test").code == 0


def test_an_earlier_version_sends_no_secret_back(tmp_path: Path):
    root = new_job(tmp_path)
    first = (root / "crawl.yaml").read_text("utf-8")

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        more = (await client.get(f"{JOB}/config", headers=key)).text + "politeness: {delay: 3}\n"
        put = await client.put(f"{JOB}/config", headers=yaml_of(console), content=more)
        assert put.status_code == 200, put.text
        (root / "crawl.yaml").write_text(first.replace("http://a.test", "http://b.test"), "utf-8")
        back = await client.post(f"{JOB}/config/history/1/restore", headers=key)
        assert back.status_code == 422, back.text

    play(tmp_path, scene)


def test_a_job_like_this_has_no_secret_of_it(tmp_path: Path):
    root = new_job(tmp_path, "include: more.yaml\n" + SECRETS)
    (root / "more.yaml").write_text("politeness: {delay: 9}\n")

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        wish = {"seeds": ["http://b.test/"], "name": "two", "template": "crawls~one"}
        made = await client.post(f"{API}/jobs", headers=key, json=wish)
        assert made.status_code in {201, 422}, made.text
        for file in (tmp_path / "crawls").rglob("*.yaml"):
            if file.is_relative_to(root):
                continue
            text = file.read_text("utf-8")
            assert "hunter2" not in text
            assert "solr-word" not in text

    play(tmp_path, scene)


def test_files_of_secrets_are_never_served(tmp_path: Path):
    root = new_job(
        tmp_path,
        SECRETS.replace("hunter2", "{file: word.txt}")
        + "cookies: {load_file: cookies.txt, save_file: '${launchId}/logs/jar.txt'}\n"
        + "include: more.conf\n",
    )
    run = root / "runs" / "20261120T151100Z" / "logs"
    run.mkdir(parents=True)
    for name in ("word.txt", "cookies.txt", "more.conf", "plain.txt", "logins.txt"):
        (root / name).write_text(f"# {name}\n")
        (root / name).chmod(0o644)
    (root / "more.conf").write_text("politeness: {delay: 9}\n")
    (root / "logins.txt").write_text(" \n" * 40_000 + "http://u:p4ss@a.test/\n")
    (root / "linked.txt").hardlink_to(root / "word.txt")
    (root / "runs" / "logs").mkdir()
    (run / "jar.txt").write_text("jar")
    (run / "crawl.log").write_text("log")

    async def scene() -> None:
        async with port(tmp_path, Role.ADMIN) as client:
            served = {
                name: (await client.get(f"{JOBDIR}/{name}")).status_code
                for name in ("word.txt", "linked.txt", "cookies.txt", "more.conf", "logins.txt",
                             "plain.txt")
            }  # fmt: skip
        assert served == {
            "word.txt": 403, "linked.txt": 403, "cookies.txt": 403, "more.conf": 403,
            "logins.txt": 403, "plain.txt": 200,
        }  # fmt: skip

    asyncio.run(scene())


def test_cookies_within_a_run_are_not_downloaded(tmp_path: Path):
    root = new_job(tmp_path, "cookies: {save_file: 'runs/20261120T151100Z/logs/jar.txt'}\n")
    run = root / "runs" / "20261120T151100Z" / "logs"
    run.mkdir(parents=True)
    (run / "jar.txt").write_text("jar")
    (run / "crawl.log").write_text("log")

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.ADMIN), console.client
        place = f"{JOB}/files/runs/20261120T151100Z/logs"
        assert (await client.get(f"{place}/jar.txt", headers=key)).status_code == 404
        assert (await client.get(f"{place}/crawl.log", headers=key)).status_code == 200

    play(tmp_path, scene)


def test_the_check_warns_of_secrets_that_others_can_read(tmp_path: Path):
    root = new_job(tmp_path, SECRETS.replace("hunter2", "{file: word}"))
    (root / "word").write_text("swordfish")
    (root / "word").chmod(0o640)
    said = nacre("check", root)
    assert "others can read" in said.out + said.err
    assert "0640" in said.out + said.err
    (root / "word").chmod(0o600)
    said = nacre("check", root)
    assert "others can read" not in said.out + said.err
