"""Runs tests in several processes that share one collection: a plugin of pytest.

`pytest -p tools.forks --forks 4` collects the tests once and forks; each process asks for tests
until none is left. pytest-xdist collects them in each of its processes, which for sixteen thousand
tests is much of their time.

What is handed out at a time are tests of one module that follow each other, so that a fixture of a
module is made once in most cases; towards the end they are ever fewer, so that all processes end
at about the same time. Between two portions only fixtures of the session stay.

A process that dies is a failure of the test that it ran; another process runs the other tests. So
is one that says nothing for longer than its test may take: what does not return to Python is out of
reach of the signal with which pytest-timeout ends a test.
"""

import os
import signal
import sys
import time
import traceback
import warnings
from contextlib import suppress
from multiprocessing import Pipe, util
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, NoReturn

import pytest

MOST = 64
"""Tests that are handed out at a time, at most."""
PORTIONS = 4
"""Portions of the remaining tests for each process."""
GRACE = 60.0
"""Seconds beyond the timeout of a test after which its process is killed."""
ENDS = 10.0
"""Seconds within which a process ends that was asked to, or that closed its link."""
_LOOK = 1.0
"""Seconds after which processes that say nothing are looked at."""


class ForkHooks:
    """What a plugin may say of the processes."""

    def pytest_fork_ends(self, config: pytest.Config) -> list[str]:  # type: ignore[empty-body]
        """Called in a process after its last test; its results go to `pytest_fork_ended`.

        Args:
            config: Of the run.
        """

    def pytest_fork_ended(self, config: pytest.Config, said: list[str]) -> None:
        """Called in the first process for each of the others.

        Args:
            config: Of the run.
            said: What `pytest_fork_ends` gave there.
        """


class _Said(NamedTuple):
    """A message of a process.

    Attributes:
        number: The test that is done; -1 for none.
        reports: Its reports.
        warned: Warnings since the last message: text, file, line, phase and test of each.
        left: At the end, what `pytest_fork_ends` gave; None before.
    """

    number: int = -1
    reports: tuple[dict[str, Any], ...] = ()
    warned: tuple[tuple[str, str, int, Any, str], ...] = ()
    left: tuple[str, ...] | None = None


class _Fork:
    """A process, seen from the first one.

    Attributes:
        pid: Its number.
        link: Messages come from it, and portions go to it.
        tests: Those that it has and did not report yet.
        heard: Its last message, or the portion after it; seconds of the monotonic clock.
        overdue: Seconds for which it said nothing when it was killed; 0 for one that was not.
    """

    def __init__(self, pid: int, link: "Connection[Any, Any]") -> None:
        self.pid = pid
        self.link = link
        self.tests: list[int] = []
        self.heard = time.monotonic()
        self.overdue = 0.0
        self._status: int | None = None

    def has_ended(self) -> bool:
        """Return whether the process has ended; its link may have messages of it all the same."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status is not None

    def ended(self) -> int:
        """How the process ended, as of `waitpid`; one that does not end is killed."""
        last = time.monotonic() + ENDS
        while not self.has_ended():
            if time.monotonic() > last:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.01)
        assert self._status is not None
        return self._status


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    group = parser.getgroup("forks")
    group.addoption(
        "--forks", type=int, default=0, metavar="NUMBER",
        help="run the tests in so many processes that share one collection",
    )  # fmt: skip


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """The hooks."""
    pluginmanager.add_hookspecs(ForkHooks)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in forks, in place of running them here."""
    option = session.config.option
    failed = session.testsfailed and not option.continue_on_collection_errors
    if not option.forks or option.collectonly or failed or not session.items:
        return None
    ForkedRun(session, option.forks).run()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


