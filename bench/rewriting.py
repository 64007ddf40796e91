"""How fast pages are rewritten for replay: `python -m bench.rewriting [SITE ...]`.

A site is a folder of `~/.cache/nacre/webs`, as `make webs` has them; 4 MB of its pages are taken,
in an order by hash. One core, without reading the files.
"""

import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Final

from nacre.replay.page_urls import PageAddress
from nacre.replay.rewrite_css import rewrite_css
from nacre.replay.rewrite_html import rewrite_page

WEBS: Final = Path.home() / ".cache/nacre/webs"
SITES: Final = (
    *("python3.11-doc", "debian-handbook", "postgresql-doc-15", "mediawiki", "nodejs-doc"),
    *("debian-reference-zh-cn", "libreoffice-help-zh-cn", "cppreference-doc-en-html"),
    *("openjdk-17-doc", "python-django-doc", "wireshark-doc", "git-doc"),
)
_ENOUGH: Final = 4_000_000


def documents(site: str) -> list[tuple[str, bytes]]:
    """Pages and style sheets of a site with their URLs, about 4 MB."""
    root = WEBS / site
    paths = [path for path in root.rglob("*") if path.suffix in {".html", ".css"}]
    paths.sort(key=lambda path: sha256(path.name.encode()).digest())
    chosen: list[tuple[str, bytes]] = []
    size = 0
    for path in paths:
        if size < _ENOUGH and path.is_file():
            chosen.append((f"http://h.test/{path.relative_to(root)}", path.read_bytes()))
            size += len(chosen[-1][1])
    return chosen


def measure(site: str) -> tuple[int, float]:
    """Bytes of a site's documents, and the seconds that rewriting them takes."""
    chosen = documents(site)
    begin = time.process_time()
    for url, body in chosen:
        rewrite = rewrite_css if url.endswith(".css") else rewrite_page
        rewrite(body, "utf-8", PageAddress("", "20261129120000", url))
    return sum(len(body) for _, body in chosen), time.process_time() - begin


def main() -> None:
    """Print a line for each site, and one for all."""
    total, seconds = 0, 0.0
    for site in sys.argv[1:] or SITES:
        size, taken = measure(site)
        total, seconds = total + size, seconds + taken
        if size:
            print(f"{site:<26} {size / 1e6:6.1f} MB {size / 1e6 / taken:6.1f} MB/s")
    if total:
        print(f"{'all':<26} {total / 1e6:6.1f} MB {total / 1e6 / seconds:6.1f} MB/s")


if __name__ == "__main__":
    main()
