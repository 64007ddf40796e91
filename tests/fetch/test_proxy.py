"""

Proxies: absolute form, CONNECT and SOCKS5, each by a small proxy of our own.
"""

import asyncio
from base64 import b64encode

import pytest

from nacre.config.secret import Secret
from nacre.core.status import FetchStatus
from nacre.fetch.proxy import Proxy, parse_proxy, proxy_authorization
from nacre.fetch.request import FetchResult
from nacre.fetch.settings import FetchSettings
from tests.fetch.certificates import Authority
from tests.fetch.server import (
    HELLO,
    Peer,
    ask,
    capture_of,
    fetching,
    polite,
    relay,
    run,
    serving,
    wire_bytes,
)


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://p.test:8080", Proxy("http", "p.test", 8080)),
        ("http://p.test/", Proxy("http", "p.test", 3128)),
        ("https://p.test", Proxy("https", "p.test", 443)),
        ("socks5://me:p%40ss@[::1]:9", Proxy("socks5", "::1", 9, "me", "p@ss")),
    ],
)
def test_proxy_urls(url: str, proxy: Proxy) -> None:
    assert parse_proxy(url) == proxy


@pytest.mark.parametrize("url", ["p.test:80", "socks4://p.test", "http://", "http://p.test/x"])
def test_what_is_no_proxy(url: str) -> None:
    with pytest.raises(ValueError, match="not a proxy"):
        parse_proxy(url)


def test_authorization() -> None:
    assert proxy_authorization(Proxy("http", "p.test", 1)) == b""
    assert proxy_authorization(Proxy("http", "p.test", 1, "Aladdin", "open sesame")) == (
        b"Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"
    )


def settings_for(proxy: str) -> FetchSettings:
    return FetchSettings(proxy=Secret(proxy), silence_timeout=1, timeout=5)


def test_plain_urls_go_to_an_http_proxy_in_absolute_form() -> None:
    seen: list[bytes] = []

    async def proxy(peer: Peer) -> None:
        while request := await peer.request():
            seen.append(request)
            await peer.send(HELLO)

    async def main() -> list[FetchResult]:
        async with serving(proxy) as server, fetching() as fetcher:
            settings = settings_for(f"http://me:secret@127.0.0.1:{server.port}")
            urls = ("http://a.test/x?y", "http://b.test:81/")
            found = [await fetcher.fetch(ask(url, addresses=()), settings) for url in urls]
            assert server.connections == 1
            return found

    one, two = run(main())
    capture = capture_of(one)
    assert (capture.proxied, capture.address, capture.port) == (True, "", 0)
    assert wire_bytes(capture) == HELLO
    assert capture_of(two).reused
    assert seen[0].startswith(b"GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\n")
    assert b"\r\nProxy-Authorization: Basic %b\r\n" % b64encode(b"me:secret") in seen[0]
    assert seen[1].startswith(b"GET http://b.test:81/ HTTP/1.1\r\nHost: b.test:81\r\n")


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 Connected\r\n\r\n", b"HTTP/1.0 200\n\n"])
def test_https_goes_through_a_tunnel(authority: Authority, answer: bytes) -> None:
    seen: list[bytes] = []

    async def main() -> FetchResult:
        async with serving(polite, tls=authority.context("good.test")) as origin:

            async def proxy(peer: Peer) -> None:
                seen.append(await peer.request())
                await peer.send(answer)
                await relay(peer, origin.port)

            async with serving(proxy) as server, fetching(roots=authority.roots) as fetcher:
                settings = settings_for(f"http://127.0.0.1:{server.port}")
                request = ask("https://good.test/", addresses=())
                return await fetcher.fetch(request, settings)

    capture = capture_of(run(main()))
    assert wire_bytes(capture) == HELLO
    assert capture.tls is not None
    assert (capture.tls.verified, capture.tls.sni, capture.address) == ("ok", "good.test", "")
    assert seen == [b"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "status 403"),
        (b"HTTP/1.1 200 OK\r\n\r\nbytes too early", "status 200"),
        (b"SSH-2.0\r\n", "status 200"),
        (b"", "closed"),
    ],
)
def test_a_proxy_that_refuses_is_a_failed_connection(answer: bytes, text: str) -> None:
    async def proxy(peer: Peer) -> None:
        await peer.request()
        await peer.send(answer)

    async def main() -> FetchResult:
        async with serving(proxy) as server, fetching() as fetcher:
            settings = settings_for(f"http://127.0.0.1:{server.port}")
            return await fetcher.fetch(ask("https://good.test/", addresses=()), settings)

    result = run(main())
    assert result.status == FetchStatus.CONNECT_FAILED
    assert result.error.startswith("proxy 127.0.0.1:")
    assert text in result.error


