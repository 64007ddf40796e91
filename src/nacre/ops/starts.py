"""Start a job, visit it again, crawl rounds: the options, and the command that carries them out.

The process that runs a job is always a command, so that a job outlives who starts it.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from nacre.config.component import parse_duration
from nacre.errors import ConfigError, Problem
from nacre.ops.fields import Rounds, ShortText, Texts, Whole
from nacre.runs.budget import parse_budget

MOST_ROUNDS: Final = 10_000
"""Largest number of rounds of one order."""


class StartRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a start.

    Attributes:
        checkpoint: Go back to this checkpoint first; `latest` for the last one; "" for none.
        paused: It waits for `resume` before its first fetch.
        accept_loss: Start though archived data is missing.
        set: Other settings for this run, `path=value`.
    """

    checkpoint: ShortText = ""
    paused: bool = False
    accept_loss: bool = False
    set: Texts = ()


class RecrawlRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a recrawl.

    Attributes:
        full: Visit everything, as the first run did.
        budget: What it may spend: 500 (requests), 2GB or 3h; "" for no limit.
        keep: What is stored in full.
        set: Other settings for this run, `path=value`.
    """

    full: bool = False
    budget: ShortText = ""
    keep: Literal["strict", "lean", "delta"] = "strict"
    set: Texts = ()


class RoundsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of rounds.

    Attributes:
        rounds: Their number; 0 for as many as it takes until nothing is due.
        set: Other settings for these rounds, `path=value`.
        top: URLs of a round, the best first; 0 for all that are due, null as the settings say.
        units: Lists that are fetched at the same time; 0: one for each core.
        time_limit: Longest fetch of a round, such as `2h`; "" as the settings say.
        until_due: Longest wait for something to be due, such as `2h`; "" for none.
        dedup: Pages that are compared for duplicates; `off` for no dedup; "" as the settings say.
        sitemaps: URLs of sitemaps that are read before the first round.
        sitemaps_from_hosts: When the sitemaps that hosts name are read; "" as the settings say.
        index: Whether changes go into the index of words after each round; null as the settings
            say.
        engine: What runs the tasks.
        tasks: Tasks at the same time on this machine; 0: one for each core.
        parallel: Fetches at the same time in a unit; 0: as the settings say.
    """

    rounds: Rounds = 1
    set: Texts = ()
    top: Whole | None = None
    units: Rounds = 0
    time_limit: ShortText = ""
    until_due: ShortText = ""
    dedup: Literal["", "none", "host", "domain", "off"] = ""
    sitemaps: Texts = ()
    sitemaps_from_hosts: Literal["", "never", "once", "always"] = ""
    index: bool | None = None
    engine: Literal["local", "spark"] = "local"
    tasks: Rounds = 0
    parallel: Rounds = 0


class RoundsStopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The end of rounds has no options."""


def run_words(request: StartRequest) -> list[str]:
    """Return the options of `nacre run` for a start (pure)."""
    words = ["--checkpoint", request.checkpoint] if request.checkpoint else []
    return [*words, "--accept-loss"] if request.accept_loss else words


def recrawl_words(request: RecrawlRequest) -> list[str]:
    """Return the options of `nacre recrawl` for a recrawl (pure).

    Raises:
        ConfigError: The options exclude each other, or the budget cannot be read.
    """
    if request.full and request.budget:
        raise ConfigError("a full recrawl visits everything and knows no budget")
    parse_budget(request.budget)
    words = ["--keep", request.keep]
    if request.full:
        words.append("--full")
    return [*words, "--budget", request.budget] if request.budget else words


def rounds_words(request: RoundsRequest) -> list[str]:
    """Return the options of `nacre cycle` for rounds (pure).

    Raises:
        ConfigError: A value does not fit.
    """
    if request.rounds > MOST_ROUNDS:
        raise ConfigError(
            f"rounds is {request.rounds}: give 0 (until nothing is due) to {MOST_ROUNDS}"
        )
    words = ["--rounds", str(request.rounds)]
    words += [] if request.top is None else ["--top", str(request.top)]
    words += [f"--{name}={value}" for name, value in _plain_options(request) if value]
    if request.index is not None:
        words.append("--index" if request.index else "--no-index")
    for url in request.sitemaps:
        # With a path, a requester of another machine could read a file of this one.
        if not url.startswith(("http://", "https://")):
            why = "a sitemap is named by its URL here, which begins with http:// or https://"
            raise ConfigError([Problem("sitemaps", why, "", "https://example.org/sitemap.xml")])
        words.append(f"--sitemaps={url}")
    for name, text in (("time-limit", request.time_limit), ("until-due", request.until_due)):
        words += _duration_words(name, text)
    return words


def _plain_options(request: RoundsRequest) -> Sequence[tuple[str, object]]:
    """The options that are left out if they are empty or the default."""
    engine = request.engine if request.engine != "local" else ""
    return (
        ("units", request.units), ("dedup", request.dedup), ("engine", engine),
        ("sitemaps-from-hosts", request.sitemaps_from_hosts), ("tasks", request.tasks),
        ("parallel", request.parallel),
    )  # fmt: skip


def _duration_words(name: str, text: str) -> list[str]:
    if not text:
        return []
    try:
        parse_duration(text)
    except ValueError as error:
        raise ConfigError([Problem(name, str(error), "a time", "2h")]) from None
    return [f"--{name}", text]
