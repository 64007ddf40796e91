"""wget and Scrapy over the same site, measured in the same way."""

import gzip
import json
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.process import Usage, measured

CHECKOUT = Path(__file__).parents[1]
ENVIRONMENT = CHECKOUT / ".venv-bench"


Competitor = Callable[[str, Sequence[str], Path], tuple[Usage, int]]


class MissingError(Exception):
    """A competitor cannot be had here; the message says why."""


def wget(home: str, hosts: Sequence[str], folder: Path) -> tuple[Usage, int]:
    """Crawl with wget, which writes a WARC; return its usage, and the replies in its WARC.

    Raises:
        MissingError: wget is not installed.
    """
    if shutil.which("wget") is None:
        raise MissingError("wget is not installed")
    command = ["wget", "--recursive", "--level=inf", "--span-hosts", f"--domains={','.join(hosts)}"]
    command += ["--no-verbose", "--warc-file=bench", home]
    usage = measured(command, folder.with_suffix(".out"), cwd=folder)
    return usage, _responses(folder / "bench.warc.gz")


def _responses(warc: Path) -> int:
    with gzip.open(warc) as file:
        return sum(line == b"WARC-Type: response\r\n" for line in file)


def scrapy(home: str, hosts: Sequence[str], folder: Path) -> tuple[Usage, int]:
    """Crawl with Scrapy, all links followed, nothing stored; return its usage, and its replies.

    Raises:
        MissingError: It could not be installed.
    """
    spider = Path(__file__).with_name("spider.py")
    stats = folder / "stats.json"
    command = [str(_scrapy_environment() / "scrapy"), "runspider", str(spider)]
    command += ["-a", f"home={home}", "-a", f"hosts={','.join(hosts)}", "-a", f"stats={stats}"]
    usage = measured(command, folder.with_suffix(".out"), cwd=folder)
    if not stats.exists():
        raise MissingError(f"Scrapy failed: see {folder.with_suffix('.out')}.err")
    return usage, int(json.loads(stats.read_text())["downloader/response_count"])


def _scrapy_environment() -> Path:
    """Return the commands of an environment with Scrapy in it, made on first use."""
    commands = ENVIRONMENT / "bin"
    if (commands / "scrapy").exists():
        return commands
    requirements = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["dependency-groups"][
        "bench"
    ]
    print(f"installing {', '.join(requirements)} into {ENVIRONMENT.name} ...", file=sys.stderr)
    venv.create(ENVIRONMENT, clear=True, with_pip=True)
    pip = [str(commands / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    result = subprocess.run(
        [*pip, "install", "--only-binary", ":all:", *requirements], capture_output=True, text=True
    )
    if result.returncode:
        raise MissingError(f"Scrapy cannot be installed: {result.stderr.strip()[-300:]}")
    return commands
