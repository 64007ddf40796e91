"""gitweb, as Debian ships it, over a repository with a history: every object is a page."""

import os
import random
import re
import subprocess
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from bench.worlds.world import Reply, words
from tools.debs import ensure

_PACKAGES = ("git", "libcgi-pm-perl", "libhtml-parser-perl", "libhtml-tagset-perl", "liburi-perl")
_PERL = ("usr/share/perl5", "usr/lib/x86_64-linux-gnu/perl5/5.36")
_OBJECTS = {"commit": "commit", "commitdiff": "commit", "tree": "tree", "blob": "blob",
            "blob_plain": "blob"}  # fmt: skip


class Gitweb:
    """The application, and a repository made for it.

    Args:
        root: Directory to make it in.
        commits: Length of the history.
    """

    name = "gitweb"
    start = "/gitweb.cgi?p=project.git;a=summary"

    def __init__(self, root: Path, commits: int = 30) -> None:
        self._root = root
        self._packages = [ensure(package) for package in _PACKAGES]
        self._make(commits)

    @cached_property
    def truth(self) -> frozenset[str]:
        """Kind and id of each object that the repository reaches."""
        listed = self._git("rev-list", "--objects", "--all").split("\n")
        ids = [line.split(" ")[0] for line in listed if line]
        kinds = self._git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=ids)
        return frozenset(line.replace(" ", ":") for line in kinds.split("\n") if line)

    def page(self, path: str) -> str:
        """Return the object that a URL shows."""
        query = dict(re.findall(r"[?;&](\w+)=([^;&]*)", unquote(path)))
        kind = _OBJECTS.get(query.get("a", ""))
        if kind is None:
            return ""
        name = query.get("h") or f"{query.get('hb', 'HEAD')}:{query.get('f', '')}"
        resolved = self._resolved.get((kind, name))
        if resolved is None:
            revision = name if ":" in name else f"{name}^{{{kind}}}"
            run = self._run("rev-parse", "--verify", "-q", revision)
            resolved = self._resolved[kind, name] = f"{kind}:{run.stdout.strip()}"
        return resolved

    @cached_property
    def _resolved(self) -> dict[tuple[str, str], str]:
        return {}

    def reply(self, path: str) -> Reply:
        """Run the CGI program."""
        script, _, query = path.partition("?")
        if script.startswith("/static/"):
            file = self._packages[0] / "usr/share/gitweb" / script[1:]
            if file.is_file():
                kind = {".css": "text/css", ".js": "text/javascript"}.get(file.suffix, "image/png")
                return Reply(200, (("Content-Type", kind),), file.read_bytes())
        if not script.startswith("/gitweb.cgi"):
            return Reply(404, (("Content-Type", "text/plain"),), b"not here\n")
        perl = os.pathsep.join(str(package / part) for package in self._packages for part in _PERL)
        process = subprocess.run(
            ["perl", str(self._packages[0] / "usr/share/gitweb/gitweb.cgi")],
            env={
                "PATH": os.environ["PATH"], "PERL5LIB": perl, "QUERY_STRING": query,
                "REQUEST_METHOD": "GET", "SCRIPT_NAME": "/gitweb.cgi", "SERVER_NAME": "127.0.0.1",
                "PATH_INFO": script.removeprefix("/gitweb.cgi"), "GATEWAY_INTERFACE": "CGI/1.1",
                "GITWEB_CONFIG": str(self._root / "gitweb.conf"), "SERVER_PORT": "80",
                "REQUEST_URI": path, "SERVER_PROTOCOL": "HTTP/1.1", "HOME": str(self._root),
            },
            capture_output=True, check=False,
        )  # fmt: skip
        if not process.stdout:
            raise RuntimeError(process.stderr.decode("utf-8", "replace"))
        return from_cgi(process.stdout)

    def _make(self, commits: int) -> None:
        chance = random.Random(7)
        work = self._root / "work"
        work.mkdir(parents=True)
        self._run("init", "-q", "-b", "main", cwd=work)
        names = [f"{folder}{name}" for folder in ("", "src/", "docs/") for name in
                 ("README", "main.c", "notes.txt", "util.c")]  # fmt: skip
        for number in range(commits):
            for name in [chance.choice(names) for _ in range(2)]:
                file = work / name
                file.parent.mkdir(exist_ok=True)
                file.write_text(words(chance, 60) + "\n")
            self._run("add", ".", cwd=work)
            self._run("commit", "-q", "-m", words(chance, 6), cwd=work, number=number)
            if number % 10 == 9:
                self._run("tag", f"v{number // 10}", cwd=work)
        bare = self._root / "git" / "project.git"
        bare.parent.mkdir()
        self._run("clone", "-q", "--bare", str(work), str(bare), cwd=self._root)
        (self._root / "gitweb.conf").write_text(
            f"$projectroot = '{bare.parent}';\n"
            "@stylesheets = ('/static/gitweb.css');\n$javascript = '/static/gitweb.js';\n"
            "$logo = '/static/git-logo.png';\n$favicon = '/static/git-favicon.png';\n"
        )

    def _git(self, *args: str, stdin: list[str] | None = None) -> str:
        return self._run(*args, stdin=stdin).stdout

    def _run(
        self, *args: str, cwd: Path | None = None, number: int = 0, stdin: list[str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        date = f"{1_600_000_000 + 86_400 * number} +0000"
        return subprocess.run(
            ["git", *args],
            cwd=cwd or self._root / "git" / "project.git",
            env={
                "PATH": os.environ["PATH"], "HOME": str(self._root), "GIT_AUTHOR_DATE": date,
                "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@a.test",
                "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@a.test",
            },
            input="\n".join(stdin) + "\n" if stdin else None, capture_output=True, text=True,
            check=False,
        )  # fmt: skip


def from_cgi(output: bytes) -> Reply:
    """Return the reply that a CGI program wrote."""
    head, _, body = output.replace(b"\r\n\r\n", b"\n\n", 1).partition(b"\n\n")
    status, headers = 200, []
    for line in head.decode("latin-1").splitlines():
        name, _, value = line.partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        elif name.lower() not in {"content-length", "connection"} and value:
            headers.append((name.strip(), value.strip()))
    return Reply(status, tuple(headers), body)
