"""The helper process that reads documents: its answers, and what is too much for it."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nacre.extract.document import Document
from nacre.extract.fulltext.job import TextJob
from nacre.indexing.text_process import TextProcess


@pytest.fixture
def texts():
    made = TextProcess()
    yield made
    made.close()


def job(body: bytes, mime: str = "text/html") -> TextJob:
    return TextJob(Document("http://a.test/x", mime=mime, body=body))


def test_documents_one_after_another(texts):
    assert texts.text(job("<title>书</title><p>国家图书馆".encode())).title == "书"
    assert texts.text(job(b"junk", "application/pdf")).problem == "unreadable"
    assert texts.text(job(b"plain", "text/plain")).text == "plain"


def test_a_document_that_takes_too_long_has_no_text_and_the_next_one_has():
    texts = TextProcess(time_limit=0.0)
    assert texts.text(job(b"<p>x")).problem == "time"
    texts.close()


def test_documents_that_are_asked_for_together_are_answered_apart_where_one_fails(texts):
    deep = b"<p>y" + b"<b>" * 5_000
    jobs = [job(b"<p>one"), job(b"junk", "application/pdf"), job(deep), job(b"two", "text/plain")]
    found = texts.texts(jobs)
    assert [one.problem for one in found] == ["", "unreadable", "", ""]
    assert [one.text.strip() for one in found] == ["one", "", "y", "two"]
    assert texts.texts([]) == []
    late = TextProcess(time_limit=0.0)
    assert [one.problem for one in late.texts(jobs[:2])] == ["time", "time"]
    late.close()


KEPT = """
import logging, os, sys
from nacre.indexing.text_process import shared_texts
from nacre.extract.document import Document
from nacre.extract.fulltext.job import TextJob

logging.getLogger("asyncio").setLevel(logging.ERROR)  # not how long a step took
texts = shared_texts()
for number in range(int(sys.argv[1])):
    body = b"<p>page %d" % number
    found = texts.text(TextJob(Document("http://a.test/x", mime="text/html", body=body)))
    print(found.text.strip(), found.problem, flush=True)
    if number == 0 and os.fork() == 0:
        sys.exit(0)  # it ends like the process that made it, but does not end its helper
"""


@pytest.mark.parametrize("pages", [1, 20])
def test_a_program_that_keeps_the_reader_ends_without_a_word(tmp_path: Path, pages: int):
    told = subprocess.run(
        [sys.executable, "-X", "dev", "-c", KEPT, str(pages)],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=60,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (0, "")
    assert [line for line in told.stdout.splitlines() if line] == [
        f"page {number} " for number in range(pages)
    ]
    assert list(tmp_path.iterdir()) == []


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for path in tasks for word in path.read_text().split()]


def test_a_reader_that_is_killed_again_and_again_reads_all(tmp_path: Path):
    """Each document may have three helpers: the kills come further apart than that."""
    texts, kills, luck = TextProcess(), [0], random.Random(5)
    done = threading.Event()
    # The texts of the other tests are made in this process, too: only new children are helpers.
    before = set(children_of(os.getpid()))

    def kill() -> None:
        while not done.wait(0.3 + luck.random() * 0.3):
            for pid in set(children_of(os.getpid())) - before:
                try:
                    os.kill(pid, 9)
                    kills[0] += 1
                except ProcessLookupError:
                    continue

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        number, ends = 0, time.monotonic() + 8
        while number < 30 or (kills[0] < 5 and time.monotonic() < ends):
            found = texts.text(job(f"<p>第{number}页".encode("gbk") + b"<meta charset=gbk>"))
            assert (found.text.strip(), found.problem) == (f"第{number}页", "")
            number += 1
    finally:
        done.set()
        killer.join()
        texts.close()
    assert kills[0] >= 3
