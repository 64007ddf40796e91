"""Keys are made, replaced and published; the site is what servers and people need."""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from nacre import __version__
from nacre.errors import ConfigError, JobError
from nacre.ops.identity import (
    PublishRequest,
    RotateRequest,
    load_keys,
    new_key,
    publish_identity,
    rotate_key,
)
from nacre.wire.key_directory import parse_directory
from tests.wire.signatures import KEYID, NOW, PEM

DAY = 86_400
WELL_KNOWN = "site/.well-known/http-message-signatures-directory"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "密钥.pem"
    path.touch(0o600)
    path.write_text(PEM)
    return path


def publish(tmp_path: Path, key: Path, **options: Any) -> dict[str, bytes]:
    given: dict[str, Any] = {
        "directory": "https://crawler.test",
        "contact": "ops@crawler.test",
        **options,
    }
    request = PublishRequest(key=key, **given)
    folder = tmp_path / "out"
    result = publish_identity(folder, request, NOW)
    return {name: (folder / name).read_bytes() for name in result.files}


def test_a_new_key_is_private_and_never_replaced(tmp_path: Path):
    path = tmp_path / "keys" / "a.pem"
    facts = new_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.keyid for found in load_keys(path)] == [facts.keyid]
    with pytest.raises(JobError, match="exists already"):
        new_key(path)
    with pytest.raises(JobError, match="cannot write"):
        new_key(key_below := path / "b.pem")
    assert not key_below.exists()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.ENOSPC, "the disk is full .*Free some space there"),
        (errno.EDQUOT, "the disk is full .*Free some space there"),
        (errno.EROFS, "Choose another place, or change its mode"),
    ],
)
def test_a_key_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, text: str
):
    def refuse(_path: Path, _data: bytes) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(JobError, match=text):
        new_key(tmp_path / "a.pem")
    assert list(tmp_path.iterdir()) == []


def test_old_and_new_keys_are_valid_together(key: Path):
    keys = rotate_key(key, RotateRequest(after=1, overlap=30), NOW)
    new, old = load_keys(key)
    assert (new.not_before, new.expires) == (NOW + DAY, 0)
    assert (old.keyid, old.not_before, old.expires) == (KEYID, 0, NOW + 31 * DAY)
    assert [facts.keyid for facts in keys] == [new.keyid, KEYID]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    rotate_key(key, RotateRequest(after=0, overlap=1), NOW + 31 * DAY)
    assert [found.expires for found in load_keys(key)] == [0, NOW + 32 * DAY]


def test_the_site(tmp_path: Path, key: Path):
    files = publish(
        tmp_path, key, purpose="国家档案 <b>&", address=("192.0.2.7", "2001:db8::/48"), name="档"
    )
    (published,) = parse_directory(files[WELL_KNOWN])
    assert published.thumbprint == KEYID
    addresses = json.loads(files["site/crawler/addresses.json"])
    assert addresses == {
        "creationTime": "2025-01-01T00:01:40Z",
        "prefixes": [{"ipv4Prefix": "192.0.2.7/32"}, {"ipv6Prefix": "2001:db8::/48"}],
    }
    contact = files["site/.well-known/security.txt"].decode()
    assert "Contact: mailto:ops@crawler.test\nExpires: 2025-01-31T00:01:40Z\n" in contact
    for name, title in (("index", "The crawler 档"), ("zh", "爬虫 档")):
        page = files[f"site/crawler/{name}.html"].decode()
        assert f"<h1>{title}</h1>" in page
        assert "国家档案 &lt;b&gt;&amp;" in page
        assert "User-agent: 档\nDisallow: /private/" in page
        assert 'rel="client-ranges" href="https://crawler.test/crawler/addresses.json"' in page
        assert "$" not in page
    private = PEM.split("\n")[1].encode()
    assert [name for name, data in files.items() if private in data] == []
    assert publish(tmp_path, key).keys() == files.keys()


def test_a_page_does_not_promise_what_the_crawl_does_not_do(tmp_path: Path, key: Path):
    job = tmp_path / "job"
    job.mkdir()
    identity = f"identity: {{key: {{file: {key}}}, directory: https://a.test}}"
    (job / "crawl.yaml").write_text(f"{identity}\nrobots: {{policy: ignore}}\n")
    request = PublishRequest(job=job, contact="https://a.test/contact")
    publish_identity(tmp_path / "out", request, NOW)
    page = (tmp_path / "out/site/crawler/index.html").read_text()
    assert "does not obey robots.txt" in page
    assert "Disallow" not in page


