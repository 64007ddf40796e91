"""Which pages are run in a browser, and what is learned of those that were."""

import pytest
from msgspec import structs

from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective, fixed
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.core.rendered import NetworkEvent, RenderedPage
from nacre.engine.pages import learned_signs
from nacre.engine.pages.learned_signs import LEARNED, PROBE, PageChoice
from nacre.engine.pages.sign_rows import learned_templates, sign_counts
from nacre.extract.shell import Signs, find_signs
from nacre.store.store import Store
from tests.engine.visiting import ManualClock
from tests.store.memory import MemoryEngine

SITE = "http://a.test"
SCRIPT = '<script src="/main.js"></script>'
SHELL = f'<html><head>{SCRIPT}</head><body><div id="root"></div></body></html>'
PROSE = "words of an article that everybody can read " * 20
ASKS = f"<html><head>{SCRIPT}</head><body><noscript>JavaScript is disabled.</noscript><p>{PROSE}"
PLAIN = f"<html><head>{SCRIPT}</head><body><p>{PROSE}</p></body></html>"
THIN = f"<html><head>{SCRIPT}</head><body><p>{'x' * 100}</p><a href=/a>a</a></body></html>"
AUTO = BrowserSettings(use="auto")
DAY = 86_400.0


def settings_of(**values: object) -> BrowserSettings:
    return BrowserSettings.model_validate({"use": "auto", **values})


class Site:
    """Pages that are chosen and run one after the other."""

    def __init__(self, settings: BrowserSettings = AUTO, store: Store | None = None) -> None:
        self.store = store or Store(MemoryEngine())
        self.clock = ManualClock()
        self.choice = PageChoice(self.store, fixed(settings), self.clock)

    def visit(
        self, path: str, html: str, links: int = 0, overlay: int = 0, hops: str = "L"
    ) -> Visit:
        url = path if "://" in path else SITE + path
        body = html.encode()
        capture = Capture(url, b"", b"", BytesBody(body), 200, payload_length=len(body))
        outlinks = [Outlink(f"{SITE}/link/{at}", Hop.LINK, "a/@href") for at in range(links)]
        uri = CrawlURI(url, url.encode(), "q", path=hops)
        return Visit(
            uri, 200, capture, mime="text/html", charset="utf-8", outlinks=outlinks, overlay=overlay
        )

    def run(
        self, path: str, html: str, after: str = "", *requests: str, links: int = 0, hops: str = "L"
    ) -> str:
        """Choose a page; if it is run, its final state is `after`."""
        visit = self.visit(path, html, links, hops=hops)
        sign = self.choice.choose(visit)
        if sign:
            events = [NetworkEvent(url, "fetch", 200) for url in requests]
            dom = (html if not after else f"<p>{after}</p>").encode()
            self.choice.learn(visit, RenderedPage("settled", visit.uri.url, dom=dom, events=events))
        return sign

    def verdicts(self) -> list[str]:
        self.choice.seal()
        return [row.verdict for row in learned_templates(self.store)]


@pytest.fixture
def site() -> Site:
    return Site()


def test_shells_are_run_and_one_that_gains_decides(site: Site) -> None:
    assert site.run("/1", SHELL, PROSE) == "mount"
    assert site.verdicts() == ["always"]
    assert site.run("/2", SHELL, PROSE) == "mount"


def test_blank_shells_that_stay_blank_are_run_ten_times(site: Site) -> None:
    assert [site.run(f"/{at}", SHELL) for at in range(12)] == ["mount"] * 10 + ["", ""]
    assert site.verdicts() == ["never"]


def test_a_verdict_holds_for_30_days(site: Site) -> None:
    for at in range(3):
        site.run(f"/{at}", ASKS)
    site.clock.passed += 29 * DAY
    assert site.run("/3", ASKS) == ""
    site.clock.passed += 2 * DAY
    assert site.run("/4", ASKS) == "noscript"
    assert site.verdicts() == [""]


