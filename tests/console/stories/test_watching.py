"""What is watched: charts of any time, live parts, and what becomes of them without a stream."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from nacre.machine.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.logs.test_progress import line
from tests.console.stories.axe import violations
from tests.console.stories.running import (
    ConsoleProcess,
    console_of,
    finished_job,
    new_job,
    running_job,
    until,
)
from tests.console.stories.steps import FIRST, open_job
from tests.console.stories.watched import Scheme, tab

pytestmark = pytest.mark.console


DRAWN: Final = """() => [...document.querySelectorAll("[data-chart] .plot")].every(
  (plot) => plot.querySelector("canvas"))"""
"""All charts of a page are drawn."""


class Given(NamedTuple):
    """A console, and the folder of its jobs: `demo` runs, `over` is over and ran for days."""

    console: ConsoleProcess
    crawls: Path


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
    folder = tmp_path_factory.mktemp("watching")
    with site(many_pages(12)) as url:
        over = finished_job(folder / "crawls/over", url)
    with site(many_pages(400)) as url, socket.create_server(("127.0.0.1", 0)) as silent:
        log = Layout(over).latest / "logs" / "progress-statistics.log"
        log.write_text("".join(f"{line(number)}\n" for number in range(10_000)))
        job = new_job(folder / "crawls/demo", url, "politeness.delay=1s", "engine.parallel=5",
                      "fetch.silence_timeout=600s")  # fmt: skip
        # A server that never answers: one slot is always busy.
        with (job / "seeds.txt").open("a") as seeds:
            seeds.write(f"http://127.0.0.1:{silent.getsockname()[1]}/\n")
        with running_job(job), console_of(folder) as console:
            yield Given(console, folder / "crawls")


@pytest.fixture
def page(given: Given, browser: Browser) -> Iterator[Page]:
    with tab(browser, given.console) as opened:
        yield opened


def test_a_run_that_is_over_shows_its_day_and_all_of_it(given: Given, page: Page):
    open_job(page, given.console, "over", "/watch")
    spans = page.get_by_role("navigation", name="Time that the charts show")
    expect(spans.locator("[aria-current=page]")).to_have_text("All of the run")
    chart = page.locator("#chart-documents")
    expect(chart.locator("canvas")).to_be_visible()
    expect(chart).to_contain_text("Documents a second: 2")
    spans.get_by_text("24 hours").click()
    expect(page.locator("#past")).to_contain_text("4 min 48 s")
    expect(chart.locator("canvas")).to_be_visible()
    chart.get_by_text("As a table").click()
    assert chart.locator("tbody tr").count() >= 12
    assert not violations(page)
    spans.get_by_text("10 minutes").click()
    expect(page.locator(".empty")).to_contain_text("does not run now")


def test_the_past_stays_while_the_rest_is_live(given: Given, page: Page):
    open_job(page, given.console, "demo", "/watch?span=day")
    page.evaluate("document.getElementById('past').dataset.seen = 'yes'")
    page.evaluate("document.querySelector('#past > *').dataset.seen = 'yes'")
    slots = page.locator("#slots")
    expect(slots).to_contain_text("of 5 at work")
    page.get_by_role("button", name="One fetch slot more").click()
    expect(page.locator(".notice-done")).to_be_visible()
    expect(slots).to_contain_text("of 6 at work")
    page.get_by_role("button", name="One fetch slot fewer").click()
    expect(slots).to_contain_text("of 5 at work")
    assert page.locator("#past > [data-seen]").count() == 1


def test_a_fetch_leads_to_the_log_of_its_host(given: Given, page: Page):
    open_job(page, given.console, "demo", "/watch")
    page.locator("section[aria-labelledby=slots] td a").first.click()
    expect(page.locator("#log-host")).to_have_value("127.0.0.1")


def streams(given: Given, page: Page) -> int:
    """The streams that the console has open now."""
    text = page.evaluate("fetch('/metrics').then((answer) => answer.text())")
    found = re.search(r"^nacre_console_streams (\d+)", text, re.MULTILINE)
    assert found, text
    return int(found[1])


def is_live(page: Page) -> None:
    """Wait until a page shows something newer than it does, by itself."""
    done = page.locator("[data-number=finished]")
    before = done.inner_text()
    expect(done).not_to_have_text(before)


@pytest.mark.slow
def test_seven_tabs_are_live_though_a_browser_has_six_connections(given: Given, page: Page):
    tabs = [page, *(page.context.new_page() for _ in range(6))]
    for one in tabs:
        open_job(one, given.console, "demo")
        expect(one.locator("[data-number=finished]")).to_be_visible()
    for one in tabs:
        is_live(one)
        expect(one.locator("#stale")).to_have_count(0)
    assert streams(given, page) == 4
    for one in tabs[1:5]:
        one.close()
    until(lambda: streams(given, page) == 3)  # places that are free are taken
    for one in tabs[5:]:
        one.close()


HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, value: isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.slow
def test_a_hidden_tab_has_no_stream_and_asks_nothing(given: Given, page: Page):
    page.clock.install()
    open_job(page, given.console, "demo")
    is_live(page)
    assert streams(given, page) == 1
    asked: list[str] = []
    page.evaluate(HIDE, True)
    until(lambda: streams(given, page) == 0)
    done = page.locator("[data-number=finished]")
    before = done.inner_text()
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(20_000)  # a page without a stream asks again each 5 seconds
    assert asked == []
    assert done.inner_text() == before
    page.evaluate(HIDE, False)
    expect(done).not_to_have_text(before)
    assert streams(given, page) == 1


@pytest.mark.parametrize("below", ["", pytest.param("/log", marks=pytest.mark.slow)])
def test_a_page_whose_stream_is_held_back_is_asked_for_again(given: Given, page: Page, below: str):
    # As by a proxy that buffers: the request is on its way for ever.
    page.route("**/live/**", lambda _: None)
    open_job(page, given.console, "demo", below)
    shown = "[data-number=finished]" if not below else "[data-log] tbody tr:last-child td"
    first = page.locator(shown).first
    before = first.inner_text()
    banner = page.locator("#stale")
    expect(banner).to_contain_text("No live stream reaches this page")
    expect(page.locator(shown).first).not_to_have_text(before)
    assert not violations(page, "color-contrast")
    page.unroute_all()


@pytest.mark.slow
def test_a_console_that_is_gone_is_told_and_what_was_seen_stays(tmp_path: Path, browser: Browser):
    new_job(tmp_path / "crawls/demo", "http://127.0.0.1:9/")
    with console_of(tmp_path) as console, tab(browser, console) as page:
        page.goto(console.url)
        row = page.locator("tr[data-job]")
        expect(row).to_be_visible()
        console.kill()
        banner = page.locator("#stale")
        expect(banner).to_contain_text("does not answer since")
        expect(row).to_be_visible()
        assert not violations(page)
        console.start()
        expect(banner).to_have_count(0)
        expect(page.locator("#announcements")).to_have_text("The page is live again.")


def test_the_header_of_a_page_without_a_live_part_is_live(given: Given, page: Page):
    page.goto(f"{given.console.url}calendar")
    expect(page.locator("#pulse")).to_contain_text("1 running")
    assert streams(given, page) == 1
    page.evaluate("document.querySelector('#pulse a').textContent = 'old'")
    page.reload()
    expect(page.locator("#pulse")).to_contain_text("1 running")


def test_what_matters_is_on_the_first_screen_of_a_phone(given: Given, browser: Browser):
    with tab(browser, given.console, width=400, height=800) as page:
        open_job(page, given.console, "demo")
        for shown in ("#sentence", f"{FIRST} [data-action=pause]", f"{FIRST} [data-action=stop]"):
            box = page.locator(shown).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < 800, shown
        assert header_height(page) < 50
        # Each tab of the job can be seen, and so can what the menu holds.
        for tabs in page.locator(".tabs a").all():
            box = tabs.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 400
        link = page.get_by_role("link", name="Administration")
        expect(link).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        expect(link).to_be_visible()
        assert not violations(page)
        page.keyboard.press("Escape")
        expect(link).to_be_hidden()
        page.keyboard.press("/")
        expect(page.locator("#find-jobs")).to_be_focused()
        page.goto(given.console.url)
        expect(page.locator("tr[data-job]").first).to_be_visible()
        table = page.locator("#jobs")
        assert table.evaluate("(found) => found.scrollWidth <= found.parentElement.clientWidth")


def header_height(page: Page) -> float:
    """The height of the header, pixels."""
    box = page.locator("header").bounding_box()
    assert box is not None
    return box["height"]


def test_the_header_of_a_screen_is_one_line(given: Given, browser: Browser):
    for locale in ("en-GB", "zh-CN"):
        with tab(browser, given.console, locale=locale, width=1280, height=800) as page:
            page.goto(given.console.url)
            assert header_height(page) < 55, locale


@pytest.mark.parametrize("report", ["traps", "templates", "hosts", "frontier-summary"])
def test_tables_of_reports_fit_a_phone(given: Given, browser: Browser, report: str):
    with tab(browser, given.console, width=400, height=800) as page:
        open_job(page, given.console, "over", f"/reports/{report}")
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        for box in page.locator("main .scroll").all():
            assert box.evaluate("(found) => found.scrollWidth <= found.clientWidth"), report


def test_a_cell_over_all_columns_has_the_head_of_none_on_a_phone(given: Given, browser: Browser):
    with tab(browser, given.console, width=400, height=800) as page:
        open_job(page, given.console, "over", "/uris")
        cell = page.locator("#uris.rows td")
        expect(cell).to_have_text("Nothing waits here.")
        assert cell.get_attribute("data-head") is None
        open_job(page, given.console, "over", "/runs")
        expect(page.locator("td[data-head='Mode']").first).to_be_visible()


def test_a_curator_hides_the_frontier(given: Given, browser: Browser):
    with tab(browser, given.console) as page:
        open_job(page, given.console, "over")
        frontier = page.locator(".tabs").get_by_role("link", name="Frontier")
        expect(frontier).to_be_visible()
        page.get_by_role("button", name="anna").click()
        page.locator("#mode").select_option("curator")
        expect(frontier).to_be_hidden()
        open_job(page, given.console, "over", "/runs")
        expect(page.locator(".tabs").get_by_role("link", name="Reports")).to_be_visible()
        expect(frontier).to_be_hidden()


LABELS: Final = """
window.nacreLabels = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const place = this.getTransform().transformPoint({x, y});
  const width = this.measureText(text).width;
  const share = {right: 1, end: 1, center: 0.5}[this.textAlign] ?? 0;
  window.nacreLabels.push({text, chart: this.canvas.closest("figure")?.id ?? "",
    isAxis: this.textAlign !== "center",
    left: place.x - share * width, right: place.x + (1 - share) * width,
    room: this.canvas.width});
  return write.call(this, text, x, y, ...rest);
};
"""
"""Notes what is written on canvases, in a page."""


@pytest.mark.parametrize("span", ["live", "day", "all"])
@pytest.mark.parametrize("width", [1280, 400])
def test_labels_of_charts_are_whole_and_differ(
    given: Given, browser: Browser, span: str, width: int
):
    with tab(browser, given.console, width=width, height=800) as page:
        page.add_init_script(LABELS)
        open_job(page, given.console, "demo" if span == "live" else "over", f"/watch?span={span}")
        page.wait_for_function(DRAWN)
        labels = page.evaluate("window.nacreLabels")
        assert labels
        for one in labels:
            assert one["left"] >= 0, one
            assert one["right"] <= one["room"], one
        for chart in {one["chart"] for one in labels}:
            # Charts are drawn again while they are live: the last time has each value once.
            axis = [one["text"] for one in labels if one["chart"] == chart and one["isAxis"]]
            last = axis[len(axis) - axis[::-1].index(axis[0]) - 1 :] if axis else []
            assert len(set(last)) == len(last), (chart, last)


def test_what_is_in_process_is_shown_as_an_average_too(given: Given, page: Page):
    open_job(page, given.console, "demo", "/watch")
    lately = page.locator("[data-busy-lately]")
    expect(lately).to_contain_text("in process in the last half minute")
    # One fetch of the job never ends.
    expect(lately).to_contain_text(re.compile(r"average 1(\.\d+)? were"))


def test_a_line_of_the_log_is_told_in_words_in_the_language_of_the_page(
    given: Given, browser: Browser
):
    with tab(browser, given.console, locale="zh-CN", scheme="dark") as page:
        open_job(page, given.console, "over", "/log")
        status = page.locator("[data-log][data-tailing] button.explained").last
        status.focus()
        expect(page.locator("#explained")).to_contain_text("服务器返回 200")
        assert "已取得" in status.inner_text()
        assert not violations(page)
        open_job(page, given.console, "over", "/reports/crawl-summary")
        expect(page.locator("h2").first).to_contain_text("采集摘要")
        expect(page.locator("main")).to_contain_text("有响应的种子")
        assert not violations(page)


def test_the_list_shows_the_speed_and_the_last_urls(given: Given, page: Page):
    page.goto(given.console.url)
    row = page.locator("tr[data-job='crawls~demo']")
    expect(row.locator("svg.spark")).to_be_visible()
    page.get_by_role("link", name="Show the last URLs").click()
    expect(page.locator("tr.urls li")).to_have_count(3)
    first = page.locator("tr.urls li").first
    before = first.inner_text()
    expect(first).not_to_have_text(before)
    assert not violations(page)
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_the_bell_rings_on_all_pages_and_the_list_of_alerts_is_live(given: Given, page: Page):
    page.goto(f"{given.console.url}alerts")
    expect(page.locator("#pulse")).to_contain_text("1 running")
    expect(page.locator("#alert-list")).to_contain_text("No job has alerts")
    (given.crawls / "demo" / "control" / "ignores").write_text("(\n")
    expect(page.locator("#pulse")).to_contain_text("Alerts (1)")
    expect(page.locator("#alert-list")).to_contain_text("control/ignores, line 1")
    expect(page.locator("#announcements")).to_have_text("Alerts: 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_drawings_of_reports_have_colours(given: Given, browser: Browser, scheme: Scheme):
    with tab(browser, given.console, scheme=scheme) as page:
        open_job(page, given.console, "over", "/reports/budget")
        shown = page.evaluate("""() => {
          const box = document.createElement("div");
          box.className = "drawing";
          box.innerHTML = [0, 1, 2, 3, 4, 5].map((n) =>
            `<svg><rect class="s${n}"/><line class="l${n}"/></svg><i class="b${n}"></i>`).join("");
          document.body.append(box);
          const of = (kind, part) => [...box.querySelectorAll(kind)].map((one) =>
            getComputedStyle(one)[part]);
          return [of("rect", "fill"), of("line", "stroke"), of("i", "backgroundColor")];
        }""")
        assert [len(set(one)) for one in shown] == [6, 6, 6]
        assert shown[0] == shown[1] == shown[2]
        assert "rgb(0, 0, 0)" not in shown[0]
