"""Documents as their authorities read them: for the decided differences of the table of links.

Each function takes a row and Nacre's links, `(hop, URL, context)`, and is true where these are the
ones that an authority gives: an HTML parser that is not ours, or a clause written down here.
"""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin

import ada_url

from nacre.uri.parse import IGNORED_SCHEMES
from tests.cases.table import Row
from tests.cases.tables.extract_html import Links, normal, wanted_of

_ALL = {"exact_set", "exact_list", "exact_list_raw", "exact_set_raw"}


def expected(row: Row) -> set[tuple[str | None, str, str | None]]:
    """The row's links; None for what it does not say of one."""
    return {(item.get("hop"), normal(item["url"]), item.get("context")) for item in wanted_of(row)}


def _urls(links: Links) -> set[str]:
    return {url for _, url, _ in links}


def _expected_urls(row: Row) -> set[str]:
    return {url for _, url, _ in expected(row)}


def _resolve(row: Row, text: str) -> str:
    """As a browser resolves a reference of the document."""
    return str(ada_url.URL(text, row["base"] or "http://example.com/").href).partition("#")[0]


def _kept(row: Row, links: Links, gone: set[str]) -> bool:
    """The row's links less the URLs that have gone, and nothing else."""
    left = {url for url in _expected_urls(row) if url not in gone}
    return row["match"] in _ALL and _urls(links) == left and left != _expected_urls(row)


def _more(row: Row, links: Links, more: set[tuple[str, str]]) -> bool:
    """The row's links as they are, and for each of `more` one of that hop and URL."""
    rest = {(hop, url) for hop, url, _ in links} - more
    wanted = {(hop, url) for hop, url, _ in expected(row)}
    return (
        bool(more)
        and row["match"] in _ALL
        and wanted - more == rest
        and more <= {(hop, url) for hop, url, _ in links}
    )


# --- HTML, by the parser of Python's library -----------------------------------------------------

_EMBEDS = {
    ("video", "poster"): "E", ("html", "manifest"): "E", ("input", "src"): "E",
    ("image", "xlink:href"): "E", ("image", "href"): "E", ("use", "xlink:href"): "E",
    ("use", "href"): "E", ("feimage", "href"): "E", ("feimage", "xlink:href"): "E",
    ("img", "dynsrc"): "E", ("img", "datasrc"): "E", ("a", "ping"): "X", ("area", "ping"): "X",
    ("button", "formaction"): "X", ("input", "formaction"): "X",
}  # fmt: skip
"""What an attribute refers to (HTML, SVG); `ping` and `formaction` are told of, not shown."""
_EMBEDDING_RELATIONS = {
    "preload", "manifest", "apple-touch-icon", "apple-touch-startup-image", "mask-icon",
    "image_src", "modulepreload", "apple-touch-icon-precomposed",
}  # fmt: skip
_PICTURES = re.compile(r"(?:og|twitter):(?:image|video|audio)|msapplication-|thumbnail|image$")


