"""Docstrings of public things begin with what the thing is, or with what a function does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCES = (ROOT / "src" / "nacre", ROOT / "simweb" / "src" / "nacre_simweb")
MODULES = sorted(path for source in SOURCES for path in source.rglob("*.py"))
RIDDLE = re.compile(r"(What|Where|Who|Whose|When|How|Why|Which)\b")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def documented(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module and of all public things in it."""
    for node in ast.walk(tree):
        if isinstance(node, Documented):
            name = "" if isinstance(node, ast.Module) else node.name
            if not name.startswith("_"):
                yield name, ast.get_docstring(node) or ""


def test_a_docstring_begins_with_what_the_thing_is():
    riddles = {
        str(path.relative_to(ROOT)): [name for name, text in found if RIDDLE.match(text)]
        for path in MODULES
        for found in [documented(ast.parse(path.read_text("utf-8")))]
    }
    assert not {path: names for path, names in riddles.items() if names}
