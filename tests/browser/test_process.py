"""A browser that is started: its network, its user, its sandbox, and its end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.browser import process_tree
from nacre.browser.cdp import BrowserGoneError, CdpTimeoutError
from nacre.browser.finding import InstalledBrowser
from nacre.browser.process import (
    BrowserLaunch,
    BrowserProcess,
    PageContext,
    close_context,
    explain_failure,
    open_context,
)
from nacre.errors import BrowserError
from tests.browser.loop import in_loop, wait_until

ROOT = Path(__file__).parents[2]
NOBODY = 65534


@asynccontextmanager
async def started(browser: InstalledBrowser, directory: Path) -> AsyncIterator[BrowserProcess]:
    process = BrowserProcess(BrowserLaunch(browser, directory, slots=2))
    await process.start()
    try:
        yield process
    finally:
        await process.stop()


async def open_page(process: BrowserProcess, slot: int = 1) -> PageContext:
    return await open_context(process, process.sockets[slot].getsockname()[1])


async def evaluate(page: PageContext, expression: str, seconds: float = 20.0) -> Any:
    reply = await page.cdp.call(
        "Runtime.evaluate", {"expression": expression}, session=page.session, timeout=seconds
    )
    return reply["result"].get("value")


def read(pid: int, name: str) -> str:
    return (Path("/proc") / str(pid) / name).read_text()


def status_of(pid: int, field: str) -> str:
    lines = read(pid, "status").splitlines()
    return next(line for line in lines if line.startswith(field)).split(":")[1].strip()


def reaches(pid: int, path: Path) -> bool:
    """Whether a path leads somewhere for a process: the root of a renderer is an empty place."""
    try:
        return Path(f"/proc/{pid}/root{path}").exists()
    except OSError:
        return False


@pytest.mark.browser
@in_loop
async def test_the_network_has_loopback_alone(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    async with started(installed_browser, tmp_path) as process:
        page = await open_page(process)
        pids = process_tree.list_processes(process.pid)
        assert len(pids) >= 4
        for pid in pids:
            lines = read(pid, "net/dev").splitlines()[2:]
            assert [line.split(":")[0].strip() for line in lines] == ["lo"]
            assert not read(pid, "net/route").splitlines()[1:]
        assert {each.getsockname()[0] for each in process.sockets} == {"127.0.0.1"}
        assert len(process.sockets) == 3
        assert await evaluate(page, "1 + 1") == 2


@pytest.mark.browser
@in_loop
async def test_no_process_is_root_and_renderers_are_in_the_sandbox(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    async with started(installed_browser, tmp_path / "scratch") as process:
        assert await evaluate(await open_page(process), "1 + 1") == 2
        pids = process_tree.list_processes(process.pid)
        for pid in pids:
            assert "0" not in status_of(pid, "Uid").split()
            assert status_of(pid, "CapEff") == "0" * 16 or pid != process.pid
        commands = {pid: read(pid, "cmdline") for pid in pids}
        renderers = [pid for pid in pids if "--type=renderer" in commands[pid]]
        assert renderers
        assert {status_of(pid, "Seccomp") for pid in renderers} == {"2"}
        assert not any(reaches(pid, tmp_path) for pid in renderers)
        assert reaches(os.getpid(), tmp_path)
        assert not any("--no-sandbox\0" in command for command in commands.values())
        limits = read(process.pid, "limits")
        assert next(line for line in limits.splitlines() if "core" in line).split()[4] == "0"
        assert process.user_agent.startswith("Mozilla/5.0")
        assert os.getsid(process.pid) == process.pid
    assert files(tmp_path / "scratch") == []
    assert process.usage().processes == 0


@pytest.mark.browser
@in_loop
async def test_a_page_that_hangs_or_crashes_leaves_the_next_page_alone(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    async with started(installed_browser, tmp_path) as process:
        hanging, crashing = await open_page(process, 1), await open_page(process, 2)
        with pytest.raises(CdpTimeoutError):
            await evaluate(hanging, "while (true) {}", seconds=0.3)
        assert await evaluate(crashing, "2 + 2") == 4
        events: list[str] = []
        crashing.cdp.listen(crashing.session, lambda method, _params: events.append(method))
        await crashing.cdp.call("Inspector.enable", session=crashing.session)
        with pytest.raises(CdpTimeoutError):
            await crashing.cdp.call("Page.crash", session=crashing.session, timeout=1.0)
        await wait_until(lambda: "Inspector.targetCrashed" in events)
        await close_context(hanging)
        await close_context(crashing)
        again = await open_page(process, 1)
        assert await evaluate(again, "3 + 3") == 6


@pytest.mark.browser
@in_loop
async def test_a_stopped_browser_is_killed_and_a_killed_one_is_noticed(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    async with started(installed_browser, tmp_path) as process:
        await open_page(process)
        pids = process_tree.list_processes(process.pid)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        with pytest.raises(CdpTimeoutError):
            await process.cdp.call("Browser.getVersion", timeout=0.2)
    assert not any(map(process_tree.is_running, pids))
    async with started(installed_browser, tmp_path) as process:
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(BrowserGoneError):
            await process.cdp.call("Browser.getVersion")
    assert files(tmp_path) == []


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def files(directory: Path) -> list[Path]:
    return list(directory.iterdir())


def spawn(
    browser: InstalledBrowser, directory: Path, script: str, *before: str
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.browser.parent", str(browser.program)]
    return subprocess.Popen(
        [*before, *command, str(directory), script], stdout=subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip


def run_as(user: str) -> list[str]:
    """Return the beginning of a command that another kind of user runs."""
    if user == "this" or os.geteuid():
        return []
    if user == "weak root":  # as in containers: root that may not make network namespaces
        return ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"]
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("user", "script"),
    [
        ("this", "1"),
        ("this", "while (true) {}"),
        ("ordinary", "while (true) {}"),
        ("weak root", "while (true) {}"),
    ],
)
def test_no_process_remains_when_the_crawler_is_killed(
    installed_browser: InstalledBrowser, public_directory: Path, user: str, script: str
) -> None:
    parent = spawn(installed_browser, public_directory, script, *run_as(user))
    assert parent.stdout is not None
    with parent:
        report = json.loads(parent.stdout.readline())
        pids = report["pids"]
        assert len(pids) >= 4
        assert all(map(process_tree.is_running, pids))
        assert report["owner"] != 0
        parent.kill()
    asyncio.run(wait_until(lambda: not any(map(process_tree.is_running, pids))))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("max_net_namespaces", r"gives no network namespace .*browser\.isolation: none"),
        ("max_user_namespaces", r"its sandbox needs user namespaces.*chromium-sandbox"),
    ],
)
def test_a_system_without_namespaces_is_explained(
    installed_browser: InstalledBrowser, tmp_path: Path, limit: str, message: str
) -> None:
    most = "0" if limit == "max_net_namespaces" else "1"
    shell = f'echo {most} > /proc/sys/user/{limit} && exec "$@"'
    parent = spawn(
        installed_browser, tmp_path, "1", "unshare", "--user", "--map-root-user", "--mount-proc",
        "--pid", "--fork", "sh", "-c", shell, "sh",
    )  # fmt: skip
    with parent:
        assert parent.stdout is not None
        report = json.loads(parent.stdout.readline())
    with pytest.raises(BrowserError, match=message):
        raise BrowserError(report["error"])


@in_loop
async def test_a_program_that_is_no_browser_is_explained(public_directory: Path) -> None:
    tmp_path = public_directory
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho it is broken >&2; exit 3\n")
    program.chmod(0o755)
    plan = BrowserLaunch(
        InstalledBrowser(program, (), "chromium"), tmp_path / "scratch", isolated=False
    )
    with pytest.raises(BrowserError, match=r"cannot start .*chromium: it is broken"):
        await BrowserProcess(plan).start()
    plan = plan._replace(browser=InstalledBrowser(tmp_path / "missing", (), "chromium"))
    with pytest.raises(BrowserError, match="No such file or directory"):
        await BrowserProcess(plan).start()
    assert files(tmp_path / "scratch") == []


@in_loop
async def test_a_start_without_a_process_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_args: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    browser = InstalledBrowser(tmp_path / "chromium", (), "chromium")
    process = BrowserProcess(BrowserLaunch(browser, tmp_path / "scratch"))
    before = descriptors()
    with pytest.raises(BrowserError, match="temporarily unavailable"):
        await process.start()
    assert descriptors() == before
    assert files(tmp_path / "scratch") == []


@pytest.mark.parametrize(
    ("error", "noise", "message"),
    [
        (
            "namespace: Operation not permitted",
            "",
            "no network namespace (Operation not permitted)",
        ),
        (
            "the browser has ended",
            "x\n[1] No usable sandbox! Update\n",
            "sandbox needs user namesp",
        ),
        ("the browser has ended", "a\nb: cannot open libnss3.so\n", "b: cannot open libnss3.so. F"),
        ("start: [Errno 13] Permission denied: '/b'", "", "a directory that all users can enter"),
        (
            "start: [Errno 2] No such file",
            "",
            "cannot start /b: start: [Errno 2] No such file. Find",
        ),
    ],
)
def test_the_reason_of_a_failed_start(error: str, noise: str, message: str) -> None:
    assert message in explain_failure("/b", error, noise)
