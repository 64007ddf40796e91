"""The ledger of preferences of real crawls: a site with all signals, in three versions."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.archive.reader import WarcReader
from tests.cli.site import Done, nacre
from tests.crawl.raw_site import raw_site, reply
from tests.crawl.rights_site import COLLECT, DAYS, NOON, OPTIONS, site_files

pytestmark = pytest.mark.crawl


def _ran(ended: Done) -> None:
    assert ended.code == 0, ended.err


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A job that crawled the three versions, a week apart; its site."""
    root = tmp_path_factory.mktemp("rights") / "job"
    with raw_site() as site:
        for version, day in enumerate(DAYS, 1):
            site.replies = site_files(site, version=version)
            now = ("--now", day + NOON)
            if version == 1:
                start = ("crawl", f"{site.origin}/", *OPTIONS, *COLLECT, "--out", root)
                _ran(nacre(*start, *now))
            else:
                _ran(nacre("recrawl", root, "--full", "--quiet", *now))
        yield root, site.origin


def _uses(root: Path, url: str, day: str) -> dict[str, str]:
    uses: dict[str, str] = json.loads(nacre("rights", root, url, "--at", day, "--json").out)["uses"]
    return uses


def _record_ids(root: Path) -> dict[str, str]:
    """The URLs of the records of replies in the WARCs, by their ids."""
    found = {}
    for path in root.rglob("*.warc.gz"):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                if entry.get("WARC-Type") in ("response", "revisit"):
                    name = (entry.get("WARC-Record-ID") or "").strip("<>")
                    found[name] = entry.get("WARC-Target-URI") or ""
    return found


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("/page", {"train-ai": ("n", "n", "none"), "search": ("y", "n", "none"),
                   "tdm": ("n", "y", "none")}),
        ("/open/x", {"train-ai": ("n", "y", "none"), "tdm": ("n", "y", "none")}),
        ("/other", {"train-ai": ("n", "y", "none"), "ai-input": ("none", "none", "none")}),
    ],
)  # fmt: skip
def test_the_rows_at_three_times(job: tuple[Path, str], path, values) -> None:
    root, origin = job
    found = [_uses(root, origin + path, day) for day in DAYS]
    assert {key: tuple(uses[key] for uses in found) for key in values} == values


def test_directives_begin_and_end(job: tuple[Path, str]) -> None:
    root, origin = job
    found = [set(_uses(root, f"{origin}/page", day)) for day in DAYS]
    words = {"noarchive", "noimageai", "noindex", "noai"}
    assert [words & keys for keys in found] == [
        {"noarchive", "noimageai"},
        {"noindex", "noai"},
        set(),
    ]


def test_each_row_refers_to_its_capture_and_ends_with_the_next(job: tuple[Path, str]) -> None:
    root, _ = job
    ids = _record_ids(root)
    rows = json.loads(nacre("rights", root, "--json").out)
    assert {row["source"] for row in rows} == {
        "robots.txt", "header", "html", "tdmrep.json", "ai.txt", "llms.txt", "rsl", "reply",
    }  # fmt: skip
    for row in rows:
        assert ids[row["record_id"]] == row["url"]
        assert row["since"][:10] in DAYS
        assert row["until"] == "" or row["until"] > row["since"]


def test_metadata_has_signals_that_differ_from_the_version_before(job: tuple[Path, str]) -> None:
    root, _ = job
    lines = []
    for path in sorted(root.rglob("*.warc.gz")):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                if entry.get("WARC-Type") == "metadata":
                    text = entry.read().decode()
                    lines += [row for row in text.splitlines() if row.startswith("preference: ")]
    assert lines == [
        "preference: header: X-Robots-Tag: noarchive",
        "preference: header: TDM-Reservation: 1",
        'preference: html: <meta name="robots" content="noimageai">',
        "preference: header: X-Robots-Tag: noindex",
        "preference: header: TDM-Reservation: 0",
        'preference: html: <meta name="robots" content="noai">',
        "preference: none",
    ]


def _captures(root: Path, *options: str) -> list[tuple[str, str]]:
    rows = csv.DictReader(nacre("rights", root, "--csv", *options).out.splitlines())
    return sorted(
        (row["time"][:8], row["url"].partition("//")[2].partition("/")[2]) for row in rows
    )


