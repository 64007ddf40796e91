"""`nacre identity …`, and starts of jobs whose key cannot be used."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre
from tests.fetch.certificates import Authority
from tests.ops.identity_server import site_server


def test_from_a_new_key_to_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NACRE_COMMAND", "here/nacre")
    key = tmp_path / "密钥.pem"
    made = nacre("identity", "new", key)
    assert made.code == 0, made.err
    assert f"key: {{file: {key}}}" in made.out
    again = nacre("identity", "new", key)
    assert again.code == 2
    assert f"run `here/nacre identity rotate {key}`" in again.err
    authority = Authority(tmp_path)
    with site_server(authority) as server:
        place = ("--key", key, "--directory", server.origin)
        out = tmp_path / "out"
        done = nacre("identity", "publish", out, *place, "--contact", "a@b.test")
        assert done.code == 0, done.err
        assert "valid until" in done.out
        assert f"upload {out}/site/" in done.out
        server.publish(out)
        checked = nacre("identity", "check", *place, "--roots", authority.roots)
        assert checked.code == 0, checked.out + checked.err
        rotated = json.loads(nacre("identity", "rotate", key, "--after", 0, "--json").out)
        assert [bool(key["expires"]) for key in rotated] == [False, True]
        checked = nacre("identity", "check", *place, "--roots", authority.roots, "--json")
        assert checked.code == 1
        assert json.loads(checked.out)["is_sound"] is False
        checked = nacre("identity", "check", *place, "--roots", authority.roots)
        assert "Run `here/nacre identity publish DIR`" in checked.out


@pytest.mark.parametrize(
    ("mode", "text", "message"),
    [
        (None, "", "cannot be read"),
        (0o644, None, "run: chmod 600"),
        (0o600, "not a key", "no private key in PEM"),
    ],
)
def test_a_job_with_a_bad_key_does_not_start(
    tmp_path: Path, mode: int | None, text: str | None, message: str
):
    job = tmp_path / "job"
    assert nacre("new", job, "http://127.0.0.1:1/").code == 0
    key = job / "key.pem"
    if mode is not None:
        assert nacre("identity", "new", key).code == 0
        if text is not None:
            key.write_text(text)
        key.chmod(mode)
    with (job / "crawl.yaml").open("a") as file:
        file.write("\nidentity: {key: {file: key.pem}, directory: https://crawler.test}\n")
    for command in (("run", job), ("check", job)):
        done = nacre(*command)
        assert done.code == 2
        assert "identity.key" in done.err + done.out
        assert message in done.err + done.out


def test_a_bad_key_of_a_sheet_stops_the_start(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://127.0.0.1:1/").code == 0
    with (job / "crawl.yaml").open("a") as file:
        file.write(
            "\nidentity: {directory: https://crawler.test}\n"
            "sheets: {signed: {identity.key: {file: none.pem}}}\n"
            "sheet_associations: [{sheets: [signed], surts: ['http://a.test/']}]\n"
        )
    done = nacre("run", job)
    assert done.code == 2
    assert "none.pem" in done.err
