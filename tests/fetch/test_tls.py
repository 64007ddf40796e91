"""TLS: recorded whatever it is, enforced where asked."""

import asyncio
import ssl
from pathlib import Path

import pytest

from nacre.core.capture import TlsFacts
from nacre.core.status import FetchStatus
from nacre.fetch.http import HttpFetcher
from nacre.fetch.request import FetchResult
from nacre.fetch.settings import FetchSettings
from nacre.fetch.tls import HandshakeGate, Tls, iana_name, make_context
from nacre.machine.clock import MovedClock
from tests.fetch.certificates import Authority, self_signed
from tests.fetch.server import (
    HELLO,
    OK,
    QUICK,
    AllowAll,
    Handler,
    Peer,
    SystemClock,
    ask,
    capture_of,
    fetching,
    polite,
    relay,
    replies,
    run,
    serving,
    wire_bytes,
)

STRICT = QUICK.model_copy(update={"tls": "strict"})


def fetch_tls(
    authority: Authority,
    context: ssl.SSLContext,
    *,
    host: str = "good.test",
    settings: FetchSettings = QUICK,
    handler: Handler = polite,
    count: int = 1,
) -> list[FetchResult]:
    async def main() -> list[FetchResult]:
        async with (
            serving(handler, tls=context) as server,
            fetching(roots=authority.roots) as fetcher,
        ):
            url = server.url("/", "https", host)
            return [await fetcher.fetch(ask(url), settings) for _ in range(count)]

    return run(main())


def facts_of(result: FetchResult) -> TlsFacts:
    tls = capture_of(result).tls
    assert tls is not None
    return tls


def test_the_facts_of_a_good_server_are_recorded(authority: Authority) -> None:
    one, two = fetch_tls(authority, authority.context("good.test"), count=2)
    facts = facts_of(one)
    assert wire_bytes(capture_of(one)) == HELLO
    assert (facts.version, facts.verified, facts.sni) == ("TLSv1.3", "ok", "good.test")
    assert facts.cipher.startswith("TLS_")
    assert len(facts.chain) >= 1
    assert facts.chain[0][:1] == b"\x30"
    assert capture_of(two).reused


def test_certificates_are_judged_by_the_time_of_the_machine(authority: Authority) -> None:
    """`--now` moves the clock of the job: captures have its time, certificates do not."""

    async def main() -> FetchResult:
        async with serving(polite, tls=authority.context("good.test")) as server:
            fetcher = HttpFetcher(
                MovedClock(1_000_000_000.0), AllowAll(), roots=authority.roots,
                machine=SystemClock(),
            )  # fmt: skip
            try:
                return await fetcher.fetch(ask(server.url("/", "https", "good.test")), STRICT)
            finally:
                await fetcher.close()

    result = run(main())
    assert facts_of(result).verified == "ok"
    assert 1_000_000_000 <= capture_of(result).began / 1e6 < 1_000_000_600


def test_strict_takes_a_good_server(authority: Authority) -> None:
    (result,) = fetch_tls(authority, authority.context("good.test"), settings=STRICT)
    assert facts_of(result).verified == "ok"


@pytest.mark.parametrize("case", ["expired", "wrong host", "self-signed"])
def test_a_bad_certificate_is_recorded_or_refused(
    authority: Authority, tmp_path: Path, case: str
) -> None:
    contexts = {
        "expired": lambda: (authority.context("good.test", expired=True), "expired on "),
        "wrong host": lambda: (authority.context("other.test"), "issued for another host"),
        "self-signed": lambda: (self_signed(tmp_path, "good.test"), "self-signed"),
    }
    context, verdict = contexts[case]()
    (recorded,) = fetch_tls(authority, context)
    assert wire_bytes(capture_of(recorded)) == HELLO
    assert facts_of(recorded).verified.startswith(verdict)
    (refused,) = fetch_tls(authority, context, settings=STRICT)
    assert (refused.status, refused.capture) == (FetchStatus.CONNECT_FAILED, None)
    assert "certificate" in refused.error.lower()


