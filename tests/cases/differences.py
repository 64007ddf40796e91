"""Where Nacre rightly answers otherwise than a row: each with the authority that answers so.

A predicate is given the row and Nacre's answer, and is true only where this answer is what the
authority says, computed by other means than Nacre's or quoted. See `Difference`.
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from tests.cases import markup, rfc9309, spellings
from tests.cases.table import Difference, Row
from tests.cases.tables import robots, robots_meta, warc_bad

# --- sitemaps ------------------------------------------------------------------------------------


def _listed(row: Row) -> list[str]:
    """The URLs of all complete `loc` elements, in order, each once."""
    found = re.findall(r"<loc>\s*([^<]*?)\s*</loc>", row.get("document", ""))
    return list(dict.fromkeys(found))


def _all_locations(row: Row, answer: Any) -> bool:
    return bool(answer) and [url for url, _, _ in answer] == _listed(row)


def _outside_too(row: Row, answer: Any) -> bool:
    """The row has those in the sitemap's folder alone; `www.` makes no other host to the peer."""
    folder = _place(row["url"].rpartition("/")[0] + "/")
    inside = [url for url in _listed(row) if _place(url).startswith(folder)]
    told = [entry["url"] for entry in row.get("expected") or []]
    strict = "strict=true" in row["parser_config"] and "error" not in row
    return strict and told == inside != _listed(row) and _all_locations(row, answer)


def _place(url: str) -> str:
    """A URL without its scheme and `www.`."""
    return url.partition("://")[2].removeprefix("www.")


def _broken_xml(row: Row, answer: Any) -> bool:
    """What a truncated sitemap lists are pages all the same."""
    try:
        ElementTree.fromstring(row.get("document", ""))
    except ElementTree.ParseError:
        return "error" in row and _all_locations(row, answer)
    return False


def _any_namespace(row: Row, answer: Any) -> bool:
    return (
        "error" in row
        and "strictNamespace=true" in row["parser_config"]
        and _all_locations(row, answer)
    )


_ATOM = "{http://www.w3.org/2005/Atom}"


def _every_alternate(row: Row, answer: Any) -> bool:
    """RFC 4287, 4.2.7.2: a link without `rel` is an alternate."""
    if row.get("type") != "ATOM":
        return False
    feed = ElementTree.fromstring(row["document"].encode())
    links = [link for entry in feed.iter(f"{_ATOM}entry") for link in entry.iter(f"{_ATOM}link")]
    alternates = [link.get("href") for link in links if link.get("rel", "alternate") == "alternate"]
    return [url for url, _, _ in answer] == alternates


# --- robots.txt ----------------------------------------------------------------------------------


def _as_the_rfc_says(row: Row, answer: Any) -> bool:
    told = rfc9309.told(robots.text_of(row), row["agent"])
    allowed = rfc9309.allowed(told.rules, robots.target_of(row["url"]))
    return bool(answer == (allowed, told.delay))


def _file_as_the_rfc_says(row: Row, answer: Any) -> bool:
    text = robots.text_of(row)
    told = rfc9309.told(text, ",".join(row["agents"]))
    sitemaps = tuple(value for name, value in rfc9309.lines_of(text) if name == "sitemap")
    allowed = tuple(rfc9309.allowed(told.rules, probe) for probe in robots_meta.PROBES)
    return bool(answer == (told.delay, sitemaps, allowed))


# --- DecideRules ---------------------------------------------------------------------------------

_POSITIVE = {"SurtPrefixedDecideRule", "OnHostsDecideRule", "OnDomainsDecideRule"}
_FETCHED = {"http", "https", "dns"}
"""The schemes of a crawl by default (docs/architecture.md)."""


def _scheme_is_not_fetched(row: Row, answer: Any) -> bool:
    return (
        row["rule"] == "SchemeNotInSetDecideRule"
        and "schemes" not in row["config"]
        and urlsplit(row["uri"]["url"]).scheme not in _FETCHED
        and answer == row["config"].get("decision", "REJECT")
    )


