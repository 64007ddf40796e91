"""The settings of pages that are run in a browser: section `browser` of `crawl.yaml`."""

from typing import Annotated, Literal

from pydantic import Field

from nacre.config.component import (
    Bytes,
    Component,
    FileName,
    NamedKind,
    ProgramName,
    Seconds,
    setting,
)

BrowserUse = Literal["never", "auto", "always"]
DeviceName = Literal["", "Pixel 7", "Galaxy S9+", "Galaxy Tab S4"]
"""Names of `emulation.DEVICES`."""
Side = Annotated[int, Field(ge=100, le=20_000)]
"""Side of a viewport, CSS pixels."""
Picture = Literal["view", "fullPage", "thumbnail"]
Behaviour = Literal["tall", "scroll", "lazy", "more", "media", "consent", "routes"]

BEHAVIOURS: tuple[Behaviour, ...] = ("tall", "scroll", "lazy", "more", "media", "routes")
"""Behaviours that run unless the settings say otherwise."""


class BrowserSettings(Component):
    """Settings of pages that are run in a browser."""

    use: BrowserUse = setting(
        "never",
        "Which pages are run in a browser: none, those that show a sign that they need one, or "
        "all HTML pages. A new `nacre crawl URL` writes `auto`.",
    )
    command: ProgramName = setting(
        "",
        "The browser, a Chromium. Empty: the first of chromium-headless-shell, chromium and "
        "google-chrome that is installed.",
        live=False,
        sheets=False,
    )
    isolation: Annotated[Literal["namespace", "none"], NamedKind.NETWORK] = setting(
        "namespace",
        "`namespace`: the browser has a network of its own with nothing but the proxy. `none`: "
        "flags alone keep it from others; only where namespaces are forbidden.",
        live=False,
        sheets=False,
    )
    pages: int = setting(
        0,
        "Most pages open at once on this machine, in all jobs of a user. 0: by cores and memory.",
        unit="pages",
        ge=0,
        live=False,
        sheets=False,
    )
    memory: Bytes = setting(
        1_500_000_000,
        "Memory at which the largest page is closed and the browser is replaced.",
        unit="bytes",
        ge=300_000_000,
        live=False,
        sheets=False,
    )
    user_agent: str = setting(
        "",
        "User agent of requests of pages. Empty: that of the browser, with Nacre's name and the "
        "contact of the operator behind it.",
    )
    viewport: tuple[Side, Side] = setting((1440, 900), "Width and height of a page, CSS pixels.")
    device: DeviceName = setting("", "Device to imitate, such as `Pixel 7`. Empty: none.")
    load_time: Seconds = setting(30.0, "Longest time until a page is loaded.", unit="s", gt=0)
    time: Seconds = setting(90.0, "Longest time that a page is open.", unit="s", gt=0)
    behaviours: tuple[Behaviour, ...] = setting(
        BEHAVIOURS, "What is done on a page once it is loaded, in this order."
    )
    behaviour_time: Seconds = setting(
        45.0, "Longest time of all behaviours together.", unit="s", ge=0
    )
    consent: Literal["reject", "accept"] = setting(
        "reject", "What the behaviour `consent` presses in dialogs that ask for consent."
    )
    scripts: tuple[FileName, ...] = setting(
        (), "Files with behaviours of a site: `export default async ({page, log, link}) => {}`."
    )
    pictures: tuple[Picture, ...] = setting(
        ("thumbnail",), "Pictures that are stored of a page that was run."
    )
    store_text: bool = setting(True, "Store the text of a page that was run.")
    store_dom: bool = setting(False, "Store the final DOM of a page that was run.")
    robots: Literal["all", "page"] = setting(
        "all",
        "Whether robots.txt is obeyed for all requests of a page, or for the page alone.",
    )
    block: tuple[FileName, ...] = setting(
        (),
        "Requests that a page may not send: host names, with all below them; `/REGEX/`, found "
        "anywhere in a URL; or names of files (`NAME.txt`) with lines like these, in the host form "
        "of EasyList (`||host^`), or of a hosts file.",
    )
    per_host: int = setting(
        4, "Most requests of a page to one host at once.", unit="requests", ge=1
    )
    gap: Seconds = setting(
        0.05, "Least time between the beginnings of two requests of a page to a host.", unit="s",
        ge=0,
    )  # fmt: skip
    max_requests: int = setting(1000, "Most requests of a page.", unit="requests", ge=1)
    max_bytes: Bytes = setting(
        200_000_000, "Most bytes that a page may receive.", unit="bytes", ge=1
    )
    server_time: Seconds = setting(
        60.0, "Most time that servers may spend on requests of a page, in all.", unit="s", gt=0
    )
    reuse: Seconds = setting(
        3600.0,
        "A script, style sheet, font or image that this run stored less than this ago is answered "
        "from the archive, without a request. 0: never.",
        unit="s",
        ge=0,
    )
    websockets: Literal["pass", "refuse"] = setting(
        "pass", "Whether a page may open WebSockets. Their messages are not stored."
    )
    whole_media: Bytes = setting(
        100_000_000,
        "A video or sound of which a page asked for a part is fetched whole if it is not longer. "
        "0: never.",
        unit="bytes",
        ge=0,
    )
    probe: bool = setting(
        True,
        "`auto`: run a few pages that may need a browser, to learn which templates need one.",
    )
    share: float = setting(
        0.3,
        "`auto`: most pages of a job that are run without a gain, as a share of its pages. Then "
        "only templates are run of which pages gained.",
        ge=0,
        le=1,
    )
    repeat: bool = setting(
        False,
        "Repeat the requests of a template's scripts without a browser, once they are learned, "
        "and run a random sample of its pages.",
    )
