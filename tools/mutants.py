"""`make mutants`: do the unit tests of the core notice when it is changed?

200 small changes are drawn from the modules of `CORE`, always the same ones: those whose digest
with the seed is smallest, so that an edit elsewhere changes none of them. Each is made in a copy of
the checkout and tried with the unit tests that run its line, the quickest first. A mutant that no
test notices survives. Survivors need an answer in `tools/mutants.toml`; at least `WANTED` are
killed.

The tests are collected once. Each mutant has a fork of that process, where the code objects of the
changed function are replaced; changes that this cannot reach (defaults of arguments) are written to
the file and tried by a separate pytest.

Why not mutmut or cosmic-ray: they mutate whole packages or all operators in a sequence, keep their
results by line number, and choose no tests by what these run; a run over the core takes them hours.
"""

import argparse
import ast
import copy
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tools.mutant_trials import KILLED, SURVIVED, UNREACHED, Trial, Trials

ROOT = Path(__file__).parent.parent
ANSWERS = Path(__file__).with_suffix(".toml")
CORE = (
    "engine/engine.py",
    "engine/disposition.py",
    "engine/steps/archive.py",
    "engine/steps/dispose.py",
    "frontier/queue_states.py",
    "planner/phases",
)
"""What the tests must know, below src/nacre: modules, and folders with all of theirs."""
TESTS = (
    "tests/engine",
    "tests/frontier",
    "tests/recrawl",
    "tests/planner",
    "tests/assembly",
    "tests/job",
)
UNIT = "not crawl and not kill and not slow and not cases and not browser"
WANTED = 0.75
SECONDS = 120
"""Time limit of a separate pytest for one mutant, s; a mutant that hangs is detected."""

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: a node of a module's tree, and its replacement.

    `name` is the same as long as the function and the changed piece are; `before` is the line.
    """

    module: str
    line: int
    name: str
    before: str
    tree: ast.Module
    node: ast.AST
    other: ast.AST

    def mutated(self) -> ast.Module:
        """Return the module with the change; all else keeps its line."""
        mutated = copy.deepcopy(self.tree)
        _Replace(self.node, self.other).visit(mutated)
        return ast.fix_missing_locations(mutated)

    def source(self) -> str:
        """Return the text of the module with the change."""
        return ast.unparse(self.mutated())

    def after(self) -> str:
        """Return the changed piece, its first line."""
        return ast.unparse(ast.fix_missing_locations(self.other)).partition("\n")[0]


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each kind of change that a node allows, with its replacement."""
    copied = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE:
        assert isinstance(copied, ast.Compare)
        copied.ops[0] = _COMPARE[type(node.ops[0])]()
        yield "comparison", copied
    elif isinstance(node, ast.BoolOp):
        assert isinstance(copied, ast.BoolOp)
        copied.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", copied
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        assert isinstance(copied, ast.BinOp)
        copied.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", copied
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield "constant", ast.Constant(value)
    elif isinstance(node, ast.Return) and node.value and not _is_none(node.value):
        yield "return", ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call", ast.Pass()
    elif isinstance(node, ast.If):
        assert isinstance(copied, ast.If)
        copied.test = ast.UnaryOp(ast.Not(), node.test)
        yield "if", copied


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield all changes of a module, in the order of its lines; annotations and docstrings stay."""
    text = (ROOT / "src" / "nacre" / module).read_text()
    tree = ast.parse(text)
    lines = text.splitlines()
    counts: dict[str, int] = {}
    for function, node in _nodes(tree, ""):
        for kind, mutation in changed(node):
            piece = ast.get_source_segment(text, node) or ""
            key = f"{module}:{function}: {kind}: {' '.join(piece.split())[:80]}"
            counts[key] = counts.get(key, 0) + 1
            name = f"{key} #{counts[key]}" if counts[key] > 1 else key
            line = node.lineno  # type: ignore[attr-defined]
            yield Mutant(module, line, name, lines[line - 1].strip(), tree, node, mutation)


class _Replace(ast.NodeTransformer):
    """Puts another node in the place of one, found by its position and kind."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._where, self._new = _place(old), new

    def visit(self, node: ast.AST) -> ast.AST:
        if _place(node) == self._where:
            return self._new
        return self.generic_visit(node)


def _place(node: ast.AST) -> tuple[str, int, int, int, int]:
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return (type(node).__name__, *(getattr(node, name, -1) for name in names))  # type: ignore[return-value]


