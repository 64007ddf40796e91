"""A package with plug-ins as pip would leave it: a module and its metadata, on the path."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.config.registry import Registry


@contextmanager
def plugged_in(
    folder: Path, module: str, text: str, parts: Mapping[str, str], *registries: Registry[Any]
) -> Iterator[None]:
    """Install a package of one module; at the end the registries are as they were.

    Args:
        folder: Where it lies.
        module: Name of the module, and of the package.
        text: The module.
        parts: Entry points with the names of its classes.
        registries: Those that look for plug-ins anew.
    """
    made = folder / f"{module}-1.0.dist-info"
    made.mkdir(parents=True)
    (folder / f"{module}.py").write_text(text)
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}:{part}\n" for name, part in parts.items())
    (made / "entry_points.txt").write_text(f"[nacre.components]\n{lines}")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for one in registries:
            patch.setattr(one, "_looked", False)
            patch.setattr(one, "_parts", dict(one._parts))
            patch.setattr(one, "_places", dict(one._places))
            patch.setattr(one, "_faults", list(one._faults))
        try:
            yield
        finally:
            sys.modules.pop(module, None)
