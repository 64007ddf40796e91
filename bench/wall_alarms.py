"""How often pages that are no walls get the verdict of one.

    python -m bench.wall_alarms [--pages N] [--snapshots REPOSITORY] DIR

Crawls N pages of each package of documentation, each on a host of its own, without a browser into
DIR, and counts the annotations `wall:VERDICT` of crawl.log. With `--snapshots`, pages of a git
repository of HTML files are added, N versions of each file: each file on a host of its own.
Prints JSON: all URLs with a verdict, so that a person can judge them.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from bench.browser_corpora import DOCUMENTATION, Documentation, documentation_pages
from nacre.annotations import wall_met

Pages = dict[str, bytes]
_FURTHER = (
    Documentation("anarchism", "usr/share/doc"),
    Documentation("bind9-doc", "usr/share/doc"),
    Documentation("debian-reference-zh-cn", "usr/share"),
    Documentation("libboost1.74-doc", "usr/share/doc"),
    Documentation("maint-guide-zh-cn", "usr/share"),
    Documentation("octave-doc", "usr/share/doc"),
    Documentation("postfix-doc", "usr/share/doc"),
    Documentation("postgresql-doc-15", "usr/share/doc"),
    Documentation("tomcat10-docs", "usr/share"),
    Documentation("wireshark-doc", "usr/share"),
)


def package_pages(number: int) -> Iterator[tuple[str, Pages]]:
    """Yield each package with some of its pages by path."""
    for each in (*DOCUMENTATION, *_FURTHER):
        root, paths = documentation_pages(each, number)
        yield each.package, {quote(path): (root / path[1:]).read_bytes() for path in paths}


def snapshot_pages(repository: Path, number: int) -> Iterator[tuple[str, Pages]]:
    """Yield each HTML file of a repository with some of its versions by path."""

    def git(*words: str) -> bytes:
        command = ["git", "-C", str(repository), "-c", "core.quotepath=off", *words]
        return subprocess.run(command, capture_output=True, check=True).stdout

    log = git("log", "--raw", "--no-abbrev", "--no-renames", "--format=").decode()
    blobs: dict[str, list[str]] = {}
    for line in log.splitlines():
        fields, _, name = line.partition("\t")
        blob = fields.split()[3]
        if name.endswith(".html") and blob.strip("0"):
            blobs.setdefault(name, []).append(blob)
    for name, versions in blobs.items():
        drawn = sorted(dict.fromkeys(versions))
        Random(27).shuffle(drawn)
        yield (
            name,
            {f"/{blob}.html": git("cat-file", "blob", blob) for blob in drawn[:number]},
        )


@contextmanager
def serve(hosts: list[Pages]) -> Iterator[list[str]]:
    """Serve pages, those of a list member on an address of their own. Yields the origins."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            *_, third, last = self.headers["Host"].partition(":")[0].split(".")
            body = hosts[int(third) * 100 + int(last) - 101].get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("0.0.0.0", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_port
        yield [f"http://127.0.{at // 100 + 1}.{at % 100 + 1}:{port}" for at in range(len(hosts))]
        server.shutdown()


def crawl(sites: list[tuple[str, Pages]], directory: Path) -> dict[str, Any]:
    """Crawl all pages; return the verdicts, by crawl.log."""
    with serve([pages for _, pages in sites]) as origins:
        names = dict(zip(origins, (name for name, _ in sites), strict=True))
        seeds = directory.with_suffix(".txt")
        urls = [
            origin + path
            for origin, (_, pages) in zip(origins, sites, strict=True)
            for path in pages
        ]
        seeds.write_text("".join(f"{url}\n" for url in urls))
        command = [
            *(sys.executable, "-m", "nacre", "crawl", "--seeds", str(seeds), "--out"),
            *(str(directory), "--scope", "page", "--delay", "0", "--quiet", "--browser", "never"),
            *("--allow-net", "127.0.0.0/8", "--contact", "bench@example.net"),
            *("--set", "extract.extract_javascript=false", "--set", "robots.policy=ignore"),
        ]
        ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode
    return {"exit code": ended, **_count(directory, names, frozenset(urls))}


def _count(directory: Path, names: dict[str, str], urls: frozenset[str]) -> dict[str, Any]:
    (log,) = directory.rglob("crawl.log")
    pages: Counter[str] = Counter()
    walls: dict[str, list[str]] = {}
    prefix = wall_met("")
    for line in log.read_text().splitlines():
        fields = line.split()
        url = fields[3]
        if url not in urls or fields[1] != "200":
            continue
        parts = urlsplit(url)
        name = names[f"{parts.scheme}://{parts.netloc}"]
        pages[name] += 1
        for word in fields[11].split(","):
            if word.startswith(prefix):
                walls.setdefault(word, []).append(f"{name} {unquote(parts.path)}")
    counts = {word: len(places) for word, places in walls.items()}
    return {
        "pages": pages.total(), "sites": len(pages), "verdicts": counts,
        "by site": dict(pages), "pages with a verdict": walls,
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=100, help="pages of each site, at most")
    parser.add_argument("--snapshots", type=Path, help="a bare repository of versions of pages")
    options = parser.parse_args(argv)
    sites = list(package_pages(options.pages))
    if options.snapshots:
        sites += snapshot_pages(options.snapshots, options.pages)
    json.dump(crawl(sites, options.directory), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
