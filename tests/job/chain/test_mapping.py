"""Which crawler a site belongs to."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nacre.core.crawluri import CrawlURI
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.admission.scoping import chain_problems
from nacre.job.chain.mapping import CrawlMapper, read_ranges
from nacre.job.chain.table import PROCESSORS
from nacre.job.configuration.settings import JobSettings
from nacre.scope.state import ScopeState
from nacre.uri.surt import surt_authority
from tests.job.chain.test_plan import kit


def names(urls: list[str], given: Any = None, **said: Any) -> list[str]:
    entry = PROCESSORS.read({"local_name": "0", **said})
    assert isinstance(entry, CrawlMapper)
    name = entry.name_of(given or kit())
    return [name(CrawlURI(url, b"", surt_authority(url))) for url in urls]


SITES = [f"http://site{number}.test/" for number in range(400)]


def test_sites_are_shared_by_domain():
    said = {"processor": "HashCrawlMapper", "crawler_count": 4}
    found = names(SITES, **said)
    assert {"0", "1", "2", "3"} == set(found)
    assert all(60 < found.count(name) < 140 for name in set(found))
    assert names([url.replace("//", "//www.") for url in SITES], **said) == found
    keys = names([url.replace("//", "//www.") for url in SITES], **said, reduce_by_domain=False)
    assert keys != found
    regex = {"reduce_by_domain": False, "reduce_prefix_regex": r"\w+,\w+,"}
    bare = names(SITES, **said, reduce_by_domain=False)
    assert names([url.replace("//", "//www.") for url in SITES], **said, **regex) == bare


def test_one_crawler_more_moves_few_sites():
    four, five = (
        names(SITES, processor="hash-crawl-mapper", crawler_count=count) for count in (4, 5)
    )
    moved = [after for before, after in zip(four, five, strict=True) if before != after]
    assert set(moved) == {"4"}
    assert len(moved) < 120


@pytest.mark.parametrize("name", ["4", "-1", "x", "01", "."])
def test_a_crawler_is_one_of_them(name: str):
    with pytest.raises(ValidationError):
        PROCESSORS.read({"processor": "hash-crawl-mapper", "crawler_count": 4, "local_name": name})


def test_ranges_of_queue_keys(tmp_path: Path):
    (tmp_path / "map.txt").write_text("# up to\norg,zz one\ncom,m two\n\nnet, three\n")
    state = ScopeState(read_lines=RuleFiles(tmp_path).read_lines)
    said = {"processor": "LexicalCrawlMapper", "map_file": "map.txt", "local_name": "one"}
    urls = ["http://a.com/", "http://z.com/", "http://a.net/", "http://a.org/", "http://a.zw/"]
    given = kit()._replace(state=state)
    assert names(urls, given, **said) == ["two", "three", "one", "one", "two"]


@pytest.mark.parametrize("lines", [[], ["# x"], ["a b c"], ["a"], ["a ../b"]])
def test_a_map_that_is_none(lines: list[str]):
    with pytest.raises(ValueError, match="KEY NAME"):
        read_ranges(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "No such file"), ("x", "KEY NAME"), ("a b\n", "gives nothing"), ("a one\n", "")],
)
def test_the_check_reads_the_map(tmp_path: Path, text: str | None, message: str):
    if text is not None:
        (tmp_path / "map.txt").write_text(text)
    entry = {"processor": "lexical-crawl-mapper", "map_file": "map.txt", "local_name": "one"}
    settings = JobSettings.model_validate({"chains": {"fetch": {"insert": [entry]}}})
    found = list(chain_problems(settings, RuleFiles(tmp_path)))
    assert [problem.path for problem in found] == ["chains.fetch.lexical-crawl-mapper"] * bool(
        message
    )
    assert all(message in problem.message for problem in found)
