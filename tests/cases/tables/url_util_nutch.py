"""Nutch's functions on URLs: resolving, domains, hosts in Unicode and ASCII."""

from collections.abc import Callable

from nacre.uri.domain import host_to_ascii, host_to_unicode, registry_domain, registry_suffix
from nacre.uri.javaurl import split_java
from nacre.uri.parse import Resolver, parse
from tests.cases.table import Answer, Differs, Row, Table, Unsupported, json_lines


def _ascii_host(url: str) -> str:
    return host_to_ascii(split_java(url).host)


def _suffix(url: str) -> str | None:
    return registry_suffix(_ascii_host(url)) or None


def _top(url: str) -> str | None:
    return (_suffix(url) or "").rpartition(".")[2] or None


def _with_host(convert: Callable[[str], str]) -> Callable[[str], str]:
    return lambda url: url.replace(split_java(url).host, convert(split_java(url).host), 1)


_BY_URL: dict[str, Callable[[str], str | None]] = {
    "domain_suffix": _suffix,
    "top_level_domain": _top,
    "url_host_to_ascii": _with_host(host_to_ascii),
    "url_host_to_unicode": _with_host(host_to_unicode),
}


def _check(row: Row) -> Answer:
    operation, given, expected = row["op"], row["input"], row["expected"]
    answer: str | None
    if operation == "resolve":
        # As it is requested: with a path, and without the fragment, which no server sees.
        answer = Resolver(row["base"]).resolve(given) if given else parse(row["base"])
        expected = parse(expected)
    elif operation == "domain_name":
        answer, expected = registry_domain(_ascii_host(given)), host_to_ascii(expected)
    elif operation == "choose_representative_of_redirect":
        return Unsupported("the representative of a redirect, which is for a search index")
    elif operation in _BY_URL:
        answer = _BY_URL[operation](given)
    else:
        convert = host_to_ascii if operation == "host_to_ascii" else host_to_unicode
        answer = convert(given, idna2008=row["idna"] == "IDNA2008")
    return None if answer == expected else Differs(answer)


TABLE = Table("url_util_nutch", json_lines("url_util_nutch.jsonl"), _check)
