"""What a round costs after many URLs were injected: `python -m bench.injected --urls 200000`.

A crawl knows so many injected URLs on made-up hosts (`--hosts`) that are never fetched, and four
pages of a server on loopback that a round lists, fetches and merges. Each command is a process of
its own, as an operator runs it. Printed are wall time, CPU of all processes, the greatest resident
size of a process and of all together, what the command wrote, and at last the bytes of the segment.
`inject again` injects the same list a second time, `inject 4` four URLs of new hosts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.cycle import Watch
from bench.process import written

PAGES = 4
_NEW = "nacre", "new", "--scope", "host", "--delay", "1"


class _Pages(BaseHTTPRequestHandler):
    """Four pages without links to others."""

    def do_GET(self) -> None:
        is_page = self.path.startswith("/page")
        body = b"<html><title>page</title><p>text</p></html>" if is_page else b""
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


def write_list(path: Path, urls: int, hosts: int) -> None:
    """A seed list of so many URLs on so many hosts."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(urls):
            at = number * hosts // urls
            file.write(f"https://www.site{at}.example/dir{number % 7}/page-{number}.html\n")


def timed(root: Path, name: str, *words: str) -> dict[str, Any]:
    """Run a step of the cycle, and measure it.

    Raises:
        SystemExit: It failed.
    """
    size, began = written(root), time.monotonic()
    command = [sys.executable, "-m", "nacre", "cycle", str(root), *words]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    watch = Watch(child.pid)
    watch.start()
    out, _ = child.communicate()
    watch.stop()
    if child.returncode:
        raise SystemExit(f"{name} ended with {child.returncode}: {out.decode()}")
    row = {
        "step": name,
        "wall_s": round(time.monotonic() - began, 1),
        "cpu_s": round(watch.cpu, 1),
        "rss_mb": round(watch.together),
        "rss_one_mb": round(watch.single),
        "written_mb": round((written(root) - size) / 1e6, 1),
    }
    print(json.dumps(row), flush=True)
    return row


def rounds(home: Path, urls: int, hosts: int, top: int) -> None:
    """Inject the list, and measure a round and further injects."""
    root, listed, few = home / "crawl", home / "many.txt", home / "few.txt"
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    write_list(listed, urls, hosts)
    subprocess.run(
        [
            sys.executable,
            "-m",
            *_NEW,
            str(root),
            f"{site}/page0",
            "--contact",
            "https://a.example/",
        ],
        check=True,
    )
    pages = [f"{site}/page{number}\tnutch.score=1000\n" for number in range(PAGES)]
    few.write_text("".join(pages), "utf-8")
    timed(root, "inject pages", "inject", str(few))
    timed(root, "inject", "inject", str(listed))
    timed(root, "generate", "generate", "--top", str(PAGES))
    timed(root, "fetch", "fetch")
    timed(root, "update", "update")
    segment = max((root / "cycle" / "segments").iterdir())
    print(json.dumps({"segment_mb": round(written(segment) / 1e6, 2)}), flush=True)
    timed(root, "generate again", "generate", "--top", str(top))
    timed(root, "inject again", "inject", str(listed))
    few.write_text("".join(f"https://new{n}.example/\n" for n in range(PAGES)), "utf-8")
    timed(root, "inject 4", "inject", str(few))
    timed(root, "generate after 4", "generate", "--top", str(PAGES))
    server.shutdown()


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=200_000, help="URLs that are injected")
    parser.add_argument("--hosts", type=int, default=50_000, help="hosts that they are on")
    parser.add_argument("--top", type=int, default=10_000, help="URLs of the second list")
    parser.add_argument("--home", type=Path, help="folder for the crawl; else a temporary one")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="injected-", dir=args.home) as home:
        rounds(Path(home), args.urls, args.hosts, args.top)


if __name__ == "__main__":
    main()
