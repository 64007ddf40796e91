"""URLs as their authorities spell them: for the decided differences.

Each function takes a row and Nacre's answer, and is true where an authority gives that answer: the
URL Standard by its library (`ada_url`), or a clause that is written down here.
"""

import re
from typing import Any
from urllib.parse import quote, urlsplit

import ada_url

from nacre.uri.indexkey import index_key
from nacre.uri.parse import IGNORED_SCHEMES
from tests.cases.table import Differs, Row
from tests.cases.tables import url_canonical

_BLANK = "".join(map(chr, range(0x21))) + "\xa0"
"""What the URL Standard trims; NBSP, which Heritrix trims too."""
_DOTS = re.compile(r"(://(?:[^/?@]*@)?)\.*([^/?@:]*?)\.*(?=[/?:]|$)")
"""Dots around a host: Heritrix's tolerance, and Nacre's."""
_HOST_AND_BLANK = re.compile(
    r"(\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}[^/\\?#]*?)(?: |%20|\xa0)+(?=[/\\?#]|$)", re.IGNORECASE
)


_SPECIAL = ("http:", "https:", "ws:", "wss:", "ftp:", "file:")
"""Schemes whose URLs have a host in any case; of others Nacre reads it for SURTs alone."""


def in_a_browser(text: str, base: str | None = None) -> str | None:
    """What the URL Standard makes of a text, without its fragment; None for an error.

    Blanks and NBSP around it are dropped first.
    """
    try:
        url = ada_url.URL(text.strip(_BLANK), base) if base else ada_url.URL(text.strip(_BLANK))
    except ValueError:
        return None
    return str(url.href).partition("#")[0]


def without_dots(url: str | None) -> str | None:
    """A URL without dots around its host; None where nothing is left of the host."""
    if url is None or "://" not in url:
        return url
    plain = _DOTS.sub(r"\1\2", url)
    return None if ":///" in plain and ":///" not in url else plain


def standard(row: Row) -> str | None:
    """The URL of a row by the URL Standard: as the row has it, else by the library."""
    if "whatwg_href" in row:
        href = row["whatwg_href"]
        return href.partition("#")[0] if href else None
    return in_a_browser(row["input"], row.get("base"))


def is_the_standards(row: Row, answer: Any) -> bool:
    """`uuri`: URL and host are those of the URL Standard, the SURT is that of the URL."""
    browser = standard(row)
    if not isinstance(answer, dict) or browser is None:
        return answer is None and without_dots(browser) is None and _tolerated(row) is None
    return any(_is_answer(answer, url) for url in (browser, without_dots(browser)) if url)


def _is_answer(answer: Any, url: str) -> bool:
    host = _host_of(url)
    host = host.strip(".") if url.startswith(_SPECIAL) else host
    return answer["expected"] == url and answer["host"] == host and _is_surt(answer["surt"], url)


def _host_of(url: str) -> str:
    return str(ada_url.URL(url).hostname)


def _is_surt(surt: str, url: str) -> bool:
    """A SURT turns the parts of the host around, behind them port and login; all in lower case."""
    parts = re.fullmatch(r"([^:]+://)(?:([^/?]*)@)?(\[[^/]*\]|[^/?:]*)(:\d+)?(.*)", url, re.DOTALL)
    if parts is None:
        return surt == url.lower()
    scheme, login, host, port, path = (part or "" for part in parts.groups())
    names = host if re.fullmatch(r"\d+(\.\d+){3}", host) else ",".join(host.split(".")[::-1]) + ","
    login = f"@{login}" if login else ""
    return surt == f"{scheme}({names}{port}{login}){path}".lower()


def no_link(row: Row, answer: Any) -> bool:
    """A link without a character is the page itself: no outlink."""
    return answer is None and not row["input"].strip(_BLANK) and bool(row.get("base"))


def resolved(row: Row, answer: Any) -> bool:
    """A link of a page on the web, as the URL Standard resolves it."""
    base = row.get("base") or ""
    return base.startswith("http") and bool(answer == in_a_browser(row["input"], base))


def between_files(row: Row, answer: Any) -> bool:
    """A link of a page in a file system names nothing that a crawl fetches."""
    url = in_a_browser(row["input"], row.get("base") or None) or ""
    return answer is None and url.partition(":")[0] in {"file", *IGNORED_SCHEMES}


