"""Finds the installed browsers, and the packages that a machine without one needs."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

from nacre.errors import BrowserError
from nacre.messages import message

COMMANDS: Final = ("chromium-headless-shell", "chromium", "google-chrome")
"""Browsers that are tried, in this order: the first needs a third of the CPU time."""
INSTALL: Final = "apt-get install chromium-headless-shell chromium-sandbox"
"""Command that installs a browser on Debian."""
_PROGRAMS: Final = {
    "/usr/bin/chromium-headless-shell": "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium": "/usr/lib/chromium/chromium",
    "/opt/google/chrome/google-chrome": "/opt/google/chrome/chrome",
}
"""Shell scripts of distributions, which add flags or stay between, and the programs behind them."""
_VERSION: Final = re.compile(r"\d+(?:\.\d+)+")


class InstalledBrowser(NamedTuple):
    """A browser of this machine.

    Attributes:
        program: The program, not a script that starts it.
        flags: Flags that it needs besides those of every browser.
        name: Name of the command that it was found by.
    """

    program: Path
    flags: tuple[str, ...]
    name: str

    @property
    def is_shell(self) -> bool:
        """Whether it is Chromium's headless shell, a smaller program."""
        return not self.flags


def find_browser(command: str = "") -> InstalledBrowser:
    """Return the browser to use.

    Args:
        command: Name or path; "" for the first that is installed.

    Raises:
        BrowserError: There is none; the message has the command that installs one.
    """
    for name in (command,) if command else COMMANDS:
        place = shutil.which(name)
        if place is None:
            continue
        program = _resolve(Path(place))
        is_shell = "headless-shell" in program.name
        flags = () if is_shell else ("--headless=new", "--no-startup-window")
        return InstalledBrowser(program, flags, name)
    if command:
        raise BrowserError(
            message(
                "browser.no-such-command",
                "there is no browser {command} (browser.command). Correct it, or leave it out to "
                "take an installed Chromium. Install one: {install}",
                command=command,
                install=INSTALL,
            )
        )
    raise BrowserError(
        message(
            "browser.none-installed",
            "no browser is installed. Install one: {install}",
            install=INSTALL,
        )
    )


def read_version(browser: InstalledBrowser) -> str:
    """Return the version of a browser, such as `156.0.8078.108`; "" if it does not say one."""
    try:
        result = subprocess.run(  # noqa: S603 - the operator's own browser
            [browser.program, "--version"], capture_output=True, timeout=20, text=True, check=False,
            env={"PATH": os.defpath, "HOME": "/nonexistent"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _VERSION.search(result.stdout)
    return match[0] if match else ""


def read_build_time(browser: InstalledBrowser) -> float:
    """Return when the distribution built a browser, seconds since the epoch."""
    return browser.program.stat().st_mtime


def _resolve(place: Path) -> Path:
    """Return the program behind a shell script of a distribution, or the file itself."""
    path = place.resolve()
    program = _PROGRAMS.get(str(path), "")
    return Path(program) if os.access(program, os.X_OK) else path
