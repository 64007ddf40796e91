"""Real sites by real servers, crawled once for all tests that look at the result."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl.jobs import Crawled, crawl
from tests.crawl.names import name_server
from tests.crawl.reachable import Folder
from tools import debs
from tools.nginx import Server, free_port, serving

STARTS = {
    "postfix-doc": "/usr/share/doc/postfix/html/index.html",
    "anarchism": "/usr/share/doc/anarchism/html/index.html",
    "tomcat10-docs": "/usr/share/doc/tomcat10-docs/docs/index.html",
}
# As it is, compressed, and chunked without a length: what is kept must be the same.
DIRECTIVES = {
    "postfix-doc": "",
    "anarchism": "gzip on; gzip_min_length 0; gzip_types text/css;",
    "tomcat10-docs": "ssi on; ssi_types *;",
}


@pytest.fixture(scope="session")
def package() -> Callable[[str], Path]:
    """The folder of a Debian package; a test that needs one that cannot be had fails."""

    def find(name: str) -> Path:
        try:
            return debs.ensure(name)
        except debs.PackageError as error:
            pytest.fail(f"{name} is needed, and `make webs` cannot get it: {error}")

    return find


@dataclass(frozen=True)
class Sites:
    """Three documentation sites, each under a name of its own, and their crawl in one job."""

    port: int
    crawled: Crawled
    folders: dict[str, Folder]

    def origin(self, name: str) -> str:
        return f"http://{name}.test:{self.port}"


@pytest.fixture(scope="session")
def sites(package: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Sites:
    folder = tmp_path_factory.mktemp("sites")
    roots = {name: package(name) for name in STARTS}
    addresses = {name: f"127.0.9.{number}" for number, name in enumerate(STARTS, 1)}
    port = free_port(tuple(addresses.values()))
    servers = [
        Server(addresses[name], port, root, directives=DIRECTIVES[name])
        for name, root in roots.items()
    ]
    names = {f"{name}.test": address for name, address in addresses.items()}
    seeds = [f"http://{name}.test:{port}{start}" for name, start in STARTS.items()]
    with serving(servers, folder / "nginx"), name_server(names, folder) as dns:
        crawled = crawl(folder / "job", seeds, dns={"servers": [dns]})
    return Sites(port, crawled, {name: Folder(root) for name, root in roots.items()})
