"""URLs that an exclusion took out of a job: they come back once it is undone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Protocol

from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.outcomes import scan_outcomes
from nacre.frontier.pending import JournalTag
from nacre.job.imports import ImportMode, ImportOptions
from nacre.runs.runs import read_run
from nacre.scope.patterns.matching import Matcher, PatternList
from nacre.store.store import Store

READMITTED: Final = {
    "deleted": ImportOptions(ImportMode.IMPORT, force=True),
    "refused": ImportOptions(ImportMode.IMPORT, scoped=True),
}
"""The URLs that come back, and how their lines are imported. Deleted URLs are not checked against
the scope: they may be from a list. URLs that are still excluded stay deleted."""


def readmitted_lines(
    store: Store, kind: str, urls: Matcher, excluded: Sequence[str] = ()
) -> Iterator[str]:
    """URLs that come back once an exclusion is undone, of this run.

    They are lines of a recovery journal, without line feed: `F+ URL PATH VIA`. Pages that only they
    link to are not known. The number of known refused URLs is limited by `engine.outside_kept`.

    Args:
        store: The job's.
        kind: `deleted`: what the operator deleted; `refused`: what the scope refused.
        urls: Which URLs.
        excluded: Expressions that are excluded still, each found in the URLs.
    """
    if kind == "refused":
        for refusal in RejectedUris(store).matching(urls):
            yield _line(refusal.url, refusal.path, refusal.via)
        return
    stays = PatternList(excluded, search=True).matches if excluded else None
    for _, outcome in scan_outcomes(store):
        if outcome.status != FetchStatus.DELETED or not urls(outcome.url):
            continue
        if stays is None or not stays(outcome.url):
            yield _line(outcome.url, outcome.path, outcome.via)


class StoreView(Protocol):
    """A look at a job's store."""

    @property
    def store(self) -> Store:
        """The store."""


def readmitted_files(
    look: Callable[[], AbstractContextManager[StoreView]],
    urls: Matcher,
    excluded: Sequence[str] = (),
) -> Iterator[tuple[Path, ImportOptions]]:
    """Yield files of URLs that come back once an exclusion is undone; each exists until the next.

    There can be millions of lines, and the store must not be open for reading during an import.

    Args:
        look: Looks at the store for a while.
        urls: Which URLs.
        excluded: Expressions that are excluded still.
    """
    for kind, options in READMITTED.items():
        with NamedTemporaryFile("w", prefix="nacre-readmit-", suffix=".txt", encoding="utf-8",
                                errors="backslashreplace") as file:  # fmt: skip
            with look() as view:
                lines = readmitted_lines(view.store, kind, urls, excluded)
                file.writelines(f"{line}\n" for line in lines)
            file.flush()
            if file.tell():
                yield Path(file.name), options


def takes_back(store: Store) -> bool:
    """Whether URLs can come back: there is a run that can be resumed."""
    run = read_run(store)
    return run is not None and run.exit is not ExitStatus.FINISHED and not run.closed


def _line(url: str, path: str, via: str) -> str:
    return " ".join(part for part in (JournalTag.ADDED, url, path, via) if part)
