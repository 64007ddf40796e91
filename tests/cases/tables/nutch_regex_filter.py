"""Rule files of Nutch's tests, unchanged, with URLs that bear the expected sign."""

from collections.abc import Iterator
from pathlib import Path

from nacre.scope.nutch.filters import guess_kind, make_filter
from nacre.scope.nutch.regexes import RuleSource, lines_of
from tests.cases.table import Row, Table

_FOLDER = "nutch_regex_filter"


def pairs(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Rule files and the URLs for them, by name: `a.rules` and `a.urls`."""
    for urls in sorted(folder.glob("*.urls")):
        rules = urls.with_suffix(".rules")
        if rules.exists():
            yield rules, urls
            continue
        stem = urls.stem.removeprefix("fast_").lower()
        for other in sorted(folder.glob("fast_*.txt")):
            if other.stem.endswith((f"-{stem}", f"-{stem.removesuffix('s')}")):
                yield other, urls


def _load(folder: Path) -> Iterator[Row]:
    if not (folder / _FOLDER).is_dir():
        raise FileNotFoundError(2, "absent", str(folder / _FOLDER))
    for rules, urls in pairs(folder / _FOLDER):
        text = rules.read_text("utf-8")
        for number, line in enumerate(urls.read_text("utf-8").splitlines(), 1):
            if line[:1] in {"+", "-"}:
                yield {
                    "id": f"{urls.name}:{number}",
                    "rules": text,
                    "file": rules.name,
                    "input": line[1:],
                    "accepted": line[0] == "+",
                }


def _check(row: Row) -> str | None:
    source = RuleSource(lines_of(row["rules"]), row["file"])
    ruling = make_filter(guess_kind(row["file"]), source).judge(row["input"])
    return None if ruling.passes is row["accepted"] else f"{ruling}"


TABLE = Table(_FOLDER, _load, _check)