def test_a_certificate_changed_in_mid_crawl_is_seen(authority: Authority) -> None:
    async def main() -> list[FetchResult]:
        results = []
        async with fetching(roots=authority.roots) as fetcher:
            for name in ("good.test", "other.test"):
                async with serving(polite, tls=authority.context(name)) as server:
                    url = server.url("/", "https", "good.test")
                    results.append(await fetcher.fetch(ask(url), QUICK))
        return results

    one, two = run(main())
    assert facts_of(one).verified == "ok"
    assert facts_of(two).verified == "issued for another host"
    assert facts_of(one).chain != facts_of(two).chain


def test_addresses_send_no_server_name(authority: Authority) -> None:
    (result,) = fetch_tls(authority, authority.context("127.0.0.1"), host="127.0.0.1")
    assert (facts_of(result).sni, facts_of(result).verified) == ("", "ok")


def test_a_trailing_dot_is_not_sent(authority: Authority) -> None:
    (result,) = fetch_tls(authority, authority.context("good.test"), host="good.test.")
    assert (facts_of(result).sni, facts_of(result).verified) == ("good.test", "ok")


ALERT = b"\x15\x03\x03\x00\x02\x02"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ALERT + b"\x70", id="unrecognized_name"),
        pytest.param(ALERT + b"\x28", id="handshake_failure"),
        pytest.param(ALERT + b"\x50", id="internal_error"),
        pytest.param(b"", id="closed"),
    ],
)
def test_a_server_that_knows_no_such_name_is_asked_without_it(
    authority: Authority, answer: bytes
) -> None:
    async def main() -> FetchResult:
        async with serving(polite, tls=authority.context("good.test")) as inner:

            async def picky(peer: Peer) -> None:
                hello = await peer.reader.read(65536)
                if b"good.test" in hello:
                    await peer.send(answer)
                    return
                _, writer = await relay(peer, inner.port, hello)
                writer.close()

            async with serving(picky) as server, fetching(roots=authority.roots) as fetcher:
                return await fetcher.fetch(ask(server.url("/", "https", "good.test")), QUICK)

    result = run(main())
    assert result.status == 200
    assert (facts_of(result).sni, facts_of(result).verified) == ("", "ok")


def test_without_a_name_it_is_tried_once_only(authority: Authority) -> None:
    names: list[bool] = []

    async def never(peer: Peer) -> None:
        hello = await peer.reader.read(65536)
        names.append(b"good.test" in hello)
        await peer.send(ALERT + b"\x28")

    async def main() -> FetchResult:
        async with serving(never) as server, fetching() as fetcher:
            return await fetcher.fetch(ask(server.url("/", "https", "good.test")), QUICK)

    result = run(main())
    assert (result.status, names) == (FetchStatus.CONNECT_FAILED, [True, False])
    assert "TLS handshake" in result.error


def test_an_alert_about_something_else_is_no_reason_to_leave_the_name_out() -> None:
    names: list[bool] = []

    async def old(peer: Peer) -> None:
        names.append(b"good.test" in await peer.reader.read(65536))
        await peer.send(ALERT + b"\x46")  # protocol_version

    async def main() -> FetchResult:
        async with serving(old) as server, fetching() as fetcher:
            return await fetcher.fetch(ask(server.url("/", "https", "good.test")), QUICK)

    assert run(main()).status == FetchStatus.CONNECT_FAILED
    assert names == [True]


def test_where_tls_fails_the_next_address_is_tried(authority: Authority) -> None:
    """Two addresses with one port: only the second speaks TLS."""
    seen: list[str] = []

    async def main() -> FetchResult:
        async def choosy(peer: Peer) -> None:
            address = peer.writer.get_extra_info("sockname")[0]
            hello = await peer.reader.read(65536)
            seen.append(address)
            if address == "127.0.0.2":
                await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            _, writer = await relay(peer, inner.port, hello)
            writer.close()

        async with (
            serving(polite, tls=authority.context("good.test")) as inner,
            serving(choosy, host="0.0.0.0") as server,
            fetching(roots=authority.roots) as fetcher,
        ):
            url = server.url("/", "https", "good.test")
            request = ask(url, addresses=("127.0.0.2", "127.0.0.1"))
            return await fetcher.fetch(request, QUICK)

    result = run(main())
    assert capture_of(result).address == "127.0.0.1"
    assert (seen, facts_of(result).sni) == (["127.0.0.2", "127.0.0.1"], "good.test")


