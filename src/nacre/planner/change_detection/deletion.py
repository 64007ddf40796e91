"""Decides whether a page was deleted: by two observations, and later checks (pure).

live → suspect (404, 410, soft-404) → gone, after a second check a day later (410: at once) →
checked again after 7, 14, 30, 60 … 180 days. A page that became a redirect is checked likewise,
from 30 days on. Failures, refusals and redirects to a login never count. Source of the probing:
Bar-Yossef et al., "Sic transit gloria telae", 2004.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import re2

from nacre.core.pagerow import PageView
from nacre.planner.change_detection.template import Template, fingerprint, name_of
from nacre.planner.tuning import guess

DAY = 86_400.0
"""Seconds of a day."""
_CONFIRM_AFTER = DAY
_AGAIN = guess(
    "deletion.again",
    (7.0, 14.0, 30.0, 60.0, 120.0, 180.0),
    "Days until the next check of a page that is gone, for the first check and each later one.",
)
_RARER = guess(
    "deletion.rarer",
    2,
    "Number of checks that are skipped for a moved page, which comes back less "
    "often than one that is gone.",
)
_ALIKE = guess(
    "deletion.alike",
    0.9,
    "Share of its pieces that a page must have in common with the error page of "
    "its host to count as one.",
    most=1.0,
)
_SINK = guess(
    "deletion.sink",
    3,
    "Number of different pages that must redirect to one target before it counts as an error page.",
)
_LEFT = guess(
    "deletion.left",
    0.3,
    "Share of its text that a page may keep when its words say that it is gone.",
    most=1.0,
)
_MAX_SINKS = 1_000
"""A bound of memory: targets of redirects of one directory."""
SHORT_TEXT = guess(
    "deletion.short_text",
    900,
    "Length below which a page can count as an error page by its words, in characters.",
)
_WORDS = (
    "页面不存在",
    "页面未找到",
    "找不到页面",
    "已被删除",
    "已删除",
    "内容不存在",
    "您访问的页面",
    "not found",
    "no longer available",
    "does not exist",
    "has been removed",
    "error 404",
)


def _in_bytes(words: Iterable[str], encoding: str) -> str:
    """A pattern of bytes for words in an encoding."""
    return "|".join("".join(f"\\x{byte:02x}" for byte in word.encode(encoding)) for word in words)


def _may_say() -> Any:  # noqa: ANN401 - re2 has no types
    """One pass over the bytes of a page; a search for each word would take three times as long."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # a character is a byte
    ascii_words = _in_bytes((word for word in _WORDS if word.isascii()), "ascii")
    other_words = [word for word in _WORDS if not word.isascii()]
    encoded = "|".join(_in_bytes(other_words, name) for name in ("utf-8", "gbk"))
    return re2.compile(f"(?i:{ascii_words})|{encoded}".encode(), options)


_MAY_SAY = _may_say()
_FAILURE_WORDS = (
    "error has occurred",
    "error occurred",
    "application error",
    "server error",
    "something went wrong",
    "try again",
    "try reloading",
    "reload the page",
    "temporarily unavailable",
    "une erreur est survenue",
    "temporairement indisponible",
    "limite temporairement",
    "fehler aufgetreten",
    "vorübergehend nicht",
    "se ha producido un error",
    "出错了",
    "系统错误",
    "系统繁忙",
    "服务器繁忙",
    "稍后再试",
    "稍后重试",
)
_SAID = frozenset(("text", "heading", "title"))
_BLANK = 60
"""Largest length of the text of an empty page, as `Shape.text` counts: at most its title."""


class Life(StrEnum):
    """The state of a page."""

    LIVE = "live"
    SUSPECT = "suspect"
    GONE = "gone"
    MOVED = "moved"


class Answer(StrEnum):
    """The result of a visit about a page's existence.

    `SILENT` (no answer, 5xx, refused, challenged) shows nothing, as if there had been no visit.
    """

    THERE = "there"
    MISSING = "missing"
    GONE = "gone"
    SOFT = "soft-404"
    MOVED = "moved"
    SILENT = "silent"


class Existence(msgspec.Struct, frozen=True, array_like=True):
    """The evidence of a page's existence; kept with its history.

    Attributes:
        life: The state of the page.
        since: Time of the first answer that led to this state, seconds since the epoch.
        looks: Number of checks of a gone page.
        target: URL to which it moved; "" for none.
    """

    life: Life = Life.LIVE
    since: float = 0.0
    looks: int = 0
    target: str = ""


