"""How mutants are tried: code is replaced in a process, forks are awaited, tests are chosen."""

import ast
import importlib.util
import io
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from tools.mutant_trials import Trial, Trials, forked, replace_code

TEXT = """
import functools

class Queue:
    def __init__(self):
        self.size = 1

    @property
    def full(self):
        return self.size > 3

    @full.setter
    def full(self, value):
        self.size = 4 if value else 0

    def later(self):
        return lambda: self.size + 1

    @functools.lru_cache
    def kept(self, by=2):
        return self.size * by

made_at_once = Queue().later()
"""


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    file = tmp_path / "changed_queue.py"
    file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("changed_queue", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "changed_queue", module)
    spec.loader.exec_module(module)
    return module


def changed(module: ModuleType, old: str, new: str) -> bool:
    assert TEXT.count(old) == 1
    return replace_code(Path(str(module.__file__)), ast.parse(TEXT.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "look", "expected"),
    [
        ("self.size = 1", "self.size = 2", "Queue().size", 2),
        ("size > 3", "size < 3", "Queue().full", True),
        ("self.size + 1", "self.size - 1", "Queue().later()()", 0),
        ("self.size * by", "self.size // by", "Queue().kept()", 0),
    ],
)
def test_functions_take_the_code_that_they_have_in_the_changed_module(
    queue: ModuleType, old: str, new: str, look: str, expected: object
):
    before = eval(look, vars(queue))
    assert changed(queue, old, new)
    assert before != expected
    queue.Queue.kept.cache_clear()
    assert eval(look, vars(queue)) == expected


def test_of_two_functions_with_one_name_the_one_at_that_line_is_changed(queue: ModuleType):
    assert changed(queue, "4 if value", "9 if value")
    one = queue.Queue()
    one.full = True
    assert (one.size, one.full) == (9, True)


def test_a_default_is_out_of_reach(queue: ModuleType):
    assert not changed(queue, "by=2", "by=3")
    assert queue.Queue().kept() == 2


def test_a_closure_that_exists_cannot_take_code_with_other_variables(queue: ModuleType):
    assert not changed(queue, "lambda: self.size + 1", "lambda: 1")


def ended_as(*codes: int, seconds: float = 30.0, workers: int = 2) -> dict[int, int]:
    found: dict[int, int] = {}

    def job(code: int) -> int:
        if code == 99:
            raise LookupError("the trial itself fails")
        if code == 77:
            time.sleep(60)
        return code

    jobs = [lambda code=code: job(code) for code in codes]
    forked(jobs, workers, seconds, found.__setitem__)
    return found


def test_forks_end_with_the_code_of_their_job(capfd: pytest.CaptureFixture[str]):
    assert ended_as(0, 1, 3, 99, 1, workers=3) == {0: 0, 1: 1, 2: 3, 3: 4, 4: 1}
    assert "the trial itself fails" in capfd.readouterr().err


def test_a_fork_that_hangs_is_ended():
    assert ended_as(77, seconds=0.05) == {0: -1}


def test_what_a_fork_changes_stays_in_it():
    here = [os.getpid()]

    def job() -> int:
        here.append(0)
        return len(here)

    forked([job, job], 1, 30.0, lambda _number, code: here.append(code))
    assert here[1:] == [2, 3]


def test_a_mutant_that_no_test_runs_has_none():
    trial = Trial("a", Path("queue.py"), 3, lambda: ast.parse(""))
    assert Trials([trial], 1, io.StringIO()).tests_of(0) == []