def dots_dropped(row: Row, answer: Any) -> bool:
    """A host without the dots around it; none where it is dots alone."""
    if "hostname" in row:
        plain = without_dots(row["href"].partition("#")[0])
        wanted = None if plain is None else _parts(plain)
        return row["hostname"].strip(".") != row["hostname"] and bool(answer == wanted)
    name = row.get("expected") or ""
    return name.strip(".") != name and bool(answer == (name.strip(".") or None))


def blanks_dropped(row: Row, answer: Any) -> bool:
    """The URL Standard's URL of the text without the blanks behind its host, and NBSP around it.

    Heritrix drops them; a browser refuses such a URL.
    """
    url = _tolerated(row)
    if url is None or not isinstance(answer, dict):
        return False
    return bool(answer == _parts(url)) if "url" in answer else _is_answer(answer, url)


def _tolerated(row: Row) -> str | None:
    """The URL of the text without blanks that a browser does not accept; None for none."""
    text = _HOST_AND_BLANK.sub(r"\1", row["input"]).strip(_BLANK)
    if text == row["input"].strip(_BLANK.replace("\xa0", "")):
        return None
    return without_dots(in_a_browser(text, row.get("base")))


def _parts(url: str) -> dict[str, str]:
    """A URL with its parts, under the names of the URL Standard."""
    parts = ada_url.URL(url)
    names = ("protocol", "username", "password", "hostname", "port", "pathname", "search")
    return {"url": url, **{name: str(getattr(parts, name)) for name in names}}


def key_of_the_standards_url(row: Row, answer: Any) -> bool:
    """`url_canonical`: the URL of the URL Standard of today, or the index key of that URL.

    urlcanon follows an older one: it takes `%` and dots alone for hosts, and each character below
    256 for a byte of UTF-8; it repairs URLs of unknown schemes as if they were http. Spaces behind
    a scheme without a host are escaped, which log and index lines need; Heritrix does it too.
    """
    text, rule = row["input"], row["rule"]
    browser = in_a_browser(text)
    plain = without_dots(browser)
    if rule == "urlcanon.whatwg":
        return bool(answer in {browser, plain, plain and plain.replace(" ", "%20")})
    if rule != "urlcanon.semantic_precise":
        return False
    return bool(answer == index_key(plain if plain is not None else text))


def canonical_for_good(row: Row, answer: Any) -> bool:
    """Heritrix drops one `&`, `?` or `www.` at a time, so that its form of its form is another.

    The answer is the form that does not change any more: that of the row's form, and of itself.
    """
    named = re.match(r"Fixup|Rules", row["rule"])
    if not named or not isinstance(answer, str) or answer == row["expected"]:
        return False
    again = url_canonical.check({**row, "input": row["expected"]})
    itself = url_canonical.check({**row, "input": answer, "expected": answer})
    return isinstance(again, Differs) and again.answer == answer and itself is None


def address_of_the_standard(row: Row, answer: Any) -> bool:
    """`10.0.258` is 10.0.1.2 by the URL Standard, and a number too large is no address."""
    if not row["rule"].endswith("attemptIPFormats"):
        return False
    url = in_a_browser(f"http://{row['input']}/")
    host = _host_of(url) if url else ""
    return bool(answer == (host if re.fullmatch(r"\d+(\.\d+){3}", host) else None))


def still_escaped(row: Row, answer: Any) -> bool:
    """The URL Standard drops tabs and line feeds that stand as such: they must stay escaped."""
    text = row["input"]
    escaped = re.fullmatch(r"(?i)(?:[^%]|%0[9ad])*%0[9ad](?:[^%]|%0[9ad])*", text)
    return row["rule"].endswith(".decode") and bool(escaped) and answer == f"h)/x?{text.lower()}"


def path_of_the_standard(row: Row, answer: Any) -> bool:
    """Backslashes are slashes in special URLs, and no part of other hosts."""
    if not row["rule"].startswith("urlcanon.resolve_path_dots") or "\\" not in row["input"]:
        return False
    special = row["rule"].endswith("(special)")
    try:
        return bool(
            answer == ada_url.URL(("http://h" if special else "x://h") + row["input"]).pathname
        )
    except ValueError:
        return answer is None