def test_the_next_session_has_the_knowledge(site: Site) -> None:
    for at in range(4):
        site.run(f"/{at}", ASKS)
    site.choice.seal()
    later = Site(store=site.store)
    assert later.run("/4", ASKS) == ""
    counts = {row.sign: row for row in sign_counts(site.store)}
    assert (counts["noscript"].pages, counts["noscript"].run, counts["noscript"].vain) == (4, 2, 2)
    assert counts["noscript"].examples == [f"{SITE}/{at}" for at in range(3)]


def test_noscript_alone_allows_two_probes_of_a_template(site: Site) -> None:
    signs = [site.run(f"/{at}", ASKS, links=12) for at in range(60)]
    assert signs == ["noscript", "noscript", *[""] * 58]


def test_probes_that_gain_twice_run_the_template(site: Site) -> None:
    results = [(PROSE + f"More of page {at}. " * 20) for at in range(4)]
    signs = [site.run(f"/{at}", ASKS, results[at]) for at in range(4)]
    assert signs == ["noscript"] * 4
    assert site.verdicts() == ["always"]


def test_a_second_probe_without_a_gain_of_its_own_decides(site: Site) -> None:
    more = PROSE + "More of this page. " * 20
    signs = [site.run("/0", ASKS, more), site.run("/1", ASKS), site.run("/2", ASKS, more)]
    assert signs == ["noscript", "noscript", ""]
    assert site.verdicts() == ["never"]


def test_a_third_probe_decides_if_only_the_second_gained(site: Site) -> None:
    more = PROSE + "More of this page. " * 20
    signs = [
        site.run("/0", ASKS),
        site.run("/1", ASKS, more),
        site.run("/2", ASKS, more + "!" * 500),
    ]
    assert signs == ["noscript"] * 3
    assert site.verdicts() == ["always"]


def test_a_menu_that_scripts_add_to_each_page_is_no_gain(site: Site) -> None:
    menu = "</p><p>".join(f"Chapter {at} of the manual" for at in range(1_500))
    after = f"{PROSE}</p><p>{menu}"
    signs = [site.run(f"/{at}", ASKS, after, f"{SITE}/menu.json") for at in range(6)]
    assert signs == ["noscript"] * 2 + [""] * 4


def test_requests_of_each_page_are_a_gain(site: Site) -> None:
    signs = [site.run(f"/{at}", ASKS, "", f"{SITE}/api/{at}") for at in range(5)]
    assert signs == ["noscript"] * 5
    assert site.verdicts() == ["always"]


def test_queries_of_other_sites_are_no_gain(site: Site) -> None:
    signs = [site.run(f"/{at}", ASKS, "", f"http://b.test/api?{at}") for at in range(5)]
    assert signs == ["noscript"] * 2 + [""] * 3


def test_a_thin_page_needs_a_second_page_with_a_gain_of_its_own(site: Site) -> None:
    menu = "A menu of all chapters, the same on each page. " * 9
    signs = [site.run(f"/{at}", THIN, menu) for at in range(5)]
    assert signs == ["thin", "thin", "", "", ""]


def test_a_site_has_few_runs_in_vain(site: Site) -> None:
    names = [chr(0x4E00 + at) for at in range(300)]
    signs = [site.run(f"/{name}", THIN.replace("main", name)) for name in names]
    assert signs[:6] == ["thin"] * 5 + [""]
    assert signs.count("thin") == 5 + len(names) // 100


def test_pages_without_a_sign_are_probed_beside_pages_that_gained(site: Site) -> None:
    assert site.run("/plain", PLAIN) == ""
    site.run("/app", SHELL, PROSE)
    signs = [site.run(f"/{at}", PLAIN) for at in range(20)]
    assert signs == [PROBE, PROBE, *[""] * 18]
    assert "never" in site.verdicts()


def test_pages_without_a_sign_are_run_if_the_probes_gained(site: Site) -> None:
    site.run("/app", SHELL, PROSE)
    signs = [site.run(f"/{at}", PLAIN, f"{PROSE}</p><p>{at} {'y' * 400}") for at in range(5)]
    assert signs == [PROBE, PROBE, LEARNED, LEARNED, LEARNED]


