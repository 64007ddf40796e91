"""The links of a page of a continuous crawl, out of the metadata records of its WARC files.

All captures are read in their order, so that of a page the newest one counts. Source: Nutch,
`readlinkdb` (reference N 1.1).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nacre.archive.link_files import LinkFiles
from nacre.core.crawluri import Outlink
from nacre.engine.candidates.identity import canonicalizer
from nacre.engine.readback import CaptureReader, ReadCapture
from nacre.errors import JobError
from nacre.inspect.typed_urls import typed_in_store
from nacre.inspect.view import reading
from nacre.job.warcs import known_files
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.settings.settings import JobSettings
from nacre.store.files import FileKind
from nacre.uri.parse import parse
from nacre.uri.typed import is_whole


class ArchivedLink(NamedTuple):
    """A link from a page to a page.

    Attributes:
        src: URL of the page.
        dst: URL of the target.
        hop: Letter of the hop.
        context: Element and attribute.
        date: When the page was fetched, µs since the epoch.
    """

    src: str
    dst: str
    hop: str
    context: str
    date: int


class ArchivedLinks(NamedTuple):
    """The links to a page, the newest first, and those on it, in their order there.

    Attributes:
        to_it: Links to it, one of each page.
        on_it: Links on it.
        lost: Number of captures whose links cannot be read, as the record that has them is lost.
    """

    to_it: tuple[ArchivedLink, ...]
    on_it: tuple[ArchivedLink, ...]
    lost: int = 0


def archived_links(layout: Layout, settings: JobSettings, url: str) -> ArchivedLinks:
    """The links to a page and on it.

    Args:
        layout: The directory of the job, which may be running.
        settings: Its settings.
        url: The page, as it is typed; see `uri.typed.typed_url`.

    Raises:
        JobError: The job has no archive yet.
        URIError: It is no URL, or may be several.
    """
    files = [file for file in known_files(layout, settings) if file.row.kind == FileKind.WARC]
    if not files:
        raise JobError(
            message(
                "job.has-no-archive-yet",
                "{root} has no archive yet: `nacre run {root}` makes one",
                root=layout.root,
            )
        )
    key = canonicalizer(settings.uri).canonical
    target = key(_meant(layout, settings, url))
    to_it: dict[str, ArchivedLink] = {}
    on_it: tuple[ArchivedLink, ...] = ()
    newest = -1
    links = LinkFiles(Path(file.path) for file in files)
    lost = 0
    for file in files:
        if not file.size:
            continue
        for capture in CaptureReader(Path(file.path), 0, file.size, links.lines):
            lost += bool(capture.links_lost)
            own = key(capture.url)
            if own == target:
                if capture.outlinks and capture.date >= newest:
                    newest, on_it = capture.date, tuple(_links(capture, capture.outlinks))
                continue
            earlier_link = to_it.get(own)
            if earlier_link is not None and earlier_link.date > capture.date:
                continue
            link = next(
                (outlink for outlink in capture.outlinks if key(outlink.url) == target), None
            )
            if link is not None:
                to_it[own] = _links(capture, [link])[0]
            elif earlier_link is not None and _says_all(capture):
                del to_it[own]  # the newest version of that page lacks it
    ordered = sorted(to_it.values(), key=lambda link: (-link.date, link.src))
    return ArchivedLinks(tuple(ordered), on_it, lost)


def _meant(layout: Layout, settings: JobSettings, url: str) -> str:
    """The URL that a typed text means."""
    if is_whole(url):
        return parse(url)
    with reading(layout, settings) as view:
        return parse(typed_in_store(view.store, url))


def _says_all(capture: ReadCapture) -> bool:
    """Whether what has no link now is without it: one that could not be had stays as it was."""
    if capture.links_lost:
        return False
    return capture.revisit is None and capture.status not in {0, 408, 429} and capture.status < 500


def _links(capture: ReadCapture, links: Iterable[Outlink]) -> list[ArchivedLink]:
    return [
        ArchivedLink(capture.url, link.url, str(link.hop), link.context, capture.date)
        for link in links
    ]