@pytest.mark.parametrize("addresses", [("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.1")])
def test_a_refused_certificate_is_told_before_a_closed_port(
    tmp_path: Path, addresses: tuple[str, str]
) -> None:
    async def main() -> FetchResult:
        tls = self_signed(tmp_path, "good.test")
        async with serving(polite, tls=tls) as server, fetching() as fetcher:
            request = ask(server.url("/", "https", "good.test"), addresses=addresses)
            return await fetcher.fetch(request, STRICT)

    result = run(main())
    assert (result.status, result.capture) == (FetchStatus.CONNECT_FAILED, None)
    assert "certificate" in result.error


def test_a_failed_handshake_is_told_before_a_closed_port() -> None:
    """A crawl accepts any certificate, yet a server may refuse the handshake."""

    async def main() -> FetchResult:
        async def refuse(peer: Peer) -> None:
            await peer.reader.read(65536)
            await peer.send(ALERT + b"\x46")  # protocol_version

        async with serving(refuse) as server, fetching() as fetcher:
            url = server.url("/", "https", "good.test")
            return await fetcher.fetch(ask(url, addresses=("127.0.0.1", "127.0.0.2")), QUICK)

    result = run(main())
    assert result.status == FetchStatus.CONNECT_FAILED
    assert result.error.startswith("TLS handshake: ")


def test_old_protocols_are_spoken(authority: Authority) -> None:
    context = authority.context("good.test")
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    (result,) = fetch_tls(authority, context)
    assert facts_of(result).version == "TLSv1.2"
    assert facts_of(result).cipher.startswith("TLS_ECDHE_")


def test_one_context_takes_weak_servers() -> None:
    context = make_context("record")
    assert not context.check_hostname
    assert context.security_level == 0
    assert context.verify_mode == ssl.CERT_NONE
    assert make_context("strict").verify_mode == ssl.CERT_REQUIRED


def test_a_stalled_handshake_meets_its_limit(authority: Authority) -> None:
    async def main() -> FetchResult:
        async def silent(peer: Peer) -> None:
            await peer.wait_for_end()

        async with serving(silent) as server, fetching(roots=authority.roots) as fetcher:
            settings = FetchSettings(handshake_timeout=0.2)
            return await fetcher.fetch(ask(server.url("/", "https", "good.test")), settings)

    result = run(main())
    assert (result.status, result.error) == (
        FetchStatus.CONNECT_FAILED,
        "TLS handshake: no answer within 0.2 s",
    )


def test_plain_text_on_a_tls_port_is_no_handshake(authority: Authority) -> None:
    async def main() -> FetchResult:
        async def plain(peer: Peer) -> None:
            await peer.send(b"220 mail.example ESMTP\r\n")
            await peer.wait_for_end()

        async with serving(plain) as server, fetching(roots=authority.roots) as fetcher:
            return await fetcher.fetch(ask(server.url("/", "https", "good.test")), QUICK)

    result = run(main())
    assert result.status == FetchStatus.CONNECT_FAILED
    assert result.error.startswith("TLS handshake: ")


def test_plain_text_sent_to_a_tls_port_is_named(authority: Authority) -> None:
    async def main() -> FetchResult:
        async with (
            serving(polite, tls=authority.context("good.test")) as server,
            fetching() as fetcher,
        ):
            return await fetcher.fetch(ask(server.url("/", "http", "good.test")), QUICK)

    assert run(main()).status == FetchStatus.CONNECTION_LOST


