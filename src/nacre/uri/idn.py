"""Host names between Unicode and ASCII, by either IDNA.

IDNA 2008 is UTS 46, not transitional, as browsers have it: `straße` stays itself. IDNA 2003 is what
older Java and Python do: `straße` becomes `strasse`. Source: RFC 3490; Unicode UTS 46.
"""

import re
from encodings.idna import ToASCII, ToUnicode

import ada_url

from nacre.errors import URIError

_DOT = re.compile("[.\u3002\uff0e\uff61]")
"""What stands between labels (RFC 3490, 3.1); UTS 46 maps them all to the first."""


def host_to_ascii(host: str, *, idna2008: bool = True) -> str:
    """A host name with A-labels, lower case.

    Raises:
        URIError: It cannot be written so.
    """
    if not idna2008:
        return ".".join(map(_label_to_ascii, _labels(host))).lower()
    if host.isascii():
        return host.lower()
    try:
        found = str(ada_url.idna_to_ascii(host.encode()), "ascii")
    except ValueError:
        found = ""
    if not found:
        raise URIError(f"no host name: {host[:200]!r}")
    return found


def host_to_unicode(host: str, *, idna2008: bool = True) -> str:
    """A host name with U-labels, lower case; labels that are none stay.

    Raises:
        URIError: It holds what no host name can.
    """
    if not idna2008:
        return ".".join(_label_to_unicode(label.lower()) for label in _DOT.split(host))
    return str(ada_url.idna_to_unicode(host_to_ascii(host).encode()))


def _labels(host: str) -> list[str]:
    if host.isascii():
        return [host]
    labels = _DOT.split(host)
    if "" in labels[:-1]:
        raise URIError(f"no host name, for it has an empty label: {host[:200]!r}")
    return labels


def _label_to_ascii(label: str) -> str:
    if label.isascii():
        return label
    try:
        return str(ToASCII(label), "ascii")
    except UnicodeError as error:
        raise URIError(f"no label of a host name: {label[:200]!r}: {error}") from None


def _label_to_unicode(label: str) -> str:
    """RFC 3490, 4.2: a label that is none of ASCII's stays as it is."""
    if not label.startswith("xn--"):
        return label
    try:
        return str(ToUnicode(label))
    except UnicodeError:
        return label.lower()
