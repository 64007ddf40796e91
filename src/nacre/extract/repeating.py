"""Learns from pages that were run which requests of their scripts are instances of templates.

Candidates are made from every request whose parts equal values of its page. A candidate that
several pages make, that no page of the same form contradicts and that has nothing secret in it is
a template. Pure; bounded in time and memory.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import structs

from nacre.core.urlshape import shaped
from nacre.extract.page_values import Values, decode, html_values, url_values
from nacre.extract.request_template import (
    CODINGS,
    MAX_REQUESTS,
    WHOLE,
    Hole,
    PagePattern,
    RequestTemplate,
    join_url,
    matching_codings,
    normal_url,
    page_steps,
    reply_values,
)
from nacre.extract.secret_parameters import (
    has_random,
    is_cookie_bound,
    is_secret,
    is_volatile,
)

MIN_PAGES = 3
"""Pages that must support a template."""
MIN_PRECISION = 0.85
"""Least share of a template's URLs that pages of its pattern requested."""
MAX_HOLES = 3
MAX_ROUNDS = 3
"""Replies that may lead to each other."""
_MAX_OPTIONS = 40
_MAX_CANDIDATES = 150
_COMMON = 0.6
"""Share of all pages above which a URL is a constant, as a bundle is."""

_UNREPEATED = frozenset(("document", "beacon", "websocket"))
_LINKING = ("@src", "@href", "@data", "@poster")
_RUN = re.compile(r"[^/?&=.:;,@()!]+")
_WORD = re.compile(r"[^_\-]+")


class ObservedRequest(msgspec.Struct, frozen=True):
    """A request of a page that was run, and its reply.

    Attributes:
        method: HTTP method.
        url: Absolute URL.
        resource: As in `core.rendered.BrowserRequest`.
        status: HTTP status; 0 if there was no reply.
        mime: Media type of the reply; "" if there was none.
        reply: The reply as text if it is JSON; "" if it is not, or not at hand.
        is_bound: It carried credentials; see `secret_parameters.carries_credentials`.
    """

    method: str
    url: str
    resource: str = "fetch"
    status: int = 200
    mime: str = ""
    reply: str = ""
    is_bound: bool = False


class RunPage(msgspec.Struct, frozen=True):
    """A page that was run in a browser.

    Attributes:
        url: Its URL; of a route within a document, with the fragment.
        html: The document as the server sent it, decoded.
        requests: Its requests.
        cookies: Values of the cookies that its requests could use.
    """

    url: str
    html: str
    requests: tuple[ObservedRequest, ...] = ()
    cookies: tuple[str, ...] = ()


class LearnedPage(msgspec.Struct, frozen=True):
    """The parts of a run page that templates are learned from.

    Attributes:
        url: Its URL.
        values: Values of its URL and HTML.
        content: Its requests that are neither linked by its HTML nor of a kind that is never
            repeated, by URL.
        requested: All URLs that it requested.
        replies: Values of JSON replies, by URL.
    """

    url: str
    values: Values
    content: Mapping[str, ObservedRequest]
    requested: frozenset[str]
    replies: Mapping[str, Values]


def page_values(url: str, html: str) -> Values:
    """Return the values of a page by the name of their source."""
    return {**html_values(html), **url_values(url)}


def prepare(page: RunPage) -> LearnedPage:
    """Return what a run page teaches, without its HTML."""
    values = page_values(page.url, page.html)
    linked = _linked(page.url, values)
    content: dict[str, ObservedRequest] = {}
    replies: dict[str, Values] = {}
    requested: set[str] = set()
    for request in page.requests[:1000]:
        url = normal_url(request.url)
        requested.add(url)
        if url in linked or not _is_content(request) or len(content) >= MAX_REQUESTS:
            continue
        is_bound = request.is_bound or is_cookie_bound(url, page.cookies)
        content[url] = structs.replace(request, url=url, reply="", is_bound=is_bound)
        if request.reply and (reply := reply_values(request.reply)):
            replies[url] = reply
    return LearnedPage(page.url, values, content, frozenset(requested), replies)


def _is_content(request: ObservedRequest) -> bool:
    if request.resource in _UNREPEATED or not 200 <= request.status < 400:
        return False
    if request.method not in {"GET", "HEAD"}:
        return False
    # A pixel of a tracker is no content, and its time of day is in its URL.
    return request.resource != "image" or not is_volatile(request.url)


