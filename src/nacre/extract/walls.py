"""Replies that are no page of the site: a challenge, a login, a wall (pure).

`find_wall` decides by status, header fields, markup and text; of a page in a browser by its final
state, too. The services that keep crawlers out are those of Heritrix 3.17 (`BotBlockDetector`).
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import re2

from nacre.core.pagerow import PageView
from nacre.core.rendered import RenderedPage
from nacre.extract.pageview import has_text, page_title, visible_text
from nacre.extract.shell import BLANK, blank_signs, text_width

CHALLENGE: Final = "challenge"
SIGNED_OUT: Final = "signedOut"
CONSENT: Final = "consentWall"
PAYWALL: Final = "paywall"
RATE_LIMITED: Final = "rateLimited"
EMPTY: Final = "emptyShell"
GEO_BLOCKED: Final = "geoBlocked"

WALLS: Final = (CHALLENGE, SIGNED_OUT, CONSENT, PAYWALL, RATE_LIMITED, EMPTY, GEO_BLOCKED)
"""All verdicts."""
UNCOUNTED: Final = frozenset((PAYWALL, EMPTY))
"""Verdicts that never hold a host: the reply is a page of the site."""

BLOCKING: Final = frozenset((401, 403, 407, 429, 451, 503))
"""Statuses of refusals."""
SHORT: Final = 900
"""Length below which a page can be a wall by its words, in letters; see `pageview.has_text`."""
SEARCHED: Final = 60_000
"""Bytes of a page that are searched. A page of a wall is short; more is a page of the site."""
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_COVERED: Final = 0.5
_PREFIX: Final = 8_000
"""Bytes of a page in which services are searched, as in Heritrix."""


class WallEvidence(NamedTuple):
    """Evidence of what a reply is.

    Attributes:
        url: URL of the request.
        status: Status of the reply.
        header: First value of a field, by its name in lower case; "" if absent.
        target: Absolute URL of a redirect; "" for none.
        body: Returns the beginning of an HTML page, content decoded; b"" for other content.
        text: Returns the decoded page.
        rendered: Its final state in a browser; None: it was not run.
    """

    url: str
    status: int
    header: Callable[[bytes], str]
    target: str = ""
    body: Callable[[], bytes] = bytes
    text: Callable[[], str] = str
    rendered: RenderedPage | None = None


def find_wall(reply: WallEvidence, *, is_long: bool = False, may_be_paid: bool = True) -> str:
    """Return the verdict on a reply; "" for a page of the site.

    Args:
        reply: The reply.
        is_long: A page of status 200 has many links: it is no wall by its words.
        may_be_paid: Search such a page for the marks of a paywall.
    """
    if wall := _wall_of_head(reply):
        return wall
    if reply.rendered is not None:
        return _rendered_wall(reply.rendered)
    if reply.status == _OK and is_long and not may_be_paid:
        return ""
    body = reply.body()
    if body and (reply.status != _OK or (not is_long and is_marked(body))):
        text = reply.text()
        if not has_text(text, SHORT) and (wall := _wall_of_text(reply, body, text)):
            return wall
    return PAYWALL if reply.status == _OK and may_be_paid and has_paywall(body) else ""


_OK: Final = 200
_HEADED: Final = {451: GEO_BLOCKED, 401: SIGNED_OUT, 402: PAYWALL}


def _wall_of_head(reply: WallEvidence) -> str:
    if blocking_service(reply):
        return CHALLENGE
    if reply.status in _HEADED:
        return _HEADED[reply.status]
    if reply.status == _TOO_MANY or (
        reply.status in {403, 503} and reply.header(b"x-ratelimit-remaining") == "0"
    ):
        return RATE_LIMITED
    if reply.status in _REDIRECTS and reply.target:
        if leads_to_login(reply.url, reply.target):
            return SIGNED_OUT
        if _leads_to_consent(reply.url, reply.target):
            return CONSENT
    return ""


_TOO_MANY: Final = 429


def _rendered_wall(rendered: RenderedPage) -> str:
    """Return the verdict on the final state of a page."""
    dom = rendered.dom[: 5 * SEARCHED]
    if not dom:
        return ""
    text = dom.decode("utf-8", "replace")
    is_short = not has_text(text, SHORT)
    if is_short and (wall := _wall_of_words(text)):
        return wall
    if is_short and _has_password(dom):
        return SIGNED_OUT
    if rendered.covered > _COVERED and text_width(rendered.text) < SHORT:
        return CONSENT
    if has_paywall(dom):
        return PAYWALL
    return EMPTY if _is_empty(text) else ""


def _is_empty(text: str) -> bool:
    """Whether scripts were to fill a page and did not; a page that is short by intent is none."""
    signs = blank_signs(text)
    if signs is None or signs.leads_away or signs.shows or signs.links + signs.pictures > 1:
        return False
    if signs.mount or signs.noscript:
        return True
    if not signs.text:
        return signs.scripted and not signs.draws
    return signs.scripted and _WAITING.search(visible_text(text, BLANK)) is not None


_WAITING: Final = re.compile(
    r"(?i)loading|please wait|initiali[sz]ing|starting|wird geladen|chargement|cargando|carregando"
    r"|caricamento|загрузка|加载中|正在加载|载入|请稍候|請稍候|讀取中|読み込み|로딩"
)
"""Words of a page that waits for its scripts."""


def _wall_of_text(reply: WallEvidence, body: bytes, text: str) -> str:
    if _CHALLENGE_MARKS.search(body) is not None:
        return CHALLENGE
    if wall := _wall_of_words(text):
        return wall
    is_login = bool(_ASKING & _words(urlsplit(reply.url).path))
    return SIGNED_OUT if reply.status == _OK and _has_password(body) and not is_login else ""


def _wall_of_words(text: str) -> str:
    title = page_title(text).lower()
    if title.startswith(_TITLES):
        return CHALLENGE
    words = f"{title} {visible_text(text, SHORT).lower()}"
    if any(phrase in words for phrase in _GEO_WORDS):
        return GEO_BLOCKED
    return CHALLENGE if any(phrase in words for phrase in _BLOCKED_WORDS) else ""


_BLOCKED_WORDS: Final = (
    "captcha",
    "验证码",
    "安全验证",
    "访问过于频繁",
    "访问受限",
    "checking your browser",
    "access denied",
    "are you a robot",
    "are you human",
    "verify you are human",
    "security check",
    "人机验证",
    "unusual traffic",
    "请求被拦截",
    "web application firewall",
)
_TITLES: Final = (
    "just a moment",
    "attention required",
    "pardon our interruption",
    "one more step",
    "robot check",
    "human verification",
    "ddos-guard",
    "bot verification",
    "安全验证",
    "人机验证",
    "访问验证",
)
"""Beginnings of titles of challenges, in lower case."""
_GEO_WORDS: Final = (
    "not available in your country",
    "not available in your region",
    "not available in your location",
    "unavailable in your country",
    "unavailable in your region",
    "blocked in your country",
    "in ihrem land nicht verfügbar",
    "pas disponible dans votre pays",
    "您所在的地区",
    "您所在的国家",
    "当前地区不可用",
)


def _in_bytes(words: tuple[str, ...]) -> str:
    """Return a pattern of bytes for words in UTF-8 and GBK; ASCII words are in both."""
    encoded = {word.encode(name) for word in words for name in ("utf-8", "gb18030")}
    return "|".join("".join(f"\\x{byte:02x}" for byte in word) for word in sorted(encoded))


def _pattern(text: str) -> Any:  # noqa: ANN401 - re2 has no types
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # a character is a byte
    return re2.compile(text.encode("latin-1"), options)


_CHALLENGE_MARKS = _pattern(
    r"(?i:_?cf_chl_|cf-chl-|captcha-delivery\.com|px-captcha|_incapsula_resource"
    r"|anubis_challenge|awswafcookie|aws-waf-token|sucuri_cloudproxy|/_sec/cp_challenge"
    r"|bm-verify|ddos-guard/js-challenge|g-recaptcha|h-captcha|cf-turnstile|geetest_)"
)
"""Markup of challenges; of a page with text it says nothing."""
_MARKS = _pattern(
    rf"(?i:type=[\"']?password|cf_chl|captcha|incapsula|px-captcha|anubis|aws-?waf|sucuri|bm-verify"
    rf"|ddos-guard|geetest|turnstile|{_in_bytes(_BLOCKED_WORDS)}|{_in_bytes(_TITLES)}"
    rf"|{_in_bytes(_GEO_WORDS)})"
)


def is_marked(body: bytes) -> bool:
    """Whether a page of status 200 may be a wall: one pass over its bytes, without parsing."""
    return _MARKS.search(body[:SEARCHED]) is not None


def _has_password(body: bytes) -> bool:
    return _PASSWORD.search(body) is not None


_PASSWORD = _pattern(r"(?i)type=[\"']?password")

_PAYWALL_HINTS: Final = (b"isAccessibleForFree", b"content_tier", b"aywall", b"egwall")
_PAID = _pattern(
    r'(?i:"isAccessibleForFree"\s*:\s*(?:"\s*)?(?:https?://schema\.org/)?false'
    r"|article:content_tier[\"']\s+content=[\"']?(?:locked|metered)"
    r"|class=[\"'](?:[^\"']{0,200}[\s_-])?(?:paywall|paywalled|regwall)[\"'\s])"
)


def has_paywall(body: bytes) -> bool:
    """Whether a page is marked as not free to read.

    Source: schema.org `isAccessibleForFree`, as search engines ask for it of such pages; Facebook's
    `article:content_tier`; usual names of marked bodies.
    """
    return any(hint in body for hint in _PAYWALL_HINTS) and _PAID.search(body) is not None


# ---- blocking services, as in Heritrix


def blocking_service(reply: WallEvidence) -> str:
    """Return the service that a reply is of; "" for a reply of the site itself."""
    services = (name for name, is_its in _SERVICES.items() if is_its(reply))
    return next(services, "")


def _is_akamai(reply: WallEvidence) -> bool:
    return reply.status == 403 and reply.header(b"server") == "AkamaiGHost"


def _is_anubis(reply: WallEvidence) -> bool:
    if reply.status == 307:
        return "/.within.website/?redir=" in reply.header(b"location")
    cookie = reply.header(b"set-cookie").startswith("techaro.lol-anubis-")
    return reply.status == 200 and cookie and _has(reply, b'<script id="anubis_challenge"')


def _is_cloudflare(reply: WallEvidence) -> bool:
    if reply.header(b"server").lower() != "cloudflare":
        return False
    if reply.header(b"cf-mitigated").lower() == "challenge":
        return True
    return reply.status == 403 and _has(reply, b'data-translate="block_headline"')


def _is_datadome(reply: WallEvidence) -> bool:
    return bool(reply.header(b"x-dd-b")) and reply.header(b"x-datadome").lower() == "protected"


def _is_incapsula(reply: WallEvidence) -> bool:
    marked = reply.status in {403, 404} and bool(reply.header(b"x-iinfo"))
    return marked and _has(reply, b"Incapsula incident ID")


def _has(reply: WallEvidence, words: bytes) -> bool:
    return words in reply.body()[:_PREFIX]


_SERVICES: Final[dict[str, Callable[[WallEvidence], bool]]] = {
    "akamai": _is_akamai,
    "anubis": _is_anubis,
    "cloudflare": _is_cloudflare,
    "datadome": _is_datadome,
    "incapsula": _is_incapsula,
}

# ---- for pages that are visited again


def looks_blocked(status: int, view: PageView | None) -> bool:
    """Whether a visitor was turned away: a challenge, a login, a firewall.

    Args:
        status: Fetch status.
        view: The page in the reply; None if the reply has no page.
    """
    if status in BLOCKING:
        return True
    if view is None or view.shape.text >= SHORT:
        return False
    text = view.text.lower()
    return any(word in text for word in _BLOCKED_WORDS)


def asks_first(url: str, target: str, status: int) -> bool:
    """Whether a redirect leads to a login or a similar page, and so says nothing about the page.

    Args:
        url: The page.
        target: The target of the redirect.
        status: With 301 and 308, a target that merely contains the path of the page is no login.
    """
    if leads_to_login(url, target):
        return True
    own, other = urlsplit(url), urlsplit(target)
    return status not in {301, 308} and len(own.path) > 1 and own.path in unquote(other.query)


def leads_to_login(url: str, target: str) -> bool:
    """Whether a redirect leads to a login, from a page that is none."""
    return bool(_ASKING & _words(urlsplit(target).path)) and not (
        _ASKING & _words(urlsplit(url).path)
    )


def _leads_to_consent(url: str, target: str) -> bool:
    """Whether a redirect leads to a page that asks for consent."""
    own, other = urlsplit(url), urlsplit(target)
    name = (other.hostname or "").partition(".")[0]
    is_consent = name == "consent" or "consent" in _words(other.path)
    return is_consent and "consent" not in _words(own.path) and own.hostname != other.hostname


_ASKING: Final = frozenset(
    ("login", "log-in", "logon", "signin", "sign-in", "sso", "cas", "passport", "oauth", "oauth2")
)


def _words(path: str) -> set[str]:
    return set(re.split(r"[/._]", path.lower()))
