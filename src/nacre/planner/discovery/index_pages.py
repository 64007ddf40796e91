"""Index pages: whether a page is one, which page of a list a URL is, and what lists show (pure).

`index_probability` is a logistic classifier with weights set by hand, corrected by how the page
behaves from visit to visit; if it is not sure, a page is treated as both index and content. The
weights are guesses that are measured together: the F1 of index pages in G12 of `make goals`.

If a list shows no known link, more was published than it shows, and its further pages are read
until two known links are adjacent. Links that are pinned to the top are not counted.

`compare_lists` returns the new, changed and gone entries of a list since its last visit. Each new
link is credited to the cheapest list that shows it, so that a list which only repeats others earns
nothing and is visited less and less. Source: Dasgupta et al., "The discoverability of the web",
2007 (greedy weighted cover).
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple, Protocol

import msgspec

from nacre.core.pagerow import Shape
from nacre.core.urlshape import Shaped, shaped
from nacre.planner.tuning import guess
from nacre.wire.urltext import readable_url

_LISTING = re.compile(
    r"(?i)(?:^|/)(?:index|list|node|column|channel|category|archive|archives|section|tag|news|notice)"
    r"(?:[_-]?(?:\d+|\{\w+\}))?(?:\.\w{2,5})?$|[?&](?:page|p|pageno|pageindex|start|offset)="
)
_PAGED = re.compile(r"(?i)(?:index|list|page)[_-](?:\d+|\{int\})|[?&](?:page|p|pageno|pageindex)=")
INDEX = 0.5
"""Probability from which on a page counts as an index page: more likely than not."""
_LONG_ANCHOR = guess(
    "index_pages.long_anchor",
    24,
    "Mean length of link texts from which a group of links looks like a list of "
    "titles, in characters.",
)
_MANY_LINKS = guess(
    "index_pages.many_links",
    8,
    "Number of similar links from which a group of links looks like a list.",
)
_LABELS = guess(
    "index_pages.labels",
    2,
    "Number of visits with new links after which the observations of a page "
    "outweigh its appearance.",
)


class LinkFacts(msgspec.Struct, frozen=True):
    """Facts about the links of a page.

    Attributes:
        content: Links into content templates of its host.
        same_template: Of these, the share in the most frequent template.
    """

    content: int = 0
    same_template: float = 0.0


def index_probability(
    url: Shaped, shape: Shape, links: LinkFacts, fertile: int = 0, depth: int = 0
) -> float:
    """Probability that a page is an index page.

    Args:
        url: Its URL, with placeholders.
        shape: Its layout.
        links: Facts about its links.
        fertile: Visits at which it showed new links.
        depth: Hops from the seed; 0 is the seed.
    """
    score = _by_url(url, depth) + _by_looks(shape, links)
    # Observations outweigh the appearance.
    score += 3.0 if fertile >= _LABELS else 0.0
    return 1.0 / (1.0 + math.exp(-score))


def _by_url(url: Shaped, depth: int) -> float:
    path = "/".join(segment for segment in url.segments[1:] if not segment.startswith("?"))
    query = [segment for segment in url.segments if segment.startswith("?")]
    kinds = {token.kind for token in url.tokens}
    score = -0.4
    if not path or path.endswith("/"):
        score += 1.3
    if _LISTING.search("/" + path) or any(_LISTING.search(part) for part in query):
        score += 1.2
    if _PAGED.search("/" + path) or any(_PAGED.search(part) for part in query):
        score += 0.8
    elif kinds & {"date", "unix", "unixms", "uuid", "hex", "slug"}:
        score -= 1.8
    elif "int" in kinds:
        score -= 0.8
    return score + (0.8 if depth == 0 else 0.0)


def _by_looks(shape: Shape, links: LinkFacts) -> float:
    density = shape.anchors / shape.text if shape.text else 0.0
    score = 3.2 * (density - 0.5)
    if shape.group >= _MANY_LINKS and shape.group_length >= _LONG_ANCHOR:
        score += 1.5
    if shape.dated >= _MANY_LINKS:
        score += 0.8
    score -= 1.6 * min(1.0, shape.longest / 600.0)
    if links.content >= _MANY_LINKS:
        score += 1.2 * links.same_template
    return score


ANCHORS = guess(
    "index_pages.anchors", 2, "Number of known links in a row at which the reading of a list ends."
)
TOP = guess(
    "index_pages.top", 3, "Number of positions at the top of a list where links may be pinned."
)
STAYS = guess(
    "index_pages.stays",
    3,
    "Number of visits at the same position after which a link counts as pinned.",
)

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
        """The target URL."""
        ...

    @property
    def text(self) -> str:
        """Its text; "" if it has none."""
        ...

    @property
    def rel(self) -> str:
        """Its relation, `next` for instance; "" for none."""
        ...


class ListPage(NamedTuple):
    """A page of a list.

    Attributes:
        stem: The same for all pages of one list.
        number: As the URL counts: pages count from 0, from 1, or by their first entry; 0 if
            the URL has no number.
    """

    stem: str
    number: int


def page_of(url: str) -> ListPage:
    """Return the list and page of a URL: `/news/index_2.html` is page 2 of `/news/`."""
    path, mark, query = _spelt(url).partition("?")
    parameter = _PARAMETER.search(mark + query)
    if parameter is not None:
        remaining = (
            (mark + query)[: parameter.start()] + parameter[1] + (mark + query)[parameter.end() :]
        )
        return ListPage(_bare(path) + _tidy(remaining), int(parameter[2]))
    for pattern in (_FOLDER, _INDEX):
        match = pattern.search(path)
        if match is not None:
            return ListPage(path[: match.start()] + "/" + _tidy(mark + query), int(match[1] or 0))
    match = _NAMED.search(path)
    if match is not None:
        return ListPage(path[: match.start()] + match[1] + _tidy(mark + query), int(match[2]))
    return ListPage(_bare(path) + _tidy(mark + query), 0)


def is_later(url: str) -> bool:
    """Whether a URL looks like a page of a list that is not its first."""
    number = page_of(url).number
    return number > 1 or (number == 1 and "?" not in url and _FOLDER.search(url) is None)


def next_page(url: str, links: Sequence[PagedLink]) -> str:
    """Return the next page of a list; "" if the list ends or has no pages.

    It is found by `rel=next`, else by the numbers in the URLs, else by the text of the link.

    Args:
        url: URL of the page.
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
        page = page_of(link.url)
        if page.stem == bare != own and page.number:
            parts.setdefault(page.number, link.url)
        elif page.stem == own and page.number > here.number:
            numbered.setdefault(page.number, link.url)
        elif not worded and link.url != url and link.text.strip().lower() in _NEXT_WORDS:
            worded = link.url
    if worded and not parts and here.number > 1:
        return worded
    pages = parts or numbered
    return pages[min(pages)] if pages else worded


