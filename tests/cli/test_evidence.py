"""`nacre archive DIR evidence` and `nacre archive FILE verify-evidence`."""

import json
import zipfile
from http.server import ThreadingHTTPServer
from pathlib import Path

from nacre.archive.certificates import read_chain
from tests.cli.site import Pages, nacre, running
from tests.fetch.certificates import Authority
from tests.packing.time_authority import TimeAuthority, serving
from tests.packing.tls_job import BARE, URL, TlsJob


def test_evidence_is_made_and_verified(tmp_path: Path):
    job = TlsJob(tmp_path)
    authority = TimeAuthority(tmp_path / "time")
    out = tmp_path / "page.wacz"
    with serving(authority.answer) as service:
        words = ("--timestamp", service, "--timestamp-roots", authority.roots)
        done = nacre("archive", job.root, "evidence", URL, "--out", out, *words)
    assert done.code == 0, done.err
    assert done.err == ""
    assert f"{URL} of 2026-11-20T10:00:00" in done.out
    assert "timestamp: " in done.out
    roots = ("--timestamp-roots", authority.roots, "--tls-roots", job.roots)
    done = nacre("archive", out, "verify-evidence", *roots)
    assert done.code == 0, done.err
    assert [line.split()[1] for line in done.out.splitlines()] == ["ok"] * 6
    data = json.loads(nacre("archive", out, "verify-evidence", "--json").out)
    assert data["is_sound"] is True
    assert data["timestamp"]["is_trusted"] is False
    done = nacre("archive", job.root, "evidence", URL, "--out", out)
    assert (done.code, "exists" in done.err) == (2, True)


def test_what_is_missing_is_said(tmp_path: Path):
    job = TlsJob(tmp_path)
    out = tmp_path / "bare.wacz"
    done = nacre("archive", job.root, "evidence", BARE, "--out", out)
    assert (done.code, "chain of the server was not recorded" in done.err) == (0, True)
    with zipfile.ZipFile(out, "a") as package:
        package.writestr("evidence/more", "x")
    done = nacre("archive", out, "verify-evidence")
    assert done.code == 7, done.out
    assert "failed" in done.out
    done = nacre("archive", tmp_path / "none.wacz", "verify-evidence")
    assert (done.code, "no such file" in done.err) == (2, True)


class Home(Pages):
    """A home page alone."""

    def page(self) -> str | None:
        return "<title>首页</title><p>x" if self.path == "/" else None


def test_a_page_that_was_crawled_over_tls_has_its_chain_and_explanation(tmp_path: Path):
    job, authority = tmp_path / "job", Authority(tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Home)
    server.socket = authority.context("127.0.0.1").wrap_socket(server.socket, server_side=True)
    with running(server) as plain:
        url = plain.replace("http://", "https://")
        done = nacre("crawl", url, "--out", job, "--set", "politeness.delay=0s")
    assert done.code == 0, done.err
    assert "nothing damaged" in nacre("archive", job, "check").out
    out = tmp_path / "home.wacz"
    done = nacre("archive", job, "evidence", url, "--out", out)
    assert (done.code, done.err) == (0, "")
    with zipfile.ZipFile(out) as package:
        assert "scope" in package.read("evidence/explain.txt").decode()
        assert "首页" in package.read("evidence/citation.txt").decode()
        (leaf, *_) = read_chain(package.read("evidence/certificates.pem"))
    assert leaf.startswith(b"\x30\x82")
    done = nacre("archive", out, "verify-evidence", "--tls-roots", authority.roots)
    assert [line.split()[1] for line in done.out.splitlines()] == [*["ok"] * 4, "absent", "ok"]
