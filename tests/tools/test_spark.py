"""The environment of Spark: what it is made from, and what builds its wheel."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from tools import spark
from tools.spark import LOCK, TOOLS, entries, fingerprint, java, share, wheels

ROOT = Path(__file__).parents[2]


def test_what_builds_the_wheel_is_in_the_lock_with_hashes():
    found = entries(ROOT / LOCK, TOOLS)
    assert {entry.partition("==")[0] for entry in found} == set(TOOLS)
    assert all("--hash=sha256:" in entry for entry in found)


def test_another_lock_makes_another_environment(tmp_path):
    (tmp_path / "one").write_text("pyspark==4.3.0")
    (tmp_path / "two").write_text("pyspark==4.3.1")
    one = fingerprint(tmp_path / "one", tmp_path / "venv")
    assert one == fingerprint(tmp_path / "one", tmp_path / "venv")
    assert one != fingerprint(tmp_path / "two", tmp_path / "venv")
    assert one != fingerprint(tmp_path / "one", tmp_path / "elsewhere")


def test_java_is_that_of_its_home_else_of_the_path(tmp_path, monkeypatch):
    for name in ("home/bin", "path"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "java").touch()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java() == str(tmp_path / "home/bin/java")
    monkeypatch.delenv("JAVA_HOME")
    assert java() == str(tmp_path / "path/java")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert java() == ""


def test_it_imports_what_this_environment_has(tmp_path):

    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folder = tmp_path / "lib" / version / "site-packages"
    folder.mkdir(parents=True)
    share(tmp_path)
    assert "site.addsitedir" in (folder / "nacre-shared.pth").read_text()


def test_the_wheels_are_built_once_for_two_checkouts_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built, turns = [], Barrier(2)

    def build(_python: Path, _lock: Path, folder: Path) -> None:
        built.append(folder)
        folder.mkdir(parents=True)

    def one(_number: int) -> Path:
        turns.wait()
        return wheels(Path(sys.executable), ROOT / LOCK)

    monkeypatch.setattr(spark, "_build", build)
    with ThreadPoolExecutor(2) as pool:
        found = set(pool.map(one, range(2)))
    assert found == set(built)
    assert len(built) == 1