def test_the_export_with_and_without(job: tuple[Path, str], tmp_path: Path) -> None:
    root, origin = job
    every, chosen = _captures(root), _captures(root, "--without", "train-ai=n")
    assert {("20270101", "page"), ("20270101", "open/x"), ("20270108", "open/x")} <= set(every)
    assert not [each for each in chosen if each[0] == "20270101"]
    assert ("20270108", "page") not in chosen
    assert {("20270108", "open/x"), ("20270115", "page")} <= set(chosen)
    package = tmp_path / "lawful.warc.gz"
    packed = nacre("archive", root, "pack", "--warc", package, "--without", "train-ai=n", "--json")
    assert packed.code == 0, packed.err
    result = json.loads(packed.out)
    assert (result["captures"], result["withheld"]) == (len(chosen), len(every) - len(chosen))
    listed = list(csv.DictReader(nacre("captures", root, "--format", "csv").out.splitlines()))
    states = [(row["time"][:10], row["rights"]) for row in listed if row["url"] == f"{origin}/page"]
    assert "noarchive" in dict(states)["2027-01-01"]
    assert dict(states)["2027-01-15"] == ""
    table = tmp_path / "captures.parquet"
    _ran(nacre("rights", root, "--parquet", table))
    import pyarrow.parquet  # noqa: PLC0415

    rows = pyarrow.parquet.read_table(table).to_pylist()
    assert len(rows) == len(every)
    (page,) = [
        row for row in rows if row["url"] == f"{origin}/page" and row["time"][:8] == "20270101"
    ]
    assert page["rights"].startswith("license=")
    assert "noarchive" in page["rights"]


def test_what_was_not_collected_is_unknown(tmp_path: Path) -> None:
    root = tmp_path / "job"
    with raw_site() as site:
        site.replies = site_files(site, version=2)
        _ran(nacre("crawl", f"{site.origin}/", *OPTIONS, "--out", root))
    uses = json.loads(nacre("rights", root, f"{site.origin}/other", "--json").out)["uses"]
    # Neither tdmrep.json nor the license file that robots.txt names was collected.
    assert (uses["tdm"], uses["train-ai"], uses["search"]) == ("unknown", "unknown", "n")
    kept = nacre("archive", root, "pack", "--warc", tmp_path / "a.warc.gz", "--without", "tdm=n")
    assert "is not known, since a source was not collected: packed" in kept.err
    dropped = _captures(root, "--without", "tdm=n", "--unknown", "drop")
    assert {path for _, path in dropped} == {"page"}, "its own header allows it"


def test_the_change_feed_has_the_changed_preferences(job: tuple[Path, str]) -> None:
    root, origin = job
    feed = json.loads(nacre("changes", root, "--kind", "rights", "--json").out)
    found = {(entry["run"], entry["url"].removeprefix(origin)) for entry in feed["entries"]}
    assert found == {
        (2, "/robots.txt"), (2, "/.well-known/tdmrep.json"), (2, "/ai.txt"), (2, "/license.xml"),
        (2, "/page"), (3, "/robots.txt"), (3, "/.well-known/tdmrep.json"), (3, "/page"),
    }  # fmt: skip
    ids = _record_ids(root)
    assert all(ids[entry["record_id"]] == entry["url"] for entry in feed["entries"])
    lines = nacre("changes", root, "--since", "2").out
    assert "[-Content-Usage: train-ai=n-]{+Content-Usage: train-ai=y+}" in lines
    assert "{+X-Robots-Tag: noindex+}" in lines


def test_headers_of_a_page_that_was_never_fetched_are_unknown(job: tuple[Path, str]) -> None:
    root, origin = job
    answer = json.loads(nacre("rights", root, f"{origin}/never", "--json").out)
    assert "reply" in answer["missing"]
    assert answer["uses"]["search"] == "unknown"
    fetched = json.loads(nacre("rights", root, f"{origin}/other", "--json").out)
    assert "reply" not in fetched["missing"]


def test_headers_before_the_first_capture_are_unknown(job: tuple[Path, str]) -> None:
    root, origin = job
    found = [
        json.loads(nacre("rights", root, f"{origin}/{path}", "--at", day, "--json").out)["missing"]
        for path in ("page", "other")
        for day in ("2026-12-31", DAYS[0], DAYS[1])
    ]
    assert ["reply" in missing for missing in found] == [True, False, False] * 2


def test_the_export_of_one_url(job: tuple[Path, str]) -> None:
    root, origin = job
    done = nacre("rights", root, f"{origin}/page", "--csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert {row["url"] for row in rows} == {f"{origin}/page"}
    assert [row["time"][:8] for row in rows] == [day.replace("-", "") for day in DAYS]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--at", "2027-01-01"), "--at and --history need a URL"),
        (("--history",), "--at and --history need a URL"),
        (("--without", "noarchive"), "it needs --csv or --parquet"),
        (("http://h.test/", "--at", "2027", "--csv"), "list the captures of all times"),
    ],
)
def test_options_that_have_no_meaning_are_refused(job: tuple[Path, str], words, error) -> None:
    done = nacre("rights", job[0], *words)
    assert (done.code, error in done.err) == (2, True), done.err


def test_a_rebuild_finds_the_same_rows(job: tuple[Path, str]) -> None:
    root, _ = job
    commands = (("rights", root, "--json"), ("changes", root, "--json"))
    before = [nacre(*command).out for command in commands]
    _ran(nacre("rights", root, "--rebuild"))
    assert [nacre(*command).out for command in commands] == before


