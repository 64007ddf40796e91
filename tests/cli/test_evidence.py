"""`nacre archive DIR evidence` and `nacre archive FILE verify-evidence`."""

import json
import zipfile
from pathlib import Path

from tests.cli.site import nacre, site
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


def test_a_crawled_page_has_its_explanation(tmp_path: Path):
    with site({"/": "<title>Home</title><p>x"}) as url:
        assert nacre("crawl", url, "--out", tmp_path / "job").code == 0
    out = tmp_path / "home.wacz"
    done = nacre("archive", tmp_path / "job", "evidence", url, "--out", out)
    assert done.code == 0, done.err
    with zipfile.ZipFile(out) as package:
        assert "scope" in package.read("evidence/explain.txt").decode()
    assert nacre("archive", out, "verify-evidence").code == 0
