"""`nacre replay`: its link, its end, and its refusals."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nacre.config import extras
from nacre.errors import JobError
from nacre.ops import replay
from nacre.ops.replay import COLLECTION, find_pywb, pywb_config, run_pywb
from nacre.web.serving import loopback_sockets
from tests.cli.site import nacre
from tests.replay_server.site import new_archive, reply


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return new_archive(tmp_path / "书", {"http://h.test/": reply(b"<h1>Home</h1>")}).root


def test_it_prints_a_link_and_a_key_and_ends_by_ctrl_c(job: Path):
    command = [sys.executable, "-m", "nacre", "replay", str(job), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(5)]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    link = r"Nacre replay on http://replay\.localhost:\d+/view/[0-9a-f]{12}/#t=\S+\n"
    assert re.fullmatch(link, lines[0]), errors
    assert re.fullmatch(r"  key      \S{43}\n", lines[2])
    assert (process.returncode, errors) == (0, "")


def test_what_is_no_archive_is_refused(tmp_path: Path):
    done = nacre("replay", tmp_path / "none", "--port", 0)
    assert done.code == 2
    assert "none" in done.err


def test_a_port_in_use_is_named(job: Path):
    sockets = loopback_sockets(0)
    try:
        number: int = sockets[0].getsockname()[1]
        done = nacre("replay", job, "--port", number)
    finally:
        for listener in sockets:
            listener.close()
    assert done.code == 2
    assert f"port {number} is taken" in done.err
    assert f"`nacre replay '{job}' --port {number + 10}` takes another" in done.err


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, job: Path):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: SimpleNamespace(returncode=1))
    done = nacre("replay", job)
    assert done.code == 2
    assert "replay needs the extra `console`" in done.err


def test_a_file_that_does_not_exist_is_refused_before_an_extra_is_offered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    done = nacre("replay", tmp_path / "nofile.warc.gz", "--yes")
    assert done.code == 2
    assert "nofile.warc.gz is neither a job, nor a WARC or WACZ file" in done.err
    assert "extra" not in done.err


# ---- pywb


def test_pywb_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, job: Path):
    monkeypatch.setattr(replay, "_PROGRAM", "no-such-program")
    with pytest.raises(JobError, match=r"pywb is not installed here.*pipx install pywb"):
        find_pywb()
    done = nacre("replay", job, "--with", "pywb")
    assert done.code == 2
    assert "leave `--with pywb` out" in done.err


def test_pywb_gets_the_warcs_and_indexes_of_the_job(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, job: Path
):
    program = tmp_path / "wayback"
    program.write_text('#!/bin/sh\ncp "$6/config.yaml" "$NACRE_TEST_COPY"; exit 3\n')
    program.chmod(0o755)
    monkeypatch.setattr(replay, "find_pywb", lambda: program)
    monkeypatch.setenv("NACRE_TEST_COPY", str(tmp_path / "copy.yaml"))
    lines: list[str] = []
    assert run_pywb([job], 8090, lines.append) == 3
    config = (tmp_path / "copy.yaml").read_text()
    archive = job / "runs" / "20261120T100000Z" / "archive"
    assert f'"archive_paths":["{archive}/"]' in config
    assert f'{archive}/w0.cdxj"' in config
    assert lines == [f"pywb on http://localhost:8090/{COLLECTION}/ (Ctrl-C ends it)"]


def test_pywb_without_warcs():
    assert b'"archive_paths":[]' in pywb_config([])
