"""Units by address: hosts that a name server leads to one address are in one unit."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nacre.uri.parse import host
from tests.cli.site import Done, Pages, everywhere, nacre
from tests.crawl.names import name_server

pytestmark = pytest.mark.crawl

NAMES = {
    "a.test": "127.0.0.71",
    "b.test": "127.0.0.71",
    "c.test": "127.0.0.72",
    "d.test": "127.0.0.73",
    "e.test": "127.0.0.73",
}
SEEDS = ("a.test", "b.test", "c.test", "d.test")
TOGETHER = [{"a.test", "b.test"}, {"c.test"}, {"d.test"}, {"e.test"}]
"""The hosts of units in the second round; nobody has asked for the address of e.test by then."""


class Site(Pages):
    """A home page with three pages of each host; d.test has a link to another one."""

    def page(self) -> str | None:
        if self.path == "/robots.txt":
            return None
        name, _, port = self.headers["Host"].partition(":")
        if self.path != "/":
            return f"<p>{name}{self.path}</p>"
        links = "".join(f'<a href="/{number}">{number}</a>' for number in range(3))
        other = f'<a href="http://e.test:{port}/">e</a>' if name == "d.test" else ""
        return f"<p>{name}</p>{links}{other}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """The port of the site on all addresses, and the name server."""
    with everywhere(Site) as port, name_server(NAMES, tmp_path_factory.mktemp("dns")) as names:
        yield port, names


def rounds(root: Path, served: tuple[int, str], partition: str, *more: str) -> Done:
    """Two rounds with at most ten units."""
    port, names = served
    said = {
        "dns.servers": f"[{names}]",
        "dns.ipv6": "false",
        "cycle.generate.partition": partition,
        "network.allow": "[127.0.0.0/8]",
        "extract.infer_favicon": "false",
        "scope": r"[reject, {rule: matches-regex, regex: 'http://[a-e][.]test:.*'}]",
    }
    options = [part for path, value in said.items() for part in ("--set", f"{path}={value}")]
    seeds = [part for name in SEEDS for part in ("-s", f"http://{name}:{port}/")]
    words = ("--rounds", "2", "--units", "10", "--delay", "0", "--dedup", "off")
    done = nacre("cycle", root, *seeds, *words, *options, *more)
    assert done.code == 0, done.err
    return done


def units(root: Path) -> list[list[Counter[str]]]:
    """The hosts of each unit with their URLs, by segment."""
    return [
        [
            Counter(host(key) for key in pq.read_table(path)["key"].to_pylist())
            for path in sorted((segment / "lists").iterdir())
        ]
        for segment in sorted((root / "cycle" / "segments").iterdir())
    ]


def test_hosts_of_an_address_are_in_one_unit_once_it_is_known(
    tmp_path: Path, served: tuple[int, str]
):
    done = rounds(tmp_path / "c", served, "address")
    first, second = units(tmp_path / "c")
    assert sorted(map(set, first), key=min) == [{name} for name in SEEDS]
    assert sorted(map(set, second), key=min) == TOGETHER
    assert "4 in 4 units" in done.err
    assert re.search(r"13 in 4 units", done.err)
    known = json.loads(nacre("cycle", tmp_path / "c", "readhosts", "--json").out)
    assert {one["host"] for one in known} == set(NAMES)
    # The third round knows the address of e.test, too.
    assert nacre("cycle", tmp_path / "c", "--rounds", "1", "--units", "10").code == 0
    assert [set(one) for one in units(tmp_path / "c")[2]] == [{"e.test"}]
    later = ("--rounds", "1", "--units", "10", "--at", "2060-01-01T00:00:00Z")
    assert nacre("cycle", tmp_path / "c", *later).code == 0
    shared = [{"a.test", "b.test"}, {"c.test"}, {"d.test", "e.test"}]
    assert sorted(map(set, units(tmp_path / "c")[3]), key=min) == shared


def test_caps_count_hosts_though_units_go_by_address(tmp_path: Path, served: tuple[int, str]):
    rounds(tmp_path / "c", served, "address", "--set", "cycle.generate.max_count=2")
    second = units(tmp_path / "c")[1]
    assert sorted(map(set, second), key=min) == TOGETHER
    assert sum(second, Counter[str]()) == {**dict.fromkeys(SEEDS, 2), "e.test": 1}


def test_by_host_each_is_in_a_unit_of_its_own(tmp_path: Path, served: tuple[int, str]):
    rounds(tmp_path / "c", served, "host")
    assert sorted(map(set, units(tmp_path / "c")[1]), key=min) == [{name} for name in NAMES]
