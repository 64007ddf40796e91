import asyncio
from collections.abc import Sequence

import pytest

from nacre.engine.seeding.survey import survey
from nacre.scope.seeds import read_seeds
from nacre.settings.contact import contact_problems, public_hosts
from nacre.settings.settings import JobSettings

ADDRESSES = {
    "intra.example": ["10.1.2.3", "10.1.2.4"],
    "half.example": ["10.1.2.3", "192.0.2.1"],
    "www.example": ["198.51.100.7"],
}


async def lookup(name: str) -> Sequence[str]:
    return ADDRESSES.get(name, [])


def public(urls: Sequence[str], allow: Sequence[str] = ()) -> list[str]:
    return asyncio.run(public_hosts(survey(read_seeds(urls)).public, allow, lookup))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/", "http://[::1]/", "http://10.0.0.1/", "http://192.168.1.1/",
        "http://172.16.0.9/", "http://[fd00::1]/", "http://localhost/", "http://a.localhost/",
        "http://site-a.test/", "http://db.internal/", "dns:www.example",
    ],
)  # fmt: skip
def test_private_seeds(url: str):
    assert public([url]) == []


@pytest.mark.parametrize(
    "url", ["https://www.example/", "http://8.8.8.8/", "http://test/", "http://mytest.example/"]
)
def test_public_seeds(url: str):
    assert len(public([url])) == 1


def test_names_whose_addresses_are_all_allowed():
    urls = ["http://intra.example/", "http://half.example/", "http://unknown.example/"]
    assert public(urls) == ["intra.example", "half.example", "unknown.example"]
    assert public(urls, ["10.0.0.0/8"]) == ["half.example", "unknown.example"]


def test_public_addresses_can_be_listed():
    assert public(["http://www.example/"], ["198.51.100.0/24"]) == []


def test_each_host_is_named_once():
    assert public(["http://www.example/a", "https://www.example/b"]) == ["www.example"]


def problems(hosts: list[str], **values: object) -> list[str]:
    settings = JobSettings.model_validate(values)
    return [problem.path for problem in contact_problems(settings, hosts)]


def test_what_a_public_crawl_lacks():
    assert problems(["www.example"]) == ["fetch.contact"]
    assert problems(["www.example"], fetch={"contact": "me@x.example"}) == []
    assert problems(["www.example"], politeness={"delay": 0}) == [
        "fetch.contact",
        "politeness.delay",
    ]
    assert problems([], politeness={"delay": 0}) == []


@pytest.mark.parametrize(
    ("hosts", "start"),
    [
        (["a.b"], "a.b is public"),
        (["a.b", "c.d"], "a.b and c.d are public"),
        (["xn--bcher-kva.b"], "xn--bcher-kva.b (bücher.b) is public"),
        (["a.b", "xn--1jq52s681d.b"], "a.b and xn--1jq52s681d.b (图书馆.b) are public"),
        (["a.b", "c.d", "e.f"], "a.b, c.d and 1 more are public"),
    ],
)
def test_hosts_are_named(hosts: list[str], start: str):
    assert contact_problems(JobSettings(), hosts)[0].message.startswith(start)
