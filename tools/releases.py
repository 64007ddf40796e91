"""Two releases of one project's documentation by Sphinx: `python -m tools.releases`.

The site of the first is crawled, that of the second takes its place. Both are built from sdists,
in a separate environment (`sphinx` in the cache, see `tools/cache.py`), into `webs/webob-VERSION/`
there. What is there already is left as it is. Prints a folder for each; exits 1 when one cannot be
had.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

from tools import cache, debs, judges

PROJECT = "WebOb"
RELEASES = {
    "1.4.2": "466c4d5b66d3553d2fd040b0ac65b2ba57f4fb95cf561d8560d8914044510ef8",
    "1.8.7": "b64ef5141be559cfade448f044fa45c2260351edcb6a8ef6b7e00c7dcef0c323",
}
"""Versions, and the SHA-256 of their sdists."""
FIRST, SECOND = RELEASES
LOCK = "requirements-sphinx.lock"
_CHECKOUT = Path(__file__).parents[1]
_ENVIRONMENT = cache.folder("sphinx")
_STAMP = ".built"
_CONFIGURATION = """\
import sys

project, release, version = {project!r}, {version!r}, {version!r}
extensions = ["sphinx.ext.autodoc"]
source_suffix = {{".txt": "restructuredtext", ".rst": "restructuredtext"}}
exclude_patterns = ["_build", "*-code"]
language, html_theme = "en", "alabaster"
# A new release comes in new clothes.
html_theme_options = {{"page_width": {width!r}}}
pygments_style = {style!r}
sys.path.insert(0, {source!r})
"""
_CLOTHES = {FIRST: ("940px", "sphinx"), SECOND: ("960px", "default")}


class ReleaseError(Exception):
    """A release could not be fetched or built; the message says why."""


def ensure(version: str) -> Path:
    """Build a release unless it is there already, and give the folder of its pages."""
    place = debs.CACHE / f"{PROJECT.lower()}-{version}"
    with cache.locked(place):
        stamp = place / _STAMP
        if not stamp.is_file() or stamp.read_text() != wanted(version):
            _make(version, place)
    return place / "html"


def wanted(version: str) -> str:
    """What a built release must have been made from."""
    lock = hashlib.sha256((_CHECKOUT / LOCK).read_bytes()).hexdigest()
    return f"{RELEASES[version]} {lock}\n{_configuration(version)}"


def _configuration(version: str, source: str = "") -> str:
    width, style = _CLOTHES[version]
    return _CONFIGURATION.format(
        project=PROJECT, version=version, width=width, style=style, source=source
    )


def _make(version: str, place: Path) -> None:
    """Build beside the cache, then take the final name in one step."""
    python = environment()
    with tempfile.TemporaryDirectory(prefix=".release-", dir=debs.CACHE) as name:
        folder = Path(name)
        source = _fetch(python, version, folder)
        _run(
            [str(python), "-m", "sphinx", "-q", "-E", "-b", "html", "-c", str(folder),
             "-d", str(folder / "doctrees"), str(source / "docs"), str(folder / "made/html")],
            _configuration(version, str(source)), folder,
        )  # fmt: skip
        (folder / "made" / _STAMP).write_text(wanted(version))
        shutil.rmtree(place, ignore_errors=True)
        (folder / "made").rename(place)


def _fetch(python: Path, version: str, folder: Path) -> Path:
    """Return the unpacked sdist."""
    requirements = folder / "wanted.txt"
    requirements.write_text(f"{PROJECT}=={version} --hash=sha256:{RELEASES[version]}\n")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    chosen = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes"]
    _run([*pip, "download", *chosen, "--dest", str(folder), "-r", str(requirements)], "", folder)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        # Python before 3.11.4 has no filters; the hash above vouches for what is unpacked there.
        packed.extraction_filter = getattr(tarfile, "data_filter", _as_it_is)
        packed.extractall(folder)
    return folder / archive.name.removesuffix(".tar.gz")


def _as_it_is(member: tarfile.TarInfo, _: str) -> tarfile.TarInfo:
    return member


def _run(command: list[str], configuration: str, folder: Path) -> None:
    if configuration:
        (folder / "conf.py").write_text(configuration)
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode:
        last = process.stderr.strip().splitlines()[-1:] or [f"status {process.returncode}"]
        raise ReleaseError(f"{' '.join(command[1:4])} failed: {last[0]} (is there a network?)")


def environment() -> Path:
    """Make or refresh Sphinx's environment; its Python.

    Raises:
        ReleaseError: The packages could not be installed.
    """
    lock, stamp = _CHECKOUT / LOCK, _ENVIRONMENT / "nacre-sphinx"
    python = _ENVIRONMENT / "bin" / "python"
    with cache.locked(debs.CACHE / "sphinx"):
        expected = judges.fingerprint(lock, _ENVIRONMENT)
        if not stamp.is_file() or stamp.read_text() != expected:
            venv.create(_ENVIRONMENT, clear=True, with_pip=True)
            try:
                judges.install(python, lock)
            except subprocess.CalledProcessError as error:
                raise ReleaseError(
                    f"Sphinx cannot be installed: pip failed with status {error.returncode} "
                    "(is there a network?)"
                ) from error
            stamp.write_text(expected)
    return python


def main() -> int:
    """Entry point; 1 when a release could not be fetched."""
    try:
        for version in RELEASES:
            print(ensure(version))
    except ReleaseError as error:
        print(f"{error}; the test of two releases will be skipped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
