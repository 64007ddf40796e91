"""Sites for the comparison of replays: documentation, two applications, GBK, pages made by scripts.

Each is a `World` on the loopback whose log has all requests, so that a request of a replayed page
to the live site is noticed.
"""

import mimetypes
import os
import subprocess
import tarfile
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from bench.worlds.application import await_port, fetch_reply
from bench.worlds.mediawiki import MediaWiki
from bench.worlds.world import Reply, Served, served
from tools import cache, debs
from tools.nginx import free_port

DOCUMENTATION = {
    "postfix": ("postfix-doc", "usr/share/doc/postfix/html", "/index.html"),
    "sqlite": ("sqlite3-doc", "usr/share/doc/sqlite3", "/index.html"),
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html", "/index.html"),
    "git": ("git-doc", "usr/share/doc/git-doc", "/index.html"),
    "nodejs": ("nodejs-doc", "usr/share/doc/nodejs/api", "/index.html"),
    "django": ("python-django-doc", "usr/share/doc/python-django-doc/html", "/index.html"),
    "postgresql": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "/index.html"),
    "tomcat": ("tomcat10-docs", "usr/share/tomcat10-docs/docs", "/index.html"),
    "policy": ("debian-policy", "usr/share/doc/debian-policy", "/policy.html/index.html"),
    "wireshark": ("wireshark-doc", "usr/share/doc/wireshark/wsug_html_chunked", "/index.html"),
    "apache": ("apache2-doc", "usr/share/doc/apache2-doc/manual", "/en/index.html"),
    "faq-zh": ("debian-faq-zh-cn", "usr/share/doc/debian/FAQ/zh-cn", "/index.zh-cn.html"),
}
"""Name: the Debian package, the folder that is served, and the home page."""

SCRIPTED = {
    "swagger-ui": "swagger-ui-dist@5.35.0",
    "docsify": "docsify@5.0.0",
    "redoc": "redoc@2.5.4",
    "rapidoc": "rapidoc@9.3.8",
}
"""Name: the package of npm, with its version."""

_MATERIAL = ("mkdocs-material==9.8.2",)
_SEARCH = "/index.html?q=chapter"
"""The page of mkdocs-material with the results of a search, which a worker finds."""

_TRAC = ("Trac==1.6", "setuptools<81", "babel")
_OPENAPI = """\
{"openapi": "3.0.0", "info": {"title": "书店 API", "version": "1"},
 "paths": {"/books": {"get": {"summary": "所有图书", "responses": {"200": {"description": "ok"}}}}}}
"""


_VIEWERS = {
    "redoc": (
        "bundles/redoc.standalone.js",
        "<!DOCTYPE html><meta charset=utf-8><title>API</title>"
        '<redoc spec-url="api.json"></redoc><script src="viewer.js"></script>',
    ),
    "rapidoc": (
        "dist/rapidoc-min.js",
        "<!DOCTYPE html><meta charset=utf-8><title>API</title>"
        '<script type=module src="viewer.js"></script><rapi-doc spec-url="api.json"></rapi-doc>',
    ),
}
"""Name: the script in the package, and the page that its documentation asks for."""


@dataclass(frozen=True)
class LiveSite:
    """A site that is served.

    Attributes:
        name: Its name in the table.
        served: The server with its log of requests.
        seeds: URLs from which it is crawled.
        pages: URLs of pages that are replayed; empty: the first pages of the crawl.
    """

    name: str
    served: Served
    seeds: tuple[str, ...]
    pages: tuple[str, ...] = ()


class FolderWorld:
    """The files of a folder.

    Args:
        name: Name of the site.
        root: The folder.
        start: Path of the home page.
        convert: Converts the body of a page of HTML; None: it is sent as it is.
    """

    truth: frozenset[str] = frozenset()

    def __init__(
        self, name: str, root: Path, start: str, convert: Callable[[bytes], bytes] | None = None
    ) -> None:
        self.name, self.start = name, start
        self._root = root.resolve()
        self._convert = convert

    def page(self, path: str) -> str:
        """Return "": the pages are not counted."""
        del path
        return ""

    def reply(self, path: str) -> Reply:
        """Return the file of a path, the index of a folder, or status 404."""
        file = self._root / unquote(path.partition("?")[0]).strip("/")
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return Reply(404, (("Content-Type", "text/plain"),), b"not here\n")
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        body = file.read_bytes()
        if kind == "text/html" and self._convert is not None:
            body = self._convert(body)
        return Reply(200, (("Content-Type", kind),), body)


