"""One page as it looks now: an ordinary job of scope `page`, run in a browser (`nacre page`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from nacre.annotations import BROWSER_FAILED
from nacre.core.states import ExitCode
from nacre.core.status import FetchStatus, with_tries
from nacre.errors import ConfigError, JobError, URIError
from nacre.machine.layout import Layout
from nacre.messages import Message, message
from nacre.ops.job_options import JobOptions
from nacre.ops.rendered_page import SUFFIXES, RenderedPageFacts, RenderedPageParts
from nacre.uri.parse import parse, scheme

if TYPE_CHECKING:
    from nacre.core.clock import Clock
    from nacre.inspect.reports.seed_outcomes import SeedOutcome
    from nacre.ops.new_job import NewJobResult

OF_PAGE: Final = (
    "contact", "user_agent", "headers", "load_cookies", "robots", "allow_net", "warc_prefix",
    "wacz", "assignments",
)  # fmt: skip
"""Options of new jobs that `nacre page` has."""
_DEFAULTS: Final[Mapping[str, object]] = {
    "browser.pictures": ["view", "fullPage", "thumbnail"],
    "browser.store_text": True,
    "browser.store_dom": True,
    "extract.extract_javascript": False,
    "frontier.max_retries": 2,
    "frontier.retry_delay": "2s",
    "politeness.max_delay": "3s",
}
"""Settings of the job unless options or a file of the user have them: the browser runs the scripts,
so that nothing is guessed from their texts; the few documents that it does not ask for, such as an
icon, need not wait long; and a person does not wait through the retries of a crawl."""
PICTURES: Final = "pictures"
"""Folder of the pictures in the directory of the job."""


class ArchivedPage(msgspec.Struct, frozen=True):
    """The result of `nacre page`.

    Attributes:
        job: Directory of the job.
        url: URL of the page that was run; that of the request if none was.
        exit_code: Exit code of the command.
        facts: How the page ended; None if it was not run in a browser.
        reason: Why it was not run; "" if it was.
        pictures: Files of its pictures, by kind.
        failed: Requests that failed, with the reason.
        refused: Requests that were not sent, with the rule.
    """

    job: str
    url: str
    exit_code: int
    facts: RenderedPageFacts | None = None
    reason: str = ""
    pictures: dict[str, str] = {}
    failed: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


def make_page_job(
    options: JobOptions, url: str, directory: Path | None, clock: "Clock | None" = None
) -> "NewJobResult":
    """Check and write the job of a page.

    Args:
        options: The options, without seeds and scope.
        url: The page.
        directory: Directory of the job; None for `crawls/<host>-<time>`.
        clock: The time in its name; None for the machine's.

    Raises:
        ConfigError: With every problem; no browser is installed, or it opens no such URL.
        JobError: There is a job already.
    """
    from nacre.ops.new_job import make_job

    name = scheme(url).lower() if "://" in url else "http"
    if name not in {"http", "https"}:
        raise ConfigError(
            message(
                "ops.page-scheme",
                "a browser opens http and https URLs, and {url} is none: fetch it with `nacre "
                "crawl`",
                url=url,
            )
        )
    options = replace(options, urls=(url,), scope="page", browser="always")
    return make_job(options, directory, "--out", clock, _DEFAULTS)


def read_outcome(layout: Layout, url: str, code: ExitCode) -> ArchivedPage:
    """Return what became of the page, and write its pictures into the directory of the job.

    Args:
        layout: Directories of the job, whose run has ended.
        url: The page, as requested.
        code: Exit code of the run.

    Raises:
        JobError: A picture cannot be written.
    """
    from nacre.catalogue.holdings import open_holding

    if code in {ExitCode.NOTHING_FETCHED, ExitCode.NOTHING_ARCHIVED}:
        return _not_run(layout, url, code)
    parts = RenderedPageParts(open_holding([layout.root]))
    facts = parts.facts(_normal(url)) or parts.last_facts()
    if facts is None:
        return _not_run(layout, url, code)
    return ArchivedPage(
        str(layout.root),
        facts.url,
        code,
        facts,
        pictures=_write_pictures(layout, parts, facts.url),
        failed=tuple(facts.failures()),
        refused=tuple((request.url, request.rule) for request in facts.refused),
    )


def _not_run(layout: Layout, url: str, code: ExitCode) -> ArchivedPage:
    """Return the result for a page that was not run in a browser, with the reason."""
    from nacre.job.api import explain_url

    explained = explain_url(layout.root, url)
    reason = message("ops.page-is-no-html", "it is no HTML page, and was archived as it is.")
    if BROWSER_FAILED in explained.annotations:
        code = ExitCode.USAGE
        reason = message(
            "ops.page-without-browser",
            "no browser could be started; run `nacre check --browser` to see why.",
        )
    elif explained.not_got is not None and (explained.status or 0) <= 0:
        reason = _cause_text(explained.not_got)
    elif explained.status != 200 and explained.meaning:
        reason = message("ops.page-not-fetched", "{meaning}", meaning=explained.meaning)
    return ArchivedPage(str(layout.root), url, code, reason=reason)


def _cause_text(end: "SeedOutcome") -> Message:
    """Say why there was no reply, and that a robots.txt without one forbids the page."""
    cause = with_tries(end.cause, end.tries)
    if end.status == FetchStatus.PREREQUISITE_ROBOTS_FAILED:
        return message(
            "ops.page-without-robots",
            "{cause} (so its robots.txt is not known, and nothing may be fetched).",
            cause=cause,
        )
    return message("ops.page-without-reply", "{cause}.", cause=cause)


def _normal(url: str) -> str:
    try:
        return parse(url)
    except URIError:
        return url


def _write_pictures(layout: Layout, parts: RenderedPageParts, url: str) -> dict[str, str]:
    folder, files = layout.root / PICTURES, {}
    try:
        for picture in parts.pictures(url):
            data = parts.picture(url, picture.kind)
            if data:
                path = folder / f"{picture.kind}.{SUFFIXES[picture.mime]}"
                folder.mkdir(exist_ok=True)
                path.write_bytes(data)
                files[picture.kind] = str(path)
    except OSError as error:
        raise JobError(
            message(
                "ops.picture-not-written",
                "{folder} cannot be written: {reason}",
                folder=folder,
                reason=error.strerror,
            )
        ) from error
    return files
