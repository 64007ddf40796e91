"""A page taken apart for comparison with its earlier version (pure, linear, bounded).

It is read tag by tag, so that no page grows beyond its size. URLs are compared without parts that
change with each request. The date of the last change is from JSON-LD or a meta element. Source:
schema.org `dateModified`; Open Graph `article:modified_time`; Dublin Core `modified`.
"""

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs
from turbohtml import Token, TokenType, tokenize

from nacre.core.pagerow import PageView, Piece, Shape
from nacre.extract.html.page import with_end_tags

_BUSTER = re.compile(
    r"(?i)(?:^|(?<=[?&;]))(?:(?:_|t|ts|v|ver|rev|cb|nocache|cachebuster|rnd|rand|random|time|timestamp)"
    r"=(?:(?=[0-9a-f.]*\d)[0-9a-f.]*|)|(?:fbclid|gclid|msclkid|dclid|yclid)=[^&;#]*)(?=[&;]|$)"
)
_SESSION = re.compile(
    r"(?i)(?:^|(?<=[?&;]))(?:jsessionid|phpsessid|aspsessionid\w*|sid|sessid|session_?id|cfid|cftoken)"
    r"=[^&;#]*"
)
_FILES = re.compile(
    r"(?i)\.(?:pdf|docx?|xlsx?|pptx?|wps|et|dps|od[tsp]|ofd|rtf|csv|zip|rar|7z|gz|tgz|epub|mp3|mp4|apk"
    r"|exe|dmg|iso)$"
)


def stable_address(address: str) -> str:
    """Return an address as written, without fragment, session ID and cache buster."""
    address = address.partition("#")[0].strip()
    path, mark, query = address.partition("?")
    path = path.partition(";jsessionid=")[0]
    if not mark:
        return path
    stable_query = _BUSTER.sub("", _SESSION.sub("", query)).strip("&;?")
    stable_query = re.sub("&{2,}", "&", stable_query)
    return f"{path}?{stable_query}" if stable_query else path


def is_file(address: str) -> bool:
    """Return whether a URL is a document to download rather than a page."""
    return _FILES.search(address.partition("?")[0]) is not None


MAX_PIECES = 20_000
_MAX_DEPTH = 128
_LONGEST_PIECE = 4_000
_NAVIGATION = 0.6
_START, _END, _TEXT = TokenType.START_TAG, TokenType.END_TAG, TokenType.TEXT

_PROLOG = ("<?xml", "\ufeff<?xml")
"""Usual beginning of XHTML; the media type of the page is not known here."""

