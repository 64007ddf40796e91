"""Slots, scratch directories and the processes of a browser, without a browser."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.browser import process_tree
from nacre.browser.finding import find_browser, read_version
from nacre.browser.pool import _Gate
from nacre.browser.scratch import ScratchDirectory, remove_old_directories
from nacre.browser.slots import PageSlots, count_slots
from nacre.errors import BrowserError
from tests.browser.loop import in_loop, wait_until


@pytest.mark.parametrize(
    ("pages", "cores", "memory", "slots"),
    [
        (0, 2, 8 << 30, 2),
        (0, 16, 2_000_000_000, 5),
        (0, 4, 100_000_000, 1),
        (0, 4, 0, 1),
        (7, 1, 0, 7),
    ],
)
def test_the_number_of_slots(pages: int, cores: int, memory: int, slots: int) -> None:
    assert count_slots(pages, cores, memory) == slots


@in_loop
async def test_slots_are_shared_and_given_back(tmp_path: Path) -> None:
    first, second = PageSlots(tmp_path / "slots", 2), PageSlots(tmp_path / "slots", 1)
    one, two = await first.acquire(), await first.acquire()
    assert (one.number, two.number) == (0, 1)
    assert first.take() is None
    assert second.take() is None
    waiting = asyncio.ensure_future(second.acquire())
    await asyncio.sleep(0)
    assert not waiting.done()
    one.release()
    one.release()
    assert (await waiting).number == 0
    two.release()


def test_a_killed_process_gives_its_slots_back(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from nacre.browser.slots import PageSlots; "
        "slot = PageSlots(pathlib.Path(sys.argv[1]), 1).take(); print(slot.number, flush=True); "
        "time.sleep(600)"
    )
    slots = PageSlots(tmp_path, 1)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"0\n"
        assert slots.take() is None
        other.kill()
    slot = slots.take()
    assert slot is not None
    slot.release()


def test_directories_of_killed_crawlers_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    scratch = tmp_path / "scratch"
    running = ScratchDirectory(scratch, 0)
    left = scratch / "nacre-browser-left"
    (left / "profile").mkdir(parents=True)
    also = elsewhere / "nacre-browser-left"
    also.mkdir()
    (scratch / "nacre-browser-link").symlink_to(tmp_path)
    (scratch / "body-1").mkdir()
    assert set(remove_old_directories(scratch)) == {left, also}
    assert running.path.is_dir()
    assert not left.exists()
    assert (scratch / "body-1").is_dir()
    assert tmp_path.is_dir()
    running.remove()
    assert not running.path.exists()


def test_a_directory_that_another_user_reaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    others = tmp_path / "others"
    others.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(others))
    near = ScratchDirectory(closed / "scratch", 0)
    assert near.path.parent == closed / "scratch"
    elsewhere = ScratchDirectory(closed / "scratch", os.geteuid() or 61184)
    assert elsewhere.path.parent == others
    assert elsewhere.path.stat().st_mode & 0o777 == 0o700
    near.remove()
    elsewhere.remove()
    far = ScratchDirectory(closed / ("long" * 20), 0, is_short=True)
    assert far.path.parent == others
    far.remove()


def test_a_process_with_its_children() -> None:
    code = (
        "import subprocess, sys; data = bytearray(30_000_000); "
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        "print('up', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        pids = process_tree.list_processes(process.pid)
        usage = process_tree.measure(process.pid)
        tree = process_tree.ProcessTree(process.pid)
        again = tree.measure()
        memory = tree.memory()
        while again != usage or memory != usage.memory:  # the child still starts
            usage, again, memory = process_tree.measure(process.pid), tree.measure(), tree.memory()
        for pid in pids:
            os.kill(pid, 9)
    assert len(pids) == 2
    assert pids[0] == process.pid
    assert usage.processes == 2
    assert usage.memory > 30_000_000
    assert usage.cpu > 0
    assert tree.measure() == (0, 0.0, 0)
    assert not process_tree.is_running(process.pid)
    assert process_tree.measure(process.pid) == (0, 0.0, 0)
    assert process_tree.list_processes(0) == []


def test_processes_of_pages_are_not_searched_for_children() -> None:
    code = (
        "import os, sys, time; print('up', flush=True); "
        "sys.stdin.readline(); os.fork(); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "--type=renderer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        tree = process_tree.ProcessTree(process.pid)
        first = tree.measure()
        process.stdin.write(b"\n")
        asyncio.run(wait_until(lambda: len(process_tree.list_processes(process.pid)) == 2))
        pids = process_tree.list_processes(process.pid)
        second = tree.measure()
        for pid in pids:
            os.kill(pid, 9)
    assert len(pids) == 2
    assert (first.processes, second.processes) == (1, 1)


def test_a_script_is_used_if_no_program_behind_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserError, match="no browser is installed"):
        find_browser()
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\necho Google Chrome 140.0.7339.127 unknown\n")
    program.chmod(0o755)
    browser = find_browser()
    assert (browser.program, browser.name) == (program.resolve(), "google-chrome")
    assert "--headless=new" in browser.flags
    assert read_version(browser) == "140.0.7339.127"
    real = tmp_path / "chrome"
    real.write_bytes(b"\x7fELF")
    real.chmod(0o755)
    monkeypatch.setattr("nacre.browser.finding._PROGRAMS", {str(program.resolve()): str(real)})
    assert find_browser().program == real
    assert find_browser(str(program)).program == real
    assert read_version(find_browser()) == ""


@in_loop
async def test_a_gate_lets_many_in_or_one_alone() -> None:
    gate = _Gate()
    inside: list[str] = []
    log: list[set[str]] = []

    async def be_inside(name: str, *, alone: bool) -> None:
        async with gate.exclusive() if alone else gate.shared():
            inside.append(name)
            log.append(set(inside))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            inside.remove(name)

    async with asyncio.TaskGroup() as group:
        for name, alone in [("a", False), ("b", False), ("c", True), ("d", True), ("e", False)]:
            group.create_task(be_inside(name, alone=alone))
    assert log == [{"a"}, {"a", "b"}, {"c"}, {"d"}, {"e"}]
