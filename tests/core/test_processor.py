"""Changes that steps make to a visit."""

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.core.status import FetchStatus

URL = "http://a.test/"


def _visit() -> Visit:
    return Visit(CrawlURI(URL, b"key", "test,a,"))


def _link(name: str) -> Outlink:
    return Outlink(URL + name, Hop.LINK, "a/@href")


def test_a_refusal_has_status_reason_and_annotation() -> None:
    visit = _visit()
    visit.refuse(FetchStatus.BLOCKED_BY_QUOTA, "enough", "Q:hosts")
    assert (visit.status, visit.error, visit.annotations) == (-5003, "enough", ["Q:hosts"])
    visit.refuse(FetchStatus.OUT_OF_SCOPE, "another reason")
    assert visit.annotations == ["Q:hosts"]


def test_a_deferred_visit_names_what_it_waits_for() -> None:
    visit = _visit()
    visit.defer("dns:a.test")
    assert (visit.status, visit.prerequisite) == (FetchStatus.DEFERRED, "dns:a.test")


def test_an_answer_replaces_the_one_before() -> None:
    visit = _visit()
    visit.answered(FetchStatus.CONNECT_FAILED, "no handle", conclusive=True, starved=True)
    assert (visit.error, visit.conclusive, visit.starved) == ("no handle", True, True)
    visit.answered(200)
    assert (visit.status, visit.error, visit.conclusive, visit.starved) == (200, "", False, False)


def test_links_are_added_behind_those_of_an_earlier_extractor_and_filtered() -> None:
    visit = _visit()
    first = [_link("1"), _link("2")]
    visit.add_outlinks(first, 3)
    visit.add_outlinks([_link("3")], 4)
    assert [link.url for link in visit.outlinks] == [URL + "1", URL + "2", URL + "3"]
    assert visit.dropped == 7
    assert len(first) == 2  # a list that was handed in stays as it was
    visit.filter_outlinks(lambda link: not link.url.endswith("2"))
    assert [link.url for link in visit.outlinks] == [URL + "1", URL + "3"]


def test_a_bug_in_a_processor_takes_the_links_away() -> None:
    visit = _visit()
    visit.add_outlinks([_link("1")])
    visit.fault("err=ValueError")
    assert (visit.status, visit.outlinks) == (FetchStatus.RUNTIME_EXCEPTION, [])
    assert visit.annotations == ["err=ValueError"]


def test_plain_assignment_by_plug_ins_goes_on_working() -> None:
    visit = _visit()
    visit.status, visit.error, visit.extracted = -5002, "elsewhere", True
    visit.outlinks = [_link("1")]
    visit.add_outlinks([_link("2")])
    assert visit == Visit(
        visit.uri,
        status=-5002,
        error="elsewhere",
        extracted=True,
        outlinks=[_link("1"), _link("2")],
    )
