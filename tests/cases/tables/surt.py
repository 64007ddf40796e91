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
from tests.cases.table import Row, Table, json_lines

NOT_OFFERED = "Nacre does not offer this form"


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


def _prefix_set(row: Row) -> str | None:
    lines = [line.partition("#")[0].strip() for line in row["input"].split("\n")]
    prefixes = SurtPrefixSet(line for line in lines if line)
    expected = row["expected"]
    members = sorted(expected["members"])
    covered = {url: prefixes.match(scope_surt(url)) is not None for url in expected["prefix_of"]}
    if list(prefixes) == members and covered == expected["prefix_of"]:
        return None
    return f"{list(prefixes)} {covered}"


def check(row: Row) -> str | None:
    """Answer by the function of Nacre for the form."""
    if row["form"] == "prefix-set":
        return _prefix_set(row)
    form = _FORMS.get(row["form"])
    if form is None:
        return NOT_OFFERED
    try:
        answer = form(row["input"])
    except URIError as error:
        return None if row.get("error") else str(error)
    return None if answer == row.get("expected") else answer


TABLE = Table("surt", json_lines("surt.jsonl"), check)