async def socks(peer: Peer, port: int, names: list[bytes]) -> None:
    """The server's side of SOCKS5 with user and password (RFC 1928, RFC 1929)."""
    read = peer.reader.readexactly
    _, count = await read(2)
    await read(count)
    await peer.send(b"\x05\x02")
    _, size = await read(2)
    names.append(await read(size))
    names.append(await read((await read(1))[0]))
    await peer.send(b"\x01\x00")
    kind = (await read(4))[3]
    names.append(await read((await read(1))[0] if kind == 3 else 4))
    await read(2)
    await peer.send(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")
    await relay(peer, port)


@pytest.mark.parametrize(
    ("scheme", "addresses", "asked"),
    [
        ("http", (), b"good.test"),
        ("https", (), b"good.test"),
        ("https", ("192.0.2.7", "192.0.2.8"), b"\xc0\x00\x02\x07"),
    ],
)
def test_socks5_carries_both_schemes_to_the_address_that_was_checked(
    authority: Authority, scheme: str, addresses: tuple[str, ...], asked: bytes
) -> None:
    names: list[bytes] = []
    context = authority.context("good.test") if scheme == "https" else None

    async def main() -> FetchResult:
        async with serving(polite, tls=context) as origin:

            async def proxy(peer: Peer) -> None:
                await socks(peer, origin.port, names)

            async with serving(proxy) as server, fetching(roots=authority.roots) as fetcher:
                settings = settings_for(f"socks5://me:secret@127.0.0.1:{server.port}")
                request = ask(f"{scheme}://good.test/", addresses=addresses)
                return await fetcher.fetch(request, settings)

    capture = capture_of(run(main()))
    assert wire_bytes(capture) == HELLO
    assert capture.request.startswith(b"GET / HTTP/1.1\r\n")
    assert (capture.proxied, capture.address) == (True, "")
    assert names == [b"me", b"secret", asked]


def test_a_socks_proxy_that_is_none_is_a_failed_connection() -> None:
    async def proxy(peer: Peer) -> None:
        await peer.reader.read(100)
        await peer.send(b"HTTP/1.1 400 What?\r\n\r\n")

    async def main() -> FetchResult:
        async with serving(proxy) as server, fetching() as fetcher:
            settings = settings_for(f"socks5://127.0.0.1:{server.port}")
            return await fetcher.fetch(ask("http://a.test/", addresses=()), settings)

    result = run(main())
    assert result.status == FetchStatus.CONNECT_FAILED
    assert result.error


def test_the_guard_sees_the_addresses_behind_a_proxy() -> None:
    class Guard:
        def refusal(self, address: str) -> str:
            return "private" if address.startswith("10.") else ""

    async def main() -> FetchResult:
        async with fetching(Guard()) as fetcher:
            request = ask("http://a.test/", addresses=("192.0.2.1", "10.0.0.1"))
            return await fetcher.fetch(request, settings_for("http://127.0.0.1:9"))

    result = run(main())
    assert (result.status, result.error) == (FetchStatus.UNFETCHABLE, "a.test: private")


def test_a_proxy_that_is_silent_meets_the_connect_limit() -> None:
    async def proxy(peer: Peer) -> None:
        await asyncio.sleep(1)

    async def main() -> FetchResult:
        async with serving(proxy) as server, fetching() as fetcher:
            settings = FetchSettings(
                proxy=Secret(f"http://127.0.0.1:{server.port}"), connect_timeout=0.2, timeout=5
            )
            return await fetcher.fetch(ask("https://good.test/", addresses=()), settings)

    error = run(main()).error
    assert error.startswith("proxy 127.0.0.1:")
    assert error.endswith(": connect: no answer within 0.2 s")


def test_tls_to_the_proxy_itself_is_always_verified(authority: Authority) -> None:
    async def main(name: str) -> FetchResult:
        async with (
            serving(polite, tls=authority.context(name)) as server,
            fetching(roots=authority.roots) as fetcher,
        ):
            settings = settings_for(f"https://localhost:{server.port}")
            return await fetcher.fetch(ask("http://a.test/", addresses=()), settings)

    assert wire_bytes(capture_of(run(main("localhost")))) == HELLO
    assert "certificate" in run(main("other.test")).error.lower()