def test_without_probes_only_signs_that_run_a_page_count() -> None:
    site = Site(settings_of(probe=False))
    assert site.run("/0", ASKS) == ""
    assert site.run("/1", SHELL, PROSE) == "mount"
    assert site.run("/2", PLAIN) == ""


def test_pages_that_were_run_in_vain_have_a_share() -> None:
    site = Site(settings_of(share=0.05))
    signs = [site.run(f"http://h{at}.test/", SHELL.replace("main", f"s{at}")) for at in range(12)]
    assert signs == ["mount"] * 5 + [""] * 7
    assert Site(settings_of(share=0.0)).run("/", SHELL) == ""


def test_pages_that_gained_are_not_in_the_share() -> None:
    site = Site(settings_of(share=0.05))
    assert all(site.run(f"http://h{at}.test/", SHELL, PROSE) for at in range(30))


def test_a_page_that_failed_in_the_browser_teaches_nothing(site: Site) -> None:
    for at in range(4):
        visit = site.visit(f"/{at}", SHELL)
        assert site.choice.choose(visit) == "mount"
        site.choice.learn(visit, RenderedPage("crash"))
    assert site.verdicts() == []


def test_sheets_say_where_it_chooses() -> None:
    store = Store(MemoryEngine())
    settings = Effective((BrowserSettings(), AUTO))
    choice = PageChoice(store, settings, ManualClock())
    site = Site()
    assert choice.choose(site.visit("/", SHELL)) == ""
    assert choice.choose(site.visit("/", SHELL, overlay=1)) == "mount"


def test_a_visit_without_a_capture_is_not_run(site: Site) -> None:
    visit = structs.replace(site.visit("/", SHELL), capture=None)
    assert site.choice.choose(visit) == ""


def test_a_late_sign_on_a_quiet_site_is_seen(site: Site) -> None:
    for at in range(50):
        assert site.run(f"/{at}", PLAIN, links=12) == ""
    assert site.run("/app", SHELL, PROSE, links=12) == "mount"
    assert any(site.run(f"/late/{at}", ASKS, links=12) for at in range(25))


@pytest.mark.parametrize("links", [12, 3])
def test_pages_that_only_ask_for_a_probe_are_read_rarely(
    site: Site, monkeypatch: pytest.MonkeyPatch, links: int
) -> None:
    read: list[str] = []

    def find(text: str) -> Signs:
        read.append(text)
        return find_signs(text)

    monkeypatch.setattr(learned_signs, "find_signs", find)
    signs = [site.run(f"/{at}", ASKS, links=links) for at in range(100)]
    assert signs == ["noscript"] * 2 + [""] * 98
    assert len(read) == 2 + 20 + 4, "two that were run, 20 until it is quiet, and one of 20"
    assert site.run("/app", SHELL, PROSE, links=links) == "mount"


def test_sites_have_few_templates_in_the_store(site: Site) -> None:
    for at in range(300):
        site.run(f"/{at}", SHELL.replace("main", chr(0x4E00 + at)), PROSE)
    assert len(site.verdicts()) == 201


def test_a_template_that_no_longer_gains_is_not_run_any_more(site: Site) -> None:
    site.run("/app", SHELL, PROSE)
    assert [site.run(f"/{at}", SHELL) for at in range(9)] == ["mount"] * 9
    assert site.run("/app/2", SHELL, PROSE) == "mount"
    signs = [site.run(f"/guess/{at}", SHELL) for at in range(12)]
    assert signs == ["mount"] * 10 + [""] * 2
    assert site.verdicts() == ["never"]


def test_guesses_are_run_rarely_and_teach_nothing(site: Site) -> None:
    signs = [site.run(f"/guess/{at}", SHELL, hops="LX") for at in range(30)]
    assert signs == ["mount"] * 5 + [""] * 25
    assert site.run("/app", SHELL, PROSE) == "mount"
    assert site.verdicts() == ["always"]
    assert site.run("/guess", SHELL, hops="LXL") == ""
