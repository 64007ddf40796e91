"""The pages of docs/ as the source of a web site, and the check of their links.

`assemble` copies docs/, README.md, CHANGELOG.md and the files of examples/ into one folder, as
Sphinx needs them. docs/index.md is the list of all pages: its sections become the navigation.
"""

import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
INDEX = "index.md"
NAMES = {"README.md": "readme.md", "CHANGELOG.md": "changes.md", "docs/search.md": "text-search.md"}
"""Pages whose place on the site is not that below docs/; `search.html` is Sphinx's own page."""
_LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\])\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t)[^\n]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_NO_SLUG = re.compile(r"[^\w\- ]")


class Link(NamedTuple):
    """A link of a page.

    Args:
        page: The path of the page, relative to the checkout.
        target: The path as it is written, without the anchor; "" for the same page.
        anchor: The part after `#`; "" if there is none.
    """

    page: str
    target: str
    anchor: str


def list_pages(root: Path) -> list[str]:
    """Return all pages of the site, relative to the checkout."""
    pages = sorted(str(path.relative_to(root)) for path in (root / "docs").rglob("*.md"))
    return ["README.md", "CHANGELOG.md", *pages]


def read_links(page: str, text: str) -> Iterator[Link]:
    """Yield the links to files and anchors of a page; links to other hosts are left out."""
    for match in _LINK.finditer(_CODE.sub("", text)):
        target, _, anchor = match[2].partition("#")
        if not re.match(r"[a-z]+:", target):
            yield Link(page, target, anchor)


def list_anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and MyST make them."""
    anchors: set[str] = set()
    for _, heading in _HEADING.findall(_FENCED.sub("", text)):
        slug = base = _NO_SLUG.sub("", heading.lower()).strip().replace(" ", "-")
        number = 0
        while slug in anchors:
            number += 1
            slug = f"{base}-{number}"
        anchors.add(slug)
    return anchors


def list_levels(text: str) -> list[int]:
    """Return the levels of the headings of a page, in order; 1 is the title."""
    return [len(mark) for mark, _ in _HEADING.findall(_FENCED.sub("", text))]


def find_broken_links(root: Path) -> list[Link]:
    """Return the links whose file does not exist, or whose page has no such heading."""
    texts = {page: (root / page).read_text("utf-8") for page in list_pages(root)}
    anchors = {page: list_anchors(text) for page, text in texts.items()}
    broken = []
    for page, text in texts.items():
        for link in read_links(page, text):
            path = (
                (root / page).parent.joinpath(link.target).resolve() if link.target else root / page
            )
            name = str(path.relative_to(root)) if path.is_relative_to(root) else ""
            page_anchors = anchors.get(name, set())
            if not path.exists() or not name or (link.anchor and link.anchor not in page_anchors):
                broken.append(link)
    return broken


def read_navigation(text: str) -> dict[str, list[str]]:
    """Return the sections of docs/index.md with the pages that each lists, in order.

    A page belongs to the first section that lists it.
    """
    sections: dict[str, list[str]] = {}
    listed: set[str] = set()
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        pages = [link.target for link in read_links(INDEX, body) if link.target.endswith(".md")]
        sections[title] = [page for page in dict.fromkeys(pages) if page not in listed]
        listed.update(pages)
    return sections


def assemble(root: Path, folder: Path) -> None:
    """Copy all pages and their files into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "docs", folder, ignore=shutil.ignore_patterns("*.md"))
    shutil.copytree(root / "examples", folder / "examples")
    for page in list_pages(root):
        place = folder / find_place(page)
        text = _move_links(page, (root / page).read_text("utf-8"), root)
        if place.name == INDEX and place.parent == folder:
            text += _format_trees(read_navigation(text))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def find_place(path: str) -> str:
    """Return the path on the site of a file of the checkout."""
    return NAMES.get(path, path.removeprefix("docs/"))


def _move_links(page: str, text: str, root: Path) -> str:
    """Let the links of a page lead to the places on the site.

    A link to a folder becomes plain text: a web server has no list of its files.

    Args:
        page: The path of the page in the checkout.
        text: Its text.
        root: The checkout.
    """
    folder = posixpath.dirname(find_place(page))

    def move(match: re.Match[str]) -> str:
        target, mark, anchor = match[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if (root / path).is_dir():
            return match[1].strip("[]")
        return f"{match[1]}({posixpath.relpath(find_place(path), folder or '.')}{mark}{anchor})"

    return _LINK.sub(move, text)


def _format_trees(sections: dict[str, list[str]]) -> str:
    """Return the sections as hidden trees, from which Sphinx makes the navigation."""
    trees = []
    for title, pages in sections.items():
        names = "\n".join(page.removesuffix(".md") for page in pages)
        trees.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{names}\n```\n")
    return "".join(trees)
