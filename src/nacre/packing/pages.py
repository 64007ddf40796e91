"""The pages of a WACZ: address, time, title, and whether it is a seed.

A page is a capture of HTML with status 200, or was run in a browser: then its line is made of its
`urn:pageinfo:`. Seeds, also behind redirects, are in `pages.jsonl`, and all others in
`extraPages.jsonl`, as in the files of browsertrix. A package without seeds has all pages in
`pages.jsonl`. Source: WACZ 1.1.1, clause "pages.jsonl".
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import urljoin

from nacre.archive.delta import Delta, DeltaError
from nacre.archive.restoring import FindBase
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import JOB, ROUNDS, Holding, Member, WarcPlace
from nacre.catalogue.lookup import CaptureIndex
from nacre.catalogue.page_records import PageRecordLookup
from nacre.config.seed_file import seed_lines
from nacre.core.clock import iso_of_digits
from nacre.engine.readback import read_at
from nacre.errors import NacreError
from nacre.extract.document import stored_document
from nacre.extract.fulltext.job import document_text
from nacre.extract.pageview import page_title, visible_text
from nacre.machine.layout import Layout
from nacre.packing.container import WaczFile
from nacre.packing.sorted_lines import SortedLines
from nacre.scope.seeds import Seed, read_seeds
from nacre.settings.load import load_job
from nacre.uri.surt import index_key

TYPES: Final = frozenset(("text/html", "application/xhtml+xml"))
"""Media types of pages."""
LONGEST: Final = 4 << 20
"""Bytes of a page that is read; the title of a longer page is its URL."""
_HEAD: Final = 1 << 16
"""Characters in which the title is searched."""
_TITLE: Final = 500
_TEXT: Final = 200_000
"""Characters of a title and of a text."""
_REDIRECTS: Final = 8
_MOST_SEEDS: Final = 100_000


class PageFiles(NamedTuple):
    """The pages of a package.

    Attributes:
        pages: Number of pages.
        main_url: The page to begin with; "" for none.
        main_date: Its time, RFC 3339.
    """

    pages: int
    main_url: str = ""
    main_date: str = ""


def is_page(capture: IndexedCapture) -> bool:
    """Whether a capture is a page (pure)."""
    return (
        capture.status == 200
        and not capture.method
        and capture.mime.lower() in TYPES
        and capture.url.startswith(("http://", "https://"))
    )


def page_line(
    place: WarcPlace, capture: IndexedCapture, find: FindBase, *, with_text: bool
) -> bytes:
    """Return the line of a page, with its place in the order of pages.

    Args:
        place: The WARC that has the record.
        capture: Its capture there.
        find: Finds the base of a difference.
        with_text: Add the text of the page.
    """
    title, text = _title_and_text(place, capture, find, with_text=with_text)
    facts: dict[str, object] = {
        "id": page_id(capture), "url": capture.url, "ts": iso_of_digits(capture.timestamp),
        "title": title or capture.url,
    }  # fmt: skip
    if text:
        facts["text"] = text
    return _placed(capture.timestamp, capture.key, facts)


def rendered_page_line(
    records: PageRecordLookup, capture: IndexedCapture, *, with_text: bool
) -> bytes:
    """Return the line of a page that was run in a browser; b"" if its information is unreadable.

    Args:
        records: Reads its records.
        capture: Its `urn:pageinfo:`.
        with_text: Add its text.
    """
    info = records.info(capture)
    if info is None:
        return b""
    facts: dict[str, object] = {
        "id": info.pageid, "url": info.url, "ts": iso_of_digits(capture.timestamp),
        "title": info.title[:_TITLE] or info.url, "loadState": info.load_state,
    }  # fmt: skip
    if with_text and (text := records.text(info.url, capture.timestamp)):
        facts["text"] = text[:_TEXT]
    return _placed(capture.timestamp, index_key(info.url), facts)


def _placed(timestamp: str, key: str, facts: Mapping[str, object]) -> bytes:
    data = json.dumps(facts, ensure_ascii=False).encode("utf-8", "replace")
    return f"{timestamp} {key}\0".encode("utf-8", "replace") + data


def page_id(capture: IndexedCapture) -> str:
    """Return the id of a page, the same each time (pure)."""
    return hashlib.sha256(
        f"{capture.timestamp}/{capture.url}".encode("utf-8", "replace")
    ).hexdigest()[:20]


def _title_and_text(
    place: WarcPlace, capture: IndexedCapture, find: FindBase, *, with_text: bool
) -> tuple[str, str]:
    """Read the title of a page, and its text; "" for an absent value."""
    stored = read_at(place.path, place.start + capture.offset, find, LONGEST)
    if stored is None:
        return "", ""
    text = document_text(stored_document(stored, LONGEST))
    return page_title(text[:_HEAD])[:_TITLE], visible_text(text, _TEXT) if with_text else ""


def _no_base(delta: Delta) -> bytes:
    raise DeltaError("delta-unresolved", f"<{delta.base_id}> is not read for a redirect")


class SeedPages:
    """The seeds of a holding, and where they lead.

    Args:
        holding: The holding.
        index: Its index, for redirects of seeds.
    """

    def __init__(self, holding: Holding, index: CaptureIndex) -> None:
        self._holding = holding
        self._index = index
        self.keys: dict[str, None] = {}
        """Index keys of the seeds and of the targets of their redirects, in order."""
        for member in holding.members:
            for url in _seed_urls(member):
                self._follow(url)

    def _follow(self, url: str) -> None:
        for _ in range(_REDIRECTS):
            key = index_key(url).replace(" ", "%20")
            if key in self.keys:
                return
            self.keys[key] = None
            url = self._target(key)
            if not url:
                return

    def _target(self, key: str) -> str:
        """Return where the newest redirect of a URL leads; "" if it is none."""
        captures = self._index.exact(key, "")
        newest = next((capture for capture in reversed(captures) if capture.status), None)
        if newest is None or not 300 <= newest.status < 400:
            return ""
        place = self._holding.warc(newest.member, newest.warc)
        if place is None:
            return ""
        stored = read_at(place.path, place.start + newest.offset, _no_base, LONGEST)
        location = stored.header(b"location") if stored is not None else None
        try:
            return urljoin(newest.url, location.decode("utf-8", "replace")) if location else ""
        except ValueError:  # such as http://[
            return ""


def _seed_urls(member: Member) -> Iterator[str]:
    """Yield the seeds of a job; none of other members, and if they cannot be read."""
    if member.kind not in (JOB, ROUNDS) or member.is_missing:
        return
    layout = Layout(member.root)
    try:
        named = load_job(layout).settings.seeds
        entries = read_seeds(seed_lines(named, layout.root))
        for number, entry in enumerate(entries):
            if number >= _MOST_SEEDS:
                return
            if isinstance(entry, Seed):
                yield entry.url
    except NacreError:  # a copy of an archive has perhaps no settings that can be read
        return


def write_pages(
    wacz: WaczFile, lines: SortedLines, seeds: Mapping[str, None], *, with_text: bool
) -> PageFiles:
    """Write the lists of pages.

    Args:
        wacz: The WACZ.
        lines: The lines of `page_line`.
        seeds: Index keys of seeds, in order.
        with_text: The pages have texts.

    Raises:
        OSError: The file cannot be written.
    """
    main, count = _main_page(lines, seeds)
    has_seeds = bool(main.main_url)
    header: dict[str, object] = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
    if has_seeds:
        header["title"] = "Seed Pages"
    if with_text:
        header["hasText"] = True
    with wacz.entry("pages/pages.jsonl", deflate=True) as sink:
        sink.write(_json_line(header))
        for key, data in _rows(lines):
            if not has_seeds:
                sink.write(data + b"\n")
            elif key in seeds:
                sink.write(data[:-1] + b', "seed": true}\n')
    if has_seeds:
        header |= {"id": "extra-pages", "title": "Other Pages"}
        with wacz.entry("pages/extraPages.jsonl", deflate=True) as sink:
            sink.write(_json_line(header))
            for key, data in _rows(lines):
                if key not in seeds:
                    sink.write(data + b"\n")
    return main._replace(pages=count)


def _rows(lines: SortedLines) -> Iterator[tuple[str, bytes]]:
    """Yield the index key and the JSON of each page, in the order of time."""
    for line in lines:
        place, _, data = line.partition(b"\0")
        yield place.partition(b" ")[2].decode("utf-8", "replace"), data


def _main_page(lines: SortedLines, seeds: Mapping[str, None]) -> tuple[PageFiles, int]:
    """Return the newest capture of the first seed that has any, and the number of all pages."""
    ranks = {key: number for number, key in enumerate(seeds)}
    best, rank, count = b"", len(ranks), 0
    for key, data in _rows(lines):
        count += 1
        own = ranks.get(key, len(ranks))
        if own <= rank and own < len(ranks):
            best, rank = data, own
    if not best:
        return PageFiles(count), count
    facts = json.loads(best)
    return PageFiles(count, facts["url"], facts["ts"]), count


def _json_line(facts: Mapping[str, object]) -> bytes:
    return json.dumps(facts, ensure_ascii=False).encode() + b"\n"
