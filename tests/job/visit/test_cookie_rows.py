import stat
from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.fetch.cookies import CookieJar
from nacre.job.visit.cookie_rows import CookieRows
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

FILE = "# Netscape HTTP Cookie File\n.a.test\tTRUE\t/\tFALSE\t4000000000\tid\t7\n"


def test_cookies_survive_in_the_store():
    store = Store(MemoryEngine())
    jar = CookieJar()
    CookieRows(store, jar).keep(jar.store("http://a.test/", [b"id=7; Max-Age=1000"], 100.0))
    again = CookieJar()
    CookieRows(store, again).load(200.0)
    assert again.header("http://a.test/x", 200.0) == "id=7"
    later = CookieJar()
    CookieRows(store, later).load(5000.0)
    assert later.header("http://a.test/x", 5000.0) == ""


def test_a_file_is_loaded_kept_and_saved_for_its_owner_only(tmp_path: Path):
    (tmp_path / "in.txt").write_text(FILE + "nonsense\n")
    store = Store(MemoryEngine())
    jar = CookieJar()
    rows = CookieRows(store, jar)
    problems = rows.load_file(tmp_path / "in.txt", 100.0)
    assert len(problems) == 1
    assert jar.header("http://sub.a.test/", 100.0) == "id=7"
    assert store.get("cookies", b"a.test")
    assert rows.save_file(tmp_path / "out.txt") == ""
    assert "id\t7" in (tmp_path / "out.txt").read_text()
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o600


def test_files_that_cannot_be_used(tmp_path: Path):
    rows = CookieRows(Store(MemoryEngine()), CookieJar())
    with pytest.raises(ConfigError, match="cannot be read"):
        rows.load_file(tmp_path / "none.txt", 0.0)
    assert "cannot be written" in rows.save_file(tmp_path / "none" / "out.txt")
