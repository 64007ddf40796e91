"""The coding of a page: charset and content coding, which may differ from reply to reply."""

import gzip
from typing import NamedTuple

from nacre_simweb.draw import Draw
from nacre_simweb.parameters import Language, PageNoise

KINDS = frozenset(("coding", "charset"))
"""Kinds of noise that change the transfer of a page, but not its content."""


class BodyCoding(NamedTuple):
    """A content and transfer coding of a body.

    Attributes:
        charset: Charset of the text.
        coding: Content coding; "" for none.
    """

    charset: str = "utf-8"
    coding: str = ""

    def encoded(self, body: bytes) -> bytes:
        """Return a page, which is made in UTF-8, as it travels."""
        if self.charset != "utf-8":
            body = body.decode().encode(self.charset)
        return gzip.compress(body, 6, mtime=0) if self.coding else body


PLAIN = BodyCoding()


def form(kinds: tuple[PageNoise, ...], language: Language, draw: Draw) -> BodyCoding:
    """The coding of one reply: half of those of a host with such noise have another than the rest.

    Args:
        kinds: Kinds of noise of the page.
        language: English text is the same in all charsets that are in use.
        draw: Random numbers of the reply.
    """
    coding = "gzip" if "coding" in kinds and draw.at("coding").uniform() < 0.5 else ""
    is_gb18030 = "charset" in kinds and language == "zh" and draw.at("charset").uniform() < 0.5
    return BodyCoding("gb18030" if is_gb18030 else "utf-8", coding)
