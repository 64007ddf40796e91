"""The example package, built and put into a directory of its own, as a user would install it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from nacre import plugin, plugin_reports
from nacre.config.registry import CONTRACT
from tests.cli.site import site

pytestmark = pytest.mark.timeout(300)  # each starts several interpreters
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
PAGES = {
    "/": '<p>many words are here</p><a href="a.html">a</a><a href="b.html?x=1&y=2">b</a>',
    "/a.html": '<a href="c.html">few</a>',
    "/robots.txt": "",
}
CONFIG = """
seeds: [{url}]
scope: [accept, {{rule: many-parameters, decision: REJECT, most: 1}}]
politeness: {{delay: 0}}
extract: {{infer_favicon: false}}
network: {{allow: [127.0.0.0/8]}}
chains:
  fetch:
    insert: [{{processor: count-words, follow_from: 3}}]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without a network, and without touching the environment."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(EXAMPLE, folder / "source")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=source, check=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "target"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def nacre(target: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "nacre", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


class Ran(NamedTuple):
    """What a command did."""

    returncode: int
    stdout: str
    stderr: str


IN_ONE = """
import json, sys
from tests.cli.site import nacre
ran = [nacre(*words) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.code, one.out, one.err] for one in ran]))
"""


def in_one(target: Path, *commands: tuple[object, ...]) -> list[Ran]:
    """What several commands do in one process: to start one takes longer than most of them."""
    path = os.pathsep.join([str(target), str(ROOT), os.environ.get("PYTHONPATH", "")])
    words = json.dumps([[str(word) for word in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE, words],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [Ran(*one) for one in json.loads(done.stdout)]


def made(folder: Path, url: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "crawl.yaml").write_text(CONFIG.format(url=url))
    return folder


def test_an_installed_plug_in_works(installed: Path, tmp_path: Path):
    with site(PAGES) as url:
        job = made(tmp_path / "job", url)
        explain = ("check", job, "--explain", "chains.fetch", "--json")
        checked, shown = in_one(installed, ("check", job), explain)
        ran = nacre(installed, "run", job, "--quiet")
    assert checked.returncode == 0, checked.stderr + checked.stdout
    entries = json.loads(shown.stdout)
    assert "chains.fetch.count-words" in [entry["setting"] for entry in entries]
    assert ran.returncode == 0, ran.stderr
    logs = job / "latest" / "logs"
    lines = (logs / "words.log").read_text().splitlines()
    counted = {line.split()[1]: int(line.split()[0]) for line in lines}
    assert counted == {url: 6, url + "a.html": 1}
    crawl = (logs / "crawl.log").read_text()
    assert "words:6" in crawl
    assert "c.html" not in crawl
    assert "b.html" not in crawl
    report = ("report", job)
    processors, words, known = in_one(
        installed, (*report, "processors", "--heritrix"), (*report, "words"), (*report, "list")
    )
    assert "nacre_words.CountWords (count-words)" in processors.stdout
    assert "Words" in words.stdout, words.stderr
    assert "/a.html" in words.stdout
    assert "how many words the pages have" in known.stdout


@pytest.mark.slow
def test_it_has_tests_of_its_own_that_pass(installed: Path):
    """As its author runs them, outside of this checkout's configuration."""
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    tests = installed.parent / "source" / "tests"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        cwd=installed.parent / "source",
        # What else is installed here is not needed, and takes longer to load than its tests.
        env=os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


@pytest.mark.slow
def test_its_command_is_one_of_nacre(installed: Path, tmp_path: Path):
    (tmp_path / "job").mkdir()
    assert "An example of a plug-in" in nacre(installed, "--help").stdout
    asked, missing = in_one(installed, ("words", "--help"), ("words", tmp_path / "job"))
    assert "--top" in asked.stdout, asked.stderr
    assert missing.returncode == 2
    assert missing.stderr.startswith("nacre: ")


EXTRACTORS = {
    "[uri-list]": "",
    "[uri-lists]": "there is no extractor 'uri-lists'; did you mean `uri-list`?",
    "[css]": "the extractor 'css' is Nacre's own, which is always used",
}


@pytest.mark.slow
def test_its_extractor_is_named_in_the_configuration(installed: Path, tmp_path: Path):
    jobs = []
    for number, names in enumerate(EXTRACTORS):
        job = made(tmp_path / str(number), "http://127.0.0.1:9/")
        text = (job / "crawl.yaml").read_text()
        (job / "crawl.yaml").write_text(
            text.replace("infer_favicon: false", f"infer_favicon: false, extractors: {names}")
        )
        jobs.append(job)
    done = in_one(installed, *(("check", job) for job in jobs))
    for said, checked in zip(EXTRACTORS.values(), done, strict=True):
        assert checked.returncode == (2 if said else 0), checked.stderr
        assert said in checked.stdout + checked.stderr


def test_its_settings_are_checked(installed: Path, tmp_path: Path):
    job = made(tmp_path / "job", "http://127.0.0.1:9/")
    text = (job / "crawl.yaml").read_text().replace("follow_from: 3", "follow_form: 3")
    (job / "crawl.yaml").write_text(text.replace("most: 1", "most: -1"))
    checked = nacre(installed, "check", job)
    assert checked.returncode == 2
    assert "follow_form" in checked.stdout + checked.stderr
    assert "most" in checked.stdout + checked.stderr


def test_without_it_its_names_are_unknown(tmp_path: Path):
    job = made(tmp_path / "job", "http://127.0.0.1:9/")
    checked = nacre(tmp_path, "check", job)
    assert checked.returncode == 2
    said = checked.stdout + checked.stderr
    assert "there is no rule 'many-parameters'" in said
    assert "there is no processor 'count-words'" in said


def test_the_schema_knows_it(installed: Path):
    kinds = json.loads(nacre(installed, "schema").stdout)["$defs"]
    assert "follow_from" in kinds["CountWords"]["properties"]
    assert {"$ref": "#/$defs/ManyParameters"} in kinds["Rule"]["anyOf"]


def test_the_contract_names_what_there_is():
    text = (ROOT / "docs" / "plugins.md").read_text()
    assert f"contract {CONTRACT}" in text
    assert [name for name in plugin.__all__ if f"`{name}`" not in text] == []
    assert all(hasattr(plugin, name) for name in plugin.__all__)
    assert [name for name in plugin_reports.__all__ if f"`{name}`" not in text] == []
