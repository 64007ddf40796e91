"""The benchmark site: the documentation of ten Debian packages under one home page.

One address each, 127.0.0.11 and on, port 8080 or the next that is free on all of them; the home
page is on the first. `python -m bench.sites FOLDER` serves it until interrupted.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tools import debs
from tools.nginx import Server, free_port, serving

FIRST_PORT = 8080
FIRST_TLS_PORT = 8443
SERVER_CORE = 1
HOME = "/home.html"


@dataclass(frozen=True)
class Part:
    """One package of the site.

    Attributes:
        package: Debian's name of it.
        root: The folder that is served, below the package.
        starts: Where the home page links to, relative to the root.
        listed: Folders without an index are listed.
    """

    package: str
    root: str
    starts: tuple[str, ...] = ("index.html",)
    listed: bool = False


PARTS = (
    Part("python3.11-doc", "usr/share/doc/python3.11/html"),
    Part("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    Part("debian-handbook", "usr/share/doc/debian-handbook/html", ("*/index.html",)),
    # A page of it links to its root: with a listing there, the examples belong to the site.
    Part(
        "libboost1.74-doc",
        "usr/share/doc/libboost1.74-doc",
        ("doc/html/index.html",),
        listed=True,
    ),
    Part("python-django-doc", "usr/share/doc/python-django-doc/html"),
    Part("python-scrapy-doc", "usr/share/doc/python-scrapy-doc/html"),
    Part("sqlite3-doc", "usr/share/doc/sqlite3"),
    Part("git-doc", "usr/share/doc/git-doc"),
    Part("debian-policy", "usr/share/doc/debian-policy/policy.html"),
    Part("apache2-doc", "usr/share/doc/apache2-doc/manual", ("en/index.html",)),
)


def address(number: int) -> str:
    """Address of a part."""
    return f"127.0.0.{11 + number}"


ADDRESSES = tuple(address(number) for number in range(len(PARTS)))


@dataclass(frozen=True)
class Door:
    """One way into the site.

    Attributes:
        scheme: http or https.
        port: The port of all addresses.
    """

    scheme: str
    port: int

    def origin(self, number: int) -> str:
        """Scheme, address and port of a part."""
        return f"{self.scheme}://{address(number)}:{self.port}"

    @property
    def home(self) -> str:
        """URL of the home page."""
        return self.origin(0) + HOME


@dataclass(frozen=True)
class Site:
    """The running site.

    Attributes:
        plain: By HTTP.
        tls: By TLS, with a self-signed certificate.
    """

    plain: Door
    tls: Door


def starts(part: Part, root: Path) -> list[str]:
    """Return the paths of a part that the home page links to."""
    paths = [path for start in part.starts for path in sorted(root.glob(start))]
    return [str(path.relative_to(root)) for path in paths]


def home_page(door: Door) -> str:
    """Return the home page: one link to each start."""
    items = []
    for number, part in enumerate(PARTS):
        for path in starts(part, debs.ensure(part.package) / part.root):
            url = f"{door.origin(number)}/{path}"
            items.append(f'<li><a href="{escape(url)}">{escape(part.package)}</a></li>')
    return f"<!DOCTYPE html><title>Benchmark</title><ul>{''.join(items)}</ul>\n"


def certificate(folder: Path) -> tuple[Path, Path]:
    """Return a self-signed certificate and its key."""
    paths = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "30", "-subj", "/CN=benchmark"]
    subprocess.run(
        [*command, "-out", str(paths[0]), "-keyout", str(paths[1])], check=True, capture_output=True
    )
    return paths


def servers(door: Door, folder: Path, pair: tuple[Path, Path] | None) -> Iterator[Server]:
    """Yield the servers behind a door; the first has the home page too."""
    home = folder / f"home-{door.scheme}"
    home.mkdir()
    (home / HOME.lstrip("/")).write_text(home_page(door))
    for number, part in enumerate(PARTS):
        extra = f"location = {HOME} {{ root {home}; }}" if number == 0 else ""
        extra += "autoindex on;" if part.listed else ""
        root = debs.ensure(part.package) / part.root
        yield Server(address(number), door.port, root, directives=extra, certificate=pair)


@contextmanager
def site(folder: Path, further: Sequence[Server] = (), *, log: bool = False) -> Iterator[Site]:
    """Serve the benchmark site, plain and by TLS, from one processor.

    Args:
        folder: An empty folder for its files.
        further: Further servers.
        log: Write nginx's access log.

    Raises:
        PackageError: A package could not be fetched.
        NginxError: nginx does not start.
    """
    plain = Door("http", free_port(ADDRESSES, FIRST_PORT))
    tls = Door("https", free_port(ADDRESSES, FIRST_TLS_PORT))
    all_servers = [*servers(plain, folder, None), *servers(tls, folder, certificate(folder))]
    all_servers += further
    with serving(all_servers, folder / "nginx", core=SERVER_CORE, log=log):
        yield Site(plain, tls)


def main(folder: Path) -> None:
    """Serve until interrupted or terminated."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with site(folder, log=True) as running:
        print(running.plain.home, running.tls.home, sep="\n", flush=True)
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
