"""Documentation of Debian packages as test material: `python -m tools.debs PACKAGE...`.

Fetches each package by apt and unpacks it into `webs/PACKAGE/` of the cache (`tools/cache.py`),
without installing it. A package already there is left as it is. Several may run at once. Prints one
folder per package; exits 1 when one could not be fetched.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools import cache

CACHE = cache.folder("webs")


class PackageError(Exception):
    """A package could not be fetched or unpacked; the message says why."""


def folder(package: str) -> Path:
    """Where a package is, or would be, unpacked."""
    return CACHE / package


def version(package: str) -> str:
    """Version of the unpacked package, as dpkg writes it; "" when it is not there."""
    note = folder(package) / ".version"
    return note.read_text().strip() if note.is_file() else ""


def ensure(package: str) -> Path:
    """Unpack a package unless it is there already, and give its folder."""
    if version(package):
        return folder(package)
    with cache.locked(folder(package)):
        if not version(package):
            _unpack(_download(package), package)
    return folder(package)


def _run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def _download(package: str) -> Path:
    """Download a .deb into a new folder of the cache; refresh the package lists once if root."""
    place = Path(tempfile.mkdtemp(prefix=f".{package}-", dir=CACHE))
    result = _run(["apt-get", "download", "-q", package], place)
    if result.returncode and os.geteuid() == 0:
        with cache.locked(CACHE / "apt-lists"):
            _run(["apt-get", "update", "-q"], place)
        result = _run(["apt-get", "download", "-q", package], place)
    packages = list(place.glob("*.deb"))
    if result.returncode or not packages:
        shutil.rmtree(place)
        raise PackageError(f"apt-get download {package}: {result.stderr.strip()}")
    return packages[0]


def _unpack(deb: Path, package: str) -> None:
    """Unpack beside the cache, note the version, then take the final name in one step."""
    place = deb.parent
    tree = place / "tree"
    try:
        result = _run(["dpkg", "-x", deb.name, "tree"], place)
        if result.returncode:
            raise PackageError(f"dpkg -x {deb.name}: {result.stderr.strip()}")
        number = _run(["dpkg-deb", "-f", deb.name, "Version"], place).stdout
        (tree / ".version").write_text(number)
        shutil.rmtree(folder(package), ignore_errors=True)
        tree.rename(folder(package))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def main(packages: Sequence[str]) -> int:
    """Fetch all, say where they are; 1 when one failed."""
    failed = False
    for package in packages:
        try:
            print(ensure(package), version(package))
        except PackageError as error:
            print(error, file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