_HIDDEN = "noscript"
_SKIPPED = frozenset(("script", "style", "template", "noembed", "noframes", _HIDDEN))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
_BLOCKS = _HEADINGS | frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li"),
        *(
            "main",
            "nav",
            "noscript",
            "ol",
            "option",
            "p",
            "pre",
            "section",
            "select",
            "summary",
            "table",
        ),
        *("tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul"),
    )
)
# What an opening tag closes, and what stops the search for it.
_CLOSES: Mapping[str, frozenset[str]] = {
    "li": frozenset(("li", "p")),
    "dt": frozenset(("dt", "dd", "p")),
    "dd": frozenset(("dt", "dd", "p")),
    "tr": frozenset(("tr", "td", "th", "p")),
    "td": frozenset(("td", "th", "p")),
    "th": frozenset(("td", "th", "p")),
    "option": frozenset(("option",)),
}
_PARAGRAPH = frozenset(("p",))
_DATE_NAMES = re.compile(
    r"(?i)^(?:pubdate|publishdate|publish_?time|date|dc\.date(?:\.\w+)?|dcterms\.(?:modified|issued)"
    r"|last-?modified|article:(?:published|modified)_time|og:updated_time|og:published_time)$"
)
_ADVERT = re.compile(
    r"(?i)(?:^|[\s_-])(?:ads?|adv|advert\w*|adsense|sponsor\w*|guanggao)(?:$|[\s_-])"
)
_SPACES = re.compile(r"\s+")
_SHOWING = frozenset(
    ("img", "video", "audio", "source", "iframe", "embed", "frame", "object"),
)
_FRAMES = frozenset(("iframe", "embed", "frame", "object"))
_CONCEALED = re.compile(r"(?i)(?:^|[;\s])(?:display\s?:\s?none|visibility\s?:\s?hidden)\b")
"""Style of an element that a browser does not draw. Source: CSS 2.2, 9.2.4 and 11.2."""
_DOT = re.compile(r"[01](?:px)?")
_DOT_STYLES = {
    side: re.compile(rf"(?i)(?:^|[;\s]){side}\s?:\s?[01](?:px)?\s?(?:!\s?important\s?)?(?:;|$)")
    for side in ("width", "height")
}
_ADDRESS = {"a": "href", "area": "href", "object": "data"}
"""Attributes with the URL of an element's content, if it is not `src`."""
_LABELS = {
    **dict.fromkeys(("img", "area", "image"), "alt"),
    **dict.fromkeys(("option", "optgroup", "track"), "label"),
    **dict.fromkeys(("submit", "button", "reset"), "value"),
    "textarea": "placeholder",
    "iframe": "srcdoc",
}
"""Attributes with a text that a reader sees, by element, or by kind of `input`."""
_TEXTLESS = frozenset(("hidden", "checkbox", "radio", "color", "file", "range"))
"""Types of `input` without visible text."""
_HIDDEN_MAIL = "/cdn-cgi/l/email-protection#"
"""How an address of a mailbox is hidden in a link, and replaced by a script. Source: Cloudflare's
documentation of email address obfuscation; the first byte is the key of the others, in base 16."""


def page_view(text: str, *, max_pieces: int = MAX_PIECES) -> PageView:
    """Take a decoded HTML page apart.

    Args:
        text: The page.
        max_pieces: Further pieces are left out, and the view is marked as cut.
    """
    reader = _Reader(max_pieces)
    for token in _tokens(text):
        reader.take(token)
    return reader.view()


def has_text(text: str, size: int) -> bool:
    """Whether the text of a decoded HTML page is so long; no more of the page is read than that.

    Args:
        text: The page.
        size: As `Shape.text` counts: without spaces, a Chinese character as three letters.
    """
    total = 0
    for token in _tokens(text):
        if token.type is _TEXT:
            total += _breadth(token.data or "")
            if total >= size:
                return True
    return False


def page_title(text: str) -> str:
    """Return the title of a decoded HTML page; "" if it has none before its body.

    Args:
        text: The page, or its beginning.
    """
    parts: list[str] = []
    is_title = False
    for token in _tokens(text):
        if token.type is _TEXT and is_title:
            parts.append(token.data or "")
        elif token.type is _START and token.tag in _TITLE_ENDS:
            is_title = token.tag == "title"
            if not is_title:
                break
        elif token.type is _END and token.tag == "title":
            break
    return squeeze("".join(parts))


def visible_text(text: str, most: int) -> str:
    """Return the text of a decoded HTML page, without its title, in one line.

    Args:
        text: The page.
        most: Characters at most.
    """
    parts: list[str] = []
    size, is_title = 0, False
    for token in _tokens(text):
        if token.type is not _TEXT:
            is_title = token.type is _START and token.tag == "title"
        elif not is_title and (part := squeeze(token.data or "")):
            parts.append(part)
            size += len(part)
            if size >= most:
                break
    return " ".join(parts)[:most]


