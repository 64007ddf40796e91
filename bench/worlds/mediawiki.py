"""MediaWiki, as Debian ships it, with PHP's own server and SQLite: every article is a page."""

import os
import random
import re
import shutil
import subprocess
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from bench.worlds.application import await_port, fetch_reply
from bench.worlds.world import Reply, words
from tools.debs import ensure
from tools.nginx import free_port

_PHP = (
    "php8.2-cli", "php8.2-common", "php8.2-sqlite3", "php8.2-mbstring", "php8.2-xml", "php8.2-intl",
    "php8.2-opcache", "libicu72", "libonig5", "libsodium23", "libargon2-1", "libedit2", "libxml2",
)  # fmt: skip
_MODULES = (
    "ctype", "dom", "fileinfo", "iconv", "intl", "mbstring", "pdo", "pdo_sqlite", "posix",
    "simplexml", "sqlite3", "tokenizer", "xml", "xmlreader", "xmlwriter",
)  # fmt: skip
_PAGE = re.compile(r"/index\.php/([^?]*)|/index\.php\?title=([^&]*)")


class MediaWiki:
    """The application, installed below a directory, with articles made for it.

    Args:
        root: The directory.
        articles: How many articles there are, in a third as many categories.
    """

    name = "MediaWiki"
    start = "/index.php/Main_Page"

    def __init__(self, root: Path, articles: int = 600) -> None:
        self._root = root = root.resolve()
        self._packages = [ensure(package) for package in _PHP]
        source = [ensure("mediawiki"), ensure("mediawiki-classes")]
        self._code = root / "wiki"
        self._titles = [
            words(random.Random(number), 1).title() + f" {words(random.Random(-number), 1)}"
            for number in range(1, articles + 1)
        ]
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0
        if not (self._code / "LocalSettings.php").is_file():
            self._install(source)

    @cached_property
    def truth(self) -> frozenset[str]:
        """The titles, with underscores."""
        return frozenset(self._texts(1))

    def page(self, path: str) -> str:
        """Return the article that a URL shows; "" for everything else about it."""
        match = _PAGE.match(path)
        if match is None:
            return ""
        plain = match[1] is not None and "?" not in path
        only_title = match[2] is not None and "&" not in path
        return unquote(match[1] or match[2] or "") if plain or only_title else ""

    def reply(self, path: str) -> Reply:
        """Ask PHP's server."""
        if self._server is None:
            self._begin()
        return fetch_reply(self._port, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait()

    # ---- making it

    def _install(self, sources: list[Path]) -> None:
        for source in sources:
            shutil.copytree(
                source / "usr" / "share" / "mediawiki", self._code,
                ignore=shutil.ignore_patterns("LocalSettings.php", "mw-config"),
                ignore_dangling_symlinks=True, dirs_exist_ok=True,
            )  # fmt: skip
        for name in ("images", "cache", "extensions", "data"):
            (self._code / name).mkdir(exist_ok=True)
        self._maintain(
            "install.php", "--dbtype=sqlite", f"--dbpath={self._code / 'data'}", "--scriptpath=",
            "--server=http://127.0.0.1:1", "--pass=made-for-this-test", "--skins=Vector", "Wiki",
            "Admin",
        )  # fmt: skip
        settings = self._code / "LocalSettings.php"
        settings.write_text(
            settings.read_text()
            + "\n$wgServer = 'http://' . ($_SERVER['HTTP_HOST'] ?? '127.0.0.1');\n"
            + "$wgUsePathInfo = true;\n$wgArticlePath = '/index.php/$1';\n$wgJobRunRate = 0;\n"
            + "$wgMainCacheType = CACHE_NONE;\n$wgHitcounterUpdateFreq = 0;\n"
        )
        for revision in (0, 1):
            folder = self._root / f"texts{revision}"
            folder.mkdir()
            for title, text in self._texts(revision).items():
                (folder / f"{title}.txt").write_text(text)
            files = sorted(str(file) for file in folder.iterdir())
            self._maintain("importTextFiles.php", "--overwrite", "--user=Admin", *files)

    def _texts(self, revision: int) -> dict[str, str]:
        """Return each title, and the text of a revision."""
        chance = random.Random(5)
        texts = {}
        groups = [f"Group {number}" for number in "ABCDEFGHIJ"]
        for number, title in enumerate(self._titles):
            links = [self._titles[chance.randrange(len(self._titles))] for _ in range(3)]
            links.append(self._titles[(number + 1) % len(self._titles)])
            missing = words(chance, 1).title() if chance.random() < 0.3 else ""
            text = " ".join(f"{words(chance, 25)} [[{link}]]." for link in links)
            more = f" [[{missing}]]" if missing else ""
            group = chance.choice(groups)
            texts[title.replace(" ", "_")] = (
                f"{text}{more}\n\n{words(chance, 30 + 10 * revision)}\n\n[[Category:{group}]]\n"
            )
        first = " ".join(f"[[{title}]]" for title in self._titles[:5])
        texts["Main_Page"] = f"{words(chance, 30)} {first}\n"
        return texts

    def _maintain(self, script: str, *args: str) -> None:
        process = subprocess.run(
            [*self._php(), str(self._code / "maintenance" / script), *args],
            env=self._env(), cwd=self._code, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if process.returncode:
            raise RuntimeError(f"{script}: {process.stdout[-2000:]} {process.stderr[-2000:]}")

    def _php(self) -> list[str]:
        program = str(self._packages[0] / "usr/bin/php8.2")
        folder = next(self._packages[1].glob("usr/lib/php/2*")).name
        command = [program, "-n", "-d", "memory_limit=512M", "-d", "error_reporting=0"]
        for module in _MODULES:
            for package in self._packages:
                file = package / "usr/lib/php" / folder / f"{module}.so"
                if file.is_file():
                    command += ["-d", f"extension={file}"]
        cache = self._packages[_PHP.index("php8.2-opcache")]
        file = cache / "usr/lib/php" / folder / "opcache.so"
        return [*command, "-d", f"zend_extension={file}", "-d", "opcache.enable_cli=1"]

    def _env(self) -> dict[str, str]:
        libraries = [str(package / "usr/lib/x86_64-linux-gnu") for package in self._packages]
        return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(libraries)}

    def _begin(self) -> None:
        self._port = free_port()
        self._server = subprocess.Popen(
            [*self._php(), "-S", f"127.0.0.1:{self._port}", "-t", str(self._code)],
            env=self._env(), cwd=self._code,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        await_port(self._port, "PHP's server")
