"""ReplayWeb.page for the tests, which open WACZ files in it: `python -m tools.replaywebpage`.

It is a judge: AGPL-3.0-or-later, fetched from npm into the cache (`tools/cache.py`), and never part
of Nacre. Prints its folder; exits 1 when npm is missing or cannot reach its registry.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tools import cache

VERSION = "2.5.3"
SHA512 = "nCj2PSON3BxeSJKE8AsYPyULv0XPZKJWfy4l9PyQre9SqwLZ+WKZVs/sfLqPOQ4GrH+0YkjbwOhr8cSTH08gsQ=="
"""Digest of its package in base 64, as npm has it."""
FILES = ("index.html", "ui.js", "sw.js")
_SECONDS = 120


class NoReplayWebPageError(Exception):
    """It cannot be fetched; the message says why."""


def ensure() -> Path:
    """Fetch it unless it is there already; return its folder.

    Raises:
        NoReplayWebPageError: npm is missing, or cannot fetch it.
    """
    place = cache.folder("replaywebpage") / VERSION
    with cache.locked(place):
        if not all((place / name).is_file() for name in FILES):
            _fetch(place)
    return place


def _fetch(place: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NoReplayWebPageError("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", f"replaywebpage@{VERSION}", "--silent", "--fetch-retries=1"]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise NoReplayWebPageError(f"npm cannot fetch it: {error}") from error
        (package,) = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
        if digest != SHA512:
            raise NoReplayWebPageError(f"the package has the digest {digest}")
        place.mkdir(parents=True, exist_ok=True)
        with tarfile.open(package) as archive:
            for name in FILES:
                member = archive.extractfile(f"package/{name}")
                if member is None:
                    raise NoReplayWebPageError(f"the package has no {name}")
                (place / name).write_bytes(member.read())


def main() -> int:
    """Entry point."""
    try:
        print(ensure())
    except NoReplayWebPageError as error:
        sys.stderr.write(f"replaywebpage: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
