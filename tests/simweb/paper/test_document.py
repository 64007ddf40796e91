"""The report on the paper's experiment."""

from nacre.report.plain import plain_text
from nacre_simweb.experiment import ExperimentPlan
from nacre_simweb.paper.bound import RecallBound
from nacre_simweb.paper.document import document
from nacre_simweb.paper.experiment import CrawlComparison
from nacre_simweb.paper.figures import Necessary
from nacre_simweb.paper.missed import Missed
from tests.simweb.paper.figures import figures


def test_the_published_rows_stand_beside_those_measured():
    one = figures("full 1", 514, 14, 1971, 1971, 0)
    found = CrawlComparison(
        ExperimentPlan("mct-twin", days=91), "strict", one, one._replace(name="full 2"),
        one._replace(name="incremental"), one._replace(name="the paper's design"),
        Necessary(10, 10, 0, 1e6), RecallBound(5, 3, (0.5, 0.1)),
        [Missed("article", "new", "never asked for", "http://a.test/")], [],
    )  # fmt: skip
    text = plain_text(document(found, "results"))
    assert "www.mct.gov.cn" in text
    assert "84.0 %" in text
    assert "91.6 %" in text
    assert "First the 1 of kind article that are new and were never asked for." in text


def comparison(world, missed, problems):
    one = figures("full 1", 514, 14, 1971, 1971, 0)
    return CrawlComparison(
        ExperimentPlan(world, "honest", 7, days=91), "delta", one, one._replace(name="full 2"),
        one._replace(name="incremental", html=500, requests=500, hours=4.0),
        one._replace(name="the paper's design"),
        Necessary(10, 10, 0, 1e6), RecallBound(5, 3, (0.5, 0.1)), missed, problems,
    )  # fmt: skip


def test_a_world_that_is_not_after_a_site_has_no_published_rows():
    text = plain_text(document(comparison("small", [], []), "results"))
    assert "Published" not in text
    assert "Measured here" in text
    assert "First the" not in text


def test_problems_of_the_warcs_come_first():
    text = plain_text(document(comparison("small", [], ["a.warc.gz: broken"]), "results"))
    assert "The WARCs have problems: a.warc.gz: broken" in text
    assert "problems in WARCs" in text


def test_the_report_says_how_to_go_on():
    missed = [Missed("article", "changed", "too late", f"http://a.test/{n}") for n in range(3)] + [
        Missed("list", "new", "never asked for", "http://a.test/x")
    ]
    text = " ".join(plain_text(document(comparison("small", missed, []), "out")).split())
    assert "First the 3 of kind article that are changed and were too late." in text
    assert "nacre report out/job savings" in text
    assert (
        "nacre simweb score out/job --log out/server.log --world small --seed 7 --hints honest "
        "--days 91 --every 91d"
    ) in text


def test_what_can_be_saved_is_told_against_the_full_crawl():
    text = " ".join(plain_text(document(comparison("small", [], []), "out")).split())
    assert "10 of 1,971: at most 99.49 % can be saved" in text
    assert "bound, 99.0%" in text