def _tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a decoded page, without invisible ones."""
    if text.startswith(_PROLOG):
        text = with_end_tags(text.encode("utf-8", "replace")).decode()
    skipping = ""
    for token in tokenize(text):
        kind = token.type
        if skipping:
            if kind is _END and token.tag == skipping:
                skipping = ""
                yield token
            elif kind is _TEXT and skipping == _HIDDEN:
                # Its markup is invisible to readers: pixels and frames of trackers.
                yield from (inner for inner in tokenize(token.data or "") if inner.type is _TEXT)
        elif kind is _START and token.tag in _SKIPPED and not _is_shadow_root(token):
            skipping = token.tag
            if skipping == _HIDDEN:
                yield token
        else:
            yield token


def _is_shadow_root(token: Token) -> bool:
    """Whether a start tag begins a shadow root, which browsers draw (HTML Standard, 4.12.3)."""
    if token.tag != "template":
        return False
    return any(name == "shadowrootmode" for name, _ in token.attrs or ())


_TITLE_ENDS = frozenset(("title", "body"))
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x2060, 0xFEFF))
"""Characters without a width: soft hyphens, places to break a line or not to."""


def squeeze(text: str) -> str:
    """Return text in NFKC with collapsed spaces, without invisible characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_UNSEEN))
    return _SPACES.sub(" ", text).strip()


