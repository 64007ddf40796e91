"""What the README and the pages beside it promise, tried."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.site import site
from tests.docs.test_commands import PAGES_OF_DOCS

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_two_commands_are_on_the_first_screen():
    first = README.splitlines()[:24]
    assert any("./nacre crawl http" in line for line in first)
    assert any(line.strip() == "make test" for line in first)


def run_program(page: str, folder: Path, number: int = 0) -> tuple[str, list[str]]:
    """Runs a program of a page on the small site: its home, and what was printed."""
    text = (ROOT / page).read_text("utf-8")
    program = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[number]
    with site() as home:
        done = subprocess.run(
            [sys.executable, "-c", program.replace("http://127.0.0.1:8080/", home)],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT / "src"), "XDG_CONFIG_HOME": str(folder), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stderr == ""
    return home, done.stdout.splitlines()


def test_the_program_runs(tmp_path: Path):
    home, lines = run_program("README.md", tmp_path)
    assert lines[-1] == "FINISHED"
    assert any(line.startswith(f"200 text/html {home}a.html NACRE-") for line in lines)
    assert (tmp_path / "crawls" / "program" / "latest" / "archive").is_dir()


def test_the_program_of_the_api_runs(tmp_path: Path):
    home, lines = run_program("docs/api.md", tmp_path, 1)
    assert any(line.startswith(f"200 {home}b.html 11 b'<p>text</p>'") for line in lines)
    assert "PREPARING -> RUNNING" in lines
    assert lines[-1].startswith("FINISHED in ")


def test_every_page_is_linked_from_the_list_of_pages():
    """The README leads to docs/index.md, and that page to all others."""
    assert "(docs/index.md)" in README
    linked = set(re.findall(r"\]\(([a-z/-]+\.md)", (ROOT / "docs" / "index.md").read_text("utf-8")))
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages - linked == {"index.md"}


def test_pages_are_short():
    """A page that people write has at most 400 lines."""
    lengths = {page: len((ROOT / page).read_text("utf-8").splitlines()) for page in PAGES_OF_DOCS}
    assert {page for page, lines in lengths.items() if lines > 400} == set()


@pytest.mark.parametrize("page", PAGES_OF_DOCS)
def test_a_page_begins_with_its_readers_and_an_example(page: str):
    title, _, text = (ROOT / page).read_text("utf-8").partition("\n")
    assert title.startswith("# ")
    assert page == "README.md" or text.lstrip("\n").startswith(("For ", "本页面向"))
    screen = text.splitlines()[:40]
    assert any(line.startswith(("    ", "```")) for line in screen)


@pytest.mark.parametrize("page", PAGES_OF_DOCS)
def test_links_between_pages_lead_somewhere(page: str):
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", PAGES_OF_DOCS)
def test_commands_and_options_exist(page: str):
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    text = (ROOT / page).read_text("utf-8")
    if page == "docs/wget.md":
        text = re.sub(r"^\|[^|]*\|", "|", text, flags=re.MULTILINE)  # wget's own options
    for name in re.findall(r"(?<!from )\bnacre ([a-z]+) ", text):
        assert re.search(rf"^## nacre {name}\b", commands, re.MULTILINE), name
    of_a_job = r"\bnacre (frontier|archive|sheet|history) [A-Za-z][\w/]* ([a-z]+)"
    for name, action in re.findall(of_a_job, text):
        assert f"### nacre {name} DIR {action}" in commands, (name, action)
    examples = " ".join(re.findall(r"^ {4}.*\bnacre .*$", text, re.MULTILINE))
    options = re.findall(r"`(--[a-z-]+)", text) + re.findall(r" (--[a-z][a-z-]*)", examples)
    for option in options:
        assert f"`{option}`" in commands, option
