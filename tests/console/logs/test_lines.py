import pytest

from nacre.console.logs.lines import LogQuery, wanted_lines
from nacre.fleet.refusals import RefusedRequestError
from nacre.report.log_fields import crawl_log_fields, kind_of

LINE = (
    "2026-11-20T15:11:00.123Z   404       1234 http://a.b.test/%CA%E9.html LLE "
    "http://a.b.test/ text/html #001 20261120151100000+12 sha1:AB http://a.b.test/ 2t,newLog"
)
FAILED = "2026-11-20T15:11:00.123Z    -2          - https://c.test/图 - - unknown #001 - - - -"


def test_the_fields_of_a_line():
    fields = crawl_log_fields(LINE)
    assert fields is not None
    assert (fields.status, fields.size, fields.path, fields.mime) == (
        404,
        "1234",
        "LLE",
        "text/html",
    )
    assert (fields.kind, fields.words) == ("4", "the server answered 404 (Not Found)")
    failed = crawl_log_fields(FAILED)
    assert failed is not None
    assert (failed.size, failed.via, failed.annotations, failed.kind) == ("", "", "", "0")


@pytest.mark.parametrize("text", ["", "2026 INFO x", "a b c d e f g h i j k l"])
def test_other_lines_have_no_fields(text: str):
    assert crawl_log_fields(text) is None


@pytest.mark.parametrize(
    ("status", "kind"), [(1, "2"), (200, "2"), (503, "5"), (-2, "0"), (-9998, "r"), (0, "0")]
)
def test_a_status_has_a_kind(status: int, kind: str):
    assert kind_of(status) == kind


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        (LogQuery(), {LINE, FAILED}),
        (LogQuery(match=r"%CA%E9|图"), {LINE, FAILED}),
        (LogQuery(match="^2026.*newLog$"), {LINE}),
        (LogQuery(status="404"), {LINE}),
        (LogQuery(status=" 4XX , -2"), {LINE, FAILED}),
        (LogQuery(status="failed"), {FAILED}),
        (LogQuery(status="refused,5xx"), set()),
        (LogQuery(host="b.test"), {LINE}),
        (LogQuery(host=".test"), {LINE, FAILED}),
        (LogQuery(host="x.a.b.test"), set()),
        (LogQuery(mime="text/"), {LINE}),
        (LogQuery(annotation="newLog"), {LINE}),
        (LogQuery(annotation="new", status="4xx", match="html"), {LINE}),
    ],
)
def test_filters(wanted: LogQuery, lines: set[str]):
    wants = wanted_lines(wanted)
    assert {line for line in (LINE, FAILED) if wants(line)} == lines


@pytest.mark.parametrize(
    "wanted",
    [LogQuery(match="("), LogQuery(match=r"(a)\1"), LogQuery(status="good")],
)
def test_a_filter_that_cannot_be_searched_is_refused(wanted: LogQuery):
    with pytest.raises(RefusedRequestError) as refused:
        wanted_lines(wanted)
    assert refused.value.status == 400