class _Reader:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stack: list[str] = []
        self._places: list[int] = [zlib.crc32(b"")]
        self._buffer: list[str] = []
        self._links: list[str] = []
        self._anchored = 0
        self._in_link = self._is_line = False
        self._advert = 0
        self._pieces: list[Piece] = []
        self._paper = _PaperText()
        self._shape = _ShapeReader()
        self._text: list[str] = []

    def take(self, token: Token) -> None:
        kind, tag = token.type, token.tag or ""
        if kind is _TEXT:
            self._data(token.data or "")
        elif kind is _START:
            self._open(tag, token.attrs or ())
        elif kind is _END:
            self._close(tag)

    def view(self) -> PageView:
        self._flush()
        truncated = len(self._pieces) >= self._limit
        _mark_labels(self._pieces)
        text = " ".join(self._text)
        return PageView(
            tuple(self._pieces),
            self._paper.digest(),
            text,
            truncated,
            self._shape.shape(),
        )

    def _data(self, data: str) -> None:
        self._buffer.append(data)
        self._anchored += len(data.strip()) if self._in_link else 0
        self._paper.text(data)
        self._shape.data(data)

    def _open(self, tag: str, pairs: Iterable[tuple[str, str | None]]) -> None:
        attrs = {name: value or "" for name, value in pairs}
        self._paper.open(tag)
        if tag in _BLOCKS or tag == "br":
            self._flush()
            self._is_line = tag == "br"
        if tag in _BLOCKS and tag not in _VOID:
            self._imply_end(_CLOSES.get(tag, _PARAGRAPH))
            self._push(tag, attrs)
        if tag == "a":
            self._in_link = True
            self._shape.open_link(self._places[-1])
        self._refer(tag, attrs)
        self._label(tag, attrs)

    def _close(self, tag: str) -> None:
        self._paper.close(tag)
        if tag == "a":
            self._in_link = False
            self._shape.close_link()
        if tag not in _BLOCKS:
            return
        self._flush()
        self._is_line = False
        if tag in self._stack:
            self._pop(len(self._stack) - 1 - self._stack[::-1].index(tag))

    def _imply_end(self, names: frozenset[str]) -> None:
        while self._stack and self._stack[-1] in names:
            self._pop(len(self._stack) - 1)

    def _push(self, tag: str, attrs: Mapping[str, str]) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            return
        label = attrs.get("class", "") or attrs.get("id", "")
        if not self._advert and _ADVERT.search(label):
            self._advert = len(self._stack) + 1
        # Numbers in names distinguish instances, not kinds.
        word = re.sub(r"\d+", "#", f"/{tag}.{label}")
        self._stack.append(tag)
        self._places.append(zlib.crc32(word.encode("utf-8", "replace"), self._places[-1]))

    def _pop(self, size: int) -> None:
        del self._stack[size:]
        if size < self._advert:
            self._advert = 0
        del self._places[size + 1 :]

    def _flush(self) -> None:
        anchored, self._anchored = self._anchored, 0
        text = squeeze("".join(self._buffer)) if self._buffer else ""
        self._buffer.clear()
        if not text and self._in_link:
            return  # a link around blocks belongs to the first that has a text
        links, self._links = self._links, []
        is_nav = bool(text) and anchored >= _NAVIGATION * len(text)
        if text:
            self._add_text(text, is_nav=is_nav)
        for link in links:
            self._add("nav-link" if is_nav else "link", link)

    def _add_text(self, text: str, *, is_nav: bool) -> None:
        self._text.append(text)
        self._shape.block(text)
        innermost = self._stack[-1] if self._stack else ""
        kind = "title" if innermost == "title" else "nav" if is_nav else "text"
        kind = "heading" if innermost in _HEADINGS else kind
        # A long block is several pieces: nothing of it may change unseen.
        for at in range(0, len(text), _LONGEST_PIECE):
            self._add(kind, text[at : at + _LONGEST_PIECE], is_line=self._is_line)

    def _refer(self, tag: str, attrs: Mapping[str, str]) -> None:
        address = attrs.get(_ADDRESS.get(tag, "src"), "")
        if address.startswith(_HIDDEN_MAIL):
            address = f"mailto:{_plain_mail(address.partition('#')[2])}"
        if tag in {"a", "area"} and address and not address.startswith(("#", "javascript:")):
            if is_file(address):
                self._add("file", stable_address(address))
            elif len(self._links) < self._limit:
                self._links.append(stable_address(address))
        elif tag in _SHOWING and address:
            if not address.startswith("data:") and not _is_unseen(tag, attrs):
                self._add("image", stable_address(address))
        else:
            self._refer_unseen(tag, attrs)

    def _refer_unseen(self, tag: str, attrs: Mapping[str, str]) -> None:
        """Add the target of a refresh, or a date in attributes."""
        if tag == "meta" and attrs.get("http-equiv", "").lower() == "refresh":
            target = attrs.get("content", "").partition("=")[2]
            if target:
                self._add("link", stable_address(target.strip(" \"'")))
        elif tag == "meta" and _DATE_NAMES.match(attrs.get("name") or attrs.get("property") or ""):
            self._add("date", squeeze(attrs.get("content", "")))
        elif tag == "time" and attrs.get("datetime"):
            self._add("date", squeeze(attrs["datetime"]))

    def _label(self, tag: str, attrs: Mapping[str, str]) -> None:
        """Add the text that a reader sees of attributes."""
        name = _LABELS.get(tag, "")
        if tag == "input":
            kind = attrs.get("type", "").lower()
            name = "" if kind in _TEXTLESS else _LABELS.get(kind, "placeholder")
        text = attrs.get(name, "") if name else ""
        if "data-cfemail" in attrs:
            text = _plain_mail(attrs["data-cfemail"])
        if tag == "iframe" and text:
            # A page within the page; another page within it is markup.
            inner = (token.data or "" for token in _tokens(text) if token.type is _TEXT)
            text = " ".join(inner)
        text = squeeze(text)
        kind = "nav" if self._in_link else "text"
        for at in range(0, len(text), _LONGEST_PIECE):
            self._add(kind, text[at : at + _LONGEST_PIECE])

    def _add(self, kind: str, text: str, *, is_line: bool = False) -> None:
        if len(self._pieces) < self._limit:
            kind = "advert" if self._advert else kind
            self._pieces.append(Piece(kind, self._places[-1], text, is_line))


def _is_unseen(tag: str, attrs: Mapping[str, str]) -> bool:
    """Return whether a browser draws nothing of a frame or picture, or a dot: trackers are such.

    A picture without a query may be hidden until a script shows it.
    """
    if tag not in _FRAMES and tag != "img":
        return False
    style = attrs.get("style", "")
    if all(
        _DOT.fullmatch(attrs.get(side, "")) or pattern.search(style)
        for side, pattern in _DOT_STYLES.items()
    ):
        return True
    concealed = "hidden" in attrs or _CONCEALED.search(style) is not None
    if tag == "img":
        return concealed and "?" in attrs.get("src", "")
    return concealed or attrs.get("aria-hidden", "").lower() == "true"


