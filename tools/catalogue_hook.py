"""Compiles the catalogues of messages for a wheel and a source distribution."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("src", "nacre", "languages")


class CatalogueHook(BuildHookInterface[Any]):
    """Make `nacre.mo` beside each `nacre.po`: only the compiled files are in a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the catalogues before the files are collected.

        Args:
            version: Of the build: `standard` or `editable`.
            build_data: Takes the names of the files, which git ignores.
        """
        root = Path(self.root)
        place = root / PACKAGE / "translations.py"
        spec = importlib.util.spec_from_file_location("translations", place)
        if spec is None or spec.loader is None:
            raise ImportError(f"{place} cannot be imported")
        translations = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(translations)
        for compiled in translations.compile_catalogues(root / PACKAGE / "locale"):
            build_data["artifacts"].append(compiled.relative_to(root).as_posix())
