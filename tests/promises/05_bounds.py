"""Nothing that comes from outside holds a command up, and a job that dies is told in a sentence."""

import asyncio
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nacre.config.document import read_yaml
from nacre.config.layer import is_too_deep
from nacre.config.ordinary import open_ordinary, read_ordinary
from nacre.core.states import JobState
from nacre.errors import JobError, StorageError
from nacre.job.background.control_files import ControlFiles
from nacre.job.commands import CommandHandlers
from nacre.job.control import Answer, ControlServer
from nacre.job.job import Job
from nacre.job.session import Session
from nacre.settings.layers import file_layers
from nacre.settings.settings import JobSettings
from nacre.store.local_files import HeldFolder, remove_left_behind
from tests.cli.site import Done, nacre, site
from tests.job.opened import log_of, opened

PAGES = {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


# ---- files that never end, or wait


@pytest.fixture
def job(tmp_path: Path) -> Path:
    place = tmp_path / "job"
    assert nacre("new", place, "http://a.test/").code == 0
    return place


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What an operator may name by mistake."""
    place = tmp_path_factory.mktemp("odd")
    os.mkfifo(place / "pipe")
    with (place / "sparse").open("wb") as file:
        file.truncate(1 << 36)
    (place / "bomb.gz").write_bytes(gzip.compress(bytes(8_000_000), 1))
    names = {"device": "/dev/zero", "random": "/dev/urandom", "directory": str(place)}
    return names | {name: str(place / name) for name in ("pipe", "sparse", "bomb.gz")}


PLACES = {
    "seeds": "seeds: {}",
    "cookies": "cookies: {{load_file: {}}}",
    "include": "include: {}",
    "profile": "profile: {}",
    "secret": "fetch: {{proxy: {{file: {}}}}}",
    "sheet": "sheet_associations: [{{sheets: [s], surts_file: {}}}]\nsheets: {{s: {{}}}}",
    "filter": "scope: [{{rule: nutch-url-filter, regex_file: {}}}]",
    "precedence": "frontier: {{uri_precedence: {{file: {}}}}}",
}


@pytest.mark.parametrize("kind", ["device", "random", "directory", "pipe", "sparse", "bomb.gz"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_of_lines_is_a_problem_of_its_setting(
    job: Path, odd: dict[str, str], place: str, kind: str
):
    if (place, kind) == ("cookies", "bomb.gz"):
        pytest.skip("cookies are not unpacked; its lines are told as the crawl begins")
    (job / "crawl.yaml").write_text(PLACES[place].format(odd[kind]) + "\n")
    done = nacre("check", job)
    assert done.code == 2, done.out
    assert Path(odd[kind]).name in done.err or place in done.err


@pytest.mark.parametrize("kind", ["device", "directory", "pipe", "sparse"])
def test_so_it_is_for_the_job_s_own_file_and_for_what_commands_take(
    job: Path, tmp_path: Path, odd: dict[str, str], kind: str
):
    named = odd[kind]
    refused = [
        nacre("frontier", job, "import", named),
        nacre("migrate", "heritrix", named, "--out", tmp_path / "new"),
        nacre("archive", named, "check") if kind != "directory" else Done(2, "", ""),
    ]
    (job / "crawl.yaml").unlink()
    (job / "crawl.yaml").symlink_to(named)
    refused.append(nacre("check", job))
    assert [done.code != 0 for done in refused] == [True] * len(refused)


def test_an_ordinary_file_is_read_and_its_size_is_bounded(tmp_path: Path):
    path = tmp_path / "通知.txt"
    path.write_bytes(b"12345")
    assert read_ordinary(path, 5) == b"12345"
    with open_ordinary(path) as file:
        assert file.read() == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_ordinary(path, 4)


def test_control_files_that_are_none_are_not_obeyed(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path) as session:
            session.layout.control.mkdir()
            for name in ("parallel", "ignores"):
                os.mkfifo(session.layout.control / name)
            ControlFiles(session, session.clock, {}).look()

    asyncio.run(play())
    log = next((tmp_path / "runs").glob("*/logs/alerts.log")).read_text()
    assert "but a pipe" in log


# ---- texts that grow


def bomb(levels: int = 9) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (bomb(), "aliases"),
        (bomb().replace("[", "{k: [").replace("]", "]}"), "aliases"),
        ("seeds: " + "[" * 100_000, "nested"),
        ("seeds: " + "{" * 100_000, "nested"),
        ("seeds: " + "[\n" * 100_000, "nested"),
        ("seeds: " + "[1, " * 100_000, "nested"),
        ("- " * 50_000 + "x", "nested"),
        ("".join(" " * depth + "a:\n" for depth in range(2000)), "nested"),
    ],
)
def test_a_configuration_that_grows_is_refused(text: str, said: str):
    layer = read_yaml(text, "crawl.yaml")
    assert [said in problem.message for problem in layer.problems] == [True]
    assert layer.tree == {}
    assert len(layer.places) < len(text) + 20_000, "it was not gone through to its end"


def test_what_an_operator_writes_is_not_too_deep():
    many = "".join(f"- \\[{n}\n- '[{n}'\n- \"[\"\n- [^{n}\n# [\n" for n in range(190))
    assert not is_too_deep("scope:\n" + many)
    assert not is_too_deep("".join(f"a{n}: [\n" for n in range(400)))
    twice = "a: &a [1, 2]\nb: [*a, *a]\n"
    assert read_yaml(twice, "f").tree == {"a": [1, 2], "b": [[1, 2], [1, 2]]}


@pytest.mark.parametrize(
    "value",
    ["[" * 100_000, "- " * 50_000 + "x", "[" + ", ".join(
        [f"&a{n} [{', '.join([f'*a{n - 1}'] * 9 if n else ['x'] * 9)}]" for n in range(9)]
    ) + "]"],
)  # fmt: skip
@pytest.mark.parametrize("setting", ["seeds", "sheets.s", "limits.documents"])
def test_so_it_is_for_set_and_the_environment(
    job: Path, monkeypatch: pytest.MonkeyPatch, value: str, setting: str
):
    assert nacre("check", job, "--set", f"{setting}={value}").code == 2
    name = "NACRE_" + setting.upper().replace(".", "__")
    if len(value) < 100_000 and "__" in name:
        monkeypatch.setenv(name, value)
        assert nacre("check", job).code == 2


def test_includes_do_not_multiply(tmp_path: Path):
    """Each file includes the next one twice: 2**40 files."""
    for number in range(40):
        below = [f"{number + 1}.yaml"] * 2 if number < 39 else []
        (tmp_path / f"{number}.yaml").write_text(json.dumps({"include": below}))
    layers = file_layers(tmp_path / "0.yaml", tmp_path)
    assert len(layers) <= 1001
    assert any("1000 files" in str(problem) for layer in layers for problem in layer.problems)


# ---- the control socket


async def echo(request: Mapping[str, Any]) -> Answer:
    return {"said": request["text"]}


def asked(tmp_path: Path, lines: list[bytes]) -> list[dict[str, Any]]:
    """What a server answers to lines; it must answer a sound request behind them."""
    named = tmp_path / "control"

    def talk() -> list[dict[str, Any]]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(json.loads(named.read_text())["socket"])
            answers = connection.makefile("rb")
            found = []
            for line in [*lines, b'{"command": "echo", "text": "x"}']:
                connection.sendall(line + b"\n")
                found.append(json.loads(answers.readline()))
            answers.close()
            return found

    async def play() -> list[dict[str, Any]]:
        server = ControlServer(named, {"echo": echo}, lambda command, error: repr(error))
        await server.start()
        try:
            return await asyncio.to_thread(talk)
        finally:
            await server.close()

    return asyncio.run(play())


def test_requests_that_are_none_are_answered(tmp_path: Path):
    odd = [b"[" * 100_000, b'{"a":' * 100_000, b'{"command": [' + b"[" * 100_000, b"1" * 5000]
    odd += [b"\xff\xfe", b"null", b"[]", b"{}", b'{"command": []}', b'{"command": {}}', b"NaN"]
    *refused, sound = asked(tmp_path, odd)
    assert [sorted(answer) for answer in refused] == [["error"]] * len(odd)
    assert sound == {"ok": True, "said": "x"}


@pytest.mark.parametrize(
    "request_",
    [{"lines": 1}, {"lines": [1]}, {"lines": [], "first": "x"}, {"lines": [], "options": "x"}],
)
def test_an_import_that_is_none_is_refused(tmp_path: Path, request_: dict[str, Any]):
    async def play() -> None:
        async with opened(tmp_path) as session:
            job = Job(tmp_path, JobSettings())
            job.session = session
            with pytest.raises(JobError, match="not an import"):
                await CommandHandlers(job).frontier_import(request_)

    asyncio.run(play())


# ---- a job that dies


def nothing(_: socket.socket) -> None:
    """Hang up."""


def half(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b'{"ok": tr')


def garbage(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b"[" * 50_000 + b"\n")


def read_and_gone(connection: socket.socket) -> None:
    connection.recv(1000)


@contextmanager
def dying(job: Path, act: Callable[[socket.socket], None]) -> Iterator[None]:
    """A job that answers so; the first caller of each command only asks whether it runs."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{place}/control")
        server.listen()
        (job / "state").mkdir(exist_ok=True)
        (job / "state" / "control").write_text(json.dumps({"socket": f"{place}/control"}))

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # who only asks whether it runs is gone
                    act(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            (job / "state" / "control").unlink()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dying") / "job"
    with site(PAGES) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", place, "--quiet").code == 0
    return place


TOLD = {
    "pause": ("pause", "JOB"),
    "resume": ("resume", "JOB"),
    "stop": ("stop", "JOB"),
    "checkpoint": ("checkpoint", "JOB"),
    "parallel": ("parallel", "JOB", 3),
    "set": ("set", "JOB", "limits.documents=9"),
    "delete": ("frontier", "JOB", "delete", "--all"),
    "retire": ("frontier", "JOB", "retire", "--queue", "a.test"),
}
LOOKED = {
    "status": ("status", "JOB"),
    "explain": ("explain", "JOB", "http://a.test/"),
    "report": ("report", "JOB", "hosts"),
}


@pytest.mark.parametrize("act", [nothing, half, garbage, read_and_gone])
@pytest.mark.parametrize("command", [*TOLD, *LOOKED])
def test_a_command_that_meets_a_dying_job_says_so(
    crawled: Path, command: str, act: Callable[[socket.socket], None]
):
    words = [crawled if word == "JOB" else word for word in (TOLD | LOOKED)[command]]
    with dying(crawled, act):
        done = nacre(*words)
    if command in LOOKED and act is not garbage:
        assert done.code == 0, done.err
        assert done.out
        return
    assert done.code == 2
    assert done.err.startswith("nacre: ")
    assert done.err.count("\n") == 1
    if act is not garbage:  # what a job left behind can be deleted when it is gone
        why = "is over: recrawl it" if command == "delete" else "ended before it had answered"
        assert why in done.err


def test_a_handler_whose_session_ends_is_no_fault_of_the_crawler(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path) as session:
            commands = CommandHandlers(Job(tmp_path, JobSettings()))
            assert "ended before" in commands.fault("frontier-import", AttributeError("_db"))
            commands._job.session = session
            assert "an error in the crawler" in commands.fault("status", KeyError("x"))
            session.state = JobState.STOPPING
            assert "ended before" in commands.fault("checkpoint", RuntimeError("shutdown"))
        assert log_of(session, "runtime-errors.log").count("SEVERE") == 1

    asyncio.run(play())


def test_work_for_the_writer_of_a_closed_job_is_refused_in_a_sentence(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path) as session:
            pass
        with pytest.raises(StorageError, match="the job has finished"):
            await session.storing.commit.in_writer(print)
        with pytest.raises(StorageError, match="the job has finished"):
            await session.storing.commit.flush()
        return session

    asyncio.run(play())


# ---- what kills leave behind


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "t"  # short: the path of a socket has at most 107 bytes
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def killed(place: Path, code: str) -> None:
    """Run code in a process that ends by SIGKILL."""
    lines = f"{code}\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    env = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", lines], env=env, check=False)
    assert done.returncode == -signal.SIGKILL