class ProxiedWorld:
    """An application that a process of its own serves.

    Args:
        name: Name of the site.
        port: Port of the process on the loopback.
        start: Path of the home page.
    """

    truth: frozenset[str] = frozenset()

    def __init__(self, name: str, port: int, start: str) -> None:
        self.name, self.start = name, start
        self._port = port

    def page(self, path: str) -> str:
        """Return "": the pages are not counted."""
        del path
        return ""

    def reply(self, path: str) -> Reply:
        """Return the reply of the application, with its links pointing to this server."""
        return fetch_reply(self._port, path)


def _as_gbk(body: bytes) -> bytes:
    """Return a page of UTF-8 in GBK, without any declaration of its charset."""
    text = body.decode("utf-8", "replace")
    for name in ("utf-8", "UTF-8"):
        text = text.replace(f"charset={name}", "").replace(f'encoding="{name}"', "")
    return text.encode("gbk", "xmlcharrefreplace")


@contextmanager
def live_site(name: str, folder: Path) -> Iterator[LiveSite]:
    """Serve a site while the context lasts.

    Args:
        name: A name of `DOCUMENTATION` or `SCRIPTED`, or `gbk`, `mediawiki`, `material`, `trac`.
        folder: Directory for what the site writes.
    """
    with ExitStack() as stack:
        if name in DOCUMENTATION:
            package, inner, start = DOCUMENTATION[name]
            world = FolderWorld(name, debs.ensure(package) / inner, start)
            state = stack.enter_context(served(world))
            yield LiveSite(name, state, (state.url,))
        elif name == "gbk":
            root = debs.ensure("maint-guide-zh-cn") / "usr/share/doc/maint-guide-zh-cn/html"
            first = min(path.name for path in root.glob("index*.html"))
            state = stack.enter_context(served(FolderWorld(name, root, f"/{first}", _as_gbk)))
            yield LiveSite(name, state, (state.url,))
        elif name == "mediawiki":
            wiki = stack.enter_context(MediaWiki(folder / "wiki", articles=30))
            state = stack.enter_context(served(wiki))
            yield LiveSite(name, state, (state.url,))
        elif name == "material":
            root = _material(folder / name)
            state = stack.enter_context(served(FolderWorld(name, root, "/index.html")))
            search = state.origin + _SEARCH
            yield LiveSite(name, state, (search, state.url), (search, state.url))
        elif name == "trac":
            port = stack.enter_context(_trac(folder / "trac"))
            state = stack.enter_context(served(ProxiedWorld(name, port, "/wiki")))
            yield LiveSite(name, state, (state.url,))
        else:
            root = _scripted(name, folder / name)
            state = stack.enter_context(served(FolderWorld(name, root, "/index.html")))
            files = sorted(file.relative_to(root) for file in root.rglob("*") if file.is_file())
            seeds = tuple(f"{state.origin}/{file}" for file in files)
            yield LiveSite(name, state, (state.url, *seeds), (state.url,))


def names() -> list[str]:
    """Return the names of all sites."""
    return [*DOCUMENTATION, "gbk", "mediawiki", "trac", "material", *SCRIPTED]


def npm_package(spec: str) -> Path:
    """Return the folder of a package of npm in the cache; download it if it is not there."""
    place = cache.folder("npm") / spec.replace("/", "-")
    with cache.locked(place):
        if not (place / "package.json").is_file():
            place.mkdir(parents=True, exist_ok=True)
            command = ["npm", "pack", "--silent", "--pack-destination", str(place), spec]
            packed = subprocess.run(command, capture_output=True, text=True, check=True)
            archive = place / packed.stdout.split()[-1]
            with tarfile.open(archive) as tar:
                for member in tar:
                    _unpack(tar, member, place)
            archive.unlink()
    return place


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    """Write a file of a package below a folder; names that lead out of it are left out."""
    name = member.name.removeprefix("package/")
    data = tar.extractfile(member) if member.isfile() and ".." not in name.split("/") else None
    if data is not None and not name.startswith("/"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data.read())


