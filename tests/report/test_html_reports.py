"""The report that is handed to a superior, and all other HTML: complete, safe, readable."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nacre.inspect.reports.run_reports import RUN_REPORTS
from nacre.inspect.summary.run_summary import failed_lines
from nacre.report.charts import WIDTH
from nacre.report.html import STYLE
from tests.cli.library import NOTICES, library
from tests.cli.site import nacre
from tests.crawl.again import again, first
from tests.report.pages import harmless, look
from tools.nginx import free_port

pytestmark = pytest.mark.crawl

CHANGED, REMOVED, ADDED = "读者证办理指南", "文献捐赠征集启事", "关于闭馆检修的紧急通知"
JOB_REPORTS = ("change-frequency", "savings", "budget", "deletions", "hints", "templates",
               "coverage", "decisions")  # fmt: skip
MEDIA = {"text", "html", "plain", "image", "png", "txt", "Shanghai"}
PAGE_REPORTS = ("timeline", "diff", "decisions")


@dataclass
class Weekly:
    """A library's site that was visited in three weeks."""

    job: Path
    home: str
    urls: dict[str, str]
    pages: Path


@pytest.fixture(scope="module", params=["utf-8", "gbk"])
def weekly(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Weekly]:
    folder = tmp_path_factory.mktemp("handout")
    job, pages = folder / "job", folder / "pages"
    pages.mkdir()
    with library(request.param) as place:
        assert first(job, place.home) == "FINISHED"
        for week in (1, 2):
            place.notices[CHANGED] = (
                f"第{week}周起,读者证改在二楼服务台办理,请携带有效身份证件原件及近期照片。"
            )
            place.notices.pop(REMOVED, None)
            if week == 2:
                place.notices[ADDED] = "因电力检修,本馆临时闭馆一天,恢复开放时间另行通知。"
            wanted = {"recall": 1.0, "least": 0.0}
            assert again(job, place.home, 7.1 * week, recrawl=wanted) == "FINISHED"
        urls = {title: place.url(title) for title in (*NOTICES, ADDED, "已撤下的旧通知")}
        (job / "crawl.yaml").write_text(
            f"name: 青山县图书馆\nseeds: ['{place.home}']\nscope:\n  - {{rule: reject}}\n", "utf-8"
        )
        yield Weekly(job, place.home, urls, pages)


def page(weekly: Weekly, *arguments: object) -> str:
    """A report as HTML, which can do no harm."""
    path = weekly.pages / (re.sub(r"\W+", "-", "-".join(map(str, arguments)))[:80] + ".html")
    done = nacre("report", weekly.job, *arguments, "--html", path)
    assert done.code == 0, done.err
    text = path.read_text("utf-8")
    harmless(text)
    return text


def test_a_superior_finds_what_was_got_failed_changed_and_saved(weekly: Weekly):
    text = page(weekly, "run")
    seen = look(text)
    assert '<html lang="en">' in text
    assert "Crawl report: 青山县图书馆" in seen.text
    for heading in ("Site", "Period", "What was fetched", "What changed",
                    "What could not be fetched",
                    "What was stored", "All runs of this job"):  # fmt: skip
        assert heading in seen.text
    assert weekly.home in seen.text
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)", seen.text)
    rows = {row[0]: row[1:] for row in seen.rows}
    assert rows["new"] == ["1"]
    assert rows["text/html"][0] == "web pages"
    assert rows["there is no such page"] == ["404", "2"]
    assert len([row for row in seen.rows if row[2:3] in (["first, full"], ["incremental"])]) == 3


def test_its_urls_are_those_that_people_read(weekly: Weekly):
    """Also where they were escaped in GBK, of which no part is UTF-8."""
    text = look(page(weekly, "run")).text
    for title in (ADDED, CHANGED, "已撤下的旧通知"):
        assert f"{weekly.home}通知公告/{title}.html" in text
    assert "%CD%A8" not in text
    assert "%E9%80" not in text


def test_it_is_chinese_where_that_is_asked_for(weekly: Weekly):
    text = page(weekly, "run", "--lang", "zh", "--time-zone", "Asia/Shanghai")
    assert '<html lang="zh-CN">' in text
    seen = look(text)
    for word in ("网站采集报告", "采集时间", "采集结果", "变更情况", "未采集到的内容", "存档情况",
                 "历次采集", "网页不存在", "新增网页", "(Asia/Shanghai)"):  # fmt: skip
        assert word in seen.text
    shown = re.sub(r"<style>.*</style>|<[^>]+>", " ", text, flags=re.DOTALL)
    words = set(re.findall(r"[A-Za-z]{3,}", re.sub(r"https?://\S+", "", shown)))
    assert words <= {"HTML", "WARC", "robots", "strict", "Asia", "Nacre"} | MEDIA, words


