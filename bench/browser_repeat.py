"""Learned repetition: the share of an application's content that is captured, and of its pages run.

`python -m bench.browser_repeat [NAME ...] [--pages N] [--later] [--guesses]` crawls the pages of
each application twice: all in a browser, and with `browser.repeat`. It prints the pages that were
run, and how many of the URLs with content that the first crawl asked for the second asked for too.
With `--later`, half of the pages are of an earlier run of the job, and the other half is counted.
With `--guesses`, the crawls also follow what looks like a URL in scripts, as crawls do by default.

- `docsify`, `docute`: the documentation of npm, in their history mode; both are of npm.
- `optuna`: the dashboard of Optuna with one page a study. Needs `--optuna`, the folder of a virtual
  environment with optuna-dashboard.
"""

import argparse
import json
import mimetypes
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from bench.browser_corpora import ensure
from bench.replay_sites import ProxiedWorld
from bench.worlds.application import await_port
from bench.worlds.world import Reply, Served, served
from nacre.extract.repetition import wilson_interval
from tools.nginx import free_port

NAMES = ("docsify", "docute", "optuna")
_DOCSIFY = """<!DOCTYPE html><html><head><meta charset="UTF-8"><title>npm</title></head>
<body><div id="app"></div>
<script>window.$docsify = {name: 'npm', routerMode: 'history', loadSidebar: true,
 alias: {'/.*/_sidebar.md': '/_sidebar.md'}}</script>
<script src="/dist/docsify.min.js"></script></body></html>
"""
_DOCUTE = """<!DOCTYPE html><html><head><meta charset="UTF-8"><title>npm</title></head>
<body><div id="docute"></div><script src="/dist/docute.js"></script>
<script>new Docute({target: '#docute', router: {mode: 'history'}, sourcePath: '/',
 sidebar: [{children: %s}]})
</script></body></html>
"""
_STUDIES = """
import sys, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
for number in range(int(sys.argv[2])):
    name = f"study-{number}-\\u7814\\u7a76"
    study = optuna.create_study(storage=sys.argv[1], study_name=name)
    study.optimize(lambda t: t.suggest_float("x", -9, 9) ** 2 + t.suggest_int("k", 1, 5), 3)
"""


class RepeatedSite(NamedTuple):
    """An application that is served.

    Attributes:
        served: The server with its log.
        pages: Paths of its pages.
        is_content: Whether a path has content.
    """

    served: Served
    pages: Sequence[str]
    is_content: Callable[[str], bool]


class _Figures(NamedTuple):
    pages: int
    repeated: int
    content: frozenset[str]
    samples: tuple[int, int]


class _DocsWorld:
    """Markdown behind one page of HTML, which the server sends for every route.

    Args:
        name: Name of the application.
        package: Folder of its package.
        html: The page.
        docs: Folder of the Markdown.
        sidebar: The Markdown of the menu.
    """

    truth: frozenset[str] = frozenset()
    start = "/"

    def __init__(self, name: str, package: Path, html: str, docs: Path, sidebar: str) -> None:
        self.name = name
        self._folders = package, docs
        self._html, self._sidebar = html, sidebar

    def page(self, path: str) -> str:
        """Return "": the pages are not counted."""
        del path
        return ""

    def reply(self, path: str) -> Reply:
        """Return a file of the package, a document, or the page."""
        name = unquote(path.partition("?")[0]).strip("/")
        if name == "_sidebar.md":
            return Reply(200, (("Content-Type", "text/markdown"),), self._sidebar.encode())
        for folder in self._folders:
            file = folder / name
            if name and file.is_file():
                kind = mimetypes.guess_type(file.name)[0] or "text/markdown"
                return Reply(200, (("Content-Type", kind),), file.read_bytes())
        if "." in name.rpartition("/")[2]:
            return Reply(404, (("Content-Type", "text/plain"),), b"not here\n")
        return Reply(200, (("Content-Type", "text/html"),), self._html.encode())


@contextmanager
def _documentation(name: str, number: int) -> Iterator[RepeatedSite]:
    root = Path(
        subprocess.run(["npm", "root", "-g"], capture_output=True, text=True).stdout.strip()
    )
    docs = root / "npm" / "docs" / "content"
    paths = [
        "/" + file.relative_to(docs).with_suffix("").as_posix()
        for file in sorted(docs.rglob("*.md"))
    ]
    sidebar = "\n".join(f"* [{path}]({path})" for path in paths)
    if name == "docsify":
        package, html = ensure("npm:docsify@5.0.0") / "package", _DOCSIFY
    else:
        package = ensure("npm:docute@4.23.3") / "package"
        html = _DOCUTE % json.dumps([{"title": path, "link": path} for path in paths])
    with served(_DocsWorld(name, package, html, docs, sidebar)) as site:
        yield RepeatedSite(site, paths[:number], lambda path: path.endswith(".md"))