def _nodes(node: ast.AST, name: str, *, inside: bool = False) -> Iterator[tuple[str, ast.AST]]:
    """Nodes within functions, with the function's qualified name."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.ClassDef):
                yield from _nodes(child, f"{name}.{child.name}".lstrip("."))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _nodes(child, f"{name}.{child.name}".lstrip("."), inside=True)
            elif isinstance(child, ast.AST):
                if inside:
                    yield name, child
                yield from _nodes(child, name, inside=inside)


def modules_of(name: str) -> list[str]:
    """Return a module, or those of a folder; relative to src/nacre."""
    root = ROOT / "src" / "nacre"
    if (root / name).is_file():
        return [name]
    return sorted(str(path.relative_to(root)) for path in (root / name).rglob("*.py"))


def drawn(number: int, seed: str) -> list[Mutant]:
    """Return the mutants whose digest with the seed is smallest, in the order of their names."""
    every = [
        mutant for name in CORE for module in modules_of(name) for mutant in mutants_of(module)
    ]
    every.sort(key=lambda candidate: hashlib.sha256(f"{seed} {candidate.name}".encode()).digest())
    return sorted(every[:number], key=lambda candidate: candidate.name)


def run_tests(folder: Path, *options: str) -> bool:
    """Return whether a pytest in a folder fails; one that hangs does."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", "--no-header"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(folder / "src")}
    try:
        process = subprocess.run(
            [*command, *options],
            cwd=folder, env=environment, timeout=SECONDS, capture_output=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    return process.returncode != 0


def try_on_disk(folder: Path, mutant: Mutant, tests: list[str]) -> int:
    """`KILLED` when a pytest fails that imports the changed file."""
    file = folder / "src" / "nacre" / mutant.module
    text = file.read_text()
    file.write_text(mutant.source())
    try:
        return KILLED if run_tests(folder, *tests) else SURVIVED
    finally:
        file.write_text(text)


def try_all(folder: Path, chosen: list[Mutant], workers: int) -> list[Mutant]:
    """Return the mutants that survive."""
    files = [folder / "src" / "nacre" / mutant.module for mutant in chosen]
    with os.fdopen(os.dup(2), "w") as out:
        named = zip(chosen, files, strict=True)
        trials = Trials([Trial(m.name, file, m.line, m.mutated) for m, file in named], workers, out)
        before = Path.cwd()
        os.chdir(folder)
        try:
            code = pytest.main(
                [
                    "-q",
                    "-s",
                    "-p",
                    "no:randomly",
                    "--no-header",
                    "--no-summary",
                    "-m",
                    UNIT,
                    *TESTS,
                ],
                plugins=[trials],
            )
        finally:
            os.chdir(before)
    if code != pytest.ExitCode.OK or len(trials.codes) != len(chosen):
        sys.exit(f"mutants: no trial is possible: {trials.problem or f'pytest ended with {code}'}")
    ends = trials.codes
    for number, mutant in enumerate(chosen):
        if ends[number] == UNREACHED:
            ends[number] = try_on_disk(folder, mutant, trials.tests_of(number))
    return [mutant for number, mutant in enumerate(chosen) if ends[number] == SURVIVED]


def copied(folder: Path) -> None:
    """What the tests need of the checkout."""
    for name in ("src", "tests", "tools", "bench", "docs", "examples", "migrate", "simweb"):
        if (ROOT / name).exists():
            ignore = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "nacre"):
        shutil.copy(ROOT / name, folder / name)


def report(survivors: list[Mutant], number: int, seconds: float) -> int:
    """Print the rate and the survivors without an answer; 1 when something is wanting."""
    answers = tomllib.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    open_ones = [survivor for survivor in survivors if survivor.name not in answers]
    rate = 1 - len(survivors) / number
    sys.stdout.write(f"{number} mutants, {rate:.0%} killed, in {seconds:.0f} s\n")
    for survivor in survivors:
        sys.stdout.write(
            f"survived: {survivor.name}\n    {survivor.before}\n    -> {survivor.after()}\n"
        )
        sys.stdout.write(f"    {answers.get(survivor.name, 'NO ANSWER')}\n")
    return 1 if open_ones or rate < WANTED else 0


def main() -> int:
    """Draw, try and report mutants; 1 if too many survive, or a survivor has no answer."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", default="nacre")
    parser.add_argument("--only", default="", help="mutants whose name has this in it")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="at a time")
    options = parser.parse_args()
    chosen = [
        mutant for mutant in drawn(options.number, options.seed) if options.only in mutant.name
    ]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nacre-mutants-") as name:
        folder = Path(name).resolve()
        copied(folder)
        survivors = try_all(folder, chosen, options.workers)
    return report(survivors, len(chosen), time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
