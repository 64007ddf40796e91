"""Normalizers without rule files: basic, querystring, Crawler-Commons's query, and ajax."""

import re
from operator import itemgetter
from typing import Literal
from urllib.parse import unquote

from nacre.errors import URIError
from nacre.messages import message
from nacre.uri.domain import host_to_ascii, host_to_unicode
from nacre.uri.javaurl import DEFAULT_PORTS, JavaURL, split_java

IdnForm = Literal["keep", "ascii", "unicode"]

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
# All but printable ASCII, and of that `"<>[]^`{|}`.
_UNSAFE = re.compile(r"%(?![0-9A-Fa-f]{2})|[^!#-;=?-Z\\_a-z~]")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NO_HOST = re.compile(r"[\x00-\x1f\x7f/?#@:\[\]]")
_NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ROUGH_PATH = re.compile(r"/[./]|[.]/")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)|/")
_WEB = frozenset(("http", "https"))


class BasicNormalizer:
    """Brings a URL into Nutch's usual form.

    Args:
        idn: `ascii` and `unicode` rewrite host names; `keep` leaves them.
        idna2008: By IDNA 2008 as browsers have it; else by IDNA 2003.
        trim_trailing_dot: Drop a dot at the end of a host name.
        default_scheme: Put before a text without a scheme; "": it is not a URL.
    """

    def __init__(
        self,
        *,
        idn: IdnForm = "keep",
        idna2008: bool = False,
        trim_trailing_dot: bool = False,
        default_scheme: str = "",
    ) -> None:
        self._default_scheme = default_scheme
        self._idn = idn
        self._idna2008 = idna2008
        self._trim = trim_trailing_dot

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        text = url.strip()
        if not text:
            return text
        if self._default_scheme and not _SCHEME.match(text):
            text = f"{self._default_scheme}://{text}"
        parts = split_java(text)
        if parts.protocol in DEFAULT_PORTS:
            return self._remote(text, parts)
        file = _normalize_escapes(parts.file)
        if parts.protocol == "file":
            file = _with_plain_path(file)
        as_written = parts.ref is None and text.startswith(parts.protocol)
        if as_written and file == _format_file(text, parts):
            return text
        authority = f"//{parts.authority}" if parts.authority else ""
        return f"{parts.protocol}:{authority}{file}"

    def _remote(self, text: str, parts: JavaURL) -> str:
        host = self._host(parts.host)
        port = "" if parts.port in {-1, DEFAULT_PORTS[parts.protocol]} else f":{parts.port}"
        keeps_user = parts.userinfo is not None and parts.protocol not in _WEB
        netloc = (f"{parts.userinfo}@" if keeps_user else "") + host + port
        file = parts.file
        if not file.startswith("/"):
            file = "/" + file
        file = _with_plain_path(_normalize_escapes(file))
        if not netloc and parts.authority == "" and text == f"{parts.protocol}://{file}":
            return text  # `http:///x` names no host, and is left as it is
        slashes = "//" if netloc else ""
        return f"{parts.protocol}:{slashes}{netloc}{file}"

    def _host(self, written: str) -> str:
        host = written
        if "%" in host:
            host = _decode_host(host)
        if not host.startswith("["):
            host = self._name(host)
        return host.lower()

    def _name(self, host: str) -> str:
        if self._idn == "ascii":
            host = host_to_ascii(host, idna2008=self._idna2008)
        elif self._idn == "unicode":
            host = host_to_unicode(host, idna2008=self._idna2008)
        return host.removesuffix(".") if self._trim else host


def _decode_host(host: str) -> str:
    """Return a host without escapes.

    Raises:
        URIError: They are none, no UTF-8, or of what ends a host.
    """
    if _NO_ESCAPE.search(host):
        raise URIError(message("scope.no-host", "no host: {host!r}", host=host[:200]))
    try:
        decoded = unquote(host, errors="strict")
    except UnicodeDecodeError:
        decoded = "/"
    if _NO_HOST.search(decoded):
        raise URIError(message("scope.no-host", "no host: {host!r}", host=host[:200]))
    return decoded


def _normalize_escapes(file: str) -> str:
    """Escapes in upper case, none if none is needed, one wherever one is."""
    if "%" in file:
        file = _ESCAPE.sub(_decode_unreserved, file)
    return _UNSAFE.sub(_escape, file)


def _decode_unreserved(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return chr(code) if code in _UNRESERVED else escape[0].upper()


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _with_plain_path(file: str) -> str:
    """Resolve dot segments and empty segments in the path; the query stays.

    With a backslash all stays: it is not a URI for Java, whose function resolves them.
    """
    path, mark, query = file.partition("?")
    if _ROUGH_PATH.search(path) and "\\" not in file:
        path = _plain(path)
    return f"{path}{mark}{query}"


def _plain(path: str) -> str:
    path_segments: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del path_segments[-1:]
        elif segment not in {"", "."}:
            path_segments.append(segment)
    folder = segments[-1] in {"", ".", ".."} and path_segments
    return "/" + "/".join(path_segments) + ("/" if folder else "")


def _format_file(text: str, parts: JavaURL) -> str:
    """Path and query as in the text, with dot segments."""
    specific = text[len(parts.protocol) + 1 :]
    return (
        specific.removeprefix("//").removeprefix(parts.authority)
        if parts.authority is not None
        else specific
    )


_HASHBANG = "#!"
_ESCAPED_FRAGMENT = "_escaped_fragment_="
_PLAIN = frozenset(range(33, 127)) - frozenset(b"#%&+")


class QuerystringNormalizer:
    """Sorts the parameters; all of them stay."""

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        split_java(url)
        head, mark, after = url.partition("?")
        if not mark or "#" in head:
            return url
        query, sign, ref = after.partition("#")
        pairs = query.split("&")
        while pairs and not pairs[-1]:
            del pairs[-1]
        return f"{head}?{'&'.join(sorted(pairs))}{sign}{ref}"


class QueryNormalizer:
    """Sorts the parameters by name; drops those without one, an `=` before nothing, an empty query.

    As the normalizer of crawler-commons does.
    """

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        head, mark, after = url.partition("?")
        if not mark or "#" in head:
            return url
        query, sign, ref = after.partition("#")
        pairs = [pair.partition("=") for pair in query.split("&")]
        ordered = sorted((pair for pair in pairs if pair[0]), key=itemgetter(0))
        text = "&".join(name + equals + value if value else name for name, equals, value in ordered)
        return f"{head}{'?' if text else ''}{text}{sign}{ref}"


class AjaxNormalizer:
    """`#!x` becomes `?_escaped_fragment_=x`; in scope `indexer` the other way round."""

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        if scope == "indexer":
            return _restore_hash(url) if _ESCAPED_FRAGMENT in url else url
        return _escape_query(url) if _HASHBANG in url else url


def _escape_query(url: str) -> str:
    head, _, fragment = url.partition(_HASHBANG)
    joint = "&" if "?" in head else "?"
    text = "".join(
        chr(b) if b in _PLAIN else f"%{b:02X}" for b in fragment.encode("utf-8", "replace")
    )
    return f"{head}{joint}{_ESCAPED_FRAGMENT}{text}"


def _restore_hash(url: str) -> str:
    head, _, fragment = url.partition(_ESCAPED_FRAGMENT)
    return f"{head[:-1]}{_HASHBANG}{unquote(fragment)}"
