"""Worlds and plans of runs: served pages and visit times (pure, except two readers)."""

import re
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from nacre.core.clock import parse_time

DAY = 86_400
_PLAN = "world.json"
OWN = Path(__file__).with_name("worlds.toml")
_PAIR = re.compile(r"^(.*\D)(\d+)$")


class HistoryWorld(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A history that is served.

    Attributes:
        repository: URL of the public repository of pages or snapshots.
        start: Time of the first crawl, ISO 8601.
        days: Days between two runs.
        steps: Incremental runs.
        versions: URL of the repository that records real changes (OpenTermsArchive); "": none.
        branch: Branch whose first parents are the history.
        commit: Last commit that all steps need; "" if the tip of the branch is enough.
        versions_commit: The same of `versions`.
        root: Folder of the tree that is the root of the site; "" for the whole tree.
        hops: Hops from the seed that are followed.
        index: Each folder of the first level is a separate site, with a page that lists it.
        ssi: Include files, and fill in templates, as the Apache site of Kafka does.
        only: Regular expression of the paths that exist; "" for all.
        disallow: Prefixes of paths that robots.txt forbids.
    """

    repository: str
    start: str
    days: int = 7
    steps: int = 20
    versions: str = ""
    branch: str = "main"
    commit: str = ""
    versions_commit: str = ""
    root: str = ""
    hops: int = 20
    index: bool = False
    ssi: bool = False
    only: str = ""
    disallow: tuple[str, ...] = ()

    @property
    def kind(self) -> Literal["ota", "site"]:
        """The judge: `ota` compares with recorded versions, `site` with the pages themselves."""
        return "ota" if self.versions else "site"


class RunPlan(msgspec.Struct, frozen=True):
    """Everything that the server and the judges need of a run; `world.json` in its directory.

    Attributes:
        repo: Git directory of the pages.
        versions: Git directory of the recorded versions; None: there is none.
        branch: See `HistoryWorld`; so are `days`, `ssi`, `only`, `index`, `disallow`.
        times: Time of the first crawl and of each step, epoch seconds.
        start: The first of them.
        end: No change after this time is read.
        hosts: Address to folder, of each site that is a folder of the tree.
        bind: Address of a world that is one site.
        port: Port of all addresses.
        clock: File with the time that is served.
        log: File of the server's log.
        validators: `none`, `etag`, `date` or `both`.
        pairs: Reply to a second request in a step: the `same`, or an `other` snapshot of the same
            version.
        plain: Links to `index.html?Class` of javadoc lose their query.
    """

    repo: str
    branch: str
    times: list[int]
    start: int
    end: int
    bind: str
    port: int
    clock: str
    log: str
    versions: str | None = None
    days: int = 7
    ssi: bool = False
    only: str | None = None
    index: bool = False
    disallow: list[str] = msgspec.field(default_factory=list)
    hosts: dict[str, str] = msgspec.field(default_factory=dict)
    validators: str = "none"
    pairs: str = "same"
    plain: bool = False

    @property
    def seeds(self) -> list[str]:
        """The start page of each site."""
        return [f"http://{address}:{self.port}/" for address in self.hosts or [self.bind]]


def read_worlds(path: Path = OWN) -> dict[str, HistoryWorld]:
    """Return the worlds of a TOML file, by their names.

    Raises:
        ValueError: The file is invalid; the message contains world and field.
    """
    tables = tomllib.loads(path.read_text("utf-8"))
    try:
        return msgspec.convert(tables, dict[str, HistoryWorld])
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {error}") from error


def read_plan(folder: Path) -> RunPlan:
    """Read the plan of a run.

    Raises:
        ValueError: The folder has none.
    """
    if not is_run(folder):
        raise ValueError(f"{folder} is no folder of a run: it has no {_PLAN}")
    return msgspec.json.decode((folder / _PLAN).read_bytes(), type=RunPlan)


def write_plan(folder: Path, plan: RunPlan) -> Path:
    """Write the plan of a run into its folder, and return the file."""
    file = folder / _PLAN
    file.write_bytes(msgspec.json.encode(plan))
    return file


def is_run(folder: Path) -> bool:
    """Return whether a folder has the plan of a run."""
    return (folder / _PLAN).is_file()


def step_times(world: HistoryWorld, steps: int | None = None) -> list[int]:
    """Times of the first crawl and of each step, epoch seconds; `steps` None: all of the world."""
    first, number = int(parse_time(world.start)), world.steps if steps is None else steps
    return [first + DAY * world.days * step for step in range(number + 1)]


def addresses(first: str, folders: list[str]) -> dict[str, str]:
    """Return an address for each folder, counted up from the first.

    Raises:
        ValueError: There are more folders than addresses up to .254.
    """
    match = _PAIR.match(first)
    if match is None or int(match[2]) + len(folders) > 255:
        raise ValueError(f"--bind {first}: {len(folders)} sites need as many addresses up to .254")
    return {f"{match[1]}{int(match[2]) + place}": name for place, name in enumerate(folders)}


def service_folders(names: list[str]) -> list[str]:
    """Folders of the first level that ever had a page, in order, each with its slash."""
    return sorted({name.partition("/")[0] + "/" for name in names if name.endswith(".html")})
