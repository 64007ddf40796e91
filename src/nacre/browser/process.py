"""A browser process: its start, its memory and time, and its end."""

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from nacre.browser import launch, process_tree
from nacre.browser.cdp import BrowserGoneError, CdpClient, CdpError, CdpTimeoutError
from nacre.browser.finding import InstalledBrowser
from nacre.browser.process_tree import ProcessTree, ProcessUsage
from nacre.browser.scratch import UIDS, ScratchDirectory
from nacre.errors import BrowserError
from nacre.messages import message

START_TIME: Final = 20.0
"""Longest time of a start, seconds; it takes 0.3 s, and a machine can be busy."""
_NOISE: Final = 8192
"""Bytes of the browser's standard error that are kept for the message of a failed start."""
_KILL_TIME: Final = 5.0
"""Longest time in which the processes of a killed browser disappear, seconds."""

FLAGS: Final = (
    "--remote-debugging-pipe",
    "--proxy-server=http://127.0.0.1:{port}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--block-new-web-contents",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-client-side-phishing-detection",
    "--disable-features=HttpsUpgrades,Translate,OptimizationHints,MediaRouter,"
    "AutofillServerCommunication",
    "--disable-lazy-loading",
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--password-store=basic",
)
"""Flags of every browser; `--no-sandbox` is never among them."""


class BrowserLaunch(NamedTuple):
    """The plan of a start.

    Attributes:
        browser: The program.
        directory: Where its profile is made; deleted at its end.
        slots: Number of pages that it may have open at once; it gets one socket more.
        isolated: Whether it gets a network namespace.
        authority: Base64 of the SHA-256 of the key of the proxy's certificate authority; "" if no
            authority is trusted.
    """

    browser: InstalledBrowser
    directory: Path
    slots: int = 1
    isolated: bool = True
    authority: str = ""


