"""Migrations are a package of their own: the wheels of both, installed together and alone."""

import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nacre.config.extension import load_part
from nacre_migrate.component import MIGRATE

pytestmark = pytest.mark.timeout(300)  # it builds two wheels and starts several interpreters
ROOT = Path(__file__).parents[2]
HOME = ROOT / "migrate" / "src"
SITE = """<configuration>
<property><name>http.agent.url</name><value>http://a.test/</value></property>
</configuration>
"""


def project(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return found


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both wheels, as `pip wheel` makes them, without a network."""
    folder = tmp_path_factory.mktemp("wheels")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    for source in (ROOT, ROOT / "migrate"):
        subprocess.run(build, cwd=source, check=True, capture_output=True)
    return folder


class Environment(NamedTuple):
    """A fresh environment with the libraries of Nacre, but not Nacre."""

    root: Path

    @property
    def python(self) -> str:
        return str(self.root / "bin" / "python")

    def install(self, wheels: Path, what: str) -> None:
        """With the dependencies, which must be there or be wheels of the folder."""
        pip = (sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet")
        only = ("--no-index", "--find-links", str(wheels), "--no-compile")
        subprocess.run((*pip, *only, "--disable-pip-version-check", what), check=True)

    def nacre(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (self.python, "-m", "nacre", *map(str, words)),
            env={"PYTHONUTF8": "1"}, cwd=self.root, capture_output=True, text=True, check=False,
        )  # fmt: skip


def environment(folder: Path) -> Environment:
    """The libraries are links to those of this environment, so that pip finds them installed."""
    made = Environment(folder / "environment")
    venv.create(made.root)
    (site,) = made.root.glob("lib/python*/site-packages")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "nacre" not in path.name and path.suffix != ".pth":
            (site / path.name).symlink_to(path)
    return made


@pytest.mark.slow
def test_alone_nacre_says_what_to_install_and_then_migrates(wheels: Path, tmp_path: Path):
    made = environment(tmp_path)
    made.install(wheels, "nacre")
    require_alone(made, tmp_path)
    made.install(wheels, "nacre[migrate]")
    require_both(made, tmp_path)
    with zipfile.ZipFile(next(wheels.glob("nacre-*.whl"))) as wheel:
        assert [name for name in wheel.namelist() if "migrate" in name] == []


def require_alone(made: Environment, folder: Path) -> None:
    """Each command of the other package names what installs it."""
    assert "migrate" in made.nacre("--help").stdout
    for words in (("migrate", "--help"), ("migrate", "nutch", folder, "--out", folder / "job"),
                  ("console", "--heritrix", "0", "--state", folder / "state")):  # fmt: skip
        done = made.nacre(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith("bin/python -m pip install 'nacre[migrate]'\n")


def require_both(made: Environment, folder: Path) -> None:
    """A migration makes a job that Nacre accepts; the console has the port of Heritrix."""
    usage = made.nacre("migrate", "--help")
    assert (usage.returncode, usage.stderr) == (0, "")
    assert "heritrix" in usage.stdout
    conf, seeds = folder / "nutch-site.xml", folder / "seeds.txt"
    conf.write_text(SITE)
    seeds.write_text("http://b.test/\n")
    words = ("--out", folder / "job", "--seeds", seeds)
    done = made.nacre("migrate", "nutch", folder, *words)
    assert done.returncode == 0, done.stderr
    assert "1 property: 1 mapped" in done.stdout
    assert made.nacre("check", folder / "job").returncode == 0
    at = made.nacre("console", "check", "--heritrix", 8443, "--state", folder / "state")
    assert "heritrix https://localhost:8443/engine" in at.stdout, at.stderr


def test_its_wheel_has_the_modules_and_tables(wheels: Path):
    with zipfile.ZipFile(next(wheels.glob("nacre_migrate-*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = {path for path in HOME.rglob("*") if path.suffix in {".py", ".toml"}}
    assert names == {str(path.relative_to(HOME)) for path in files}
    assert len(files) > 50


def test_all_its_parts_can_be_loaded():
    places = (
        *MIGRATE.commands.values(), *MIGRATE.reader_tasks.values(),
        MIGRATE.console_port, MIGRATE.editing_help,
    )  # fmt: skip
    assert len(places) == 7
    for place in places:
        assert load_part("migrate", place) is not None


@pytest.mark.parametrize("field", ["version", "requires-python", "license"])
def test_both_agree(field: str):
    ours, theirs = project(ROOT), project(ROOT / "migrate")
    assert ours[field] == theirs[field]
    assert f"nacre=={ours['version']}" in theirs["dependencies"]
    assert f"nacre-migrate=={ours['version']}" in ours["optional-dependencies"]["migrate"]
