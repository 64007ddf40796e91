"""Small documents and the links that other crawlers take from them."""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import unquote, urldefrag

from nacre.core.crawluri import Hop, Outlink
from nacre.extract.css import css_urls
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings
from nacre.uri.parse import parse
from tests.cases.table import Answer, Differs, Row, Table, Unsupported, json_lines

Links = frozenset[tuple[str, str, str]]

PLACE = "http://example.com/"
CONFIG = {
    "extract_only_form_gets": "only_form_gets",
    "obey_rel_nofollow": "obey_rel_nofollow",
    "treat_frames_as_embed_links": "treat_frames_as_embeds",
    "extract_value_attributes": "value_attributes",
    "extract_javascript": "extract_javascript",
    "ignore_form_action_urls": "ignore_form_action_urls",
    "ignore_unexpected_html": "ignore_unexpected_html",
    "parser.html.form.use_action": "",
    "robots_policy": "",
}
ASSETS = frozenset((Hop.EMBED, Hop.SPECULATIVE))
OUTLINKS = frozenset((Hop.LINK, Hop.SPECULATIVE))
ANCHORS = frozenset(("a/@href", "area/@href"))
SCRAPY_IGNORES = (".jpg", ".jpeg", ".png", ".gif", ".css", ".js", ".pdf", ".zip", ".mp3", ".mp4")


def settings_of(row: Row) -> ExtractSettings:
    """The row's configuration in Nacre's terms; Nutch always obeys rel=nofollow."""
    config = row.get("config") or {}
    values: dict[str, object] = {
        CONFIG[key]: value for key, value in config.items() if CONFIG.get(key)
    }
    values["anchor_text"] = True
    if "parser.html.form.use_action" in config:
        values["ignore_form_action_urls"] = not config["parser.html.form.use_action"]
        values["obey_rel_nofollow"] = True
    values["obey_meta_robots"] = config.get("robots_policy") == "obey"
    return ExtractSettings(**values)  # type: ignore[arg-type]  # checked by the model


def document_of(row: Row) -> Document:
    """The row's document, as fetched."""
    if "document_base64" in row:
        body = base64.b64decode(row["document_base64"])
    else:
        body = row["document"].encode(row.get("charset") or "utf-8")
    headers = row.get("headers") or {}
    return Document(
        url=row["base"] if (row["base"] or "").startswith("http") else PLACE,
        mime=row["content_type"].partition(";")[0],
        charset_header=row.get("charset") or "utf-8",
        headers=[(name.encode(), value.encode()) for name, value in headers.items()],
        body=body,
        status=row.get("status", 200),
        via=row.get("via") or "",
    )


def found(row: Row) -> list[Outlink]:
    """What Nacre takes, less what every reply brings."""
    links = extract(document_of(row), settings_of(row)).outlinks
    if row["extractor"] == "http":
        return links
    return [link for link in links if link.context != "=INFERRED_MISC"]


def normal(url: str, base: str = PLACE) -> str:
    """A URL as Nacre writes it."""
    return parse(urldefrag(url).url) if ":" in url else url


def wanted_of(row: Row) -> list[Row]:
    """The links that the row has, each with what it says of them."""
    return [item if isinstance(item, dict) else {"url": item} for item in row["expected"]]


def _matches(link: Outlink, item: Row) -> bool:
    return (
        link.url == normal(item["url"])
        and item.get("hop") in {None, link.hop.value}
        and item.get("context") in {None, link.context}
    )


def compare(links: Sequence[Outlink], wanted: Iterable[Row], *, extra: bool) -> str | None:
    """Say what is missing, and what is too much unless `extra` is allowed."""
    wanted = list(wanted)
    missing = [item for item in wanted if not any(_matches(link, item) for link in links)]
    more = [link for link in links if not any(_matches(link, item) for item in wanted)]
    if not missing and (extra or not more):
        return None
    return f"missing {missing}, more {[(m.hop.value, m.url, m.context) for m in more]}"


def check(row: Row) -> Answer:
    """Compare as `match` says. The answer: all links, as `as_found` has them."""
    wrong = _compare(row)
    return wrong and (not_offered(row) or Differs(as_found(row), wrong))


def not_offered(row: Row) -> Unsupported | None:
    """Links that no document holds are built on request, and not by default."""
    if "attrs" in (row.get("config") or {}):
        return Unsupported("attributes that the operator names")
    return Unsupported("form submissions and templates of links") if builds_its_links(row) else None


