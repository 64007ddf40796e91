"""A crawl with an identity: each request is signed for its server, and the record has it."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nacre.archive.reader import WarcReader
from nacre.config.secret import Secret
from nacre.fetch.identity_keys import verify_ed25519
from nacre.wire.message_signatures import SignatureCheck, check_signatures
from tests.cli.site import nacre
from tests.crawl.jobs import Crawled, crawl
from tests.crawl.raw_site import RawSite, raw_site, redirect, reply
from tests.wire.signatures import KEYID, PEM, PUBLIC, received

pytestmark = pytest.mark.crawl


def checks(head: bytes, now: float) -> list[SignatureCheck]:
    return check_signatures(received(head), {KEYID: PUBLIC}, verify_ed25519, now=now)


def requests_of(done: Crawled) -> list[bytes]:
    """The blocks of the request records."""
    found = []
    for path in done.warcs:
        with path.open("rb") as file:
            for entry in WarcReader(file):
                if dict(entry.fields)["WARC-Type"] == "request":
                    found.append(b"".join(iter(entry.read, b"")))
    return found


def run_signed(job: Path, site: RawSite, other: RawSite, form: str = "dictionary") -> Crawled:
    site.serve(
        {
            "/a": reply("<a href='/b?q=中文'>x</a>"),
            "/b?q=%E4%B8%AD%E6%96%87": reply("b"),
            "/away": redirect(f"Location: {other.origin}/there?x".encode()),
            "/plain/x": reply("not signed"),
            "/robots.txt": reply("User-agent: *\nDisallow: /no", "text/plain"),
        },
        links=["/a", "/away", "/plain/x"],
    )
    other.serve({"/there?x": reply("there")})
    return crawl(
        job,
        [f"{site.origin}/"],
        identity={
            "key": Secret(PEM, {"env": "KEY"}),
            "directory": "https://crawler.test",
            "form": form,
        },
        sheets={"unsigned": {"identity.key": ""}},
        sheet_associations=[{"sheets": ["unsigned"], "surts": [f"{site.origin}/plain/"]}],
    )


def test_each_request_is_signed_for_its_own_server(tmp_path: Path):
    with raw_site() as site, raw_site("127.0.0.2") as other:
        done = run_signed(tmp_path / "job", site, other)
    now = time.time()
    heads = dict(zip(site.asked + other.asked, site.heads + other.heads, strict=True))
    assert {"/", "/robots.txt", "/b?q=%E4%B8%AD%E6%96%87", "/there?x", "/plain/x"} <= set(heads)
    assert b"ignature" not in heads.pop("/plain/x")
    for target, head in heads.items():
        (check,) = checks(head, now)
        assert (target, check.fault) == (target, "")
    recorded = {request.strip() for request in requests_of(done)}
    assert recorded == {head.strip() for head in site.heads + other.heads}
    elsewhere = heads["/"].replace(site.origin[7:].encode(), b"x.test")
    assert checks(elsewhere, now)[0].fault == "the signature does not fit the message"


def test_the_key_is_nowhere_in_the_job(tmp_path: Path):
    with raw_site() as site, raw_site("127.0.0.2") as other:
        done = run_signed(tmp_path / "job", site, other)
    secret = PEM.split("\n")[1].encode()
    files = [path for path in done.root.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if secret in path.read_bytes()] == []


def assert_all_signed(sites: Sequence[RawSite], targets: set[str]) -> None:
    asked = [target for site in sites for target in site.asked]
    assert targets <= set(asked)
    heads = [head for site in sites for head in site.heads]
    found = [checks(head, time.time()) for head in heads]
    assert [[check.fault for check in each] for each in found] == [[""]] * len(heads)


def test_batch_rounds_sign(tmp_path: Path):
    job = tmp_path / "job"
    with raw_site() as site:
        site.serve({"/a": reply("a")}, links=["/a"])
        seed = f"{site.origin}/"
        assert nacre("new", job, seed, "--allow-net", "127.0.0.0/8").code == 0
        key = job / "key.pem"
        key.touch(0o600)
        key.write_text(PEM)
        with (job / "crawl.yaml").open("a") as file:
            file.write(
                "\nidentity: {key: {file: key.pem}, directory: https://crawler.test}\n"
                "politeness: {delay: 0}\n"
            )
        done = nacre("cycle", job, "--rounds", 2, "-q", "-s", seed)
        assert done.code == 0, done.err
        assert_all_signed([site], {"/robots.txt", "/", "/a"})
    secret = PEM.split("\n")[1].encode()
    files = [path for path in job.rglob("*") if path.is_file()]
    assert [path for path in files if secret in path.read_bytes()] == [key]


@pytest.mark.browser
def test_requests_of_pages_in_a_browser_are_signed(tmp_path: Path):
    script = "fetch('/api?x').then(r => r.text()).then(t => document.body.innerText = t);"
    with raw_site() as site, raw_site("127.0.0.2") as other:
        script += f"new Image().src = '{other.origin}/i.png'"
        site.serve(
            {
                "/": reply("<body><script src=/a.js></script>"),
                "/a.js": reply(script, "text/javascript"),
                "/api?x": reply("hello"),
            }
        )
        other.serve({"/i.png": reply(b"x", "image/png")})
        crawl(
            tmp_path / "job",
            [f"{site.origin}/"],
            identity={"key": Secret(PEM, {"env": "KEY"}), "directory": "https://crawler.test"},
            browser={"use": "always"},
        )
        assert_all_signed([site, other], {"/", "/a.js", "/api?x", "/i.png", "/robots.txt"})
