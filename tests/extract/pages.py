"""Short ways to extract links in the tests."""

from typing import Any

from nacre.core.crawluri import Outlink
from nacre.extract.dispatch import extract
from nacre.extract.document import Document, Extraction
from nacre.extract.settings import ExtractSettings

URL = "http://www.example.com/dir/page.html"


def extracted(body: str | bytes, *, mime: str = "text/html", **settings: Any) -> Extraction:
    """All of an extraction from a page at `URL`, without the favicon."""
    raw = body.encode() if isinstance(body, str) else body
    document = Document(url=URL, mime=mime, body=raw)
    wanted = {"infer_favicon": False, **settings}
    return extract(document, ExtractSettings(**wanted))


def outlinks(body: str | bytes, **settings: Any) -> list[Outlink]:
    return extracted(body, **settings).outlinks


def found(body: str | bytes, **settings: Any) -> list[tuple[str, str, str]]:
    """(hop, URL below http://www.example.com, context) of each link of a page at `URL`."""
    return [
        (link.hop.value, link.url.removeprefix("http://www.example.com"), link.context)
        for link in outlinks(body, **settings)
    ]
