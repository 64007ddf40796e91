"""Pages that need a browser, and pages that do not: as packages of npm, PyPI and Debian ship them.

An application is served as its own program serves it: files of its package, and its `index.html`
for each of its routes. Documentation is served as files. Packages are fetched into the cache
(`tools/cache.py`). Those that are held out were not looked at while the signs were written.
"""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from random import Random
from typing import NamedTuple

from tools import cache, debs

_SECONDS = 300


class PackageMissingError(Exception):
    """A package cannot be fetched; the message says why."""


class Application(NamedTuple):
    """An application of which all content comes from scripts.

    Attributes:
        package: `npm:NAME@VERSION` or `pypi:NAME==VERSION`.
        folder: Folder in the package that is served.
        routes: Its pages, as its users see them.
        is_held_out: Whether it was not looked at while the signs were written.
        page: HTML of its page if the package has none, as its documentation writes it; "" for its
            own.
    """

    package: str
    folder: str
    routes: tuple[str, ...]
    is_held_out: bool = False
    page: str = ""


class Documentation(NamedTuple):
    """A package of pages that are whole without a script.

    Attributes:
        package: A Debian package, or `npm:NAME@VERSION`.
        folder: Folder that is served.
        is_held_out: Whether it was not looked at while the signs were written.
    """

    package: str
    folder: str
    is_held_out: bool = False


def _hashless(*routes: str) -> tuple[str, ...]:
    return ("/", *routes)


_REDOC = """<!DOCTYPE html>
<html><head><title>Redoc</title><meta charset="utf-8"/></head>
<body><redoc spec-url='openapi.json'></redoc>
<script src="bundles/redoc.standalone.js"></script></body></html>
"""

_PREFECT = _hashless(
    "/dashboard",
    "/runs",
    "/flows",
    "/deployments",
    "/work-pools",
    "/blocks",
    "/variables",
    "/automations",
    "/events",
    "/settings",
)
APPLICATIONS = (
    Application(
        "npm:swagger-ui-dist@5.35.0",
        "package",
        tuple(f"/index.html?url=/api/{number}.json" for number in range(12)),
    ),
    Application(
        "npm:docsify@5.0.0",
        "package",
        ("/", "/zh-cn/", "/book/", "/handbook/"),
        page="""\
<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><title>Document</title></head>
<body><div id="app"></div><script>window.$docsify = {name: '', repo: ''}</script>
<script src="/dist/docsify.min.js"></script></body></html>
""",
    ),
    Application("npm:rapidoc@9.3.8", "package", ("/index.html", "/index-hashroute.html")),
    Application(
        "pypi:streamlit==1.67.0",
        "streamlit/static",
        _hashless("/Dashboard", "/Map", "/Plots", "/Settings", "/About", "/Uploads", "/Chat"),
    ),
    Application("pypi:mlflow==3.18.0", "mlflow/server/js/build", ("/", "/index.html")),
    Application(
        "pypi:marimo==0.25.2",
        "marimo/_static",
        tuple(f"/?file=notebook{number}.py" for number in range(6)),
    ),
    Application(
        "pypi:jupyterlite-core==0.8.6",
        "package",
        (
            "/lab/index.html",
            "/repl/index.html",
            "/tree/index.html",
            "/notebooks/index.html",
            "/edit/index.html",
            "/consoles/index.html",
        ),
    ),
    Application(
        "pypi:prefect==3.9.1",
        "prefect/server/ui",
        _PREFECT,
    ),
    Application(
        "pypi:chainlit==2.12.0",
        "chainlit/frontend/dist",
        _hashless("/login", "/thread/1", "/thread/2", "/share/1", "/element/1", "/env"),
        is_held_out=True,
    ),
    Application(
        "pypi:dagster-webserver==1.13.28",
        "dagster_webserver/webapp/build",
        _hashless(
            "/overview",
            "/runs",
            "/assets",
            "/locations",
            "/automation",
            "/deployment/daemons",
            "/jobs",
            "/asset-groups",
        ),
        is_held_out=True,
    ),
    Application(
        "pypi:gradio==6.31.0",
        "gradio/templates/frontend",
        _hashless("/share.html", "/second_page"),
        is_held_out=True,
    ),
    Application("pypi:locust==2.47.0", "locust/webui/dist", ("/", "/auth.html"), is_held_out=True),
    Application(
        "pypi:optuna-dashboard==0.21.0",
        "optuna_dashboard",
        _hashless(
            "/dashboard/studies/1",
            "/dashboard/studies/2/trials",
            "/dashboard/studies/1/note",
            "/dashboard/compare-studies",
            "/dashboard/studies/1/analytics",
            "/dashboard/studies/3",
        ),
        is_held_out=True,
    ),
    Application(
        "pypi:mitmproxy==11.0.2",
        "mitmproxy/tools/web",
        ("/templates/index.html",),
        is_held_out=True,
    ),
    Application(
        "npm:altair-static@8.5.9", "package/build/dist", ("/", "/graphql"), is_held_out=True
    ),
    Application("npm:docute@4.23.3", "package/dist", ("/", "/guide/", "/zh/"), is_held_out=True),
    Application(
        "npm:redoc@2.5.4",
        "package",
        ("/", "/v1/", "/v2/", "/admin/"),
        is_held_out=True,
        page=_REDOC,
    ),
    Application(
        "pypi:prefect==3.9.1",
        "prefect/server/ui-v2",
        _PREFECT,
        is_held_out=True,
    ),
)

