"""URLs that Heritrix, Java and browsers spell in different ways: for the decided differences."""

import re

import ada_url

from nacre.uri import parse
from tests.cases.table import Row
from tests.cases.tables import url_canonical, uuri


def as_the_standard_says(row: Row) -> bool:
    """A URL that Heritrix and the URL Standard normalise differently, and Nacre as the latter."""
    answer = uuri.normalised(row)
    if "whatwg_href" in row:
        browser = row["whatwg_href"]
        return answer == (browser.partition("#")[0] if browser else None)
    browser = _in_a_browser(row["input"], row.get("base"))
    return answer is not None and browser is not None and answer == _DOTS.sub(r"\1\2", browser)


_DOTS = re.compile(r"(://(?:[^/?@]*@)?)\.*([^/?@:]*?)\.*(?=[/?:]|$)")
"""Dots around a host."""


def _in_a_browser(text: str, base: str | None) -> str | None:
    """What the URL Standard makes of a text, spaces and NBSP around it aside, by its library."""
    try:
        url = ada_url.URL(text.strip("\xa0 "), base) if base else ada_url.URL(text.strip("\xa0 "))
    except ValueError:
        return None
    return str(url.href).partition("#")[0]


def resolved_as_in_a_browser(row: Row) -> bool:
    """A row of a link and its page, whose answer here is that of the URL Standard."""
    if not (row.get("base") or "").startswith("http"):
        return False
    answer = parse.Resolver(row["base"]).resolve(row["input"])
    return answer == _in_a_browser(row["input"], row["base"])


def differs_by_urlcanon(row: Row) -> bool:
    """As the URL Standard says today; hosts of dots; bytes that urlcanon takes for UTF-8."""
    text, rule = row["input"], row["rule"]
    if rule not in {"urlcanon.whatwg", "urlcanon.semantic_precise"}:
        return False
    browser = _in_a_browser(text, None)
    name = parse.split(browser).host if browser else ""
    if browser is None or name.strip(".") != name or re.search(r"[\x80-\xff]", text):
        return True
    return rule == "urlcanon.whatwg" and url_canonical.parsed(text) == browser


def changes_when_repeated(row: Row) -> bool:
    """Heritrix's form of a URL, canonicalised again, is Nacre's."""
    if not re.match(r"Fixup|Rules", row["rule"]):
        return False
    again = url_canonical.check({**row, "input": row["expected"]})
    return again is not None and again == url_canonical.check(row)


# Control characters and spaces, which the URL Standard trims; NBSP, which Heritrix trims too.
_BLANK = "".join(map(chr, range(0x21))) + "\xa0"


def no_link(row: Row) -> bool:
    return not row["input"].strip(_BLANK) and bool(row.get("base"))


def dots_around_a_host(row: Row) -> bool:
    name = row.get("hostname") or row.get("expected") or ""
    return bool(name.strip(".") != name)


def trimmed_by_heritrix(row: Row) -> bool:
    """NBSP around a URL, spaces or NBSP after its host."""
    text = row["input"]
    after_a_host = r"\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}[^/\\?#]*(?: |%20|\xa0)(?:[/\\?#]|$)"
    around = "\xa0" in (
        text[: len(text) - len(text.lstrip(_BLANK))] + text[len(text.rstrip(_BLANK)) :]
    )
    return around or re.match(after_a_host, text, re.IGNORECASE) is not None


_INDEX_KEY_OPTIONS = {
    "host_massage": True,
    "reverse_ipaddr": True,
    "with_scheme": False,
    "trailing_comma": False,
}


def uses_options(row: Row) -> bool:
    options = row.get("options", {})
    return any(_INDEX_KEY_OPTIONS.get(name, False) != value for name, value in options.items())


_ODD_SEGMENT = re.compile(r"[^?#:]*[^\w\s./\\?#:-]")
_HOST_WITHOUT_A_DOT = re.compile(r"https?://[^./]+(?:[/:?#]|$)")
_PAIR = re.compile(r"[^=]+=[^=]*")


def is_of_the_older_rule(text: str) -> bool:
    """A string that Heritrix's newer rule does not take for a URI."""
    query = text.partition("?")[2].partition("#")[0]
    pairs = query.split("&") if "?" in text else []
    return (
        ("." not in text and "/" not in text)
        or _ODD_SEGMENT.match(text) is not None
        or _HOST_WITHOUT_A_DOT.match(text) is not None
        or not all(_PAIR.fullmatch(pair) for pair in pairs)
    )
