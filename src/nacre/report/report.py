"""What a report is: data in JSON types, and the text of its file in Heritrix's form."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Protocol

from nacre.report.material import Data, Material

MOST_ROWS = 100_000
"""Rows that `Report.build` gives at most; the files have them all."""


class Report(Protocol):
    """One report.

    Attributes:
        name: For `nacre report`.
        file: Name of its text file, as in Heritrix.
        default: It is written at the end of a run.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - said above
    @property
    def file(self) -> str: ...  # noqa: D102 - said above
    @property
    def default(self) -> bool: ...  # noqa: D102 - said above

    def build(self, material: Material) -> Data:
        """Its data."""
        ...

    def text(self, data: Data) -> str:
        """The text of such data."""
        ...

    def parts(self, material: Material) -> Iterator[tuple[str, str]]:
        """The whole, piece by piece: text, and the same as JSON."""
        ...


@dataclass(frozen=True)
class Page:
    """A report of bounded size.

    Attributes:
        name: See `Report`.
        file: See `Report`.
        build: Its data.
        text: The text of such data.
        default: See `Report`.
    """

    name: str
    file: str
    build: Callable[[Material], Data]
    text: Callable[[Data], str]
    default: bool = True

    def parts(self, material: Material) -> Iterator[tuple[str, str]]:
        """See `Report.parts`."""
        data = self.build(material)
        yield self.text(data), json.dumps(data, indent=1) + "\n"


@dataclass(frozen=True)
class Table:
    """A report of a row for each host, seed or the like; never all in memory at once.

    Attributes:
        name: See `Report`.
        file: See `Report`.
        header: First line of the text.
        rows: The rows, in order.
        line: The line of a row, without line feed.
        default: See `Report`.
        empty: What stands in place of the header where there are no rows; "" for the header.
    """

    name: str
    file: str
    header: str
    rows: Callable[[Material], Iterator[Data]]
    line: Callable[[Data], str]
    default: bool = True
    empty: str = ""

    def build(self, material: Material, most: int = MOST_ROWS) -> Data:
        """The first rows, and how many more there are: `rows`, `left_out`."""
        rows = self.rows(material)
        first = list(islice(rows, most))
        return {"report": self.name, "rows": first, "left_out": sum(1 for _ in rows)}

    def text(self, data: Data) -> str:
        """The lines of such data."""
        lines = [self._head(some=bool(data["rows"])), *map(self.line, data["rows"])]
        if data["left_out"]:
            lines.append(f"... and {data['left_out']} more; {self.file} of a run has them all")
        return "\n".join(lines) + "\n"

    def parts(self, material: Material) -> Iterator[tuple[str, str]]:
        """See `Report.parts`; one row a line in the JSON too."""
        rows = self.rows(material)
        first = next(rows, None)
        head = self._head(some=first is not None)
        yield f"{head}\n", f'{{"report": "{self.name}", "rows": ['
        separator = "\n"
        for row in chain(() if first is None else (first,), rows):
            yield self.line(row) + "\n", separator + json.dumps(row)
            separator = ",\n"
        yield "", '\n], "left_out": 0}\n'

    def _head(self, *, some: bool) -> str:
        return self.header if some or not self.empty else self.empty
