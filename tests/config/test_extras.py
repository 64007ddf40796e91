import json
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from nacre.config.extras import EXTRAS, MissingExtraError, install_command, wanting


def test_what_is_missing_is_installed_where_nacre_runs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/my env/bin/python")
    assert wanting("Parquet needs", "pyarrow") == (
        "Parquet needs pyarrow: '/my env/bin/python' -m pip install pyarrow"
    )


def test_an_extra_comes_from_its_lock_in_a_clone():
    root = Path(__file__).parents[2]
    for extra in EXTRAS:
        lock = root / f"requirements-{extra}.lock"
        assert str(MissingExtraError("nacre cycle needs", extra)) == (
            f"nacre cycle needs the extra `{extra}` ({EXTRAS[extra]}): "
            f"{shlex.quote(sys.executable)} -m pip install --require-hashes -r {lock}"
            "; with --yes this command does it"
        )
        names = {line.partition("==")[0] for line in lock.read_text().splitlines() if "==" in line}
        assert set(EXTRAS[extra].split()) <= names


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for extra, libraries in EXTRAS.items():
        wanted = [re.split(r"[<>=]", one)[0] for one in project["optional-dependencies"][extra]]
        assert wanted == libraries.split()


def test_without_a_lock_pip_brings_the_libraries(monkeypatch, tmp_path):
    monkeypatch.setattr("nacre.config.extras._CLONE", tmp_path)
    assert install_command("cycle").endswith("-m pip install duckdb numpy pyarrow")


class Package:
    """The metadata of an installed package."""

    def __init__(self, record: str | None) -> None:
        self.record = record

    def read_text(self, name: str) -> str | None:
        return self.record if name == "direct_url.json" else None


def test_a_package_beside_nacre_is_installed_from_the_same_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("nacre.config.extras._CLONE", tmp_path / "lib")
    source = tmp_path / "a checkout"
    record = {"dir_info": {}, "url": source.as_uri()}
    package = Package(json.dumps(record))
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: package)
    by_name = "-m pip install 'nacre[migrate]'"
    assert install_command("migrate").endswith(by_name)  # the checkout is gone
    (source / "migrate").mkdir(parents=True)
    assert install_command("migrate").endswith(f"-m pip install '{source}/migrate/'")
    for text in (None, "", "{", '{"url": "https://a.test/nacre.whl"}'):
        package.record = text
        assert install_command("migrate").endswith(by_name)
