"""Host names: their registered domains, and their forms in Unicode and ASCII.

A registered domain is a public suffix plus one label, by the bundled list, never the
network. IDNA 2008 is UTS 46, not transitional, as browsers have it: `straße` stays itself. IDNA
2003 is as in older Java and Python: `straße` becomes `strasse`. Source: RFC 3490; Unicode UTS 46.
"""

import re
from encodings.idna import ToASCII, ToUnicode
from functools import cache, lru_cache

import ada_url
from publicsuffixlist import PSLFILE, PublicSuffixList

from nacre.errors import URIError
from nacre.messages import message
from nacre.uri.parse import is_ip


@cache
def _suffixes() -> PublicSuffixList:
    """Return the list; reading it takes some 40 ms, so it waits for the first question."""
    return PublicSuffixList()


@lru_cache(maxsize=16_384)
def registered_domain(host: str) -> str:
    """Return the registered domain of a host: `example.co.uk` for `www.example.co.uk`.

    Args:
        host: Lower case, IDN as A-labels, as `parse.host` gives it.

    Returns:
        The domain; the host itself when it is an address, a public suffix or a single label.
    """
    if is_ip(host):
        return host
    domain: str | None = _suffixes().privatesuffix(host)
    return domain or host


_WWW = re.compile(r"www[0-9]*\.")


def without_www(host: str) -> str:
    """Return a host without a `www.`, `www2.` in front."""
    return host[prefix.end() :] if (prefix := _WWW.match(host)) else host


def is_public_suffix(host: str) -> bool:
    """True when anyone may register names below a host, as with `co.uk`; False for an address."""
    return bool(host) and not is_ip(host) and bool(_suffixes().is_public(host))


_TOP_LEVEL = re.compile(r"^(?:\*\.)?([^\s./!*]+)$", re.MULTILINE)


@cache
def _top_levels() -> frozenset[str]:
    """Return the rules of one label, and the rules of all names below a label; takes 2 ms."""
    with open(PSLFILE, encoding="utf-8") as file:  # noqa: PTH123 - pure modules import no pathlib
        labels = _TOP_LEVEL.findall(file.read())
    encoded = [name.encode("idna").decode("ascii") for name in labels if not name.isascii()]
    return frozenset([*labels, *encoded])


def is_top_level(label: str) -> bool:
    """Return True for a top-level domain of the list, such as `com` or `xn--fiqs8s`; lower case."""
    return label in _top_levels()


@cache
def _registry_suffixes() -> PublicSuffixList:
    """Return the part of the list of registries, without private suffixes such as `github.io`."""
    return PublicSuffixList(only_icann=True, accept_unknown=False)


@lru_cache(maxsize=16_384)
def registry_suffix(host: str) -> str:
    """The public suffix of a host as registries keep them, `co.uk`; "" for none or an address.

    Args:
        host: Lower case, IDN as A-labels.
    """
    if is_ip(host):
        return ""
    return _registry_suffixes().publicsuffix(host.removesuffix(".")) or ""


@lru_cache(maxsize=16_384)
def registry_domain(host: str) -> str:
    """Return the domain that is registered; the host itself if there is none.

    Args:
        host: Lower case, IDN as A-labels.
    """
    bare = host.removesuffix(".")
    if is_ip(bare):
        return bare
    return _registry_suffixes().privatesuffix(bare) or bare


_DOT = re.compile("[.\u3002\uff0e\uff61]")
"""The separators of labels (RFC 3490, 3.1); UTS 46 maps them all to the first."""


def host_to_ascii(host: str, *, idna2008: bool = True) -> str:
    """Return a host name with A-labels, lower case.

    Raises:
        URIError: It cannot be written so.
    """
    if not idna2008:
        return ".".join(map(_label_to_ascii, _labels(host))).lower()
    if host.isascii():
        return host.lower()
    try:
        ascii_host = str(ada_url.idna_to_ascii(host.encode()), "ascii")
    except ValueError:
        ascii_host = ""
    if not ascii_host:
        raise URIError(message("uri.not-host-name", "not a host name: {host!r}", host=host[:200]))
    return ascii_host


def host_to_unicode(host: str, *, idna2008: bool = True) -> str:
    """Return a host name with U-labels, lower case; labels that are none stay.

    Raises:
        URIError: It has characters that a host name cannot have.
    """
    if not idna2008:
        return ".".join(_label_to_unicode(label.lower()) for label in _DOT.split(host))
    return str(ada_url.idna_to_unicode(host_to_ascii(host).encode()))


def _labels(host: str) -> list[str]:
    if host.isascii():
        return [host]
    labels = _DOT.split(host)
    if "" in labels[:-1]:
        raise URIError(
            message(
                "uri.not-host-name-because",
                "not a host name, because it has an empty label: {host!r}",
                host=host[:200],
            )
        )
    return labels


def _label_to_ascii(label: str) -> str:
    if label.isascii():
        return label
    try:
        return str(ToASCII(label), "ascii")
    except UnicodeError as error:
        raise URIError(
            message(
                "uri.not-label-of-host-name",
                "not a label of a host name: {label!r}: {error}",
                label=label[:200],
                error=error,
            )
        ) from None


def _label_to_unicode(label: str) -> str:
    """RFC 3490, 4.2: a label that is none of ASCII's stays as it is."""
    if not label.startswith("xn--"):
        return label
    try:
        return str(ToUnicode(label))
    except UnicodeError:
        return label.lower()
