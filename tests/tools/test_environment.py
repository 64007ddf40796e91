"""First use of a fresh clone where something is missing: a clear line, exit 2, and no half state.

Each test runs the script on a checkout of its own, with a PATH that has only what a test wants.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = (
    "sh",
    "cat",
    "cksum",
    "tr",
    "grep",
    "tail",
    "rm",
    "mkdir",
    "chmod",
    "sleep",
    "flock",
    "id",
    "ls",
)

PYTHON = """#!/bin/sh
# What the script asks of a Python: its version, a venv, and of that pip and the crawler.
case "$*" in
    *sys.version_info*) exit {old} ;;
    *"import ensurepip"*) exit {bare} ;;
    --version) echo "Python {version}" ;;
    "-m venv "*)
        {venv}
        mkdir -p "$3/bin"; cat "$0" > "$3/bin/python"; chmod +x "$3/bin/python" ;;
    "-m pip --version") echo "pip 24" ;;
    "-m pip install"*) {install} ;;
    *sysconfig*) echo {site} ;;
    "-m compileall"*) mkdir "$7/__pycache__" ;;
    "-m nacre "*) shift 2; echo "nacre runs: $*" ;;
    *) echo "not expected: $*" >&2; exit 99 ;;
esac
"""


class Checkout:
    """A checkout with the script and a lock, and the PATH that it sees."""

    def __init__(self, root: Path) -> None:
        self.root = root / "checkout"
        self.bin = root / "bin"
        self.system = root / "system"
        self.site = root / "site"
        folders = (self.root / "tools", self.root / "src", self.bin, self.system, self.site)
        for folder in folders:
            folder.mkdir(parents=True)
        shutil.copy(ROOT / "nacre", self.root)
        shutil.copy(ROOT / "tools" / "environment.sh", self.root / "tools")
        (self.root / "requirements.lock").write_text("some==1.0\n")
        (self.root / "requirements-dev.lock").write_text("some==1.0\nmore==2.0\n")
        for package in ("migrate", "simweb"):
            (self.root / package).mkdir()
            (self.root / package / "pyproject.toml").write_text("[project]\n")
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (self.bin / tool).symlink_to(found)
        (self.bin / "dirname").symlink_to(shutil.which("dirname") or "")

    def python(
        self,
        name: str = "python3",
        *,
        old: int = 0,
        bare: int = 0,
        version: str = "3.11.2",
        venv: str = ":",
        install: str = "exit 0",
    ) -> None:
        """Put a Python on the PATH; with a slash in its name, among the distribution's."""
        python = self.system / name[1:] if name[0] == "/" else self.bin / name
        fields = {"old": old, "bare": bare, "version": version, "venv": venv}
        python.write_text(PYTHON.format(install=install, site=self.site, **fields))
        python.chmod(0o755)

    def start(self, *, user: int | None = None, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.root / "nacre"), "crawl", "http://a.test/"],
            env={"PATH": str(self.bin), "NACRE_SYSTEM_BIN": str(self.system), **env},
            user=user,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *, user: int | None = None, **env: str) -> tuple[int, str, str]:
        process = self.start(user=user, **env)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def develop(self) -> tuple[int, str]:
        """`make environment`: its status, and what it says."""
        done = subprocess.run(
            ["sh", str(self.root / "tools" / "environment.sh"), str(self.root), "dev"],
            env={"PATH": str(self.bin), "NACRE_SYSTEM_BIN": str(self.system)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    @property
    def environment(self) -> Path:
        return self.root / ".venv"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_no_python(checkout: Checkout):
    code, out, err = checkout.run()
    assert (code, out) == (2, "")
    assert err.startswith("nacre: Python 3.11 to 3.14 is needed")
    assert "apt-get install python3 python3-venv" in err
    assert err.count("\n") == 1


def test_a_python_that_is_too_old_is_named(checkout: Checkout):
    checkout.python(old=1, version="3.9.2")
    code, _, err = checkout.run()
    assert code == 2
    assert "3.11 to 3.14 is needed, and python3 is Python 3.9.2" in err
    assert not checkout.environment.exists()


@pytest.mark.parametrize("name", ["python3.12", "python3.13", "python3.14"])
def test_a_newer_python_beside_an_old_one_is_taken(checkout: Checkout, name: str):
    checkout.python(old=1, version="3.9.2")
    checkout.python(name, version="3.12.1")
    code, out, err = checkout.run()
    assert (code, out) == (0, "nacre runs: crawl http://a.test/\n"), err


def test_the_distributions_own_python_comes_first(checkout: Checkout):
    checkout.python("python3.11", version="3.11.7")
    checkout.python("/python3.12", version="3.12.3")
    code, _, err = checkout.run()
    assert code == 0, err
    assert "with Python 3.12.3" in err


@pytest.mark.parametrize(("old", "bare"), [(1, 0), (0, 1)])
def test_unless_it_is_too_old_or_makes_no_environments(checkout: Checkout, old: int, bare: int):
    checkout.python("python3.11", version="3.11.7")
    checkout.python("/python3", version="3.11.2", old=old, bare=bare)
    code, _, err = checkout.run()
    assert code == 0, err
    assert "with Python 3.11.7" in err


def test_no_venv_support(checkout: Checkout):
    text = "ensurepip is not available"
    checkout.python(bare=1, venv=f'mkdir -p "$3/bin"; echo "{text}"; exit 1')
    code, _, err = checkout.run()
    assert code == 2
    assert "apt-get install python3-venv" in err.splitlines()[-1]
    assert text in (checkout.root / ".environment.log").read_text()
    assert not checkout.environment.exists()


def test_no_network(checkout: Checkout):
    checkout.python(install='echo "ERROR: Could not find a version: no route" >&2; exit 1')
    code, _, err = checkout.run()
    assert code == 2
    assert "no route" in err
    assert "is there a network or a package index?" in err.splitlines()[-1]
    checkout.python()  # the network is there again
    shutil.rmtree(checkout.environment)  # the fake pip within is the one that failed
    assert checkout.run()[0] == 0


def test_it_is_made_once(checkout: Checkout):
    checkout.python()
    code, out, err = checkout.run()
    assert (code, out) == (0, "nacre runs: crawl http://a.test/\n")
    assert (checkout.root / "src" / "__pycache__").exists()  # later starts need not compile
    assert "first use" in err
    assert (checkout.site / "nacre-src.pth").read_text() == f"{checkout.root}/src\n"
    code, out, err = checkout.run()
    assert (code, out, err) == (0, "nacre runs: crawl http://a.test/\n", "")


def test_migrations_are_installed_from_the_checkout(checkout: Checkout, tmp_path: Path):
    log = tmp_path / "log"
    checkout.python(install=f'echo "$*" >> {log}')
    assert checkout.run()[0] == 0
    assert checkout.run()[2] == ""  # it is up to date
    locked, migrations = log.read_text().splitlines()
    assert locked.endswith(f"--require-hashes -r {checkout.root}/requirements.lock")
    assert migrations.endswith(
        f"--no-index --no-deps --no-build-isolation -e {checkout.root}/migrate"
    )
    (checkout.root / "migrate" / "pyproject.toml").write_text("[project]\nname = 'new'\n")
    code, _, err = checkout.run()
    assert (code, "out of date: refreshing it" in err) == (0, True)


def interrupt(checkout: Checkout, mark: Path) -> None:
    """Kill it and all it started, once it has come to the mark."""
    process = checkout.start()
    for _ in range(3000):
        if mark.exists():
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert mark.exists()


def test_interrupted_while_packages_come(checkout: Checkout, tmp_path: Path):
    mark = tmp_path / "mark"
    checkout.python(install=f"[ -e {mark} ] && exit 0; echo > {mark}; sleep 60")
    interrupt(checkout, mark)
    code, out, err = checkout.run()
    assert (code, out) == (0, "nacre runs: crawl http://a.test/\n")
    assert "the environment is ready" in err


def test_interrupted_while_the_environment_is_made(checkout: Checkout, tmp_path: Path):
    """Half an environment, whose pip does not run, is made anew."""
    mark = tmp_path / "mark"
    half = "#!/bin/sh\\nexit 1\\n"
    checkout.python(
        venv=f'if [ ! -e {mark} ]; then mkdir -p "$3/bin"; printf "{half}" > "$3/bin/python"; '
        f'chmod +x "$3/bin/python"; echo > {mark}; sleep 60; fi'
    )
    interrupt(checkout, mark)
    code, out, err = checkout.run()
    assert (code, out) == (0, "nacre runs: crawl http://a.test/\n")
    assert "first use" in err


def test_python_that_is_named_must_be_one(checkout: Checkout):
    checkout.python()
    checkout.python("python9", old=1)
    code, out, err = checkout.run(NACRE_PYTHON="python9")
    assert (code, out) == (2, "")
    assert err == "nacre: NACRE_PYTHON is python9, which is not a Python 3.11 to 3.14\n"


def test_an_environment_that_fails_for_another_reason_tells_it(checkout: Checkout):
    checkout.python(venv='echo "No space left on device"; exit 1')
    code, _, err = checkout.run()
    assert code == 2
    told = f"could not be made in {checkout.environment}: No space left on device"
    assert err.splitlines()[-1].endswith(told)
    assert "venv support" not in err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_who_may_not_write_to_the_checkout_is_told_so():
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        checkout = Checkout(Path(place))
        checkout.python()
        code, out, err = checkout.run(user=65534)
    assert (code, out) == (2, "")
    assert err.startswith("nacre: ")
    assert f"may not write to {checkout.root}" in err
    assert "run this once as root" in err
    assert err.count("\n") == 1


def test_developers_have_the_simulated_web_from_their_checkout(checkout: Checkout, tmp_path: Path):
    log = tmp_path / "log"
    checkout.python(install=f'echo "$*" >> {log}')
    assert checkout.develop()[0] == 0
    assert checkout.develop() == (0, "")  # it is up to date
    locked, migrations, simulated = log.read_text().splitlines()
    assert locked.endswith(f"--require-hashes -r {checkout.root}/requirements-dev.lock")
    for line, package in ((migrations, "migrate"), (simulated, "simweb")):
        assert line.endswith(
            f"--no-index --no-deps --no-build-isolation -e {checkout.root}/{package}"
        )
    (checkout.root / "simweb" / "pyproject.toml").write_text("[project]\nname = 'new'\n")
    code, err = checkout.develop()
    assert (code, "out of date: refreshing it" in err) == (0, True)
    assert len(log.read_text().splitlines()) == 6


@pytest.mark.parametrize("package", ["migrate", "simweb"])
def test_a_package_that_cannot_be_installed_leaves_no_finished_environment(
    checkout: Checkout, package: str
):
    checkout.python(install=f'case "$*" in *" -e "*/{package}) echo "no backend"; exit 1 ;; esac')
    code, err = checkout.develop()
    assert code == 2
    named = f"the package in {checkout.root}/{package} could not be installed"
    assert f"no backend\nnacre: {named}" in err
    assert "refreshing it" in checkout.develop()[1]
