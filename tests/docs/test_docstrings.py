"""Docstrings of public things begin with what the thing is, or with what a function does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCES = (
    ROOT / "src" / "nacre",
    ROOT / "migrate" / "src" / "nacre_migrate",
    ROOT / "simweb" / "src" / "nacre_simweb",
)
MODULES = sorted(path for source in SOURCES for path in source.rglob("*.py"))
RIDDLE = re.compile(r"(What|Where|Who|Whose|When|How|Why|Which)\b")
QUOTED = re.compile(rf"""["'][\s\\]*{RIDDLE.pattern}""")
"""What begins each text that is one; other modules need not be parsed."""
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def documented(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module and of all public things in it."""
    for node in ast.walk(tree):
        if isinstance(node, Documented):
            name = "" if isinstance(node, ast.Module) else node.name
            if not name.startswith("_"):
                yield name, ast.get_docstring(node) or ""


def riddles(text: str) -> list[str]:
    """The names of public things of a module whose docstrings begin otherwise."""
    if not QUOTED.search(text):
        return []
    return [name for name, said in documented(ast.parse(text)) if RIDDLE.match(said)]


def test_a_docstring_begins_with_what_the_thing_is():
    found = {str(path.relative_to(ROOT)): riddles(path.read_text("utf-8")) for path in MODULES}
    assert not {path: names for path, names in found.items() if names}


TEXT = """\
class A:
    \"\"\"What it is.\"\"\"
    def b(self):
        "Why"

def c():
    r'''
    How it is.
    '''

def _d():
    'Which'

def e():
    'Whoever'
"""


def test_docstrings_that_begin_otherwise_are_found():
    assert riddles(TEXT) == ["A", "c", "b"]
    assert riddles(TEXT.replace("What", "A").replace("Why", "A").replace("How", "A")) == []
