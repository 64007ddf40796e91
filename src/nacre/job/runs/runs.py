"""The runs of a job: which one it is in, how it ended, and how a new one begins."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from nacre.job.layout import Layout, run_name
from nacre.job.runrow import RunRow
from nacre.job.states import ExitStatus
from nacre.store.disk import failure
from nacre.store.store import Store
from nacre.uri.parse import host, origin

if TYPE_CHECKING:
    from nacre.job.assemble import Parts

_KEY = b"run"
_ARCHIVE = "archive"


def is_over(run: RunRow) -> bool:
    """A run that came to its end or to a limit; others can be gone on with."""
    return run.exit.value.startswith("FINISHED") and run.exit is not ExitStatus.ABNORMAL


def read_run(store: Store) -> RunRow | None:
    """The current or last run; None before the first."""
    row = store.get("meta", _KEY)
    return None if row is None else msgspec.msgpack.decode(row, type=RunRow)


def write_run(store: Store, run: RunRow) -> None:
    """Keep it; joins the open commit group."""
    store.put("meta", _KEY, msgspec.msgpack.encode(run))


def begin_run(store: Store, layout: Layout, now: float) -> tuple[RunRow, bool]:
    """The run to go on with, or a new one; True for a new one.

    Raises:
        StorageError: Its directories cannot be made.
    """
    run = read_run(store)
    if run is not None and not run.fresh:
        return structs.replace(run, exit=ExitStatus.NONE, ended=0.0), False
    run = structs.replace(run or RunRow(run_name(now), 1, now), fresh=False)
    directory = layout.run(run.name)
    try:
        for name in ("logs", "reports"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        _link(layout.latest, Path("runs", run.name))
    except OSError as error:
        raise failure("mkdir", str(directory), error) from error
    write_run(store, run)
    return run, True


def link_as_heritrix(directory: Path, archives: tuple[str, ...]) -> None:
    """Let `warcs` and `job.log`, where Heritrix's scripts look, be other names in a run.

    Nothing happens where there is something called so, or where no link can be made.
    """
    links = {"job.log": "logs/job.log"}
    if _ARCHIVE in archives:
        links["warcs"] = _ARCHIVE
    for name, target in links.items():
        with suppress(OSError):
            (directory / name).symlink_to(target)


def _link(link: Path, target: Path) -> None:
    """Point a link at a target, in one step."""
    fresh = link.with_name(link.name + ".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def run_archives(layout: Layout, directories: tuple[str, ...]) -> tuple[str, ...]:
    """Directories that may hold WARCs that the store does not know, relative to the job."""
    runs = layout.root / "runs"
    if not runs.is_dir():
        return ()
    return tuple(
        str(Path("runs", run.name, directory.replace("${launchId}", run.name)))
        for run in sorted(runs.iterdir())
        for directory in directories
        if not Path(directory).is_absolute()
        and (run / directory.replace("${launchId}", run.name)).is_dir()
    )


def enter_seeds_again(parts: "Parts") -> None:
    """Schedule the seeds once more: nothing could be fetched, so nothing is lost by another try.

    What was learned of their hosts, that they cannot be reached, is forgotten.
    """
    from nacre.job.seeding.seedbook import own_scope  # noqa: PLC0415 - with all of the scope

    now = parts.clock.now()
    for row in list(parts.seeds.rows()):
        parts.hosts.drop(host(row.url))
        parts.robots.drop(origin(row.url))
        seed = parts.identity.seed(
            row.url, heritable=own_scope(row.owner), overlay=parts.sheets.of_url(row.url)
        )
        uri = structs.replace(seed, force_fetch=True)
        parts.frontier.schedule([uri], now)
