"""`nacre simweb` where the user is mistaken."""

import socket
from importlib import util
from pathlib import Path

import pytest

from tests.cli.site import nacre


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = nacre("simweb", "serve", "--world", "small", "--port", port)
    assert done.code == 2
    assert f"--port {port}: Address already in use" in done.err


def test_a_log_that_is_not_there_is_named(tmp_path: Path):
    done = nacre("simweb", "score", tmp_path, "--log", tmp_path / "none", "--world", "small")
    assert (done.code, "writes it at its end" in done.err) == (2, True)


def test_an_archive_that_is_not_there_has_no_score(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text("")
    done = nacre("simweb", "score", tmp_path / "none", "--log", log, "--world", "small")
    assert (done.code, "no such directory of WARCs" in done.err) == (2, True)


def test_plots_that_cannot_be_drawn_are_told_before_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(util, "find_spec", lambda _: None)
    out = tmp_path / "out"
    done = nacre("simweb", "run", "--world", "small", "--out", out)
    assert (done.code, "--no-plots" in done.err, out.exists()) == (2, True, False)
