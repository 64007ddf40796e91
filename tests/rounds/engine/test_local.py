"""The engine of this machine: results, failures, killed processes, its end."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from nacre.crawldb.kernels import Kernel
from nacre.errors import ConfigError, DamageError, StorageError
from nacre.machine.local_files import remove_left_behind
from nacre.rounds.engine import BrokenTaskError, GuardedTask, TaskFailure, to_exception
from nacre.rounds.engine.local import LocalEngine, usable_cores
from nacre.rounds.storage import MissingFileError


def square(number):
    return number * number, os.getpid()


def fails(spec):
    kind, message = spec
    raise {"config": ConfigError, "damage": DamageError, "bug": ValueError}[kind](message)


def fails_twice(folder):
    """Storage that is full at first; a file per attempt."""
    count = len(list(Path(folder).iterdir()))
    Path(folder, str(count)).touch()
    if count < 2:
        raise StorageError(f"{folder}: no space")
    return count


def always_full(folder):
    Path(folder, str(len(list(Path(folder).iterdir())))).touch()
    raise MissingFileError("s3://b/x: gone")


def killed_once(spec):
    folder, number = spec
    mark = Path(folder, f"died-{number}")
    if number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def always_killed(_):
    os.kill(os.getpid(), signal.SIGKILL)


NONE = (0.0, 0.0, 0.0)


@pytest.fixture(params=[1, 2])
def engine(request):
    made = LocalEngine(request.param, pauses=NONE)
    yield made
    made.close()
    made.close()


@pytest.fixture
def pool():
    made = LocalEngine(2, pauses=NONE)
    yield made
    made.close()


def test_results_stand_in_the_order_of_the_specs(engine):
    heard = []
    found = engine.map(square, list(range(9)), lambda number, result: heard.append(number))
    assert [result for result, _ in found] == [n * n for n in range(9)]
    assert sorted(heard) == list(range(9))
    assert engine.map(square, []) == []
    assert {pid == os.getpid() for _, pid in found} == {engine.workers == 1}


def test_processes_serve_several_maps(pool):
    first = {pid for _, pid in pool.map(square, range(6))}
    second = {pid for _, pid in pool.map(square, range(6))}
    assert first & second


def test_errors_of_a_task_keep_their_kind(engine):
    with pytest.raises(DamageError, match="b0001: broken"):
        engine.map(fails, [("damage", "b0001: broken")] * 2)
    with pytest.raises(ConfigError, match="no such column"):
        engine.map(fails, [("config", "no such column")] * 2)
    with pytest.raises(BrokenTaskError, match=r"(?s)ValueError: oh.*in fails"):
        engine.map(fails, [("bug", "oh")] * 2)


def test_a_storage_error_is_tried_again(engine, tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.mkdir()
    two.mkdir()
    assert engine.map(fails_twice, [str(one), str(two)]) == [2, 2]


def test_a_storage_error_that_stays_is_told(engine, tmp_path):
    with pytest.raises(StorageError, match="failed 4 times: s3://b/x: gone"):
        engine.map(always_full, [str(tmp_path)] * 2)


def test_there_is_a_pause_before_each_further_attempt(monkeypatch, tmp_path):
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with pytest.raises(StorageError, match="the same command goes on where it stopped"):
        LocalEngine(1).map(always_full, [str(tmp_path)])
    assert [pause for pause in pauses if pause] == [1.0, 2.0, 4.0]


def disk_is_full(_):
    with Kernel(60 * 10**6, directories=["/dev"]) as kernel:
        kernel.write("select range as n from range(1000000)", "/dev/full")


def test_a_full_disk_is_tried_again_and_told():
    with pytest.raises(StorageError, match=r"failed 4 times: /dev/full cannot be written.*space"):
        LocalEngine(1, NONE).map(disk_is_full, [1])


def test_a_killed_process_is_replaced(pool, tmp_path):
    assert pool.map(killed_once, [(str(tmp_path), n) for n in range(5)]) == list(range(5))


def test_a_task_that_kills_each_of_its_processes_ends_the_map(pool):
    with pytest.raises(StorageError, match="failed 4 times: its process died"):
        pool.map(always_killed, [1, 2])


def test_errors_below_another_travel_as_that():
    guarded = GuardedTask(fails)
    found = guarded(("damage", "x"))
    assert found == TaskFailure("DamageError", "x")
    assert isinstance(to_exception(found), DamageError)
    assert type(to_exception(TaskFailure("URIError", "y"))) is StorageError


def test_cores_are_those_that_this_process_may_use():
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    assert LocalEngine().workers == usable_cores()


DRIVER = """
    import os, sys, time
    from nacre.rounds.engine.local import LocalEngine
    from tests.rounds.engine.test_local import stays

    LocalEngine(2).map(stays, [sys.argv[1]] * 2)
"""


def stays(folder):
    Path(folder, str(os.getpid())).touch()
    time.sleep(60)


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.fixture
def place(monkeypatch):
    """A temporary folder with a short name: those of sockets have at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def test_processes_and_files_end_with_a_driver_that_is_killed(tmp_path, place):
    command = [sys.executable, "-c", textwrap.dedent(DRIVER), str(tmp_path)]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(place)}
    driver = subprocess.Popen(command, cwd=root, env=environment)
    deadline = time.monotonic() + 40
    while len(list(tmp_path.iterdir())) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    remove_left_behind(time.time())
    assert list(place.glob("*/listener-*")), "a socket that is in use was removed"
    driver.kill()
    driver.wait()
    pids = [int(path.name) for path in tmp_path.iterdir()]
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    other = place / "pymp-of-another"
    other.mkdir()
    remove_left_behind(time.time() + 1e6)
    assert list(place.iterdir()) == [other]


def test_a_driver_that_ends_leaves_no_file(place):
    begin = "from nacre.rounds.engine.local import LocalEngine; LocalEngine(2).map(abs, [1, 2])"
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", begin], env=environment, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert list(place.iterdir()) == []