def key_of_the_library(row: Row, answer: Any) -> bool:
    """The surt library, which index keys follow: tabs and line ends go, all else is escaped.

    It keeps U+2028 and U+2029, and drops a host of dots.
    """
    if not row["rule"].endswith("URLCanonicalizer"):
        return False
    text = re.sub(r"[\t\r\n]", "", row["input"].strip())
    match = re.fullmatch(r"(\w+)://([^/?]*)(/.*)?", text, re.DOTALL)
    if match is None or "?" in text:
        return False
    host = quote(match[2], safe="").lower().strip(".")
    path = quote(match[3] or "/", safe="/%").lower()
    known = {"http": "", "https": "", "ftp": ""}
    odd = match[1] not in known or not host or "%" in host
    return odd and answer == ",".join(host.split(".")[::-1]) + ")" + path


def query_of_the_library(row: Row, answer: Any) -> bool:
    """The surt library, and so every index, keeps empty parameters, and ids of unknown shape.

    A query is in lower case, sorted, without `cfid` and `cftoken` in a row.
    """
    if row["rule"] != "urlcanon.aggressive":
        return False
    parts = urlsplit(row["input"].lower())
    query = re.sub(r"(^|&)cfid=[^&]+&cftoken=[^&]+(&|$)", r"\1", parts.query)
    host = ",".join(reversed(parts.netloc.removeprefix("www.").split(".")))
    return bool(answer == f"{host}){parts.path}?{'&'.join(sorted(query.split('&')))}")


def is_no_guess(row: Row, answer: Any) -> bool:
    """A guess is only worth a fetch that the crawl can make."""
    return answer is False and re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", row["input"]) is not None


_ODD_SEGMENT = re.compile(r"[^?#:]*[^\w\s./\\?#:-]")
_HOST_WITHOUT_A_DOT = re.compile(r"https?://[^./]+(?:[/:?#]|$)")
_PAIR = re.compile(r"[^=]+=[^=]*")


def is_of_the_older_rule(row: Row, answer: Any) -> bool:
    """Heritrix's newer rule does not take the string for a URI, the older one does.

    It asks for a dot or a slash, segments of letters, digits and hyphens, queries of `name=value`
    alone, and a dot in a host.
    """
    text = row["input"]
    query = text.partition("?")[2].partition("#")[0]
    pairs = query.split("&") if "?" in text else []
    refused = (
        ("." not in text and "/" not in text)
        or _ODD_SEGMENT.match(text) is not None
        or _HOST_WITHOUT_A_DOT.match(text) is not None
        or not all(_PAIR.fullmatch(pair) for pair in pairs)
    )
    return answer is False and row["expected"] and refused


def keeps_the_login(row: Row, answer: Any) -> bool:
    """Heritrix's dialect keeps name and password, behind an `@`; urlcanon's drops them."""
    login = re.match(r"\w+://([^/?#]+)@", row["input"])
    return (
        row["form"] == "ssurt:surt"
        and login is not None
        and answer == row["expected"].replace(")", f"@{login[1]})", 1)
    )


def keeps_unknown_schemes(row: Row, answer: Any) -> bool:
    """The surt library keeps `dns:` URIs, and reads the host of a URL whatever its scheme.

    The Java key maker turns `dns:` around, and takes schemes that it does not know for hosts.
    """
    text = row["input"]
    if row.get("form") == "WaybackURLKeyMaker" and text.startswith("dns:"):
        return bool(answer == text.lower())
    rule = row.get("form") or row.get("rule", "")
    parts = urlsplit(text)
    if not rule.endswith(("URLCanonicalizer", "KeyMaker")) or not parts.netloc:
        return False
    unknown = parts.scheme not in {"http", "https", "ftp", ""}
    key = ",".join(reversed(parts.netloc.split("."))) + ")" + (parts.path or "/")
    return unknown and not parts.query and answer == key.lower()


def closed(row: Row, answer: Any) -> bool:
    """`http://10.0.0.1` must not also mean 10.0.0.12: addresses and ports have no subdomains."""
    text = row["input"].partition("://")[2] or row["input"]
    return (
        row["form"] == "prefix-from-uri"
        and re.fullmatch(r"[0-9.]+|\[.*\]|[^/]*:\d+", text) is not None
        and answer == row["expected"].rstrip(",") + ")"
    )