def _linked(url: str, values: Values) -> set[str]:
    """Return the URLs that the HTML names in attributes: a plain crawl finds them by itself."""
    base = urljoin(url, next(iter(values.get("base@href", ())), ""))
    linked = set()
    for source, texts in values.items():
        if source.endswith(_LINKING) and not source.endswith("base@href"):
            for text in texts:
                linked.add(normal_url(join_url(base, text)))
    return linked


class _Sighting(msgspec.Struct, frozen=True):
    """A candidate that a request of a page is an instance of."""

    page: int
    url: str
    codings: tuple[frozenset[str], ...]


_Key = tuple[str, str, tuple[str, ...]]
"""Method, kind of resource, and literals and sources in turn; a literal is first and last."""


def learn_templates(
    pages: Sequence[LearnedPage], templates: Sequence[RequestTemplate] = ()
) -> tuple[RequestTemplate, ...]:
    """Return the templates of the pages of a site that were run.

    Args:
        pages: The pages.
        templates: Templates that were learned before. Those that the pages do not contradict stay,
            and their requests are not learned again.
    """
    constants = find_constants(pages)
    learned: list[RequestTemplate] = []
    covered: set[tuple[int, str]] = set()
    views: list[tuple[str, list[tuple[int, Values]]]] = [
        ("", [(at, page.values) for at, page in enumerate(pages)])
    ]
    for _ in range(MAX_ROUNDS):
        fresh: list[RequestTemplate] = []
        for after, view in views:
            fresh += _confirmed([item for item in templates if item.after == after], view, pages)
            covered |= _instances(fresh, view, pages)
            fresh += _learn_view(pages, after, view, constants, covered)
        learned += fresh
        views = [(item.name, _replies(item, pages)) for item in fresh]
    return tuple(learned)


def _confirmed(
    templates: Iterable[RequestTemplate],
    view: Sequence[tuple[int, Values]],
    pages: Sequence[LearnedPage],
) -> list[RequestTemplate]:
    """Return the known templates of which pages made nearly all requests, or that none fits."""
    confirmed = []
    for template in templates:
        hit, filled = _precision(template, view, pages)
        if hit >= MIN_PRECISION * filled:
            confirmed.append(template)
    return confirmed


def _instances(
    templates: Iterable[RequestTemplate],
    view: Sequence[tuple[int, Values]],
    pages: Sequence[LearnedPage],
) -> set[tuple[int, str]]:
    """Return the requests that templates foresee, with the number of their page."""
    return {
        (at, url)
        for template in templates
        for at, values in view
        if template.after or template.pages.matches(pages[at].url)
        for url in template.fill(pages[at].url, values)
    }


def find_constants(pages: Sequence[LearnedPage]) -> frozenset[str]:
    """Return the URLs that most pages requested, such as bundles."""
    counts = Counter(url for page in pages for url in page.requested)
    least = max(MIN_PAGES, _COMMON * len(pages))
    return frozenset(url for url, count in counts.items() if count >= least)


def _replies(template: RequestTemplate, pages: Sequence[LearnedPage]) -> list[tuple[int, Values]]:
    """Return the values of the replies to a template, with the number of their page."""
    replies: list[tuple[int, Values]] = []
    for at, page in enumerate(pages):
        if template.after or template.pages.matches(page.url):
            urls = template.fill(page.url, page.values) if not template.after else page.replies
            replies += [(at, page.replies[url]) for url in urls if url in page.replies]
    return replies


def _learn_view(
    pages: Sequence[LearnedPage],
    after: str,
    view: Sequence[tuple[int, Values]],
    constants: frozenset[str],
    covered: set[tuple[int, str]],
) -> list[RequestTemplate]:
    """Return the templates whose holes are filled from one kind of values; mark their requests."""
    if len({at for at, _ in view}) < MIN_PAGES:
        return []
    sightings: dict[_Key, list[_Sighting]] = defaultdict(list)
    varying = _varying(view)
    for at, values in view:
        index = _index(values, varying)
        for url, request in pages[at].content.items():
            if url in constants or (at, url) in covered or request.is_bound:
                continue
            for key, codings in _candidates(request, pages[at].url, index):
                sightings[key].append(_Sighting(at, url, codings))
    ranked: list[tuple[RequestTemplate, list[_Sighting]]] = []
    for key, key_sightings in sightings.items():
        template, support = _template(key, key_sightings, pages, after)
        fitting = template and _fit(template, support, view, pages)
        if fitting:
            ranked.append((fitting, support))
    ranked.sort(key=lambda pair: _rank(*pair))
    return _cover(ranked, covered)


