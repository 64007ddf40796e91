"""Every command of the README and of the pages beside it is run, page by page, in its order.

A page is run in a folder of its own, on a small site. What stands for something in a page (`JOB`,
`https://example.org/`) is replaced by what the folder has. Pages that tell of a machine or of weeks
have tests of their own: see `ELSEWHERE`.
"""

import gzip
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.site import PAGES, Done, nacre, serve_and_stop, serve_and_stop_console, site
from tests.migrate.nutch.conffiles import conf
from tests.rounds.moving.hadoop_files import datum, map_file

ROOT = Path(__file__).parent.parent.parent
ELSEWHERE = {
    "docs/console.md": "tests/console",
    "docs/console-api.md": "tests/console",
    "docs/console-heritrix.md": "tests/console",
    "docs/console-remote.md": "tests/console",
    "docs/curators.md": "tests/docs/test_curators_page.py",
    "docs/operations.md": "tests/docs/test_operations_page.py",
    "docs/simweb.md": "tests/simweb",
    "docs/incremental.md": "tests/bench/histories/test_run.py",
    "docs/simulated-goals.md": "tests/simweb/test_paper.py",
    "docs/contributing.md": "tests/contract/test_contributing.py",
    "docs/replay.md": "tests/docs/test_replay_page.py",
    "docs/browser.md": "tests/docs/test_browser_page.py",
    "docs/recording.md": "tests/docs/test_browser_page.py",
    "docs/identity.md": "tests/docs/test_identity_page.py",
}
"""Pages whose commands other tests run: these tests, or their folder."""
WEEK = 7 * 86_400
FILTERS = {"filter", "normalize"}
ENDLESS = {"--every", "--at", "--continuous"}
CODES = {
    "search": (0, 10),
    "captures": (0, 10),
    "check": (0, 2),
    "migrate": (0, 2),
    "crawl": (0, 4, 8),
    "queue": (0, 2),
    "run": (0, 4),
    "recrawl": (0, 4),
    "cycle": (0, 10),
}
"""Exit codes other than 0 that a command of a page may have: the page shows why."""
BEANS = """<?xml version="1.0" encoding="UTF-8"?>
<beans xmlns="http://www.springframework.org/schema/beans">
 <bean id="metadata" class="org.archive.modules.CrawlMetadata">
  <property name="operatorContactUrl" value="https://library.example/bot"/></bean>
 <bean id="seeds" class="org.archive.modules.seeds.TextSeedModule">
  <property name="textSource"><bean class="org.archive.spring.ConfigString">
   <property name="value" value="{home}"/></bean></property></bean>
 <bean id="warcWriter" class="org.archive.modules.writer.WARCWriterProcessor"/>
</beans>
"""


