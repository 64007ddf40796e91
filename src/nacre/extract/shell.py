"""Signs that a page needs a browser: it is a shell which its scripts fill (pure, linear).

Two signs run a page: an empty mount point of a framework, or links to routes behind a `#`. So does
a page with hardly any text beside a script. `noscript` and late pictures are on many pages that are
whole without a script: they only allow a probe, unless the page has hardly any text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import re2
from msgspec import structs
from turbohtml import Token, TokenType, tokenize

from nacre.extract.document import Document
from nacre.extract.html.page import with_end_tags
from nacre.extract.text import read_text
from nacre.wire.charset import detect

SIGNS: Final = ("mount", "noscript", "hashRoutes", "thin", "lazy")
"""The signs, the most decisive first."""

THIN: Final = 300
"""Letters of visible text below which a page has hardly any; see `text_width`."""
LISTED: Final = 10
"""Links from which on a page is a list: it is never run for its short text alone."""
_PICTURES: Final = 5
_LOGO: Final = 1
_LAZY: Final = 5
_ROUTES: Final = 2
BLANK: Final = 60
"""Letters that an empty page or mount point may have: `Loading, please wait …`."""
_LARGEST: Final = 300_000
"""A bound of work: the part of a page that is read, in bytes."""
_MOST_SCRIPTS: Final = 64
_LONGEST_INLINE: Final = 50_000
_REDIRECT: Final = 600
"""Longest inline script that does nothing but lead to another page, in characters."""

_START, _END, _TEXT = TokenType.START_TAG, TokenType.END_TAG, TokenType.TEXT


class Signs(NamedTuple):
    """The parts of a page that say whether its scripts bring its content.

    Attributes:
        text: Visible text, in letters; see `text_width`.
        links: Links to other documents.
        pictures: Pictures with an address.
        scripted: Whether a script could bring content; statistics of visitors cannot.
        leads_away: Whether it is a frameset, or leads to another page by itself.
        mount: Name of an empty mount point, such as `#root`; "" for none.
        noscript: Whether a `noscript` element requests scripts.
        routes: Links to `#/…` or `#!…`.
        late: Pictures and frames that a script loads late, or an empty list that it fills.
        scripts: Paths of the external scripts without versions, sorted: pages of a site with the
            same scripts are of one template.
        shows: Whether it has a canvas, a frame, a plug-in, media or a field of a form.
        draws: Whether it has an SVG.
    """

    text: int = 0
    links: int = 0
    pictures: int = 0
    scripted: bool = False
    leads_away: bool = False
    mount: str = ""
    noscript: bool = False
    routes: int = 0
    late: int = 0
    scripts: tuple[str, ...] = ()
    shows: bool = False
    draws: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether it shows nothing without its scripts, so that any content is a gain."""
        if self.text >= THIN:
            return False
        if self.mount:
            return True
        return not self.links and self.pictures <= _LOGO and (self.noscript or self.text < BLANK)


class BrowserDecision(NamedTuple):
    """Whether a page goes to a browser.

    Attributes:
        sign: The most decisive sign; "" for none.
        runs: Whether the sign runs the page; if not, it only allows a probe.
    """

    sign: str = ""
    runs: bool = False


NO_SIGN: Final = BrowserDecision()


def needs_browser(signs: Signs) -> BrowserDecision:
    """Decide by the signs of a whole HTML page with status 200."""
    if not signs.scripted:
        return NO_SIGN
    is_thin = signs.text < THIN and not signs.leads_away
    is_late = signs.late >= _LAZY
    is_list = signs.links >= LISTED or signs.pictures >= _PICTURES
    cases = (
        ("mount", bool(signs.mount), True),
        ("noscript", signs.noscript and is_thin, True),
        ("hashRoutes", signs.routes >= _ROUTES, True),
        ("thin", is_thin and not is_late, not is_list),
        ("noscript", signs.noscript, False),
        ("lazy", is_late, is_thin),
    )
    return next((BrowserDecision(sign, runs=runs) for sign, shows, runs in cases if shows), NO_SIGN)


_WIDE = re.compile("[\u2e80-\U0010ffff]+")