def _decided(row: Row, answer: Any, inside: Callable[[str], bool]) -> bool:
    """The rule's decision where one of the URLs that it looks at is inside; else the reverse."""
    config, uri = row["config"], row["uri"]
    urls = [uri["url"], *([uri["via"]] if config.get("alsoCheckVia") and uri.get("via") else [])]
    positive = row["rule"] in _POSITIVE
    if not positive and not row["rule"].startswith("Not"):
        return False
    hit = any(inside(url) for url in urls)
    return bool(answer == (config.get("decision", "ACCEPT") if hit is positive else "NONE"))


def _seed_without_a_slash(row: Row, answer: Any) -> bool:
    """Heritrix's manual: such a seed lets subdomains in. Its code adds the slash first."""
    seeds = row["config"].get("seeds", []) if isinstance(row["config"], dict) else []
    hosts = [urlsplit(seed).hostname for seed in seeds if re.fullmatch(r"\w+://[^/]+", seed)]

    def inside(url: str) -> bool:
        name = (urlsplit(url).hostname or "").rstrip(".")
        return any(host and (name == host or name.endswith(f".{host}")) for host in hosts)

    return bool(hosts) and _decided(row, answer, inside)


def _members(url: str) -> str:
    """Host and port of a URL as a SURT has them: `com,example,www,:8080`."""
    parts = urlsplit(url.lower())
    names = ",".join(reversed((parts.hostname or "").rstrip(".").split("."))) + ","
    return names + (f":{parts.port}" if parts.port else "")


def _prefix_without_a_plus(row: Row, answer: Any) -> bool:
    """A line with a bracket before its host is a SURT prefix, with or without its `+`."""
    text = row["config"].get("surtsText", "") if isinstance(row["config"], dict) else ""
    prefixes = re.findall(r"(?m)^(?:\w+://)?\(([a-z0-9,.-]+)(\)?.*)$", text)
    if row["rule"] == "OnHostsDecideRule":
        prefixes = [(members, ")") for members, _ in prefixes]

    def inside(url: str) -> bool:
        path = urlsplit(url.lower()).path
        return any(
            _members(url) == members and f"){path}".startswith(rest)
            if rest
            else _members(url).startswith(members)
            for members, rest in prefixes
        )

    return bool(prefixes) and _decided(row, answer, inside)


# --- replies, WARCs ------------------------------------------------------------------------------


def _limit_counts_what_came(row: Row, answer: Any) -> bool:
    """As many bytes as came, up to the limit; what they decode to does not count."""
    body = base64.b64decode(row["reply_base64"]).partition(b"\r\n\r\n")[2]
    limit = row.get("expected", {}).get("limit")
    if not limit or answer is None or not isinstance(answer, tuple):
        return False
    return answer == (min(len(body), limit), "length" if len(body) > limit else None)


def _repeated_id(row: Row, answer: Any) -> bool:
    return warc_bad.repeats_an_id(row) and answer == {"id-repeated"}


def _differences() -> Iterator[Difference]:
    for table, applies in (
        ("uuri", spellings.is_the_standards),
        ("url_normalize_crawlercommons", spellings.resolved),
        ("url_util_nutch", spellings.resolved),
    ):
        yield Difference(
            table,
            "as the URL Standard says",
            "Nacre requests what a browser requests; peers' tolerance only where that is nothing.",
            applies,
        )
    for table in ("uuri", "urltest", "url_normalize_crawlercommons"):
        yield Difference(
            table,
            "an empty link",
            "`href=''` is the page itself (HTML Standard 2.4.3): no outlink.",
            spellings.no_link,
        )
    for table in ("urltest", "idna_toascii"):
        yield Difference(
            table,
            "dots around a host",
            "Heritrix's tolerance: `example.com.` is the host `example.com`, one queue, one page.",
            spellings.dots_dropped,
        )
    for table in ("uuri", "urltest"):
        yield Difference(
            table,
            "blanks behind a host, NBSP around a URL",
            "Heritrix's tolerance: browsers refuse `http://example.com /`; without the blank it is "
            "a URL.",
            spellings.blanks_dropped,
        )
    yield Difference(
        "url_normalize_crawlercommons",
        "links between files",
        "A link to a file of some machine names nothing that a crawl could fetch.",
        spellings.between_files,
    )


