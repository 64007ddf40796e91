"""Pages in replay: their URLs lead into the archive, and nothing in them undoes that (pure).

Changed are attributes with URLs that would leave the archive or resolve wrongly there
(`page_urls`), style sheets inside the page, import maps, and what would govern the browser:
policies and referrer policies in `meta`, `integrity`, `sandbox` and `ping`, whose names are kept
behind `data-nacre-`. The shim is put first into the head. All other bytes stay.

This makes a page complete; the policy that `headers` sends with it makes it safe.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from nacre.extract.headers import refresh_place
from nacre.extract.html.walk import candidate_places
from nacre.replay.markup import (
    RAW_TEXTS,
    MarkupView,
    Tag,
    TagAttribute,
    end_of_raw_text,
    next_tag,
    place_in_head,
    read_attribute,
    write_attribute,
)
from nacre.replay.page_urls import PageAddress, Rewrite, UrlRewriter
from nacre.replay.rewrite_css import (
    TextEdit,
    apply_edits,
    css_edits,
    hide_backslashes,
    rewrite_style,
)
from nacre.wire.guess import codec_of

SHIM: Final = "/-/shim.js"
"""Path of the script that pages run first."""

_HIDDEN: Final = "data-nacre-"
_DEEPEST: Final = 3
"""Documents within documents (`srcdoc`) that are rewritten."""
_URLS: Final = frozenset(
    (
        *(b"href", b"src", b"action", b"formaction", b"background", b"codebase", b"dynsrc"),
        *(b"longdesc", b"lowsrc", b"manifest", b"poster", b"xlink:href"),
    )
)
_HIDDEN_NAMES: Final = frozenset((b"csp", b"integrity", b"ping", b"referrerpolicy", b"sandbox"))
_GOVERNING_METAS: Final = frozenset(
    (
        *("content-security-policy", "content-security-policy-report-only", "accept-ch"),
        *("delegate-ch", "origin-trial", "permissions-policy", "x-dns-prefetch-control"),
        *("x-frame-options", "set-cookie"),
    )
)
_CLEAN: Final = rb"(?:[A-Za-z0-9_~!$*()+,;@%=?#:-]++|(?<!/)\.|/(?!\.)|&amp;|&(?![#A-Za-z])|(?!))*+"
_CLEAN_URL: Final = re.compile(
    rb"https?://[a-z0-9-][a-z0-9.-]*+(?::[0-9]++|(?!))?+/(?!\.)" + _CLEAN
)
_CLEAN_PATH: Final = re.compile(rb"/(?![/\\.])" + _CLEAN)
_IMPORT_MAP: Final = re.compile(rb"\btype\s*=\s*[\"']?importmap", re.IGNORECASE)


def rewrite_page(
    body: bytes, charset: str, page: PageAddress, cookies: Sequence[str] = ()
) -> bytes:
    """Return a page that runs in replay.

    Args:
        body: The page, without content coding; HTML, XHTML, or an SVG document.
        charset: Its codec or label, as `wire.charset.detect` gives it.
        page: Its address.
        cookies: Fields `Set-Cookie` of its reply that its scripts can read.
    """
    codec = codec_of(charset) or charset
    return _rewrite(body, codec, page, UrlRewriter(page, codec), 0, "\n".join(cookies))


def _rewrite(
    body: bytes, codec: str, page: PageAddress, urls: UrlRewriter, depth: int, cookies: str = ""
) -> bytes:
    view = MarkupView(body, codec)
    edits = [
        *_head(view.view, page, urls.prefix, cookies),
        *_PageWalk(view, codec, page, urls, depth).run(),
    ]
    edits.sort(key=_start)
    return view.apply(edits)


def _start(edit: TextEdit) -> int:
    return edit.start


def _head(view: bytes, page: PageAddress, prefix: str, cookies: str) -> Iterator[TextEdit]:
    """What is put first into the head: the shim with the facts of the page, and an import map."""
    place = place_in_head(view)
    if place < 0:
        return
    url, timestamp = write_attribute(page.url), write_attribute(page.timestamp)
    facts = f'data-timestamp="{timestamp}" data-url="{url}"'
    if cookies:
        facts += f' data-cookies="{write_attribute(cookies)}"'
    script = f'<script src="{SHIM}" {facts}></script>'
    if b"module" in view and not _IMPORT_MAP.search(view):
        script += f'<script type="importmap">{_json(import_map({}, prefix, str))}</script>'
    yield TextEdit(place, place, script)


def import_map(written: object, prefix: str, rewrite: Callable[[str], str]) -> dict[str, object]:
    """Return an import map by which every absolute URL that a module imports is an archived one.

    A longer key counts first, so that the entries of the page win, and a URL of replay is left.

    Args:
        written: The import map of the page, as JSON values; any value.
        prefix: What is put before an absolute URL.
        rewrite: Gives the new URL of a URL.
    """
    written = written if isinstance(written, dict) else {}
    scopes = written.get("scopes")
    entries = {"/": "/", "http://": f"{prefix}http://", "https://": f"{prefix}https://"}
    return {
        "imports": entries | _addresses(written.get("imports"), rewrite),
        "scopes": {
            rewrite(scope): _addresses(addresses, rewrite)
            for scope, addresses in (scopes.items() if isinstance(scopes, dict) else ())
        },
    }


def _addresses(written: object, rewrite: Callable[[str], str]) -> dict[str, object]:
    if not isinstance(written, dict):
        return {}
    addresses: dict[str, object] = {}
    for key, value in written.items():
        # Modules may write either URL.
        for name in (key, rewrite(key)):
            addresses[name] = rewrite(value) if isinstance(value, str) else value
    return addresses


def _json(value: object) -> str:
    """JSON in ASCII that ends no script."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


