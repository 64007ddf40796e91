"""Where Nacre rightly answers otherwise than a row: general, named, each with its reason."""

import re

from tests.cases.table import Difference, Row


def _outside_its_folder(row: Row) -> bool:
    """A sitemap that lists a URL outside the folder that it stands in."""
    folder = row["url"].rpartition("/")[0] + "/"
    listed = re.findall(r"<(?!image:)(?:\w+:)?loc>\s*([^\s<]+)", row.get("document", ""))
    return any(not url.startswith(folder) for url in listed)


def _several_links_an_entry(row: Row) -> bool:
    entries = re.findall(r"<entry>.*?</entry>", row.get("document", ""), re.DOTALL)
    return any(len(re.findall(r"<link[^>]*(?:alternate|/)", entry)) > 1 for entry in entries)


DIFFERENCES: list[Difference] = [
    Difference(
        "http_replies",
        "a length limit counts bytes as received",
        "Bodies are stored as sent, so the limit does not count what they decode to, as Nutch's.",
        lambda row: "limit" in row.get("expected", {}) and "decoded" in row.get("note", ""),
    ),
    Difference(
        "likely_uri",
        "other schemes than http and https",
        "A guess is only worth a fetch that the crawl can make; the row's rule is the older one.",
        lambda row: re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:", row["input"]) is not None,
    ),
    Difference(
        "likely_uri",
        "unusual characters in a relative path",
        "The older, laxer rule; heritrix.md 1.9 asks for segments of letters, digits and hyphens.",
        lambda row: row["expected"] and bool(re.match(r"[^?#:]*[^\w\s./\\?#:-]", row["input"])),
    ),
    Difference(
        "sitemap",
        "strict location",
        "Whether a URL outside the sitemap's folder is followed, the scope and the robots.txt of "
        "its host decide; the extractor gives all.",
        lambda row: "strict=true" in row["parser_config"] and _outside_its_folder(row),
    ),
    Difference(
        "sitemap",
        "strict namespace",
        "Sitemaps with a wrong namespace are common and mean what they say.",
        lambda row: "error" in row and "strictNamespace=true" in row["parser_config"],
    ),
    Difference(
        "sitemap",
        "every alternate of an Atom entry",
        "The peer takes one link of an entry; an archive wants each of its representations.",
        lambda row: row.get("type") == "ATOM" and _several_links_an_entry(row),
    ),
]