def _rank(template: RequestTemplate, support: Sequence[_Sighting]) -> tuple[object, ...]:
    """Order: those that cover most, with fewest holes, from the URL rather than from the HTML."""
    foreign = sum(
        not hole.source.startswith("url.") or hole.source.endswith(".query")
        for hole in template.holes
    )
    return -len(support), len(template.holes), foreign, len(template.name), template.name


def _cover(
    ranked: Iterable[tuple[RequestTemplate, list[_Sighting]]], covered: set[tuple[int, str]]
) -> list[RequestTemplate]:
    chosen = []
    for template, support in ranked:
        instances = {(sighting.page, sighting.url) for sighting in support}
        fresh = instances - covered
        if len({page for page, _ in fresh}) >= MIN_PAGES or len(fresh) * 2 >= len(instances):
            covered |= instances
            if fresh:
                chosen.append(template)
    return chosen


def _varying(view: Sequence[tuple[int, Values]]) -> frozenset[str]:
    """Return the sources whose value is not the same everywhere."""
    first: dict[str, tuple[str, ...]] = {}
    varying = set()
    for _, values in view:
        for source, texts in values.items():
            if first.setdefault(source, texts) != texts:
                varying.add(source)
    return frozenset(source for source in varying if not _is_secret_source(source))


def _is_secret_source(source: str) -> bool:
    return any(is_secret(name) for name in re.split(r"[.@#=\[\]]+", source) if name)


def _index(values: Values, varying: frozenset[str]) -> dict[str, list[str]]:
    """Return the sources of each value, those of the URL first."""
    index: dict[str, list[str]] = defaultdict(list)
    for source in sorted(values, key=lambda name: (not name.startswith("url."), name)):
        if source in varying:
            for text in values[source]:
                if len(index[text]) < 12:
                    index[text].append(source)
    return index


class _Option(msgspec.Struct, frozen=True):
    """A stretch of a URL that equals a value."""

    start: int
    end: int
    source: str
    codings: frozenset[str]


def _candidates(
    request: ObservedRequest, page: str, index: Mapping[str, list[str]]
) -> Iterator[tuple[_Key, tuple[frozenset[str], ...]]]:
    """Yield the templates that a request may be an instance of."""
    url, kind = request.url, (request.method, request.resource)
    if any(is_secret(pair.partition("=")[0]) for pair in urlsplit(url).query.split("&") if pair):
        return
    for sources in _whole(url, page, index):
        for source in sources:
            yield (*kind, ("", source, "")), (frozenset((WHOLE,)),)
    options = list(islice(_options(url, index), _MAX_OPTIONS))
    chosen = (
        group
        for size in range(1, MAX_HOLES + 1)
        for group in combinations(options, size)
        if all(left.end <= right.start for left, right in pairwise(group))
    )
    for group in islice(chosen, _MAX_CANDIDATES):
        key, end = [], 0
        for option in group:
            key += [url[end : option.start], option.source]
            end = option.end
        key.append(url[end:])
        if not any(has_random(literal) for literal in key[::2]):
            yield (*kind, tuple(key)), tuple(option.codings for option in group)


