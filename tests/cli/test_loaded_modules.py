"""`--help`, `status`, a crawl of one page and readers of rounds load only what they need.

`bench.commands` times them.

Each list names what must not be loaded: whole packages whose import takes 20 ms or more, or parts
of ours that bring them. A time that is asserted would fail on a busy machine.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.commands import TARGETS, measure
from tests.cli.site import nacre, site

OF_THE_CRAWL = ("nacre.assembly.parts", "nacre.job.session", "nacre.engine.engine")
OF_SETTINGS = ("nacre.settings.settings", "nacre.scope.rules.stock", "nacre.fetch.settings")
OF_TERMINALS = ("rich.live", "rich.console")
OF_INCREMENTAL = (
    "nacre.planner.planner",
    "nacre.recrawl.recrawl",
    "nacre.inspect.registry",
    "nacre_simweb.world",
    "nacre_migrate.heritrix.convert",
)
LIBRARIES = ("turbohtml", "cryptography", "uvloop", "ruamel.yaml", "dns")
OF_STEPS = ("numpy", "nacre.rounds.steps.context", "nacre.search.local_index")
OF_TABLES = ("duckdb", "nacre.rounds.tables.tables", *OF_STEPS)
SELDOM = ("python_socks", "matplotlib", "pyarrow", "maxminddb", "jsonschema")


def loaded(*arguments: str) -> set[str]:
    """The modules that a command has loaded at its end."""
    code = (
        "import json, sys\n"
        f"sys.argv = ['nacre', *{list(arguments)!r}]\n"
        "from nacre.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "sys.stderr.write('\\nLOADED' + json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.rpartition("\nLOADED")[2]))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("quick") / "job"
    with site({"/": "<p>one page"}) as home:
        modules = loaded("crawl", home, "--scope", "page", "--delay", "0", "--quiet",
                         "--out", str(place))  # fmt: skip
    (place.parent / "modules.json").write_text(json.dumps(sorted(modules)))
    return place


def test_help_loads_commands_alone():
    modules = loaded("--help")
    heavy = (*OF_THE_CRAWL, *OF_SETTINGS, *OF_INCREMENTAL, *LIBRARIES, *SELDOM)
    assert [name for name in (*heavy, "pydantic", "rocksdict", "msgspec") if name in modules] == []


def test_the_help_of_a_step_loads_nothing_that_runs_it():
    modules = loaded("cycle", "x", "segments", "--help")
    heavy = (*OF_THE_CRAWL, *OF_SETTINGS, *OF_INCREMENTAL, *LIBRARIES, *OF_TABLES, *SELDOM)
    assert [name for name in (*heavy, "asyncio", "re2") if name in modules] == []


@pytest.mark.slow
def test_status_loads_neither_settings_nor_what_crawls(job: Path):
    modules = loaded("status", str(job))
    heavy = (*OF_THE_CRAWL, *OF_SETTINGS, *OF_TERMINALS, *OF_INCREMENTAL, *LIBRARIES, *SELDOM)
    assert [name for name in heavy if name in modules] == []
    assert len([name for name in modules if name.startswith("nacre.")]) < 140


def test_a_crawl_of_one_page_loads_nothing_of_what_it_does_not_do(job: Path):
    modules = set(json.loads((job.parent / "modules.json").read_text()))
    assert "nacre.assembly.parts" in modules
    heavy = (*OF_TERMINALS, *OF_INCREMENTAL, *SELDOM)
    assert [name for name in heavy if name in modules] == []


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rounds") / "rounds"
    with site({"/": "<p>one page"}) as home:
        assert nacre("cycle", place, "-s", home, "--delay", "0", "--quiet").code == 0
    return place


@pytest.mark.slow
def test_versions_of_rounds_load_no_table(rounds: Path):
    modules = loaded("cycle", str(rounds), "versions")
    heavy = (*OF_THE_CRAWL, *OF_SETTINGS, *OF_TERMINALS, *OF_INCREMENTAL, *OF_TABLES, *SELDOM)
    assert [name for name in heavy if name in modules] == []


def test_a_reader_of_tables_loads_neither_other_settings_nor_what_fetches(rounds: Path):
    modules = loaded("cycle", str(rounds), "readdb", "--stats")
    heavy = (*OF_THE_CRAWL, *OF_SETTINGS, *OF_TERMINALS, *OF_INCREMENTAL, *OF_STEPS, *SELDOM)
    assert [name for name in heavy if name in modules] == []
    assert "duckdb" in modules


@pytest.mark.slow
def test_the_benchmark_measures_them(tmp_path: Path):
    found = measure(tmp_path, 1)
    assert found.keys() == {*TARGETS, "walls", "runs"}
    assert all(found[name] > 0 for name in TARGETS)
    assert (tmp_path / "job-0" / "latest" / "archive").is_dir()