@pytest.mark.parametrize("run", ["1", "2"])
def test_an_earlier_run_has_its_report_too(weekly: Weekly, run: str):
    told = json.loads(nacre("report", weekly.job, "run", "--run", run, "--json").out)
    assert told["run"]["number"] == int(run)
    assert len(told["runs"]) == int(run)
    assert told["numbers"]["run"] == told["run"]["name"]
    by_name = json.loads(
        nacre("report", weekly.job, "run", "--run", told["run"]["name"], "--json").out
    )
    assert by_name == told
    gone = look(page(weekly, "run", "--run", run)).text
    assert (f"通知公告/{REMOVED}.html" in gone) == (run == "2")


def test_what_is_no_run_is_refused(weekly: Weekly):
    for arguments, told in (
        (("run", "--run", "9"), "there is no run '9'"),
        (("run", "--time-zone", "Mars/Olympus"), "is not a time zone"),
        (("run", "--lang", "fr"), "'fr'"),
        (("run", "http://a.test/"), "takes no URL"),
    ):
        done = nacre("report", weekly.job, *arguments)
        assert (done.code, told in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    "name", [*JOB_REPORTS, *(one.name for one in RUN_REPORTS if one.name != "threads")]
)
def test_every_page_names_job_site_and_period(weekly: Weekly, name: str):
    seen = look(page(weekly, name))
    for word in ("Job", "青山县图书馆", "Site", weekly.home, "Period", "(3 runs)"):
        assert word in seen.text


@pytest.mark.parametrize("name", PAGE_REPORTS)
def test_pages_about_a_url_show_it_decoded(weekly: Weekly, name: str):
    seen = look(page(weekly, name, weekly.urls[CHANGED]))
    assert f"{weekly.home}通知公告/{CHANGED}.html" in seen.text
    assert "Period" in seen.text


def test_words_of_plots_can_be_read_on_a_narrow_screen():
    """420 px less the margins of the page; sizes in units of the plot."""
    narrow = STYLE.partition("@media screen")[2]
    units = int(re.search(r"svg text\{font-size:(\d+)px\}", narrow)[1])  # type: ignore[index]
    assert units * (420 - 32) / WIDTH >= 11.0


def test_print_is_for_a4_and_cuts_no_row():
    assert "@page{size:A4" in STYLE
    paper = STYLE.partition("@media print")[2]
    assert "thead{display:table-header-group}tr,figure,dt,dd,.short{break-inside:avoid}" in paper


