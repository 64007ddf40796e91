"""Real pages of Debian packages, and what Heritrix's extractors take from them.

The packages are looked for in the cache that `tools/debs.py` fills; rows whose file is not there,
or is another version, are skipped, and their number is told. Run this module to see every link that
Heritrix finds and Nacre does not, by cause.
"""

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from nacre.core.crawluri import Outlink
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.likely import is_very_likely_uri, speculative_fixup
from nacre.extract.links import is_never_fetched
from nacre.extract.settings import ExtractSettings
from nacre.uri.parse import parse
from tests.cases.table import Row, Table, cases_folder, json_lines
from tools.debs import folder

SETTINGS = ExtractSettings(infer_favicon=False)


def file_of(row: Row) -> Path:
    """Where the row's file lies in the cache."""
    return Path(folder(row["package"]), row["path"].lstrip("/"))


def load(cases: Path) -> Iterator[Row]:
    """Rows whose file is there with the right content."""
    skipped: Counter[str] = Counter()
    some = False
    for row in json_lines("extract_realpages.jsonl")(cases):
        file = file_of(row)
        if not file.is_file():
            skipped[f"{row['package']} is not in the cache"] += 1
        elif hashlib.sha256(file.read_bytes()).hexdigest() != row["sha256"]:
            skipped[f"{row['package']} is not version {row['version']}"] += 1
        else:
            some = True
            yield row
    for reason, count in sorted(skipped.items()):
        sys.stderr.write(f"extract_realpages: {count} rows skipped: {reason}\n")
    if not some:
        raise FileNotFoundError(2, "no package in the cache", str(folder("")))


def links_of(row: Row) -> list[Outlink]:
    """What Nacre takes from the row's file."""
    document = Document(
        url=row["base"],
        mime=row["content_type"].partition(";")[0],
        charset_header=row["charset"],
        body=file_of(row).read_bytes(),
        via=urljoin(row["base"], "/") if row["extractor"] == "js" else "",
    )
    return extract(document, SETTINGS).outlinks


def missing(row: Row) -> list[tuple[str, str, str, str]]:
    """(cause, hop, URL, context) of each link of Heritrix that Nacre does not have; "" unknown."""
    found = {link.url: link for link in links_of(row)}
    lost = []
    for hop, url, context in row["expected"]:
        link = found.get(parse(url))
        if link is None:
            lost.append((_cause(row, hop, url), hop, url, context))
    return lost


def _cause(row: Row, hop: str, url: str) -> str:
    """Why Nacre rightly has no such link; "" when that is not known."""
    parts = urlsplit(url)
    if is_never_fetched(url):
        return f"{parts.scheme}: is never fetched"
    name = parts.path.rpartition("/")[2]
    if hop == "X" and parts.path == "/":
        return "a lone slash in a script"
    if hop == "X" and speculative_fixup(name, "") != name:
        return "taken for a host name"
    if hop == "X" and not is_very_likely_uri(name):
        return "no likely URI: a property or a version"
    if row["extractor"] == "css" and _is_commented_out(file_of(row).read_text("latin-1"), name):
        return "in a comment of the style sheet"
    return ""


def _is_commented_out(sheet: str, name: str) -> bool:
    return name not in re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)


def check(row: Row) -> str | None:
    """Every link of Heritrix is there, or missing for a known cause."""
    unknown = [item for item in missing(row) if not item[0]]
    return f"missing {unknown}" if unknown else None


def main() -> int:
    """List what is missing; 1 when more than 1 % is unexplained."""
    total, causes = 0, Counter[str]()
    for row in load(cases_folder()):
        total += len(row["expected"])
        for cause, hop, url, context in missing(row):
            causes[cause or "unexplained"] += 1
            sys.stdout.write(f"{row['id']}: {hop} {url} {context}: {cause or 'unexplained'}\n")
    sys.stdout.write(f"{total} links of Heritrix; missing: {dict(causes)}\n")
    return int(causes["unexplained"] > total / 100)


TABLE = Table("extract_realpages", load, check)

if __name__ == "__main__":
    sys.exit(main())
