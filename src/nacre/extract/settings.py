"""Settings of the extractors."""

from typing import Annotated

from pydantic import AfterValidator

from nacre.config.component import Bytes, Component, setting
from nacre.extract.extractors import EXTRACTORS, StockExtractor


def _of_plugin(name: str) -> str:
    if any(name == own for own in StockExtractor):
        raise ValueError(f"the extractor {name!r} is Nacre's own, which is always used")
    return EXTRACTORS.get(name).name


ExtractorName = Annotated[str, AfterValidator(_of_plugin)]
"""The name of an extractor of a plug-in."""


class ExtractSettings(Component):
    """Settings of which links are taken from a document, and how many."""

    max_outlinks: int = setting(
        6000, "Links kept of one document; more are counted (`dol:n`). 0 keeps none.", ge=0
    )
    max_sitemap_links: int = setting(
        50_000, "Links kept of one sitemap; more are counted. 0 keeps none.", ge=0
    )
    max_document: Bytes = setting(
        8_000_000, "Bytes of a document that are searched for links; 0 searches none.", unit="bytes"
    )
    extract_error_pages: bool = setting(default=False, doc="Search pages of status 400 and up too.")
    extract_html: bool = setting(default=True, doc="Search HTML.")
    extract_css: bool = setting(default=True, doc="Search style sheets and inline styles.")
    extract_javascript: bool = setting(
        default=True, doc="Search scripts, `on…` attributes and `javascript:` links for URIs."
    )
    try_all_guesses: bool = setting(
        default=False,
        doc="Fetch every guess from a script (hop X); else kinds of guesses that fail on a site "
        "are dropped, which depends slightly on timing.",
        live=False,
        sheets=False,
    )
    extract_json: bool = setting(default=True, doc="Search JSON, JSON-LD and import maps.")
    extract_xml: bool = setting(default=True, doc="Search XML and feeds.")
    extract_sitemaps: bool = setting(default=True, doc="Take links of sitemaps and robots.txt.")
    extract_headers: bool = setting(
        default=True, doc="Take links of Location, Refresh, Content-Location and Link headers."
    )
    value_attributes: bool = setting(
        default=True, doc="Take `value=` attributes that are very likely URIs."
    )
    meta_content: bool = setting(
        default=True, doc="Take `content=` of other meta elements that are very likely URIs."
    )
    ignore_form_action_urls: bool = setting(default=False, doc="Take no form actions.")
    only_form_gets: bool = setting(default=True, doc="Take only form actions with GET.")
    treat_frames_as_embeds: bool = setting(
        default=True, doc="Frames and iframes are embeds (hop E), else links (hop L)."
    )
    ignore_unexpected_html: bool = setting(
        default=True,
        doc="Do not search HTML at a URL that ends like a media file (`.gif`, `.mp4`).",
    )
    obey_rel_nofollow: bool = setting(default=False, doc="Take no links with `rel=nofollow`.")
    obey_meta_robots: bool = setting(
        default=False,
        doc="Take no links from a page whose meta robots or X-Robots-Tag says nofollow or none.",
    )
    infer_favicon: bool = setting(
        default=True, doc="Infer `/favicon.ico` (hop I) from every document."
    )
    anchor_text: bool = setting(
        default=False,
        doc="Keep the text of links, at most 200 characters. The crawl does not need it.",
    )
    element_path: bool = setting(
        default=False, doc="Keep the path of the element that holds the link (`html/body/p/a`)."
    )
    robots_agent: str = setting(
        "",
        "Product token that `X-Robots-Tag: token: ...` and `<meta name=token>` address. Empty: "
        "that of `robots.agent`.",
    )
    extractors: tuple[ExtractorName, ...] = setting(
        (),
        "Extractors of plug-ins, by name. They come before Nacre's own, for documents of the media "
        "types that they take.",
    )