class _References(HTMLParser):
    """Elements with their attributes, the first of two equal ones (HTML Standard, 13.2.5.33)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        first: dict[str, str] = {}
        for name, value in attrs:
            first.setdefault(name, value or "")
        self.elements.append((tag, first))


def _overlooked(row: Row) -> Iterator[tuple[str, str]]:
    """(hop, URL) of the references that Heritrix does not take, or takes for speculative ones."""
    for tag, attributes in _References(row["document"]).elements:
        for name, value in attributes.items():
            if hop := _EMBEDS.get((tag, name)):
                yield hop, _resolve(row, value)
        relations = set(attributes.get("rel", "").lower().split())
        if tag == "link" and relations & _EMBEDDING_RELATIONS:
            yield "E", _resolve(row, attributes.get("href", ""))
        told = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
        if tag == "meta" and _PICTURES.search(told or "") and attributes.get("content"):
            yield "E", _resolve(row, attributes["content"])


def overlooked_by_heritrix(row: Row, links: Links) -> bool:
    """Gaps of its table: posters, pings, manifests, preloads, SVG, pictures for other sites.

    The row's links, these too, with the hop of an embed; a `ping` is speculative.
    """
    if row["extractor"] != "html" or row["origin"] != "upstream-run":
        return False
    gaps = set(_overlooked(row))
    urls = {url for _, url in gaps}
    rest = {(hop, url) for hop, url, _ in expected(row) if url not in urls}
    return bool(gaps) and {(hop, url) for hop, url, _ in links} == rest | gaps


_LINKING = {
    ("a", "href"), ("area", "href"), ("img", "src"), ("script", "src"), ("link", "href"),
    ("frame", "src"), ("iframe", "src"), ("embed", "src"), ("source", "src"), ("form", "action"),
    ("body", "background"), ("video", "src"), ("audio", "src"), ("track", "src"), ("input", "src"),
}  # fmt: skip


def as_a_parser_reads(row: Row, links: Links) -> bool:
    """The references of the elements that an HTML parser finds in the document, and no others.

    HTML Standard: the first of two equal attributes counts, `<?` begins a comment, title, textarea
    and xmp hold text, quotes hold `>`, a tag that never ends is none, a base holds for all.
    """
    if row["extractor"] != "html" or row["origin"] != "upstream-run" or set(_overlooked(row)):
        return False
    elements = _References(_without_text(row["document"])).elements
    base = next((a["href"] for tag, a in elements if tag == "base" and "href" in a), "")
    place = {**row, "base": urljoin(row["base"], base)}
    found = {
        _resolve(place, attributes[name].strip())
        for tag, attributes in elements
        for name in attributes
        if (tag, name) in _LINKING and attributes[name].strip()
    }
    return _urls(links) == found and found != _expected_urls(row)


def _without_text(document: str) -> str:
    """Elements that hold nothing but text go with it; an element that never ends is none."""
    text = re.sub(
        r"<(title|textarea|xmp|iframe|noembed|noframes)\b([^>]*)>.*?(?:</\1\s*>|\Z)",
        r"<\1\2></\1>",
        document,
        flags=re.IGNORECASE | re.DOTALL,
    )
    return re.sub(r"<plaintext\b.*", "", text, flags=re.IGNORECASE | re.DOTALL)


def archives_of_an_applet(row: Row, links: Links) -> bool:
    """`archive` is a list with commas (HTML 4.01, 13.4), which Heritrix splits at spaces."""
    lists = {url for url in _expected_urls(row) if "," in url}
    parts = {urljoin(url, part.strip()) for url in lists for part in _names_of(url)}
    return (
        bool(lists)
        and row["match"] in _ALL
        and (_urls(links) == (_expected_urls(row) - lists) | parts)
    )


def _names_of(url: str) -> list[str]:
    return url.rpartition("/")[2].split(",")


# --- XML and JSON --------------------------------------------------------------------------------


def without_namespaces(row: Row, links: Links) -> bool:
    """The name of an XML namespace only looks like a link."""
    names = re.findall(r"\sxmlns(?::[\w-]+)?=[\"']([^\"']+)", row.get("document", ""))
    return row["extractor"] == "xml" and _kept(row, links, {normal(name) for name in names})


def style_sheets_of_xml(row: Row, links: Links) -> bool:
    """A browser that shows the document loads what `<?xml-stylesheet` names."""
    names = re.findall(r"<\?xml-stylesheet[^?]*\bhref=[\"']([^\"']+)", row.get("document", ""))
    return _more(row, links, {("E", _resolve(row, name)) for name in names})


def lists_by_content(row: Row, links: Links) -> bool:
    """What begins as a sitemap or a feed is read as one: the same URLs, as hops of M, L or E."""
    begins = re.search(r"<(urlset|sitemapindex|rss|feed|rdf:RDF)\b", row.get("document", ""))
    hops = {hop for hop, _, _ in links}
    wanted = {"M"} if begins and begins[1] in {"urlset", "sitemapindex"} else {"L", "E", "M"}
    return (
        row["extractor"] == "xml"
        and begins is not None
        and bool(hops)
        and hops <= wanted
        and _urls(links) == _expected_urls(row)
    )


def more_of_xml(row: Row, links: Links) -> bool:
    """URLs in running text and in lists, references of SVG and XInclude, are links of XML too."""
    if row["extractor"] != "xml" or row["match"] != "exact_set":
        return False
    more = _urls(links) - _expected_urls(row)
    names = set(re.findall(r"\b(?:href|src|url)\s*=\s*[\"']([^\"']+)", row["document"]))
    told = {_resolve(row, name) for name in names}
    told |= {normal(url) for url in re.findall(r"https?://[^\s<>\"']+", row["document"])}
    return bool(more) and _expected_urls(row) <= _urls(links) and more <= told


def broken_json(row: Row, links: Links) -> bool:
    """A truncated reply still holds links: the strings of it that are URLs."""
    if row["extractor"] != "json" or not row.get("error"):
        return False
    try:
        json.loads(row["document"])
    except ValueError:
        found = re.findall(r"\"(https?://[^\"\s]+)\"", row["document"])
        return _urls(links) == {normal(url) for url in found}
    return False


# --- other texts ---------------------------------------------------------------------------------


def plain_text(row: Row, links: Links) -> bool:
    """Running text is not searched, as in Heritrix's stock profile: no link."""
    return row["extractor"] == "plain-text" and not links