class BrowserProcess:
    """A running browser with all its processes.

    Attributes:
        cdp: Its client.
        sockets: Listening sockets inside the browser's network: the first is the proxy of what the
            browser itself asks for, to which nothing should answer; the others are of pages.
        version: Name and version, such as `HeadlessChrome/156.0.8078.108`.
        user_agent: User agent that it sends by itself.
        pid: Process id; also the id of its process group and session.
        flags: Its command line.
    """

    def __init__(self, plan: BrowserLaunch) -> None:
        """Prepare a start; see `start`."""
        self._plan = plan
        self._process: asyncio.subprocess.Process | None = None
        self._noise = bytearray()
        self._noise_pipe = -1
        self._killed: list[int] = []
        """Processes that it had when it was killed."""
        self._directory: ScratchDirectory | None = None
        self._tree = ProcessTree(0)
        self.cdp = CdpClient()
        self.sockets: list[socket.socket] = []
        self.version = ""
        self.user_agent = ""
        self.flags: tuple[str, ...] = ()

    @property
    def pid(self) -> int:
        """Process id of the browser; 0 before its start."""
        return self._process.pid if self._process is not None else 0

    async def start(self) -> None:
        """Start the browser and wait until it answers.

        Raises:
            BrowserError: It did not start; the message has the reason and a remedy.
        """
        try:
            async with asyncio.timeout(START_TIME):
                await self._launch()
                version = await self.cdp.call("Browser.getVersion", timeout=START_TIME)
        except (BrowserGoneError, CdpError, TimeoutError, OSError) as error:
            await self.stop()
            raise BrowserError(self._explain(error)) from error
        except BaseException:
            await self.stop()
            raise
        self.version = str(version.get("product", ""))
        self.user_agent = str(version.get("userAgent", ""))

    async def stop(self) -> None:
        """Kill all processes of the browser, and delete their files."""
        process = self._process
        if process is not None:
            tree = self._killed or process_tree.list_processes(process.pid)
            self.kill()
            await process.wait()
            await _wait_for_end(tree)
        self.cdp.close()
        self._close_noise()
        for listener in self.sockets:
            listener.close()
        self.sockets = []
        if self._directory is not None:
            await asyncio.to_thread(self._directory.remove)
            self._directory = None

    def kill(self) -> None:
        """Kill all processes of the browser, without waiting until they have ended."""
        process = self._process
        if process is None or process.returncode is not None or self._killed:
            return
        self._killed = process_tree.list_processes(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    def usage(self) -> ProcessUsage:
        """Return memory and CPU time of all processes of the browser."""
        return self._tree.measure()

    def memory(self) -> int:
        """Return the memory of all processes of the browser, bytes."""
        return self._tree.memory()

    async def _launch(self) -> None:
        uid = random.choice(UIDS) if os.geteuid() == 0 else 0  # noqa: S311 - no secret
        self._directory = ScratchDirectory(
            self._plan.directory, uid, is_short=not self._plan.browser.is_shell
        )
        directory = self._directory.path
        self.flags = self._make_flags(directory)
        ours, theirs = socket.socketpair()
        commands_end, commands = os.pipe()
        replies, replies_end = os.pipe()
        self._noise_pipe, noise_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        passed = (theirs.fileno(), commands_end, replies_end)
        task = {
            "parent": os.getpid(),
            "namespace": self._plan.isolated,
            "uid": uid,
            "sockets": self._plan.slots + 1,
            "handover": passed[0],
            "commands": passed[1],
            "replies": passed[2],
            "argv": [str(self._plan.browser.program), *self.flags],
            "environment": make_environment(directory),
        }
        ours.settimeout(0)
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", launch.__file__, json.dumps(task),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=noise_end,
                pass_fds=passed, cwd=directory,
            )  # fmt: skip
        except BaseException:
            ours.close()
            os.close(commands)
            os.close(replies)
            raise
        finally:
            theirs.close()
            for descriptor in (commands_end, replies_end, noise_end):
                os.close(descriptor)
        self._tree = ProcessTree(self.pid)
        asyncio.get_running_loop().add_reader(self._noise_pipe, self._read_noise)
        await self.cdp.connect(commands, replies)
        with ours:
            await self._receive_sockets(ours)

    def _make_flags(self, directory: Path) -> tuple[str, ...]:
        flags = [*self._plan.browser.flags, *FLAGS, f"--user-data-dir={directory / 'profile'}"]
        if self._plan.authority:
            flags.append(f"--ignore-certificate-errors-spki-list={self._plan.authority}")
        return tuple(flags)

    async def _receive_sockets(self, ours: socket.socket) -> None:
        """Take the sockets over, and wait until the launcher has become the browser."""
        problem = b""
        while True:
            await _wait_until_readable(ours)
            data, descriptors, _, _ = socket.recv_fds(ours, 65536, self._plan.slots + 1)
            self.sockets += [socket.socket(fileno=number) for number in descriptors]
            if not data:
                break
            if not descriptors:
                problem += data
        if problem or not self.sockets:
            report: dict[str, Any] = json.loads(problem or b"{}")
            raise OSError(f"{report.get('step', 'start')}: {report.get('error', 'no reply')}")
        for listener in self.sockets:
            listener.settimeout(0)

    def _read_noise(self) -> None:
        """Read what the browser wrote to its standard error; its end is kept."""
        try:
            data = os.read(self._noise_pipe, 65536)
        except BlockingIOError:
            return
        if not data:
            self._close_noise()
        self._noise += data
        del self._noise[:-_NOISE]

    def _close_noise(self) -> None:
        if self._noise_pipe >= 0:
            asyncio.get_running_loop().remove_reader(self._noise_pipe)
            os.close(self._noise_pipe)
            self._noise_pipe = -1

    def _explain(self, error: Exception) -> str:
        program = self._plan.browser.program
        noise = self._noise.decode("utf-8", "replace")
        return explain_failure(str(program), str(error), noise)


class PageStop:
    """Ends a page from outside: the driver waits for it beside everything else.

    Attributes:
        reason: `RenderedPage.ended` of the page, such as `memory`; "" while it may go on.
    """

    def __init__(self) -> None:
        """Let the page go on."""
        self.reason = ""
        self._event = asyncio.Event()

    def set(self, reason: str) -> None:
        """End the page; the first reason holds."""
        self.reason = self.reason or reason
        self._event.set()

    async def wait(self) -> str:
        """Wait until the page is to end; return the reason."""
        await self._event.wait()
        return self.reason


