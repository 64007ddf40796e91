"""What differs between two states of a page, for a reader (pure, but for the pages it asks for)."""

import hashlib
import html
import re
from typing import Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

from bench.histories.pages import Answer, HistorySite
from bench.histories.worlds import RunPlan

Difference = Literal["same", "markup", "frame", "numbers", "text", "gone", "back"]
"""Bytes are the same; a reader sees no difference; only the frame of the site differs; only digits
do; anything else; the page is gone; it is back."""

_UNSEEN = re.compile(
    rb"<!--.*?-->|<style\b.*?</style\s*>|<script\b(?![^>]*template)[^>]*>.*?</script\s*>",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(rb"<[^>]*>", re.DOTALL)
_ANCHOR = re.compile(rb"""<a\b[^>]*?\shref\s*=\s*["']?([^"'#\s>]+)""", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(rb"""(?:href|src)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


class Sight(NamedTuple):
    """Marks of what a reader sees: equal marks, equal text and links.

    Attributes:
        text: Of text and links.
        less_numbers: Of the same with each number as 0.
    """

    text: bytes
    less_numbers: bytes


def mark(*parts: bytes) -> bytes:
    """Return a short digest of parts."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def shown(body: bytes) -> tuple[str, list[bytes]]:
    """Text, with single spaces, and targets of anchors, of an HTML page."""
    visible = _UNSEEN.sub(b" ", body)
    text = html.unescape(_TAG.sub(b" ", visible).decode("utf-8", "replace"))
    return " ".join(text.split()), _ANCHOR.findall(visible)


def sight_of(body: bytes) -> Sight:
    """What a reader sees of a page."""
    text, links = shown(body)
    zeros = re.sub(r"\d+", "0", text)
    plain = [re.sub(rb"\d+", b"0", link) for link in links]
    return Sight(mark(text.encode(), *links), mark(zeros.encode(), *plain))


def difference(old: Sight, new: Sight) -> Difference:
    """Return the class of a difference of two pages whose bytes differ."""
    if old == new:
        return "markup"
    return "numbers" if old.less_numbers == new.less_numbers else "text"


def linked_paths(body: bytes, url: str, root: str) -> list[str]:
    """Paths on the site that a page links to or embeds, in order, without queries."""
    refs = _LINK.findall(_COMMENT.sub(b"", body))
    urls = {urljoin(url, html.unescape(ref.decode("utf-8", "replace"))) for ref in refs}
    return sorted(
        {
            re.split("[?#]", target[len(root) :])[0]
            for target in urls
            if target.startswith(f"{root}/")
        }
    )


class Truth:
    """The states of pages at times.

    Args:
        plan: The plan of the run.
        site: Its site.
    """

    def __init__(self, plan: RunPlan, site: HistorySite) -> None:
        self.plan = plan
        self._site = site
        self._sights: dict[bytes, Sight] = {}

    def document(self, url: str) -> str:
        """Folder of a URL's site in the tree; "" if the tree is one site."""
        return self.plan.hosts.get(urlsplit(url).hostname or "", "")

    def reply(self, url: str, now: float, *, other: bool = False, frame: bool = True) -> Answer:
        """Return the reply to a URL at a time."""
        folder, path = self.document(url), urlsplit(url).path
        return self._site.reply(path, now, folder, other=other, frame=frame)

    def sight(self, body: bytes) -> Sight:
        """See `sight_of`; each body is read once."""
        digest = mark(body)
        if digest not in self._sights:
            self._sights[digest] = sight_of(body)
        return self._sights[digest]

    def difference(self, url: str, old: float, new: float) -> Difference:
        """What differs between two times."""
        before, after = self.reply(url, old), self.reply(url, new)
        if before.status != after.status:
            return "back" if after.status == 200 else "gone"
        if before.body == after.body:
            return "same"
        first, second = self.sight(before.body), self.sight(after.body)
        if first != second and self._site.has_frame:
            own = [self.sight(self.reply(url, time, frame=False).body) for time in (old, new)]
            if own[0] == own[1]:
                return "frame"
        return difference(first, second)
