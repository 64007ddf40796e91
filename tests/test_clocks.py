"""The time of day has one source: the clock of a job, which `--now` moves."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "nacre"
ALWAYS = frozenset(
    (
        *("time.time", "time.time_ns", "time.clock_gettime", "datetime.now", "datetime.utcnow"),
        *("datetime.today", "date.today", "uuid.uuid1", "time.ctime", "time.asctime"),
    )
)
"""Calls and names that read the machine's time of day."""
WITHOUT_A_TIME = {
    "time.gmtime": 0, "time.localtime": 0, "utils.formatdate": 0, "formatdate": 0,
    "time.strftime": 1,
}  # fmt: skip
"""Functions of modules that read it if they have only so many positional arguments."""
LAST = frozenset(name.rpartition(".")[2] for name in (*ALWAYS, *WITHOUT_A_TIME))
"""Their last words: to write out a name costs more than to look at its last word."""
SQL = ("current_timestamp", "datetime('now'", "strftime('%s'", "unixepoch()", "get_current_time")

OUTSIDE_OF_A_RUN = {
    "browser/authority.py": "the dates of certificates for a browser, which has the real time",
    "cli/console.py": "the console",
    "cli/console_books.py": "the console",
    "cli/console_users.py": "the console",
    "cli/console_webhooks.py": "the console",
    "cli/control.py": "looks at a job that another process runs",
    "cli/cycle/display.py": "the progress of a step on a terminal",
    "rounds/opening.py": "the default of --at, which is --now of a step",
    "ops/starts.py": "looks up names for a check",
    "ops/handles.py": "an operation that a program asks for",
    "ops/new_job.py": "the default without --now; looks up names for a check",
    "cli/identity.py": "the dates of a key and of its directory, which servers compare with theirs",
    "cli/operations.py": "an operation of the user at a terminal",
    "cli/options.py": "the default without --now",
    "cli/reports.py": "the present of a report that is asked for later",
    "cli/running.py": "the default of callers without --now",
    "cli/summary.py": "the default of callers without --now",
    "console/rounds/tasks.py": "the console",
    "web/workers/views.py": "the console",
    "rounds/engine/spark.py": "compares the clocks of machines",
    "rounds/fetch_check.py": "looks up names for a check",
    "rounds/steps/fetch.py": "limits and reports of units, which fetch by the real time",
    "rounds/units/unit_process.py": "limits of units, which fetch by the real time",
    "editing/findings.py": "looks up names for a check",
    "catalogue/build.py": "the time of an update, and its limit",
    "catalogue/query.py": "the limit of a search",
    "cli/replay.py": "the server of replay",
    "ops/evidence.py": "the date of a package; the default of callers without a clock",
    "ops/browser_check.py": "the age of a browser that is installed",
    "ops/packing.py": "the date of a package; the default of callers without a clock",
    "inspect/reports/source.py": "the present of a report that is asked for later",
    "inspect/view.py": "looks at a job that does not run",
    "job/api.py": "looks up names for a check; looks at other jobs",
    "job/job.py": "the default of callers without --now",
    "job/start_survey.py": "looks up names for a check",
}
"""Modules that make a clock of the machine, and why a moved clock does not concern them."""


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), path.read_text("utf-8")


def last_of(node: ast.expr) -> str:
    """Return the last word of a name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def reads_of_the_machine(text: str) -> list[str]:
    """The places of a module that read the time of day past the clock."""
    tree = ast.parse(text)
    places = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in LAST:
            name = ".".join(ast.unparse(node).split(".")[-2:])
            places += [f"{node.lineno}: {name}"] if name in ALWAYS else []
        if isinstance(node, ast.Call) and last_of(node.func) in LAST:
            called = ".".join(ast.unparse(node.func).split(".")[-2:])
            if len(node.args) <= WITHOUT_A_TIME.get(called, -1) and not node.keywords:
                places.append(f"{node.lineno}: {called}")
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            places += [f"{node.lineno}: from time" for one in node.names if one.name == "time"]
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "select" in node.value
        ):
            lowered = node.value.lower()
            line = node.lineno
            places += [f"{line}: {word}" for word in SQL if word in lowered]
    return places


def test_only_the_clock_reads_the_time_of_day():
    places = {name: found for name, text in sources() if (found := reads_of_the_machine(text))}
    assert set(places) == {"machine/clock.py"}, places


@pytest.mark.parametrize(
    "code",
    [
        "import time\nx = time.time()", "from datetime import datetime\nx = datetime.now(UTC)",
        "import datetime\nx = datetime.datetime.utcnow", "from time import time", "time.gmtime()",
        "time.strftime('%Y')", "email.utils.formatdate()", "q = 'select current_timestamp'",
    ],
)  # fmt: skip
def test_a_new_read_is_noticed(code: str):
    assert reads_of_the_machine(code)


@pytest.mark.parametrize(
    "code", ["time.strftime('%Y', moment)", "time.monotonic()", "time.gmtime(0)"]
)
def test_other_uses_of_time_are_left_alone(code: str):
    assert not reads_of_the_machine(code)


def test_each_clock_of_the_machine_has_its_reason():
    using = {
        name
        for name, text in sources()
        if "SystemClock" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "SystemClock"
    }
    assert using - {"machine/clock.py"} == set(OUTSIDE_OF_A_RUN)
