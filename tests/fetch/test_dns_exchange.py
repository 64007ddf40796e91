"""Servers as they are written, and one exchange with one."""

import asyncio

import dns.name
import pytest

from nacre.fetch.dns_exchange import Server, exchange, parse_server
from nacre.fetch.dns_message import A
from tests.fetch.nameserver import a, name_server, reply


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("10.9.0.53", Server("10.9.0.53", 53)),
        ("10.9.0.53:5353", Server("10.9.0.53", 5353)),
        ("::1", Server("::1", 53)),
        ("[::1]", Server("::1", 53)),
        ("[fe80::1%eth0]:5353", Server("fe80::1%eth0", 5353)),
    ],
)
def test_servers(text, server):
    assert parse_server(text) == server


@pytest.mark.parametrize(
    "text", ["", "dns.test", "10.9.0.53:x", "10.9.0.53:0", "[::1]:70000", "[x]:53"]
)
def test_no_servers(text):
    with pytest.raises(ValueError, match="is no DNS server"):
        parse_server(text)


NAME = dns.name.from_text("x.test")


def test_a_reply_comes_through_strangers():
    async def main() -> list[str]:
        async with name_server() as server:

            def answer(query):
                wire = reply(query, a("x.test", "10.6.6.6")).pack()
                peer = server.peer
                server._transport.sendto(b"\0\0" + wire[2:], peer)
                server._transport.sendto(b"junk", peer)
                return reply(query, a("x.test", "10.9.1.1"))

            server.answers["x.test"] = answer
            async with asyncio.timeout(5):
                found = await exchange(parse_server(server.address), NAME, A)
            return [record.text for record in found.records]

    assert asyncio.run(main()) == ["10.9.1.1"]


def test_a_server_that_hangs_up_on_tcp():
    async def main() -> None:
        async with name_server() as server:

            def answer(query):
                if server.by_tcp:
                    return None
                cut = reply(query)
                cut.header.tc = 1
                return cut

            server.answers["x.test"] = answer
            async with asyncio.timeout(5):
                await exchange(parse_server(server.address), NAME, A)

    with pytest.raises(ConnectionResetError, match="hung up"):
        asyncio.run(main())
