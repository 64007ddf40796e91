"""The check of a published identity: by a real server with TLS, and everything that goes wrong."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nacre.core.clock import Clock
from nacre.errors import ConfigError
from nacre.machine.clock import MovedClock, SystemClock
from nacre.ops import identity_check as module
from nacre.ops.identity import PublishRequest, RotateRequest, publish_identity, rotate_key
from nacre.ops.identity_check import CheckedIdentity, CheckIdentityRequest, check_identity
from nacre.wire.key_directory import DIRECTORY_PATH
from tests.fetch.certificates import Authority
from tests.ops.identity_server import SiteServer, raw_server, site_server
from tests.wire.signatures import KEYID, PEM


class Published:
    """An identity that a server publishes."""

    def __init__(self, folder: Path, server: SiteServer, authority: Authority) -> None:
        self.folder, self.server, self.authority = folder, server, authority
        self.key = folder / "key.pem"
        self.key.touch(0o600)
        self.key.write_text(PEM)
        self.publish()

    def publish(self, **options: Any) -> None:
        request = PublishRequest(
            key=self.key, directory=self.server.origin, contact="ops@a.test", **options
        )
        publish_identity(self.folder / "out", request, SystemClock().now())
        self.server.publish(self.folder / "out")

    def check(self, clock: Clock | None = None, path: str = "") -> CheckedIdentity:
        request = CheckIdentityRequest(
            key=self.key, directory=self.server.origin + path, roots=self.authority.roots
        )
        return check_identity(request, clock or SystemClock())

    def outcomes(self, clock: Clock | None = None) -> dict[str, tuple[str, str]]:
        return {check.name: (check.outcome, check.text) for check in self.check(clock).checks}


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Published]:
    authority = Authority(tmp_path)
    with site_server(authority) as server:
        yield Published(tmp_path, server, authority)


def test_all_is_well(published: Published):
    found = published.check()
    assert {(check.name, check.outcome) for check in found.checks} == {
        (name, "ok")
        for name in ("directory", "clock", "key", "proof", "page", "addresses", "contact")
    }
    assert found.is_sound
    assert found.directory == published.server.origin + DIRECTORY_PATH


@pytest.mark.parametrize(("ahead", "side"), [(60, "ahead of"), (-60, "behind")])
def test_a_wrong_clock_is_found(published: Published, ahead: int, side: str):
    found = published.outcomes(MovedClock(SystemClock().now() + ahead))
    assert found["clock"][0] == "failed"
    assert f" s {side} the server" in found["clock"][1]
    assert published.outcomes(MovedClock(SystemClock().now() + 1))["clock"][0] == "ok"


def test_a_slow_reply_is_no_wrong_clock(published: Published):
    passed = 0.0

    class SlowFiles(dict[str, bytes]):
        """The answer to a request takes 10 s."""

        def get(self, path: str, default: Any = None) -> Any:
            nonlocal passed
            passed = 10.0
            return super().get(path, default)

    published.server.files = SlowFiles(published.server.files)
    clock = SimpleNamespace(now=lambda: SystemClock().now() + passed)
    assert published.outcomes(cast("Clock", clock))["clock"] == ("ok", "as the server's")


def test_a_key_that_is_not_published(published: Published):
    rotate_key(published.key, RotateRequest(after=1), SystemClock().now())
    found = [check for check in published.check().checks if check.name == "key"]
    assert [check.outcome for check in found] == ["warning", "ok"]
    assert "Run `nacre identity publish DIR`" in found[0].text
    rotate_key(published.key, RotateRequest(after=0), SystemClock().now())
    assert not published.check().is_sound
    published.publish()
    assert published.check().is_sound


def test_keys_that_have_all_ended(published: Published):
    published.key.write_text(f"expires: 2025-01-01T00:00:00Z\n{PEM}")
    found = [check for check in published.check().checks if check.name == "key"]
    assert [check.outcome for check in found] == ["failed", "ok"]
    assert "all keys have ended. Make a new one" in found[0].text


def test_a_server_without_the_fields(published: Published):
    published.server.fields = {"Content-Type": "application/json"}
    found = published.outcomes()
    assert found["directory"][0] == "failed"
    assert "Content-Type is 'application/json'" in found["directory"][1]
    assert found["proof"][0] == "warning"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (b'"use"', b'"Use"', "Content-Digest is missing or does not fit"),
        (KEYID.encode(), b"x" * 43, "is not the thumbprint"),
        (b"{", b"[", "no JSON object"),
    ],
)
def test_a_changed_directory(published: Published, old: bytes, new: bytes, text: str):
    files = published.server.files
    files[DIRECTORY_PATH] = files[DIRECTORY_PATH].replace(old, new)
    assert any(text in check.text for check in published.check().checks)


def test_signatures_that_ended_or_are_of_another_authority(published: Published):
    later = MovedClock(SystemClock().now() + 31 * 86_400)
    assert "expired" in published.outcomes(later)["proof"][1]
    fields = published.server.fields
    request = PublishRequest(key=published.key, directory="https://b.test", contact="a@b.test")
    publish_identity(published.folder / "other", request, SystemClock().now())
    published.server.publish(published.folder / "other")
    assert "does not fit the message" in published.outcomes()["proof"][1]
    published.server.fields = {**fields, "Signature-Input": "("}
    assert published.outcomes()["proof"][0] == "failed"


def test_a_validity_that_ends_soon_is_a_warning(published: Published):
    published.publish(valid=3)
    assert published.outcomes()["proof"][0] == "warning"
    assert published.check().is_sound


def test_what_is_missing_beside_the_keys_is_a_warning(published: Published):
    files = published.server.files
    for name in [name for name in files if name != DIRECTORY_PATH]:
        files[name] = b"x"
    found = published.outcomes()
    assert {found[name][0] for name in ("page", "addresses", "contact")} == {"warning"}
    files.clear()
    assert "status 404, not 200" in published.outcomes()["directory"][1]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000, b'{"prefixes": [' + b"[" * 60_000, b"[]", b"7", b'{"prefixes": 7}',
        b'{"prefixes": ["192.0.2.7"]}', b'{"prefixes": [{"ipv4Prefix": 7}], "creationTime": "x"}',
        b'{"prefixes": [{"ipv4Prefix": ["192.0.2.7", 32]}], "creationTime": "x"}',
        b'{"prefixes": [{"ipv4Prefix": "192.0.2.7"}]}', b'\xff\xfe{"prefixes": []}',
        b'{"prefixes": [], "creationTime": ' + b"9" * 5000 + b"}",
    ],
    ids=range(11),
)  # fmt: skip
def test_addresses_that_are_none(published: Published, body: bytes):
    published.server.files["/crawler/addresses.json"] = body
    assert published.outcomes()["addresses"] == ("warning", "no list of addresses in JSON")


def test_redirects_are_not_followed(published: Published):
    published.server.status = 302
    published.server.fields["Location"] = "http://169.254.169.254/latest/meta-data/"
    assert published.outcomes() == {
        "directory": (
            "failed",
            f"{published.server.origin}{DIRECTORY_PATH}: status 302, not 200",
        )
    }


def test_an_untrusted_or_silent_server(published: Published, tmp_path: Path):
    other = CheckIdentityRequest(key=published.key, directory=published.server.origin)
    (check,) = check_identity(other, SystemClock()).checks
    assert "certificate" in check.text.lower()
    assert "name its root certificate with --roots FILE" in check.text
    other_name = published.server.origin.replace("127.0.0.1", "localhost")
    named = CheckIdentityRequest(
        key=published.key, directory=other_name, roots=published.authority.roots
    )
    (check,) = check_identity(named, SystemClock()).checks
    assert "certificate is not valid for 'localhost'" in check.text
    assert "--roots" not in check.text  # it would not help
    closed = CheckIdentityRequest(key=published.key, directory="https://127.0.0.1:1")
    (check,) = check_identity(closed, SystemClock()).checks
    assert check.outcome == "failed"
    missing = CheckIdentityRequest(
        key=published.key, directory="https://a.test", roots=tmp_path / "none.pem"
    )
    with pytest.raises(ConfigError, match=r"none\.pem"):
        check_identity(missing, SystemClock())


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), "no whole answer within"),
        (chain([HEAD], repeat(b"X: a\r\n")), "got more than 100 headers"),
        ([HEAD, *[b"X: " + b"a" * 60_000 + b"\r\n"] * 9, b"\r\n"], "65536 bytes of header lines"),
        (chain([HEAD, b"\r\n"], repeat(b" " * 9000)), "more than 65536 bytes"),
        ([HEAD, b"Transfer-Encoding: chunked\r\n\r\n\x1b[31m\r\n"], "IncompleteRead"),
        ([b"\x1b[31m" * 20_000], "when reading status line"),
        ([b"\x1b[31m\r\n"], "\x1b[31m"),
        ([], "without response"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hostile_server(
    published: Published, monkeypatch: pytest.MonkeyPatch, parts: Iterable[bytes], text: str
):
    # Only the server that never ends is not heard out, however busy the machine is.
    monkeypatch.setattr(module, "TIMEOUT", 1.0 if "no whole answer" in text else 100.0)
    with raw_server(published.authority, parts) as origin:
        request = CheckIdentityRequest(
            key=published.key, directory=origin, roots=published.authority.roots
        )
        checks = check_identity(request, SystemClock()).checks
    assert any(check.outcome == "failed" and text in check.text for check in checks), checks
    assert all(len(check.text) < 400 for check in checks)


def test_fields_that_cost_much_or_are_long(published: Published):
    fields = published.server.fields
    covered = " ".join(f'"content-digest";sf={number}' for number in range(1500))
    published.server.fields = {**fields, "Signature-Input": f"a=({covered})"}
    assert "more than 256 components" in published.outcomes()["proof"][1]
    published.server.fields = {**fields, "Content-Type": "a" * 60_000}
    assert len(published.outcomes()["directory"][1]) < 400
