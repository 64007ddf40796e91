import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from nacre.config import extras
from tests.cli.site import nacre


def test_keys_are_made_listed_and_removed(tmp_path: Path):
    state = ("--state", tmp_path)
    made = nacre("console", "key", "add", "脚本", "--role", "operator", *state)
    assert len(made.out.strip()) == 43
    listed = nacre("console", "key", "list", *state)
    assert "脚本" in listed.out
    assert made.out.strip() not in listed.out
    assert nacre("console", "key", "add", "脚本", *state).code == 2
    assert nacre("console", "key", "remove", "脚本", *state).out == "removed 脚本\n"
    assert nacre("console", "key", "remove", "脚本", *state).code == 2
    assert nacre("console", "key", "list", *state).out == "no keys\n"


def test_a_link_needs_a_console(tmp_path: Path):
    done = nacre("console", "link", "--state", tmp_path)
    assert done.code == 2
    assert "no console runs here; start it by `nacre console`" in done.err


def test_a_directory_stands_in_place_of_a_command(tmp_path: Path):
    done = nacre("console", tmp_path / "none", "--port", 0)
    assert done.code == 2
    assert "is not a directory; name one that holds jobs" in done.err
    done = nacre("console", "--state", tmp_path, "key", "list")
    assert done.code == 2
    assert "key is not a directory. If you mean the command, its options come after it" in done.err
    help_text = nacre("console", "--help").out
    for command in ("serve", "link", "key"):
        assert command in help_text
    served = nacre("console", "serve", "--help").out
    for option in re.findall(r"--[a-z-]+", served):
        assert option in help_text
    assert "--port" in served
    assert help_text.count("--help") == 1
    assert "<bool>" not in help_text
    assert "--yes" in help_text
    assert "--port" not in nacre("console", "key", "--help").out
    assert nacre("console", "-h").out == help_text


@pytest.mark.parametrize("page", ["tutorial.md", "curators.md", "howto.md"])
def test_the_guides_name_the_console(page: str):
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    assert "(console.md)" in text
    assert re.search(r"nacre console\b.*--open", text)
    assert "--yes" in text


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: SimpleNamespace(returncode=1))
    done = nacre("console", tmp_path)
    assert done.code == 2
    assert "the console needs the extra `console` (argon2-cffi httptools" in done.err
    assert "requirements-console.lock; with --yes this command does it" in done.err


@pytest.mark.parametrize(
    "words", [("--yes",), ("serve", "--yes"), ("--port", "0", "--yes"), ("check", "--yes")]
)
def test_a_missing_extra_is_installed_with_yes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
):
    ran = []

    def run(command: list[str], **_: object) -> SimpleNamespace:
        ran.append(command)
        return SimpleNamespace(returncode=1)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr("subprocess.run", run)
    done = nacre("console", *words)
    assert (done.code, "the install failed with 1" in done.err) == (2, True), done.err
    assert ran[0][1:4] == ["-m", "pip", "install"]
    assert ran[0][-2].endswith("requirements-console.lock")


def test_without_jobs_here_the_first_one_is_made_below_crawls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def places() -> str:
        return nacre("console", "check", "--state", tmp_path / "state").out.splitlines()[0]

    monkeypatch.chdir(tmp_path)
    assert places().startswith("jobs     crawls (0 jobs; ")
    assert not (tmp_path / "crawls").exists()
    nacre("new", "图书馆", "http://127.0.0.1:9/")
    assert places().startswith("jobs     . (1 job; ")
    (tmp_path / "crawls").mkdir()
    assert places().startswith("jobs     crawls (0 jobs; ")
