"""The texts of reports: headings, names of columns and facts, for the catalogues of the console.

They are keys of the catalogue (`nacre.report.localize`). Paragraphs and texts with values are
messages.
"""

import ast
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).parents[1] / "src" / "nacre"
PLACES: Final = ("inspect", "replay/compare_report.py")
"""The folders and modules that make reports."""
_OWN: Final = "summary"
"""The folder of the report of a run, which has a Chinese of its own."""
_MADE: Final = frozenset(
    ("Column", "Section", "DataTable", "Bars", "Curves", "HeatMap", "TimeLine", "Series", "Curve",
     "ReportColumn", "ReportDocument", "data_table")
)  # fmt: skip
_FIELDS: Final = frozenset(("heading", "caption", "title", "name", "across", "up", "unit"))

_TERMS: Final = (
    "ready",
    "in-process",
    "snoozed",
    "inactive",
    "ineligible",
    "retired",
    "exhausted",
    "alive",
    "missing",
    "gone",
    "full",
    "incremental",
    "True",
    "False",
    "default",
    "rule",
    "processor",
    "timeline",
    "diff",
    "decisions",
    "replies in full",
    "replies with only noise",
    "unrecorded visits",
    "New pages",
    "Changed pages",
    "Pages that redirect now",
    "Pages that cannot be fetched now",
    "of its numbers",
)
"""Values of cells and names of reports that are words of a fixed set."""
_CLASS: Final = frozenset(("summary", "title", "caption", "note"))


def report_texts() -> Iterator[tuple[str, str]]:
    """Yield the texts, each with the file that has it, below the sources of Nacre."""
    yield from (("report/localize.py", term) for term in _TERMS)
    for path in chain.from_iterable(map(_modules, PLACES)):
        place = path.relative_to(SOURCES).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        of_loop = partial(_of_loop, _named_tuples(tree))
        is_own = _OWN in path.parent.parts
        kinds = (_of_class,) if is_own else (_of_call, _of_fact, _of_class, of_loop)
        for node in ast.walk(tree):
            for part in chain.from_iterable(kind(node) for kind in kinds):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                    yield place, part.value


def _modules(place: str) -> list[Path]:
    """Return the modules of a folder, or the module of a path."""
    path = SOURCES / place
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _named_tuples(tree: ast.AST) -> dict[str, ast.Tuple]:
    """Return the tuples of a module that have a name."""
    return {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _of_loop(tuples: dict[str, ast.Tuple], node: ast.AST) -> Iterator[ast.expr]:
    """Yield the names in a tuple of which a comprehension makes parts of a report."""
    if not isinstance(node, ast.GeneratorExp | ast.ListComp):
        return
    calls = (part.func for part in ast.walk(node.elt) if isinstance(part, ast.Call))
    if not _MADE & {func.id for func in calls if isinstance(func, ast.Name)}:
        return
    items = node.generators[0].iter
    items = tuples.get(items.id, items) if isinstance(items, ast.Name) else items
    for item in items.elts if isinstance(items, ast.Tuple) else ():
        yield from item.elts[:1] if isinstance(item, ast.Tuple) else (item,)


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
    """Yield the summary of a report, what a report of rows is called, and what it counts."""
    if isinstance(node, ast.Assign) and _CLASS & set(map(ast.unparse, node.targets)):
        yield node.value
