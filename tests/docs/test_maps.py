"""What packages and docs/architecture.md say of modules is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "nacre"
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))
NAMED = re.compile(r"`([a-z_/0-9]+(?:\.py|/))`")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE.parent)))
def test_a_package_names_modules_that_it_has(package: Path):
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    assert len(told) > 40
    assert [name for name in NAMED.findall(told) if not (package / name).exists()] == []


def test_the_architecture_names_modules_that_there_are():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    names = [name for name in NAMED.findall(text) if name.endswith(".py")]
    assert len(names) > 50
    everywhere = {path.name for path in SOURCE.rglob("*.py")}
    assert [
        name
        for name in names
        if not (SOURCE / name).exists() and ("/" in name or name not in everywhere)
    ] == []