@pytest.mark.parametrize(
    ("job_contact", "option", "sent"),
    [
        (None, "ops@a.test", " +ops@a.test"),
        ("https://a.test/爬虫?a&b", "", " +https://a.test/爬虫?a&amp;b"),
        ("job@a.test", "abuse@a.test", " +job@a.test"),  # a job sends what its settings say
        ("", "abuse@a.test", ""),
    ],
)
def test_the_page_shows_the_user_agent_that_is_sent(
    tmp_path: Path, key: Path, job_contact: str | None, option: str, sent: str
):
    options: dict[str, Any] = {"contact": option}
    if job_contact is not None:
        options["job"] = tmp_path / "job"
        options["job"].mkdir()
        (options["job"] / "crawl.yaml").write_text(f"fetch: {{contact: '{job_contact}'}}\n")
    files = publish(tmp_path, key, **options)
    line = f"<pre>User-Agent: Mozilla/5.0 (compatible; nacre/{__version__}{sent})</pre>"
    for name in ("index", "zh"):
        assert line in files[f"site/crawler/{name}.html"].decode()


def test_keys_at_another_url_are_also_at_the_well_known_one(tmp_path: Path, key: Path):
    files = publish(tmp_path, key, directory="https://crawler.test/keys/a.json")
    assert files["site/keys/a.json"] == files[WELL_KNOWN]
    assert b"location = /keys/a.json {" in files["server/nginx.conf"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"address": ("192.0.2.7/24",)}, "is no address and no network"),
        ({"contact": ""}, "need a contact"),
        ({"contact": "nonsense"}, "^--contact: 'nonsense' is neither a web page nor a mail"),
        ({"contact": "mailto:nonsense"}, "is neither a web page nor a mail address"),
        ({"contact": "联系"}, "is neither a web page nor a mail address"),
        ({"contact": "@"}, "is neither a web page nor a mail address"),
        *(
            ({option: "联系@a.test".encode("gbk").decode(errors="surrogateescape")}, "is not UTF-8")
            for option in ("contact", "name", "purpose")
        ),
        ({"directory": ""}, "the key or its URL is missing"),
        ({"directory": "http://a.test"}, "is no https URL"),
        ({"directory": "https://a.test/../../x"}, "is no https URL"),
        ({"directory": "https://a.test/a';}"}, "is no https URL"),
        ({"directory": "https://a.test/x/"}, "is no https URL"),
        ({"directory": "https://a.test:99999"}, "is no https URL"),
        ({"directory": "https://a.test/crawler"}, "has the path /crawler. Choose another path"),
        ({"directory": "https://a.test/.well-known"}, "Choose another path"),
        ({"directory": "https://a.test/crawler/zh.html/a"}, "Choose another path"),
        ({"directory": "https://a.test//crawler/./index.html"}, "Choose another path"),
    ],
)
def test_what_is_refused(tmp_path: Path, key: Path, options: dict[str, object], message: str):
    with pytest.raises(ConfigError, match=message):
        publish(tmp_path, key, **options)


def test_a_bad_contact_of_a_job_is_refused(tmp_path: Path, key: Path):
    job = tmp_path / "job"
    job.mkdir()
    (job / "crawl.yaml").write_text("fetch: {contact: nonsense}\n")
    with pytest.raises(ConfigError, match=r"^fetch\.contact: 'nonsense' is neither"):
        publish(tmp_path, key, job=job, contact="")


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, key: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "other").touch()
    with pytest.raises(JobError, match="has other files"):
        publish(tmp_path, key)


def test_keys_that_ended_are_not_published(tmp_path: Path, key: Path):
    key.write_text(f"expires: 2025-01-01T00:00:00Z\n{PEM}")
    with pytest.raises(ConfigError, match="all keys have ended"):
        publish(tmp_path, key)


def test_an_open_file_is_refused(key: Path):
    key.chmod(0o644)
    with pytest.raises(ConfigError, match=r"^others can read .*run: chmod 600"):
        load_keys(key)
    key.chmod(0o600)
    key.write_text("x")
    with pytest.raises(ConfigError, match=f"{key.name}: no private key in PEM"):
        load_keys(key)
