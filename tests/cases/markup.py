"""Documents that Heritrix and browsers read in different ways: for the decided differences."""

import re
from urllib.parse import unquote

import ada_url

from nacre.extract.links import is_never_fetched
from tests.cases.table import Row
from tests.cases.tables import extract_html


def link_header(row: Row) -> str:
    return str((row.get("headers") or {}).get("Link", ""))


HERITRIX_GAPS = re.compile(
    r"\b(?:poster|ping|manifest|formaction|imagesrcset|srcdoc|xlink:href|icon)\s*="
    r"|<(?:svg|image|use|feimage|portal)\b|\bdata-[a-z-]+\s*="
    r"|rel=[\"']?[^\"'>]*(?:preload|manifest|touch-icon|touch-startup|mask-icon|image_src)"
    r"|(?:og|twitter):(?:image|video|audio)|itemprop=|msapplication-|[\"'=]thumbnail\b"
    r"|\b(?:dynsrc|datasrc)\s*=|type=[\"']?(?:text/(?:template|html|x-)|application/(?:[\w.+-]*json))"
    r"|importmap|speculationrules"
    r"|http-equiv=[\"']?refresh[^>]*content=[\"'][\d.\s]*[;,]\s*(?!url)[^\"'>\s]",
    re.IGNORECASE,
)
NO_MARKUP = re.compile(
    r"<[a-z]+\b[^>]*?\s([a-z-]+)=[^>]*\s\1=|<\?(?!xml)"
    r"|<(?:title|textarea|xmp|plaintext|iframe)\b[^<]*<[a-z]"
    r"|<[a-z][^>]*\Z|<(?:script|style|title|textarea|iframe)\b[^>]*/>"
    r"|<[a-z](?:[^<>\"']|\"[^<>\"]*\"|'[^<>']*')*(?:\"[^\"<>]*|'[^'<>]*)>"
    r"|\A(?:(?!<table).)*<(?:caption|col|tbody|td|tfoot|th|thead|tr)\b"
    r"|\b(?:href|src)\s*=[^>]*>.*<base\b",
    re.IGNORECASE | re.DOTALL,
)


NO_REFERENCE = re.compile(
    r"/\*[^*]*(?:url\(|@import)|:\s*[\"'][^\"']*url\(|@import\s+[^\"'\s/u]|@import[\"']|image-set\(\s*[\"']|\bsrc\(",
    re.IGNORECASE,
)


ONLY_TEXT = re.compile(
    r"(?:^|\s)//[^\n]*[\"']|/\*[^*]*[\"']|`|[\"'][\w.+-]+@[\w.-]+[\"']", re.MULTILINE
)


def nobody_fetches(row: Row) -> bool:
    """But for URLs of schemes that nobody fetches, and such that browsers refuse, it is right."""
    if row["match"] not in {"exact_set", "exact_list", "exact_list_raw"}:
        return False
    links = [i for i in row["expected"] if not _is_refused(i["url"])]
    lost = len(links) < len(row["expected"])
    return lost and extract_html.check(row | {"expected": links}) is None


def _is_refused(url: str) -> bool:
    return is_never_fetched(url) or (":" in url and not ada_url.check_url(url))


def more_of_xml(row: Row) -> bool:
    """Of XML all is found that the row has, and more."""
    if row["extractor"] != "xml" or row["match"] != "exact_set":
        return False
    return extract_html.compare(extract_html.found(row), row["expected"], extra=True) is None


def escaped_otherwise(row: Row) -> bool:
    """The same links, but for characters that Heritrix escapes in a URL and browsers do not."""
    if row["extractor"] not in {"css", "html", "js", "xml"} or row["match"] != "exact_set":
        return False
    wanted = {(_plain(i["url"]), i.get("hop"), i.get("context")) for i in row["expected"]}
    links = extract_html.found(row)
    return wanted == {(_plain(k.url), k.hop.value, k.context) for k in links}


def _plain(url: str) -> str:
    return unquote(url).replace("\\", "/")
