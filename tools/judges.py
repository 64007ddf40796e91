"""Make or refresh `.venv-judges`: pywb, cdxj-indexer, warcio and fastwarc, run as commands.

They pin old versions, so they never share an environment with the crawler.
Usage: `python tools/judges.py [CHECKOUT]`; prints nothing when all is in place.
"""

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

LOCK = "requirements-judges.lock"
NO_WHEELS = "py3amf,surt"  # pure Python, published as source alone


def fingerprint(lock: Path) -> str:
    """What the environment must have been made from: the lock, the place, the Python."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    return f"{digest} {lock.parent} {sys.version_info[0]}.{sys.version_info[1]}\n"


def prepare(checkout: Path) -> Path:
    """Make or refresh the environment; return the folder of its commands.

    Raises:
        subprocess.CalledProcessError: The packages could not be installed.
    """
    lock = checkout / LOCK
    environment = checkout / ".venv-judges"
    commands = environment / "bin"
    stamp = environment / "nacre-judges"
    wanted = fingerprint(lock)
    if stamp.exists() and stamp.read_text() == wanted:
        return commands
    sys.stderr.write(f"making the judges' environment in {environment} ...\n")
    venv.create(environment, clear=True, with_pip=True)
    install(commands / "python", lock)
    stamp.write_text(wanted)
    return commands


def install(python: Path, lock: Path) -> None:
    """Install exactly what the lock names: wheels, and source where a package has no wheel."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    chosen = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-binary", NO_WHEELS]
    subprocess.run([*pip, "install", *chosen, "--requirement", str(lock)], check=True)


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
