"""Tries changes of the code with the unit tests that run it, in forks of one collected pytest."""

import ast
import gc
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple, NoReturn, TextIO

import coverage
import pytest

SURVIVED, KILLED, UNREACHED, BROKEN = 0, 1, 3, 4
"""Result of a trial. UNREACHED: it needs a separate process; BROKEN: the trial itself failed."""
_TOO_LONG = -1
SECONDS = 120.0
"""What the tests of one mutant may take; one that hangs is noticed."""
MEASURING = 1800.0
"""What all tests may take without a mutant."""
TESTED = 30.0
"""Seconds of tests that a mutant has to pass, as long as they take without one."""


class Trial(NamedTuple):
    """One mutant to try.

    Attributes:
        name: For the lines of progress.
        file: The module.
        line: The line that a test has to run.
        mutated: Makes the changed tree of the module.
    """

    name: str
    file: Path
    line: int
    mutated: Callable[[], ast.Module]


def replace_code(file: Path, mutated: ast.Module) -> bool:
    """Give the functions of an imported module the code that they have in a changed tree of it.

    Functions are found by name and line. False when no function has other code there, or when it
    cannot take it.
    """
    codes = dict(_codes(compile(mutated, str(file), "exec")))
    replaced = False
    for function in [
        candidate for candidate in gc.get_objects() if isinstance(candidate, FunctionType)
    ]:
        old = function.__code__
        if old.co_filename != str(file):
            continue
        new = codes.get((old.co_qualname, old.co_firstlineno), old)
        if new != old:
            if len(new.co_freevars) != len(old.co_freevars):
                return False
            function.__code__ = new
            replaced = True
    return replaced


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Yield all code objects within one, by name and line."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield (inner.co_qualname, inner.co_firstlineno), inner
            yield from _codes(inner)


