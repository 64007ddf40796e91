"""`nacre frontier DIR import`: what becomes of the lines, and what is said."""

import asyncio
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nacre.job.control import Answer, ControlServer
from nacre.machine.layout import Layout
from tests.cli.site import Done, nacre

HOME = "http://127.0.0.1:9/"
JOURNAL = "F+ http://b.test/1  \nFs http://b.test/1\nFf http://b.test/2\nF+ http://b.test/3 L\n"
LOG_LINE = "2026-11-20T15:11:00.000Z {status:>5}  9 http://b.test/{name} L http://b.test/ x/y\n"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    made = tmp_path / "job"
    assert nacre("new", made, HOME).code == 0
    return made


def imported(job: Path, *words: object, stdin: str | None = None) -> dict[str, int]:
    done = nacre("frontier", job, "import", *words, "--json", stdin=stdin)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    return {name: number for name, number in told.items() if number and name != "lines"}


def waiting(job: Path) -> set[str]:
    lines = nacre("frontier", job, "export").out.splitlines()
    return {line.split()[1] for line in lines} - {HOME}


@pytest.mark.parametrize(
    ("text", "options", "told", "left"),
    [
        ("http://b.test/1\nhttp://b.test/2\n", [], {"scheduled": 2}, {"1", "2"}),
        ("http://b.test/1\nhttp://b.test/1\n", [], {"scheduled": 1, "known": 1}, {"1"}),
        ("# no line\n\nF+ http://b.test/1\nFs http://b.test/2\n", [],
         {"scheduled": 1, "done": 1}, {"1"}),
        ("http://b.test/1\n", ["--scope"], {"rejected": 1}, set()),
        (JOURNAL, ["--recover"], {"scheduled": 1, "known": 1, "done": 1, "passed": 1}, {"3"}),
        (JOURNAL, ["--recover", "--retain-failures"],
         {"scheduled": 1, "known": 1, "done": 2}, {"3"}),
        (LOG_LINE.format(status=200, name=1) + LOG_LINE.format(status=-2, name=2),
         ["--crawl-log"], {"scheduled": 1, "done": 1}, {"2"}),
        (LOG_LINE.format(status=200, name=1) + LOG_LINE.format(status=-2, name=2),
         ["--crawl-log", "--retain-failures"], {"done": 2}, set()),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_what_is_scheduled_and_what_is_marked(
    job: Path, tmp_path: Path, text: str, options: list[str], told: dict[str, int], left: set[str]
):
    file = tmp_path / "lines.txt"
    file.write_text(text)
    assert imported(job, *options, file) == told
    assert waiting(job) == {f"http://b.test/{name}" for name in left}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "http://b.test/书\n".encode()),
        ("a.txt", "http://b.test/书\n".encode("utf-16")),
        ("a.txt.gz", gzip.compress("http://b.test/书\n".encode(), mtime=0)),
    ],
)
def test_files_of_any_encoding(job: Path, tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    assert imported(job, tmp_path / name) == {"scheduled": 1}
    assert waiting(job) == {"http://b.test/%E4%B9%A6"}


def test_what_was_deleted_comes_back_by_force(job: Path):
    assert imported(job, "-", stdin="http://b.test/1\n") == {"scheduled": 1}
    assert nacre("frontier", job, "delete", "--regex", "b.test").code == 0
    assert imported(job, "-", stdin="http://b.test/1\n") == {"known": 1}
    assert waiting(job) == set()
    assert imported(job, "-", "--force", stdin="http://b.test/1\n") == {"scheduled": 1}
    assert waiting(job) == {"http://b.test/1"}


def test_bad_lines_are_named_and_counted(job: Path):
    done = nacre("frontier", job, "import", "-", stdin="http://b.test/1\n\nno\x1b[31m url\n")
    assert done.out == ("scheduled 1 URI; 0 known before, 0 marked as seen, 1 bad line\n")
    assert done.err.startswith("line 3: ")
    assert "\x1b" not in done.err


PACKED = gzip.compress(b"".join(b"http://b.test/%x\n" % (n * n) for n in range(9000)), mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a", b"", ["--recover", "--crawl-log"], "a recovery journal, a crawl.log or a seed list"),
        ("a", b"http://b.test/\0\n", [], "it is not text: there are NUL bytes in it"),
        ("gone", None, [], "No such file"),
        ("a.gz", b"plain", [], "Not a gzipped file"),
        ("a.gz", PACKED[:-30], [], "end-of-stream"),
        ("a.gz", PACKED[:20] + b"\xff" * 30 + PACKED[50:], [], "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said(
    job: Path, tmp_path: Path, name: str, content: bytes | None, options: list[str], message: str
):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = nacre("frontier", job, "import", *options, tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert waiting(job) == set()


def test_a_journal_is_read_twice_and_so_not_from_stdin(job: Path):
    done = nacre("frontier", job, "import", "--recover", "-", stdin=JOURNAL)
    assert done.code == 2
    assert "it must be a file" in done.err


# ---- a job that runs

Asked = list[tuple[int, int, str]]


def ask_running(job: Path, *words: object, stdin: str) -> tuple[Done, Asked]:
    """Call the command beside a process that answers as a running job; what that was asked."""
    asked: Asked = []

    async def take(request: Mapping[str, Any]) -> Answer:
        lines, first = request["lines"], request["first"]
        asked.append((first, len(lines), request["options"][0]))
        tally = {"lines": len(lines), "scheduled": len(lines) - 1, "rejected": 1}
        return {"imported": [tally, [[first, "x", "no URL"]]]}

    async def main() -> Done:
        def fault(command: str, error: Exception) -> str:
            raise AssertionError(command) from error

        server = ControlServer(Layout(job).socket, {"frontier-import": take}, fault)
        await server.start()
        try:
            return await asyncio.to_thread(nacre, "frontier", job, "import", *words, stdin=stdin)
        finally:
            await server.close()

    Layout(job).socket.parent.mkdir()
    return asyncio.run(main()), asked


def test_a_running_job_is_given_a_thousand_lines_at_a_time(job: Path):
    stdin = "".join(f"http://b.test/{number}\n" for number in range(2001))
    done, asked = ask_running(job, "-", stdin=stdin)
    assert asked == [(1, 1000, "import"), (1001, 1000, "import"), (2001, 1, "import")]
    assert done.out.startswith("scheduled 1,998 URIs; ")
    assert done.out.endswith(", 3 bad lines\n")
    assert [line.split(":")[0] for line in done.err.splitlines()] == [
        "line 1", "line 1001", "line 2001",
    ]  # fmt: skip


def test_a_line_without_an_end_comes_in_pieces(job: Path):
    _, asked = ask_running(job, "-", stdin="x" * 200_000)
    assert asked == [(1, 4, "import")]


def test_a_seed_list_becomes_seeds(job: Path, tmp_path: Path):
    lines = tmp_path / "种子.txt"
    lines.write_text("http://b.test/馆\n# a comment\nhttp://c.test/\n", "gb18030")
    assert imported(job, lines, "--seeds")["scheduled"] == 2
    seeds = nacre("report", job, "seeds").out
    assert "http://c.test/" in seeds
    wrong = nacre("frontier", job, "import", lines, "--seeds", "--crawl-log")
    assert wrong.code == 2
    assert "say one" in wrong.err
