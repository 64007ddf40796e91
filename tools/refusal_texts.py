"""The texts of refusals and findings, for the catalogues of the console.

They are worded in English where they arise, most with values in them. A value becomes `{}` here,
and a text that was made is found again by what stands between (`nacre.console.made_texts`).
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parents[1] / "src" / "nacre"
_WORDED: Final = (
    "config", "console", "editing", "fetch", "frontier", "inspect", "job", "ops", "profiles.py",
    "recrawl", "runs", "scope", "settings", "uri",
)  # fmt: skip
"""The folders whose texts can reach a page."""
_WHOLLY: Final = (
    "assembly/rule_checks.py", "config/component.py", "config/document.py", "config/findings.py",
    "config/registry.py", "config/secret.py", "console/fleet/label_book.py",
    "engine/candidates/prospects.py", "engine/candidates/scope_state.py", "inspect/analysis",
    "inspect/explain", "inspect/reports/policy_text.py", "inspect/reports/seed_outcomes.py",
    "job/continuous.py", "job/overview.py", "job/settings_change.py", "job/start_survey.py",
    "scope/rules/expression.py", "settings/chains.py", "settings/conflicts.py", "settings/load.py",
    "settings/sheets.py",
)  # fmt: skip
"""Where every text of several words is for people: reasons, studies, what cannot be changed."""
_ELSEWHERE: Final = (
    "console/server.py", "console/checks.py", "languages",
)  # fmt: skip
"""What is told to programs, which know the English text, and what the terminal shows alone."""
_TABLES: Final = ("_SAYINGS", "_KINDS")
"""Tables whose values are words of findings."""
_PROBLEM: Final = slice(1, 3)
"""The words among the values of a finding: its message, and what was expected."""
_MAKERS: Final = frozenset(("Problem", "TextFinding", "not_found", "Notice"))
_BUGS: Final = frozenset(
    ("AssertionError", "KeyError", "TypeError", "RuntimeError", "NotImplementedError",
     "AttributeError", "IndexError", "StopIteration", "OSError", "TimeoutError")
)  # fmt: skip
_DEEPEST: Final = 4
_DECLARES: Final = frozenset(("message", "plural", "partial"))
"""Functions that make messages, which `message_texts` collects."""
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_CODE: Final = re.compile(r"^(?:SELECT|INSERT|DELETE|UPDATE) |\(\?P")
"""SQL, and regular expressions with names."""
_SAMPLE: Final = re.compile(r"(?:- )?[a-z_]+: (?:[\[{].*|\S+)")
_OWN: Final = frozenset(("sample", "path", "file", "code", "kind", "name"))
"""Fields of a finding that are no words."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Known = Mapping[str, list[ast.expr]]


@cache
def refusal_texts() -> tuple[tuple[str, str], ...]:
    """The texts, each with the file that has it, below the sources of Nacre."""
    return tuple(_found())


def _found() -> Iterator[tuple[str, str]]:
    for names, find in ((_WORDED, texts_of), (_WHOLLY, all_texts_of)):
        for name in names:
            root = SOURCE / name
            for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
                place = path.relative_to(SOURCE).as_posix()
                if not place.startswith(_ELSEWHERE):
                    yield from ((place, text) for text in find(ast.parse(path.read_text("utf-8"))))


def texts_of(tree: ast.Module) -> list[str]:
    """The texts of a module, each once, in their order (pure)."""
    found: dict[str, None] = {}
    for statement in tree.body:
        found.update(dict.fromkeys(_of_table(statement)))
    todo: list[tuple[ast.AST, Known]] = [(tree, {})]
    while todo:
        node, known = todo.pop()
        if isinstance(node, Function):
            known = _assigned(node)
        elif isinstance(node, ast.Call) and _is_maker(node):
            for part in _arguments(node):
                found.update(dict.fromkeys(_worded(part, known)))
        todo += [(one, known) for one in reversed([*ast.iter_child_nodes(node)])]
    return [*filter(is_worded, found)]


def all_texts_of(tree: ast.Module) -> list[str]:
    """All texts of a module that have words, but its docstrings, each once (pure)."""
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            left_out.update(one for one in ast.walk(node) if one is not node)
        elif isinstance(node, ast.Call) and _DECLARES & {
            *map(ast.unparse, (node.func, *node.args[:1]))
        }:
            left_out.update(node.args)
    parts = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node not in left_out
    )
    texts = (text for part in parts for text in _worded(part, {}) if is_worded(text))
    return list(
        dict.fromkeys(one for one in texts if not _CODE.search(one) and not _SAMPLE.fullmatch(one))
    )


def _of_table(node: ast.stmt) -> Iterator[str]:
    """The texts of a table of words; none for another statement."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return
    if isinstance(node.value, ast.Dict) and any(map(_is_table, targets)):
        for value in node.value.values:
            yield from _worded(value.body if isinstance(value, ast.Lambda) else value, {})


def _is_table(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id in _TABLES


def is_worded(text: str) -> bool:
    """Whether a text has words enough to be known again, and does not end in the middle."""
    words = _WORD.findall(text)
    is_whole = text == text.rstrip()
    return is_whole and len(words) > 1 and len("".join(words)) > 5 and " " in text.strip()


def _is_maker(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    return name in _MAKERS or (name.endswith("Error") and name not in _BUGS)


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    is_problem = isinstance(node.func, ast.Name) and node.func.id == "Problem"
    yield from node.args[_PROBLEM] if is_problem else node.args
    yield from (one.value for one in node.keywords if one.arg not in _OWN)


def _assigned(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """The values that a function gives to each name."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def _worded(node: ast.expr, known: Known, depth: int = 0) -> list[str]:
    """The texts that an expression can be; what is not known in it is `{}`."""
    texts: list[str] = []
    match node:
        case _ if depth > _DEEPEST:
            pass
        case ast.Constant(value=str(value)):
            texts = [value]
        case ast.JoinedStr(values=values):
            parts = (str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values)
            texts = ["".join(parts)]
        case ast.IfExp(body=body, orelse=other):
            texts = [*_worded(body, known, depth + 1), *_worded(other, known, depth + 1)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ends = _worded(right, known, depth + 1) or ["{}"]
            texts = [a + b for a in _worded(left, known, depth + 1) or ["{}"] for b in ends]
        case ast.Name(id=name):
            texts = [text for one in known.get(name, ()) for text in _worded(one, {}, depth + 1)]
        case _:
            pass
    return texts
