"""The commands of docs/replay.md work, in its order, on jobs and files of other crawlers.

Compared captures, citations and evidence have tests in tests/cli and tests/packing.
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.catalogue.foreign_files import packed_warc, response, wacz_with
from tests.cli.site import PAGES, nacre, serve_and_stop, site
from tests.docs.test_commands import commands

ELSEWHERE = ("compare", "cite", "evidence", "verify-evidence")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("old.warc.gz", "FILE.warc.gz", "FOLDER/one.warc.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(packed_warc())
    (tmp_path / "OTHER.warc").write_bytes(response("http://h.test/"))
    wacz_with(tmp_path / "FILE.wacz")
    return tmp_path


@pytest.mark.crawl
@pytest.mark.timeout(300)
def test_every_command_of_the_page_works(folder: Path):
    with site(PAGES) as home:
        for name in ("demo", "news"):
            done = nacre("crawl", home, "--scope", "host", "--delay", "0", "-q",
                         "--out", folder / "crawls" / name)  # fmt: skip
            assert done.code == 0, done.err
    assert nacre("collection", "elections", "add", folder / "crawls" / "demo").code == 0
    count = 0
    for command in commands("docs/replay.md"):
        here = re.sub(r"https://example\.org/|\bURL\b", home, command)
        words = shlex.split(here.replace(" NAME ", " elections "))[1:]
        if set(words[:3]) & set(ELSEWHERE):
            continue
        count += 1
        if words[0] == "replay":
            address = "https://" if "--replay-host" in words else "http://replay.localhost:"
            serve_and_stop(words, address)
            continue
        done = nacre(*words)
        codes = (0, 10) if words[0] == "captures" else (0,)
        assert done.code in codes, (command, done.out, done.err)
    assert count > 8