class PageContext(NamedTuple):
    """A page that is open in a separate browser context.

    Attributes:
        cdp: Client of the browser.
        session: Session of the page's target, flat; `about:blank` is open in it.
        context_id: The browser context, which only this page uses.
        target_id: The page's target.
        process: The browser.
        stop: Ends the page from outside.
    """

    cdp: CdpClient
    session: str
    context_id: str
    target_id: str
    process: BrowserProcess
    stop: PageStop


async def open_context(process: BrowserProcess, port: int) -> PageContext:
    """Open an empty page in a separate context, whose proxy is a port on 127.0.0.1."""
    cdp = process.cdp
    context = await cdp.call(
        "Target.createBrowserContext",
        {
            "disposeOnDetach": True,
            "proxyServer": f"http://127.0.0.1:{port}",
            "proxyBypassList": "<-loopback>",
        },
    )
    context_id = str(context["browserContextId"])
    try:
        target = await cdp.call(
            "Target.createTarget", {"url": "about:blank", "browserContextId": context_id}
        )
        target_id = str(target["targetId"])
        attached = await cdp.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
    except BaseException:
        with contextlib.suppress(CdpError, BrowserGoneError):
            await cdp.call("Target.disposeBrowserContext", {"browserContextId": context_id})
        raise
    session = str(attached["sessionId"])
    return PageContext(cdp, session, context_id, target_id, process, PageStop())


async def close_context(context: PageContext) -> bool:
    """Close a page with all it stored; also if its renderer hangs (0.1 to 0.3 s).

    Returns:
        Whether the browser answered.
    """
    context.cdp.unlisten(context.session)
    try:
        await context.cdp.call(
            "Target.disposeBrowserContext", {"browserContextId": context.context_id}
        )
    except (CdpTimeoutError, BrowserGoneError):
        return False
    except CdpError:
        return True  # it is gone already
    return True


def explain_failure(program: str, error: str, noise: str) -> str:
    """Return the message of a start that failed.

    Args:
        program: Path of the browser.
        error: `step: error of the system`, or what the client noticed.
        noise: The end of the browser's standard error.
    """
    if error.startswith("namespace:"):
        return message(
            "browser.no-namespace",
            "cannot start {program}: this system gives no network namespace ({reason}). Allow user "
            "namespaces (sysctl kernel.unprivileged_userns_clone=1 and "
            "kernel.apparmor_restrict_unprivileged_userns=0; in a container its options), or set "
            "browser.isolation: none, where flags alone keep the browser from other networks.",
            program=program, reason=error.partition(": ")[2],
        )  # fmt: skip
    if "sandbox" in noise.lower() or "namespace" in noise.lower():
        return message(
            "browser.no-sandbox",
            "cannot start {program}: its sandbox needs user namespaces, which are forbidden here, "
            "or a setuid helper, which works for root alone. Allow them, or, as root: "
            "apt-get install chromium-sandbox",
            program=program,
        )  # fmt: skip
    if "[Errno 13]" in error:
        return message(
            "browser.no-permission",
            "cannot start {program}: permission denied. As root, Nacre runs the browser as a user "
            "without an account: put it into a directory that all users can enter.",
            program=program,
        )  # fmt: skip
    last = noise.strip().splitlines()[-1:] or [error]
    return message(
        "browser.no-start",
        "cannot start {program}: {reason}. Find what is missing with: `nacre check --browser`",
        program=program, reason=last[0][:500],
    )  # fmt: skip


def make_environment(directory: Path) -> dict[str, str]:
    """Return the whole environment of a browser: nothing of the crawler's."""
    return {
        "HOME": str(directory),
        "TMPDIR": str(directory),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        "DBUS_SYSTEM_BUS_ADDRESS": "disabled:",
    }


async def _wait_until_readable(end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(end, wake)
    try:
        await ready
    finally:
        loop.remove_reader(end)


async def _wait_for_end(pids: Sequence[int]) -> None:
    """Wait until none of some killed processes runs."""
    for _ in range(int(_KILL_TIME / 0.02)):
        if not any(process_tree.is_running(pid) for pid in pids):
            return
        await asyncio.sleep(0.02)
