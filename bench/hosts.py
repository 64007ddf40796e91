"""A thousand hosts of five pages each, for what TLS and new connections cost."""

from pathlib import Path

from bench.sites import Door
from tools.nginx import Server

HOSTS = 1000
PAGES = 5
SUFFIX = "bench.test"
HOME = f"home.{SUFFIX}"
FIRST_PORT = 8543


def name(number: int) -> str:
    """Name of a host."""
    return f"host-{number:04}.{SUFFIX}"


def addresses() -> dict[str, str]:
    """Return an address for each name, for the crawler's dns.hosts."""
    by_name = {name(number): f"127.1.{number // 250}.{number % 250 + 1}" for number in range(HOSTS)}
    return by_name | {HOME: "127.1.100.1"}


def server(folder: Path, door: Door, pair: tuple[Path, Path]) -> Server:
    """One server behind all addresses: the home page, and the pages of each host."""
    root = folder / "thousand"
    root.mkdir()
    links = "".join(
        f'<li><a href="{door.scheme}://{name(number)}:{door.port}/">{number}</a></li>'
        for number in range(HOSTS)
    )
    (root / "home.html").write_text(f"<!DOCTYPE html><title>Home</title><ul>{links}</ul>\n")
    menu = "".join(f'<li><a href="/page-{page}.html">{page}</a></li>' for page in range(1, PAGES))
    text = "<p>A page of moderate length, as pages are.</p>\n" * 200
    for page in ("index", *(f"page-{page}" for page in range(1, PAGES))):
        html = f"<!DOCTYPE html><title>{page}</title><ul>{menu}</ul>\n{text}"
        (root / f"{page}.html").write_text(html)
    return Server("0.0.0.0", door.port, root, certificate=pair)