DOCUMENTATION = (
    Documentation("openjdk-17-doc", "usr/share/doc/openjdk-17-doc/api"),
    Documentation("libreoffice-help-zh-cn", "usr/share/libreoffice/help"),
    Documentation("python3.11-doc", "usr/share/doc/python3.11/html"),
    Documentation("python-django-doc", "usr/share/doc/python-django-doc/html"),
    Documentation("sqlite3-doc", "usr/share/doc/sqlite3"),
    Documentation("git-doc", "usr/share/doc/git-doc"),
    Documentation("developers-reference", "usr/share/developers-reference"),
    Documentation("debian-policy", "usr/share/doc/debian-policy"),
    Documentation("cppreference-doc-en-html", "usr/share/cppreference/doc/html"),
    Documentation("apache2-doc", "usr/share/doc/apache2-doc/manual"),
    Documentation("lilypond-doc-html", "usr/share/doc/lilypond/html"),
    Documentation("gap-doc", "usr/share/gap/doc"),
    Documentation("nodejs-doc", "usr/share/doc/nodejs/api"),
    Documentation("debian-faq-zh-cn", "usr/share/doc/debian/FAQ"),
    Documentation("rust-doc", "usr/share/doc/rust-doc/html", is_held_out=True),
    Documentation("scala-doc", "usr/share/doc/scala-2.11", is_held_out=True),
    Documentation("mkdocs-doc", "usr/share/doc", is_held_out=True),
    Documentation("mkdocs-literate-nav-doc", "usr/share/doc", is_held_out=True),
    Documentation("libjs-bootstrap5-doc", "usr/share/doc", is_held_out=True),
    Documentation("libgtk-4-doc", "usr/share/doc", is_held_out=True),
    Documentation("sphinx-doc", "usr/share/doc", is_held_out=True),
    Documentation("libglib2.0-doc", "usr/share/gtk-doc/html", is_held_out=True),
    Documentation("python-tornado-doc", "usr/share/doc", is_held_out=True),
    Documentation("python-pandas-doc", "usr/share/doc", is_held_out=True),
    Documentation("npm:victory-docs@3.1.0", "package", is_held_out=True),
)


def ensure(package: str) -> Path:
    """Fetch and unpack a package, unless it is in the cache; return its folder.

    Raises:
        PackageMissingError: It cannot be fetched.
    """
    source, _, spec = package.rpartition(":")
    if not source:
        try:
            return debs.ensure(package)
        except debs.PackageError as error:
            raise PackageMissingError(str(error)) from error
    place = cache.folder("applications") / spec.replace("/", "+")
    with cache.locked(place):
        if not place.is_dir():
            with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
                tree = Path(scratch) / "tree"
                (_unpack_npm if source == "npm" else _unpack_wheel)(spec, Path(scratch), tree)
                shutil.move(tree, place)
    return place


def _unpack_npm(spec: str, scratch: Path, tree: Path) -> None:
    _run(["npm", "pack", spec, "--silent", "--fetch-retries=1"], scratch)
    (package,) = scratch.glob("*.tgz")
    with tarfile.open(package) as archive:
        _write_files(archive, tree)


def _write_files(archive: tarfile.TarFile, tree: Path) -> None:
    for member in archive:
        file = archive.extractfile(member) if member.isreg() else None
        place = tree / member.name
        if file is not None and place.resolve().is_relative_to(tree.resolve()):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read())


def _unpack_wheel(spec: str, scratch: Path, tree: Path) -> None:
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", ".", spec], scratch)
    (package,) = scratch.glob("*.whl")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tree)
        for name in archive.namelist():  # an application as an npm package within
            if name.endswith(".tgz"):
                with tarfile.open(fileobj=io.BytesIO(archive.read(name))) as inner:
                    _write_files(inner, tree)


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise PackageMissingError(f"{' '.join(command)}: {error}") from error


def application_file(application: Application, root: Path, path: str) -> bytes | None:
    """Return the body that an application sends for a path; None for 404."""
    name = path.partition("?")[0].lstrip("/")
    file = root / name
    if name and file.is_file() and file.resolve().is_relative_to(root.resolve()):
        return file.read_bytes()
    last = name.rpartition("/")[2]
    if "." in last and not last.endswith(".html"):
        return None
    if application.page:
        return application.page.encode()
    index = root / "index.html"
    return index.read_bytes() if index.is_file() else None


def documentation_pages(documentation: Documentation, number: int) -> tuple[Path, list[str]]:
    """Return the folder of a package, and paths of pages drawn from it; each content once."""
    root = ensure(documentation.package) / documentation.folder
    files: dict[Path, str] = {}
    for file in sorted(root.rglob("*.htm*")):
        if file.is_file():
            files.setdefault(file.resolve(), "/" + file.relative_to(root).as_posix())
    paths = sorted(files.values())
    Random(27).shuffle(paths)
    return root, paths[:number]