class Known(NamedTuple):
    """The entries of a list that were known before.

    Attributes:
        entries: Number of its entries, without pinned ones.
        old: Largest number of adjacent known entries.
        any_old: Whether an entry was known.
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
        """Whether so many known links are adjacent that nothing new is expected after them."""
        return self.old >= ANCHORS


def known_entries(
    urls: Sequence[str], new: Sequence[str], is_old: Callable[[str], bool], pinned: frozenset[str]
) -> Known:
    """Count the entries of a list, and the known ones that are adjacent.

    Args:
        urls: All links of the list, in their order.
        new: The new links; their commonest kind is the kind of the entries.
        is_old: Whether a link was known before this step.
        pinned: Links that are always at the top.
    """
    entries = [url for url in entries_of(urls, new) if url not in pinned]
    longest = run = 0
    for url in entries:
        run = run + 1 if is_old(url) else 0
        longest = max(longest, run)
    return Known(len(entries), longest, longest > 0)


def entries_of(urls: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the links of the commonest kind among the new links: articles, and not menus."""
    if not new:
        return []
    kinds = Counter(kind_of(url) for url in new)
    commonest = kinds.most_common(1)[0][0]
    return [url for url in urls if kind_of(url) == commonest]


def kind_of(url: str) -> tuple[str, ...]:
    """Return the parts of a URL that are not words: equal for articles, different for menus."""
    path, mark, query = _spelt(url).partition("?")
    index = _INDEX.search(path)
    if (index and index[1]) or _FOLDER.search(path) or _PARAMETER.search(mark + query):
        return ("page",)
    return tuple(token.kind for token in shaped(url).tokens)


def at_top(before: dict[str, int], entries: Sequence[str]) -> dict[str, int]:
    """Return the number of consecutive visits that showed each of the first entries.

    Args:
        before: These numbers at the last visit.
        entries: The current entries.
    """
    return {url: before.get(url, 0) + 1 for url in entries[:TOP]}


def pinned(top: dict[str, int]) -> frozenset[str]:
    """Links that have been at the top for too long to be the newest."""
    return frozenset(url for url, visits in top.items() if visits > STAYS)


def _spelt(url: str) -> str:
    """Replace escapes by letters: `%E7%AC%AC_2` ends in a number, `%E7%AC%92` does not."""
    return readable_url(url) if "%" in url else url


def _bare(path: str) -> str:
    match = _INDEX.search(path)
    if match is not None:
        return path[: match.start()] + "/"
    match = _PLAIN.search(path)
    return path if match is None else path[: match.start()] + match[1]


def _tidy(query: str) -> str:
    return query.replace("?&", "?").replace("&&", "&").rstrip("?&")


_MAX_LINKS = 6_000
"""A bound of memory: links of a list that are remembered."""
_MIDDLE = guess(
    "lists.middle",
    2,
    "Number of links that must have stayed on a list before missing ones count as withdrawn.",
)


class ListedLink(Protocol):
    """A link of an index page."""

    @property
    def url(self) -> str:
        """The target URL."""
        ...

    @property
    def text(self) -> str:
        """Its text, including a date or teaser in it."""
        ...