def as_found(row: Row) -> Links:
    """(hop, URL, context) of each link that Nacre takes; of a style sheet of CSS, URLs alone."""
    if row["extractor"] == "css" and row["match"] == "exact_list_raw":
        return frozenset(("", url, "") for url in css_urls(row["document"]))
    return frozenset((link.hop.value, link.url, link.context) for link in found(row))


def _compare(row: Row) -> str | None:
    match = row["match"]
    if row["extractor"] == "css" and match == "exact_list_raw":
        return _check_raw(row, css_urls(row["document"]))
    links = found(row)
    if match == "count":
        return _check_count(row, links)
    if match == "absent":
        bad = [item for item in wanted_of(row) if any(_matches(link, item) for link in links)]
        return f"found {bad}" if bad else None
    if match == "exact_multiset_per_context":
        ours = Counter(link.url for link in links)
        theirs = Counter(normal(item["url"]) for item in wanted_of(row))
        return None if ours == theirs else f"found {ours}"
    if row["extractor"] == "scrapy-linkextractor":
        return _check_scrapy(row, links)
    if row["extractor"] == "nutch-dom":
        links = [link for link in links if link.hop in {Hop.LINK, Hop.EMBED}]
    wanted = wanted_of(row)
    if row["extractor"] == "json":
        # Zeno tells links from assets by their extension; to Nacre all of JSON is speculative.
        wanted = [{"url": item["url"]} for item in wanted]
    links = _of_kind(row, links)
    return compare(links, wanted, extra=match == "contains") or _check_text(row, links)


def _check_scrapy(row: Row, links: list[Outlink]) -> str | None:
    """Scrapy takes `a` and `area`, not files by extension; its filters are Nacre's scope."""
    config = row.get("config") or {}
    if "tags" not in config and "attrs" not in config:
        links = [link for link in links if link.context in ANCHORS]
    if "deny_extensions" not in config:
        links = [link for link in links if not link.url.lower().endswith(SCRAPY_IGNORES)]
    return compare(links, wanted_of(row), extra=bool(config)) or _check_text(row, links)


def _check_text(row: Row, links: Sequence[Outlink]) -> str | None:
    """Compare the anchor text of the first link to each URL."""
    seen: set[str] = set()
    for item in wanted_of(row):
        url = normal(item["url"])
        text = " ".join((item.get("text") or item.get("anchor") or "").split())
        same = [link for link in links if link.url == url and link.context in ANCHORS]
        if text and same and url not in seen and all(link.text != text for link in same):
            return f"text {[link.text for link in same]} for {text!r}"
        seen.add(url)
    return None


def _of_kind(row: Row, links: list[Outlink]) -> list[Outlink]:
    """Zeno tells assets from outlinks; it counts frames and handlers of events to the latter."""
    if row.get("kind") == "assets":
        return [link for link in links if link.hop in ASSETS]
    if row.get("kind") == "outlinks":
        return [
            link for link in links if link.hop in OUTLINKS or link.context.startswith("iframe/")
        ]
    return links


def _check_raw(row: Row, urls: Sequence[str]) -> str | None:
    theirs = [item["url"] for item in wanted_of(row)] + list(row.get("expected_imports") or [])
    return None if sorted(set(urls)) == sorted(set(theirs)) else f"found {urls}"


def _check_count(row: Row, links: list[Outlink]) -> str | None:
    urls = [link.url for link in _of_kind(row, links)]
    return None if len(urls) == row["expected_count"] else f"found {urls}"


_CONTROL = re.compile(
    r"<(?:input|select|textarea|button)\b[^>]*?\sname=[\"']?([^\"'\s>]+)", re.IGNORECASE
)


def builds_its_links(row: Row) -> bool:
    """All that is missing is made of the values of a form, or of a template of the operator.

    Submissions name the controls of the form; a template is in the configuration. Neither stands in
    the document.
    """
    taken = {link.url for link in found(row)}
    missing = [item["url"] for item in wanted_of(row) if normal(item["url"]) not in taken]
    document = row.get("document", "")
    if row["match"] == "absent" or not missing or any(url in document for url in missing):
        return False
    if row["extractor"] == "multiple-regex":
        return "template" in (row.get("config") or {})
    controls = set(_CONTROL.findall(document))
    return row["extractor"] == "html-forms" and all(_query_names(url) & controls for url in missing)


def _query_names(url: str) -> set[str]:
    """The names in a query."""
    return {unquote(pair.partition("=")[0]) for pair in url.partition("?")[2].split("&")}


TABLE = Table("extract_html", json_lines("extract_html.jsonl"), check)
