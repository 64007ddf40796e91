"""What a job writes holds no secret: every file, every record, every message."""

import base64
import gzip
from pathlib import Path

import pytest

from tests.cli.site import nacre, site

WORD = "correct-horse-battery"
OTHER = "staple-of-the-proxy"


def forms(word: str) -> list[bytes]:
    """The word, and what Basic authentication makes of it."""
    pairs = (f"me:{word}", f"librarian:{word}")
    return [word.encode(), *(base64.b64encode(pair.encode()) for pair in pairs)]


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@pytest.fixture
def served() -> dict[str, str]:
    return {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


def test_nothing_that_a_job_writes_or_says_holds_a_secret(
    tmp_path: Path, served: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SITE_PASSWORD", WORD)
    (tmp_path / "proxy.txt").write_text(f"http://librarian:{OTHER}@127.0.0.1:9\n")
    job = tmp_path / "job"
    with site(served, password=f"me:{WORD}") as home:
        place = home.rstrip("/")
        credential = f"{{origin: '{place}', username: me, password: {{env: SITE_PASSWORD}}}}"
        given = ("--delay", 0, "--set", f"fetch.credentials=[{credential}]")
        assert nacre("new", job, home, *given).code == 0
        done = nacre("run", job)
        assert done.code == 0, done.err
        assert "200: 2" in done.out
        said = [done.out, done.err]
        proxy = f"fetch.proxy={{file: {tmp_path}/proxy.txt}}"
        for command in (
            ("check", job),
            ("check", job, "--explain", "fetch"),
            ("check", job, "--explain", "fetch.credentials.0.password"),
            (
                "check",
                job,
                "--explain",
                "fetch.proxy",
                "--set",
                proxy,
            ),
            ("check", job, "--set", f"fetch.proxy=ftp://x:{OTHER}@h"),
            ("status", job, "--json"),
            ("explain", job, f"{home}in.html"),
            ("report", job, "crawl-summary"),
        ):
            told = nacre(*command)
            said += [told.out, told.err]
    written = {path: content(path) for path in job.rglob("*") if path.is_file()}
    assert any(b"Authorization: [not archived]" in data for data in written.values())
    effective = next(data for path, data in written.items() if path.name == "effective.json")
    assert b"SITE_PASSWORD" in effective
    for word in (WORD, OTHER):
        for form in forms(word):
            assert [str(path) for path, data in written.items() if form in data] == []
            assert [text for text in said if form.decode() in text] == []
    assert "{env: SITE_PASSWORD}" in "".join(said)
    assert f"{{file: {tmp_path}/proxy.txt}}" in "".join(said)


def test_a_secret_in_plain_text_is_warned_of_and_its_file_is_for_the_owner_only(tmp_path: Path):
    job = tmp_path / "job"
    done = nacre("new", job, "http://a.test/", "--set", f"fetch.proxy=http://me:{WORD}@p.test:1")
    assert done.code == 0
    assert "fetch.proxy: is given in plain text" in done.err
    assert (job / "crawl.yaml").stat().st_mode & 0o077 == 0
    assert WORD not in done.out + done.err + nacre("check", job).err


def test_set_writes_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROXY", f"http://me:{WORD}@p.test:1")
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/").code == 0
    refused = [
        nacre("set", job, f"fetch.proxy=http://me:{WORD}@p.test:1"),
        nacre("set", job, f"fetch.proxy=http://me:{WORD}@p.test:1", "--for", "http://a.test/"),
        nacre(
            "set",
            job,
            f"fetch.credentials=[{{origin: 'http://a.test', username: u, password: {WORD}}}]",
        ),
    ]
    assert all(done.code == 2 and "holds a secret" in done.err for done in refused)
    done = nacre("set", job, "fetch.proxy={env: PROXY}")
    assert done.code == 0, done.err
    config = (job / "crawl.yaml").read_text()
    assert "env: PROXY" in config
    assert WORD not in config + done.out + done.err + "".join(one.out + one.err for one in refused)


def test_the_address_of_a_proxy_without_a_password_is_no_secret(tmp_path: Path):
    job, proxy = tmp_path / "job", "http://p.test:3128"
    done = nacre("new", job, "http://a.test/", "--set", f"fetch.proxy={proxy}")
    assert (done.code, "plain text" in done.err) == (0, False)
    assert proxy in nacre("check", job, "--explain", "fetch.proxy").out
    done = nacre("set", job, "fetch.proxy=socks5://p.test:1080")
    assert done.code == 0, done.err
    assert "socks5://p.test:1080" in (job / "crawl.yaml").read_text()


def test_a_secret_in_a_sheet_is_not_shown(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/").code == 0
    config = job / "crawl.yaml"
    sheet = f"sheets: {{inner: {{fetch: {{proxy: 'http://me:{WORD}@p.test:1'}}}}}}\n"
    config.write_text(config.read_text() + sheet)
    told = [
        nacre("check", job, "--explain", "fetch.proxy"),
        nacre("check", job, "--explain", "sheets"),
        nacre("sheet", job, "show", "inner"),
        nacre("sheet", "show", job, "inner"),
    ]
    assert WORD not in "".join(one.out + one.err for one in told)
