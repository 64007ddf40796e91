"""Python 3.11 to 3.14: what the project says, what its set-up takes, and wheels for all of them."""

import json
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-judges.lock"]
LOCKS += ["requirements-sphinx.lock", "requirements-docs.lock", "requirements-signatures.lock"]
OWN_LOCKS = {"spark": "requirements-spark.lock"}
"""Extras that the developers' environment leaves out."""
NO_WHEELS = {"py3amf", "surt"}
"""What the judges need and is published as source alone."""


def project(folder: str = "") -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())


def pinned(lock: str, python: str) -> list[tuple[str, list[str]]]:
    """What a lock installs with a Python: each requirement with its hashes."""
    environment = {**default_environment(), "python_version": python}
    environment["python_full_version"] = f"{python}.0"
    found = []
    for text in (ROOT / lock).read_text().replace("\\\n", " ").splitlines():
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        words = text.split("#")[0].split("--hash=")
        requirement = Requirement(words[0].strip())
        marker = requirement.marker
        if marker is None or Marker(str(marker)).evaluate(environment):  # type: ignore[arg-type]  # texts all
            found.append((f"{requirement.name}{requirement.specifier}", words[1:]))
    return found


def pip(lines: list[str], python: str, place: Path) -> subprocess.CompletedProcess[str]:
    """What pip would install of it, with wheels only, on a Linux of today; nothing is installed."""
    named = place / "wanted.txt"
    named.write_text("\n".join(lines) + "\n")
    tags = ["--python-version", python, "--implementation", "cp"]
    tags += ["--abi", f"cp{python.replace('.', '')}", "--abi", "abi3", "--abi", "none"]
    for platform in ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "any"):
        tags += ["--platform", platform]
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--dry-run", "--ignore-installed", "--no-deps", "--require-hashes", "--quiet"]
    # pip compares that with the Python it runs on; the test reads it in the report.
    command += ["--ignore-requires-python", "--report", "-"]
    command += ["--only-binary", ":all:", "--target", str(place / "none"), "-r", str(named)]
    return subprocess.run([*command, *tags], capture_output=True, text=True, check=False)


@cache
def index_is_there() -> bool:
    """Whether a package index answers at all: for a small package that is no question."""
    command = [sys.executable, "-m", "pip", "index", "versions", "typing-extensions"]
    options = ["--disable-pip-version-check", "--retries", "0", "--timeout", "5"]
    return subprocess.run([*command, *options], capture_output=True, check=False).returncode == 0


def test_the_project_says_which_pythons_it_takes():
    said = project()["project"]
    assert said["requires-python"] == ">=3.11,<3.15"
    named = [c.rpartition(" ")[2] for c in said["classifiers"] if "Python :: 3." in c]
    assert named == VERSIONS


@pytest.mark.parametrize("version", [*VERSIONS, "3.10", "3.15"])
def test_the_set_up_takes_the_same(tmp_path: Path, version: str):
    """The question that the script asks of a Python, put to one that says it is another."""
    script = (ROOT / "tools" / "environment.sh").read_text()
    question = script.partition('"$1" -c \'')[2].partition("'")[0]
    assert "sys.version_info" in question
    major, minor = map(int, version.split("."))
    lines = question.replace("import sys; ", "").replace(
        "sys.version_info[:2]", f"({major}, {minor})"
    )
    done = subprocess.run([sys.executable, "-c", f"import sys; {lines}"], check=False)
    assert (done.returncode == 0) == (version in VERSIONS)


def test_the_extras_are_locked_too():
    beside = {"nacre-migrate"}  # it is in this repository
    for where in ("", "migrate", "simweb"):
        for extra, needs in project(where)["project"].get("optional-dependencies", {}).items():
            lock = OWN_LOCKS.get(extra, "requirements-dev.lock")
            locked = {Requirement(text).name for text, _ in pinned(lock, "3.14")}
            assert {Requirement(need).name for need in needs} <= locked | beside, extra


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_lock_leaves_nothing_out(lock: str, version: str):
    """Each package is there once, with hashes, whatever the markers say of this Python."""
    names = [Requirement(text).name for text, _ in pinned(lock, version)]
    assert len(names) == len(set(names)) > 5
    assert all(hashes for _, hashes in pinned(lock, version))


