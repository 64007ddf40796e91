"""Seeds: from files and standard input, in any encoding; what is not a seed is skipped and named.

What failed: there was no `--seeds`; a file given as a URL became the host `s.txt`; `--set seeds=`
was written into the job and its file was never read; one bad line of 200 kept a crawl from
starting; a list in UTF-16 or GBK was refused.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.site import nacre, site

PAGES = {"/": "home", "/%E9%80%9A%E7%9F%A5/": "<p>通知</p>", "/b.html": "b"}
BAD = ("not a url", "htp:/x", "http://[::1")


def listed(home: str, *, bad: tuple[str, ...] = ()) -> str:
    """A list as an operator keeps one: comments, empty lines, Chinese paths, options."""
    lines = ["# 图书馆的种子 (第一批)", f"{home}通知/ # 公告", "", *bad, f"{home}b.html scope=page"]
    return "\r\n".join(lines) + "\r\n"


def captured(job: Path) -> set[str]:
    log = (job / "latest/logs/crawl.log").read_text()
    rows = [line.split() for line in log.splitlines()]
    return {row[3].partition("/")[2].partition("/")[2] for row in rows if row[1] == "200"}


FAST = ("--delay", "0", "-q")


@pytest.mark.parametrize(
    ("option", "encoding"),
    [
        ("--seeds", "gbk"),
        ("-i", "utf-8-sig"),
        ("--input-file", "utf-8"),
        ("argument", "utf-16"),
        ("set", "gbk"),
    ],
)
def test_a_file_of_seeds(tmp_path: Path, option: str, encoding: str):
    path, job = tmp_path / "种子.txt", tmp_path / "job"
    with site(PAGES) as home:
        path.write_bytes(listed(home, bad=BAD).encode(encoding))
        named: dict[str, list[object]] = {
            "argument": [path],
            "set": ["--set", f"seeds={path}"],
        }
        given = named.get(option, [option, path])
        done = nacre("crawl", *given, "--out", job, *FAST)
    assert done.code == 0, done.err
    assert {"/%E9%80%9A%E7%9F%A5/", "/b.html"} <= {"/" + c.partition("/")[2] for c in captured(job)}
    for line, text in enumerate(BAD, 4):
        assert f"{path}:{line}: {text!r} is not a seed" in done.err
    assert "3 lines are not seeds and are skipped" in done.err
    assert "skipped  3 lines of the seed list that are not seeds" in done.out
    kept = (job / "seeds.txt").read_text("utf-8").splitlines()
    assert kept == path.read_bytes().decode(encoding).removeprefix("\ufeff").splitlines()


def test_standard_input(tmp_path: Path):
    with site(PAGES) as home:
        text = f"{home}b.html\n"
        assert nacre("crawl", "-i", "-", "--out", tmp_path / "a", *FAST, stdin=text).code == 0
        assert nacre("new", tmp_path / "b", "--seeds", "-", stdin=text).code == 0
    assert (tmp_path / "b/seeds.txt").read_text() == text


def test_strict_stops_before_anything_is_made(tmp_path: Path):
    path, job = tmp_path / "list.txt", tmp_path / "job"
    path.write_text(listed("http://127.0.0.1:1/", bad=BAD), "utf-8")
    done = nacre("crawl", "--seeds", path, "--strict", "--out", job)
    assert done.code == 2
    assert "3 problems" in done.err
    assert not job.exists()


def test_a_list_of_bad_lines_alone_is_an_error(tmp_path: Path):
    path = tmp_path / "list.txt"
    path.write_text("\n".join(BAD))
    done = nacre("new", tmp_path / "job", "-i", path)
    assert done.code == 2
    assert "there is no seed: no line of it is one" in done.err


def test_a_job_with_bad_lines_runs_and_counts_them(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as home:
        assert nacre("new", job, home, "--delay", "0").code == 0
        (job / "seeds.txt").write_bytes(listed(home, bad=BAD).encode("gbk"))
        assert nacre("check", job).code == 0
        assert nacre("check", job, "--strict").code == 2
        assert nacre("run", job, "--strict", "-q").code == 2
        done = nacre("run", job, "-q", "--json")
    assert done.code == 0
    assert json.loads(done.out)["seeds"]["skipped"] == 3
    late = nacre("run", job, "--set", "seeds=other.txt")
    assert late.code == 2
    assert "import FILE" in late.err


def test_a_pipe_of_a_shell(tmp_path: Path):
    """`-i <(command)`: it is read once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "nacre", "new", "job", "-i", str(pipe)]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    pipe.write_text("http://127.0.0.1:1/\n")
    said = process.communicate()[1]
    assert process.returncode == 0, said
    assert (tmp_path / "job/seeds.txt").read_text() == "http://127.0.0.1:1/\n"


def test_what_is_no_text_is_no_list(tmp_path: Path):
    path = tmp_path / "list.bin"
    path.write_bytes(b"http://127.0.0.1/\0x\n")
    done = nacre("new", tmp_path / "job", "-i", path)
    assert (done.code, "NUL bytes" in done.err) == (2, True)


@pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
def test_urls_that_are_brought_in_later(tmp_path: Path, encoding: str):
    job, path = tmp_path / "job", tmp_path / "more.txt"
    with site(PAGES) as home:
        assert nacre("new", job, f"{home}b.html", "--delay", "0").code == 0
        path.write_bytes(f"{home}通知/\r\n".encode(encoding))
        assert nacre("frontier", job, "import", path).code == 0
        assert nacre("run", job, "-q").code == 0
    assert any("%E9%80%9A%E7%9F%A5" in url for url in captured(job))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "there are no seeds"),
        (("missing.txt",), "there is no such file"),
        (("./missing",), "there is no such file"),
        (("/dev/zero",), "it is not a regular file, but a device"),
        (("--set", "seeds=/dev/zero"), "it is not a regular file, but a device"),
        ((".",), "it is not a regular file, but a directory"),
        (("--seeds", "missing.txt"), "No such file"),
        (("--seeds", "/dev/zero"), "not a regular file"),
        (("--set", "seeds=3"), "a file, a URL or a list of URLs"),
        (("http://127.0.0.1/", "htp:/x"), "'htp:/x' is not a seed"),
        (("http//127.0.0.1/",), "did you mean 'http://127.0.0.1/'?"),
        (("https:/localhost/a",), "did you mean 'https://localhost/a'?"),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy(
    tmp_path: Path, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = nacre("new", "job", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "job").exists()
