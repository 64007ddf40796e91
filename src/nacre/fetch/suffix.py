"""Public suffixes: domains under which strangers register names, so that no cookie spans them."""

from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList


@cache
def _suffixes() -> PublicSuffixList:
    """The bundled list, read when it is first needed; unknown top-level domains are suffixes."""
    return PublicSuffixList()


@lru_cache(maxsize=8192)
def is_public_suffix(domain: str) -> bool:
    """Whether a domain (lower case, A-labels, no leading dot) is a public suffix."""
    return bool(_suffixes().publicsuffix(domain) == domain)
