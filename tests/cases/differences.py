"""Where Nacre rightly answers otherwise than a row: general, named, each with its reason."""

import re
from xml.etree import ElementTree

from tests.cases import markup, spellings
from tests.cases.table import Difference, Row
from tests.cases.tables import (
    decide_rules,
    robots,
    sitemap,
    warc_bad,
)


def _gives_those_outside_too(row: Row) -> bool:
    """A strict reading leaves out URLs outside the sitemap's folder; but for these it is the same.

    `www.` makes no other host to the peer.
    """
    folder = _place(row["url"].rpartition("/")[0] + "/")
    found = sitemap.listed(row)
    inside = [link for link in found if _place(link.url).startswith(folder)]
    strict = "strict=true" in row["parser_config"]
    return strict and len(inside) < len(found) and sitemap.compare(row, inside) is None


def _place(url: str) -> str:
    """A URL without its scheme and `www.`."""
    return url.partition("://")[2].removeprefix("www.")


def _ill_formed(row: Row) -> bool:
    try:
        ElementTree.fromstring(row.get("document", ""))
    except ElementTree.ParseError:
        return "<loc>" in row.get("document", "")
    return False


def _several_links_an_entry(row: Row) -> bool:
    entries = re.findall(r"<entry>.*?</entry>", row.get("document", ""), re.DOTALL)
    return any(len(re.findall(r"<link[^>]*(?:alternate|/)", entry)) > 1 for entry in entries)


_DECODED_ESCAPE = re.compile(r"%(?:2[4ADE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)", re.IGNORECASE)
_NO_URL_CHARACTER = re.compile(
    r"(?im)^\s*(?:dis)?allow\s*:[^#\r\n]*\S(?:[ \t]+[^\s#]|[\"<>\\^`{|}])"
)


def _as_google_says(row: Row) -> bool:
    return robots.google_is_asked(row) and robots.verdict_of(row).allowed is row["google_verdict"]


def _named_second(row: Row) -> bool:
    """The agent stands on a User-agent line behind another name."""
    lines = re.findall(r"(?i)\buser-agent:[ \t]*\w+[ \t,]+(\w[^\r\n#]*)", row.get("robots", ""))
    named = {name for line in lines for name in re.split(r"[\s,]+", line.lower())}
    return not named.isdisjoint(row["agent"].lower().split(","))


_LONG_DELAY = re.compile(r"(?i)crawl-delay\s*:\s*0*(?:30[1-9]|3[1-9]\d|[4-9]\d\d|\d{4,})\b")
"""More than the 300 seconds that crawler-commons accepts."""


_UNKNOWN_TO_JAVA = re.compile(
    r"(?!(?:https?|ftp|dns|filedesc|warcinfo):)[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE
)


def _named_by_a_beginning(row: Row) -> bool:
    """A User-agent line names what the agent begins with, and none names the agent."""
    lines = re.findall(r"(?im)^\s*user-agent\s*:\s*([^\s#/*]+)", row.get("robots", ""))
    agent, names = row["agent"].lower(), {line.lower() for line in lines}
    return agent not in names and agent.startswith(tuple(names))


_MISSPELT = re.compile(
    r"(?im)^\s*(?:(?!(?:dis+al+ow|diasllow|disallaw))d[aeis]*s+al+[aeo]w|use[gr]?s?-ag(?!ent)\w+"
    r"|useg-agent|ser-agent|users-agent)\s*:"
)


def _config_of(row: Row, rule: str) -> list[Row]:
    return [config for name, config in decide_rules.rules_of(row) if name.endswith(rule)]