DIFFERENCES: list[Difference] = [
    *_differences(),
    Difference(
        "surt",
        "userinfo",
        "Heritrix's dialect keeps it; urlcanon's drops it.",
        spellings.keeps_the_login,
    ),
    *(
        Difference(
            table,
            "dns and unknown schemes",
            "The surt library and pywb keep `dns:` URIs as they are and read the host of any URL; "
            "the Java classes turn them around, and take schemes that they do not know for hosts.",
            spellings.keeps_unknown_schemes,
        )
        for table in ("surt", "url_canonical")
    ),
    Difference(
        "surt",
        "addresses and ports are closed",
        "`http://10.0.0.1` must not also mean 10.0.0.12: an address or a port has no subdomains.",
        spellings.closed,
    ),
    Difference(
        "url_canonical",
        "a fixed point",
        "Heritrix's form changes when it is canonicalised again; Nacre's is the one that does not.",
        spellings.canonical_for_good,
    ),
    Difference(
        "url_canonical",
        "IPv4 as the URL Standard reads it",
        "URL Standard, 3.5 (IPv4 parser).",
        spellings.address_of_the_standard,
    ),
    Difference(
        "url_canonical",
        "the URL Standard of today",
        "urlcanon follows an older one, and repairs URLs of schemes that it does not know.",
        spellings.key_of_the_standards_url,
    ),
    Difference(
        "url_canonical",
        "escaped tabs and line feeds",
        "URL Standard, 4.4: it drops them where they stand as such, so that they stay escaped.",
        spellings.still_escaped,
    ),
    Difference(
        "url_canonical",
        "backslashes",
        "URL Standard, 4.4: they are slashes in special URLs, and no part of another host.",
        spellings.path_of_the_standard,
    ),
    Difference(
        "url_canonical",
        "hosts that cannot be, line separators",
        "The surt library, which index keys follow, keeps U+2028 and U+2029, and drops a host of "
        "dots.",
        spellings.key_of_the_library,
    ),
    Difference(
        "url_canonical",
        "empty parameters and odd sessions",
        "urlcanon drops them from a query; the surt library, and so every index, keeps them.",
        spellings.query_of_the_library,
    ),
    Difference(
        "likely_uri",
        "other schemes than http and https",
        "A guess is only worth a fetch that the crawl can make; the row's rule is the older one.",
        spellings.is_no_guess,
    ),
    Difference(
        "likely_uri",
        "shapes that only the older rule takes",
        "Heritrix's newer rule (UriUtils.isVeryLikelyUri).",
        spellings.is_of_the_older_rule,
    ),
    Difference(
        "http_replies",
        "a length limit counts bytes as received",
        "Bodies are stored as sent, so the limit does not count what they decode to, as Nutch's.",
        _limit_counts_what_came,
    ),
    Difference(
        "sitemap",
        "strict location",
        "Whether a URL outside the sitemap's folder is followed, the scope and the robots.txt of "
        "its host decide; the extractor gives all.",
        _outside_too,
    ),
    Difference(
        "sitemap",
        "broken XML",
        "It is read as far as it goes: what a truncated sitemap lists are pages all the same.",
        _broken_xml,
    ),
    Difference(
        "sitemap",
        "strict namespace",
        "Sitemaps with a wrong namespace are common and mean what they say.",
        _any_namespace,
    ),
    Difference(
        "sitemap",
        "every alternate of an Atom entry",
        "The peer takes one link of an entry; an archive wants each of its representations.",
        _every_alternate,
    ),
    Difference(
        "extract_html",
        "plain text",
        "Heritrix's stock profile does not search running text: what it names is no link.",
        markup.plain_text,
    ),
    Difference(
        "extract_html",
        "broken JSON",
        "It is read as far as it goes: a truncated reply still holds links.",
        markup.broken_json,
    ),
    Difference(
        "extract_html",
        "names of XML namespaces",
        "Namespaces in XML 1.0, 2: a name, which need not be a place.",
        markup.without_namespaces,
    ),
    Difference(
        "extract_html",
        "Link: rel=preconnect",
        "Resource Hints: names a host to connect to, nothing to fetch.",
        markup.only_a_connection,
    ),
    Difference(
        "extract_html",
        "Link header",
        "Heritrix does not read it; it is a link element by other means (RFC 8288).",
        markup.link_header,
    ),
    Difference(
        "extract_html",
        "references that Heritrix overlooks or takes for mere links",
        "HTML Standard, 4.8, and SVG: poster, ping, manifest, preload, pictures for other sites.",
        markup.overlooked_by_heritrix,
    ),
    Difference(
        "extract_html",
        "escapes of the URL Standard",
        "Nacre asks for a URL as browsers write it; Heritrix escapes brackets and the like.",
        markup.escaped_otherwise,
    ),
    Difference(
        "extract_html",
        "archive of an applet",
        "HTML 4.01, 13.4: a list with commas, which Heritrix splits at spaces.",
        markup.archives_of_an_applet,
    ),
    Difference(
        "extract_html",
        "style sheets of XML",
        "Associating Style Sheets with XML documents: a browser that shows one loads them.",
        markup.style_sheets_of_xml,
    ),
    Difference(
        "extract_html",
        "sitemaps and feeds by their content",
        "What begins as a sitemap or a feed is read as one (hops M, L, E), by one extractor and "
        "not by two.",
        markup.lists_by_content,
    ),
    Difference(
        "extract_html",
        "more of XML",
        "URLs in running text and in lists, and the references of SVG and XInclude, are links too.",
        markup.more_of_xml,
    ),
    Difference(
        "extract_html",
        "nothing to fetch",
        "Heritrix leaves it to the scope to drop `mailto:` and the like, and hosts that cannot be.",
        markup.nothing_to_fetch,
    ),
    Difference(
        "extract_html",
        "scripts as browsers read them",
        "ECMAScript, 12.4: comments hold no strings; the address of a mailbox is no page.",
        markup.only_strings,
    ),
    Difference(
        "extract_html",
        "escapes in style sheets",
        "CSS Syntax 4.3.7: `\\67 ` is the letter g; Heritrix keeps the backslash and the digits.",
        markup.escaped_in_css,
    ),
    Difference(
        "extract_html",
        "style sheets as browsers read them",
        "CSS Syntax: comments and strings refer to nothing, @import takes a string or url().",
        markup.references_of_css,
    ),
    Difference(
        "extract_html",
        "markup that a browser reads otherwise",
        "HTML Standard, 13.2, by the parser of Python's library.",
        markup.as_a_parser_reads,
    ),
    Difference(
        "warc_bad",
        "a repeated record id",
        "ISO 28500, 5.2: record ids are unique. The judge does not compare the ids of a file.",
        _repeated_id,
    ),
    Difference(
        "robots",
        "as RFC 9309 says",
        "2.2.1: a line names one crawler, product tokens are equal or not, and have no spaces; "
        "2.2.2 and 2.2.3: escapes of unreserved characters are decoded first, `%24` and `%2A` are "
        "the characters themselves. Google's matcher compares bytes, crawler-commons, protego and "
        "Heritrix look for names within names.",
        _as_the_rfc_says,
    ),
    Difference(
        "robots_meta",
        "as RFC 9309 says",
        "2.2: robots.txt is plain text, and a line has a field name. The peer also takes markup "
        "and bare URLs, and a delay beyond its limit for a prohibition.",
        _file_as_the_rfc_says,
    ),
    Difference(
        "decide_rules",
        "schemes that can be fetched",
        "By default they are http, https and dns: Nacre speaks neither FTP, SFTP nor whois.",
        _scheme_is_not_fetched,
    ),
    Difference(
        "decide_rules",
        "seeds without a slash behind the host",
        "They let subdomains in, as Heritrix's manual says; its code adds the slash first, so that "
        "they never do.",
        _seed_without_a_slash,
    ),
    Difference(
        "decide_rules",
        "SURT prefixes without a plus",
        "A line with a bracket before its host is a SURT prefix and nothing else; Heritrix drops "
        "it where the `+` is missing.",
        _prefix_without_a_plus,
    ),
]
