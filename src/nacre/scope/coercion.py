"""What a seed, or a line of a list, implies for a scope."""

from enum import StrEnum

from nacre.uri.domain import is_public_suffix, registered_domain
from nacre.uri.surt import implied_prefix


class Coercion(StrEnum):
    """What a seed implies."""

    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"
    SITE = "site"


class ScopeKind(StrEnum):
    """`--scope`: how far a crawl goes, or one seed of it. Embeds may come from anywhere."""

    PAGE = "page"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"
    SITE = "site"
    ANY = "any"


def coerced(seed: str, coercion: Coercion) -> str:
    """The SURT prefix that a seed implies.

    Args:
        seed: The seed as typed.
        coercion: `prefix`: Heritrix's implied prefix. `host`: exactly its host, and its port where
            it has one. `domain`: its host without `www.` and all below it, on any port. `site`: its
            registered domain and all below it. Of an address the last two mean `host`.

    Raises:
        URIError: The seed is no URL.
    """
    prefix = implied_prefix(seed)
    start, bracket, rest = prefix.partition("(")
    if coercion is Coercion.PREFIX or not bracket:
        return prefix
    # `com,example,www,:8080@user`: labels, port and userinfo, which says nothing of the place.
    where = rest.partition(")")[0].partition("@")[0]
    labels, comma, port = where.rpartition(",")
    if coercion is Coercion.HOST or not comma or labels.startswith("["):
        return f"{start}({labels}{comma}{port})"
    domain = _domain(".".join(reversed(labels.split(","))), coercion)
    return f"{start}({','.join(reversed(domain.split('.')))},"


def _domain(host: str, coercion: Coercion) -> str:
    if coercion is Coercion.SITE:
        return registered_domain(host)
    below = host.removeprefix("www.")
    # `www.com` is a site of its own, and no reason to take all of `com`.
    return host if is_public_suffix(below) else below
