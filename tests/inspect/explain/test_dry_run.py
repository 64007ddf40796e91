"""What would be done with a URL, before anything runs."""

from pathlib import Path

from nacre.inspect.explain.dry_run import DryRun, DryRunAnswer
from nacre.machine.layout import Layout
from nacre.settings.load import load_job

CONFIG = "name: job\nseeds: seeds.txt\nfetch: {contact: 'https://library.example/'}\n"


def answers(root: Path, seeds: str, *urls: str, config: str = "") -> dict[str, DryRunAnswer]:
    (root / "crawl.yaml").write_text(CONFIG + config)
    (root / "seeds.txt").write_text(seeds)
    layout = Layout(root)
    dry_run = DryRun(layout, load_job(layout))
    return {url: dry_run.outlook(url) for url in urls}


def test_a_seed_with_a_scope_of_its_own_widens_no_other(tmp_path: Path):
    found = answers(
        tmp_path,
        "http://a.test/\nhttp://b.test/ scope=page\n",
        "http://a.test/1", "http://b.test/", "http://b.test/2",
    )  # fmt: skip
    assert [one.decision for one in found.values()] == ["ACCEPT", "ACCEPT", "REJECT"]
    assert [one.is_seed for one in found.values()] == [False, True, False]


def test_a_link_belongs_to_the_first_seed(tmp_path: Path):
    found = answers(tmp_path, "http://b.test/x/ scope=host\n", "http://b.test/2", "http://a.test/3")
    assert [one.decision for one in found.values()] == ["ACCEPT", "REJECT"]


def test_sheets_queue_and_politeness(tmp_path: Path):
    config = (
        "sheets: {slow: {politeness: {delay: 60}}}\n"
        "sheet_associations: [{surts: ['http://a.test/x/'], sheets: [slow]}]\n"
    )
    found = answers(
        tmp_path, "http://a.test/\n", "http://a.test/x/1", "http://a.test/2", config=config
    )
    slow, usual = found.values()
    assert (slow.sheets, usual.sheets) == (("slow",), ())
    assert slow.politeness.startswith("60 s")
    assert slow.queue == usual.queue == "test,a,"
    assert slow.decider == "surt-prefixed"


def test_what_is_no_url_says_why(tmp_path: Path):
    (found,) = answers(tmp_path, "http://a.test/\n", "http://").values()
    assert (found.decision, bool(found.error)) == ("", True)
