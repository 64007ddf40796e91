"""The texts of reports: headings, names of columns and facts, for the catalogues of the console.

Reports are written in English. The console says what its catalogue has of their words in the
language of the reader; sentences with numbers are in `nacre.console.made_texts`.
"""

import ast
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "src" / "nacre" / "inspect"
_OWN: Final = "summary"
"""The folder of the report of a run, which has a Chinese of its own."""
_MADE: Final = frozenset(
    ("Column", "Section", "DataTable", "Bars", "Curves", "HeatMap", "TimeLine", "Series", "Curve",
     "ReportColumn", "ReportDocument", "data_table")
)  # fmt: skip
_FIELDS: Final = frozenset(("heading", "caption", "title", "name", "across", "up", "unit"))

_CLASS: Final = frozenset(("summary", "title", "caption", "note"))


def report_texts() -> Iterator[tuple[str, str]]:
    """The texts, each with the file that has it, below the sources of Nacre."""
    for path in sorted(FOLDER.rglob("*.py")):
        kinds = (_of_class,) if _OWN in path.parent.parts else (_of_call, _of_fact, _of_class)
        place = f"inspect/{path.relative_to(FOLDER).as_posix()}"
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for part in chain.from_iterable(kind(node) for kind in kinds):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                    yield place, part.value


def _of_call(node: ast.AST) -> Iterator[ast.expr]:
    """What a part of a report is called."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _MADE:
            first = 1 if name == "ReportColumn" else 0
            yield from node.args[first : 3 if name == "Curves" else first + 1]
            yield from (one.value for one in node.keywords if one.arg in _FIELDS)


def _of_fact(node: ast.AST) -> Iterator[ast.expr]:
    """The name of a fact: the first of two, of which the second is no text that is known before."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        name, value = node.elts
        if not isinstance(value, ast.Constant):
            yield name


def _of_class(node: ast.AST) -> Iterator[ast.expr]:
    """The summary of a report, what a report of rows is called, and what it counts."""
    if isinstance(node, ast.Assign) and _CLASS & set(map(ast.unparse, node.targets)):
        yield node.value
