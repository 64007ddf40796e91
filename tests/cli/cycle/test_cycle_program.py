"""The command line of `nacre cycle DIR …`."""

import subprocess
import sys
from dataclasses import dataclass, field

import pytest
import typer

from nacre.cli.cycle.commands import cycle
from nacre.cli.cycle.program import NUTCH, CycleGroup, answer_nutch, split_arguments
from nacre.errors import ConfigError
from tests.cli.site import nacre


@dataclass
class Option:
    """A parameter, as Typer has it."""

    opts: list[str]
    is_flag: bool = False
    secondary_opts: list[str] = field(default_factory=list)


PARAMS = [Option(["--top"]), Option(["--seeds", "-s"]), Option(["--json"], True),
          Option(["--quiet", "-q"], True)]  # fmt: skip


@pytest.mark.parametrize("option", ["-topN", "-numFetchers", "--size-fetchlist", "-w"])
def test_an_option_of_nutch_is_answered_with_ours(option):
    done = nacre("cycle", "x", option, "5")
    assert done.code == 2
    assert f"{option} is an option of Nutch" in done.err
    assert NUTCH[option] in done.err


def test_an_option_of_nutch_at_a_step():
    done = nacre("cycle", "x", "inject", "list.txt", "-noFilter")
    assert done.code == 2
    assert "`--no-filter`" in done.err


@pytest.mark.parametrize(
    ("step", "option", "ours"),
    [("readseg", "-list", "`--list`"), ("segments", "-slice", "`segments slice N`")],
)
def test_what_another_step_does_here_is_named(step, option, ours):
    done = nacre("cycle", "x", step, option, "5")
    assert (done.code, f"{option} is an option of Nutch" in done.err) == (2, True)
    assert ours in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-i",), "`--index`"),
        (("readdb", "-min", "2"), "`--min`"),
        (("readdb", "-retry", "2"), '`--where "retries = N"`'),
        (("readdb", "-listen", "9000"), "`readdb --url URL --json` answers"),
        (("index", "-deleteGone"), "`index` always takes out pages that are gone"),
        (("generate", "-crawlId", "a"), "a directory is a crawl"),
        (("-crawlId", "a"), "a directory is a crawl"),
    ],
)
def test_spellings_of_nutch_have_an_answer(words, said):
    done = nacre("cycle", "x", *words)
    assert (done.code, "is an option of Nutch" in done.err) == (2, True)
    assert said in done.err


def test_every_option_of_ours_that_is_named_is_one():
    group = typer.main.get_command(cycle)
    assert isinstance(group, CycleGroup)
    params = [*group.params, *(one for step in group.commands.values() for one in step.params)]
    options = {name for one in params for name in (*one.opts, *one.secondary_opts)}
    named = {ours.split()[0] for ours in NUTCH.values() if ours}
    assert {ours for ours in named if ours.startswith("-")} <= options
    assert {ours for ours in named if not ours.startswith("-")} <= set(group.commands)


def test_what_nutch_has_and_we_need_not_is_said():
    with pytest.raises(ConfigError, match="nothing is locked"):
        answer_nutch(["-force"])
    with pytest.raises(ConfigError, match="`--dedup`"):
        answer_nutch(["--dedup-group"])
    answer_nutch(["--", "-topN"])
    answer_nutch(["--top", "5"])


@pytest.mark.parametrize(
    ("args", "own", "rest"),
    [
        (["D", "--top", "5"], ["--top", "5", "D"], []),
        (["--top", "5", "D"], ["--top", "5", "D"], []),
        (["D", "--top=5", "--json"], ["--top=5", "--json", "D"], []),
        (["D", "-s", "http://a/", "inject", "x"], ["-s", "http://a/", "D"], ["inject", "x"]),
        (["D", "inject", "--json"], ["D"], ["inject", "--json"]),
        (["D", "-q", "inject"], ["-q", "D"], ["inject"]),
        (["D", "-shttp://a/"], ["-shttp://a/", "D"], []),
        (["D", "--", "inject"], ["D"], ["--", "inject"]),
        ([], [], []),
        (["D", "--top"], ["--top", "D"], []),
    ],
)
def test_options_stand_behind_the_directory(args, own, rest):
    assert split_arguments(PARAMS, args) == (own, rest)


def test_help_of_a_step_in_the_usual_orders():
    for words in (("cycle", "x", "inject", "--help"), ("help", "cycle", "inject")):
        done = nacre(*words)
        assert done.code == 0
        assert "nutch.fetchInterval" in done.out
    assert "cycle" in nacre("--help").out


@pytest.mark.slow
def test_the_continuous_crawler_imports_nothing_of_it():
    code = (
        "import sys\n"
        "import nacre.cli.app, nacre.cli.running, nacre.job.job\n"
        "print([name for name in sys.modules if name.startswith(('nacre.rounds', 'nacre.crawldb',"
        " 'nacre.cli.cycle', 'duckdb', 'pyarrow'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The settings of the section `cycle:` are settings as all others.
    allowed = {"nacre.crawldb", "nacre.crawldb.settings", "nacre.crawldb.scoring"}
    assert set(eval(done.stdout)) <= allowed


@pytest.mark.parametrize("command", ["run", "recrawl"])
def test_the_continuous_crawler_leaves_a_batch_crawl_alone(command, tmp_path):
    (tmp_path / "cycle" / "versions").mkdir(parents=True)
    (tmp_path / "crawl.yaml").write_text("name: x\n")
    done = nacre(command, str(tmp_path))
    assert done.code == 2
    assert f"nacre cycle {tmp_path} --rounds 1" in done.err
