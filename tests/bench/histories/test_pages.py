import pytest

from bench.histories.pages import HistorySite, fill_templates
from bench.histories.serving import Request, make_reply, robots_txt
from bench.histories.timeline import RecordedVersion, Timeline
from bench.histories.worlds import RunPlan

FILES = {
    "index.html": "<h1>Home</h1>",
    "guide/index.html": '<!--#include virtual="../includes/top.html" -->Guide',
    "includes/top.html": 'Top <!--#include virtual="/includes/deep.html" -->',
    "includes/deep.html": "Deep",
    "loop.html": '<!--#include virtual="loop.html" -->x',
    "manual.html": '<a href="index.html?a/B.html">x</a>',
    "a b.pdf": "PDF",
    "style.css": "css",
}


def site(*, ssi: bool = False, plain: bool = False) -> HistorySite:
    timeline = Timeline()
    for path in FILES:
        timeline.add(path, 10, path)
    timeline.add("includes/deep.html", 30, "includes/deep.html")
    timeline.add("index.html", 50, None)
    return HistorySite(timeline, lambda blob: FILES[blob].encode(), ssi=ssi, plain=plain)


@pytest.mark.parametrize(
    ("path", "now", "status", "kind"),
    [
        ("/", 20, 200, "text/html; charset=utf-8"),
        ("/", 60, 404, "text/html"),
        ("/", 5, 404, "text/html"),
        ("/manual", 20, 200, "text/html; charset=utf-8"),
        ("/guide", 20, 301, "/guide/"),
        ("/guide/", 20, 200, "text/html; charset=utf-8"),
        ("/a%20b.pdf", 20, 200, "application/pdf"),
        ("/style.css", 20, 200, "text/css"),
        ("/nowhere/", 20, 404, "text/html"),
    ],
)
def test_paths_stand_for_files(path: str, now: int, status: int, kind: str):
    assert site().reply(path, now)[:2] == (status, kind)


def test_includes_are_inserted_with_the_time_of_the_last():
    served = site(ssi=True)
    assert served.reply("/guide/", 20)[2:] == (10, b"Top DeepGuide")
    assert served.reply("/guide/", 40).changed == 30
    assert served.reply("/guide/", 40, frame=False).body == b" Guide"
    assert site().reply("/guide/", 20).body == FILES["guide/index.html"].encode()
    assert served.reply("/loop.html", 20).body.endswith(b"xxxxxx")


def test_templates_are_filled_with_the_first_value():
    page = (
        b'<script>{"fullVersion": "3.2", "fullVersion": "3.1"}</script>'
        b'<script id="t" type="text/x-handlebars-template">v{{fullVersion}} {{none}}.</script>'
    )
    assert fill_templates(page).endswith(b"</script>v3.2 .")


def test_links_of_javadoc_lose_their_query():
    assert site(plain=True).reply("/manual.html", 20).body == b'<a href="index.html">x</a>'


def test_a_start_page_lists_the_documents_of_its_folder():
    timeline = Timeline()
    for path in ("A/Terms & Co.html", "A/x.pdf", "A/x.css", "B/Terms.html"):
        timeline.add(path, 10, "one")
    listed = HistorySite(timeline, lambda _: b"one", index=True)
    text = listed.reply("/", 20, "A/").body.decode()
    assert '<a href="/Terms%20%26%20Co.html">Terms &amp; Co.html</a>' in text
    assert ("x.pdf" in text, "x.css" in text, "B" in text) == (True, False, False)
    assert listed.reply("/Terms%20%26%20Co.html", 20, "A/").body == b"one"


def test_another_snapshot_of_the_same_version_is_served():
    timeline = Timeline()
    for time, blob in ((10, "a"), (20, "b"), (30, "c")):
        timeline.add("A/T.html", time, blob)
    versions = {"A/T": [RecordedVersion(30, "v", True)]}
    served = HistorySite(timeline, str.encode, versions)
    assert [served.reply("/A/T.html", now, other=True).body for now in (10, 20, 30)] == [
        b"b", b"a", b"c",
    ]  # fmt: skip


def plan(**facts: object) -> RunPlan:
    usual = {"repo": "", "branch": "main", "times": [0], "start": 0, "end": 0}
    where = {"bind": "127.0.0.1", "port": 1, "clock": "", "log": ""}
    return RunPlan(**{**usual, **where, **facts})  # type: ignore[arg-type]


def test_validators_are_compared():
    answer, request = site().reply("/", 20), Request("/", "", "")
    assert make_reply(plan(), answer, request, 20).fields["Content-Length"] == "13"
    both = make_reply(plan(validators="both"), answer, request, 20)
    etag, date = both.fields["ETag"], both.fields["Last-Modified"]
    for asked, status in (
        (Request("/", etag, ""), 304),
        (Request("/", '"other"', date), 200),
        (Request("/", "", date), 304),
    ):
        assert make_reply(plan(validators="both"), answer, asked, 20).status == status
    assert make_reply(plan(), answer, Request("/", etag, date), 20).status == 200


def test_redirects_and_robots_have_replies_of_their_own():
    moved = make_reply(plan(), site().reply("/guide", 20), Request("/guide", "", ""), 20)
    assert (moved.status, moved.fields["Location"], moved.body) == (301, "/guide/", b"")
    rules = make_reply(plan(disallow=["/0"]), moved_answer(), Request("/robots.txt", "", ""), 20)
    assert (rules.status, rules.body) == (200, b"User-agent: *\nDisallow: /0\n")
    assert robots_txt([]) == b"User-agent: *\nDisallow:\n"


def moved_answer():
    return site().reply("/robots.txt", 20)


def test_a_folder_of_the_tree_is_the_root_of_a_site():
    timeline = Timeline()
    timeline.add("content/a b/index.html", 10, "one")
    served = HistorySite(timeline, lambda _: b"one")
    assert served.reply("/a%20b/", 20, "content/").body == b"one"
    assert served.reply("/a%20b", 20, "content/")[:2] == (301, "/a%20b/")
