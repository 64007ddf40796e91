"""Settings of the identity, and signed requests as the fetcher sends them."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nacre.config.secret import Secret
from nacre.fetch.identity import IdentitySettings, current_key, directory_url, make_signer
from nacre.fetch.identity_keys import SigningKey, format_keys, make_key, parse_keys, verify_ed25519
from nacre.fetch.request import FetchResult
from nacre.fetch.settings import Credential
from nacre.wire.message_signatures import check_signatures, with_lines
from tests.fetch.server import (
    HELLO,
    QUICK,
    Peer,
    ask,
    capture_of,
    fetch_from,
    fetching,
    run,
    serving,
)
from tests.wire.signatures import KEYID, NOW, PEM, PUBLIC, received

HEAD = b"GET /?a HTTP/1.1\r\nHost: h.test\r\n\r\n"
CHALLENGE = b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"
WELL_KNOWN = "/.well-known/http-message-signatures-directory"


def settings(text: str = PEM, **others: Any) -> IdentitySettings:
    values = {"directory": "https://crawler.test", **others}
    return IdentitySettings(key=Secret(text, {"env": "KEY"}), **values)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://a.test", f"https://a.test{WELL_KNOWN}"),
        ("https://a.test:8443/", f"https://a.test:8443{WELL_KNOWN}"),
        ("https://a.test/keys.json", "https://a.test/keys.json"),
    ],
)
def test_the_url_of_a_directory(text: str, url: str):
    assert directory_url(text) == url


@pytest.mark.parametrize(
    "text", ["a.test", "http://a.test", "https://", 'https://a.test/"', "https://中.test",
    "https://[zz]", "https://[::1", "https://a:b:c", "https://a.test:99999",
    "https://u:p@a.test", "https://a.test/#x", "https://a.test/\r\nX: 1", "https://a.test/\\"]
)  # fmt: skip
def test_what_is_no_directory(text: str):
    with pytest.raises(ValidationError, match="is no https URL"):
        settings(directory=text)


def read(root: Path, **values: Any) -> IdentitySettings:
    values = {"directory": "https://crawler.test", **values}
    return IdentitySettings.model_validate(values, context={"root": root})


def test_a_key_is_read_from_a_private_file(tmp_path: Path):
    path = tmp_path / "密钥.pem"
    path.write_text(PEM)
    path.chmod(0o600)
    found = read(tmp_path, key={"file": "密钥.pem"})
    assert [key.keyid for key in found.keys] == [KEYID]
    assert found.model_dump(mode="json")["key"] == {"file": "密钥.pem"}
    assert "MC4C" not in repr(found) + found.model_dump_json()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int):
    path = tmp_path / "key.pem"
    path.write_text(PEM)
    path.chmod(mode)
    with pytest.raises(ValidationError, match=rf"mode {mode:04o}\); run: chmod 600 {path}"):
        read(tmp_path, key={"file": "key.pem"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"key": {"file": "missing.pem"}}, "missing.pem cannot be read"),
        ({"key": PEM}, "does not belong into settings"),
        ({"key": {"env": "NACRE_PEM"}, "directory": ""}, "`key` needs `directory`"),
        ({"lifetime": 301}, "less than or equal to 300"),
        ({"lifetime": 0}, "greater than or equal to 1"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], message: str
):
    monkeypatch.setenv("NACRE_PEM", PEM)
    with pytest.raises(ValidationError, match=message) as error:
        read(tmp_path, **values)
    assert "qTnF" not in str(error.value) or "key" in values


def test_without_a_key_nothing_is_signed():
    assert make_signer(IdentitySettings(), lambda: NOW) is None
    assert make_signer(IdentitySettings(directory="https://a.test"), lambda: NOW) is None


def test_each_signature_is_another():
    signer = make_signer(settings(), lambda: NOW + 0.9)
    assert signer is not None
    lines = [signer.sign(HEAD) for _ in range(2)]
    assert lines[0] != lines[1]
    for line in lines:
        (check,) = check_signatures(
            received(with_lines(HEAD, line)), {KEYID: PUBLIC}, verify_ed25519, now=NOW + 0.9
        )
        assert (check.fault, check.created, check.expires) == ("", NOW, NOW + 300)
        assert check.agent == f"https://crawler.test{WELL_KNOWN}"


def test_the_newest_key_whose_time_has_come_signs():
    old, new = parse_keys(PEM)[0], make_key(NOW + 100)
    now = [NOW]
    signer = make_signer(settings(format_keys([new, old])), lambda: now[0])
    assert signer is not None
    for time, keyid in ((NOW, KEYID), (NOW + 99, KEYID), (NOW + 100, new.keyid)):
        now[0] = time
        assert f'keyid="{keyid}"'.encode() in signer.sign(HEAD)


@pytest.mark.parametrize(
    ("times", "number"),
    [
        ([(0, 0)], 0),
        ([(0, NOW)], 0),
        ([(5, 0), (0, 0)], 0),  # the newest of those that have no end
        ([(NOW + 1, 0), (0, NOW + 9)], 1),
        ([(NOW, 0), (0, NOW + 9)], 0),
        ([(NOW - 1, NOW), (NOW - 2, 0), (0, NOW)], 1),  # one that has ended signs nothing
        ([(NOW - 1, NOW + 9), (NOW - 2, 0), (0, NOW + 9)], 1),  # replaced before its time came
        ([(NOW + 2, 0), (NOW + 1, 0)], 1),
        ([(NOW + 2, 0), (0, NOW)], 0),
        ([(9, NOW - 1), (5, NOW - 2)], 0),
    ],
)
def test_the_key_that_signs(times: list[tuple[int, int]], number: int):
    private = parse_keys(PEM)[0].private
    assert current_key([SigningKey(private, *each) for each in times], NOW) == number


def test_the_fetcher_sends_and_records_signed_requests():
    heads: list[bytes] = []

    async def handler(peer: Peer) -> None:
        while head := await peer.request():
            heads.append(head)
            await peer.send(HELLO)

    signer = make_signer(settings(), lambda: NOW)
    found = fetch_from(handler, count=2, signer=signer, headers=(("Accept", "a/b"),))
    assert [capture_of(result).request for result in found] == heads
    assert len(set(heads)) == 2
    for head in heads:
        (check,) = check_signatures(received(head), {KEYID: PUBLIC}, verify_ed25519, now=NOW)
        assert check.fault == ""


def test_a_request_that_has_a_signature_stays_as_it_is():
    heads: list[bytes] = []

    async def handler(peer: Peer) -> None:
        while head := await peer.request():
            heads.append(head)
            await peer.send(HELLO)

    signer, own = make_signer(settings(), lambda: NOW), ("signature-AGENT", '"https://evil.test"')
    (found,) = fetch_from(handler, count=1, signer=signer, headers=(own,))
    assert [capture_of(found).request] == heads
    assert heads[0].lower().count(b"signature") == 1


def test_passwords_stay_out_of_the_record_and_the_signature_is_in_it():
    heads: list[bytes] = []

    async def handler(peer: Peer) -> None:
        while head := await peer.request():
            heads.append(head)
            known = b"Authorization: Basic" in head
            await peer.send(HELLO if known else CHALLENGE)

    async def main() -> FetchResult:
        async with serving(handler) as server, fetching() as fetcher:
            login = Credential(
                origin=server.url("").rstrip("/"), username="u", password=Secret("pass")
            )
            quick = QUICK.model_copy(update={"credentials": (login,)})
            request = ask(server.url("/0"), signer=make_signer(settings(), lambda: NOW))
            return await fetcher.fetch(request, quick)

    capture = capture_of(run(main()))
    first, second = (head.split(b"\r\nSignature: ")[1] for head in heads)
    assert first != second
    assert second in capture.request
    assert b"dTpwYXNz" in heads[1]
    assert b"dTpwYXNz" not in capture.request


def test_a_request_that_is_repeated_is_signed_again():
    heads: list[bytes] = []

    async def handler(peer: Peer) -> None:
        heads.append(await peer.request())
        await peer.send(HELLO + b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        await peer.wait_for_end()

    fetch_from(handler, signer=make_signer(settings(), lambda: NOW))
    assert len(heads) == len(set(heads)) > 1