def after(state: Existence, answer: Answer, now: float, target: str = "") -> Existence:
    """Return the state after an answer.

    Args:
        state: The state before the visit.
        answer: The result of the visit.
        now: Time of the visit, seconds since the epoch.
        target: URL to which it moved, for `Answer.MOVED`.
    """
    if answer is Answer.SILENT:
        return state
    if answer is Answer.THERE or answer is Answer.MOVED:
        life = Life.MOVED if answer is Answer.MOVED else Life.LIVE
        if state.life is not life or state.target != target:
            return Existence(life, now, 0, target)
        return state if life is Life.LIVE else msgspec.structs.replace(state, looks=state.looks + 1)
    return _missing(state, answer, now)


def _missing(state: Existence, answer: Answer, now: float) -> Existence:
    if state.life is Life.GONE:
        return msgspec.structs.replace(state, looks=state.looks + 1)
    if answer is Answer.GONE:
        return Existence(Life.GONE, state.since if state.life is Life.SUSPECT else now)
    if state.life is not Life.SUSPECT:
        return Existence(Life.SUSPECT, now)
    return Existence(Life.GONE, state.since) if now - state.since >= _CONFIRM_AFTER else state


def next_look(state: Existence, last: float) -> float | None:
    """Return the time of the next check of a page, epoch seconds; None for a live page.

    Args:
        state: The state of the page.
        last: Time of the last check.
    """
    if state.life is Life.SUSPECT:
        return max(last, state.since) + _CONFIRM_AFTER
    if state.life in {Life.GONE, Life.MOVED}:
        looks = state.looks + _RARER * (state.life is Life.MOVED)
        return last + DAY * _AGAIN[min(looks, len(_AGAIN) - 1)]
    return None


class ErrorModel(msgspec.Struct, array_like=True):
    """The answers of a host to made-up names in one directory; kept in the store.

    Attributes:
        status: Status of the answer to a made-up name; 0 before any was tried.
        target: URL to which it was redirected; "" for none.
        prints: Fingerprints of the pieces of the page in this answer.
        probed: Time of the last probe, seconds since the epoch.
        sources: By target: pages that were redirected to it, by fingerprint; a few.
        said: Pieces of the last new page that was short and had the words of an error page.
        said_by: Fingerprint of its URL.
    """

    status: int = 0
    target: str = ""
    prints: frozenset[int] = frozenset()
    probed: float = 0.0
    sources: dict[str, frozenset[int]] = {}
    said: frozenset[int] = frozenset()
    said_by: int = 0

    def learn_probe(self, status: int, target: str, view: PageView | None, now: float) -> None:
        """Learn from the answer to a made-up name."""
        self.status, self.target, self.probed = status, target, now
        self.prints = _prints(view) if view else frozenset()

    def learn_words(self, url: str, view: PageView) -> None:
        """Record a new page with the words of an error page, to compare other new pages with it."""
        if says_gone(view):
            self.said, self.said_by = _prints(view), name_of(url)

    def learn_redirect(self, url: str, target: str) -> None:
        """Note that a page is redirected to a target; each page counts once."""
        pages = self.sources.get(target, frozenset())
        if len(pages) < _SINK and (pages or len(self.sources) < _MAX_SINKS):
            self.sources[target] = pages | {name_of(url)}

    def is_sink(self, target: str, url: str) -> bool:
        """Whether a URL is a redirect target of deleted pages; `url`: the page that leads there."""
        others = self.sources.get(target, frozenset()) - {name_of(url)}
        return (bool(target) and target == self.target) or len(others) >= _SINK - 1


def is_same_page(url: str, target: str) -> bool:
    """Whether a redirect leads to another form of the same name.

    Such are the name with a slash, with another scheme, with or without `www.`, in other letters,
    with the name of a start page, or with a language in front: `/guide` to `/en/guide/`.
    """
    own, other = urlsplit(url), urlsplit(target)
    hosts = {(part.hostname or "").removeprefix("www.") for part in (own, other)}
    if len(hosts) > 1 or not target:
        return False
    return _plain_name(own.path) == _plain_name(other.path)


_LANGUAGE = re.compile(r"(?i)^[a-z]{2}(?:[-_][a-z]{2,4})?$")
_START = re.compile(r"(?i)^(?:index|default|home)\.\w{2,5}$")


