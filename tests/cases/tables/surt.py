"""URLs to SURT, in the dialects of Heritrix and of indexes; prefixes and sets of them."""

from collections.abc import Callable

from nacre.errors import URIError
from nacre.uri.domain import registered_domain
from nacre.uri.indexkey import reversed_host
from nacre.uri.parse import parse
from nacre.uri.surt import (
    SurtPrefixSet,
    implied_prefix,
    index_key,
    scope_surt,
    surt,
    to_domain,
    to_host,
)
from tests.cases.table import Answer, Differs, Row, Table, Unsupported, json_lines

_INDEX_KEY_OPTIONS = {
    "host_massage": True,
    "reverse_ipaddr": True,
    "with_scheme": False,
    "trailing_comma": False,
}
"""The one form of the index key: that of pywb, cdxj-indexer and OutbackCDX."""


def _assignment_level(members: str) -> str:
    name = ".".join(reversed(members.removesuffix(",").split(","))) if "," in members else members
    return surt(f"http://{registered_domain(name)}/")[len("http://(") : -len(")/")]


_FORMS: dict[str, Callable[[str], str]] = {
    "IA-CDX": lambda text: index_key(text or ""),
    "WaybackURLKeyMaker": lambda text: index_key(text or ""),
    "Heritrix": lambda text: surt(text).lower(),
    "candidate-surt": lambda text: scope_surt(parse(text)),
    "prefix-from-uri": implied_prefix,
    "prefix-to-domain": to_domain,
    "prefix-to-host": to_host,
    "ssurt:surt": surt,
    "hostToSURT": reversed_host,
    "assignment-level-domain": _assignment_level,
}


def _prefix_set(row: Row) -> Answer:
    lines = [line.partition("#")[0].strip() for line in row["input"].split("\n")]
    prefixes = SurtPrefixSet(line for line in lines if line)
    expected = row["expected"]
    members = sorted(expected["members"])
    covered = {url: prefixes.match(scope_surt(url)) is not None for url in expected["prefix_of"]}
    if list(prefixes) == members and covered == expected["prefix_of"]:
        return None
    return Differs((list(prefixes), covered))


def _other_options(row: Row) -> str:
    """The options that ask for another form than Nacre's."""
    options = row.get("options", {})
    other = [name for name, value in options.items() if _INDEX_KEY_OPTIONS.get(name) != value]
    return ", ".join(other)


def check(row: Row) -> Answer:
    """Answer by the function of Nacre for the form."""
    if row["form"] == "prefix-set":
        return _prefix_set(row)
    form = _FORMS.get(row["form"])
    if form is None:
        return Unsupported(row["form"])
    try:
        answer = form(row["input"])
    except URIError as error:
        return None if row.get("error") else Differs(None, str(error))
    return None if answer == row.get("expected") else _another(row, answer)


def _another(row: Row, answer: str) -> Answer:
    """Another answer, or one to a question that Nacre is not asked."""
    if options := _other_options(row):
        return Unsupported(f"{row['form']} with {options}")
    if row["form"] == "Heritrix" and not _is_normalised(row["input"]):
        return Unsupported("SURTs of what is no normalised URL")
    return Differs(answer)


def _is_normalised(text: str) -> bool:
    """SURTs are made of URLs as they are requested, with a host that ends with no dot."""
    try:
        return parse(text) == text
    except URIError:
        return False


TABLE = Table("surt", json_lines("surt.jsonl"), check)
