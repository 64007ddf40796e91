"""What holds for all tests."""

import asyncio
import fcntl
import gc
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from nacre.browser.finding import InstalledBrowser

# No timed assertions: machines are noisy. A fresh clone is green or it is not, so that the examples
# are the same each time, and few; `NACRE_FUZZ=1` looks for many new ones (make test-all does).
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=500,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("fuzz" if os.environ.get("NACRE_FUZZ") else "steady")


FOLDERS = "pytest-of-nacre-"
MEMORY = Path("/dev/shm")
"""A file system in memory: half of the time of a test that opens a store is that of the disk. The
kills use the disk all the same, and whoever sets `TMPDIR` decides."""
_ROOM = 6 << 30
"""Bytes that it has to have, and the machine as well."""
_UNLOCKED = 60.0
"""Seconds within which a new folder may not have its lock yet."""
_SELDOM = (10_000, 20, 20)
"""How many new objects make the collector begin, and how many of its runs one of the next kind."""
_OF_DISKS = frozenset(("store", "fault"))
"""Folders of tests in which a job holds space on the disk as it does elsewhere."""
_FAILED = pytest.StashKey[bool]()
_LEAKS = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """A temporary folder for this run alone; it goes at the end, unless something failed.

    pytest's own numbered folders are shared by all runs of a user: each run cleans up after others
    that may still be at work. Workers get a folder within that of their run. A run holds a lock on
    its folder: the next run removes the folders of runs that are over (killed or failed), but for
    the newest, which somebody may still want to read.
    """
    gc.disable()
    if config.option.basetemp is not None or hasattr(config, "workerinput"):
        return
    if "TMPDIR" not in os.environ and has_room(MEMORY, Path("/proc/meminfo").read_text()):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None
    remove_old_folders(Path(tempfile.gettempdir()))
    place = Path(tempfile.mkdtemp(prefix=FOLDERS))
    config.option.basetemp = str(place / "t")
    os.environ["XDG_CONFIG_HOME"] = str(place / "config")
    held = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def remove() -> None:
        if not config.stash.get(_FAILED, True):
            shutil.rmtree(place, ignore_errors=True)
        os.close(held)

    config.add_cleanup(remove)


def pytest_collection_finish() -> None:
    """The collector leaves out what the collection of the tests made: it stays until the end.

    Sixteen thousand tests are some 600,000 objects. To look at them all again and again was half
    of the CPU time of quick tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """A failure is shown without the collector: it parses the source of the test.

    A finalizer that runs meanwhile makes `compile` of Python 3.11 fail (cpython issue 106905), and
    the process of the test would end without the failure that it had to report.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def has_room(place: Path, meminfo: str) -> bool:
    """Whether a file system in memory has room for what the tests write."""
    found = re.search(r"^MemAvailable: +(\d+) kB$", meminfo, re.MULTILINE)
    if found is None or int(found[1]) << 10 < _ROOM or not os.access(place, os.W_OK | os.X_OK):
        return False
    return shutil.disk_usage(place).free >= _ROOM


def remove_old_folders(parent: Path) -> list[Path]:
    """The folders of runs that are over, removed; the newest of all folders stays."""
    removed: list[Path] = []
    for place in sorted(parent.glob(f"{FOLDERS}*"), key=_made)[:-1]:
        if time.time() - _made(place) < _UNLOCKED:
            continue
        try:
            held = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # another run removes it, it is another user's, or no folder
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place, ignore_errors=True)
            removed.append(place)
        except BlockingIOError:  # its run is at work
            pass
        finally:
            os.close(held)
    return removed


def _made(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return 0.0


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(
    session: pytest.Session, exitstatus: int
) -> Generator[None, object, object]:
    """What our code leaves open is an error, also what only the last tests left."""
    config = session.config
    gc.unfreeze()
    config.stash.setdefault(_LEAKS, []).extend(_left_open())
    result = yield
    leaks = config.stash[_LEAKS]
    if hasattr(config, "workeroutput"):
        config.workeroutput["leaks"] = leaks
    elif leaks:
        told = ["", "Left open by tests, and found after the last one:", *leaks]
        config.get_terminal_writer().line("\n".join(told), red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    config.stash[_FAILED] = session.exitstatus not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist is done: what its tests left open counts for the run."""
    leaks = getattr(node, "workeroutput", {}).get("leaks", [])
    node.config.stash.setdefault(_LEAKS, []).extend(leaks)


@pytest.hookimpl(optionalhook=True)
def pytest_fork_ends() -> list[str]:
    """What the tests of a process of `tools.forks` left open.

    What the collection of the tests made is looked at in the first process alone.
    """
    return _left_open()


@pytest.hookimpl(optionalhook=True)
def pytest_fork_ended(config: pytest.Config, said: list[str]) -> None:
    """A process of `tools.forks` is done: what its tests left open counts for the run."""
    config.stash.setdefault(_LEAKS, []).extend(said)


def _left_open() -> list[str]:
    """What the collector finds that complains when it goes, such as a file that is not closed."""
    found: list[str] = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda left: found.append(f"{left.object!r}: {left.exc_value!r}")
    try:
        gc.collect()
    finally:
        sys.unraisablehook = before
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """What tools leave open at their exit is theirs: a warning, and no failure of the run."""
    warnings.simplefilter("default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that is marked `browser` is skipped where none can start."""
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("browser"):
            item.fixturenames.insert(0, "installed_browser")


@pytest.fixture(scope="session")
def installed_browser(tmp_path_factory: pytest.TempPathFactory) -> "InstalledBrowser":
    """The browser of the tests: `NACRE_CHROMIUM`, that of `tools/system.sh`, or the system's.

    It is started once: the reason of a failure is that of all tests that are skipped.
    """
    # Coverage begins before these.
    from nacre.browser import finding, process  # noqa: PLC0415
    from nacre.errors import BrowserError  # noqa: PLC0415
    from tools import cache  # noqa: PLC0415

    unpacked = cache.folder("system") / "bin" / "chromium-headless-shell"
    command = os.environ.get("NACRE_CHROMIUM", "")
    if not command and unpacked.exists() and not shutil.which(finding.COMMANDS[0]):
        command = str(unpacked)

    async def start(browser: "InstalledBrowser") -> None:
        running = process.BrowserProcess(
            process.BrowserLaunch(browser, tmp_path_factory.mktemp("browser"))
        )
        await running.start()
        await running.stop()

    try:
        browser = finding.find_browser(command)
        asyncio.run(start(browser))
    except BrowserError as error:
        pytest.skip(f"pages cannot be run in a browser: {error}")
    return browser


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The crawls of a module share no politeness with those of the user or of other modules.

    A delay of ten minutes that a test of another module gives to 127.0.0.1:9 would hold for all.
    Nor do they share collections.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True, scope="module")
def _thin_ballast(request: pytest.FixtureRequest) -> Iterator[None]:
    """Jobs hold no space: 32 MB of memory would be filled at the start of each."""
    if request.path.relative_to(Path(__file__).parent).parts[0] in _OF_DISKS:
        yield
        return
    from nacre.store.disk import RealDisk  # noqa: PLC0415 - coverage begins before it

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RealDisk, "allocate", lambda _disk, handle, size: os.truncate(handle, size))
        yield
