"""One name at servers in turn."""

import asyncio

import dns.name

from nacre.fetch.dns_exchange import Server, parse_server
from nacre.fetch.dns_message import A
from nacre.fetch.dns_query import Asking, Found, find_addresses
from tests.fetch.nameserver import a, cname, name_server, reply
from tests.fetch.server import no_file_handles

NAME = dns.name.from_text("x.test")


def test_silence_names_the_servers():
    asking = Asking((Server("10.9.0.53"), Server("10.9.0.54"), Server("10.9.0.53")), 1, 1)
    assert asking.silence() == "no reply from DNS server 10.9.0.53, 10.9.0.54"


def test_the_whole_has_a_limit_however_long_the_chain():
    async def main() -> tuple[Found, int]:
        async with name_server() as server:
            for number in range(20):
                here = "x.test" if number == 0 else f"n{number}.test"
                answers = [reply, None]

                def slow(query, here=here, number=number, answers=answers):
                    answers.reverse()  # every second question goes unanswered
                    return answers[0] and reply(query, cname(here, f"n{number + 1}.test"))

                server.answers[here] = slow
            asking = Asking((parse_server(server.address),), 0.05, 3)
            return await find_addresses(NAME, A, asking), len(server.questions)

    found, questions = asyncio.run(main())
    assert found.error.startswith("no reply from DNS server 127.0.0.1")
    assert questions <= 8


def test_a_name_that_does_not_exist_is_not_asked_for_again():
    async def main() -> tuple[Found, int]:
        async with name_server() as server:
            server.zone(a("y.test", "10.9.1.1"))
            asking = Asking((parse_server(server.address),), 2, 3)
            return await find_addresses(NAME, A, asking), len(server.questions)

    found, questions = asyncio.run(main())
    assert found.error == "DNS server 127.0.0.1 says NXDOMAIN"
    assert questions == 1


def test_no_file_handle_is_told_as_the_crawler_s_own_trouble():
    async def main() -> Found:
        with no_file_handles():
            return await find_addresses(NAME, A, Asking((Server("127.0.0.1"),), 1, 3))

    found = asyncio.run(main())
    assert found.starved
    assert found.error == "Too many open files"
