"""`nacre changes` after two runs of a site, in English and Chinese."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nacre.machine.layout import Layout
from tests.cli.known import known_job
from tests.cli.site import HeadedPage, ServedPage, nacre, site


class Changed(NamedTuple):
    """A job that crawled a site twice."""

    job: Path
    url: str


def page(title: str, text: str, charset: str = "utf-8") -> bytes:
    head = f'<meta charset="{charset}"><title>{title}</title>'
    return f"<html><head>{head}</head><body><p>{text}</p></body></html>".encode(charset)


def links(*names: str) -> bytes:
    return page("Home", " ".join(f'<a href="{name}">page {name}</a>' for name in names))


def first_pages() -> dict[str, ServedPage]:
    rest = "The library on the second floor can be visited by appointment. " * 5
    return {
        "/": links("hours", "gbk", "utf8", "old", "same"),
        "/hours": page("Opening hours", f"Open from Monday to Friday. {rest}"),
        "/gbk": page("开放时间", "博物馆周一至周五开放。周末闭馆。", "gbk"),
        "/utf8": page("通知公告", "报名截止日期为五月一日。"),
        "/old": page("Old news", "It will be removed soon."),
        "/same": page("Same", "It stays. Now: 10:00:01"),
    }


def edit(pages: dict[str, ServedPage]) -> None:
    rest = "The library on the second floor can be visited by appointment. " * 5
    pages["/"] = links("hours", "gbk", "utf8", "old", "same", "new")
    pages["/hours"] = page("Opening hours", f"Open from Monday to Sunday. {rest}")
    pages["/gbk"] = page("开放时间", "博物馆周一至周六开放。周末闭馆。", "gbk")
    pages["/utf8"] = page("通知公告", "报名截止日期为五月九日。")
    pages["/same"] = page("Same", "It stays. Now: 11:22:33")
    pages["/new"] = page("新展览", "春季将举办新展览。", "gbk")
    del pages["/old"]


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Changed:
    job, pages = tmp_path_factory.mktemp("changes") / "job", first_pages()
    with site(pages) as url:
        crawl = ("--out", job, "--quiet", "--browser", "never", "--now", "20261120100000")
        assert nacre("crawl", url, *crawl, "--set", "politeness.delay=0").code == 0
        edit(pages)
        every = ("--set", "recrawl.recall=1", "--set", "recrawl.least=0")
        done = nacre("recrawl", job, "--quiet", "--now", "20261127100000", *every)
        assert done.code == 0, done.err
    return Changed(job, url)


def told(changed: Changed, *words: object) -> Any:
    done = nacre("changes", changed.job, *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_new_changed_and_gone_pages_are_listed_without_noise(changed: Changed):
    feed = told(changed)
    kinds = {entry["url"].removeprefix(changed.url): entry["kind"] for entry in feed["entries"]}
    assert kinds == {
        "": "changed", "hours": "changed", "gbk": "changed", "utf8": "changed",
        "new": "new", "old": "gone",
    }  # fmt: skip
    (run,) = feed["runs"]
    assert (run["number"], run["counts"]) == (2, {"new": 1, "changed": 4, "gone": 1})


def test_differences_are_words(changed: Changed):
    text = nacre("changes", changed.job).out
    assert "text: Open from Monday to [-Friday-]{+Sunday+}. The library" in text
    assert "text: 博物馆周一至周[-五-]{+六+}开放。周末闭馆。" in text
    assert "text: 报名截止日期为五月[-一-]{+九+}日。" in text
    assert "新展览\n      春季将举办新展览。" in text
    assert "Old news\n      the page was not found (status 404)" in text


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--match", "/(gbk|new)$"), {"gbk", "new"}),
        (("--kind", "gone,new"), {"old", "new"}),
        (("--since", "2026-12-01"), set[str]()),
    ],
)
def test_a_selection(changed: Changed, words: tuple[str, ...], names: set[str]):
    entries = told(changed, *words)["entries"]
    assert {entry["url"].removeprefix(changed.url) for entry in entries} == names


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("--since", "soon"),
            "nacre: --since: 'soon' is neither a run nor a time nor a duration; the runs are: 1 (",
        ),
        (("--kind", "lost"), "nacre: --kind: there is no kind 'lost'; it is one of new, "),
    ],
)
def test_a_mistake_is_explained(changed: Changed, words: tuple[str, ...], error: str):
    done = nacre("changes", changed.job, *words)
    assert (done.code, error in done.err) == (2, True), done.err


def test_a_job_that_ran_once_has_nothing_to_compare(tmp_path: Path):
    job = known_job(tmp_path / "JOB 书")
    done = nacre("changes", job)
    assert done.code == 0
    assert done.out.startswith("There is nothing to compare yet")
    assert done.out.endswith(f"Run `nacre recrawl '{job}'`.\n")


def test_a_folder_is_published_and_kept_as_it_is(changed: Changed, tmp_path: Path):
    out = tmp_path / "feed"
    words = ("--out", out, "--url", "https://library.example/feed")
    first = nacre("changes", changed.job, *words)
    assert first.out.endswith("4 files written, 0 kept\n"), first.err
    assert sorted(path.name for path in out.iterdir()) == [
        "feed.atom", "feed.json", "index.html", "run-2.html",
    ]  # fmt: skip
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = nacre("changes", changed.job, *words)
    assert again.out.endswith("0 files written, 4 kept\n")
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times
    feed = json.loads((out / "feed.json").read_text("utf-8"))
    assert feed["feed_url"] == "https://library.example/feed/feed.json"
    chinese = nacre("changes", changed.job, *words, "--lang", "zh")
    assert chinese.code == 0
    assert "已消失" in (out / "index.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["index.html", "feed.atom", "feed.json", "run-9.html"])
def test_a_file_of_another_origin_is_not_replaced(changed: Changed, tmp_path: Path, name: str):
    (tmp_path / name).write_text("<h1>Library</h1>")
    done = nacre("changes", changed.job, "--out", tmp_path)
    assert (done.code, f"{name} was not written by" in done.err) == (2, True)
    assert (tmp_path / name).read_text() == "<h1>Library</h1>"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_part_of_a_folder_and_a_feed_without_entries_are_replaced(
    changed: Changed, tmp_path: Path
):
    for words in (("--match", "/nothing"), (), ()):
        assert nacre("changes", changed.job, "--out", tmp_path, *words).code == 0
        (tmp_path / "index.html").unlink()


@pytest.mark.parametrize("address", ["ftp://a.test/", "javascript:alert(1)"])
def test_an_address_that_is_none(changed: Changed, tmp_path: Path, address: str):
    done = nacre("changes", changed.job, "--out", tmp_path, "--url", address)
    assert (done.code, "is no address of a folder" in done.err) == (2, True)


@pytest.mark.browser
def test_words_that_only_a_browser_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    job, html = tmp_path / "job", {"Content-Type": "text/html; charset=utf-8"}
    script = (
        "fetch('data.json').then(r => r.json()).then(d => { document.title = d.title;"
        "document.getElementById('root').innerText = d.text });"
    )
    text = "The museum is open from Monday to %s. 博物馆周一至周%s开放。"
    data = f'{{"title": "开放时间\\u202e", "text": "{text}"}}'
    pages: dict[str, ServedPage] = {
        "/": HeadedPage("<!doctype html><div id=root></div><script src=app.js></script>", html),
        "/app.js": HeadedPage(script, {"Content-Type": "text/javascript"}),
        "/data.json": HeadedPage(data % ("Friday", "五"), {"Content-Type": "application/json"}),
    }
    with site(pages) as url:
        crawl = ("--out", job, "--quiet", "--browser", "always", "--now", "20261120100000")
        done = nacre("crawl", url, *crawl, "--set", "politeness.delay=0")
        assert done.code == 0, done.err
        pages["/data.json"] = HeadedPage(
            data % ("<b>Sunday</b>", "六"), {"Content-Type": "application/json"}
        )
        done = nacre("recrawl", job, "--quiet", "--now", "20261127100000")
        assert done.code == 0, done.err
        (entry,) = json.loads(nacre("changes", job, "--json").out)["entries"]
        shown = nacre("changes", job).out
        assert nacre("changes", job, "--out", tmp_path / "feed").code == 0
    assert (entry["kind"], entry["url"], entry["title"]) == ("changed", url, "开放时间")
    assert "Monday to [-Friday-]{+<b>Sunday</b>+}. 博物馆周一至周[-五-]{+六+}开放。" in shown
    for name in ("index.html", "run-2.html", "feed.atom"):
        assert "<b>" not in (tmp_path / "feed" / name).read_text("utf-8")


def test_a_recording_names_what_compares_its_pages(tmp_path: Path):
    job = known_job(tmp_path / "job")
    Layout(job).recorder.mkdir()
    done = nacre("changes", job)
    assert done.code == 0, done.err
    assert done.out.startswith("No run compares the pages of a recording. `nacre report ")
    assert f"`nacre report {job} diff URL`" in done.out
    assert done.out.count("\n") == 1
