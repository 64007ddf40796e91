"""A site with all signals of preferences, in three versions; run it to see the ledger of a crawl.

    python -m tests.crawl.rights_site FOLDER

crawls the versions a week apart into FOLDER/job, and prints the rows of the ledger at the three
times, and the exports with and without captures that may not train models.
"""

import subprocess
import sys
from pathlib import Path

from tests.crawl.raw_site import RawSite, raw_site, reply

OPTIONS = ("--delay", "0", "--allow-net", "127.0.0.0/8", "--quiet", "--browser", "never")
COLLECT = ("--set", "rights.collect_policies=true")
ROBOTS = """User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /open/ train-ai=y
Content-Signal: search=yes
License: {origin}/license.xml
"""
LICENSE = """<rsl xmlns="https://rslstandard.org/rsl"><content url="/open/*"><license>
<{0} type="usage">ai-train</{0}></license></content></rsl>"""
TDM = '[{"location": "/", "tdm-reservation": %d}]'
DAYS = ("2027-01-01", "2027-01-08", "2027-01-15")
NOON = "T12:00:00Z"


def site_files(site: RawSite, *, version: int) -> dict[str, bytes]:
    """The site: 1 states all, 2 turns each statement round, 3 has withdrawn all."""
    text = ROBOTS.format(origin=site.origin)
    if version == 2:
        text = text.replace("train-ai=n", "train-ai=y").replace("search=yes", "search=no")
    page = reply("<p>page", "text/html")
    if version < 3:
        word = b"noarchive" if version == 1 else b"noindex"
        reserved = b"1" if version == 1 else b"0"
        fields = (b"X-Robots-Tag: " + word, b"TDM-Reservation: " + reserved)
        content = "noimageai" if version == 1 else "noai"
        page = reply(
            f'<meta name="robots" content="{content}"><p>page {version}', "text/html", *fields
        )
    files = {
        "/": reply(f"<a href=/page>p</a><a href=/open/x>x</a><a href=/other>o</a> {version}"),
        "/robots.txt": reply(text if version < 3 else "User-agent: *\nAllow: /\n", "text/plain"),
        "/page": page,
        "/open/x": reply(f"<p>open {version}"),
        "/other": reply("<p>其他".encode("gbk"), "text/html; charset=gbk"),
        "/llms.txt": reply("# Site\n", "text/plain"),
    }
    if version < 3:
        verb = "prohibits" if version == 1 else "permits"
        files |= {
            "/license.xml": reply(LICENSE.format(verb), "application/rsl+xml"),
            "/.well-known/tdmrep.json": reply(TDM % (version == 1), "application/json"),
            "/ai.txt": reply("User-Agent: *\nDisallow: /other\n" if version == 1 else "# none\n"),
        }
    return files


def _nacre(*words: object) -> None:
    """Print a command and what it prints."""
    sys.stdout.write(f"$ nacre {' '.join(map(str, words))}\n")
    command = [sys.executable, "-m", "nacre", *map(str, words)]
    ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    sys.stdout.write(f"{ended.stdout}\n")
    sys.stdout.flush()
    if ended.returncode:
        sys.exit(f"exit code {ended.returncode}")


def show(folder: Path) -> None:
    """Crawl the three versions, and print what the ledger has."""
    job = folder / "job"
    with raw_site() as site:
        for version, day in enumerate(DAYS, 1):
            site.replies = site_files(site, version=version)
            if version == 1:
                start = ("crawl", f"{site.origin}/", *OPTIONS, *COLLECT, "--out", job)
                _nacre(*start, "--now", day + NOON)
            else:
                _nacre("recrawl", job, "--full", "--quiet", "--now", day + NOON)
        for day in DAYS:
            _nacre("rights", job, f"{site.origin}/page", "--at", day)
        _nacre("rights", job, "--csv")
        _nacre("rights", job, "--csv", "--without", "train-ai=n")
        for more in ((), ("--without", "train-ai=n"), ("--without", "noarchive")):
            name = "-".join(map(str, more)).strip("-") or "all"
            _nacre("archive", job, "pack", "--warc", folder / f"{name}.warc.gz", *more)


if __name__ == "__main__":
    show(Path(sys.argv[1]))