def _plain_mail(hidden: str) -> str:
    """Decode a mailbox that a script shows; see `_HIDDEN_MAIL`. Other texts stay unchanged."""
    try:
        key, *letters = bytes.fromhex(hidden[:1_000])
    except ValueError:
        return hidden
    return bytes(letter ^ key for letter in letters).decode("utf-8", "replace")


_LABEL = 40
"""Length of a text up to which it may be the label of a group of links, as `Shape.text` counts."""


def _mark_labels(pieces: list[Piece]) -> None:
    """Make short texts between links pieces of the menu: the names of its groups."""
    read = [at for at, piece in enumerate(pieces) if piece.kind in _READ]
    kinds = [pieces[at].kind for at in read]
    for before, at, behind in zip(kinds, read[1:], kinds[2:], strict=False):
        piece = pieces[at]
        if before == behind == "nav" and piece.kind != "nav" and _breadth(piece.text) <= _LABEL:
            pieces[at] = structs.replace(piece, kind="nav")


_READ = frozenset(("text", "heading", "nav"))


class _ShapeReader:
    def __init__(self) -> None:
        self._text = self._anchors = self._longest = self._dated = 0
        self._groups: dict[int, list[int]] = {}
        self._place: int | None = None
        self._anchor = 0
        self._outside = 0

    def open_link(self, place: int) -> None:
        self.close_link()
        self._place = place

    def close_link(self) -> None:
        if self._place is not None and self._anchor:
            self._groups.setdefault(self._place, []).append(self._anchor)
            self._anchors += self._anchor
        self._place, self._anchor = None, 0

    def data(self, data: str) -> None:
        size = _breadth(data)
        self._text += size
        if self._place is None:
            self._outside += size
        else:
            self._anchor += size

    def block(self, text: str) -> None:
        self._longest = max(self._longest, self._outside)
        self._outside = 0
        self._dated += _DATED.search(text[-24:]) is not None

    def shape(self) -> Shape:
        self.close_link()
        largest = max(self._groups.values(), key=len, default=[0])
        return Shape(
            text=self._text,
            anchors=self._anchors,
            links=sum(map(len, self._groups.values())),
            group=len(largest) if self._groups else 0,
            group_length=sorted(largest)[len(largest) // 2],
            longest=self._longest,
            dated=self._dated,
        )


_DATED = re.compile(r"(?:\d{4}[-/.年]\s?)?\d{1,2}[-/.月]\s?\d{1,2}\s?[日)\]]?$")


def _breadth(text: str) -> int:
    """Return the length of a text without spaces; a Chinese character counts as three letters."""
    packed = text if " " not in text and "\n" not in text else "".join(text.split())
    if packed.isascii():
        return len(packed)
    return sum(3 if char >= "\u2e80" else 1 for char in packed)


class _PaperText:
    """MD5 of each text node in `p` or `span`, or beside `br`, once, in document order."""

    def __init__(self) -> None:
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._open: dict[str, int] = {"p": 0, "span": 0}
        self._pending = ""
        self._beside = False

    def open(self, tag: str) -> None:
        self._settle(before_break=tag == "br")
        self._beside = tag == "br"
        if tag == "p":
            self._open["p"] = 1
        elif tag in self._open:
            self._open[tag] += 1

    def close(self, tag: str) -> None:
        self._settle(before_break=False)
        self._beside = tag == "br"
        if self._open.get(tag):
            self._open[tag] -= 1

    def text(self, data: str) -> None:
        self._pending += data

    def digest(self) -> bytes:
        self._settle(before_break=False)
        return self._md5.digest()

    def _settle(self, *, before_break: bool) -> None:
        text, self._pending = self._pending.strip(), ""
        if text and (any(self._open.values()) or self._beside or before_break):
            self._md5.update(text.encode("utf-8", "replace") + b"\n")