@contextmanager
def _optuna(environment: Path, number: int) -> Iterator[RepeatedSite]:
    with tempfile.TemporaryDirectory() as folder:
        storage, port = f"sqlite:///{folder}/studies.db", free_port(("127.0.0.1",))
        python = str(environment / "bin" / "python")
        subprocess.run([python, "-c", _STUDIES, storage, str(number)], check=True)
        command = [str(environment / "bin" / "optuna-dashboard"), storage, "--port", str(port)]
        null = subprocess.DEVNULL
        process = subprocess.Popen([*command, "--quiet"], stdout=null, stderr=null)
        try:
            await_port(port, "optuna-dashboard")
            with served(ProxiedWorld("optuna", port, "/dashboard")) as site:
                pages = [f"/dashboard/studies/{study}" for study in range(1, number + 1)]
                yield RepeatedSite(site, pages, lambda path: path.startswith("/api/"))
        finally:
            process.kill()
            process.wait()


def _crawl(site: RepeatedSite, job: Path, pages: Sequence[str], *extra: str) -> _Figures:
    """Crawl pages; return what was run, and the URLs with content that were asked for.

    A job that exists is crawled again, with these pages as its seeds.

    Args:
        site: The application.
        job: Directory of the job.
        pages: Paths of the pages.
        extra: Settings of a new job.
    """
    seeds = job / "seeds.txt" if job.exists() else job.with_suffix(".txt")
    seeds.write_text("".join(f"{site.served.origin}{quote(path)}\n" for path in pages))
    site.served.log.clear()
    command = ["recrawl", str(job), "--full", "--quiet"]
    if not job.exists():
        command = [
            *("crawl", "--seeds", str(seeds), "--out", str(job), "--quiet"),
            *("--scope", "page", "--delay", "0", "--browser", "always"),
            *("--set", "browser.pictures=[]", "--set", "browser.behaviours=[]"),
            *(word for text in extra for word in ("--set", text)),
        ]
    subprocess.run(
        [sys.executable, "-m", "nacre", *command],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    content = frozenset(path for path in site.served.log if site.is_content(path))
    report = [sys.executable, "-m", "nacre", "report", str(job), "browser", "--json"]
    tally = json.loads(subprocess.run(report, capture_output=True, check=True).stdout)["tally"]
    sample = tally["foreseen"], tally["expected"]
    return _Figures(tally["pages"], tally["repeated"], content, sample)


def measure(site: RepeatedSite, name: str, folder: Path, *, later: bool, guesses: bool) -> str:
    """Return a line of the table.

    Args:
        site: The application.
        name: Its name.
        folder: Where the jobs go.
        later: Every other page is of a run before, and not counted.
        guesses: URLs that scripts may name are followed; else the listed pages are the crawl.
    """
    pages = site.pages[1::2] if later else site.pages
    extra = f"extract.extract_javascript={'true' if guesses else 'false'}"
    truth = _crawl(site, folder / "always", pages, extra)
    if later:
        _crawl(site, folder / "repeat", site.pages[::2], extra, "browser.repeat=true")
    ours = _crawl(site, folder / "repeat", pages, extra, "browser.repeat=true")
    hits, total = len(ours.content & truth.content), len(truth.content)
    low, high = wilson_interval(hits, total)
    run = ours.pages / max(1, ours.pages + ours.repeated)
    return (
        f"| {name} | {truth.pages} | {ours.pages} ({run:.1%}) | {hits} of {total} "
        f"({hits / max(1, total):.1%}; {low:.1%} to {high:.1%}) "
        f"| {len(ours.content - truth.content)} | {ours.samples[0]} of {ours.samples[1]} |"
    )


def main() -> int:
    """Measure the applications that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", default=NAMES[:2], choices=[*NAMES, []])
    parser.add_argument("--pages", type=int, default=90)
    parser.add_argument("--optuna", type=Path)
    parser.add_argument("--later", action="store_true", help="new pages of a job's second run")
    parser.add_argument("--guesses", action="store_true", help="follow guesses from scripts")
    chosen = parser.parse_args()
    print("| application | pages | run with repetition | content URLs | others | sample |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in chosen.names:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if name == "optuna":
                site = stack.enter_context(_optuna(chosen.optuna, chosen.pages))
            else:
                site = stack.enter_context(_documentation(name, chosen.pages))
            line = measure(site, name, folder, later=chosen.later, guesses=chosen.guesses)
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
