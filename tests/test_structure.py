"""What holds for the structure of the whole product: hooks, names, imports, layers."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = (ROOT / "src" / "nacre", ROOT / "migrate" / "src" / "nacre_migrate", ROOT / "simweb")
MOST_IMPORTS = 35


@cache
def modules() -> dict[str, list[ast.AST]]:
    """The nodes of every module of the product, by its dotted name."""
    found = {}
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            inside = path.relative_to(source).with_suffix("").parts
            if "tests" not in inside:
                name = ".".join((source.name, *inside)).removesuffix(".__init__")
                found[name] = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    return found


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for name, nodes in modules().items():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield name, node


@cache
def behaviour() -> frozenset[str]:
    """Names of what can be called or does something: `Callable`, aliases of it, protocols."""
    protocols = {
        node.name
        for _, node in classes()
        for base in node.bases
        if ast.unparse(base).partition("[")[0] == "Protocol"
    }
    aliases = {
        target.id
        for nodes in modules().values()
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Subscript)
        if isinstance(node.value.value, ast.Name) and node.value.value.id == "Callable"
        for target in targets(node)
        if isinstance(target, ast.Name)
    }
    return frozenset({"Callable"} | protocols | aliases)


def targets(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns to."""
    if isinstance(node, ast.Assign):
        whole = node.targets
    elif isinstance(node, ast.AnnAssign):
        whole = [node.target]
    else:
        return []
    return [one for each in whole for one in (each.elts if isinstance(each, ast.Tuple) else [each])]


def set_by_name(node: ast.AST) -> list[ast.expr]:
    """The attribute that a call of `setattr` assigns to."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return []
    if node.func.id != "setattr":
        return []
    owner, name = node.args[:2]
    return [ast.Attribute(owner, str(name.value))] if isinstance(name, ast.Constant) else [owner]


def is_behaviour(annotation: ast.expr | None) -> bool:
    """An annotation names a behaviour, not a container of some."""
    if annotation is None:
        return False
    text = ast.unparse(annotation).strip("'\"")
    options = [option.strip() for option in text.split(" | ")]
    return any(option.partition("[")[0] in behaviour() for option in options)


@cache
def hook_names() -> frozenset[str]:
    """Attributes of any class that hold behaviour."""
    found: set[str] = set()
    for _, node in classes():
        for inner in ast.walk(node):
            if isinstance(inner, ast.AnnAssign) and is_behaviour(inner.annotation):
                target = inner.target
                found.add(target.attr if isinstance(target, ast.Attribute) else ast.unparse(target))
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                found |= given_behaviour(inner)
    return frozenset(found)


def given_behaviour(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Attributes that a method sets to an argument that is behaviour."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    given = {one.arg for one in arguments if is_behaviour(one.annotation)}
    return {
        target.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and given & names_of(node.value)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    }


def names_of(value: ast.expr) -> set[str]:
    """Names that a value can be: `given`, `given or other`, `given if known else other`."""
    options = [value]
    if isinstance(value, ast.BoolOp):
        options = value.values
    elif isinstance(value, ast.IfExp):
        options = [value.body, value.orelse]
    return {one.id for one in options if isinstance(one, ast.Name)}


def assigned_hooks(nodes: Iterable[ast.AST], names: frozenset[str]) -> list[str]:
    """Attributes of other objects that have one of the names and are assigned."""
    return [
        ast.unparse(target)
        for node in nodes
        for target in targets(node) + set_by_name(node)
        if isinstance(target, ast.Attribute) and target.attr in names
        if ast.unparse(target.value) not in {"self", "cls"}
    ]


def test_no_behaviour_is_assigned_from_outside_its_class():
    names = hook_names()
    assert {"_observer", "_placement", "_supervisor"} <= names
    hooks = {module: assigned_hooks(nodes, names) for module, nodes in modules().items()}
    found = {module: targets for module, targets in hooks.items() if targets}
    assert not found, f"give it to the constructor, or call a method: {found}"


@pytest.mark.parametrize(
    "statement",
    [
        "engine._observer = other",
        "self.engine._observer = other",
        "engine._observer: VisitObserver = other",
        "engine._observer, number = other, 1",
        "setattr(engine, '_observer', other)",
    ],
)
def test_each_way_to_assign_it_is_noticed(statement: str):
    assert assigned_hooks(ast.walk(ast.parse(statement)), hook_names())


def test_public_class_names_are_unique():
    homes: dict[str, list[str]] = defaultdict(list)
    for module, node in classes():
        if not node.name.startswith("_"):
            homes[node.name].append(module)
    twice = {name for name, found in homes.items() if len(found) > 1}
    assert not twice, "give the less obvious one a name that says more"


def imported(nodes: list[ast.AST]) -> set[str]:
    """Modules of the product that a module imports."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in modules() else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(modules())


def test_no_module_imports_too_many_others():
    large = {name for name, nodes in modules().items() if len(imported(nodes)) > MOST_IMPORTS}
    assert not large, f"more than {MOST_IMPORTS} imports of modules of the product"


def test_every_package_has_its_layer():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (flow,) = (
        one
        for one in contracts["tool"]["importlinter"]["contracts"]
        if one["name"] == "The flow runs one way"
    )
    layers = {
        name.strip(" ()").split(".")[1] for layer in flow["layers"] for name in layer.split("|")
    }
    packages = {name.split(".")[1] for name in modules() if name.startswith("nacre.")}
    assert packages <= layers


def test_faces_import_the_core_through_operations():
    """`lint-imports` checks the contract, which has no exceptions."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (faces,) = (each for each in contracts if each["name"].startswith("Faces reach the core"))
    of_migrations = {"nacre_migrate.commands", "nacre_migrate.port"}
    of_nacre = {"nacre.cli", "nacre.console", "nacre.replay_server"}
    assert set(faces["source_modules"]) == of_nacre | of_migrations
    core = {"nacre.store", "nacre.frontier", "nacre.engine", "nacre.recrawl"}
    assert set(faces["forbidden_modules"]) == core
    assert "ignore_imports" not in faces