def _link_headers(row: Row) -> list[tuple[str, set[str]]]:
    """RFC 8288: target and relations of each link."""
    text = str((row.get("headers") or {}).get("Link", ""))
    return [
        (
            match[1],
            set(re.findall(r"[\w-]+", (re.findall(r"rel=\"?([\w -]+)", match[2]) or [""])[0])),
        )
        for match in re.finditer(r"<?([^<>,; ]+)>([^,<]*)", text)
    ]


def only_a_connection(row: Row, links: Links) -> bool:
    """`rel=preconnect` and `dns-prefetch` name a host to connect to, nothing to fetch."""
    gone = {
        normal(url)
        for url, relations in _link_headers(row)
        if relations & {"preconnect", "dns-prefetch"}
    }
    return _kept(row, links, gone)


def link_header(row: Row, links: Links) -> bool:
    """A Link header is a link element by other means (RFC 8288), which Heritrix does not read."""
    embeds = {
        ("E", _resolve(row, url))
        for url, relations in _link_headers(row)
        if relations & {"stylesheet", "icon", "preload", "manifest"}
    }
    return row["extractor"] == "http" and _more(row, links, embeds)


def escaped_otherwise(row: Row, links: Links) -> bool:
    """The same links; what Heritrix escapes in a URL, and a browser does not, stands as it is."""
    if row["extractor"] not in {"css", "html", "js", "xml"} or row["match"] != "exact_set":
        return False
    wanted = {(hop, _plain(url), context) for hop, url, context in expected(row)}
    same = wanted == {(hop, _plain(url), context) for hop, url, context in links}
    another = _urls(links) != _expected_urls(row)
    return same and another and all(url == _resolve(row, url) for url in _urls(links))


def _plain(url: str) -> str:
    return unquote(url).replace("\\", "/")


def nothing_to_fetch(row: Row, links: Links) -> bool:
    """Heritrix leaves it to the scope to drop `mailto:` and the like, and impossible hosts."""
    gone = {
        url
        for url in _expected_urls(row)
        if url.partition(":")[0] in IGNORED_SCHEMES or (":" in url and not ada_url.check_url(url))
    }
    return _kept(row, links, gone)


def _code_alone(script: str) -> str:
    """A script without its comments and templates (ECMAScript 12.4, 12.9.6); strings stay."""
    token = re.compile(
        r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`",
        re.DOTALL,
    )
    return token.sub(lambda match: match[1] or " ", script)


def only_strings(row: Row, links: Links) -> bool:
    """Comments hold no strings, templates are none of Heritrix's, an address of mail is no page."""
    if row["extractor"] not in {"js", "html"} or row["origin"] != "upstream-run":
        return False
    code = _code_alone(row["document"])
    told = {normal(item["url"]): unquote(item["url"].rpartition("/")[2]) for item in wanted_of(row)}
    gone = {
        url
        for url, name in told.items()
        if "@" in name or (name in row["document"] and name not in code)
    }
    return _kept(row, links, gone)


_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")


def escaped_in_css(row: Row, links: Links) -> bool:
    r"""CSS Syntax 4.3.7: `\67 ` is the letter g; Heritrix keeps the backslash and the digits."""
    if row["origin"] != "upstream-run" or row["extractor"] not in {"css", "html"}:
        return False
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), row["document"])
    return plain != row["document"] and _urls(links) == set(_references_of_css(row, plain))


def references_of_css(row: Row, links: Links) -> bool:
    """CSS Syntax: comments and strings refer to nothing; @import, url() and image-set() do.

    @import takes a string or url(), behind a space or none; image-set() takes strings.
    """
    if row["extractor"] != "css" or _ESCAPE.search(row["document"]):
        return False
    found = set(_references_of_css(row, row["document"]))
    return _urls(links) == found and found != _expected_urls(row)


def _references_of_css(row: Row, text: str) -> Iterator[str]:
    text = re.sub(r"/\*.*?(?:\*/|\Z)", "", text, flags=re.DOTALL)
    string = r"\"((?:\\.|[^\"\\\n])*)\"|'((?:\\.|[^'\\\n])*)'"
    pattern = (
        rf"url\(\s*(?:{string}|([^\"'()\s]+))\s*\)|@import\s*(?:{string})"
        rf"|image-set\(\s*(?:{string})|(?:{string})"
    )
    for match in re.finditer(pattern, text, re.IGNORECASE):
        groups = match.groups()
        target = next((group for group in groups[:-2] if group), "")
        if target:
            yield _resolve(row, target)
