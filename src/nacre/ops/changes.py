"""The change feed of a job: what its runs found new, changed and gone, and its publication."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from nacre.errors import ConfigError, StorageError
from nacre.inspect.changes.atom import (
    ATOM_GENERATOR,
    JSON_MARK,
    FeedAddresses,
    atom_feed,
    json_feed,
)
from nacre.inspect.changes.feed import ChangeFeed, FeedRun
from nacre.inspect.changes.markup import ENGLISH, FeedLanguage
from nacre.inspect.changes.pages import (
    ATOM,
    GENERATOR,
    INDEX,
    JSON,
    index_page,
    run_file,
    run_page,
)
from nacre.inspect.changes.reading import ChangeFilter, entry_of, read_feed, read_runs
from nacre.inspect.view import View
from nacre.languages import CHINESE, translator
from nacre.machine.local_files import replace_file
from nacre.messages import message, write
from nacre.ops.fields import LineText, ShortText, Typed

LanguageName = Literal["en", "zh"]
MOST_OF_RUN = 1_000
"""Changes on the page of a run."""
_MARKS = (GENERATOR.encode(), ATOM_GENERATOR.encode(), JSON_MARK.encode())
"""Texts of which each published file has one."""
_HEAD = 4_000
"""Bytes at the beginning of a file that have it."""


class ChangesQuery(msgspec.Struct, frozen=True):
    """A selection of changes; all conditions must hold.

    Attributes:
        since: Only changes of this run and later ones, by its number or name; or since this time;
            or of the last days, such as 7d.
        match: Only URLs in which this regular expression is found.
        kind: Only these kinds: new, changed, gone, moved, back, rights.
        most: Number of changes; the newest are chosen.
    """

    since: Annotated[ShortText, Typed("RUN|TIME|DURATION")] = ""
    match: Annotated[LineText, Typed("REGEX", letter="-r")] = ""
    kind: Annotated[ShortText, Typed("KIND,…")] = ""
    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class PublishedFeed(NamedTuple):
    """A folder with a published feed.

    Attributes:
        folder: The folder.
        written: Number of files that changed.
        same: Number of files that stayed as they were.
    """

    folder: Path
    written: int
    same: int


def read_changes(view: View, query: ChangesQuery) -> ChangeFeed:
    """Return the changes of the runs that are over, the newest first.

    Raises:
        ConfigError: A part of the query has no meaning.
    """
    is_recording = view.layout.is_recording
    return read_feed(view.store, _name(view), _filter(query), is_recording=is_recording)


def feed_language(name: LanguageName) -> FeedLanguage:
    """Return the language of a feed."""
    if name == "en":
        return ENGLISH
    translate = translator(CHINESE)
    return FeedLanguage("zh-CN", lambda text: str(write(text, translate)))


def publish_changes(
    view: View, query: ChangesQuery, folder: Path, address: str = "", language: LanguageName = "en"
) -> PublishedFeed:
    """Write the feed into a folder for a web server: pages, an Atom feed and a JSON Feed.

    A file whose content stays is not written again, so that its ETag and Last-Modified stay too.

    Args:
        view: The job.
        query: The changes of the feed; the page of a run has up to `MOST_OF_RUN` of them.
        folder: The folder; it is made.
        address: URL at which the folder can be read; "" if unknown.
        language: Language of the feed.

    Raises:
        ConfigError: A part of the query or the address has no meaning, or the folder has a file
            of one of these names that is no part of a feed.
        StorageError: A file cannot be written.
    """
    base = _base(address)
    written = same = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_own(folder)
        for name, content in _files(view, query, base, feed_language(language)):
            path = folder / name
            if path.is_file() and path.read_bytes() == content:
                same += 1
                continue
            replace_file(path, content)
            written += 1
    except OSError as error:
        raise StorageError(
            message(
                "changes.cannot-write",
                "{folder} cannot be written: {reason}. Name another folder with --out",
                folder=folder,
                reason=error.strerror or error,
            )
        ) from error
    return PublishedFeed(folder, written, same)


def _files(
    view: View, query: ChangesQuery, base: str, language: FeedLanguage
) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents; the index comes last, when all that it links to is there."""
    feed = read_changes(view, query)
    runs: list[FeedRun] = []
    for run in read_runs(view.store, _filter(query)._replace(most=MOST_OF_RUN)):
        if run.rows:
            of_run = msgspec.structs.replace(feed, entries=[entry_of(row) for row in run.rows])
            runs.append(run.run)
            yield run_file(run.run.number), run_page(of_run, run.run, language)
    at = FeedAddresses(base, base + ATOM, base + JSON) if base else FeedAddresses()
    yield ATOM, atom_feed(feed, language, at)
    yield JSON, json_feed(feed, language, at)
    yield INDEX, index_page(feed, runs, language)


def _base(address: str) -> str:
    if address and not address.startswith(("http://", "https://")):
        raise ConfigError(
            message(
                "changes.bad-address",
                "{address!r} is no address of a folder: it begins with http:// or https://",
                address=address,
            )
        )
    return f"{address.rstrip('/')}/" if address else ""


def _require_own(folder: Path) -> None:
    """Raise ConfigError if a file of another origin would be replaced in a folder."""
    for path in (folder / INDEX, folder / ATOM, folder / JSON, *folder.glob(run_file("*"))):
        if path.exists() and not _is_own(path):
            raise ConfigError(
                message(
                    "changes.other-file",
                    "{path} was not written by `nacre changes`, and would be replaced. Name "
                    "another folder with --out, or remove the file",
                    path=path,
                )
            )


def _is_own(path: Path) -> bool:
    """Return whether a file was published by a feed."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return any(mark in head for mark in _MARKS)


def _filter(query: ChangesQuery) -> ChangeFilter:
    kinds = tuple(kind for part in query.kind.split(",") if (kind := part.strip()))
    return ChangeFilter(query.since, query.match, kinds, query.most)


def _name(view: View) -> str:
    return view.settings.name or view.layout.root.name
