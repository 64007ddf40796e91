"""A table: rows of facts, a check of one row, and the differences that are decided."""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

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


class Differs(NamedTuple):
    """Nacre's answer to a row, where it is not the row's: any value that can be compared.

    `text` is for people; "" when the answer speaks for itself.
    """

    answer: Any
    text: str = ""

    def __str__(self) -> str:
        return self.text or repr(self.answer)


class Unsupported(NamedTuple):
    """The row asks for something that Nacre does not offer; `what` names it."""

    what: str


Answer = Differs | Unsupported | str | None
"""What a check gives: None where Nacre answers as the row says. A text is its own answer."""


@dataclass(frozen=True)
class Table:
    """One table.

    `check` compares Nacre's answer with the row's. `load` may raise FileNotFoundError: the table
    is then skipped, with a message.
    """

    name: str
    load: Callable[[Path], Iterable[Row]]
    check: Callable[[Row], Answer]


@dataclass(frozen=True)
class Difference:
    """Rows of one table that Nacre rightly answers otherwise than the row.

    `applies` is given the row and Nacre's answer. It is true where this answer is the one that an
    authority gives: it computes or quotes it, so that another wrong answer to the same row fails.
    `reason` names the authority.
    """

    table: str
    name: str
    reason: str
    applies: Callable[[Row, Any], bool]


@dataclass
class Result:
    """What a table's rows came to: numbers of rows, and the failed ones with Nacre's answer."""

    name: str
    rows: int = 0
    passed: int = 0
    decided: dict[str, int] = field(default_factory=dict)
    unsupported: dict[str, int] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def line(self) -> str:
        """One line for `make cases`."""
        return (
            f"{self.name:28} rows {self.rows:6}  passed {self.passed:6}  "
            f"decided {sum(self.decided.values()):4}  "
            f"unsupported {sum(self.unsupported.values()):4}  failed {len(self.failed):5}"
        )

    def add(self, other: "Result") -> None:
        """Count another table's rows too."""
        self.rows += other.rows
        self.passed += other.passed
        self.failed += other.failed
        self.decided[other.name] = sum(other.decided.values())
        self.unsupported[other.name] = sum(other.unsupported.values())


def run_table(table: Table, differences: Iterable[Difference], folder: Path) -> Result:
    """Check every row; a crash of the code under test, or of a predicate, is a failed row."""
    mine = [d for d in differences if d.table == table.name]
    result = Result(table.name)
    for row in _rows(table, folder):
        result.rows += 1
        name = str(row.get("id", result.rows))
        try:
            judge(table, mine, row, result)
        except Exception as error:  # noqa: BLE001 - a crash is a failed row
            result.failed.append((name, f"raised {type(error).__name__}: {error}"))
    return result


def judge(table: Table, differences: Iterable[Difference], row: Row, result: Result) -> None:
    """Check one row and count it in `result`; raises what the check or a predicate raises."""
    answer = str(row[_BROKEN]) if _BROKEN in row else table.check(row)
    if answer is None:
        result.passed += 1
    elif isinstance(answer, Unsupported):
        result.unsupported[answer.what] = result.unsupported.get(answer.what, 0) + 1
    elif _BROKEN not in row and (decided := decision(differences, row, answer)):
        result.decided[decided.name] = result.decided.get(decided.name, 0) + 1
    else:
        result.failed.append((str(row.get("id", result.rows)), str(answer)))


def decision(
    differences: Iterable[Difference], row: Row, answer: Differs | str
) -> Difference | None:
    """The decided difference whose authority gives this answer to this row; None for none."""
    value = answer.answer if isinstance(answer, Differs) else answer
    return next((d for d in differences if d.applies(row, value)), None)


_BROKEN = "the row cannot be read"


def _rows(table: Table, folder: Path) -> Iterator[Row]:
    """The rows; one that cannot be read ends its table as a failed row, not the run."""
    try:
        yield from table.load(folder)
    except FileNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001 - what is no table is told
        yield {"id": _BROKEN, _BROKEN: f"{type(error).__name__}: {error}"}
