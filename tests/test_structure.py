"""What holds for the structure of the whole product: hooks, names, imports, layers."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = (ROOT / "src" / "nacre", ROOT / "simweb")
MOST_IMPORTS = 35

DATA = {
    "visit.history", "visit.starved", "queue.window", "queue.row.place", "row.place",
    "rules.name", "bean.owner", "user.origin", "item.origin", "bean.name", "self._open.pop().text",
}  # fmt: skip
"""Values, of a name by which another class has something that can be called."""

# What is left to do; each of these lists only shrinks.
HOOKS_LEFT: set[str] = set()
NAMES_LEFT = set(
    """
    Answers Archive Audit Bound Bounds Captured Change CheckPreconditions Choice Commands
    Comparison Counted Counts Decision Difference Digests Directive Document End EnforceQuotas
    Engine Entry Evidence Expression Extract Failures Family FetchDns FetchHttp FetchStatus
    Figures Finding Form Found Gate Group Hints Job Kept Kind Knowledge Known Life LimitRuntime
    Link Match Moment Noted Novelty Numbers Origin Outcome Pace Page Parts Place Places Plan
    Preselect Progress Property Rates Record Refusal Regex Removed Reply Report Result Rows Rule
    Seen Server Shape Site Source Span Start State Step Steps Subject Table Tally Template Terms
    Timeline Token Told Traps Waiting Wanted Way Window Wish Work Writer
    """.split()  # noqa: SIM905 - lines that merge well
)
LARGE_LEFT = {"nacre.inspect.explain.explain", "nacre.assembly.parts"}


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
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Callable[")
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return frozenset({"Callable"} | protocols | aliases)


def is_behaviour(annotation: ast.expr | None) -> bool:
    """An annotation names a behaviour, not a container of some."""
    if annotation is None:
        return False
    text = ast.unparse(annotation).strip("'\"")
    options = [option.strip() for option in text.split(" | ")]
    return any(option.partition("[")[0] in behaviour() for option in options)


def hook_names() -> set[str]:
    """Attributes of any class that hold behaviour."""
    found = set()
    for _, node in classes():
        for inner in ast.walk(node):
            if isinstance(inner, ast.AnnAssign) and is_behaviour(inner.annotation):
                target = inner.target
                found.add(target.attr if isinstance(target, ast.Attribute) else ast.unparse(target))
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                found |= given_behaviour(inner)
    return found


def given_behaviour(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Attributes that a method sets to an argument that is behaviour."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    given = {one.arg for one in arguments if is_behaviour(one.annotation)}
    return {
        target.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if node.value.id in given and isinstance(target, ast.Attribute)
    }


def test_no_behaviour_is_assigned_from_outside_its_class():
    names = hook_names()
    found = {
        ast.unparse(target): module
        for module, nodes in modules().items()
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and target.attr in names
        if ast.unparse(target.value) not in {"self", "cls"}
    }
    hooks = {target: module for target, module in found.items() if target not in DATA}
    assert hooks.keys() <= HOOKS_LEFT, f"give it to the constructor, or call a method: {hooks}"


def test_public_class_names_are_unique():
    homes: dict[str, list[str]] = defaultdict(list)
    for module, node in classes():
        if not node.name.startswith("_"):
            homes[node.name].append(module)
    twice = {name for name, found in homes.items() if len(found) > 1}
    assert twice <= NAMES_LEFT, "give the less obvious one a name that says more"


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
    assert large <= LARGE_LEFT, f"more than {MOST_IMPORTS} imports of modules of the product"


def test_every_package_has_its_layer():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (flow,) = (
        one for one in contracts["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    layers = {
        name.strip(" ()").split(".")[1] for layer in flow["layers"] for name in layer.split("|")
    }
    packages = {name.split(".")[1] for name in modules() if name.startswith("nacre.")}
    assert packages <= layers
