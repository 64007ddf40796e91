"""Pages that nobody linked are found by the numbers of those beside them, where that is wanted."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from nacre.recrawl.planner.discovery.link_rules import GapRow
from nacre.recrawl.session.pagestore import GAPS, Named, fetch_rows
from nacre.store.store import Store
from tests.crawl.again import again, first, kept
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.39"
PAGE = "<html><title>{0}</title><h1>Notice {0}</h1><p>What notice {0} says: {1}.</p></html>"


def write(site: Path, number: int) -> None:
    (site / f"notice_{number}.html").write_text(PAGE.format(number, "word " * (number % 50)))


def link(site: Path, numbers: Sequence[int]) -> None:
    links = "".join(f'<li><a href="notice_{n}.html">Notice {n}</a></li>' for n in numbers)
    (site / "index.html").write_text(f"<html><body><ul>{links}</ul></body></html>")


@pytest.mark.parametrize("wanted", [0, 50])
def test_numbers_that_were_never_seen(tmp_path: Path, wanted: int) -> None:
    site, job = tmp_path / "site", tmp_path / "job"
    site.mkdir()
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, site, directives="open_file_cache off;")
    numbers: list[int] = []
    with serving([server], tmp_path / "nginx"):
        seed = f"http://{ADDRESS}:{port}/index.html"
        for week in range(6):
            # Of ten numbers, one is linked nowhere and one was never given out.
            given = [1000 + 10 * week + each for each in range(9)]
            for number in given:
                write(site, number)
            numbers += [number for number in given if number % 10 != 4]
            link(site, numbers)
            if week:
                again(job, seed, 7.0 * week, recrawl={"gap_probes": wanted, "recall": 1.0})
            else:
                first(job, seed)
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visited = {row.url.rpartition("/")[2] for row in fetch_rows(store) if row.status == 200}
        (name, row) = next(iter(Named(store, GAPS, GapRow).items()), ("", GapRow()))
    hidden = {f"notice_{1000 + 10 * week + 4}.html" for week in range(4)}
    assert hidden & visited == (hidden if wanted else set())
    if wanted:
        assert name.endswith("/notice_*.html")
        assert row.found >= len(hidden)
        assert row.asked > row.found
        guesses = [
            verdicts for run in job.glob("runs/*") for verdicts in kept(run).verdicts.items()
        ]
        assert {verdict for url, verdict in guesses if url.endswith("1009.html")} == {"guess"}