def test_the_next_start_removes_what_no_process_holds(place: Path):
    code = (
        "from nacre.store.local_files import HeldFolder\n"
        "kept = HeldFolder(), HeldFolder('reading-')"
    )
    killed(place, code)
    mine = HeldFolder()
    (mine.path / "control").touch()
    assert len(names(place)) == 3
    remove_left_behind(0.0)
    assert names(place) == [mine.path.name]
    mine.close()
    assert names(place) == []


def test_a_job_removes_what_killed_ones_of_any_version_left(place: Path, tmp_path: Path):
    killed(place, "from nacre.store.local_files import HeldFolder\nkept = HeldFolder()")
    bind = "s = socket.socket(socket.AF_UNIX); s.bind(p + '/control'); s.listen()"
    old = "import socket, tempfile\np = tempfile.mkdtemp(prefix='nacre-')\n" + bind
    killed(place, old)
    listening = place / "nacre-listening"
    listening.mkdir()
    links = place / "nacre-reading-old"
    links.mkdir()
    (links / "CURRENT").symlink_to("/nonexistent")
    os.utime(links, (0, 0))
    (place / "nacre-frontier-mine").mkdir()
    (place / "nacre-frontier-mine" / "result.json").touch()
    with socket.socket(socket.AF_UNIX) as server, site(PAGES) as home:
        server.bind(str(listening / "control"))
        server.listen()
        done = nacre("crawl", home, "--delay", 0, "--out", tmp_path / "job", "--quiet")
    assert done.code == 0, done.err
    assert names(place) == ["nacre-frontier-mine", "nacre-listening"]
