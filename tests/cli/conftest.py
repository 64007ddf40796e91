from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.site import nacre, site


@pytest.fixture(autouse=True)
def _no_settings_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


class Crawled:
    """A finished crawl of the small site."""

    def __init__(self, job: Path, home: str, out: str) -> None:
        self.job = job
        self.home = home
        self.out = out


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    job = tmp_path_factory.mktemp("crawled") / "demo"
    with site() as home:
        # One fetch at a time, so that of two pages with the same content the first is the original.
        alone = ("--set", "politeness.in_flight=1")
        done = nacre(
            "crawl", home, "--scope", "host", "--delay", 0, "--out", job, "--quiet", *alone
        )
        assert done.code == 0, done.err
        yield Crawled(job, home, done.out)