def _whole(url: str, page: str, index: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield the sources whose value is the URL itself, absolute or not."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    folder = urlsplit(page).path.rpartition("/")[0] + "/"
    texts = [url, target, f"//{parts.netloc}{target}", target.removeprefix(folder)]
    for text in dict.fromkeys([*texts, *map(decode, texts)]):
        sources = [name for name in index.get(text, ()) if not name.startswith("url.")]
        if sources and ("/" in text or "." in text):
            yield sources


def _options(url: str, index: Mapping[str, list[str]]) -> Iterator[_Option]:
    offset = len(url) - len(url.partition("://")[2].partition("/")[2]) - 1
    query = url.find("?", offset)
    spans = sorted(_spans(url, offset, query if query >= 0 else len(url)))
    for start, end in spans:
        text = url[start:end]
        plus = 0 <= query < start
        decoded = decode(text, plus=plus)
        for value in dict.fromkeys((decoded, decode(text), decode(decode(text)))):
            for source in index.get(value, ()):
                codings = matching_codings(value, text)
                if codings:
                    yield _Option(start, end, source, codings)


def _spans(url: str, start: int, query: int) -> set[tuple[int, int]]:
    """Return the stretches of a URL that may be a value."""
    spans = {(query + 1, len(url))} if query < len(url) else set()
    path, at = url[start:query], start
    segments = []
    for segment in path.split("/"):
        if segment:
            segments.append((at, at + len(segment)))
        at += len(segment) + 1
    ends = [stop for _, end in segments for stop in _stops(url, end)]
    spans |= {(begin, stop) for begin, _ in segments[:12] for stop in ends[:40] if stop > begin}
    at = query + 1
    for pair in url[query + 1 :].split("&"):
        _, mark, value = pair.partition("=")
        if mark and value:
            spans.add((at + len(pair) - len(value), at + len(pair)))
        at += len(pair) + 1
    for run in _RUN.finditer(url, start):
        spans.add(run.span())
        spans |= {word.span() for word in _WORD.finditer(url, *run.span())}
    return spans


def _stops(url: str, end: int) -> list[int]:
    """Return the end of a segment, and the places before its extensions."""
    start = url.rfind("/", 0, end) + 1
    dots = [at for at in range(start + 1, end) if url[at] == "."]
    return [*dots[-2:], end]


def _template(
    key: _Key, sightings: Sequence[_Sighting], pages: Sequence[LearnedPage], after: str
) -> tuple[RequestTemplate | None, list[_Sighting]]:
    """Return the template of a candidate and its support; None if too few pages support it."""
    if len({item.page for item in sightings}) < MIN_PAGES:
        return None, []
    codings, support = list(sightings[0].codings), list[_Sighting]()
    for item in sightings:
        common = [old & new for old, new in zip(codings, item.codings, strict=True)]
        if all(common):
            codings, support = common, [*support, item]
    numbers = sorted({item.page for item in support})
    urls = {item.url for item in support}
    if len(numbers) < MIN_PAGES or len(urls) < MIN_PAGES:
        return None, []
    method, resource, texts = key
    order = [WHOLE, *CODINGS]
    parts: list[str | Hole] = [texts[0]]
    for source, literal, names in zip(texts[1::2], texts[2::2], codings, strict=True):
        parts += [Hole(source, min(names, key=order.index)), literal]
    template = RequestTemplate(
        method,
        tuple(part for part in parts if part != ""),
        _pattern([pages[at].url for at in numbers]),
        resource,
        after,
        len(numbers),
    )
    return template, support


def _pattern(urls: Sequence[str]) -> PagePattern:
    """Return the pattern of pages; of those whose last slash is rarer, none is in it."""
    steps = [page_steps(url) for url in urls]
    origin, has_slash = Counter((step[0], step[2]) for step in steps).most_common(1)[0][0]
    alike = [step[1] for step in steps if (step[0], step[2]) == (origin, has_slash)]
    prefix = alike[0]
    for path in alike:
        same = (left == right for left, right in zip(prefix, path, strict=False))
        prefix = prefix[: next((at for at, is_same in enumerate(same) if not is_same), len(path))]
    lengths = tuple(sorted(set(map(len, alike))))
    return PagePattern(origin, prefix, lengths, has_slash)


def _fit(
    template: RequestTemplate,
    support: Iterable[_Sighting],
    view: Sequence[tuple[int, Values]],
    pages: Sequence[LearnedPage],
) -> RequestTemplate | None:
    """Return the template with pages that make its requests; None if others are like them."""
    if _is_precise(template, view, pages):
        return template
    urls = {pages[item.page].url.partition("#")[0] for item in support}
    shapes = tuple(sorted({shaped(url).name for url in urls}))
    narrow = structs.replace(template, pages=structs.replace(template.pages, shapes=shapes))
    return narrow if _is_precise(narrow, view, pages) else None


def _is_precise(
    template: RequestTemplate, view: Iterable[tuple[int, Values]], pages: Sequence[LearnedPage]
) -> bool:
    """Return whether pages of its pattern make the requests that it says."""
    hit, filled = _precision(template, view, pages)
    return hit >= MIN_PAGES and hit >= MIN_PRECISION * filled


def _precision(
    template: RequestTemplate, view: Iterable[tuple[int, Values]], pages: Sequence[LearnedPage]
) -> tuple[int, int]:
    """Return how many of the requests of a template were made by pages of its pattern."""
    filled = hit = 0
    for at, values in view:
        page = pages[at]
        if template.after or template.pages.matches(page.url):
            urls = template.fill(page.url, values)
            filled += len(urls)
            hit += sum(url in page.requested for url in urls)
    return hit, filled
