"""Comparison, citation and evidence of collections and of WARC and WACZ files."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre
from tests.ops.test_compare import DAYS, page
from tests.packing.tls_job import URL as TLS_URL
from tests.packing.tls_job import TlsJob
from tests.replay.archives import URL, Archive

URN = "urn:uuid:00000000-0000-4000-8000-000000000009"


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two jobs, each with a capture of a URL."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    archives = [Archive(tmp_path / name) for name in ("spring", "autumn")]
    for number, archive in enumerate(archives):
        archive.add(page(f"第 {number} 版", DAYS[number]))
    return [archive.root for archive in archives]


def test_a_collection(jobs: list[Path]):
    assert nacre("collection", "seasons", "add", *jobs).code == 0
    data = json.loads(nacre("compare", "seasons", URL, "--json").out)
    assert [piece["now"] for piece in data["text"]["pieces"]] == ["第 1 版"]
    done = nacre("cite", "seasons", URL)
    assert (done.code, "urn:pwid:seasons:" in done.out) == (0, True)


def test_files(jobs: list[Path], tmp_path: Path):
    package = tmp_path / "both.wacz"
    done = nacre("archive", jobs[0], "pack", "--wacz", package, "--also", jobs[1])
    assert done.code == 0, done.err
    (warc,) = jobs[1].rglob("*.warc.gz")
    data = json.loads(nacre("compare", package, URL, "--json").out)
    assert [piece["was"] for piece in data["text"]["pieces"]] == ["第 0 版"]
    assert DAYS[1] in nacre("cite", warc, URL).out
    assert DAYS[0] in nacre("cite", package, URL, "--at", "2026-11-20").out
    urn = json.loads(nacre("cite", package, URL, "--json").out)["urn"]
    assert "no record" in nacre("cite", warc, "--urn", URN).err
    assert urn.startswith("urn:uuid:")


def test_evidence_of_a_package_has_the_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    job = TlsJob(tmp_path)
    package, out = tmp_path / "job.wacz", tmp_path / "evidence.wacz"
    assert nacre("archive", job.root, "pack", "--wacz", package).code == 0
    done = nacre("archive", package, "evidence", TLS_URL, "--out", out)
    assert (done.code, done.err) == (0, "")
    done = nacre("archive", out, "verify-evidence", "--tls-roots", job.roots)
    assert [line.split()[1] for line in done.out.splitlines()] == [*["ok"] * 4, "absent", "ok"]
