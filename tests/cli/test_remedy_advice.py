import shlex

import pytest

from nacre.cli.remedy_advice import remedy_advice
from nacre.job.diagnosis import Diagnosis, Value
from nacre.job.diagnosis_text import REMEDIES
from nacre.job.overview import SlowQueue

QUEUE = SlowQueue("test,a,#8080", 5, 1.0, 5.0, host="a.test")


def advice(code: str, lever: str, **params: Value) -> str:
    (found,) = remedy_advice(Diagnosis(code, params, (lever,)), [QUEUE], "jobs/a")
    return found


def test_each_lever_has_a_command_but_for_what_none_does():
    for name, text in REMEDIES.items():
        said = advice("ready", name, why="operator", prefix="http://x.test/")
        assert said.startswith(text)
        assert ("`" in said) == (name != "free-space"), name


def test_levers_for_a_host_name_it():
    delay = advice("one-host", "delay", host="a.test")
    assert delay.endswith("(`nacre set jobs/a politeness.delay=... --for http://a.test:8080/`)")
    retire = advice("one-host", "retire", host="a.test")
    assert shlex.split(retire.partition("`")[2].rstrip("`)"))[-1] == r"^test,a,\#8080$"
    assert advice("one-host", "retire", host="b.test").endswith("(`nacre frontier jobs/a retire`)")
    wake = advice("retries", "wake", queue="test,b,")
    assert wake == "try now (`nacre frontier jobs/a wake --queue '^test,b,$'`)"


def test_a_trap_is_excluded_by_one_command():
    said = advice("trap", "exclude", prefix="http://a.test/rili?")
    assert said == (
        r"exclude it (`nacre frontier jobs/a exclude --regex '^https?://a\.test/rili\?'`)"
    )
    assert advice("one-host", "exclude-part").endswith(
        "(`nacre frontier jobs/a exclude --regex ...`)"
    )


@pytest.mark.parametrize(
    ("code", "lever", "command"),
    [
        ("limit-time", "limits", "nacre set jobs/a limits.time=..."),
        ("one-host", "limits", "nacre set jobs/a limits.documents=..."),
        ("paused-operator", "resume", "nacre resume jobs/a"),
        ("paused-file", "resume", "rm jobs/a/control/pause"),
        ("paused", "resume", "nacre resume jobs/a --reason '{a} b'"),
    ],
)
def test_the_command_is_that_of_the_sentence(code: str, lever: str, command: str):
    assert advice(code, lever, why="{a} b, other").endswith(f"(`{command}`)")
