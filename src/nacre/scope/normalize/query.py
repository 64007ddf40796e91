"""Normalizers of the query: sorted, cleaned, and `#!` addresses of old Ajax pages."""

from operator import itemgetter
from urllib.parse import unquote

from nacre.uri.javaurl import split_java

_HASHBANG = "#!"
_ESCAPED_FRAGMENT = "_escaped_fragment_="
_PLAIN = frozenset(range(33, 127)) - frozenset(b"#%&+")


class Querystring:
    """Sorts the parameters; all of them stay."""

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        split_java(url)
        head, mark, rest = url.partition("?")
        if not mark or "#" in head:
            return url
        query, sign, ref = rest.partition("#")
        pairs = query.split("&")
        while pairs and not pairs[-1]:
            del pairs[-1]
        return f"{head}?{'&'.join(sorted(pairs))}{sign}{ref}"


class CleanQuery:
    """Sorts the parameters by name; drops those without one, an `=` before nothing, an empty query.

    As the normalizer of crawler-commons does.
    """

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        head, mark, rest = url.partition("?")
        if not mark or "#" in head:
            return url
        query, sign, ref = rest.partition("#")
        pairs = [pair.partition("=") for pair in query.split("&")]
        kept = sorted((pair for pair in pairs if pair[0]), key=itemgetter(0))
        text = "&".join(name + equals + value if value else name for name, equals, value in kept)
        return f"{head}{'?' if text else ''}{text}{sign}{ref}"


class Ajax:
    """`#!x` becomes `?_escaped_fragment_=x`; in scope `indexer` the other way round."""

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        if scope == "indexer":
            return _hashed(url) if _ESCAPED_FRAGMENT in url else url
        return _escaped(url) if _HASHBANG in url else url


def _escaped(url: str) -> str:
    head, _, fragment = url.partition(_HASHBANG)
    joint = "&" if "?" in head else "?"
    text = "".join(
        chr(b) if b in _PLAIN else f"%{b:02X}" for b in fragment.encode("utf-8", "replace")
    )
    return f"{head}{joint}{_ESCAPED_FRAGMENT}{text}"


def _hashed(url: str) -> str:
    head, _, fragment = url.partition(_ESCAPED_FRAGMENT)
    return f"{head[:-1]}{_HASHBANG}{unquote(fragment)}"