def test_no_lock_names_the_place_of_packages():
    locks = sorted(ROOT.glob("requirements*.lock"))
    assert len(locks) > len(LOCKS)
    named = [lock.name for lock in locks if "://" in lock.read_text()]
    assert named == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_names_the_extras_that_are_asked_for(lock: str):
    """pip 23, which Debian 12 has, takes the newest version of an extra that a lock leaves out.

    With hashes that is an error as soon as there is a newer version than the lock's.
    """
    lines = (ROOT / lock).read_text().splitlines()
    pins = [Requirement(line.partition(";")[0].rstrip(" \\")) for line in lines if "==" in line]
    extras = {canonicalize_name(pin.name): pin.extras for pin in pins}
    asked = 0
    for name, taken in extras.items():
        try:
            wishes = map(Requirement, metadata.requires(name) or ())
        except metadata.PackageNotFoundError:  # not for this system
            continue
        of_extras = [{"extra": extra} for extra in ("", *taken)]
        for wish in wishes:
            marker = wish.marker
            if wish.extras and (marker is None or any(map(marker.evaluate, of_extras))):
                asked += 1
                assert wish.extras <= extras[canonicalize_name(wish.name)], (name, wish)
    own = [Requirement(text) for text in project()["project"]["dependencies"]]
    for wish in own:
        asked += bool(wish.extras)
        assert wish.extras <= extras[canonicalize_name(wish.name)], wish
    assert asked


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("lock", LOCKS)
def test_all_locks_have_wheels_for_3_14(tmp_path: Path, lock: str):
    if not index_is_there():
        pytest.skip("no package index can be reached")
    lines = [
        f"{text} " + " ".join(f"--hash={each.strip()}" for each in hashes)
        for text, hashes in pinned(lock, "3.14")
        if Requirement(text).name not in NO_WHEELS
    ]
    done = pip(lines, "3.14", tmp_path)
    assert done.returncode == 0, done.stderr
    found = [each["metadata"] for each in json.loads(done.stdout)["install"]]
    assert len(found) == len(lines)
    refused = [
        each["name"]
        for each in found
        if not SpecifierSet(each.get("requires_python", "")).contains("3.14.0")
    ]
    assert refused == []


# ---- the tests with other Pythons

FAKE = """#!/bin/sh
case "$*" in
    *"%d.%d"*) echo {version} ;;
    "-m pytest"*) echo "tests with {version}: $*"; exit {status} ;;
    *) exit 1 ;;
esac
"""


class Machine:
    """A checkout with an environment of 3.11, and a PATH with other Pythons."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin = root / "checkout", root / "bin"
        for folder in (self.root / "tools", self.bin):
            folder.mkdir(parents=True)
        self.python(self.root / ".venv" / "bin" / "python", "3.11")
        shutil.copy(ROOT / "tools" / "pythons.sh", self.root / "tools")
        # An environment is a copy of the Python that it is made with.
        (self.root / "tools" / "environment.sh").write_text(
            'mkdir -p "$1/$NACRE_VENV/bin"\n'
            'cp "$(command -v "$NACRE_PYTHON")" "$1/$NACRE_VENV/bin/python"\n'
        )
        for tool in ("sh", "mkdir", "cp"):
            (self.bin / tool).symlink_to(shutil.which(tool) or "")

    def python(self, path: Path, version: str, status: int = 0) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FAKE.format(version=version, status=status))
        path.chmod(0o755)

    def run(self, named: str = "") -> tuple[int, list[str], str]:
        env = {"PATH": str(self.bin)} | ({"NACRE_PYTHON": named} if named else {})
        done = subprocess.run(
            ["sh", str(self.root / "tools" / "pythons.sh"), str(self.root), "-q"],
            env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_others_one_line_says_that_3_14_is_missing(machine: Machine):
    (machine.bin / "python3.13").write_text("#!/bin/sh\nexit 127\n")
    (machine.bin / "python3.13").chmod(0o755)
    code, out, err = machine.run()
    assert (code, out, err.count("\n")) == (0, [], 1)
    assert err.startswith("nacre: no Python 3.14 here")


def test_3_13_and_3_14_run_the_tests_where_they_are_found(machine: Machine):
    for version in ("3.13", "3.14"):
        machine.python(machine.bin / f"python{version}", version)
    code, out, err = machine.run()
    assert (code, out) == (0, [f"tests with {v}: -m pytest -q" for v in ("3.13", "3.14")])
    assert "no Python 3.14" not in err
    assert (machine.root / ".venv-3.14" / "bin" / "python").exists()


def test_so_does_the_one_that_is_named_and_each_version_once(machine: Machine):
    machine.python(machine.bin / "python3.13", "3.13")
    machine.python(machine.bin / "mine", "3.12")
    assert machine.run("mine")[1] == [f"tests with {v}: -m pytest -q" for v in ("3.12", "3.13")]
    machine.python(machine.bin / "mine", "3.13")
    assert len(machine.run("mine")[1]) == 1
    machine.python(machine.bin / "mine", "3.11")
    assert machine.run("mine")[1] == ["tests with 3.13: -m pytest -q"]
    machine.python(machine.bin / "mine", "3.10")
    code, out, err = machine.run("mine")
    assert (code, out) == (2, [])
    assert err == "nacre: NACRE_PYTHON is mine, which is not a Python 3.11 to 3.14\n"


def test_what_fails_with_another_python_fails(machine: Machine):
    machine.python(machine.bin / "python3.13", "3.13", status=1)
    assert machine.run()[0] == 1