@pytest.mark.parametrize("charset", ["gbk", "utf-16", "utf-16be"])
def test_a_rebuild_reads_pages_in_any_charset_and_their_copies(tmp_path: Path, charset) -> None:
    root = tmp_path / "job"
    body = '<meta name="robots" content="noarchive"><p>其他'.encode(charset)
    with raw_site() as site:
        copies = ("/a", "/b", "/c")
        site.serve(dict.fromkeys(copies, reply(body, f"text/html; charset={charset}")), copies)
        _ran(nacre("crawl", f"{site.origin}/", *OPTIONS, "--out", root))
        before = nacre("rights", root, "--json").out
        _ran(nacre("rights", root, "--rebuild"))
    assert nacre("rights", root, "--json").out == before
    stated = [row["url"] for row in json.loads(before) if row["preferences"] == "noarchive"]
    assert sorted(stated) == [f"{site.origin}{path}" for path in copies]


def test_explain_history_and_report_show_them(job: tuple[Path, str]) -> None:
    root, origin = job
    assert "train-ai none" in nacre("explain", root, f"{origin}/page").out
    history = nacre("history", root, "url", f"{origin}/page").out
    assert "X-Robots-Tag: noarchive" in history
    assert "X-Robots-Tag: noindex" in history
    assert "Content-Usage: /open/ train-ai=y" in nacre("report", root, "rights").out


def test_enforced_preferences_withhold_records(tmp_path: Path) -> None:
    root = tmp_path / "job"
    with raw_site() as site:
        site.replies = site_files(site, version=1)
        enforce = ("--set", "rights.enforce=[noarchive]")
        done = nacre("crawl", f"{site.origin}/", *OPTIONS, *enforce, "--out", root)
        _ran(done)
        assert "1 reply withheld, not in the archive (rights.enforce)" in done.out
    assert "Withheld, not in the archive (rights.enforce)" in nacre("report", root).out
    stored = set(_record_ids(root).values())
    assert f"{site.origin}/page" not in stored
    assert {f"{site.origin}/open/x", f"{site.origin}/robots.txt"} <= stored
    (log,) = root.glob("runs/*/logs/crawl.log")
    assert "rightsWithheld:noarchive" in log.read_text()
    assert _uses(root, f"{site.origin}/page", "2100")["noarchive"] == "given"


def test_a_preference_that_no_site_is_known_to_state_is_warned_of(tmp_path: Path) -> None:
    root, told = tmp_path / "job", "noarchiv is not a known preference"
    with raw_site() as site:
        site.replies = site_files(site, version=1)
        enforce = ("--set", "rights.enforce=[noarchiv]")
        done = nacre("crawl", f"{site.origin}/", *OPTIONS, *enforce, "--out", root)
        _ran(done)
    assert told in done.err
    (log,) = root.glob("runs/*/logs/job.log")
    assert "did you mean `noarchive`?" in log.read_text()
    checked = nacre("check", root)
    assert checked.code == 0
    assert told in checked.out + checked.err


def test_licenses_are_requested_only_where_a_link_would_be(tmp_path: Path) -> None:
    with raw_site() as site, raw_site() as closed:
        rule = '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>'
        rule += "<prohibits>ai-train</prohibits></license></content></rsl>"
        named = [
            "http://[bad/x", "http://h:99999/x", "http://10.0.0.1:8099/l.xml", "file:///etc/passwd",
            f"{closed.origin}/closed.xml", f"{site.origin}/a/../l.xml#x",
        ]  # fmt: skip
        lines = "".join(f"License: {url}\n" for url in named)
        closed.replies = {"/robots.txt": reply("User-agent: *\nDisallow: /", "text/plain")}
        site.replies = {
            "/": reply("<p>x"),
            "/robots.txt": reply(lines, "text/plain"),
            "/l.xml": reply(rule, "text/xml"),
        }
        _ran(nacre("crawl", f"{site.origin}/", *OPTIONS, *COLLECT, "--out", tmp_path / "job"))
        assert closed.asked == ["/robots.txt"]
        uses = json.loads(nacre("rights", tmp_path / "job", site.origin, "--json").out)["uses"]
    assert uses["train-ai"] == "n"
    (log,) = (tmp_path / "job").glob("runs/*/logs/crawl.log")
    rows = [line.split() for line in log.read_text().splitlines()]
    statuses = {row[3]: row[1] for row in rows}
    assert statuses["http://10.0.0.1:8099/l.xml"] == "-61"
    assert statuses[f"{closed.origin}/closed.xml"] == "-9998"
    assert statuses[f"{site.origin}/l.xml"] == "200"
    assert not [url for url in statuses if any(word in url for word in ("bad", "9999", "passwd"))]


def test_what_is_no_preference_is_refused(tmp_path: Path) -> None:
    with raw_site() as site:
        site.replies = {"/": reply("<p>x")}
        _ran(nacre("crawl", f"{site.origin}/", *OPTIONS, "--out", tmp_path / "job"))
    for command in (
        ("rights", tmp_path / "job", "--csv"),
        ("archive", tmp_path / "job", "pack", "--warc", tmp_path / "x.warc.gz"),
    ):
        ended = nacre(*command, "--without", "train ai")
        assert ended.code == 2
        assert "is no preference" in ended.err
