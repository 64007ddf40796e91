"""Canonicalisers of several systems; `rule` says which, and so what of Nacre answers."""

from collections.abc import Callable

from nacre.errors import URIError
from nacre.uri.canonical import HERITRIX, RULES, Canonicalizer, rule
from nacre.uri.domain import registered_domain
from nacre.uri.indexkey import index_key, reversed_host
from nacre.uri.parse import host, is_ip, parse, split
from tests.cases.table import Answer, Differs, Row, Table, Unsupported, json_lines

_HERITRIX = Canonicalizer(HERITRIX)
# An index key is this canonical form, written as a SURT.
_INDEX_KEY = (
    "AggressiveIAURLCanonicalizer",
    "IAURLCanonicalizer(AggressiveIACanonicalizerRules)",
    "py:IAURLCanonicalizer",
    "py:DefaultIAURLCanonicalizer",
)


def parsed(text: str) -> str | None:
    """The URL that is requested; None for none."""
    try:
        return parse(text)
    except URIError:
        return None


def _address(text: str | None) -> str | None:
    url = parsed(f"http://{text}/")
    return host(url) if url and text and is_ip(host(url)) else None


def _path(prefix: str) -> Callable[[str], str | None]:
    def answer(path: str) -> str | None:
        url = parsed(prefix + path)
        return split(url).path if url else None

    return answer


def _default_port(scheme: str | None) -> int:
    """The port that a normalised URL of the scheme does not name; 0 for none."""
    ports = (21, 70, 80, 443)
    return next((p for p in ports if parse(f"{scheme}://h:{p}/") == f"{scheme}://h/"), 0)


def _key_of_parsed(text: str) -> str:
    return index_key(parsed(text) or text)


def _key_part(before: str) -> Callable[[str], str]:
    return lambda text: index_key(f"{before}{text}")


_FUNCTIONS: dict[str, Callable[[str], str | int | None]] = {
    "urlcanon.whatwg": parsed,
    "urlcanon.ipv4_host": _address,
    "py:GoogleURLCanonicalizer.attemptIPFormats": _address,
    "BasicURLCanonicalizer.attemptIPFormats": _address,
    "urlcanon.resolve_path_dots(special)": _path("http://h"),
    "urlcanon.resolve_path_dots(nonspecial)": _path("x://h"),
    "py:handyurl.getPublicSuffix": registered_domain,
    "py:IAURLCanonicalizer.getDefaultPort": _default_port,
    "py:handyurl.getPublicPrefix": lambda name: name.removesuffix("." + registered_domain(name)),
}
# Steps on the way to an index key: the key does not change when they were done before.
_SAME_KEY: dict[str, Callable[[str], str]] = {
    "GoogleURLCanonicalizer": index_key,
    "BasicURLCanonicalizer": index_key,
    "OrdinaryIAURLCanonicalizer": index_key,
    "urlcanon.semantic_precise": _key_of_parsed,
    "urlcanon.aggressive": index_key,
    "py:handyurl.parse": index_key,
    "alphaReorderQuery": _key_part("http://h/x?"),
    "decode": _key_part("http://h/x?"),
    "unescapeRepeatedly": _key_part("http://h/x?"),
    "massageHost": _key_part("http://"),
    "stripPathSessionID": _key_part("http://h"),
    "stripQuerySessionID": _key_part("http://h/x"),
}


def _short(name: str) -> str:
    return name.rpartition(".")[2].removeprefix("py:")


def _as_surt(url: str) -> str:
    """A canonical form as a SURT without scheme, and nothing else changed."""
    if "://" not in url:
        return url
    netloc, slash, rest = url.partition("://")[2].partition("/")
    name, colon, port = (netloc, "", "") if netloc.endswith("]") else netloc.partition(":")
    return f"{reversed_host(name)}{colon}{port}){slash}{rest}"


def check(row: Row) -> Answer:
    """Answer by the function of Nacre that does what the row's rule does."""
    name, text, expected = row["rule"], row["input"], row["expected"]
    if name.removesuffix("Rule") in RULES:
        answer: str | int | None = rule(name, **row.get("config", {})).apply(text)
    elif name == "RulesCanonicalizationPolicy(default)":
        answer = _HERITRIX.canonical(text)
    elif name in _FUNCTIONS:
        answer = _FUNCTIONS[name](text)
        expected = expected.partition("#")[0] if name == "urlcanon.whatwg" else expected
    elif name in _INDEX_KEY:
        answer, expected = index_key(text), _as_surt(expected)
    elif key := _SAME_KEY.get(name) or _SAME_KEY.get(_short(name)):
        answer, expected = key(text or ""), key(expected or "")
    else:
        return Unsupported(name)
    return None if answer == expected else Differs(answer)


TABLE = Table("url_canonical", json_lines("url_canonical.jsonl"), check)
