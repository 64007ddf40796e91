"""One page is fetched and parsed with the settings of a job, and nothing of it is kept.

Source: Nutch, `ParserChecker`. A directory in the temporary folder has links to the job's settings
and to the files beside them; its one round lists the page, and fetches it by a unit as every other.
"""

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from nacre.crawldb.kernels import parquet
from nacre.engine.seeding.seeds import SeedList
from nacre.rounds.fetch_check import fetch_check
from nacre.rounds.segment_commands import visits_of
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.given import GivenOptions, generate_given
from nacre.rounds.steps.inject import InjectOptions, inject
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.store.layout import Layout

_LEFT_OUT = frozenset(("action", "archive", "control", "cycle", "index", "latest", "runs", "state"))
SETTINGS = ('cycle.storage=""', "cycle.fetch.follow=none", 'cycle.scratch=""')
"""What the settings of the directory differ by."""
_ABOVE = ".above"
"""Name of the folders above the directory, which is short: a path has a greatest length."""

Opened = Callable[[Path], AbstractContextManager[StepContext]]
"""Opens a directory for steps."""


class CheckedPage(NamedTuple):
    """A page that was fetched for a look.

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
    with _stand_in(layout) as directory, opened(directory) as context:
        lists = [SeedList("", (url,))]
        inject(context, lists, InjectOptions(filter=False))
        made = generate_given(context, lists, GivenOptions(1), fetch_check(context))
        if not made.segments:
            return None
        fetch(context, made.segments[0], FetchOptions())
        return _checked(context, made.segments[0])


@contextmanager
def _stand_in(layout: Layout) -> Iterator[Path]:
    """A directory with links to what a job has beside its crawl, removed in the end.

    Nothing is copied, as a storage or a file of any size may be there. The folders above have links
    to what is above the job, so that settings that name `../shared/rules.txt` mean the same file.
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
    """Link the entries of a directory in a folder, but those that the folder has.

    Of a directory that cannot be listed there are none.
    """
    with suppress(PermissionError):
        for path in source.iterdir():
            if path.name not in left_out and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)


def _checked(context: StepContext, segment: str) -> CheckedPage | None:
    version = context.cycle.newest()
    with context.place.open() as work:
        visits = [row for one in visits_of(work, version, [segment]) for row in one.to_pylist()]
        if not visits:
            return None
        names = facts_of(segment, version.segments[segment]).files("links")
        source = parquet(local_facts(work.storage, names, work))
        query = f"select dst, hop, context, anchor from {source} order by rank"
        links = work.kernel.arrow(query).to_pylist()
    visit = visits[0]
    return CheckedPage(str(visit["url"] or visit["key"]), visit, links)
