"""URLs of a world, both ways: what an article is called, and what a path means."""

import re
from typing import NamedTuple

from nacre_simweb.draw import Draw
from nacre_simweb.parameters import UrlStyle
from nacre_simweb.site import Article, date_of

SECTION_NAMES = (
    "xwzx", "zwgk", "zcfg", "tzgg", "gzdt", "ldhd", "xxgk", "hdjl", "bszn", "ztzl", "rsxx", "tjsj",
    "wlyc", "fwzw", "yscy", "shwh", "news", "events", "policy", "notice",
)  # fmt: skip
_FIRST_SERIAL = 10_000
_EXTENSIONS = ("css", "js", "png")


class Target(NamedTuple):
    """The target of a path.

    Attributes:
        kind: `home`, `list`, `article`, `shared`, `image`, `file`, or "" for nothing.
        serial: Serial of the article; section of a list; number of a shared embed.
        part: Number of the list page or image; 1 for the second URL of an article that moved.
    """

    kind: str
    serial: int = 0
    part: int = 0


_STATIC = re.compile(r"/static/e(\d+)\.(?:css|js|png)\Z")
_UPLOAD = re.compile(r"/upload/(\d+)-(\d+)\.jpg\Z")
_FILE = re.compile(r"/files/(\d+)\.pdf\Z")
_LIST = re.compile(r"/([a-z]+)(\d*)/(?:index(?:_(\d+))?\.html)?\Z")
_MOVED = "/new"


class Names:
    """The URLs of one world's hosts.

    Args:
        style: How articles are named.
        sections: Sections a host.
        draw: Random numbers, for hashed names.
    """

    def __init__(self, style: UrlStyle, sections: int, draw: Draw) -> None:
        self._style = style
        self._sections = sections
        self._draw = draw.at("names")
        self._paths: dict[tuple[Article, int], str] = {}
        self._mask = self._draw.below(1 << 31) | 1

    def section(self, number: int) -> str:
        """Folder of a section, without slashes."""
        name = SECTION_NAMES[number % len(SECTION_NAMES)]
        return f"{name}{number // len(SECTION_NAMES) or ''}"

    def list_page(self, section: int, part: int) -> str:
        """Path of a list page; part 0 is the newest."""
        page = f"index_{part}.html" if part else ""
        return f"/{self.section(section)}/{page}"

    def article(self, article: Article, moved: int = 0) -> str:
        """Path of an article; its second one where it moved."""
        path = self._paths.get((article, moved))
        if path is None:
            path = self._paths[article, moved] = self._article(article, moved)
        return path

    def _article(self, article: Article, moved: int) -> str:
        number = article.serial + _FIRST_SERIAL
        date = date_of(article.born)
        folder = self.section(article.section)
        prefix = _MOVED if moved else ""
        match self._style:
            case "dated":
                path = f"/{folder}/{date:%Y%m}/t{date:%Y%m%d}_{number}.html"
            case "dashed":
                path = f"/{folder}/{date:%Y-%m}/{date:%d}/content_{number}.htm"
            case "numbered":
                path = f"/info/{folder}/{number}.htm"
            case "thread":
                path = f"/thread-{number}-1.html"
            case "hashed":
                path = f"/item/{self._hide(number):012x}.html"
            case "slug":
                path = f"/wiki/{self._slug(number)}_{self._hide(number):x}"
            case _:
                path = f"/docs/{folder}/page{number}.html"
        return prefix + path

    def image(self, article: Article, number: int) -> str:
        """Path of an image of an article."""
        return f"/upload/{article.serial}-{number}.jpg"

    def file(self, article: Article) -> str:
        """Path of its attachment."""
        return f"/files/{article.serial}.pdf"

    def shared(self, number: int) -> str:
        """Path of a shared embed."""
        return f"/static/e{number}.{_EXTENSIONS[number % 3]}"

    def read(self, path: str) -> Target:
        """The meaning of a path; an article's serial is not checked against folder and date."""
        if path in {"/", "/index.html"}:
            return Target("home")
        for kind, pattern in (("shared", _STATIC), ("image", _UPLOAD), ("file", _FILE)):
            match = pattern.match(path)
            if match:
                part = int(match[2]) if kind == "image" else 0
                return Target(kind, int(match[1]), part)
        match = _LIST.match(path)
        if match and match[1] in SECTION_NAMES:
            section = SECTION_NAMES.index(match[1]) + len(SECTION_NAMES) * int(match[2] or 0)
            if section < self._sections:
                return Target("list", section, int(match[3] or 0))
        return self._read_article(path)

    def _read_article(self, path: str) -> Target:
        moved = path.startswith(_MOVED + "/")
        match = _SERIALS[self._style].search(path)
        if not match:
            return Target("")
        hidden = self._style in {"hashed", "slug"}
        number = self._show(int(match[1], 16)) if hidden else int(match[1])
        return Target("article", number - _FIRST_SERIAL, int(moved))

    def _hide(self, number: int) -> int:
        """Scramble a number so that it has no order; `_show` undoes it."""
        return (number * _FACTOR % (1 << 40)) ^ self._mask

    def _show(self, number: int) -> int:
        return (number ^ self._mask) * _INVERSE % (1 << 40)

    def _slug(self, number: int) -> str:
        draw = self._draw.at("slug", number)
        return "_".join(draw.pick(_SLUGS, place) for place in range(2))


_FACTOR = 0x9E3779B97
_INVERSE = pow(_FACTOR, -1, 1 << 40)
_SLUGS = ("River", "Museum", "Paper", "Silk", "Garden", "Stone", "Tower", "Harbour", "Letter")
_SERIALS: dict[UrlStyle, re.Pattern[str]] = {
    "dated": re.compile(r"/t\d{8}_(\d+)\.html\Z"),
    "dashed": re.compile(r"/content_(\d+)\.htm\Z"),
    "numbered": re.compile(r"/info/[a-z]+\d*/(\d+)\.htm\Z"),
    "thread": re.compile(r"/thread-(\d+)-1\.html\Z"),
    "hashed": re.compile(r"/item/([0-9a-f]{12})\.html\Z"),
    "slug": re.compile(r"/wiki/[A-Za-z_]+_([0-9a-f]+)\Z"),
    "path": re.compile(r"/docs/[a-z]+\d*/page(\d+)\.html\Z"),
}
