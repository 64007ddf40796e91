"""Count what migrations make of configurations: a row of a table in Markdown for each.

    python -m tools.migrations [--run] FOLDER…

looks for `crawler-beans.cxml`, `order.xml` and `nutch-site.xml`, under whatever name, below each
folder. Copies of the same file count once. Questions of a migration are answered with its
suggestions. Each job is written and checked; placeholders and expressions that reached its settings
are printed on stderr. With `--run` each job also crawls three pages of a server on loopback in the
place of its seeds: "run" counts those that wrote the seed into a WARC, the others are printed on
stderr. A list of a configuration that was not published with it is empty then.
"""

import asyncio
import hashlib
import re
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from nacre.archive.reader import WarcReader
from nacre.errors import NacreError
from nacre.job.checks import check
from nacre.machine.layout import Layout
from nacre.settings.load import examine_job
from nacre_migrate.answers import ClassAnswers, UnansweredError
from nacre_migrate.draft import Draft, write_job
from nacre_migrate.heritrix import convert as heritrix
from nacre_migrate.nutch import convert as nutch
from nacre_migrate.report import MigrationReport

_COLUMNS = (
    "files", "beans, properties …", "mapped", "defaulted", "flagged", "asked", "idle", "run",
)  # fmt: skip
CONTACT = "https://library.example/bot"
_ROOTS = (b"<beans", b"<crawl-order")
_OPEN = re.compile(r"#\{|%\{\w+\}|\{\{|\$\{(?!launchId|prefix|timestamp|serialno|heritrix\.|\d)")


class Row(NamedTuple):
    """What became of one configuration; for one that cannot be read only `error` counts."""

    things: int
    mapped: int
    defaulted: int
    flagged: int
    asked: int
    idle: int
    error: str = ""
    ran: int = 0

    @property
    def numbers(self) -> tuple[int, ...]:
        """Its cells."""
        return (
            self.things, self.mapped, self.defaulted, self.flagged, self.asked, self.idle, self.ran,
        )  # fmt: skip


async def _nobody(_: str) -> Sequence[str]:
    return ()


def _converted(file: Path, answers: ClassAnswers) -> tuple[Draft, MigrationReport]:
    if file.name.startswith("nutch-site.xml"):
        return nutch.convert(file.parent, None, answers)
    return heritrix.convert(file, CONTACT, answers)


class Pages(BaseHTTPRequestHandler):
    """Three pages that link each other."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a page, or 404."""
        is_page = self.path in {"/", "/one.html", "/two.html"}
        links = '<a href="/">0</a> <a href="/one.html">1</a> <a href="/two.html">2</a>'
        body = f"<html><body>{self.path} {links}</body></html>".encode()
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in http.server
        """Log nothing."""


_QUICKLY = (
    "archive.directories=[archive]", "politeness.delay=0", "limits.time=20",
    "frontier.last_tries_within=1", "engine.pause_at_start=false",
)  # fmt: skip


_MISSING = re.compile(r"(\S+) cannot be read: No such file")


def ran(layout: Layout, url: str) -> str:
    """Run a job on the pages at a URL; "" when its seed was archived, else what stood in the way.

    How many of the pages that the seed links are archived is the scope's affair.
    """
    (layout.root / "seeds.txt").write_text(f"{url}\n", "utf-8")
    command = [sys.executable, "-m", "nacre", "run", str(layout.root), "--quiet"]
    for setting in _QUICKLY:
        command += ("--set", setting)
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    missing = _MISSING.findall(process.stderr)
    if missing:
        for name in missing:
            (layout.root / name).write_text("", "utf-8")
        process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if url in set(_responses(layout.root)):
        return ""
    return (
        f"exit code {process.returncode}, no WARC with the seed: {' '.join(process.stderr.split())}"
    )


def _responses(root: Path) -> Iterator[str]:
    """Yield the URLs of all responses in the WARCs below a folder."""
    for path in root.rglob("*.warc*"):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                if entry.get("WARC-Type") == "response":
                    yield (entry.get("WARC-Target-URI") or "").strip("<>")


def counted(file: Path, url: str = "") -> Row:
    """Return the row of one configuration, whose job is run on the pages at `url`; "" runs none."""
    questions = 0
    try:
        try:
            draft, report = _converted(file, ClassAnswers())
        except UnansweredError as error:
            questions = len(error.questions)
            suggestions = {question.key: question.suggestion for question in error.questions}
            draft, report = _converted(file, ClassAnswers(suggestions))
    except NacreError as error:
        return Row(0, 0, 0, 0, questions, 0, str(error).partition("\n")[0])
    with tempfile.TemporaryDirectory() as folder:
        layout = Layout(Path(folder) / "job")
        write_job(layout.root, draft, report)
        for line in layout.config.read_text("utf-8").splitlines():
            if _OPEN.search(line.partition("  #")[0]):
                print(f"{file}: {line.strip()}", file=sys.stderr)
        loaded, problems = examine_job(layout, environ={})
        findings = asyncio.run(check(layout, loaded, problems, _nobody))
        trouble = ran(layout, url) if url else "not run"
        if url and trouble:
            print(f"{file}: {trouble}", file=sys.stderr)
    became = report.counts()
    return Row(
        len(report.findings),
        became["mapped"],
        became["defaulted"],
        became["flagged"],
        questions,
        len(findings.idle),
        ran=not trouble,
    )


def configurations(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the configurations below folders, by the first part of their path; copies once."""
    digests: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or not path.name.endswith((".cxml", ".xml", ".xml.template")):
                continue
            data = path.read_bytes()
            is_nutch = path.name.startswith("nutch-site.xml")
            digest = hashlib.sha256(data).digest()
            if digest in digests or not (is_nutch or _is_job(path, data)):
                continue
            digests.add(digest)
            yield path.relative_to(folder).parts[0], path


def _is_job(path: Path, data: bytes) -> bool:
    """A whole configuration, not a part that another one imports."""
    if _ROOTS[1] in data:
        return True
    return _ROOTS[0] in data and (path.suffix == ".cxml" or b"CrawlController" in data)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    run = "--run" in arguments
    folders = [Path(argument) for argument in arguments if argument != "--run"]
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/" if run else ""
        for name, path in configurations(folders):
            rows[name].append(counted(path, url))
        server.shutdown()
    columns = len(_COLUMNS) - (not run)
    print("| from | " + " | ".join(_COLUMNS[:columns]) + " |")
    print("|---|" + "---:|" * columns)
    total = [0] * columns
    for name, file_rows in rows.items():
        read = [row for row in file_rows if not row.error]
        for row in file_rows:
            if row.error:
                print(f"{name}: {row.error}", file=sys.stderr)
        sums = (sum(column) for column in zip(*(row.numbers for row in read), strict=True))
        numbers = [len(read), *(list(sums) or [0] * 7)][:columns]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        print(f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    print("| all | " + " | ".join(f"{number:,}" for number in total) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