def forked(
    jobs: Sequence[Callable[[], int]],
    workers: int,
    seconds: float,
    done: Callable[[int, int], None],
) -> None:
    """Run functions in separate processes, some in parallel.

    Args:
        jobs: Each gives the exit code of its process.
        workers: So many at a time.
        seconds: What each may take.
        done: Called with the number of a job, from 0, and its code; -1 when it took too long.
    """
    waiting = deque(enumerate(jobs))
    running: dict[int, tuple[int, float]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            number, job = waiting.popleft()
            pid = os.fork()
            if pid == 0:
                _become(job)
            running[pid] = number, time.monotonic() + seconds
        time.sleep(0.005)
        for pid, (number, end) in list(running.items()):
            over = time.monotonic() > end
            if over:
                os.kill(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0 if over else os.WNOHANG)
            if ended:
                del running[pid]
                code = _TOO_LONG if over else os.waitstatus_to_exitcode(status)
                done(number, code)


def _become(job: Callable[[], int]) -> NoReturn:
    """Run a job, and end the process with its code; a failure of the job itself is `BROKEN`."""
    code = BROKEN
    try:
        code = job()
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
    finally:
        os._exit(code)


class Trials:
    """A plugin of pytest that tries mutants with the tests that it collected, in forks.

    Args:
        trials: The mutants.
        workers: Forks at a time.
        out: For lines of progress.

    Attributes:
        codes: How each trial ended, by its number.
        problem: Why none could begin; "" while nothing is wrong.
    """

    def __init__(self, trials: list[Trial], workers: int, out: TextIO) -> None:
        self._trials = trials
        self._workers = workers
        self._out = out
        self._seconds: dict[str, float] = {}
        self._lines: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.codes: dict[int, int] = {}
        self.problem = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure the tests, then try each mutant; in place of running the tests once."""
        with tempfile.TemporaryDirectory(prefix="nacre-trials-") as name:
            self._measure(session, Path(name))
            if self.problem:
                return True
            items = {item.nodeid: item for item in session.items}

            def job(number: int) -> Callable[[], int]:
                chosen = [items[test] for test in self.tests_of(number)]
                folder = Path(name) / str(number)
                return lambda: self._try(session, self._trials[number], chosen, folder)

            def done(number: int, code: int) -> None:
                shutil.rmtree(Path(name) / str(number), ignore_errors=True)
                self._note(number, code)

            jobs = [job(number) for number in range(len(self._trials))]
            forked(jobs, self._workers, SECONDS, done)
        return True

    def tests_of(self, number: int) -> list[str]:
        """The tests that run a mutant's line, the quickest first, `TESTED` seconds of them."""
        trial = self._trials[number]
        names = self._lines.get((str(trial.file), trial.line), set())
        chosen: list[str] = []
        total = 0.0
        for name in sorted(names, key=lambda test: (self._seconds[test], test)):
            total += self._seconds[name]
            if chosen and total > TESTED:
                break
            chosen.append(name)
        return chosen

    def _note(self, number: int, code: int) -> None:
        if code == BROKEN:
            self.problem = self.problem or f"the trial of {self._trials[number].name} failed"
            return
        self.codes[number] = code if code in (SURVIVED, UNREACHED) else KILLED
        word = {SURVIVED: "SURVIVED", UNREACHED: "in a separate process"}.get(code, "killed")
        line = f"{len(self.codes)}/{len(self._trials)} {word}: {self._trials[number].name}\n"
        self._out.write(line)
        self._out.flush()

    def _try(
        self, session: pytest.Session, trial: Trial, items: list[pytest.Item], folder: Path
    ) -> int:
        """In a fork: change the code, and run the tests until one fails."""
        _quiet(session, folder)
        if not items:
            return SURVIVED
        importlib.import_module(_module_name(trial.file))
        if not replace_code(trial.file, trial.mutated()):
            return UNREACHED
        for item, following in zip(items, [*items[1:], None], strict=True):
            _run(item, following)
            if session.testsfailed:
                return KILLED
        return KILLED if _left_open() else SURVIVED

    def _measure(self, session: pytest.Session, folder: Path) -> None:
        """Find out which test runs which line, and how long each test takes."""
        by_file: dict[Path, list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            by_file[item.path].append(item)
        portions: list[list[pytest.Item]] = [[] for _ in range(self._workers)]
        for number, items in enumerate(by_file.values()):
            portions[number % self._workers] += items

        def job(number: int) -> Callable[[], int]:
            return lambda: self._run_measured(session, portions[number], folder / f"m{number}")

        def done(number: int, code: int) -> None:
            if code != SURVIVED:
                failed = folder / f"m{number}.failed"
                reason = failed.read_text() if failed.exists() else f"exit code {code}"
                self.problem = f"the unit tests fail without a mutant: {reason}"
                return
            seconds, lines = json.loads((folder / f"m{number}.json").read_text())
            self._seconds |= seconds
            for file, line, tests in lines:
                self._lines[file, line].update(tests)

        forked([job(number) for number in range(self._workers)], self._workers, MEASURING, done)
        self._out.write(f"{len(self._seconds)} tests measured\n")
        self._out.flush()

    def _run_measured(self, session: pytest.Session, items: list[pytest.Item], folder: Path) -> int:
        """In a fork: run tests, and write down their times and lines."""
        _quiet(session, folder)
        files = sorted({str(trial.file) for trial in self._trials})
        measured = coverage.Coverage(data_file=None, include=files, config_file=False)
        measured.start()
        seconds: dict[str, float] = {}
        for item, following in zip(items, [*items[1:], None], strict=True):
            measured.switch_context(item.nodeid)
            start = time.perf_counter()
            _run(item, following)
            seconds[item.nodeid] = time.perf_counter() - start
            if session.testsfailed:
                folder.with_name(f"{folder.name}.failed").write_text(item.nodeid)
                return KILLED
        measured.stop()
        data = measured.get_data()
        lines = [
            (file, line, [test for test in tests if test])
            for file in files
            for line, tests in data.contexts_by_lineno(file).items()
        ]
        folder.with_name(f"{folder.name}.json").write_text(json.dumps([seconds, lines]))
        return SURVIVED


def _run(item: pytest.Item, following: pytest.Item | None) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _quiet(session: pytest.Session, folder: Path) -> None:
    """Silence a fork, and give it a separate folder for temporary files."""
    folder.mkdir()
    session.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined] # noqa: SLF001 - forks share no folder
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def _left_open() -> bool:
    """Whether something is collected now that complains, such as a file that is not closed."""
    errors: list[object] = []
    sys.unraisablehook = lambda unraisable: errors.append(unraisable.exc_value)
    gc.collect()
    return bool(errors)


def _module_name(file: Path) -> str:
    """Return the dotted name of a module below `src`."""
    parts = file.with_suffix("").parts
    return ".".join(parts[len(parts) - parts[::-1].index("src") :])