def _plain_name(path: str) -> str:
    parts = [part for part in unquote(path).lower().split("/") if part]
    if parts and _START.match(parts[-1]):
        del parts[-1]
    if parts and _LANGUAGE.match(parts[0]):
        del parts[0]
    return "/".join(parts)


def likeness(first: frozenset[int], second: frozenset[int]) -> float:
    """Return the share of pieces that two pages have in common (Jaccard); 0 if both are empty."""
    union = len(first | second)
    return len(first & second) / union if union else 0.0


def says_gone(view: PageView) -> bool:
    """Whether a page is short and has the words of an error page; that alone proves nothing."""
    return _says(view, _WORDS)


def looks_gone(
    url: str,
    view: PageView,
    old: PageView | None,
    model: ErrorModel,
    template: Template | None = None,
) -> bool:
    """Whether a page with status 200 is an error page: a soft-404.

    The page must resemble the answers of its host to made-up names, apart from the frame of the
    site. Or it must be short, have the words of an error page, and either resemble another new page
    with such words or have lost all its earlier content. If the host answers made-up names with
    404, only the first condition counts.

    Args:
        url: The page.
        view: The current version of the page.
        old: Its last version; None if there is none.
        model: The answers of the host to made-up names.
        template: The frame of the site; None if it is unknown.
    """
    if model.status in _TOLD and model.prints and _is_like(view, model.prints, template):
        return old is None or not _is_like(old, model.prints, template)
    if model.status in _MISSING or not says_gone(view):
        return False
    if old is not None:
        return _is_lost(old, view, template)
    return model.said_by not in {0, name_of(url)} and _is_like(view, model.said, template)


_MISSING = frozenset((404, 410))
"""Statuses of a host that reports missing pages itself."""
_TOLD = _MISSING | {200}
"""Statuses of answers to made-up names whose pages are error pages."""


def _is_like(view: PageView, prints: frozenset[int], template: Template | None) -> bool:
    """Whether a page resembles an error page, given by the fingerprints of its pieces."""
    own = _own(view, template)
    error = frozenset(name for name in prints if not _is_frame(name, template))
    if own or error:
        return likeness(own, error) >= _ALIKE
    return likeness(_prints(view), prints) >= _ALIKE


def _is_lost(old: PageView, view: PageView, template: Template | None) -> bool:
    """Whether a page lost most of its content, not counting the frame of the site and menus."""
    there = _prints(view)
    whole = remaining = 0
    for piece in old.pieces:
        name = fingerprint(piece)
        if piece.kind in {"text", "heading"} and not _is_frame(name, template):
            whole += len(piece.text)
            remaining += len(piece.text) * (name in there)
    return remaining <= _LEFT * whole


def _is_frame(name: int, template: Template | None) -> bool:
    return template is not None and template.is_frame_print(name)


def _own(view: PageView, template: Template | None) -> frozenset[int]:
    """Return the fingerprints of the pieces of a page outside the frame of its site."""
    return frozenset(name for name in _prints(view) if not _is_frame(name, template))


def may_say_gone(body: bytes) -> bool:
    """Whether a page may be an error page: a cheap check without parsing it.

    Args:
        body: The bytes of the page, in UTF-8, GBK or another encoding that has ASCII in it.
    """
    return _MAY_SAY.search(body) is not None


def looks_failed(view: PageView, old: PageView, template: Template | None = None) -> bool:
    """Whether a page lacks its text: it is empty, or has only a few words about a failure.

    This does not prove that the text is gone: a failure of the page's program looks the same.

    Args:
        view: The current version of the page.
        old: Its last version.
        template: The frame of the site; None if it is unknown.
    """
    there = {piece.text for piece in old.pieces}
    new = [piece for piece in view.pieces if piece.kind in _SAID and piece.text not in there]
    words = " ".join(piece.text for piece in new).lower()
    if len(words) >= SHORT_TEXT or not _is_lost(old, view, template):
        return False
    shows_nothing = view.shape.text <= _BLANK < old.shape.text
    if shows_nothing and all(piece.kind == "title" for piece in new):
        return True
    return any(word in words for word in _FAILURE_WORDS)


def _says(view: PageView, words: tuple[str, ...]) -> bool:
    """Whether a page is short and contains one of the phrases."""
    text = view.text.lower()
    return view.shape.text < SHORT_TEXT and any(word in text for word in words)


def _prints(view: PageView) -> frozenset[int]:
    return frozenset(fingerprint(piece) for piece in view.pieces)
