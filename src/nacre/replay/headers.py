"""Response headers of replay: what of a capture is sent, and the policy that keeps pages in (pure).

The policy refuses every origin but that of replay, before any worker sees a request, and in frames
without an origin too. So a page cannot reach the live web, whatever its scripts do; the rewriting
of URLs only makes it complete.

Source: Content Security Policy 3, 6.1 "Directives"; pywb, `X-Archive-Orig-`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from nacre.extract.headers import refresh_place
from nacre.replay.page_urls import PageAddress, UrlRewriter
from nacre.replay.rewrite_html import rewrite_refresh
from nacre.uri.parse import escape_octets
from nacre.wire.guess import name_of

ORIGINAL: Final = "X-Archive-Orig-"
"""What the names of captured fields begin with that replay does not obey."""

_SENT: Final = frozenset(
    (
        *("accept-ranges", "allow", "content-disposition", "content-language", "content-range"),
        *("content-type", "last-modified", "retry-after"),
    )
)
"""Fields that are sent as captured, beside those of applications, `X-…`."""

_GOVERNING: Final = frozenset(
    (
        *("x-content-type-options", "x-dns-prefetch-control", "x-frame-options"),
        *("x-permitted-cross-domain-policies", "x-ua-compatible", "x-xss-protection"),
        *("x-download-options", "x-sendfile", "x-robots-tag"),
        *("x-content-security-policy", "x-webkit-csp", "x-sourcemap"),
    )
)
"""Fields that begin with `X-` and govern browsers, proxies or robots."""

_GOVERNING_STARTS: Final = ("x-accel-", "x-archive-", "x-lighttpd-", "x-nacre-")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SCHEME: Final = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:")
_CHARSET: Final = re.compile(r"\s*;\s*charset\s*=\s*(?:\"[^\"]*\"?|[^;\s]*)", re.IGNORECASE)
_HTTP_ONLY: Final = re.compile(r";\s*httponly\s*(?:;|=|$)", re.IGNORECASE)
_MOST_COOKIES: Final = 50
_LONGEST: Final = 8192
_MOST: Final = 200
"""Fields that are sent, and characters of the longest value."""

_LABELS: Final = {
    "cp874": "windows-874",
    "mac-cyrillic": "x-mac-cyrillic",
    "mac-roman": "macintosh",
}
"""Labels of the Encoding Standard for codecs whose name in Java is none."""

POLICY: Final = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'",
    "connect-src 'self' data: blob:",
    "frame-src 'self' data: blob:",
    "object-src 'self' data: blob:",
    "worker-src 'self' blob:",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'self'",
    "sandbox allow-scripts allow-same-origin allow-forms allow-modals",
)
"""Directives of every reply that replay gives from an archive."""

PERMISSIONS: Final = ", ".join(
    f"{name}=()"
    for name in (
        "accelerometer", "browsing-topics", "camera", "clipboard-read", "clipboard-write",
        "display-capture", "fullscreen", "geolocation", "gyroscope", "hid",
        "identity-credentials-get", "idle-detection", "local-fonts", "magnetometer",
        "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock",
        "serial", "storage-access", "usb", "window-management", "xr-spatial-tracking",
    )
)  # fmt: skip
"""The Permissions-Policy header: nothing is permitted."""

GOVERNED: Final = (
    ("Connection-Allowlist", "(response-origin); redirects=allow"),
    ("Referrer-Policy", "same-origin"),
    ("X-DNS-Prefetch-Control", "off"),
    ("Permissions-Policy", PERMISSIONS),
)
"""Other fields of every reply that replay gives from an archive.

Chromium opens a connection for a navigation before its policy refuses that, and no policy governs
WebRTC and names that are resolved ahead: the first field refuses these too, from Chromium 148 on
(WICG, Connection Allowlists).
"""


def replay_policy(viewer: str = "") -> str:
    """Return the Content-Security-Policy of a reply from an archive.

    Args:
        viewer: Origin of the page that may show it in a frame; "" for none.
    """
    ancestors = f"frame-ancestors 'self' {viewer}".strip()
    return "; ".join((*POLICY, ancestors))


def replay_headers(
    captured: Iterable[tuple[str, str]], page: PageAddress, *, viewer: str = "", charset: str = ""
) -> list[tuple[str, str]]:
    """Return the header fields of a capture in replay; length and coding are the server's.

    Args:
        captured: Names and values as captured.
        page: The capture; `Location` and `Refresh` lead to captures of its time.
        viewer: See `replay_policy`.
        charset: Codec that the page or style sheet was read in; "" leaves `Content-Type` as it is.
    """
    fields = [("Content-Security-Policy", replay_policy(viewer)), *GOVERNED]
    urls = UrlRewriter(page)
    leads: set[str] = set()
    for name, value in list(captured)[:_MOST]:
        if not _TOKEN.fullmatch(name):
            continue
        text, lower = _clean(value), name.lower()
        if lower == "content-type" and charset:
            text = _with_charset(text, charset)
        fields.append((name if _is_sent(lower) else ORIGINAL + name, text))
        if lower in {"location", "refresh"} and lower not in leads:
            for lead in _lead(lower, value, urls):
                leads.add(lower)
                fields.append((name, lead))
    return fields


def script_cookies(captured: Iterable[tuple[str, str]]) -> list[str]:
    """Return the captured `Set-Cookie` fields that scripts of the page could read (pure).

    Replay sends no such field: the shim keeps them for the page alone.

    Args:
        captured: Names and values as captured.
    """
    values = (value for name, value in captured if name.lower() == "set-cookie")
    texts = (_CONTROLS.sub("", value) for value in values)
    readable = [text[:_LONGEST] for text in texts if not _HTTP_ONLY.search(text)]
    return readable[:_MOST_COOKIES]


def _is_sent(name: str) -> bool:
    if name.startswith("x-"):
        return name not in _GOVERNING and not name.startswith(_GOVERNING_STARTS)
    return name in _SENT


def _lead(name: str, value: str, urls: UrlRewriter) -> Iterator[str]:
    """Yield a `Location` or `Refresh` inside the archive; nothing if it leads nowhere."""
    text = escape_octets(_octets(_CONTROLS.sub("", value)))[:_LONGEST]
    if name == "location":
        yield from filter(None, (urls.archived(text),))
    else:
        place = refresh_place(text)
        changed = rewrite_refresh(text, urls.rewrite)
        if changed != text or place is None or not _SCHEME.match(text, place[0]):
            yield changed


def _octets(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace")


def _clean(value: str) -> str:
    """Return a value that can be sent: no control characters, each character a byte."""
    return _octets(_CONTROLS.sub("", value)[:_LONGEST]).decode("latin-1").strip()


def _with_charset(content_type: str, codec: str) -> str:
    label = _LABELS.get(codec, name_of(codec)).lower()
    return f"{_CHARSET.sub('', content_type)}; charset={label}"