class Shown(msgspec.Struct, frozen=True, array_like=True):
    """An index page's links at its last visit, in their order; kept in the store.

    Attributes:
        urls: Their target URLs.
        texts: Hashes of their texts.
    """

    urls: tuple[str, ...] = ()
    texts: tuple[int, ...] = ()


class News(NamedTuple):
    """The difference between two visits of an index page.

    Attributes:
        new: Links that the list did not have.
        changed: Links whose text changed.
        withdrawn: Links that vanished although older neighbours stayed: deleted, or moved.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


def shown_entries(links: Iterable[ListedLink]) -> Shown:
    """Return the entries of an index page to store."""
    texts: dict[str, int] = {}
    for link in links:
        if len(texts) >= _MAX_LINKS:
            break
        texts.setdefault(link.url, _hash(link.text))
    return Shown(tuple(texts), tuple(texts.values()))


def compare_lists(old: Shown, now: Shown) -> News:
    """Compare the entries of an index page at two visits."""
    before = dict(zip(old.urls, old.texts, strict=True))
    after = dict(zip(now.urls, now.texts, strict=True))
    new = tuple(url for url in now.urls if url not in before)
    changed = tuple(url for url, text in after.items() if before.get(url, text) != text)
    stayed = [rank for rank, url in enumerate(old.urls) if url in after]
    return News(new, changed, _withdrawn(old.urls, after, stayed))


def _withdrawn(
    urls: Sequence[str], after: dict[str, int], stayed: Sequence[int]
) -> tuple[str, ...]:
    """Return removed links that preceded a link of their kind that stayed.

    Too many of them mean a new list. A link that drops off the end of a list has no older neighbour
    of its kind; menus and paging links below the list do not count.
    """
    if len(stayed) < _MIDDLE:
        return ()
    last = {kind_of(urls[rank]): rank for rank in stayed}
    gone = tuple(
        url
        for rank, url in enumerate(urls)
        if url not in after and rank < last.get(kind_of(url), -1)
    )
    return gone if len(gone) <= max(_MIDDLE, len(stayed) // 2) else ()


def _hash(text: str) -> int:
    digest = blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=6).digest()
    return int.from_bytes(digest, "big")


MOST_LOST = guess(
    "lists.most_lost",
    1e-3,
    "Largest share of new links that may appear on a list and leave it between two visits.",
    most=1.0,
)
_SMALL = 700.0
"""Largest mean for which the Poisson terms are summed: below it exp of its negative is not zero."""


class Hub(NamedTuple):
    """The entries that a list showed in a step.

    Attributes:
        links: New links on it that were not known before the step.
        cost: Cost of a visit; 0 if the list is visited in any case.
    """

    links: frozenset[str]
    cost: float


def credited(hubs: Mapping[str, Hub]) -> dict[str, int]:
    """Return the number of new links that each list is credited with: a greedy weighted cover.

    The list with the most new links for its cost is credited with all of its links. Then the next
    list is credited with the remaining links, and so on.
    """
    counts = dict.fromkeys(hubs, 0)
    covered: set[str] = set()
    queue = [(-_worth(len(hub.links), hub.cost), name) for name, hub in hubs.items()]
    heapq.heapify(queue)
    while queue:
        claimed, name = heapq.heappop(queue)
        fresh = len(hubs[name].links - covered)
        worth = _worth(fresh, hubs[name].cost)
        if worth < -claimed and fresh:
            # Others have shown some of it meanwhile: it waits for its turn.
            heapq.heappush(queue, (-worth, name))
            continue
        counts[name] = fresh
        covered |= hubs[name].links
    return counts


def _worth(links: int, cost: float) -> float:
    return links / max(cost, 1e-6)


def expected_loss(window: int, arriving: float) -> float:
    """Return `E[(N - K)+]`: links that appear and disappear between two visits; N is Poisson.

    Args:
        window: Links that the list shows at a time, K.
        arriving: New links expected between the visits.
    """
    if arriving <= 0.0:
        return 0.0
    if arriving > _SMALL:
        return _by_normal(window, arriving)
    term = math.exp(-arriving)
    below = most = 0.0  # P(N < K), P(N <= K)
    for count in range(window + 1):
        below = most
        most += term
        term *= arriving / (count + 1)
    return max(0.0, arriving * (1.0 - below) - window * (1.0 - most))


def _by_normal(window: int, arriving: float) -> float:
    spread = math.sqrt(arriving)
    over = (arriving - window) / spread
    density = math.exp(-0.5 * over * over) / math.sqrt(2.0 * math.pi)
    return spread * (density + over * 0.5 * math.erfc(-over / math.sqrt(2.0)))


def overflows(window: int, per_day: float, days: float) -> bool:
    """Whether a list with this interval between visits would lose too many new links.

    Args:
        window: Links that it shows at a time; 0 if the number is not known.
        per_day: New links a day.
        days: Days between its visits.
    """
    arriving = per_day * days
    return window > 0 and arriving > 0.0 and expected_loss(window, arriving) > MOST_LOST * arriving
