"""Rounds over a site on eight hosts, as commands, and what must be equal in the end."""

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nacre.rounds.storage import open_storage
from tests.rounds.spark.cluster import ROOT, SETTINGS
from tools.nginx import Nginx, Server, free_port, serving

HOSTS = [f"127.0.0.{number}" for number in range(81, 89)]
_LINKS = 16


def write_host(root: Path, number: int, port: int, pages: int) -> None:
    """The pages of a host: each links to the next ones of it, and to one of another host."""
    root.mkdir()
    host, other = HOSTS[number], HOSTS[(number + 1) % len(HOSTS)]
    for page in range(pages):
        after = range(page * _LINKS + 1, min((page + 1) * _LINKS + 1, pages))
        links = "".join(f'<a href="{n}.html">国 {n}</a>' for n in after)
        # Nothing that compresses well: WARCs are to be rotated, and no page is a copy of another.
        text = random.Random(f"{host} {page}").randbytes(1500).hex()
        (root / f"{page}.html").write_text(
            f"<title>{page}</title><p>{text}<p>{links}"
            f"<a href='http://{other}:{port}/{page}.html'>o</a>"
        )
    first = "".join(f'<a href="{n}.html">{n}</a>' for n in range(min(_LINKS, pages)))
    (root / "index.html").write_text(f"<title>{host}</title>{first}")
    (root / "robots.txt").write_text("")


@contextmanager
def site(folder: Path, pages: int) -> Iterator[tuple[int, Nginx]]:
    """Serve so many pages of each host; the port, and the server with its log."""
    port = free_port(HOSTS)
    for number, host in enumerate(HOSTS):
        write_host(folder / host, number, port, pages)
    servers = [Server(host, port, folder / host) for host in HOSTS]
    with serving(servers, folder / "nginx", log=True) as nginx:
        yield port, nginx


def spark_settings(folder: Path, env: Mapping[str, str], **more: str) -> dict[str, str]:
    """The environment of a driver.

    Args:
        folder: For `spark-defaults.conf`.
        env: That of the cluster.
        more: Variables that executors need, too.
    """
    executors = {"PYTHONPATH": env["PYTHONPATH"], **more}
    settings = {**SETTINGS, **{f"spark.executorEnv.{k}": v for k, v in executors.items()}}
    lines = [f"{name} {value}" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("\n".join(lines))
    return {**env, **more, "SPARK_CONF_DIR": str(folder)}


def rounds(directory: Path, port: int, *more: str, count: int) -> list[str]:
    """The command of so many rounds; of a new directory with its seeds."""
    seeds = [part for host in HOSTS for part in ("-s", f"http://{host}:{port}/")]
    options = ["--rounds", str(count), "--top", "4000", "--units", "4"]
    if not (directory / "crawl.yaml").exists():
        options += [*seeds, "--delay", "0", "--allow-net", "127.0.0.0/8"]
    return [sys.executable, "-m", "nacre", "cycle", str(directory), *options, *more]


def run(
    command: Sequence[str], env: Mapping[str, str], seconds: float = 900
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, which is a good one."""
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=seconds, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done


def asked(directory: Path, env: Mapping[str, str], *words: str) -> dict[str, Any]:
    """What a step says in JSON."""
    command = [sys.executable, "-m", "nacre", "cycle", str(directory), *words, "--json"]
    found: dict[str, Any] = json.loads(run(command, env).stdout)
    return found


def result(directory: Path, env: Mapping[str, str]) -> str:
    """What must be equal: the hash of all rows, without times."""
    return str(asked(directory, env, "hash", "--facts")["sha256"])


def captured(place: str) -> Counter[str]:
    """How often each page is in the archive of a storage; each unit asks for robots.txt anew."""
    storage = open_storage(place)
    found: Counter[str] = Counter()
    for file in storage.walk("archive"):
        if not file.name.endswith(".cdxj"):
            continue
        for line in storage.read(file.name).decode().splitlines():
            if not line.startswith(("!", "#")):
                url = json.loads(line.split(" ", 2)[2])["url"]
                found[url] += url.endswith(".html")
    return +found