DIFFERENCES: list[Difference] = [
    Difference(
        "uuri",
        "as the URL Standard says",
        "Nacre requests what a browser requests; Heritrix's tolerance only where that is nothing.",
        spellings.as_the_standard_says,
    ),
    Difference(
        "uuri",
        "spaces after a host that Heritrix refuses",
        "They are dropped whatever the host, of which a browser decides whether it can be.",
        lambda row: bool(row.get("error")) and spellings.trimmed_by_heritrix(row),
    ),
    Difference(
        "uuri",
        "an empty link",
        "`href=''` is the page itself: no outlink.",
        spellings.no_link,
    ),
    Difference(
        "urltest",
        "an empty link",
        "`href=''` is the page itself: no outlink.",
        spellings.no_link,
    ),
    Difference(
        "urltest",
        "dots around a host",
        "Heritrix's tolerance: `example.com.` is the host `example.com`, one queue, one page.",
        spellings.dots_around_a_host,
    ),
    Difference(
        "idna_toascii",
        "dots around a host",
        "The same: a host name is compared and requested without the dot of the root.",
        spellings.dots_around_a_host,
    ),
    Difference(
        "urltest",
        "spaces after a host, NBSP around a URL",
        "Heritrix's tolerance: browsers refuse `http://example.com /`; without the space it works.",
        spellings.trimmed_by_heritrix,
    ),
    Difference(
        "surt",
        "options of the library",
        "The index key has one form, the one that pywb, cdxj-indexer and OutbackCDX use.",
        spellings.uses_options,
    ),
    Difference(
        "surt",
        "other dialects",
        "Nacre writes Heritrix's dialect and the index key. Prefixes are looked up in a sorted "
        "set, which needs no sequence of shorter and shorter ones.",
        lambda row: bool(re.match(r"tokenizer-sequence|ssurt:(?!surt$)", row["form"])),
    ),
    Difference(
        "surt",
        "userinfo",
        "Heritrix's dialect keeps it; urlcanon's drops it.",
        lambda row: row["form"] == "ssurt:surt" and "@" in row["input"],
    ),
    Difference(
        "surt",
        "dns and unknown schemes",
        "The surt library and pywb keep `dns:` URIs as they are; the Java key maker reverses them, "
        "and takes schemes that it does not know for hosts.",
        lambda row: (
            row["form"] == "WaybackURLKeyMaker"
            and bool(re.match("dns:", row["input"]) or _UNKNOWN_TO_JAVA.match(row["input"]))
        ),
    ),
    Difference(
        "surt",
        "no normalised URL",
        "SURTs are made of normalised URLs, which begin with a letter, end no host with a dot and "
        "have a slash behind it; and an IPv6 address is a host.",
        lambda row: (
            (
                row["form"] == "Heritrix"
                and bool(re.match(r"[^a-z]|\w+://[^/:]*\.(?:[/:]|$)|\w+://[^/]*[?#]", row["input"]))
            )
            or (row["form"] == "prefix-from-uri" and bool(re.match(r"[.+]", row["input"])))
            or (row["form"] == "candidate-surt" and bool(row.get("error")) and "[" in row["input"])
        ),
    ),
    Difference(
        "surt",
        "addresses and ports are closed",
        "`http://10.0.0.1` must not also mean 10.0.0.12: an address or a port has no subdomains.",
        lambda row: (
            row["form"] == "prefix-from-uri"
            and bool(re.match(r"(?:\w+://)?(?:[0-9.]+|\[.*\]|[^/]*:\d+)$", row["input"]))
        ),
    ),
    Difference(
        "url_canonical",
        "a fixed point",
        "Heritrix drops one `&`, `?` or `www.` at a time, so its form changes when canonicalised "
        "again; Nacre drops all.",
        spellings.changes_when_repeated,
    ),
    Difference(
        "url_canonical",
        "IPv4 as the URL Standard reads it",
        "`10.0.258` is 10.0.1.2, and a number too large is no address.",
        lambda row: row["rule"].endswith("attemptIPFormats"),
    ),
    Difference(
        "url_canonical",
        "the URL Standard of today",
        "urlcanon follows an older one, lets a host be `%` or dots alone and a URL have no scheme, "
        "and takes each character below 256 for a byte of UTF-8.",
        spellings.differs_by_urlcanon,
    ),
    Difference(
        "url_canonical",
        "unknown schemes",
        "The URL Standard leaves URLs of schemes that it does not know nearly as they are; "
        "urlcanon repairs them as if they were http.",
        lambda row: (
            row["rule"] == "urlcanon.semantic_precise"
            and bool(re.match(r"(?i)(?!(?:https?|ftp|file|wss?):)[a-z][a-z0-9+.-]*:", row["input"]))
        ),
    ),
    Difference(
        "url_canonical",
        "escaped tabs and line feeds",
        "The URL Standard drops them where they stand as such, so that they must stay escaped.",
        lambda row: (
            row["rule"].endswith(".decode") and bool(re.search(r"(?i)%0[9ad]", row["input"]))
        ),
    ),
    Difference(
        "url_canonical",
        "spaces behind a scheme without host",
        "The URL Standard keeps them; log and index lines could not. Heritrix escapes them too.",
        lambda row: (
            row["rule"] == "urlcanon.whatwg"
            and bool(re.match(r"\w+:[^/]*\s\S", row["input"].strip()))
        ),
    ),
    Difference(
        "url_canonical",
        "backslashes",
        "The URL Standard makes them slashes in special URLs and refuses them in other hosts.",
        lambda row: row["rule"].startswith("urlcanon.resolve_path_dots") and "\\" in row["input"],
    ),
    Difference(
        "url_canonical",
        "hosts that cannot be, line separators",
        "The library that index keys follow keeps U+2028 and U+2029, and drops a host of dots.",
        lambda row: (
            row["rule"].endswith("URLCanonicalizer")
            and bool(re.match(r"\s*\w+://\.+/|.*[\u2028\u2029]", row["input"], re.DOTALL))
        ),
    ),
    Difference(
        "url_canonical",
        "empty parameters and odd sessions",
        "urlcanon drops them from a query; the surt library, and so every index, keeps them.",
        lambda row: (
            row["rule"] == "urlcanon.aggressive"
            and bool(re.search(r"[?&]&|&$|&cftoken=[^&]*&jsessionid=", row["input"].lower()))
        ),
    ),
    Difference(
        "url_canonical",
        "schemes that Java's canonicaliser does not know",
        "It takes `whois` or `mailto` for the host; the surt library reads the URL.",
        lambda row: (
            row["rule"].endswith("URLCanonicalizer")
            and _UNKNOWN_TO_JAVA.match(row["input"]) is not None
        ),
    ),
    Difference(
        "url_normalize_crawlercommons",
        "links as the URL Standard resolves them",
        "Java takes backslashes for characters, hosts that cannot be for hosts; browsers do not.",
        spellings.resolved_as_in_a_browser,
    ),
    Difference(
        "url_normalize_crawlercommons",
        "an empty link",
        "`href=''` is the page itself: no outlink.",
        spellings.no_link,
    ),
    Difference(
        "url_util_nutch",
        "links as the URL Standard resolves them",
        "The same.",
        spellings.resolved_as_in_a_browser,
    ),
    Difference(
        "url_normalize_crawlercommons",
        "links between files",
        "A link to a file of some machine names nothing that a crawl could fetch.",
        lambda row: row.get("base", "").startswith("file:"),
    ),
    Difference(
        "http_replies",
        "a length limit counts bytes as received",
        "Bodies are stored as sent, so the limit does not count what they decode to, as Nutch's.",
        lambda row: "limit" in row.get("expected", {}) and "decoded" in row.get("note", ""),
    ),
    Difference(
        "likely_uri",
        "other schemes than http and https",
        "A guess is only worth a fetch that the crawl can make; the row's rule is the older one.",
        lambda row: re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", row["input"]) is not None,
    ),
    Difference(
        "likely_uri",
        "shapes that only the older rule takes",
        "Heritrix now asks for a dot or a slash, segments of letters, digits and hyphens, queries "
        "of `name=value` alone, and a dot in a host.",
        lambda row: row["expected"] and spellings.is_of_the_older_rule(row["input"]),
    ),
    Difference(
        "sitemap",
        "strict location",
        "Whether a URL outside the sitemap's folder is followed, the scope and the robots.txt of "
        "its host decide; the extractor gives all.",
        _gives_those_outside_too,
    ),
    Difference(
        "sitemap",
        "broken XML",
        "It is read as far as it goes: what a truncated sitemap lists are pages all the same.",
        lambda row: "error" in row and _ill_formed(row),
    ),
    Difference(
        "sitemap",
        "strict namespace",
        "Sitemaps with a wrong namespace are common and mean what they say.",
        lambda row: "error" in row and "strictNamespace=true" in row["parser_config"],
    ),
    Difference(
        "sitemap",
        "every alternate of an Atom entry",
        "The peer takes one link of an entry; an archive wants each of its representations.",
        lambda row: row.get("type") == "ATOM" and _several_links_an_entry(row),
    ),
    Difference(
        "extract_html",
        "form submissions and templates of links",
        "They build URLs that no document holds; a crawl asks for them by name, not by default.",
        markup.builds_its_links,
    ),
    Difference(
        "extract_html",
        "plain text",
        "Running text is not searched, as in Heritrix's stock profile: what it names is no link.",
        lambda row: row["extractor"] == "plain-text",
    ),
    Difference(
        "extract_html",
        "attributes that the operator names",
        "Scrapy's option to read an attribute as a link whatever it holds.",
        lambda row: "attrs" in (row.get("config") or {}),
    ),
    Difference(
        "extract_html",
        "broken JSON",
        "It is read as far as it goes: a truncated reply still holds links.",
        lambda row: row["extractor"] == "json" and bool(row.get("error")),
    ),
    Difference(
        "extract_html",
        "names of XML namespaces",
        "A namespace name only looks like a link.",
        lambda row: row["extractor"] == "xml" and 'xmlns="http' in row["document"],
    ),
    Difference(
        "extract_html",
        "Link: rel=preconnect",
        "Names a host to connect to, nothing to fetch.",
        lambda row: (
            re.search(r"rel=\"?(?:preconnect|dns-prefetch)", markup.link_header(row)) is not None
        ),
    ),
    Difference(
        "extract_html",
        "Link header",
        "Heritrix does not read it; it is a link element by other means (RFC 8288).",
        lambda row: row["extractor"] == "http" and bool(markup.link_header(row)),
    ),
    Difference(
        "extract_html",
        "references that Heritrix overlooks or takes for mere links",
        "Gaps of its table: poster, ping, manifest, preload, SVG, data "
        "attributes, pictures for other sites, JSON-LD.",
        lambda row: (
            row["extractor"] == "html"
            and row["origin"] == "upstream-run"
            and markup.HERITRIX_GAPS.search(row["document"]) is not None
        ),
    ),
    Difference(
        "extract_html",
        "markup that a browser reads otherwise",
        "HTML Standard: the first of two equal attributes counts, `<?` begins a comment, title, "
        "textarea, xmp and iframe hold text, also when written as if empty, quotes hold `>`, a tag "
        "that never ends is none, nor are parts of tables without one, and a base holds for all.",
        lambda row: (
            row["extractor"] == "html"
            and row["origin"] == "upstream-run"
            and markup.NO_MARKUP.search(row["document"]) is not None
        ),
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
        "A list with commas (HTML 4.01, 13.4), which Heritrix splits at spaces.",
        lambda row: re.search(r"<applet\b[^>]*archive=[^>]*,", row.get("document", "")) is not None,
    ),
    Difference(
        "extract_html",
        "style sheets of XML",
        "A browser that shows the document loads them.",
        lambda row: "<?xml-stylesheet" in row.get("document", ""),
    ),
    Difference(
        "extract_html",
        "sitemaps and feeds by their content",
        "What begins as a sitemap or a feed is read as one (hops M, L, E), by one extractor and "
        "not by two.",
        lambda row: (
            row["extractor"] == "xml"
            and bool(re.search(r"<(?:urlset|sitemapindex|rss|feed|rdf:RDF)\b", row["document"]))
        ),
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
        markup.nobody_fetches,
    ),
    Difference(
        "extract_html",
        "scripts as browsers read them",
        "Comments hold no strings, templates are strings, and the address of a mailbox is no page.",
        lambda row: (
            row["extractor"] in {"js", "html"}
            and row["origin"] == "upstream-run"
            and markup.ONLY_TEXT.search(row["document"]) is not None
        ),
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
        "CSS Syntax: comments and strings refer to nothing, @import takes a string or url() "
        "behind a space or none, and image-set() takes strings.",
        lambda row: (
            row["extractor"] in {"css", "html"}
            and row["origin"] == "upstream-run"
            and markup.NO_REFERENCE.search(row["document"]) is not None
        ),
    ),
    Difference(
        "cdx_golden",
        "ARC files",
        "Nacre reads and indexes WARC; what was kept in ARC before it is for other tools.",
        lambda row: row["fields"]["filename"].endswith((".arc", ".arc.gz")),
    ),
    Difference(
        "warc_bad",
        "a repeated record id",
        "The judge does not compare the ids of a file; the standard demands that they differ.",
        warc_bad.repeats_an_id,
    ),
    Difference(
        "robots",
        "escapes that RFC 9309 compares decoded",
        "2.2.2 and its table: escapes of unreserved characters are decoded first, and what no URL "
        "may hold is escaped; 2.2.3: `%24` and `%2A` are the characters themselves. Google's "
        "matcher compares bytes.",
        lambda row: (
            _DECODED_ESCAPE.search(row.get("robots", "") + row["url"]) is not None
            or _NO_URL_CHARACTER.search(row.get("robots", "")) is not None
        ),
    ),
    Difference(
        "robots",
        "as Google's matcher says",
        "Where RFC 9309 leaves room, the row's own semantics differ from Google's, which decide.",
        _as_google_says,
    ),
    Difference(
        "robots",
        "several names on a User-agent line",
        "RFC 9309 2.2.1 and Google: a line names one crawler.",
        _named_second,
    ),
    Difference(
        "robots",
        "names that begin like the agent's",
        "RFC 9309 2.2.1: product tokens are equal or not; older peers take a beginning for a name.",
        _named_by_a_beginning,
    ),
    Difference(
        "robots",
        "misspellings that Google's parser does not know",
        "It knows those that are common; a guess at others would be ours alone.",
        lambda row: _MISSPELT.search(row.get("robots", "")) is not None,
    ),
    Difference(
        "robots",
        "whole User-Agent strings",
        "Heritrix and protego look for names within what is sent; RFC 9309 compares the product "
        "token, which has no spaces.",
        lambda row: " " in row["agent"],
    ),
    Difference(
        "robots_meta",
        "markup",
        "RFC 9309 2.2 and Google: robots.txt is plain text; `*<BR>` names nobody.",
        lambda row: re.search(r"<(?:html|br)\b", row.get("robots", ""), re.IGNORECASE) is not None,
    ),
    Difference(
        "robots_meta",
        "a URL without a field name",
        "The peer takes a line that is a URL for a Sitemap line; neither RFC 9309 nor Google does.",
        lambda row: re.search(r"(?m)^https?://", row.get("robots", "")) is not None,
    ),
    Difference(
        "robots_meta",
        "long crawl delays",
        "The peer takes a delay beyond its limit for a prohibition; politeness caps it.",
        lambda row: row["allow_none"] and _LONG_DELAY.search(row.get("robots", "")) is not None,
    ),
    Difference(
        "decide_rules",
        "schemes that can be fetched",
        "By default they are http, https and dns: Nacre speaks neither FTP, SFTP nor whois.",
        lambda row: (
            bool(re.match(r"s?ftp:|whois:", row["uri"]["url"]))
            and any(
                "schemes" not in config for config in _config_of(row, "SchemeNotInSetDecideRule")
            )
        ),
    ),
    Difference(
        "decide_rules",
        "seeds without a slash behind the host",
        "They let subdomains in, as Heritrix's manual says; its code adds the "
        "slash first, so that they never do.",
        lambda row: any(
            re.fullmatch(r"\w+://[^/]+", seed)
            for config in _config_of(row, "SurtPrefixedDecideRule")
            for seed in config.get("seeds", ())
        ),
    ),
    Difference(
        "decide_rules",
        "SURT prefixes without a plus",
        "A line with a bracket before its host is a SURT prefix and nothing else; Heritrix drops "
        "it where the `+` is missing.",
        lambda row: any(
            re.search(r"(?m)^(?:\w+://)?\(", config.get("surtsText", ""))
            for _, config in decide_rules.rules_of(row)
        ),
    ),
]
