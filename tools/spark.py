"""Make or refresh `.venv-spark`: pyspark beside what `.venv` has, for `make spark`.

pyspark comes as source, 460 MB of it. Its wheel is built once and kept in the cache, by the hash of
the lock; without a cache it is built again. It needs Java 17 or 21 (`tools/system.sh`).
Usage: `python -m tools.spark [CHECKOUT]`; prints nothing when all is in place.
"""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tools import cache

LOCK = "requirements-spark.lock"
SOURCES = "pyspark"  # published as source only
TOOLS = ("packaging", "setuptools", "wheel")  # their build tools
JAVA = "apt-get install openjdk-17-jre-headless"


def fingerprint(lock: Path, environment: Path) -> str:
    """What an environment must have been made from: the lock, the place, the Python."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    return f"{digest} {environment} {sys.version_info[0]}.{sys.version_info[1]}\n"


def prepare(checkout: Path) -> Path:
    """Make or refresh the environment; return its Python.

    Raises:
        subprocess.CalledProcessError: The packages could not be had.
    """
    lock = checkout / LOCK
    environment = checkout / ".venv-spark"
    python = environment / "bin" / "python"
    stamp = environment / "nacre-spark"
    expected = fingerprint(lock, environment)
    with (checkout / ".spark.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # two uses at once: the second waits for the first
        if stamp.exists() and stamp.read_text() == expected:
            return python
        sys.stderr.write(f"making the environment of Spark in {environment} ...\n")
        venv.create(environment, clear=True, with_pip=True)
        install(python, lock, wheels(python, lock))
        share(environment)
        stamp.write_text(expected)
    return python


def wheels(python: Path, lock: Path) -> Path:
    """Return the folder with the wheels of the lock; they are built when it is not there."""
    folder = cache.folder(f"spark/{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}")
    with cache.locked(folder):  # two checkouts at once: the second takes what the first has built
        if not folder.is_dir():
            _build(python, lock, folder)
    return folder


def _build(python: Path, lock: Path, folder: Path) -> None:
    """Build the wheels beside their folder, which then takes its name in one step."""
    sys.stderr.write("building the wheel of pyspark from its source, some minutes ...\n")
    with tempfile.TemporaryDirectory() as scratch:
        tools = Path(scratch, "tools")
        tools.write_text("".join(entries(lock, TOOLS)))
        pip(python, "install", "--require-hashes", "--no-deps", "--requirement", str(tools))
        building = folder.with_name(f"{folder.name}.{os.getpid()}")
        chosen = ["--require-hashes", "--no-deps", "--no-build-isolation", "--no-binary", SOURCES]
        pip(python, "wheel", *chosen, "--wheel-dir", str(building), "--requirement", str(lock))
    building.rename(folder)


def entries(lock: Path, names: tuple[str, ...]) -> list[str]:
    """Return the entries of a lock for some packages, with their hashes."""
    parts = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)
    return [entry for entry in parts if entry.partition("==")[0] in names]


def install(python: Path, lock: Path, folder: Path) -> None:
    """Install the wheels. The hashes of the lock are of the sources, and were compared before."""
    names = [line.partition(" ")[0] for line in lock.read_text().splitlines() if "==" in line]
    pip(python, "install", "--no-index", "--no-deps", "--find-links", str(folder), *names)


def pip(python: Path, *arguments: str) -> None:
    """Run pip."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    env = {**os.environ, "PIP_CACHE_DIR": str(cache.folder("pip"))}
    subprocess.run([*command, *arguments], check=True, env=env)


def share(environment: Path) -> None:
    """Let it import what this Python's environment has, with its `.pth` files."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    mine = Path(sys.prefix) / "lib" / version / "site-packages"
    target = environment / "lib" / version / "site-packages" / "nacre-shared.pth"
    target.write_text(f"import site; site.addsitedir({str(mine)!r})\n")


def java() -> str:
    """Return the command of Java; "" when there is none."""
    home = os.environ.get("JAVA_HOME", "")
    for path in ([f"{home}/bin"] if home else []) + os.environ.get("PATH", "").split(":"):
        if Path(path, "java").is_file():
            return str(Path(path, "java"))
    return ""


def main() -> int:
    """Entry point; 2 when the packages could not be installed, 3 without Java."""
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    if not java():
        sys.stderr.write(f"Spark needs Java 17 or 21, and there is none: {JAVA}\n")
        return 3
    try:
        prepare(checkout.resolve())
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"spark: pip failed with status {error.returncode}: is there a network?\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