def text_width(text: str) -> int:
    """Return the length of a text in letters, with collapsed spaces.

    A character of Chinese, Japanese or Korean counts as three: 300 letters are 100 of them.
    Measured on the Debian FAQ: 141,000 letters in English, whose translation has 39,000 Chinese
    characters and 29,000 letters that stay as they are, so 2.9 letters for each.
    """
    packed = " ".join(text.split())
    if packed.isascii():
        return len(packed)
    return len(packed) + 2 * sum(map(len, _WIDE.findall(packed)))


def page_text(document: Document) -> str:
    """Return the decoded beginning of an HTML document, as much of it as is searched for signs."""
    body = document.body[:_LARGEST]
    charset = document.charset or detect(body, document.charset_header)[0]
    return read_text(structs.replace(document, body=body, charset=charset))


def has_scripts(body: bytes) -> bool:
    """Whether a page has scripts; without any it needs no browser."""
    return not _has_ascii(body) or b"<script" in body or b"<SCRIPT" in body


def _has_ascii(body: bytes) -> bool:
    """Whether tags are readable as bytes: not so in UTF-16."""
    return b"\0" not in body[:200]


def may_show_signs(body: bytes, *, quick: bool = False) -> bool:
    """Whether a page with enough text and links may show a sign: a few passes, without parsing.

    Args:
        body: The page, in UTF-8, GBK or another encoding that has ASCII in it.
        quick: Search for signs that run a page, not for those that only allow a probe.
    """
    if not _has_ascii(body):
        return True
    body = body[:_LARGEST]
    if _MOUNT_MARK.search(body) is not None or _ROUTE_MARK.search(body) is not None:
        return True
    return not quick and any(mark in body for mark in _PROBE_MARKS)


_PROBE_MARKS: Final = (b"<noscript", b'="lazy', b"=lazy", b"data-src", b"IntersectionObserver")


