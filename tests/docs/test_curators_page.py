"""The page for curators: every command that it names is run, in its order, on a library's site."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.library import Library, library
from tests.cli.site import nacre, serve_and_stop_console

pytestmark = pytest.mark.crawl

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "curators.md"
SITE = "https://library.example/"
_CRON = re.compile(r"^(?:[\d*]+ ){5} *cd \S+ && \S+/")  # a path: cron has no PATH for it
_ENDLESS = {"--every", "--at", "--continuous"}


def commands() -> Iterator[str]:
    """All of them, those of tables and sentences too, in the order of the page."""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("    "):
            yield _CRON.sub("", line.strip())
        else:
            yield from re.findall(r"`(nacre [a-z]+ [^`]+)`", line)


def test_the_page_has_its_commands():
    found = list(commands())
    assert len(found) > 25
    assert all(command.startswith("nacre ") for command in found)
    for section in ("Set a site up", "Every week", "Read the results", "Choose what is kept"):
        assert f"\n## {section}\n" in PAGE.read_text("utf-8")


class Desk:
    """A curator at a terminal.

    Args:
        place: The site that is meant by the one of the page.
        stack: Ends what is left running.
    """

    def __init__(self, place: Library, stack: ExitStack) -> None:
        self._place = place
        self._stack = stack
        self._waiting: subprocess.Popen[str] | None = None

    def type(self, command: str) -> str:
        """Run a command; what it prints."""
        words = shlex.split(command.replace(SITE, self._place.home), comments=True)
        assert words.pop(0) == "nacre", command
        if _ENDLESS & set(words):
            self._wait(words)
            return ""
        if words[0] == "console":
            serve_and_stop_console(words, Path.cwd() / "console-state")
            return ""
        done = nacre(*words)
        assert done.code == 0, (command, done.out, done.err)
        if words[0] == "stop":
            assert self._waiting is not None
            assert self._waiting.wait(200) == 5
        return done.out

    def _wait(self, words: list[str]) -> None:
        """A command that goes on until `stop`: in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "nacre", *words, "-q"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._stack.callback(process.communicate)
        self._stack.callback(process.kill)
        assert process.stderr is not None
        heard = process.stderr.readline()
        assert heard.startswith("Next pass: "), heard
        self._waiting = process


@pytest.mark.timeout(300)
@pytest.mark.parametrize("charset", [pytest.param("utf-8", marks=pytest.mark.slow), "gbk"])
def test_every_command_of_the_page_works(
    tmp_path: Path, charset: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("DELAY", "MIN_DELAY"):
        monkeypatch.setenv(f"NACRE_POLITENESS__{name}", "0")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with library(charset) as place, ExitStack() as stack:
        desk = Desk(place, stack)
        for number, command in enumerate(commands()):
            place.notices[f"第{number}期新书推荐"] = "新书已上架,欢迎到馆借阅。"
            desk.type(command)
        runs = len(list((tmp_path / "collection/library/runs").iterdir()))
        assert runs == 1 + len([c for c in commands() if c.startswith("nacre recrawl")])
        for name in ("library.html", "library-zh.html", "timeline.html", "diff.html"):
            assert "</html>" in (tmp_path / name).read_text("utf-8")
        typed = f"nacre history collection/library url {place.home}通知公告/读者证办理指南.html"
        assert "读者证办理指南" in desk.type(typed), "as it is read, whatever its encoding"


def test_the_words_of_the_page_are_those_of_the_reports():
    from nacre.inspect.analysis.wording import FOUND  # noqa: PLC0415 - with all reports

    text = PAGE.read_text("utf-8").partition("The results of a visit")[2].partition("##")[0]
    for kind in ("new", "major", "minor", "noise", "template", "markup", "none", "missing",
                 "gone", "never there", "silent"):  # fmt: skip
        assert FOUND[kind].partition(" (")[0] in text, kind
