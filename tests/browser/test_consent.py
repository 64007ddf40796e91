"""Dialogs that ask for consent: small pages with the marks of common products."""

from collections.abc import Iterator

import pytest

from nacre.browser.finding import InstalledBrowser
from tests.browser.site import Pages, Site, browsing

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>Site</title><style>
.dialog { position: fixed; inset: 10% 0 0 0; background: white; z-index: 1000 }
</style><p>All of the text that is behind the dialog, and more of it than the dialog has itself. It
goes on for a while, so that the dialog is not the page.</p>DIALOG
<script>
addEventListener("click", (event) => {
  const { id, className } = event.composedPath()[0];
  fetch(`/pressed?${id || className || event.composedPath()[0].textContent}`);
  document.querySelector(".dialog, [data-dialog]")?.remove();
});
</script>"""

SHADOW = """<div id="usercentrics-root" data-dialog></div><script>
document.getElementById("usercentrics-root").attachShadow({ mode: "open" }).innerHTML = `<div
  data-testid="uc-default-banner" style="position: fixed; inset: 50% 0 0 0"><button
  class="yes" data-testid="uc-accept-all-button">Accept All</button><button class="no"
  data-testid="uc-deny-all-button">Deny</button></div>`;
</script>"""

DIALOGS = {
    "OneTrust": """<div id="onetrust-banner-sdk" class="dialog">
        <button id="onetrust-accept-btn-handler">Accept</button>
        <button id="onetrust-reject-all-handler">Reject</button></div>""",
    "Cookiebot": """<div id="CybotCookiebotDialog" class="dialog">
        <button id="CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll">Zulassen</button>
        <button id="CybotCookiebotDialogBodyButtonDecline">Ablehnen</button></div>""",
    "Didomi": """<div id="didomi-host"><div id="didomi-notice" class="dialog">
        <span class="didomi-continue-without-agreeing">Continuer sans accepter</span>
        <button id="didomi-notice-agree-button">Accepter</button></div></div>""",
    "Usercentrics": SHADOW,
    "Quantcast": """<div class="qc-cmp2-container dialog"><div class="qc-cmp2-summary-buttons">
        <button mode="secondary" id="more-options-btn">Options</button>
        <button mode="secondary" class="reject">Reject</button>
        <button mode="primary" class="agree">Agree</button></div></div>""",
    "dialog": """<iframe name="__tcfapiLocator" hidden></iframe><div role="dialog" class="dialog">
        <button>设置</button><button>全部拒绝</button><button>全部接受</button></div>""",
}

PRESSED = {
    "OneTrust": ("onetrust-reject-all-handler", "onetrust-accept-btn-handler"),
    "Cookiebot": (
        "CybotCookiebotDialogBodyButtonDecline",
        "CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll",
    ),
    "Didomi": ("didomi-continue-without-agreeing", "didomi-notice-agree-button"),
    "Usercentrics": ("no", "yes"),
    "Quantcast": ("reject", "agree"),
    "dialog": ("%E5%85%A8%E9%83%A8%E6%8B%92%E7%BB%9D", "%E5%85%A8%E9%83%A8%E6%8E%A5%E5%8F%97"),
}


@pytest.fixture(scope="module")
def pages(
    installed_browser: InstalledBrowser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pages]:
    with browsing(installed_browser, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def answer(pages: Pages, dialog: str, consent: str = "reject") -> tuple[str, list[str], float]:
    """The note of the behaviour, the buttons that were pressed, and the share that was covered."""
    site = Site({"/": PAGE.replace("DIALOG", dialog), "/pressed": "x"})
    page = pages.open(site, behaviours=("consent",), consent=consent)
    pressed = [url.partition("?")[2] for url in site.urls if url.startswith("/pressed")]
    return page.behaviours["consent"], pressed, page.covered


@pytest.mark.parametrize("name", DIALOGS)
def test_consent_is_refused(pages, name):
    note, pressed, covered = answer(pages, DIALOGS[name])
    assert note.startswith(f"{name}: rejected (")
    assert pressed == [PRESSED[name][0]]
    assert covered == 0.0


def test_consent_is_given_if_the_operator_says_so(pages):
    note, pressed, _ = answer(pages, DIALOGS["dialog"], "accept")
    assert note == "dialog: accepted (全部接受)"
    assert pressed == [PRESSED["dialog"][1]]


def test_a_dialog_without_a_refusal_is_left_alone(pages):
    dialog = '<div id="onetrust-banner-sdk" class="dialog"><button>Accept all</button></div>'
    note, pressed, covered = answer(pages, dialog)
    assert (note, pressed) == ("no dialog", [])
    assert 0.8 < covered <= 0.95


def test_a_page_without_a_dialog(pages):
    buttons = "<nav style='position: sticky; top: 0'>x</nav><button>Reject all</button>"
    assert answer(pages, buttons) == ("no dialog", [], 0.0)