def blocks(page: str) -> Iterator[str]:
    """The lines of the code blocks of a page."""
    fenced = False
    for line in (ROOT / page).read_text("utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line.strip()


def commands(page: str) -> list[str]:
    """The commands of a page, without prompts and comments."""
    found = []
    for line in blocks(page):
        match = re.match(r"(?:\$ |[A-Z][a-z ]+: +|(?:[\d*]+ ){5} *)?(?:\./)?(nacre [a-z].*)", line)
        if match and not line.startswith("nacre:"):
            command = re.sub(r"\s{2,}#? ?[^-\s'].*$|; echo \$\?$", "", match[1])
            found.append(re.sub(r" +\[--.*\]", "", command))
    return found


PAGES_OF_DOCS = [
    "README.md",
    *(
        str(page.relative_to(ROOT))
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name != "reference"
    ),
]
"""All pages that people write."""
PAGES_WITH_COMMANDS = [page for page in PAGES_OF_DOCS if commands(page)]
HERE = [page for page in PAGES_WITH_COMMANDS if page not in ELSEWHERE]


def test_the_pages_have_commands():
    assert len(PAGES_WITH_COMMANDS) > 15
    assert sum(len(commands(page)) for page in HERE) > 90
    assert "nacre crawl http://127.0.0.1:8080/ --scope host --delay 0 --out crawls/demo" in (
        commands("README.md")
    )


@pytest.mark.parametrize("page", ELSEWHERE)
def test_another_test_runs_the_commands_of_a_page(page: str):
    places = [ROOT / name for name in ELSEWHERE[page].split()]
    files = [
        file
        for place in places
        for file in (sorted(place.glob("test_*.py")) if place.is_dir() else [place])
    ]
    text = "".join(file.read_text("utf-8") for file in files)
    if Path(page).name in text:
        return
    assert {command.split()[2] for command in commands(page)} <= set(re.findall(r"[a-z]+", text))


class Folder:
    """A folder in which a page is followed.

    Args:
        root: The folder, which is the working directory.
        home: The site.
        stack: Ends what is left running.
    """

    def __init__(self, root: Path, home: str, stack: ExitStack) -> None:
        self._root = root
        self._home = home
        self._stack = stack
        self._unfinished: set[str] = set()
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._number = 0
        for name in ("seeds.txt", "list.txt", "urls.txt", "nutch-seeds.txt"):
            (root / name).write_text(f"{home}\n{home}a.html\n")
        (root / "waiting.txt").write_text(f"{home}b.html\n")
        (root / "logs").mkdir()
        journal = gzip.compress(f"F+ {home}a.html L {home}\n".encode())
        (root / "logs" / "frontier.recover.gz").write_bytes(journal)
        (root / "crawl-config.yaml").write_text(f"seeds: [{home}]\n")
        (root / "crawler-beans.cxml").write_text(BEANS.format(home=home))
        conf(root / "nutch-conf")
        map_file(
            root / "nutch-crawl" / "crawldb", [(f"{home}old.html", datum(2, 1_700_000_000_000))]
        )
        for name in ("regex-urlfilter.txt", "suffix-urlfilter.txt"):
            (root / name).write_text("-\\.gif$\n+.\n" if name.startswith("regex") else ".gif\n")
        (root / "regex-normalize.xml").write_text("<regex-normalize/>")

    def _here(self, command: str) -> str:
        """A command with what this folder has."""
        for old, new in (
            (r"https?://(example\.org|127\.0\.0\.1:8080)/some/page\.html", f"{self._home}a.html"),
            (r"https://example\.org/news/", f"{self._home}a.html"),
            (r"https?://(example\.org|127\.0\.0\.1:8080|www\.city\.example)/", self._home),
            (r"/path/to/nutch/conf", "nutch-conf"),
            (r"/path/to/nutch/crawl", "nutch-crawl"),
            (r"/path/to/urls", "nutch-seeds.txt"),
            (r"/path/to/job/", ""),
            (r"/data/example\b", "example"),
            (r"\bREGEX\b", "nothing-like-this"),
            (r"\bURL\b", self._home),
            (r"\bFOLDER\b", "tables"),
            (r"--at \"0 3 \* \* \*\"", "--at '0 3 1 1 *'"),
            (
                r"\"\$\(date -I -d '\+7 days'\)\"",
                time.strftime("%F", time.gmtime(time.time() + WEEK)),
            ),
        ):
            command = re.sub(old, new, command)
        deletes = re.match(r"nacre archive \S+ delete ", command) is not None
        return self._with_warc(command) if deletes else command

    def _with_warc(self, command: str) -> str:
        """A command that deletes a run or a WARC, with those of a job that is crawled for it."""
        job = command.split()[2]
        self._make_room(job)
        self._crawl(job, 0)
        (warc,) = (self._root / job / "runs").glob("*/archive/*.warc.gz")
        command = re.sub(r"(?<=--run )\d{8}T\d{6}Z", warc.parts[-3], command)
        return command.replace("NAME.warc.gz", warc.name)

    def assert_works(self, command: str) -> None:
        """Run a command; its exit code must be one that the page tells of."""
        text, sink = self._redirected(self._here(command))
        text, _, source = text.partition(" < ")
        stdin = (self._root / source.strip()).read_text() if source else None
        words = shlex.split(text)[1:]
        self._prepare(words)
        if set(words) & ENDLESS and words[0] != "rights":  # its --at is a time
            self._begin_and_stop(words)
            return
        if words[0] == "console":
            serve_and_stop_console(words, self._root / "console")
            return
        if words[0] == "replay":
            serve_and_stop(words, "http://replay.localhost:")
            return
        done = nacre(*words, stdin=stdin)
        if "spark" in words:  # tests/rounds/spark runs these on a cluster, in its own environment
            assert (done.code, "extra `spark`" in done.err) == (2, True), (command, done.err)
            return
        kind = words[2] if words[0] in {"frontier", "sheet", "history"} else words[0]
        assert done.code in CODES.get(kind, (0,)), (command, done.out, done.err)
        if sink:
            (self._root / sink).write_text(done.out)

    def _redirected(self, command: str) -> tuple[str, str]:
        """A command, and the file that takes its output; "" for none."""
        command = re.sub(r" 2> \S+", "", command)
        text, _, sink = command.partition(" > ")
        return text, sink.strip()

    def _prepare(self, words: list[str]) -> None:
        """Make a job that a page takes for granted, or make room for one that it creates."""
        if words[0] == "cycle":
            self._prepare_rounds(words)
            return
        if words[0] in {"crawl", "new", "migrate"}:
            for name in words[1:]:
                self._make_room(name)
            return
        if "--list-profiles" in words or (words[0] in FILTERS and "--job" not in words):
            return
        if words[0] == "search" and not (self._root / words[1]).exists():
            self._prepare_rounds(["cycle", words[1], "index"])
            assert nacre("cycle", words[1], "index").code == 0
            return
        job = words[words.index("--job") + 1] if "--job" in words else words[1]
        if words[0] in {"frontier", "run"}:
            self._end(job)
        if words[0] == "pause" or (words[0] == "checkpoint" and "--list" not in words):
            self._begin_paused(job)
        elif words[0] == "frontier" and job not in self._unfinished:
            self._make_room(job)
            self._unfinished.add(job)
            self._crawl(job, 4, "--max-pages", "1")
        elif not (self._root / job).exists():
            self._crawl(job, 0)

    def _prepare_rounds(self, words: list[str]) -> None:
        """Make the rounds that a page takes for granted, and the job that they are to import."""
        if not (self._root / words[1]).exists() and "-s" not in words:
            assert nacre("cycle", words[1], "-s", self._home, "--rounds", 1).code == 0
        for job in words[3:4] if words[2] == "import" else ():
            if not (self._root / job).exists():
                self._crawl(job, 0)

    def _crawl(self, job: str, code: int, *options: str) -> None:
        made = nacre("crawl", self._home, "--scope", "host", "--out", job, "-q", *options)
        assert made.code == code, made.err

    def _make_room(self, name: str) -> None:
        if (self._root / name / "crawl.yaml").exists():
            self._number += 1
            (self._root / name).rename(self._root / f"before-{self._number}")

    def _begin_paused(self, job: str) -> None:
        """A job that runs in a process of its own, and waits for `resume`."""
        self._make_room(job)
        assert nacre("new", job, self._home, "--scope", "host").code == 0
        self._running[job] = self._start("run", job, "--set", "engine.pause_at_start=true")
        socket = self._root / job / "state" / "control"
        while not socket.exists():
            time.sleep(0.02)

    def _end(self, job: str) -> None:
        """Let a job that runs in a process of its own end."""
        process = self._running.pop(job, None)
        if process is not None:
            nacre("stop", job)
            process.wait(200)

    def _start(self, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "nacre", *words, "-q"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._stack.callback(process.communicate)
        self._stack.callback(process.kill)
        return process

    def _begin_and_stop(self, words: list[str]) -> None:
        """A command without end: it begins, waits for its next pass, and is stopped."""
        process = self._start(*words)
        assert process.stderr is not None
        heard = process.stderr.readline()
        assert heard.startswith("Next pass: "), heard
        stopped: Done = nacre("stop", words[1])
        assert stopped.code == 0, stopped.err
        assert process.wait(200) == 5


@pytest.mark.crawl
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", HERE)
def test_every_command_of_a_page_works(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("DELAY", "MIN_DELAY"):
        monkeypatch.setenv(f"NACRE_POLITENESS__{name}", "0")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with site(PAGES) as home, ExitStack() as stack:
        folder = Folder(tmp_path, home, stack)
        for command in commands(page):
            folder.assert_works(command)
