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


_CONTROL = re.compile(
    r"<(?:input|select|textarea|button)\b[^>]*?\sname=[\"']?([^\"'\s>]+)", re.IGNORECASE
)


def builds_its_links(row: Row) -> bool:
    """All that is missing is made of the values of a form, or of a template of the operator.

    Submissions name the controls of the form; a template is in the configuration. Neither stands in
    the document.
    """
    missing = [item["url"] for item in row["expected"] if not _is_found(row, item["url"])]
    document = row["document"]
    if row["match"] == "absent" or not missing or any(url in document for url in missing):
        return False
    if row["extractor"] == "multiple-regex":
        return "template" in (row.get("config") or {})
    controls = set(_CONTROL.findall(document))
    return row["extractor"] == "html-forms" and all(_names(url) & controls for url in missing)


def _is_found(row: Row, url: str) -> bool:
    return any(link.url == extract_html.normal(url) for link in extract_html.found(row))


def _names(url: str) -> set[str]:
    """The names in a query."""
    return {unquote(pair.partition("=")[0]) for pair in url.partition("?")[2].split("&")}


_HEXADECIMAL = re.compile(r"url\([^)]*\\[0-9a-f]", re.IGNORECASE)


def escaped_in_css(row: Row) -> bool:
    """As many links, of which some hold a hexadecimal escape that Heritrix leaves as it is."""
    if row["origin"] != "upstream-run" or row["match"] != "exact_set":
        return False
    as_many = len(extract_html.found(row)) == len(row["expected"])
    return as_many and _HEXADECIMAL.search(row["document"]) is not None
