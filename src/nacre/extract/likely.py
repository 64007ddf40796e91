"""Is a string a URI? The gate of speculative links.

Scripts, JSON and `value=` attributes are full of strings; only those of a conservative shape are
tried. Source: Heritrix's `UriUtils.isVeryLikelyUri`. Where Nacre is wider: any number of dots,
dotted folders, non-ASCII letters and names like HTML elements (`style.css`, `video.mp4`) pass when
the extension is a known one.
"""

import re
from urllib.parse import unquote

from nacre.uri.domain import is_top_level

MAX_CANDIDATE = 2083
"""Characters of the longest string that can be a URI."""

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_HOST = r"""[^\s<>"'`/?#\\.]++(?:\.[^\s<>"'`/?#\\.]++|(?!))++\.?"""
_ABSOLUTE = re.compile(
    rf"""(?:https?:)?//{_HOST}(?:[/?#][^\s<>"`\\\ud800-\udfff]*+)?""", re.IGNORECASE
)

_PAIR = r"[\w.%+\[\]~-]++=[\w.%+,:;/@*~!()$\[\]=-]*+"
_RELATIVE = re.compile(
    rf"""
    (?: \.{{1,2}}/ | / )?
    (?P<dirs> (?: [\w\s.-]++ / | (?!) )*+ )
    (?P<name> [\w\s-]*+ )
    (?P<ext> (?: \. [\w\s-]+ )* \. [A-Za-z0-9]{{2,5}} )?
    (?P<query> \? {_PAIR} (?: & {_PAIR} | (?!) )*+ )?
    (?: \# [\w-]*+ )?
    """,
    re.VERBOSE,
)
_DOT_SEGMENT = re.compile(r"(?:^|/)\.{1,2}(?=/)")
_SPACE = re.compile(r"\s")
_NUMBER = re.compile(r"v?\d++\.\d\w*+", re.IGNORECASE)
_MIME = re.compile(
    r"""(?:(?:text|application)/[^/?#]++
    |image/(?:p?jpe?g|gif|x?-?png|x-icon|x-bmp|bmp|tiff?|webp|avif|hei[cf]|apng|jxl|svg)
    |audio/(?:x-)?(?:mpeg3?|mp[34]|ogg|wav|webm|aac|flac|midi?|m4a|aiff|basic|amr|opus|ms-wma)
    |video/(?:x-)?(?:mpe?g4?|mp4|ogg|webm|quicktime|msvideo|flv|ms-wm[vx]|ms-asf|3gpp|avi|m4v)
    |(?:image|audio|video|font|model)/(?:x-|vnd\.)[^/?#]++
    |multipart/(?:form-data|mixed|related)
    |message/(?:rfc822|http)
    |font/(?:woff2?|ttf|otf)
    )""",
    re.IGNORECASE | re.VERBOSE,
)

_GOOD_EXTENSIONS = frozenset(
    (
        *("7z", "aac", "ai", "apk", "asp", "aspx", "atom", "avi", "avif", "bmp", "bz2", "cfm"),
        *("cgi", "css", "csv", "cur", "dmg", "doc", "docx", "eot", "eps", "epub", "exe", "flac"),
        *("flv", "geojson", "gif", "gz", "htm", "html", "ico", "ics", "jar", "jpe", "jpeg", "jpg"),
        *("js", "json", "jsp", "jspx", "jxl", "kml", "kmz", "m3u8", "m4a", "m4v", "md", "mid"),
        *("mjs", "mobi", "mov", "mp3", "mp4", "mpd", "mpeg", "mpg", "odp", "ods", "odt", "oga"),
        *("ogg", "ogv", "opus", "otf", "pdf", "php", "php3", "php5", "phtml", "pls", "png", "ppt"),
        *("pptx", "ps", "psd", "rar", "rdf", "rss", "rtf", "shtml", "svg", "svgz", "swf", "tar"),
        *("tex", "tgz", "tif", "tiff", "ttf", "txt", "vtt", "wasm", "wav", "webm", "webp", "wma"),
        *("wmv", "woff", "woff2", "xhtml", "xls", "xlsx", "xml", "xsl", "xslt", "xz", "zip"),
    )
)

_TAGS = frozenset(
    (
        *("a", "abbr", "acronym", "address", "applet", "area", "article", "aside", "audio", "b"),
        *("base", "bdo", "big", "blockquote", "body", "br", "button", "canvas", "caption"),
        *("center", "cite", "code", "col", "dd", "del", "details", "dfn", "dialog", "dir", "div"),
        *("dl", "dt", "em", "embed", "fieldset", "figure", "font", "footer", "form", "frame"),
        *("frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i"),
        *("iframe", "img", "input", "ins", "kbd", "label", "legend", "li", "link", "main", "map"),
        *("mark", "menu", "meta", "nav", "noscript", "object", "ol", "optgroup", "option", "p"),
        *("param", "picture", "pre", "progress", "q", "s", "samp", "script", "section", "select"),
        *("small", "source", "span", "strike", "strong", "style", "sub", "summary", "sup", "svg"),
        *("table", "tbody", "td", "textarea", "tfoot", "th", "thead", "time", "title", "tr"),
        *("track", "tt", "u", "ul", "var", "video"),
    )
)