def _scripted(name: str, folder: Path) -> Path:
    """Return the folder of a page that its scripts make."""
    package = npm_package(SCRIPTED[name])
    folder.mkdir(parents=True, exist_ok=True)
    if name == "swagger-ui":
        for file in ("swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"):
            (folder / file).write_bytes((package / file).read_bytes())
        (folder / "api.json").write_text(_OPENAPI, "utf-8")
        (folder / "index.html").write_text(
            "<!DOCTYPE html><meta charset=utf-8><title>API</title>"
            '<link rel=stylesheet href="swagger-ui.css"><div id=ui></div>'
            '<script src="swagger-ui-bundle.js"></script><script>'
            'SwaggerUIBundle({url: "api.json", dom_id: "#ui"})</script>',
            "utf-8",
        )
        return folder
    if name in _VIEWERS:
        script, html = _VIEWERS[name]
        (folder / "viewer.js").write_bytes((package / script).read_bytes())
        (folder / "api.json").write_text(_OPENAPI, "utf-8")
        (folder / "index.html").write_text(html, "utf-8")
        return folder
    script = next(
        file for file in ("dist/docsify.min.js", "lib/docsify.min.js") if (package / file).is_file()
    )
    (folder / "docsify.js").write_bytes((package / script).read_bytes())
    (folder / "README.md").write_text("# 手册\n\n欢迎使用。[下一章](next.md)\n", "utf-8")
    (folder / "next.md").write_text("# 下一章\n\nSecond chapter.\n", "utf-8")
    (folder / "_sidebar.md").write_text("* [首页](/)\n* [下一章](next.md)\n", "utf-8")
    (folder / "index.html").write_text(
        "<!DOCTYPE html><meta charset=utf-8><title>Docs</title><div id=app></div>"
        "<script>window.$docsify = {loadSidebar: true}</script>"
        '<script src="docsify.js"></script>',
        "utf-8",
    )
    return folder


def _material(folder: Path) -> Path:
    """Return the folder of a site that mkdocs-material made, with its search."""
    programs = _environment("material", _MATERIAL, "mkdocs")
    (folder / "docs").mkdir(parents=True)
    (folder / "mkdocs.yml").write_text(
        "site_name: Handbook\ntheme: {name: material, font: false}\nplugins: [search]\n", "utf-8"
    )
    (folder / "docs" / "index.md").write_text(
        "# Handbook\n\nThe first chapter. 第一章。\n", "utf-8"
    )
    (folder / "docs" / "next.md").write_text("# 下一章\n\nThe second chapter.\n", "utf-8")
    command = [str(programs / "mkdocs"), "build", "-q", "-d", str(folder / "site")]
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=folder, check=True, env=environ)
    return folder / "site"


def _environment(name: str, packages: Sequence[str], program: str) -> Path:
    """Return the folder of the programs of a virtual environment in the cache; make it first."""
    environment = cache.folder(name)
    programs = environment / "bin"
    with cache.locked(environment):
        if not (programs / program).is_file():
            venv.create(environment, clear=True, with_pip=True)
            subprocess.run([programs / "pip", "-q", "install", *packages], check=True)
    return programs


@contextmanager
def _trac(folder: Path) -> Iterator[int]:
    """Run Trac while the context lasts; give its port."""
    programs = _environment("trac", _TRAC, "tracd")
    project = ["initenv", "测试", "sqlite:db/trac.db"]
    subprocess.run(
        [programs / "trac-admin", folder, *project], check=True, stdout=subprocess.DEVNULL
    )
    port = free_port()
    command = [str(programs / "tracd"), "-s", "--hostname=127.0.0.1", f"--port={port}", str(folder)]
    environ = {**os.environ, "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            await_port(port, "Trac")
            yield port
        finally:
            process.terminate()
