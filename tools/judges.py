"""Make or refresh `.venv-judges`: pywb, cdxj-indexer, warcio, fastwarc and wacz, run as commands.

They pin old versions, so they never share an environment with the crawler.
Usage: `python -m tools.judges [CHECKOUT]`; prints nothing when all is in place.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

from tools import cache

LOCK = "requirements-judges.lock"
NO_WHEELS = "py3amf,surt"  # pure Python, published as source alone


def fingerprint(lock: Path, environment: Path) -> str:
    """What an environment must have been made from: the lock, the place, the Python."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    return f"{digest} {environment} {sys.version_info[0]}.{sys.version_info[1]}\n"


def prepare(checkout: Path, lock_name: str = LOCK, folder: str = ".venv-judges") -> Path:
    """Make or refresh an environment of a lock; return the folder of its commands.

    Args:
        checkout: The checkout, which has the lock and gets the environment.
        lock_name: The lock, in the checkout. The documentation site has a separate lock.
        folder: The folder of the environment, in the checkout.

    Raises:
        subprocess.CalledProcessError: The packages could not be installed.
    """
    lock = checkout / lock_name
    environment = checkout / folder
    commands = environment / "bin"
    stamp = environment / "nacre-judges"
    expected = fingerprint(lock, environment)
    with (checkout / ".environment.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # two uses at once: the second waits for the first
        if stamp.exists() and stamp.read_text() == expected:
            return commands
        sys.stderr.write(f"making the environment in {environment} ...\n")
        venv.create(environment, clear=True, with_pip=True)
        install(commands / "python", lock)
        stamp.write_text(expected)
    return commands


def install(python: Path, lock: Path) -> None:
    """Install exactly what the lock names: wheels, and source where a package has no wheel."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    chosen = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-binary", NO_WHEELS]
    chosen += ["--no-compile"]  # much of it is never imported
    command = [*pip, "install", *chosen, "--requirement", str(lock)]
    # Wheels that are built are kept there; without it they are built again.
    env = {**os.environ, "PIP_CACHE_DIR": str(cache.folder("pip"))}
    subprocess.run(command, check=True, env=env)


def main() -> int:
    """Entry point; 2 when the packages could not be installed."""
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    try:
        prepare(checkout.resolve())
    except subprocess.CalledProcessError as error:
        sys.stderr.write(
            f"judges: pip failed with status {error.returncode}: is there a network?\n"
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
