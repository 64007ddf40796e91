"""JSON: the members of JSON Feed, and all other strings that are very likely URIs."""

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.feed_links import add_feed
from nacre.extract.json_feed import is_json_feed, json_feed_parts
from nacre.extract.likely import speculative_fixup
from nacre.extract.links import LinkCollector
from nacre.extract.script import JSON_CONTEXT, json_urls
from nacre.extract.text import read_text


def extract_json(document: Document, links: LinkCollector) -> None:
    """Add the links of a JSON document.

    Of JSON Feed those of its members (hops L and E) and of the HTML in it, as those of a page. All
    other likely URIs are speculative (X), with the context `=JSON_MISC`.
    """
    text = read_text(document)
    feed_urls: set[str | None] = set()
    if is_json_feed(text, document.mime):
        add_feed(json_feed_parts(text), links)
        feed_urls |= {link.url for link in links.outlinks}
    for url in json_urls(text):
        href = speculative_fixup(url, links.base)
        if not (feed_urls and links.resolve(href) in feed_urls):
            links.add(href, Hop.SPECULATIVE, JSON_CONTEXT)