class ForkedRun:
    """The first process: it hands out tests, and reports their results.

    Args:
        session: Its tests were collected.
        number: Of processes.
    """

    def __init__(self, session: pytest.Session, number: int) -> None:
        self._session = session
        self._config = session.config
        self._number = min(number, len(session.items))
        self._next = 0
        self._reported = 0
        self._given_back: list[int] = []
        self._forks: list[_Fork] = []
        # Made before the first fork, since the process that makes it removes older folders.
        _folders(session.config).getbasetemp()
        self._made = 0

    def run(self) -> None:
        """Run all tests."""
        # No line for each file: tests of several run at a time.
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        reporter.showfspath = False
        try:
            for _ in range(self._number):
                self._fork()
            last_look = time.monotonic()
            while self._forks:
                ready = wait([fork.link for fork in self._forks], _LOOK)
                for fork in [answering for answering in self._forks if answering.link in ready]:
                    self._hear(fork)
                if time.monotonic() - last_look >= _LOOK:
                    self._look()
                    last_look = time.monotonic()
        finally:
            for fork in [answering for answering in self._forks if not answering.has_ended()]:
                os.kill(fork.pid, signal.SIGTERM)
            for fork in self._forks:
                fork.ended()
        stops = self._session.shouldfail or self._session.shouldstop
        if not stops and self._reported != len(self._session.items):
            lost = len(self._session.items) - self._reported
            self._session.shouldfail = (
                f"{lost} tests were handed out, and nothing was heard of them"
            )

    def _look(self) -> None:
        """Find processes that ended without a word, or that do not end."""
        for fork in list(self._forks):
            if fork.has_ended():
                # Its link stays open while a process lives that it has forked.
                if not fork.link.poll():
                    self._end(fork)
                continue
            quiet, most = time.monotonic() - fork.heard, self._longest(fork)
            if most and quiet > most and not fork.overdue:
                fork.overdue = quiet
                os.kill(fork.pid, signal.SIGABRT)  # its stacks are shown, whatever it does
            elif fork.overdue and quiet > fork.overdue + ENDS:
                os.kill(fork.pid, signal.SIGKILL)

    def _longest(self, fork: _Fork) -> float:
        """Seconds for which a process may say nothing; 0 without a limit."""
        seconds = getattr(self._config, "_env_timeout", None)
        item = self._session.items[fork.tests[0]] if fork.tests else None
        marker = item.get_closest_marker("timeout") if item is not None else None
        if marker is not None:
            seconds = marker.args[0] if marker.args else marker.kwargs.get("timeout", seconds)
        return seconds + GRACE if seconds else 0.0

    def _fork(self) -> None:
        here, there = Pipe()
        self._config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        self._made += 1
        with warnings.catch_warnings():
            # From 3.12 on Python warns when libraries have threads: those of ours are idle.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            for link in (here, *(fork.link for fork in self._forks)):
                link.close()
            _become(self._session, there, f"fork{self._made}")
        there.close()
        self._forks.append(_Fork(pid, here))

    def _hear(self, fork: _Fork) -> None:
        """Take the next message of a process, or its end."""
        try:
            message = fork.link.recv()
        except (EOFError, OSError):  # an OSError where it died in the middle of a message
            self._end(fork)
            return
        fork.heard = time.monotonic()
        if message is None:
            self._give(fork)
            return
        for text, file, line, when, nodeid in message.warned:
            warning = warnings.WarningMessage(UserWarning(text), UserWarning, file, line)
            self._config.hook.pytest_warning_recorded.call_historic(
                kwargs={
                    "warning_message": warning, "when": when, "nodeid": nodeid, "location": None
                }
            )  # fmt: skip
        if message.number >= 0:
            fork.tests.remove(message.number)
            self._report(message.number, message.reports)
        if message.left is not None:
            self._config.hook.pytest_fork_ended(config=self._config, said=list(message.left))

    def _give(self, fork: _Fork) -> None:
        stops = self._session.shouldfail or self._session.shouldstop
        self._given_back += fork.tests  # it skipped tests that it did not report
        fork.tests = [] if stops else self._portion()
        with suppress(BrokenPipeError, ConnectionResetError):  # it has died, which is heard next
            fork.link.send(list(fork.tests))

    def _portion(self) -> list[int]:
        """Return the next tests: of one module, as they follow each other."""
        if self._given_back:
            return [self._given_back.pop(0)]
        items = self._session.items
        size = max(1, min(MOST, (len(items) - self._next) // (PORTIONS * self._number)))
        first = self._next
        while self._next < min(len(items), first + size):
            if items[self._next].path != items[first].path:
                break
            self._next += 1
        return list(range(first, self._next))

    def _report(self, index: int, reports: tuple[dict[str, Any], ...]) -> None:
        self._reported += 1
        item, hook = self._session.items[index], self._config.hook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self._config, data=data)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _end(self, fork: _Fork) -> None:
        """A process has ended; if tests are left, another process runs them."""
        self._forks.remove(fork)
        fork.link.close()
        status = fork.ended()
        if not fork.tests and status == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if fork.overdue:
            how = f"it said nothing for {fork.overdue:.0f} s, and was killed ({how})"
        if not fork.tests:
            self._session.shouldfail = f"a process ended with {how} after its last test"
            return
        first, *not_run = fork.tests
        self._given_back += not_run
        item = self._session.items[first]
        report = pytest.TestReport(
            nodeid=item.nodeid, location=item.location, keywords={}, outcome="failed",
            longrepr=f"the process that ran {item.nodeid} ended: {how}", when="call",
        )  # fmt: skip
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._report(first, (data,))
        if not (self._session.shouldfail or self._session.shouldstop):
            self._fork()


def _become(session: pytest.Session, link: "Connection[Any, Any]", name: str) -> NoReturn:
    """In a process: run tests until there is none, and end."""
    code = 1
    try:
        _separate(session, name)
        _Runner(session, link).run()
        util._exit_function()  # type: ignore[attr-defined] # noqa: SLF001 - removes its folder
        code = 0
    except (KeyboardInterrupt, EOFError, BrokenPipeError):  # the first process ends, or has ended
        code = 2
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # without exit handlers of the first process


class _Quiet:
    """In place of what shows the progress: where a test that takes too long shows its stacks."""

    def __init__(self, config: pytest.Config) -> None:
        from _pytest.config import create_terminal_writer  # noqa: PLC0415 - of pytest itself

        self._tw = create_terminal_writer(config, sys.stderr)


def _separate(session: pytest.Session, name: str) -> None:
    """Give a process resources that it must not share: its captured output, and its folder."""
    config: Any = session.config
    signal.signal(signal.SIGTERM, _stop)
    session.testsfailed = 0
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Quiet(config), "terminalreporter")
    folders = _folders(config)
    config.option.basetemp = str(folders.getbasetemp() / name)
    config._tmp_path_factory = folders.from_config(config, _ispytest=True)  # noqa: SLF001


