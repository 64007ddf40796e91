"""Options as wget's users type them; docs/wget.md says which is which.

What failed: `-i`, `-w`, `-l`, `-U`, `--header`, `--load-cookies`, `-V`, `version` and `help` were
no options and no commands.
"""

import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import typer.main
from ruamel.yaml import YAML

from nacre.cli.app import app
from tests.cli.site import nacre

ROOT = Path(__file__).parent.parent.parent
HOME = "http://127.0.0.1:1/"


def settings(job: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(job / "crawl.yaml")
    return loaded


def test_what_is_typed_becomes_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text(HOME)
    Path("cookies.txt").write_text("# Netscape HTTP Cookie File\n")
    done = nacre(
        "new", "job", "-i", "list.txt", "-l", "2", "-w", "1.5", "-U", "Bibliothek/1.0",
        "--load-cookies", "cookies.txt", "--header", "Accept-Language: zh, en",
        "--header=accept: text/html", "--header", "From: a@library.example",
    )  # fmt: skip
    assert done.code == 0, done.err
    said = settings(Path("job"))
    assert said["politeness"]["delay"] == 1.5
    assert {"rule": "too-many-link-hops", "max_hops": 2} in said["scope"]
    assert said["cookies"]["load_file"] == str(tmp_path / "cookies.txt")
    assert said["fetch"] == {
        "user_agent": "Bibliothek/1.0",
        "mail_from": "a@library.example",
        "accept": ["Accept-Language: zh, en", "accept: text/html"],
    }
    assert nacre("check", "job").code == 0


@pytest.mark.parametrize("level", ["inf", "0"])
def test_no_limit_as_wget_has_it(tmp_path: Path, level: str):
    assert nacre("new", tmp_path / "job", HOME, "--level", level).code == 0
    assert "too-many-link-hops" not in str(settings(tmp_path / "job"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--level", "deep"), "a number, or `inf`"),
        (("--level", "1", "--depth", "2"), "give one of them"),
        (("--header", "Cookie: a=b"), "--load-cookies FILE"),
        (("--header", "Authorization: Basic abc"), "fetch.credentials"),
        (("--header", "none"), "`Name: value`"),
        (("--load-cookies", "missing.txt"), "missing.txt cannot be read"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, arguments: tuple[str, ...], said: str):
    done = nacre("new", tmp_path / "job", HOME, *arguments)
    assert done.code == 2
    assert said in done.err


class _Echo(BaseHTTPRequestHandler):
    seen: dict[str, str]

    def do_GET(self) -> None:
        type(self).seen = dict(self.headers)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_headers_are_sent(tmp_path: Path):
    server = HTTPServer(("127.0.0.1", 0), _Echo)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        done = nacre(
            "crawl", f"http://127.0.0.1:{server.server_port}/", "--out", tmp_path / "job", "-w0",
            "-q", "-U", "Bibliothek/1.0", "--header", "Accept-Language: zh",
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
    assert done.code == 0, done.err
    assert _Echo.seen["User-Agent"] == "Bibliothek/1.0"
    assert _Echo.seen["Accept-Language"] == "zh"
    assert _Echo.seen["Accept"].startswith("text/html")


def test_the_page_names_options_that_there_are():
    page = (ROOT / "docs/wget.md").read_text("utf-8")
    group: Any = typer.main.get_command(app)
    known = {name for param in group.commands["crawl"].params for name in param.opts}
    known |= {"--version", "-V", "--help", "-h", "--dry-run"}
    for row in re.findall(r"^\| .+? \| (.+) \|$", page, re.MULTILINE):
        for name in re.findall(r"`(--[a-z-]+)", row):
            assert name in known, name
    same = page.partition("## The same option")[2].partition("##")[0]
    for name in re.findall(r"^\| (.+?) \|", same, re.MULTILINE)[2:]:
        for option in re.findall(r"`(--?[A-Za-z-]+)", name):
            assert option in known, option


def test_the_page_names_settings_that_there_are():
    settings_page = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    page = (ROOT / "docs/wget.md").read_text("utf-8")
    named = re.findall(
        r"[` ](?:--set )?((?:bandwidth|fetch|frontier|cookies|archive)\.[a-z_]+)", page
    )
    assert len(named) > 10
    assert [name for name in named if f"`{name}`" not in settings_page] == []
