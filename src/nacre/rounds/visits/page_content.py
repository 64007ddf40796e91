"""Content of the pages of a unit: signatures, simhashes and soft 404s.

Only the values that the settings need are computed: parsing a page costs more than fetching it.
"""

from collections.abc import Callable
from typing import NamedTuple

from nacre.core.pagerow import PageView
from nacre.core.processor import Visit
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.change_detection.deletion import (
    SHORT_TEXT,
    may_say_gone,
    says_gone,
)
from nacre.planner.change_detection.signatures import (
    TextProfile,
    md5_signature,
    text_profile,
)
from nacre.settings.settings import JobSettings
from nacre.wire.charset import decode
from nacre.wire.coding import decode_content

_HTML = ("text/html", "application/xhtml+xml")
_LARGEST = 2_000_000
"""Bytes of a page that are decoded."""
_ERROR_PAGE = 65_536
"""Largest error page, in bytes; a larger page is never a soft 404."""


class PageContent(NamedTuple):
    """The findings in the content of a page.

    Attributes:
        signature: Signature for comparisons; b"" if pages are compared by payload digest.
        soft_404: The text is that of a missing page.
        simhash: Simhash of the text; None if no setting needs it, or the text is too short.
    """

    signature: bytes = b""
    soft_404: bool = False
    simhash: int | None = None


PageReader = Callable[[Visit], PageContent]
"""Reads the content of a visit with status 200."""


def page_reader(settings: JobSettings) -> PageReader | None:
    """Make the reader of pages with status 200; None if no setting needs their content."""
    sign = page_signer(settings.change)
    near = settings.cycle.dedup.near
    soft = settings.cycle.update.soft_404 == "gone"
    if sign is None and not near and not soft:
        return None

    def read(visit: Visit) -> PageContent:
        page = OpenedPage(visit)
        signature = sign(page) if sign is not None else b""
        return PageContent(signature, soft and page.says_gone(), page.simhash() if near else None)

    return read


class OpenedPage:
    """A page whose payload is decoded and parsed at most once.

    Args:
        visit: The visit of the page.
    """

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._body: bytes | None = None
        self._view: PageView | None = None

    @property
    def is_html(self) -> bool:
        """Whether the page is HTML."""
        return self._visit.mime in _HTML

    @property
    def body(self) -> bytes:
        """The payload without content coding; b"" for none."""
        if self._body is None:
            self._body = _content(self._visit)
        return self._body

    @property
    def view(self) -> PageView:
        """The parsed page."""
        if self._view is None:
            from nacre.extract.pageview import page_view  # noqa: PLC0415 - where it is asked for

            self._view = page_view(self._text)
        return self._view

    @property
    def _text(self) -> str:
        return decode(self.body, self._visit.charset or "utf-8")

    def says_gone(self) -> bool:
        """Whether the page is short, and its text is that of a missing page."""
        capture = self._visit.capture
        if capture is None or not self.is_html or capture.payload_length > _ERROR_PAGE:
            return False
        body = self.body
        if len(body) > _ERROR_PAGE or not may_say_gone(body):
            return False
        # Manuals contain such words; a few lines are enough to see that most of them are long.
        return not self._is_long() and says_gone(self.view)

    def _is_long(self) -> bool:
        """Whether the text is too long for an error page."""
        from nacre.extract.pageview import has_text  # noqa: PLC0415 - where it is asked for

        return self._view is None and has_text(self._text, SHORT_TEXT)

    def simhash(self) -> int | None:
        """Return the simhash of the text; None if the page has no text or a short one."""
        from nacre.crawldb.dedup import simhash  # noqa: PLC0415 - where it is asked for

        return simhash(self.view.text) if self.is_html else None


def page_signer(settings: ChangeSettings) -> Callable[[OpenedPage], bytes] | None:
    """Make the signer of pages, as Nutch's kinds do; None: the payload digest is the signature.

    Args:
        settings: Names the kind: `md5`, `text-profile` or `text-profile-cjk`; others compare two
            versions and have no signature.
    """
    name = settings.signature
    if name == "md5":
        return lambda page: md5_signature(page.body)
    if name not in {"text-profile", "text-profile-cjk"}:
        return None
    words = settings.text_profile.model_dump()
    how = TextProfile(**words, unspaced=name == "text-profile-cjk")

    def profile(page: OpenedPage) -> bytes:
        return text_profile(page.view.text if page.is_html else "", page.body, how)

    return profile


def _content(visit: Visit) -> bytes:
    capture = visit.capture
    if capture is None:
        return b""
    body, codings = capture.payload(_LARGEST), capture.header_values(b"content-encoding")
    return decode_content(body, codings, _LARGEST).data if codings and body else body
