"""Files of a job: what may be read and written, and pages of lines."""

import os
from pathlib import Path

import pytest

from nacre.fleet.refusals import RefusedRequestError
from nacre_migrate.port.files import (
    byte_range,
    content,
    find,
    launch_of,
    listed,
    listed_below,
    may_hold_secret,
    page_of,
    paged_html,
    resolve,
    writable,
)

RUN = "20261123T110829Z"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ()),
        ("latest/warcs/a.warc.gz", ("runs", RUN, "archive", "a.warc.gz")),
        ("20261123110829/warcs/", ("runs", RUN, "archive")),
        (f"{RUN}/job.log", ("runs", RUN, "logs", "job.log")),
        (f"runs/{RUN}/warcs", ("runs", RUN, "archive")),
        ("latest/logs/crawl.log", ("runs", RUN, "logs", "crawl.log")),
        ("//seeds.txt", ("seeds.txt",)),
        ("job.log", ("job.log",)),
    ],
)
def test_paths_of_heritrix(path: str, expected: tuple[str, ...]):
    assert resolve(path, RUN).parts == expected


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "latest/../../state", ".", "state", "state/store/x", "//state",
     "logins/a", "control/pause", ".jobpath", "a\0b", "..\\x", "x/" * 3000],
)  # fmt: skip
def test_paths_that_are_closed(path: str):
    with pytest.raises(RefusedRequestError):
        resolve(path, RUN)


def test_there_is_no_latest_before_the_first_run():
    with pytest.raises(RefusedRequestError, match="no run yet"):
        resolve("latest/warcs", "")


@pytest.mark.parametrize(
    ("path", "can"),
    [
        ("crawl.yaml", True), ("crawler-beans.cxml", True), ("surts.txt", True),
        ("action/a.seeds", True), ("action/a.recover.gz", True), ("action/a.sh", False),
        ("action/a.py", False), ("job.log", False), ("latest/logs/crawl.log", False),
        ("x.sh", False), ("runs/x.txt", False),
    ],
)  # fmt: skip
def test_what_can_be_written(path: str, *, can: bool):
    if can:
        writable(resolve(path, RUN))
    else:
        with pytest.raises(RefusedRequestError):
            writable(resolve(path, RUN))


def test_asvs_5_3_2_links_secrets_and_special_files_are_not_read(tmp_path: Path):
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "password.txt").write_text("x")
    (tmp_path / "password.txt").chmod(0o600)
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    (tmp_path / "state").mkdir()
    for path in ("out", "out/passwd", "password.txt", "pipe.txt", "nothing.txt"):
        with pytest.raises(RefusedRequestError):
            find(tmp_path, resolve(path, RUN))
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "word").touch(0o600)
    with pytest.raises(RefusedRequestError, match="only its owner"):
        find(tmp_path, resolve("resources/word", RUN))
    (tmp_path / "a.cxml").touch(0o600)
    with pytest.raises(RefusedRequestError, match="only its owner"):
        find(tmp_path, resolve("a.cxml", RUN))
    assert find(tmp_path, resolve("a.cxml", RUN), edits=True)[0].name == "a.cxml"
    assert find(tmp_path, resolve("seeds.txt", RUN))[0] == tmp_path / "seeds.txt"
    assert "state/" not in listed(tmp_path, resolve("", RUN))
    assert ("seeds.txt", False) in list(listed_below(tmp_path))
    assert not [path for path, _ in listed_below(tmp_path) if path.startswith(("state", "out"))]


def test_launches_have_fourteen_digits():
    assert (launch_of(RUN), launch_of("")) == ("20261123110829", "")


def test_pages_go_forwards_and_backwards(tmp_path: Path):
    path = tmp_path / "crawl.log"
    path.write_text("".join(f"line {n} 中文 <b>\n" for n in range(1000)))
    first = page_of(path, 0, 10)
    assert (first.lines[0], len(first.lines), first.start) == ("line 0 中文 <b>", 10, 0)
    second = page_of(path, first.end, 10)
    assert second.lines[0] == "line 10 中文 <b>"
    last = page_of(path, -1, -10)
    assert (last.lines[-1], last.end) == ("line 999 中文 <b>", last.size)
    assert page_of(path, last.start - 1, -10).lines[-1] == "line 989 中文 <b>"
    assert page_of(path, first.end + 3, 1).lines == ("line 10 中文 <b>",)
    html = paged_html("crawl.log", last, -10, reverse=True)
    assert "&lt;b&gt;" in html
    assert html.index("line 999") < html.index("line 998")


@pytest.mark.parametrize(
    ("field", "expected"),
    [("", None), ("bytes=0-4", (0, 5)), ("bytes=5-", (5, 5)), ("bytes=-3", (7, 3)),
     ("bytes=0-99", (0, 10)), ("lines=1-2", None), ("bytes=-", None)],
)  # fmt: skip
def test_ranges(field: str, expected: tuple[int, int] | None):
    assert byte_range(field, 10) == expected


def test_a_range_behind_the_end_is_refused(tmp_path: Path):
    with pytest.raises(RefusedRequestError):
        byte_range("bytes=10-", 10)
    (tmp_path / "a").write_bytes(b"0123456789")
    assert b"".join(content(tmp_path / "a", 3, 4)) == b"3456"


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ('<property name="httpProxyPassword" value="" />', False),
        ('<property name="password"><value/></property>', False),
        ('<property name="password"><value>${env:WORD}</value></property>', False),
        ('<property name="password" value="${env:WORD}"/>', False),
        ('<property name="maxHops" value="2"/>', False),
        ('<property name="password" value="x"/>', True),
        ("<property name=\"password\" value = 'x'/>", True),
        ('<property name="password"><value> x </value></property>', True),
        ('<entry key="j_password" value="x"/>', True),
        ("credential.password=x", True),
        ("<!-- password: x -->", True),
        ('<property name="operatorContactUrl" value="http://a:b@c.test/"/>', True),
        ("\0p\0a\0s\0s", True),
    ],
)
def test_a_password_in_beans_is_found(text: str, *, may: bool):
    assert may_hold_secret(text) is may


def test_a_text_is_read_as_a_file_is():
    text = "".join(f"line {n} 中文\n" for n in range(100)).encode()
    assert page_of(text, -1, -2).lines == ("line 98 中文", "line 99 中文")
    assert b"".join(content(text, 5, 6)) == text[5:11]
