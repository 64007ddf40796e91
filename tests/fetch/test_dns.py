"""Names to addresses: sources in their order, and every oddity of a DNS server (H21).

/etc/hosts and /etc/resolv.conf.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest
import uvloop
from pydantic import ValidationError

from nacre.fetch import dns as dns_module
from nacre.fetch.dns import (
    DnsAnswer,
    DnsResolver,
    DnsSettings,
    WatchedFile,
    parse_hosts,
    parse_resolv_conf,
)
from nacre.fetch.dns_client import DnsServer
from tests.fetch.nameserver import NameServer, a, aaaa, cname, name_server, reply, txt


class FixedClock:
    def now(self) -> float:
        return 1_790_000_000.9  # 2026-09-21T14:13:20Z

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def resolver(tmp_path: Any, hosts_file: str = "", **settings: Any) -> DnsResolver:
    hosts = tmp_path / "hosts"
    hosts.write_text(hosts_file)
    return DnsResolver(
        DnsSettings(**settings), FixedClock(), hosts_file=hosts, resolv_conf=tmp_path / "none"
    )


@pytest.fixture(params=["asyncio", "uvloop"])
def ask(request, tmp_path) -> Callable[..., tuple[DnsAnswer, NameServer]]:
    """Look up one name at a server that was set up so."""

    def ask(host: str, set_up: Callable[[NameServer], None], **settings: Any):
        async def main() -> tuple[DnsAnswer, NameServer]:
            async with name_server() as server:
                set_up(server)
                settings.setdefault("servers", (server.address,))
                one = resolver(tmp_path, **{"timeout": 2, "tries": 2, **settings})
                answer = await one.lookup(host)
                # A question may lie unread with the server when the last try has timed out.
                for _ in range(10):
                    await asyncio.sleep(0)
                return answer, server

        return uvloop.run(main()) if request.param == "uvloop" else asyncio.run(main())

    return ask


def test_both_families_in_turn_and_the_record(ask):
    answer, server = ask(
        "site-a.test",
        lambda s: s.zone(
            a("site-a.test", "10.9.1.1", 300),
            a("site-a.test", "10.9.1.2", 300),
            a("site-a.test", "10.9.1.3", 300),
            aaaa("site-a.test", "fd00::1", 200),
        ),
        min_ttl=0,
    )
    assert answer == DnsAnswer(
        addresses=("fd00::1", "10.9.1.1", "10.9.1.2", "10.9.1.3"),
        ttl=200,
        status=1,
        server="127.0.0.1",
        text="20260921141320\n"
        "site-a.test.\t300\tIN\tA\t10.9.1.1\n"
        "site-a.test.\t300\tIN\tA\t10.9.1.2\n"
        "site-a.test.\t300\tIN\tA\t10.9.1.3\n"
        "site-a.test.\t200\tIN\tAAAA\tfd00::1\n",
    )
    assert sorted(server.questions) == [("site-a.test", "A"), ("site-a.test", "AAAA")]


def test_without_ipv6_nothing_is_asked_for(ask):
    records = (a("x.test", "10.9.1.1"), aaaa("x.test", "fd00::1"))
    answer, server = ask("x.test.", lambda s: s.zone(*records), ipv6=False)
    assert answer.addresses == ("10.9.1.1",)
    assert server.questions == [("x.test", "A")]


def test_an_ipv6_only_host(ask):
    answer, _ = ask("x.test", lambda s: s.zone(aaaa("x.test", "2001:4860::8")))
    assert answer.addresses == ("2001:4860::8",)


@pytest.mark.parametrize(
    ("said", "least", "ttl"),
    [(0, 21600, 21600), (90_000, 21600, 90_000), (0, 0, 0), (2**31 - 1, 0, 604_800)],
)
def test_time_to_live(ask, said, least, ttl):
    answer, _ = ask("x.test", lambda s: s.zone(a("x.test", "10.9.1.1", said)), min_ttl=least)
    assert answer.ttl == ttl


def test_aliases_are_followed_and_recorded(ask):
    chain = (
        cname("www.x.test", "cdn.test", 5),
        cname("cdn.test", "e.test"),
        a("e.test", "10.9.1.1"),
    )
    answer, _ = ask("www.x.test", lambda s: s.zone(*chain), min_ttl=0)
    assert answer.addresses == ("10.9.1.1",)
    assert answer.ttl == 5
    assert answer.text.splitlines()[1:] == [
        "www.x.test.\t5\tIN\tCNAME\tcdn.test.",
        "cdn.test.\t60\tIN\tCNAME\te.test.",
        "e.test.\t60\tIN\tA\t10.9.1.1",
    ]


def test_an_alias_whose_target_was_left_out_is_asked_for(ask):
    def set_up(server: NameServer) -> None:
        server.zone(cname("www.x.test", "e.test"))
        server.zone(a("e.test", "10.9.1.1"))

    answer, _ = ask("www.x.test", set_up)
    assert answer.addresses == ("10.9.1.1",)


def test_records_of_other_names_are_not_believed(ask):
    def set_up(server: NameServer) -> None:
        server.answers["x.test"] = lambda q: reply(q, txt("x.test"), a("y.test", "10.6.6.6"))

    answer, _ = ask("x.test", set_up)
    assert answer.addresses == ()
    assert answer.error == "x.test: it has no address"


def failing(answer: Callable[[Any], Any]) -> Callable[[NameServer], None]:
    def set_up(server: NameServer) -> None:
        server.answers["x.test"] = answer

    return set_up


def loop(query: Any) -> Any:
    return reply(query, cname("x.test", "y.test"), cname("y.test", "x.test"))


def endless(server: NameServer) -> None:
    for number in range(40):
        here = "x.test" if number == 0 else f"n{number}.test"
        server.zone(cname(here, f"n{number + 1}.test"))


@pytest.mark.parametrize(
    ("set_up", "error"),
    [
        (lambda s: None, "DNS server 127.0.0.1 says NXDOMAIN"),
        (failing(lambda q: reply(q, rcode="SERVFAIL")), "DNS server 127.0.0.1 says SERVFAIL"),
        (failing(lambda q: reply(q, rcode="REFUSED")), "DNS server 127.0.0.1 says REFUSED"),
        (failing(reply), "it has no address"),
        (failing(loop), "its aliases (CNAME) lead nowhere"),
        (endless, "its aliases (CNAME) lead nowhere"),
    ],
    ids=["nxdomain", "servfail", "refused", "nodata", "loop", "endless"],
)
def test_failures_are_values(ask, set_up, error):
    answer, _ = ask("x.test", set_up)
    certain = "NXDOMAIN" in error or "no address" in error
    assert answer == DnsAnswer(status=-1, error=f"x.test: {error}", certain=certain)


@pytest.mark.parametrize(
    "answer",
    [
        lambda q: None,
        lambda q: b"",
        lambda q: b"\0" * 100,
        lambda q: bytes(reply(q, a("x.test", "10.9.1.1")).pack())[:-3],
        lambda q: b"\xff\xff" + bytes(reply(q, a("x.test", "10.6.6.6")).pack())[2:],
        lambda q: q.pack(),
    ],
    ids=["silent", "empty", "zeros", "cut", "wrong number", "echo"],
)
def test_silence_and_what_is_no_reply(ask, answer):
    found, server = ask("x.test", failing(answer), timeout=0.05, tries=2)
    assert found.error == "x.test: no reply from DNS server 127.0.0.1"
    assert len(server.questions) == 4


def test_a_server_that_fails_once_is_asked_again(ask):
    def set_up(server: NameServer) -> None:
        def answer(query: Any) -> Any:
            if server.questions.count(server.questions[-1]) == 1:
                return reply(query, rcode="SERVFAIL")
            return reply(query, a("x.test", "10.9.1.1"))

        server.answers["x.test"] = answer

    found, _ = ask("x.test", set_up)
    assert found.addresses == ("10.9.1.1",)


def test_the_next_server_is_asked(tmp_path):
    async def main() -> DnsAnswer:
        async with name_server() as bad, name_server() as good:
            bad.answers["x.test"] = lambda q: reply(q, rcode="SERVFAIL")
            good.zone(a("x.test", "10.9.1.1"))
            return await resolver(tmp_path, servers=(bad.address, good.address)).lookup("x.test")

    assert asyncio.run(main()).addresses == ("10.9.1.1",)


def test_one_family_silent_does_not_hold_up_the_other(ask, monkeypatch):
    monkeypatch.setattr(dns_module, "_GRACE", 0.02)

    def answer(query: Any) -> Any:
        return None if query.q.qtype == 28 else reply(query, a("x.test", "10.9.1.1"))

    found, _ = ask("x.test", failing(answer), timeout=30)
    assert found.addresses == ("10.9.1.1",)


def test_500_addresses_come_by_tcp_and_32_are_kept(ask):
    records = [a("x.test", f"10.9.{n // 250}.{n % 250}") for n in range(500)]
    answer, server = ask("x.test", lambda s: s.zone(*records))
    assert server.by_tcp == 1
    assert len(answer.addresses) == 32
    assert len(answer.text) < 5000


def test_a_truncated_reply_without_tcp(ask):
    def answer(query: Any) -> Any:
        cut = reply(query)
        cut.header.tc = 1
        return cut

    found, server = ask("x.test", failing(answer), tries=1, ipv6=False)
    assert found.status == -1
    assert server.by_tcp == 1


def test_private_answers_are_left_to_the_guard(ask):
    answer, _ = ask(
        "x.test", lambda s: s.zone(a("x.test", "127.0.0.1"), a("x.test", "169.254.169.254"))
    )
    assert answer.addresses == ("127.0.0.1", "169.254.169.254")


def test_no_server_at_all_fails_at_once(tmp_path):
    answer = asyncio.run(resolver(tmp_path).lookup("x.test"))
    assert answer.status == -1
    assert "names no server; set dns.servers" in answer.error


def test_a_server_that_is_not_there_fails_at_once(tmp_path):
    one = resolver(tmp_path, servers=("127.0.0.1:9",), timeout=30)
    answer = asyncio.run(one.lookup("x.test"))
    assert answer.status == -1
    assert "DNS server 127.0.0.1 cannot be reached" in answer.error


@pytest.mark.parametrize(
    "host", ["a" * 64 + ".test", "a..test", "", ".", "a\\b.test", "\u4e2d.test", "x" * 9999]
)
def test_what_is_no_name(tmp_path, host):
    answer = asyncio.run(resolver(tmp_path, servers=("127.0.0.1:9",)).lookup(host))
    assert answer.status == -1
    assert "is not a name for DNS" in answer.error


def test_local_sources_in_their_order(tmp_path):
    one = resolver(
        tmp_path,
        "10.0.0.1 localhost x.localhost both.test\n10.0.0.2 File.test # comment\n::9 file.test\n",
        hosts={"both.test": "10.0.0.9", "Two.test": ["fd00::2", "10.0.0.8"]},
    )

    async def main() -> list[tuple[str, ...]]:
        names = (
            "localhost",
            "x.localhost",
            "[::1]",
            "10.9.1.1",
            "both.test",
            "two.test",
            "file.test",
        )
        return [(await one.lookup(name)).addresses for name in names]

    assert asyncio.run(main()) == [
        ("127.0.0.1", "::1"),
        ("127.0.0.1", "::1"),
        ("::1",),
        ("10.9.1.1",),
        ("10.0.0.9",),
        ("fd00::2", "10.0.0.8"),
        ("10.0.0.2", "::9"),
    ]


def test_a_local_answer(tmp_path):
    one = resolver(tmp_path, hosts={"x.test": ("10.0.0.9",)}, ipv6=False)
    assert asyncio.run(one.lookup("x.test")) == DnsAnswer(
        ("10.0.0.9",), 21600, text="20260921141320\nx.test.\t21600\tIN\tA\t10.0.0.9\n"
    )


def test_settings_are_checked():
    with pytest.raises(ValidationError, match="'x' is not an IP address"):
        DnsSettings(hosts={"a.test": ("x",)})
    with pytest.raises(ValidationError, match="is not a DNS server; write IP"):
        DnsSettings(servers=("dns.test",))


def test_hosts():
    text = "# x\n127.0.0.1\tlocalhost  Vm.\n::1 localhost\n127.0.0.1 localhost # again\n"
    text += "bad name\n10.0.0.1\n"
    assert parse_hosts(text) == {"localhost": ("127.0.0.1", "::1"), "vm": ("127.0.0.1",)}


def test_resolv_conf():
    text = "search test\nnameserver 10.9.0.53\nnameserver fe80::1%eth0\nnameserver\nnameserver x\n"
    assert parse_resolv_conf(text) == (DnsServer("10.9.0.53"), DnsServer("fe80::1%eth0"))


def test_a_file_is_read_again_only_when_it_changes(tmp_path):
    path = tmp_path / "hosts"
    reads = []

    def parse(text: str) -> str:
        reads.append(text)
        return text

    watched = WatchedFile(path, parse)
    assert watched.value == ""
    path.write_text("one")
    assert [watched.value, watched.value] == ["one", "one"]
    assert reads.count("one") == 1
    path.write_text("two")
    os.utime(path, (1, 1))
    assert watched.value == "two"
    path.unlink()
    assert watched.value == ""
