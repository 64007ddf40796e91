"""A small DNS server on 127.0.0.1 with one odd behaviour a name (H21)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from dnslib import AAAA, CNAME, QTYPE, RCODE, RR, TXT, A, DNSRecord  # type: ignore[import-untyped]

Answer = Callable[[DNSRecord], "DNSRecord | bytes | None"]


def reply(query: Any, *records: Any, rcode: str = "NOERROR") -> Any:
    """A reply with the records whose type was asked for, and all CNAMEs."""
    answer = query.reply()
    answer.header.rcode = getattr(RCODE, rcode)
    for record in records:
        if record.rtype in (query.q.qtype, QTYPE.CNAME, QTYPE.TXT):
            answer.add_answer(record)
    return answer


def a(name: str, address: str, ttl: int = 60) -> Any:
    return RR(name, QTYPE.A, ttl=ttl, rdata=A(address))


def aaaa(name: str, address: str, ttl: int = 60) -> Any:
    return RR(name, QTYPE.AAAA, ttl=ttl, rdata=AAAA(address))


def cname(name: str, target: str, ttl: int = 60) -> Any:
    return RR(name, QTYPE.CNAME, ttl=ttl, rdata=CNAME(target))


def txt(name: str) -> Any:
    return RR(name, QTYPE.TXT, ttl=60, rdata=TXT("x"))


class NameServer(asyncio.DatagramProtocol):
    """Answers by name; counts the questions. A name unknown to it does not exist."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.questions: list[tuple[str, str]] = []
        self.by_tcp = 0
        self.address = ""
        self.peer: Any = None
        self._transport: Any = None

    def zone(self, *records: Any) -> None:
        """Add names that simply have these records."""
        for name in {str(record.rname).rstrip(".") for record in records}:
            self.answers[name] = lambda query: reply(query, *records)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.peer = addr
        wire = self._answer(data)
        if wire is None:
            return
        if len(wire) > 512:
            cut = DNSRecord.parse(data).reply()
            cut.header.tc = 1
            wire = cut.pack()
        self._transport.sendto(wire, addr)

    async def stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.by_tcp += 1
        size = int.from_bytes(await reader.readexactly(2), "big")
        wire = self._answer(await reader.readexactly(size))
        if wire is not None:
            writer.write(len(wire).to_bytes(2, "big") + wire)
            await writer.drain()
        writer.close()

    def _answer(self, data: bytes) -> bytes | None:
        query = DNSRecord.parse(data)
        name = str(query.q.qname).rstrip(".")
        self.questions.append((name, QTYPE[query.q.qtype]))
        answer = self.answers.get(name, lambda query: reply(query, rcode="NXDOMAIN"))(query)
        return answer if answer is None or isinstance(answer, bytes) else bytes(answer.pack())


@asynccontextmanager
async def name_server() -> AsyncIterator[NameServer]:
    """A name server on one port, by UDP and TCP."""
    server = NameServer()
    tcp = await asyncio.start_server(server.stream, "127.0.0.1", 0)
    port = tcp.sockets[0].getsockname()[1]
    udp, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: server, local_addr=("127.0.0.1", port)
    )
    server.address = f"127.0.0.1:{port}"
    try:
        yield server
    finally:
        udp.close()
        tcp.close()
        await tcp.wait_closed()
