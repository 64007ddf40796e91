"""The examples of docs/contributing.md, followed literally in a copy of the sources."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.contract import following
from tests.contract.following import PAGE, block, commands, copied, follow, run, steps

RULE = "An example: a rule for the scope"
REPORT = "An example: a report"
PROCESSOR = "An example: a new processor"
EXTRACTOR = "An example: a new extractor"
COMMAND = "An example: a new command"
OPERATION = "An example: an operation"
OPTION = "An example: an option for rounds"
PAGE_OF_CONSOLE = "An example: a page of the console"
EXAMPLES = re.findall(r"^## (An example: .*)$", PAGE, re.MULTILINE)

pytestmark = pytest.mark.timeout(240)


def made(title: str, tmp_path: Path) -> Path:
    """A copy with an example in it, whose commands have been run; the types take too long."""
    tree = copied(tmp_path)
    follow(title, tree)
    for command in commands(title):
        run(tree, command, without="types")
    return tree


IN_ONE = """
import json, sys
from tests.cli.site import nacre
for words in json.loads(sys.argv[1]):
    ran = nacre(*words)
    print(json.dumps([ran.code, ran.out + ran.err]))
"""


def in_one(tree: Path, *runs: tuple[object, ...]) -> list[tuple[int, str]]:
    """The exit codes and the output of several commands of a copy, in one process."""
    (tree / "in_one.py").write_text(IN_ONE)
    words = json.dumps([[str(word) for word in words] for words in runs])
    printed = run(tree, f".venv/bin/python in_one.py {shlex.quote(words)}")
    return [tuple(json.loads(line)) for line in printed.splitlines()]


def judgements(tree: Path, tmp_path: Path) -> list[tuple[int, bool]]:
    """Judge a URL with two parameters and one with three by the rule of the example.

    Returns:
        The exit code of each, and whether the rule is in the output.
    """
    job = tmp_path / "job"
    job.mkdir()
    (job / "crawl.yaml").write_text("seeds: [http://h.test/]\n" + block(RULE, "yaml"))
    urls = ("http://h.test/?a=1&b=2", "http://h.test/?a=1&b=2&c=3")
    checks = in_one(tree, *(("check", job, "--dry-run", url) for url in urls))
    return [(code, "too-many-parameters" in printed) for code, printed in checks]


def test_a_rule_judges(tmp_path: Path):
    """Its code and its tests as they stand there; the other commands take too long."""
    tree = copied(tmp_path)
    follow(RULE, tree)
    (tests,) = (command for command in commands(RULE) if " pytest " in command)
    run(tree, tests)
    assert judgements(tree, tmp_path) == [(0, False), (0, True)]


@pytest.mark.slow
def test_a_rule(tmp_path: Path):
    tree = made(RULE, tmp_path)
    assert "### too-many-parameters" in (tree / "docs/reference/settings.md").read_text("utf-8")
    assert judgements(tree, tmp_path) == [(0, False), (0, True)]


IN_THE_CONSOLE = """
from nacre.console.openapi import describe
from nacre.console.forms import request_fields
from nacre.console.routes import ROUTES
from nacre.ops.operation import option_line, option_words
from nacre.ops.round_requests import RoundsRequest
print(describe(ROUTES)["components"]["schemas"]["RoundsRequest"]["properties"]["where"])
print([field for field in request_fields(RoundsRequest, str) if field.name == "where"])
print(option_words(RoundsRequest(where="score > 1")), option_line(RoundsRequest))
"""


OF_AN_OPERATION = """
from nacre.console.openapi import describe
from nacre.console.routes import ROUTES
print(describe(ROUTES)["paths"]["/api/v1/jobs/{job}/note"]["post"]["summary"])
"""


@pytest.mark.slow
def test_an_operation_is_a_command_and_a_path(tmp_path: Path):
    tree = copied(tmp_path)
    follow(OPERATION, tree)
    run(tree, ".venv/bin/python -m tools.reference")
    assert "Write a line to the log of a job." in (tree / "docs/reference/commands.md").read_text(
        "utf-8"
    )
    (tree / "asked.py").write_text(OF_AN_OPERATION)
    assert run(tree, ".venv/bin/python asked.py") == "Write a line to the log of a job.\n"
    job = tmp_path / "job"
    job.mkdir()
    (job / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
    [(code, printed)] = in_one(tree, ("note", job, "网站已改版"))
    assert (code, printed) == (0, (job / "job.log").read_text("utf-8"))
    run(tree, ".venv/bin/python -m pytest -q -p no:cacheprovider tests/ops/test_note.py")


@pytest.mark.slow
def test_an_option_for_rounds_is_in_every_face_and_in_its_step(tmp_path: Path):
    tree = copied(tmp_path)
    follow(OPTION, tree)
    assert {step.path for step in steps(OPTION)} == {
        "src/nacre/ops/round_requests.py", "src/nacre/ops/round_steps.py",
    }  # fmt: skip
    run(tree, ".venv/bin/python -m tools.reference")
    assert "| `--where` SQL | Only URLs for which" in (
        tree / "docs/reference/commands.md"
    ).read_text("utf-8")
    (tree / "asked.py").write_text(IN_THE_CONSOLE)
    schema, field, words = run(tree, ".venv/bin/python asked.py").splitlines()
    assert "'description': 'Only URLs for which this is true" in schema
    assert "label='Only URLs for which this is true', kind='text'" in field
    assert "['--where=score > 1']" in words
    assert "--where SQL" in words
    job = tmp_path / "job"
    job.mkdir()
    (job / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
    rounds = ("cycle", job, "--dry-run", "--where")
    shown, injected, none, one = in_one(
        tree, ("cycle", "job", "--help"), ("cycle", job, "inject", "--quiet"),
        (*rounds, "score > 99"), (*rounds, "score > -1"),
    )  # fmt: skip
    assert (shown[0], injected[0], none[0], one[0]) == (0, 0, 10, 0), (injected, none, one)
    assert "--where" in shown[1]


@pytest.mark.slow
def test_a_page_of_the_console_is_a_rest_path_too(tmp_path: Path):
    tree = copied(tmp_path)
    follow(PAGE_OF_CONSOLE, tree)
    short = [command for command in commands(PAGE_OF_CONSOLE) if not command.startswith("make")]
    printed = [run(tree, command) for command in short]
    assert " passed" in printed[-1]


@pytest.mark.slow
def test_a_report(tmp_path: Path):
    tree = made(REPORT, tmp_path)
    names = run(tree, ".venv/bin/python -c 'import nacre; print(nacre.report_names())'")
    assert "'errors'" in names


@pytest.mark.slow
def test_a_processor(tmp_path: Path):
    tree = made(PROCESSOR, tmp_path)
    assert "### short-queries" in (tree / "docs/reference/settings.md").read_text("utf-8")
    job = tmp_path / "job"
    job.mkdir()
    (job / "crawl.yaml").write_text("seeds: [http://h.test/]\n" + block(PROCESSOR, "yaml"))
    assert "short-queries" in run(tree, f"./nacre check {job} --explain chains.fetch")


@pytest.mark.slow
def test_an_extractor(tmp_path: Path):
    tree = made(EXTRACTOR, tmp_path)
    known = "from nacre.extract.dispatch import EXTRACTORS; print(EXTRACTORS.names())"
    assert "'uri-list'" in run(tree, f'.venv/bin/python -c "{known}"')


@pytest.mark.slow
def test_a_command(tmp_path: Path):
    tree = made(COMMAND, tmp_path)
    assert "Print the directory of the logs" in run(tree, "./nacre logs --help")
    assert "## nacre logs" in (tree / "docs/reference/commands.md").read_text("utf-8")


def test_the_page_says_which_commands_check_a_change():
    assert EXAMPLES
    for title in EXAMPLES:
        assert any(command.startswith("make format") for command in commands(title)), title
        assert any(" pytest " in command for command in commands(title)), title


def test_a_step_is_put_where_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = (
        "## Example\n\n1. `a.py`: more.\n\n   ```python\n   import b\n\n   C = b.D\n   ```\n"
        "2. `new.py`: made.\n\n   ```python\n   E = 1\n   ```\n3. No file.\n\n    make x  # y\n"
        "## Other\n\n1. `a.py`: no\n"
    )
    monkeypatch.setattr(following, "PAGE", page)
    (tmp_path / "a.py").write_text('"""A."""\n\nimport a\n\nA = a.B\n')
    follow("Example", tmp_path)
    assert (tmp_path / "a.py").read_text() == (
        '"""A."""\n\nimport a\nimport b\n\nA = a.B\n\n\n\nC = b.D\n'
    )
    assert (tmp_path / "new.py").read_text() == "E = 1\n"
    assert commands("Example") == ["make x"]
    with pytest.raises(AssertionError, match="no steps"):
        follow("Other", tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_examples_have_types(tmp_path: Path):
    tree = copied(tmp_path)
    for title in EXAMPLES:
        assert steps(title)
        follow(title, tree)
    run(tree, "make types")
