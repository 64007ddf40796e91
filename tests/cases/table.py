"""A table: rows of facts, a check of one row, and the differences that are decided."""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def cases_folder() -> Path:
    """The folder of the tables: `NACRE_CASES`, or `../shared/cases` beside the checkout."""
    named = os.environ.get("NACRE_CASES")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "cases"


def json_lines(name: str) -> Callable[[Path], Iterator[Row]]:
    """A loader of one JSON object a line; `name` may end in .gz."""

    def load(folder: Path) -> Iterator[Row]:
        path = folder / name
        data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        for line in data.decode("utf-8", "surrogatepass").split("\n"):
            if line.strip():
                yield json.loads(line)

    return load


@dataclass(frozen=True)
class Table:
    """One table.

    `check` gives None when Nacre answers as the row says, else what it answered instead.
    `load` may raise FileNotFoundError: the table is then skipped, with a message.
    """

    name: str
    load: Callable[[Path], Iterable[Row]]
    check: Callable[[Row], str | None]


@dataclass(frozen=True)
class Difference:
    """Rows of one table that Nacre rightly answers otherwise: a named predicate and its reason."""

    table: str
    name: str
    reason: str
    applies: Callable[[Row], bool]


@dataclass
class Result:
    """What a table's rows came to."""

    name: str
    rows: int = 0
    passed: int = 0
    differing: dict[str, int] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def line(self) -> str:
        """One line for `make cases`."""
        differing = sum(self.differing.values())
        return (
            f"{self.name:28} rows {self.rows:6}  passed {self.passed:6}  "
            f"differing by decision {differing:5}  failed {len(self.failed):5}"
        )


def run_table(table: Table, differences: Iterable[Difference], folder: Path) -> Result:
    """Check every row; never stops at a failure, not even at a crash of the code under test."""
    mine = [d for d in differences if d.table == table.name]
    result = Result(table.name)
    for row in _rows(table, folder):
        result.rows += 1
        answer = _answer(table, row)
        if answer is None:
            result.passed += 1
            continue
        decided = next((d for d in mine if _excuses(d, row)), None)
        if decided:
            result.differing[decided.name] = result.differing.get(decided.name, 0) + 1
        else:
            result.failed.append((str(row.get("id", result.rows)), answer))
    return result


_BROKEN = "the row cannot be read"


def _rows(table: Table, folder: Path) -> Iterator[Row]:
    """The rows; one that cannot be read ends its table as a failed row, not the run."""
    try:
        yield from table.load(folder)
    except FileNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001 - what is no table is told
        yield {"id": _BROKEN, _BROKEN: f"{type(error).__name__}: {error}"}


def _excuses(difference: Difference, row: Row) -> bool:
    """False too when the predicate is not made for such a row: the row then fails, not the run."""
    try:
        return difference.applies(row)
    except (TypeError, AttributeError, LookupError):
        return False


def _answer(table: Table, row: Row) -> str | None:
    if _BROKEN in row:
        return str(row[_BROKEN])
    try:
        return table.check(row)
    except Exception as error:  # noqa: BLE001 - a crash is a failed row
        return f"raised {type(error).__name__}: {error}"
