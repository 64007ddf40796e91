"""Count what migrations make of configurations: a row of a table in Markdown for each.

    python -m tools.migrations FOLDER…

looks for `crawler-beans.cxml`, `order.xml` and `nutch-site.xml`, under whatever name, below each
folder. Copies of the same file count once. What a migration asks is answered as it inferred. Each
job is written and checked; placeholders and expressions that reached its settings are told on
stderr.
"""

import asyncio
import hashlib
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.errors import NacreError
from nacre.job.checks import check
from nacre.job.configuration.configure import examine_job
from nacre.job.layout import Layout
from nacre.migrate.answers import Answers, UnansweredError
from nacre.migrate.draft import Draft, write_job
from nacre.migrate.heritrix import convert as heritrix
from nacre.migrate.nutch import convert as nutch
from nacre.migrate.report import Report

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

    @property
    def numbers(self) -> tuple[int, ...]:
        """Its cells."""
        return self.things, self.mapped, self.defaulted, self.flagged, self.asked, self.idle


async def _nobody(_: str) -> Sequence[str]:
    return ()


def _converted(file: Path, answers: Answers) -> tuple[Draft, Report]:
    if file.name.startswith("nutch-site.xml"):
        return nutch.convert(file.parent, None, answers)
    return heritrix.convert(file, CONTACT, answers)


def counted(file: Path) -> Row:
    """The row of one configuration."""
    asked = 0
    try:
        try:
            draft, report = _converted(file, Answers())
        except UnansweredError as error:
            asked = len(error.questions)
            said = {one.key: one.suggestion for one in error.questions}
            draft, report = _converted(file, Answers(said))
    except NacreError as error:
        return Row(0, 0, 0, 0, asked, 0, str(error).partition("\n")[0])
    with tempfile.TemporaryDirectory() as folder:
        layout = Layout(Path(folder) / "job")
        write_job(layout.root, draft, report)
        for line in layout.config.read_text("utf-8").splitlines():
            if _OPEN.search(line.partition("  #")[0]):
                print(f"{file}: {line.strip()}", file=sys.stderr)
        loaded, problems = examine_job(layout, environ={})
        found = asyncio.run(check(layout, loaded, problems, _nobody))
    became = report.counts()
    return Row(
        len(report.findings),
        became["mapped"],
        became["defaulted"],
        became["flagged"],
        asked,
        len(found.idle),
    )


def configurations(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """The configurations below folders, by the first part of their path; copies once."""
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or not path.name.endswith((".cxml", ".xml", ".xml.template")):
                continue
            data = path.read_bytes()
            is_nutch = path.name.startswith("nutch-site.xml")
            digest = hashlib.sha256(data).digest()
            if digest in seen or not (is_nutch or _is_job(path, data)):
                continue
            seen.add(digest)
            yield path.relative_to(folder).parts[0], path


def _is_job(path: Path, data: bytes) -> bool:
    """A whole configuration, not a part that another one imports."""
    if _ROOTS[1] in data:
        return True
    return _ROOTS[0] in data and (path.suffix == ".cxml" or b"CrawlController" in data)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for name, path in configurations([Path(argument) for argument in arguments]):
        rows[name].append(counted(path))
    print("| from | files | beans, properties … | mapped | defaulted | flagged | asked | idle |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    total = [0] * 7
    for name, found in rows.items():
        read = [row for row in found if not row.error]
        for row in found:
            if row.error:
                print(f"{name}: {row.error}", file=sys.stderr)
        sums = (sum(column) for column in zip(*(row.numbers for row in read), strict=True))
        numbers = [len(read), *(list(sums) or [0] * 6)]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        print(f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    print("| all | " + " | ".join(f"{number:,}" for number in total) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
