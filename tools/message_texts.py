"""The messages that the sources of Nacre declare: codes and English templates.

A message is declared where it is made, by `message` or `plural` of `nacre.messages` with two or
three texts as they are.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from nacre import messages
from nacre.config import facts
from nacre.job.diagnosis_text import TEXTS

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "nacre"
BESIDE: Final = ROOT / "migrate" / "src"
"""Sources of the package whose messages the catalogue of Nacre has too."""
_MAKERS: Final = {"message": 1, "plural": 2}
"""The functions that make messages, with the number of English templates of each."""
_SHARED: Final = (
    messages.LINES,
    messages.SEMICOLON,
    messages.COMMA,
    messages.OR,
    messages.SENTENCES,
    facts.EITHER,
)


class Declaration(NamedTuple):
    """A message as the sources declare it.

    Attributes:
        place: The file, below the sources of Nacre or beside them.
        line: Line number.
        code: The code.
        template: The English template; that of many things.
        params: Names of the parameters in the call; None if they come later.
        templates: All English templates.
    """

    place: str
    line: int
    code: str
    template: str
    params: frozenset[str] | None
    templates: tuple[str, ...]


@cache
def declared_messages() -> tuple[Declaration, ...]:
    """Return all declarations, by file and line."""
    shared = (Declaration("messages.py", 0, code, text, None, (text,)) for code, text in _SHARED)
    declarations = [*shared, *_diagnoses()]
    for source in (SOURCE, BESIDE):
        for path in sorted(source.rglob("*.py")):
            text = path.read_text("utf-8")
            if "nacre.messages" in text:
                declarations += declarations_of(
                    ast.parse(text), path.relative_to(source).as_posix()
                )
    return tuple(declarations)


def _diagnoses() -> Iterator[Declaration]:
    """Yield the texts of diagnoses, which are in a table."""
    for code, text in TEXTS.items():
        templates = (text,) if isinstance(text, str) else (text.singular, text.many)
        place = "job/diagnosis_text.py"
        yield Declaration(place, 0, f"diagnosis.{code}", templates[-1], None, templates)


def declarations_of(tree: ast.AST, place: str) -> Iterator[Declaration]:
    """Yield the declarations of a module.

    Args:
        tree: The module.
        place: Its file.

    Raises:
        ValueError: The code or a template is no text as it is.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        maker, parts, is_partial = node.func.id, node.args, node.func.id == "partial"
        if is_partial and isinstance(parts[0], ast.Name):
            maker, parts = parts[0].id, parts[1:]
        number = _MAKERS.get(maker)
        if number is None:
            continue
        texts = [part.value for part in parts if isinstance(part, ast.Constant)]
        if len(texts) != number + 1 or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{place}:{node.lineno}: the code and the template must be texts")
        code, *templates = map(str, texts)
        names = [keyword.arg for keyword in node.keywords]
        is_open = is_partial or None in names
        params = None if is_open else frozenset(name for name in names if name)
        yield Declaration(place, node.lineno, code, templates[-1], params, tuple(templates))
