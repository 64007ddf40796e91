import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools import debs


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and an apt-get that knows one package; gives the log of its calls."""
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        "Package: some-doc\nVersion: 1:2.3-4\nArchitecture: all\n"
        "Maintainer: A <a@example.com>\nDescription: test\n"
    )
    (tree / "usr" / "share").mkdir(parents=True)
    (tree / "usr" / "share" / "page.html").write_text("<a href=x>")
    subprocess.run(["dpkg-deb", "-b", tree, tmp_path / "some-doc.deb"], check=True)
    log = tmp_path / "log"
    fake = tmp_path / "bin" / "apt-get"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\n'
        f'case "$*" in *some-doc*) cp {tmp_path}/some-doc.deb . ;; *update*) ;; '
        "*) echo E: unknown >&2; exit 100 ;; esac\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    monkeypatch.setattr(debs, "CACHE", tmp_path / "cache")
    return log


def test_a_package_is_unpacked_once(apt: Path):
    place = debs.ensure("some-doc")
    assert (place / "usr/share/page.html").read_text() == "<a href=x>"
    assert debs.version("some-doc") == "1:2.3-4"
    debs.ensure("some-doc")
    assert apt.read_text().count("download") == 1


def test_several_may_ask_at_once(apt: Path):
    with ThreadPoolExecutor(4) as pool:
        places = list(pool.map(debs.ensure, ["some-doc"] * 4))
    assert len(set(places)) == 1
    assert apt.read_text().count("download") == 1
    assert [path.name for path in debs.CACHE.iterdir() if path.is_dir()] == ["some-doc"]


def test_what_cannot_be_had_is_told(apt: Path, capsys: pytest.CaptureFixture[str]):
    assert debs.main(["no-such", "some-doc"]) == 1
    told = capsys.readouterr()
    assert "no-such" in told.err
    assert "some-doc 1:2.3-4" in told.out
    assert debs.version("no-such") == ""