class _PageWalk:
    """The walk over one document.

    Args:
        view: The document.
        codec: What it is in.
        page: Its page.
        urls: Its URLs.
        depth: Number of documents around it.
    """

    __slots__ = ("_codec", "_depth", "_edits", "_has_base", "_is_xml", "_page", "_urls", "_view")

    def __init__(
        self, view: MarkupView, codec: str, page: PageAddress, urls: UrlRewriter, depth: int
    ) -> None:
        self._view = view
        self._codec = codec
        self._page = page
        self._urls = urls
        self._depth = depth
        self._edits: list[TextEdit] = []
        self._has_base = False
        self._is_xml = view.view[:200].lstrip(b"\xef\xbb\xbf\xff \t\r\n").startswith(b"<?xml")

    def run(self) -> list[TextEdit]:
        """Return the changes, in order."""
        view, position = self._view.view, 0
        while tag := next_tag(view, position, self._urls.depth):
            position = tag.end
            for attribute in tag.attributes:
                self._attribute(tag, attribute)
            if tag.name == b"meta":
                self._meta(tag)
            elif tag.name == b"base":
                self._base(tag)
            elif tag.name in RAW_TEXTS and not self._has_no_text(tag):
                position = end_of_raw_text(view, tag.name, tag.end)
                self._raw_text(tag, position)
        return self._edits

    def _has_no_text(self, tag: Tag) -> bool:
        """Return whether a tag is empty, as in XML and for the scripts of SVG."""
        return tag.is_closed and (
            self._is_xml or (tag.name == b"script" and tag.attribute(b"src") is None)
        )

    def _attribute(self, tag: Tag, attribute: TagAttribute) -> None:
        name = attribute.name
        if name in _URLS or (name == b"data" and tag.name == b"object"):
            self._url(attribute)
        elif name == b"style":
            self._style(attribute)
        elif name in {b"srcset", b"imagesrcset"}:
            self._change(attribute, lambda text: rewrite_candidates(text, self._urls.rewrite))
        elif name == b"srcdoc" and tag.name == b"iframe":
            self._change(attribute, self._inner_document)
        elif name in _HIDDEN_NAMES:
            self._hide(attribute)

    def _url(self, attribute: TagAttribute) -> None:
        view, start, end = self._view.view, attribute.start, attribute.end
        if start == end:
            return
        # Most URLs need no more than something before them.
        if _CLEAN_URL.fullmatch(view, start, end):
            self._edits.append(TextEdit(start, start, self._urls.prefix))
        elif _CLEAN_PATH.fullmatch(view, start, end):
            self._edits.append(TextEdit(start, start, self._urls.prefix + self._urls.root))
        else:
            new = self._urls.rewrite(read_attribute(self._view.text(start, end)))
            if new is not None:
                self._edits.append(TextEdit(start, end, write_attribute(new)))

    def _change(self, attribute: TagAttribute, change: Callable[[str], str]) -> None:
        """Change the text of an attribute."""
        text = read_attribute(self._view.text(attribute.start, attribute.end))
        new = change(text)
        if new != text:
            self._edits.append(TextEdit(attribute.start, attribute.end, write_attribute(new)))

    def _hide(self, attribute: TagAttribute) -> None:
        """Give an attribute a name that means nothing."""
        self._edits.append(TextEdit(attribute.name_start, attribute.name_start, _HIDDEN))

    def _style(self, attribute: TagAttribute) -> None:
        if self._view.view.find(b"&", attribute.start, attribute.end) >= 0:
            self._change(attribute, lambda text: rewrite_style(text, self._urls.rewrite))
        else:
            self._style_sheet(attribute.start, attribute.end, write_attribute)

    def _style_sheet(self, start: int, end: int, write: Callable[[str], str] = str) -> None:
        """Rewrite CSS in its place."""
        original = self._view.view[start:end].decode("latin-1")
        for edit in css_edits(
            hide_backslashes(original, self._codec),
            self._urls.rewrite,
            lambda first, last: self._view.text(start + first, start + last),
        ):
            self._edits.append(TextEdit(start + edit.start, start + edit.end, write(edit.text)))

    def _inner_document(self, markup: str) -> str:
        if self._depth >= _DEEPEST:
            return markup
        urls = UrlRewriter(self._page, self._codec, self._urls.base)
        body = markup.encode("utf-8", "replace")
        return _rewrite(body, "utf-8", self._page, urls, self._depth + 1).decode("utf-8", "replace")

    def _text_of(self, tag: Tag, name: bytes) -> str:
        """Return the value of an attribute; "" if it is absent."""
        attribute = tag.attribute(name)
        if attribute is None:
            return ""
        return read_attribute(self._view.text(attribute.start, attribute.end))

    def _base(self, tag: Tag) -> None:
        href = tag.attribute(b"href")
        if href is not None and not self._has_base:
            self._has_base = True
            self._urls.rebase(self._text_of(tag, b"href"))

    def _meta(self, tag: Tag) -> None:
        kind = tag.attribute(b"http-equiv")
        if kind is None:
            if self._text_of(tag, b"name").strip().lower() == "referrer":
                self._hide(tag.attribute(b"name") or tag.attributes[0])
            return
        meaning = self._text_of(tag, b"http-equiv").strip().lower()
        content = tag.attribute(b"content")
        if meaning in _GOVERNING_METAS:
            self._hide(kind)
        elif meaning == "refresh" and content is not None:
            self._change(content, lambda text: rewrite_refresh(text, self._urls.rewrite))

    def _raw_text(self, tag: Tag, end: int) -> None:
        """Rewrite a style sheet or an import map; other raw texts stay."""
        if tag.name == b"style":
            self._style_sheet(tag.end, end)
        elif tag.name == b"script":
            kind = self._text_of(tag, b"type").strip().lower()
            if kind == "importmap":
                self._import_map(tag.end, end)
            elif kind == "speculationrules":
                self._hide(tag.attribute(b"type") or tag.attributes[0])

    def _import_map(self, start: int, end: int) -> None:
        try:
            written = msgspec.json.decode(self._view.text(start, end).encode("utf-8", "replace"))
        except (msgspec.DecodeError, RecursionError):
            return
        urls = self._urls
        new = import_map(written, urls.prefix, lambda url: urls.rewrite(url) or url)
        self._edits.append(TextEdit(start, end, _json(new)))


def rewrite_candidates(value: str, rewrite: Rewrite) -> str:
    """Return a `srcset` with its URLs rewritten."""
    edits = []
    for start, end in candidate_places(value):
        new = rewrite(value[start:end])
        if new is not None:
            edits.append(TextEdit(start, end, new))
    return apply_edits(value, edits)


def rewrite_refresh(value: str, rewrite: Rewrite) -> str:
    """Return a refresh, of a `meta` or of a header, with its URL rewritten."""
    place = refresh_place(value)
    new = rewrite(value[slice(*place)]) if place else None
    if place is None or new is None:
        return value
    # A quote inside would end the URL.
    return value[: place[0]] + new.replace("'", "%27").replace('"', "%22") + value[place[1] :]