def _folders(config: Any) -> pytest.TempPathFactory:
    """What makes temporary folders."""
    factory: pytest.TempPathFactory = config._tmp_path_factory  # noqa: SLF001 - there is no other way to give forks their own
    return factory


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


class _Runner:
    """What a process does: it asks for tests, runs them and tells their reports.

    Args:
        session: As it was collected.
        link: To the first process.
    """

    def __init__(self, session: pytest.Session, link: "Connection[Any, Any]") -> None:
        self._session = session
        self._config = session.config
        self._link = link
        self._reports: list[dict[str, Any]] = []
        self._warned: list[tuple[str, str, int, Any, str]] = []

    def run(self) -> None:
        """Run tests until there is none."""
        self._config.pluginmanager.register(self)
        self._warned.clear()  # those before the first fork were shown there
        try:
            while tests := self._request_tests():
                for index, following in zip(tests, [*tests[1:], None], strict=True):
                    self._run(index, following)
                    if self._session.shouldfail or self._session.shouldstop:
                        break
        finally:
            self._session._setupstate.teardown_exact(None)  # noqa: SLF001 - fixtures of the session
        results = self._config.hook.pytest_fork_ends(config=self._config)
        self._tell(_Said(left=tuple(line for lines in results for line in lines)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report until its test is done."""
        to_data = self._config.hook.pytest_report_to_serializable
        self._reports.append(to_data(config=self._config, report=report))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: Any, nodeid: str
    ) -> None:
        """Keep a warning until a test is done."""
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        place = warning_message.filename, warning_message.lineno
        self._warned.append((text, *place, when, nodeid))

    def _request_tests(self) -> list[int]:
        self._link.send(None)
        tests: list[int] = self._link.recv()
        return tests

    def _run(self, index: int, following: int | None) -> None:
        items = self._session.items
        # After the last test of a portion, fixtures below the session are torn down.
        after = self._session if following is None else items[following]
        self._config.hook.pytest_runtest_protocol(item=items[index], nextitem=after)
        self._tell(_Said(index, tuple(self._reports)))
        self._reports.clear()

    def _tell(self, message: _Said) -> None:
        self._link.send(message._replace(warned=tuple(self._warned)))
        self._warned.clear()
