"""What can be reached by links in a folder of files: an oracle that shares no code with Nacre.

It reads the files with the standard library's HTML parser. Links in scripts are not followed: what
the crawler finds there is left out of the comparison, or must exist.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

LINKS = {
    "a": ("href",),
    "area": ("href",),
    "link": ("href",),
    "img": ("src", "longdesc"),
    "script": ("src",),
    "iframe": ("src",),
    "frame": ("src",),
    "input": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "body": ("background",),
    "form": ("action",),
}
CSS_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
REFRESH = re.compile(r"url\s*=\s*['\"]?([^'\">]+)", re.IGNORECASE)
SAFE = "/!$&'()*+,;=:@~-._%"


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.base = ""
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self._style = tag == "style"
        if tag == "base":
            self.base = self.base or values.get("href", "")
        self.found += [values[name] for name in LINKS.get(tag, ()) if name in values]
        if "srcset" in values:
            self.found += [part.split()[0] for part in values["srcset"].split(",")]
        if values.get("http-equiv", "").lower() == "refresh":
            self.found += REFRESH.findall(values.get("content", ""))
        self.found += _css(values.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._style:
            self.found += _css(data)

    def handle_endtag(self, tag: str) -> None:
        self._style = False


def _css(text: str) -> Iterator[str]:
    return (first or second for first, second in CSS_URL.findall(text))


class Folder:
    """A folder as a web server shows it: an index for a folder, 404 for what is not there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def file(self, path: str) -> Path | None:
        """The file behind a URL path; None when there is none."""
        place = self.root / unquote(path).lstrip("/")
        if path.endswith("/"):
            place /= "index.html"
        return place if place.is_file() else None

    def reachable(self, start: str) -> tuple[set[str], set[str]]:
        """URL paths that links lead to from a start page: those with a file, and the others."""
        found, broken = {start}, set()
        todo = [start]
        while todo:
            here = todo.pop()
            file = self.file(here)
            if file is None:
                found.discard(here)
                broken.add(here)
                continue
            fresh = set(self._links(here, file)) - found - broken
            found |= fresh
            todo += fresh
        return found, broken

    def _links(self, here: str, file: Path) -> Iterator[str]:
        if file.suffix in {".html", ".htm"}:
            parser = _Links()
            parser.feed(file.read_text("latin-1"))
            links, base = parser.found, urljoin(f"http://site{here}", parser.base)
        elif file.suffix == ".css":
            links, base = list(_css(file.read_text("latin-1"))), f"http://site{here}"
        else:
            return
        for link in links:
            target = _target(base, link)
            if target is not None:
                yield target


def _target(base: str, link: str) -> str | None:
    """URL path of a link within the site; None for one that leads elsewhere."""
    try:
        parts = urlsplit(urljoin(base, link.strip()))
    except ValueError:
        return None
    if (parts.scheme, parts.netloc) != ("http", "site"):
        return None
    path = quote(parts.path or "/", safe=SAFE)
    return f"{path}?{parts.query}" if parts.query else path
