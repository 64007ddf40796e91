"""Lists in pages: which page a URL is, which comes next, and when reading on is over (pure).

Where a list shows nothing that was known, more was published than it shows, and its paging is
followed until two known links stand together. What is pinned to the top says nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from nacre.history.finding.urlshape import shaped
from nacre.wire.urltext import readable_url

ANCHORS = 2
"""Known links in a row that end the reading."""
TOP = 3
"""Places at the top of a list where links may be pinned."""
STAYS = 3
"""A link that has stood there at more visits than this is pinned."""

_INDEX = re.compile(r"(?i)/(?:index|default|home)?(?:[_-](\d{1,5}))?(?:\.\w{2,5})?$")
_NAMED = re.compile(r"(?i)(/[^\W\d_](?:[^\W\d]|-)*?(?:_\d{1,7})?)[_-](\d{1,5})(\.\w{2,5})?$")
_PLAIN = re.compile(r"(?i)(/[^\W\d_](?:[^\W\d]|-)*(?:_\d{1,7})?)\.(?:s?html?|php|aspx?|jsp)$")
_FOLDER = re.compile(r"(?i)/(?:page|p|pages)[/_-]?(\d{1,5})/?$")
_PARAMETER = re.compile(
    r"(?i)([?&])(?:page|p|pn|paged|pageno|page_no|pagenum|pageindex|currentpage|curpage|start|offset)"
    r"=(\d{1,7})(?=&|$)"
)
_NEXT_WORDS = frozenset(
    (
        *("next", "next page", "older", "older posts", "more", "»", ">", ">>", "→", "weiter"),
        *(
            "下一页",
            "下页",
            "后页",
            "后一页",
            "下一頁",
            "更多",
            "次へ",
            "次のページ",
            "suivant",
            "siguiente",
        ),
    )
)


class PagedLink(Protocol):
    """A link of a list."""

    @property
    def url(self) -> str:
        """Where it leads."""
        ...

    @property
    def text(self) -> str:
        """Its text; "" where it has none."""
        ...

    @property
    def rel(self) -> str:
        """Its relation, `next` for instance; "" for none."""
        ...


class Page(NamedTuple):
    """A page of a list.

    Attributes:
        stem: The same for all pages of one list.
        number: As the URL counts: pages count from 0, from 1, or by their first entry; 0 where
            the URL has no number.
    """

    stem: str
    number: int


def page_of(url: str) -> Page:
    """The list that a URL is a page of, and which: `/news/index_2.html` is page 2 of `/news/`."""
    path, mark, query = _spelt(url).partition("?")
    found = _PARAMETER.search(mark + query)
    if found is not None:
        rest = (mark + query)[: found.start()] + found[1] + (mark + query)[found.end() :]
        return Page(_bare(path) + _tidy(rest), int(found[2]))
    for pattern in (_FOLDER, _INDEX):
        match = pattern.search(path)
        if match is not None:
            return Page(path[: match.start()] + "/" + _tidy(mark + query), int(match[1] or 0))
    match = _NAMED.search(path)
    if match is not None:
        return Page(path[: match.start()] + match[1] + _tidy(mark + query), int(match[2]))
    return Page(_bare(path) + _tidy(mark + query), 0)


def is_later(url: str) -> bool:
    """Whether a URL looks like a page of a list that is not its first."""
    number = page_of(url).number
    return number > 1 or (number == 1 and "?" not in url and _FOLDER.search(url) is None)


def next_page(url: str, links: Sequence[PagedLink]) -> str:
    """The page of a list behind this one; "" where the list ends or has no pages.

    By `rel=next`; else by the numbers in the URLs; else by what the link says.

    Args:
        url: Of the page.
        links: Its links, in their order.
    """
    here, own = page_of(url), page_of(url).stem
    # `node_7_2` is a page of `node_7`, and `node_8` is another list.
    bare = _bare(_spelt(url).partition("?")[0])
    parts: dict[int, str] = {}
    numbered: dict[int, str] = {}
    worded = ""
    for link in links:
        if "next" in link.rel.split():
            return link.url
        one = page_of(link.url)
        if one.stem == bare != own and one.number:
            parts.setdefault(one.number, link.url)
        elif one.stem == own and one.number > here.number:
            numbered.setdefault(one.number, link.url)
        elif not worded and link.url != url and link.text.strip().lower() in _NEXT_WORDS:
            worded = link.url
    if worded and not parts and here.number > 1:
        return worded
    found = parts or numbered
    return found[min(found)] if found else worded


class Known(NamedTuple):
    """What of a list's entries was known before.

    Attributes:
        entries: Links of the kind that the list is of, pinned ones left out.
        old: Those known before, in a row at most.
        any_old: Some of them was known.
    """

    entries: int
    old: int
    any_old: bool

    @property
    def flooded(self) -> bool:
        """Whether nothing on the page was known: more was published than it shows."""
        return self.entries > 0 and not self.any_old

    @property
    def anchored(self) -> bool:
        """Whether so many known links stand together that nothing new is expected behind."""
        return self.old >= ANCHORS


def known_entries(
    urls: Sequence[str], new: Sequence[str], is_old: Callable[[str], bool], pinned: frozenset[str]
) -> Known:
    """Look at the entries of a list for what was known.

    Args:
        urls: All its links, in their order.
        new: Those that are new; their commonest kind is what the list is of.
        is_old: Whether a link was known before this step.
        pinned: Links that always stand at the top.
    """
    entries = [url for url in entries_of(urls, new) if url not in pinned]
    longest = run = 0
    for url in entries:
        run = run + 1 if is_old(url) else 0
        longest = max(longest, run)
    return Known(len(entries), longest, longest > 0)


def entries_of(urls: Sequence[str], new: Sequence[str]) -> list[str]:
    """Links of the commonest kind among the new ones: articles, and not menus."""
    if not new:
        return []
    kinds = Counter(kind_of(url) for url in new)
    commonest = kinds.most_common(1)[0][0]
    return [url for url in urls if kind_of(url) == commonest]


def kind_of(url: str) -> tuple[str, ...]:
    """What of a URL is not words: articles of all sections are alike, and unlike menus."""
    path, mark, query = _spelt(url).partition("?")
    index = _INDEX.search(path)
    if (index and index[1]) or _FOLDER.search(path) or _PARAMETER.search(mark + query):
        return ("page",)
    return tuple(token.kind for token in shaped(url).tokens)


def at_top(before: dict[str, int], entries: Sequence[str]) -> dict[str, int]:
    """Visits at which each of the first entries stood there without a break.

    Args:
        before: The same at the last visit.
        entries: The entries now.
    """
    return {url: before.get(url, 0) + 1 for url in entries[:TOP]}


def pinned(top: dict[str, int]) -> frozenset[str]:
    """Links that have been at the top for too long to be the newest."""
    return frozenset(url for url, visits in top.items() if visits > STAYS)


def _spelt(url: str) -> str:
    """With letters for escapes: `%E7%AC%AC_2` ends in a number, `%E7%AC%92` does not."""
    return readable_url(url) if "%" in url else url


def _bare(path: str) -> str:
    match = _INDEX.search(path)
    if match is not None:
        return path[: match.start()] + "/"
    match = _PLAIN.search(path)
    return path if match is None else path[: match.start()] + match[1]


def _tidy(query: str) -> str:
    return query.replace("?&", "?").replace("&&", "&").rstrip("?&")
