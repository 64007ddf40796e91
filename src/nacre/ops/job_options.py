"""The options of new jobs, each declared once: of `nacre crawl`, `new` and `cycle`."""

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from nacre.ops.fields import LineText, LineTexts, Natural, ShortText, Typed, Whole

_WHAT, _HOW, _LIMITS = "What is crawled", "How", "Limits"


class JobOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a new job: those of `nacre crawl` and `nacre new`.

    Attributes:
        urls: URLs to start from, or a file of them.
        seed_files: Read seeds from FILE, one per line, in any encoding; `-`: standard input.
            Invalid lines are reported and skipped.
        strict: Treat an invalid line of a seed list as an error.
        profile: Use the settings for a kind of crawl; `nacre new --list-profiles` lists them.
        scope: How far to follow links: the page only, its folder (prefix, the default), host,
            domain (with subdomains), site (registered domain) or any. Embeds may come from
            anywhere.
        depth: Follow links up to this depth; 0: only the seeds and their embeds.
        level: Depth as in wget: `inf` or 0 for no limit.
        include: Crawl only pages whose URL matches; with several, one must match.
        exclude: Do not crawl pages whose URL matches.
        allow_net: Allow a private network to be crawled.
        robots: Obey robots.txt (the default) or ignore it.
        contact: Web page or mail address where site owners can reach you.
        user_agent: User-Agent header; `{contact}` in it is replaced.
        headers: Add a header line to all requests, such as `Accept-Language: zh`.
        browser: Run in a browser the pages that show a sign that they need one (auto: the default
            of `nacre crawl`), all pages (always) or none (never: the default of `nacre new`).
        load_cookies: Load cookies from FILE, in Netscape's format.
        delay: Wait this long between two fetches from a host; 0 only for your own servers.
        parallel: Number of parallel fetches; default: 25.
        warc_prefix: First part of WARC file names.
        wacz: Pack all captures as a WACZ when the crawl ends; also when it is resumed.
        assignments: Set any other setting.
        max_pages: Stop after this many documents.
        max_bytes: Stop after receiving this many bytes, such as 500MB.
        max_time: Stop after this time: 90 (seconds), 10m, 2h.
    """

    urls: Annotated[LineTexts, Typed("URL", is_argument=True)] = ()
    seed_files: Annotated[
        tuple[Path, ...], Typed("FILE", option="--seeds", letter="--input-file -i", panel=_WHAT)
    ] = ()
    strict: bool = False
    profile: Annotated[ShortText | None, Typed("NAME", panel=_WHAT)] = None
    scope: Annotated[
        Literal["page", "prefix", "host", "domain", "site", "any"] | None, Typed("", panel=_WHAT)
    ] = None
    depth: Annotated[Whole | None, Typed("N", panel=_WHAT)] = None
    level: Annotated[ShortText | None, Typed("N|inf", letter="-l", panel=_WHAT)] = None
    include: Annotated[LineTexts, Typed("REGEX", panel=_WHAT)] = ()
    exclude: Annotated[LineTexts, Typed("REGEX", panel=_WHAT)] = ()
    allow_net: Annotated[LineTexts, Typed("CIDR", panel=_WHAT)] = ()
    robots: Annotated[Literal["obey", "ignore"] | None, Typed("", panel=_WHAT)] = None
    contact: Annotated[LineText | None, Typed("WHO", panel=_HOW)] = None
    user_agent: Annotated[LineText | None, Typed("TEXT", letter="-U", panel=_HOW)] = None
    headers: Annotated[LineTexts, Typed("LINE", option="--header", panel=_HOW)] = ()
    browser: Annotated[Literal["auto", "always", "never"] | None, Typed("", panel=_HOW)] = None
    load_cookies: Annotated[Path | None, Typed("FILE", panel=_HOW)] = None
    delay: Annotated[ShortText | None, Typed("SECONDS", letter="--wait -w", panel=_HOW)] = None
    parallel: Annotated[Natural | None, Typed("N", panel=_HOW)] = None
    warc_prefix: Annotated[ShortText | None, Typed("TEXT", panel=_HOW)] = None
    wacz: Annotated[Path | None, Typed("FILE", panel=_HOW)] = None
    assignments: Annotated[LineTexts, Typed("PATH=VALUE", option="--set")] = ()
    max_pages: Annotated[Natural | None, Typed("N", panel=_LIMITS)] = None
    max_bytes: Annotated[ShortText | None, Typed("SIZE", panel=_LIMITS)] = None
    max_time: Annotated[ShortText | None, Typed("TIME", panel=_LIMITS)] = None


OF_ROUNDS: Final = (
    "profile", "scope", "depth", "include", "exclude", "contact", "allow_net", "delay",
)  # fmt: skip
"""Options that `nacre cycle` has for a new directory."""