def test_an_end_without_close_notify_is_noted(authority: Authority) -> None:
    async def rude(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"\r\nhello")
        await asyncio.sleep(0.02)
        peer.writer.transport.abort()

    (result,) = fetch_tls(authority, authority.context("good.test"), handler=rude)
    capture = capture_of(result)
    assert capture.annotations == ["tlsNoCloseNotify"]
    assert capture.truncated == ""
    assert capture.payload(9) == b"hello"
    polite_end = replies(OK + b"\r\nhello")
    (result,) = fetch_tls(authority, authority.context("good.test"), handler=polite_end)
    assert capture_of(result).annotations == []


def test_a_large_body_over_tls_is_kept(authority: Authority) -> None:
    body = bytes(range(256)) * 8000
    reply = OK + b"Content-Length: %d\r\n\r\n" % len(body) + body
    (result,) = fetch_tls(authority, authority.context("good.test"), handler=replies(reply))
    capture = capture_of(result)
    assert wire_bytes(capture) == reply
    capture.body.close()


def test_few_handshakes_begin_in_one_turn() -> None:
    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        gate = HandshakeGate(loop, 4)
        turn = 0
        passed: list[int] = []

        def count() -> None:
            nonlocal turn
            turn += 1
            if turn < 10:
                loop.call_soon(count)

        async def enter() -> None:
            await gate.enter()
            passed.append(turn)

        loop.call_soon(count)
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(enter())
        return passed

    passed = run(main())
    assert len(passed) == 10
    assert max(passed.count(turn) for turn in set(passed)) <= 4


def test_a_connection_that_ends_before_its_handshake_is_told_quietly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Handshakes wait for their turn: a server that speaks first, or goes, is not asked for one."""

    async def late(_: HandshakeGate) -> None:
        await asyncio.sleep(0.05)

    async def speak(peer: Peer) -> None:
        await peer.send(b"220 mail.example ESMTP\r\n")
        await peer.wait_for_end()

    async def leave(peer: Peer) -> None:
        peer.reset()

    async def main(handler: Handler) -> tuple[FetchResult, list[str]]:
        faults: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(str(context)))
        async with serving(handler) as server, fetching() as fetcher:
            return await fetcher.fetch(ask(server.url("/", "https")), QUICK), faults

    monkeypatch.setattr(HandshakeGate, "enter", late)
    for handler in (speak, leave):
        result, faults = run(main(handler))
        assert result.status == FetchStatus.CONNECT_FAILED
        assert (
            result.error == "the server sent data or closed the connection before the TLS handshake"
        )
        assert not faults


def test_a_connection_whose_facts_cannot_be_read_is_ended(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[asyncio.BaseTransport] = []

    def facts(_: Tls, transport: asyncio.BaseTransport, *__: object) -> TlsFacts:
        opened.append(transport)
        raise ValueError("no facts")

    async def main() -> tuple[FetchResult, list[bool]]:
        context = authority.context("good.test")
        async with serving(polite, tls=context) as server, fetching() as fetcher:
            result = await fetcher.fetch(ask(server.url("/", "https", "good.test")), QUICK)
            return result, [transport.is_closing() for transport in opened]

    monkeypatch.setattr(Tls, "facts", facts)
    result, closing = run(main())
    assert (result.status, result.error) == (FetchStatus.CONNECT_FAILED, "no facts")
    assert closing == [True]


@pytest.mark.parametrize(
    ("openssl", "iana"),
    [
        ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        ("ECDHE-ECDSA-AES256-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"),
        ("ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
        ("DHE-RSA-AES256-SHA", "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"),
        ("AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA"),
        ("AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"),
        ("DES-CBC3-SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
        ("CAMELLIA128-SHA256", "TLS_RSA_WITH_CAMELLIA_128_CBC_SHA256"),
        ("ECDHE-ECDSA-AES128-CCM8", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"),
        ("DHE-RSA-AES128-CCM", "TLS_DHE_RSA_WITH_AES_128_CCM"),
        ("", ""),
    ],
)
def test_names(openssl: str, iana: str) -> None:
    assert iana_name(openssl) == iana
