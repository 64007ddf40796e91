"""Fetch and parse one page with the settings of a job, and store nothing.

Source: Nutch, `ParserChecker`. A temporary directory has links to the job's settings and to the
other files of the job; its only round lists the page, and a unit fetches it like any other.
"""

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from nacre.crawldb.kernels import parquet
from nacre.machine.layout import Layout
from nacre.rounds.fetch_check import fetch_check
from nacre.rounds.segment_commands import visits_of
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.given import GivenOptions, generate_given
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.scope.seeds import SeedList

_LEFT_OUT = frozenset(("action", "archive", "control", "cycle", "index", "latest", "runs", "state"))
SETTINGS = ('cycle.storage=""', "cycle.fetch.follow=none", 'cycle.scratch=""')
"""Settings in which the temporary directory differs from the job."""
_ABOVE = ".above"
"""Name of the folders above the directory, which is short: a path has a greatest length."""

Opened = Callable[[Path], AbstractContextManager[StepContext]]
"""Opens a directory for steps."""


class CheckedPage(NamedTuple):
    """A page that was fetched for a check.

    Attributes:
        url: Its URL.
        visit: The columns of its visit.
        links: Links that the scope accepts: target, hop, context and text of each.
    """

    url: str
    visit: dict[str, Any]
    links: list[dict[str, Any]]


def check_page(layout: Layout, url: str, opened: Opened) -> CheckedPage | None:
    """Fetch and parse a page; None if no unit tried it.

    Args:
        layout: The directory of the job, which stays as it is.
        url: The URL.
        opened: Opens the directory in the temporary folder, with `SETTINGS`.

    Raises:
        ConfigError: A fetch would refuse it, as without a contact.
    """
    with _temporary_job(layout) as directory, opened(directory) as context:
        lists = [SeedList("", (url,))]
        inject(context, lists, InjectOptions(filter=False))
        given = generate_given(context, lists, GivenOptions(1), fetch_check(context))
        if not given.segments:
            return None
        fetch(context, given.segments[0], FetchOptions())
        return _read_page(context, given.segments[0])


@contextmanager
def _temporary_job(layout: Layout) -> Iterator[Path]:
    """Yield a directory with links to the files of a job except its crawl; removed at the end.

    Nothing is copied, as the job may contain files of any size. The folders above have links to the
    entries above the job, so that `../shared/rules.txt` in a setting means the same file.
    """
    above = layout.root.resolve()
    temporary = Path(tempfile.mkdtemp(prefix="nacre-page-"))
    folders = [above.name, *(_ABOVE for _ in above.parents[1:])][::-1]
    directory = temporary.joinpath(*folders)
    try:
        directory.mkdir(parents=True)
        _link_entries(above, directory, _LEFT_OUT)
        for folder, real in zip(directory.parents, above.parents, strict=False):
            _link_entries(real, folder, ())
        yield directory
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _link_entries(source: Path, folder: Path, left_out: Collection[str]) -> None:
    """Link the entries of a directory in a folder, except entries that the folder has.

    A directory that cannot be listed has no entries.
    """
    with suppress(PermissionError):
        for path in source.iterdir():
            if path.name not in left_out and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)


def _read_page(context: StepContext, segment: str) -> CheckedPage | None:
    version = context.cycle.newest()
    with context.place.open() as work:
        visits = [row for batch in visits_of(work, version, [segment]) for row in batch.to_pylist()]
        if not visits:
            return None
        names = facts_of(segment, version.segments[segment]).files("links")
        source = parquet(local_facts(work.storage, names, work))
        query = f"select dst, hop, context, anchor from {source} order by rank"
        links = work.kernel.arrow(query).to_pylist()
    visit = visits[0]
    return CheckedPage(str(visit["url"] or visit["key"]), visit, links)