def _mark(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    """Compile a pattern of bytes that begins with a literal, for which re2 is fast."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # a character is a byte
    return re2.compile(pattern.encode(), options)


_MOUNTS: Final = frozenset(
    (
        *("root", "app", "__next", "__nuxt", "___gatsby", "q-app", "svelte", "app-root"),
        *("react-root", "react-app", "vue-app", "app-container", "application"),
        *("swagger-ui", "redoc", "redoc-container"),
    )
)
"""`id` of an element that a framework fills."""
_MOUNT_TAGS: Final = frozenset(("app-root", "my-app", "redoc", "rapi-doc", "elements-api"))
_MOUNT_ATTRIBUTES: Final = frozenset(
    ("data-reactroot", "data-server-rendered", "data-v-app", "ng-view", "ui-view", "ng-app")
)
_MOUNT_MARK = _mark(rf"id=[\"']?(?:{'|'.join(map(re.escape, sorted(_MOUNTS)))})[\"' >]")
_ROUTE_MARK = _mark(r"href=[\"']?#[!/]")

_UNSEEN: Final = frozenset(
    ("script", "style", "template", "noscript", "noembed", "noframes", "iframe", "head", "svg")
)
"""Elements whose text is no visible text of the page."""
_ASKS_FOR_SCRIPTS: Final = re.compile(r"(?i)java\s?script|\bscript|脚本|腳本")
_SCRIPT_TYPES: Final = re.compile(
    r"(?i)^(?:|module|(?:text|application)/(?:x-)?(?:java|ecma)script.*)$"
)
_STATISTICS: Final = re.compile(
    r"(?i)google-analytics|googletagmanager|googlesyndication|/gtag|hm\.baidu\.com|cnzz\.com"
    r"|51\.la/|matomo|piwik|plausible|cloudflareinsights|clarity\.ms|hotjar|umami|counter"
)
_BRINGS: Final = re.compile(
    r"\bfetch\s*\(|XMLHttpRequest|createElement|innerHTML|appendChild|insertAdjacent"
    r"|document\.write|\bimport\s*\(|\bimport\s|\$\.(?:get|ajax|load)|createApp|createRoot|axios"
)
_LEAVES: Final = re.compile(r"location\s*(?:\.\s*(?:href\s*=|replace|assign)|=[^=])")
_VERSION: Final = re.compile(
    r"[0-9a-f]{6,}|\d+|(?<=[-.])[A-Za-z0-9_-]{8,}(?=\.m?js)", re.IGNORECASE
)
_LATE_SOURCES: Final = ("data-src", "data-srcset", "data-lazy-src", "data-original")
_FRAMES: Final = frozenset(("frameset", "frame"))
_REFERRING: Final = frozenset(("a", "img", "iframe", "source", "video")) | _FRAMES
_LISTS: Final = frozenset(("ul", "ol", "tbody"))
_SHOWING: Final = frozenset(
    (
        *("canvas", "iframe", "object", "embed", "applet", "video", "audio", "math"),
        *("input", "select", "textarea", "button"),
    )
)
"""Elements that show something which is neither text nor a picture."""
_MARKING: Final = _SHOWING | {"svg", "meta"}


_PROLOG: Final = ("<?xml", "\ufeff<?xml")
"""Usual beginning of XHTML, in which `<div id="app"/>` is a whole element."""
_HEAD: Final = frozenset(
    ("head", "title", "meta", "link", "base", "script", "style", "template", "noscript", "html")
)
"""Elements that do not end a head; any other does."""
_ENDS_SVG: Final = frozenset(("body", "div", "h1", "h2", "h3", "li", "main", "p", "table", "ul"))
"""Some of the tags that end an open `svg`. Source: HTML, 13.2.6.5."""


def find_signs(text: str) -> Signs:
    """Return the signs of a decoded HTML page."""
    reader = _SignReader()
    for token in _tokens(text):
        reader.take(token)
    return reader.signs()


def blank_signs(text: str) -> Signs | None:
    """Return the signs of a decoded HTML page with less than `BLANK` letters; None if it has more.

    No more of a page with text is read than that.
    """
    reader = _SignReader()
    for token in _tokens(text):
        reader.take(token)
        if reader.text >= BLANK:
            return None
    return reader.signs()


def _tokens(text: str) -> Iterable[Token]:
    if text.startswith(_PROLOG):
        text = with_end_tags(text.encode("utf-8", "replace")).decode()
    return tokenize(text)


class _Mount:
    """A mount point that is open, and the content of the page when it began."""

    def __init__(self, name: str, tag: str, text: int, content: int) -> None:
        self.name = name
        self.tag = tag
        self.depth = 1
        self.text = text
        self.content = content

    def count(self, step: int, tag: str) -> bool:
        """Count a tag that opens (1) or closes (-1); return whether it ends the element."""
        if tag == self.tag:
            self.depth += step
        return not self.depth


class _SignReader:
    """Reads the signs of a page, token by token.

    Attributes:
        text: Letters of its text so far.
    """

    def __init__(self) -> None:
        self._unseen: list[str] = []
        self._is_script = False
        self.text = self._links = self._pictures = 0
        self._scripted = self._leads_away = self._noscript = self._observes = False
        self._routes: set[str] = set()
        self._late = self._empty_lists = 0
        self._list = ""
        self._mount: _Mount | None = None
        self._mount_name = ""
        self._scripts: set[str] = set()
        self._shows = self._draws = False

    def take(self, token: Token) -> None:
        kind, tag = token.type, token.tag or ""
        if kind is _TEXT:
            if self._unseen:
                self._read_unseen(token.data or "")
            elif width := text_width(token.data or ""):
                self.text += width
                self._list = ""
        elif kind is _START:
            self._open(tag, token)
        elif kind is _END:
            self._close(tag)

    def signs(self) -> Signs:
        self._end_mount()
        late = self._late
        if self._observes and self._empty_lists:
            late = max(late, _LAZY)
        return Signs(
            *(self.text, self._links, self._pictures, self._scripted, self._leads_away),
            *(self._mount_name, self._noscript, len(self._routes), late),
            *(tuple(sorted(self._scripts)), self._shows, self._draws),
        )

    def _read_unseen(self, data: str) -> None:
        if self._is_script:
            self._read_script(data[:_LONGEST_INLINE])
        elif self._unseen[-1] == "noscript":
            if "<" in data:  # the texts of its markup alone: a picture of statistics has none
                inner = tokenize(data)
                data = " ".join(token.data or "" for token in inner if token.type is _TEXT)
            self._noscript |= _ASKS_FOR_SCRIPTS.search(data) is not None

    def _read_script(self, code: str) -> None:
        brings = _BRINGS.search(code) is not None
        self._scripted |= brings
        is_short = len(code) < _REDIRECT and not brings and not self._scripts
        self._leads_away |= is_short and _LEAVES.search(code) is not None
        self._observes |= "IntersectionObserver" in code

    def _open(self, tag: str, token: Token) -> None:
        if self._mount is not None:
            self._mount.count(1, tag)
        if self._unseen and _ends(self._unseen[-1], tag):
            self._unseen.pop()
        if tag == "script":
            self._open_script(dict(token.attrs or ()))
        if tag in _MARKING:
            self._mark(tag, token)
        if tag in _UNSEEN:
            self._unseen.append(tag)
        if self._unseen:
            return
        self._list = tag if tag in _LISTS else ""
        if token.attrs or tag in _MOUNT_TAGS:
            attrs = dict(token.attrs or ())
            if self._mount is None and not self._mount_name and (name := _mount_of(tag, attrs)):
                self._mount = _Mount(name, tag, self.text, self._links + self._pictures)
            if tag in _REFERRING:
                self._refer(tag, attrs)

    def _mark(self, tag: str, token: Token) -> None:
        attrs = dict(token.attrs or ())
        if tag == "meta":
            self._read_meta(attrs)
        elif not self._unseen:
            self._draws |= tag == "svg"
            self._shows |= tag != "svg" and _is_shown(attrs)

    def _read_meta(self, attrs: Mapping[str, str]) -> None:
        if attrs.get("http-equiv", "").lower() == "refresh":
            self._leads_away |= "url" in attrs.get("content", "").lower()

    def _open_script(self, attrs: Mapping[str, str]) -> None:
        self._is_script = _SCRIPT_TYPES.match(attrs.get("type", "").strip()) is not None
        source = attrs.get("src", "")
        if self._is_script and source and not _STATISTICS.search(source):
            self._scripted = True
            if len(self._scripts) < _MOST_SCRIPTS:
                self._scripts.add(script_name(source))

    def _refer(self, tag: str, attrs: Mapping[str, str]) -> None:
        if tag == "a":
            href = attrs.get("href", "").strip()
            if href.startswith(("#/", "#!")):
                self._routes.add(href[:200])
            elif href and not href.startswith(("#", "javascript:")):
                self._links += 1
        elif tag in _FRAMES:
            self._leads_away = True
        else:
            has_source = bool(attrs.get("src") or attrs.get("srcset"))
            is_late = any(attrs.get(name) for name in _LATE_SOURCES)
            self._late += is_late or (attrs.get("loading") == "lazy" and not has_source)
            self._pictures += has_source and not is_late and tag == "img"

    def _close(self, tag: str) -> None:
        if self._mount is not None and self._mount.count(-1, tag):
            self._end_mount()
        if tag in self._unseen:
            while self._unseen.pop() != tag:
                pass
        if tag == "script":
            self._is_script = False
        self._empty_lists += bool(self._list) and tag == self._list
        self._list = ""

    def _end_mount(self) -> None:
        mount, self._mount = self._mount, None
        if mount is not None:
            text, content = self.text - mount.text, self._links + self._pictures - mount.content
            if text < BLANK and not content:
                self._mount_name = mount.name


def _ends(unseen: str, tag: str) -> bool:
    """Return whether a tag ends an element that was not closed."""
    return (unseen == "head" and tag not in _HEAD) or (unseen == "svg" and tag in _ENDS_SVG)


def _is_shown(attrs: Mapping[str, str]) -> bool:
    """Return whether a frame or field is visible; those of statistics and for tokens are not."""
    is_dot = attrs.get("height") in {"0", "1"}
    style = attrs.get("style", "").replace(" ", "")
    return not is_dot and attrs.get("type") != "hidden" and "display:none" not in style


def _mount_of(tag: str, attrs: Mapping[str, str]) -> str:
    """Return the name of a mount point; "" for another element."""
    if tag in _MOUNT_TAGS:
        return tag
    name = attrs.get("id", "")
    if name.lower() in _MOUNTS:
        return f"#{name}"
    return next((f"[{key}]" for key in attrs if key in _MOUNT_ATTRIBUTES), "")


def script_name(source: str) -> str:
    """Return the path of a script without the version in its name: `assets/main.#.js`."""
    path = source.partition("?")[0].partition("#")[0]
    path = path.partition("://")[2].partition("/")[2] if "://" in path else path
    folder, slash, name = path.lstrip("./")[-200:].rpartition("/")
    return folder + slash + _VERSION.sub("#", name)


def template_of(signs: Signs, decision: BrowserDecision) -> str:
    """Return the template of a page on its site: its scripts, and whether its sign runs it."""
    return "\n".join(("run" if decision.runs else "probe", *signs.scripts))
