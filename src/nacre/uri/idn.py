"""Host names between Unicode and ASCII, by either IDNA.

IDNA 2008 is UTS 46, not transitional, as browsers have it: `straße` stays itself. IDNA 2003 is what
older Java and Python do: `straße` becomes `strasse`. Source: RFC 3490; Unicode UTS 46.
"""

from encodings.idna import ToASCII, ToUnicode

import ada_url

from nacre.errors import URIError


def host_to_ascii(host: str, *, idna2008: bool = True) -> str:
    """A host name with A-labels, lower case.

    Raises:
        URIError: It cannot be written so.
    """
    if not idna2008:
        labels = [_label_to_ascii(label) for label in host.split(".")]
        return ".".join(labels).lower()
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
        return ".".join(_label_to_unicode(label.lower()) for label in host.split("."))
    return str(ada_url.idna_to_unicode(host_to_ascii(host).encode()))


def _label_to_ascii(label: str) -> str:
    if not label or label.isascii():
        return label
    try:
        return str(ToASCII(label), "ascii")
    except UnicodeError as error:
        raise URIError(f"no label of a host name: {label[:200]!r}: {error}") from None


def _label_to_unicode(label: str) -> str:
    if not label or (label.isascii() and not label.startswith("xn--")):
        return label
    try:
        return str(ToUnicode(label))
    except UnicodeError:
        return label.lower()