_BARE_HOST = re.compile(
    r"(?P<user>[\w.+-]++@)?(?:[a-z0-9][a-z0-9_-]*+\.|(?!))++(?P<tld>[a-z][a-z0-9-]*+)"
    r"(?::\d{1,5})?(?P<path>/.*)?",
    re.DOTALL,
)
_BARE_TLDS = frozenset(
    (
        *("aero", "arpa", "asia", "biz", "cat", "com", "coop", "edu", "gov", "info", "int", "jobs"),
        *("mil", "mobi", "museum", "net", "org", "pro", "tel", "travel", "xyz"),
    )
)
_PROPERTIES = frozenset(("do", "id", "in", "is", "pl", "py", "rs", "sh", "so")) | _GOOD_EXTENSIONS
"""Countries whose domain is rather a property or a file extension in a script."""


def is_very_likely_uri(text: str) -> bool:
    """True for an absolute http(s) URL with a dot in its host, or a relative one of plain shape.

    The text is taken as it is: unescaped, white space stripped, and fixed up by the caller.
    Linear in its length; text longer than 2,083 characters is none.
    """
    if len(text) > MAX_CANDIDATE or ("." not in text and "/" not in text):
        return False
    if _ABSOLUTE.fullmatch(text):
        return True
    match = _RELATIVE.fullmatch(text)
    return match is not None and _is_plausible(text, match)


def _is_plausible(text: str, match: re.Match[str]) -> bool:
    dirs, name, dotted = match["dirs"], match["name"], match["ext"] or ""
    if not (dirs.strip("./ ") or name):
        return text == "/" or text.startswith("/?")
    extension = dotted.rpartition(".")[2].lower()
    is_good = extension in _GOOD_EXTENSIONS
    if extension and not dirs and _looks_like_class(text, name, is_good=is_good):
        return False
    if is_good:
        return True
    return not (
        dotted.count(".") > 1
        or not text.isascii()
        or _SPACE.search(text)
        or "." in _DOT_SEGMENT.sub("", dirs)
        or _MIME.fullmatch(text)
        or _NUMBER.fullmatch(text)
    )


def _looks_like_class(text: str, name: str, *, is_good: bool) -> bool:
    """`div.menu`: a CSS selector. With a good extension only one-letter elements are (`a.php`)."""
    if is_good and len(name) > 1:
        return False
    return name.lower() in _TAGS and text.startswith(name)


def known_extension(extension: str) -> str:
    """Return the extension in lower case when it is one of a file of the web; "" for any other."""
    extension = extension.lower()
    return extension if extension in _GOOD_EXTENSIONS else ""


def speculative_fixup(text: str, base: str) -> str:
    """Make a URL from text that stands for a URL: `www.example.com/a`, `http%3A%2F%2F…`, `&amp;`.

    Args:
        text: A candidate, white space stripped.
        base: URL of the page; its scheme is taken when the text begins with its host. "" for none.

    Returns:
        The text, with a scheme in place of a bare host name; unchanged when nothing applies.
    """
    if "&amp;" in text:
        text = text.replace("&amp;", "&")
    if "%" in text and text[:8].lower().startswith(("http%3a", "https%3a")):
        text = unquote(text)
    match = _BARE_HOST.fullmatch(text) if "." in text else None
    if match is None:
        return _under_base_host(text, base) or text
    same = _under_base_host(text, base)
    if same:
        return same
    if _is_host(text, match["tld"], path=bool(match["path"]), user=bool(match["user"])):
        return "http://" + text
    return text


def _under_base_host(text: str, base: str) -> str:
    if not base:
        return ""
    scheme, mark, after = base.partition("://")
    host = after.partition("/")[0]
    if mark and host and text.startswith(host) and text[len(host) : len(host) + 1] in {"", "/"}:
        return f"{scheme}://{text}"
    return ""


def _is_host(text: str, tld: str, *, path: bool, user: bool) -> bool:
    """True for a real host name; `bs.tab`, `event.target` and `user.id` are rather properties.

    So without `www.` or a path only countries and the old generic domains count.
    """
    if user and not path:
        return False
    short = not path and not text.startswith("www.")
    if short and (tld in _PROPERTIES or (len(tld) > 2 and tld not in _BARE_TLDS)):
        return tld.startswith("xn--") and is_top_level(tld)
    return is_top_level(tld)
