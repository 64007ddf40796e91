"""Rights by the kind of a setting: an operator of a remote console, and a viewer of a local one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nacre.console.app import ConsoleApp
from nacre.console.routes import API
from nacre.fleet.reach import ConsoleReach
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console, with_common

JOB = f"{API}/jobs/crawls~one"
REMOTE = ConsoleReach(proxy="127.0.0.1", hosts=("localhost",))
SENSITIVE = (
    ("network.allow", "[169.254.169.254/32]"),
    ("network.proxy_resolves", "true"),
    ("dns.hosts", "{a.test: [127.0.0.1]}"),
    ("dns.servers", "[192.0.2.1]"),
    ("fetch.proxy", "http://192.0.2.1:3128"),
    ("fetch.bind_address", "127.0.0.2"),
    ("cycle.scratch", "/srv/x"),
    ("cycle.storage", "s3://bucket/prefix"),
    ("cycle.generate.limits", "/etc/passwd"),
    ("cycle.index.writers", "[solr]"),
    ("cycle.index.writers", "[{writer: opensearch, urls: ['http://192.0.2.1/'], ca: /etc/passwd}]"),
    ("alerts.webhook.url", "http://192.0.2.1/"),
    ("alerts.webhook.secret", "{file: /etc/passwd}"),
    ("archive.outbackcdx", "http://192.0.2.1/"),
    ("archive.directories", "[/srv/x]"),
    ("metrics.listen", "0.0.0.0:9464"),
    ("metrics.public", "true"),
    ("cookies.save_file", "/srv/x"),
    ("scope", "[{rule: geo-location, database: /etc/passwd}]"),
    ("scope", "[{rule: OnHostsDecideRule, surtsSourceFile: /etc/passwd}]"),
    ("sheets.s.fetch.proxy", "http://192.0.2.1:3128"),
)


@asynccontextmanager
async def remote(folder: Path) -> AsyncIterator[GivenConsole]:
    """A console that others can reach."""
    async with given_console(folder) as console:
        parts = with_common(console.parts, reach=REMOTE)
        async with console.of(ConsoleApp(parts)) as client:
            client.headers["x-forwarded-proto"] = "https"
            yield GivenConsole(parts, client, console.port_keys)


def new_job(folder: Path, name: str = "one") -> Path:
    root = folder / "crawls" / name
    root.parent.mkdir(exist_ok=True)
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    return root


@pytest.mark.parametrize(("path", "value"), SENSITIVE)
def test_asvs_8_2_3_an_operator_of_a_remote_console_names_nothing_of_the_machine(
    tmp_path: Path, path: str, value: str
):
    root = new_job(tmp_path)
    before = (root / "crawl.yaml").read_text()
    nested = value
    for part in reversed(path.split(".")):
        nested = f"{{{part}: {nested}}}"
    text = f"{before}{nested[1:-1]}\n"

    async def scene() -> None:
        async with remote(tmp_path) as console:
            key, client = console.as_key(Role.OPERATOR), console.client
            fields = {**key, "content-type": "text/yaml", "if-match": "*"}
            put = await client.put(f"{JOB}/config?force=1", headers=fields, content=text)
            assert put.status_code == 422, put.text
            assert "only administrators" in put.text
            line = {"assignments": [f"{path}={value}"]}
            patched = await client.patch(f"{JOB}/settings", headers=key, json=line)
            assert (patched.status_code, patched.json()["code"]) == (403, "files"), patched.text
            started = await client.post(
                f"{JOB}/start", headers=key, json={"set": line["assignments"]}
            )
            assert started.status_code == 403, started.text
            tried = await client.post(
                f"{JOB}/dry-run", headers=key, json={"urls": ["http://a.test/"], "text": text}
            )
            assert tried.status_code == 422
            assert "only administrators" in tried.text
            clip = {"job": "crawls~one", "text": text, "values": {}}
            used = await client.post(f"{API}/clips/sitemaps-only/insert", headers=key, json=clip)
            assert used.status_code == 422
            assert "only administrators" in used.text
        assert (root / "crawl.yaml").read_text() == before

    asyncio.run(scene())


def test_an_admin_of_a_remote_console_names_servers(tmp_path: Path):
    root = new_job(tmp_path)

    async def scene() -> None:
        async with remote(tmp_path) as console:
            line = {"assignments": ["alerts.webhook.url=https://ops.example/"]}
            key = console.as_key(Role.ADMIN)
            done = await console.client.patch(f"{JOB}/settings", headers=key, json=line)
            assert done.status_code == 200, done.text
            text = (root / "crawl.yaml").read_text().replace("https://ops.example/", "X")
            other = text.replace("X", "https://ops.example/") + "politeness: {min_delay: 9}\n"
            fields = console.as_key(Role.OPERATOR) | {"content-type": "text/yaml", "if-match": "*"}
            kept = await console.client.put(f"{JOB}/config", headers=fields, content=other)
            assert kept.status_code == 200, kept.text

    asyncio.run(scene())


def test_a_dry_run_of_a_viewer_reads_no_file_and_no_other_place(tmp_path: Path):
    root = new_job(tmp_path)
    other = new_job(tmp_path, "two")
    (other / "words.txt").write_text("http://secret-word.example/\n")
    before = (root / "crawl.yaml").read_text()
    texts = (
        f"include: {other / 'crawl.yaml'}\n{before}",
        f"profile: {other / 'crawl.yaml'}\n",
        before + f"scope: [{{rule: surt-prefixed, files: [{other / 'words.txt'}]}}]\n",
        before.replace("seeds.txt", str(other / "words.txt")),
        before + "fetch: {proxy: {file: /etc/passwd}}\n",
    )

    async def scene() -> None:
        async with given_console(tmp_path) as console:
            key, client = console.as_key(Role.VIEWER), console.client
            for text in texts:
                asked = {"urls": ["http://a.test/"], "text": text}
                tried = await client.post(f"{JOB}/dry-run", headers=key, json=asked)
                assert tried.status_code == 422, text
                assert "only administrators" in tried.text
                assert "secret-word" not in tried.text
            allowed = {"urls": ["http://a.test/"], "text": before + "fetch: {timeout: 9}\n"}
            tried = await client.post(f"{JOB}/dry-run", headers=key, json=allowed)
            assert tried.status_code == 200, tried.text
            operator = console.as_key(Role.OPERATOR)
            tried = await client.post(
                f"{JOB}/dry-run", headers=operator, json={"urls": ["http://a.test/"],
                                                          "text": texts[3]},
            )  # fmt: skip
            assert tried.status_code == 200, tried.text

    asyncio.run(scene())