_MEASURE = """
<script>onload=()=>{const told=[];for(const f of document.querySelectorAll("iframe")){
const d=f.contentDocument,bad=[];
for(const e of d.querySelectorAll("table,svg,code,dd,dt,p,h1,h2,td,th,caption")){
const r=e.getBoundingClientRect();if(r.right>d.documentElement.clientWidth+1)bad.push(e.tagName)}
for(const s of d.querySelectorAll("svg")){const b=s.getBoundingClientRect();
for(const t of s.querySelectorAll("text")){const r=t.getBoundingClientRect();
if(r.width&&(r.left<b.left-1||r.right>b.right+1))bad.push("cut "+t.textContent);
const z=parseFloat(getComputedStyle(t).fontSize)*b.width/s.viewBox.baseVal.width;
if(z<10)bad.push("small "+t.textContent)}}
told.push(d.documentElement.scrollWidth+" "+(bad.join()||"fine")+" in "+f.id)}
document.body.innerHTML="<pre>"+told.join("\\n")+"</pre>"}
</script>"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [420, pytest.param(1200, marks=pytest.mark.slow)])
def test_nothing_leaves_the_page(weekly: Weekly, tmp_path: Path, width: int):
    """Measured in a browser: no table, word or label is wider than the page, or tiny."""
    page(weekly, "run", "--lang", "zh")
    for name in (*JOB_REPORTS, *(one.name for one in RUN_REPORTS if one.name != "threads")):
        page(weekly, name)
    for name in PAGE_REPORTS:
        page(weekly, name, weekly.urls[CHANGED])
    pages = sorted(weekly.pages.glob("*.html"))
    assert len(pages) > 15
    frame = f'<iframe id="{{}}" src="{{}}" style="width:{width}px;height:800px;border:0"></iframe>'
    frames = "".join(frame.format(path.stem, path.as_uri()) for path in pages)
    measured = tmp_path / "measure.html"
    measured.write_text(f"<body>{frames}{_MEASURE}", "utf-8")
    told = re.findall(
        r"^(\d+) (.*) in (.*)$", _browsed(measured, tmp_path / "profile"), re.MULTILINE
    )
    assert len(told) == len(pages)
    assert [one for one in told if int(one[0]) > width or one[1] != "fine"] == []


_PAPER = 595.0 - 14.0 * 72.0 / 25.4
"""A4 less its right margin, points."""


@pytest.mark.skipif(
    shutil.which("chromium") is None or shutil.which("pdftotext") is None,
    reason="chromium or pdftotext is not installed",
)
@pytest.mark.parametrize(
    "report", [("run", "--lang", "zh"), ("savings",), ("hosts", "--verbose"), ("templates",)]
)
def test_no_word_is_cut_on_paper(weekly: Weekly, tmp_path: Path, report: tuple[str, ...]):
    page(weekly, *report)
    path = max(weekly.pages.glob("*.html"), key=lambda one: one.stat().st_mtime_ns)
    paper = tmp_path / "paper.pdf"
    _browsed(path, tmp_path / "profile", "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    words = subprocess.run(
        ["pdftotext", "-bbox", paper, "-"], capture_output=True, text=True, check=True
    ).stdout
    sizes = {(round(float(w)), round(float(h)))
             for w, h in re.findall(r'page width="([\d.]+)" height="([\d.]+)"', words)}  # fmt: skip
    assert sizes == {(595, 842)}
    right = [float(at) for at in re.findall(r'xMax="([\d.]+)"', words)]
    assert len(right) > 30
    assert max(right) <= _PAPER + 1.0


def _browsed(path: Path, profile: Path, *wanted: str) -> str:
    names = (
        "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
        "disable-component-update disable-sync allow-file-access-from-files disable-web-security "
        "virtual-time-budget=15000 window-size=1400,900"
    )
    options = [f"--{name}" for name in names.split()]
    done = subprocess.run(
        ["chromium", *options, f"--user-data-dir={profile}", *(wanted or ("--dump-dom",)),
         path.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return re.sub(r"</?pre>", "\n", done.stdout)


def test_the_log_is_read_as_it_is_written():
    """Prerequisites and guesses are not failures, and a line that was cut off is passed over."""
    lines = (
        b"2026-11-20T10:00:00.000Z   404  10 http://a.test/robots.txt P http://a.test/ text/html\n",
        b"2026-11-20T10:00:00.000Z   404  10 http://a.test/guess LX http://a.test/ text/html #1\n",
        b"2026-11-20T10:00:00.000Z   200  10 http://a.test/ - - text/html #1\n",
        b"2026-11-20T10:00:00.000Z -5001   - http://a.test/out L http://a.test/ unknown #1\n",
        b"2026-11-20T10:00:00.000Z -9998   - http://a.test/no L http://a.test/ unknown #1\n",
        b"2026-11-20T10:00:00.000Z    -2   - http://b.test/ - - unknown #1 - -\n",
        b"2026-11-20T10:00:00.000Z   503  10 http://a.test/\xff L http://a.test/ text/html #1\n",
        b"2026-11-20T10:00:00.000Z   5",
    )
    found = [(one.status, one.url, one.via) for one in failed_lines(lines)]
    assert found == [
        (-9998, "http://a.test/no", "http://a.test/"),
        (-2, "http://b.test/", ""),
        (503, "http://a.test/�", "http://a.test/"),
    ]


def test_a_seed_that_is_down_and_what_still_waits_are_told(tmp_path: Path):
    job = tmp_path / "job"
    dead = f"http://127.0.0.1:{free_port(('127.0.0.1',))}/"
    with library("gbk") as place:
        quick = ("--delay", 0, "--set", "frontier.max_retries=1", "--set", "limits.documents=3")
        done = nacre("crawl", dead, place.home, "--scope", "host", *quick, "--out", job, "-q")
        assert done.code == 4, done.err
        english = nacre("report", job, "run").out
        words = " ".join(english.split())
        assert f"The seed {dead} could not be fetched: its robots.txt could not be" in words
        assert "(connection refused" in words
        assert re.search(r"Addresses\s+still\s+waiting:\s+\d", english)
        assert "Everything that was requested" not in english
        chinese = nacre("report", job, "run", "--lang", "zh").out
        assert f"种子网址 {dead} 未能采集：无法获取 robots.txt（connection refused" in chinese  # noqa: RUF001
        assert "尚待采集的网址" in chinese
        assert "达到设定的上限而停止" in chinese
