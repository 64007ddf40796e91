"""The options of batch rounds, each declared once.

An option of `RoundsRequest` is an option of `nacre cycle DIR`, a field of the REST API and of its
schema, a field of the form of the console, and a row of the reference. `round_steps` uses it.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from nacre.config.component import parse_duration
from nacre.errors import ConfigError, Problem
from nacre.messages import message
from nacre.ops.fields import (
    LARGEST,
    LineText,
    LineTexts,
    Natural,
    Rounds,
    ShortText,
    Texts,
    Typed,
    Whole,
)

if TYPE_CHECKING:
    from nacre.rounds.opening import StepSetup

MOST_ROUNDS: Final = 10_000
"""Largest number of rounds of a request from another machine."""
_HOW, _LISTS, _ROUNDS, _URLS = "How", "Lists", "Rounds", "Given URLs"


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


class TablesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of operations that read or change tables.

    Attributes:
        engine: Run tasks in processes on this machine (local), or on a cluster of Apache Spark.
        tasks: Parallel tasks on this machine; 0: the value of cycle.tasks, or one for each core.
    """

    engine: Annotated[
        Literal["local", "spark"],
        Typed("", panel=_HOW, label=_("Tasks are run by"),
              choices=(_("this machine"), "Apache Spark")),
    ] = "local"  # fmt: skip
    tasks: Annotated[
        Rounds,
        Typed("N", panel=_HOW, label=_("Parallel tasks (0: one for each core)")),
    ] = 0


class StepRequest(TablesRequest, frozen=True):
    """The options that rounds and all their steps have.

    Attributes:
        set: Other settings, such as engine.parallel=50; the file stays as it is.
    """

    set: Annotated[
        Texts, Typed("PATH=VALUE", label=_("Other settings for these rounds, one per line"))
    ] = ()


class TimedRequest(StepRequest, frozen=True):
    """The options of steps that fetch.

    Attributes:
        time_limit: Longest fetch of a round; what needs longer stays due. 0: no limit. Default:
            cycle.fetch.time_limit, 180m.
    """

    time_limit: Annotated[ShortText, Typed("TIME", panel=_LISTS, label=_("Longest fetch"))] = ""


class UnitsRequest(TimedRequest, frozen=True):
    """The options of steps that make lists.

    Attributes:
        units: Lists that are fetched in parallel; 0: one for each core.
    """

    units: Annotated[
        Rounds,
        Typed("N", panel=_LISTS, label=_("Lists fetched in parallel (0: one for each core)")),
    ] = 0


class ListRequest(UnitsRequest, frozen=True):
    """The options of steps that choose URLs.

    Attributes:
        top: URLs of a round, the best first; 0: all that are due. Default: cycle.generate.top,
            50000.
    """

    top: Annotated[
        Whole | None,
        Typed("N", panel=_LISTS, label=_("URLs of a round (0: all that are due)")),
    ] = None


class GenerateRequest(ListRequest, frozen=True):
    """The options of a generate.

    Attributes:
        segments: Lists that are made. Default: cycle.generate.segments, 1.
        where: Only URLs for which this is true, over the columns that readdb and sql show.
        add_days: Days by which the clock is ahead.
        no_filter: Do not apply changed rules to known URLs.
        no_normalize: Caps count hosts as they are, not as normalized.
        urls: List these URLs, or those of a file, even if they are not due.
        filter_urls: Filters judge the URLs of --urls.
        normalize_urls: Normalizers rewrite the URLs of --urls.
    """

    segments: Annotated[Natural | None, Typed("N")] = None
    where: Annotated[LineText, Typed("SQL")] = ""
    add_days: Annotated[float, Meta(ge=-LARGEST, le=LARGEST), Typed("D")] = 0.0
    no_filter: bool = False
    no_normalize: bool = False
    urls: Annotated[LineTexts, Typed("URL|FILE", panel=_URLS)] = ()
    filter_urls: Annotated[bool, Typed("", option="--filter", panel=_URLS)] = False
    normalize_urls: Annotated[bool, Typed("", option="--normalize", panel=_URLS)] = False


class LocalOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options that only a user of this machine has.

    Attributes:
        master: Master of Spark, such as spark://host:7077; default: what spark-defaults.conf says.
        at: The clock of the step, such as 2026-11-23T02:00:00Z or 20261123020000; default: the
            present.
        dry_run: Say what would be done, and change nothing.
    """

    master: Annotated[LineText, Typed("URL", panel=_HOW)] = ""
    at: Annotated[ShortText, Typed("TIME", letter="--now", panel=_HOW)] = ""
    dry_run: Annotated[bool, Typed("", panel=_HOW)] = False


class RoundsRequest(ListRequest, frozen=True):
    """The options of rounds.

    Attributes:
        rounds: Rounds; 0: until nothing is due.
        parallel: Parallel fetches in a list; 0: as configured.
        dedup: Look for duplicates among all pages (none), or those of a host or domain; off: not at
            all. Default: cycle.dedup.
        sitemaps_from_hosts: Read the sitemaps that robots.txt of known hosts name, before the first
            or every round. Default: cycle.sitemaps.from_hosts.
        index: Update the index of words at the end of each round. Default: cycle.index.rounds.
        until_due: Wait up to this long for something to be due, such as 2h; default: end.
        sitemaps: Read these sitemaps, or a file of their URLs, before the first round.
    """

    rounds: Annotated[
        Rounds, Typed("N", panel=_ROUNDS, label=_("Rounds to run (0: until nothing is due)"))
    ] = 1
    parallel: Annotated[
        Rounds,
        Typed("N", panel=_LISTS,
              label=_("Parallel fetches in a list (0: as configured)")),
    ] = 0  # fmt: skip
    dedup: Annotated[
        Literal["", "none", "host", "domain", "off"],
        Typed("", panel=_ROUNDS, label=_("Look for duplicates"),
              choices=(_("as the settings say"), _("among all pages"), _("of a host"),
                       _("of a domain"), _("not at all"))),
    ] = ""  # fmt: skip
    sitemaps_from_hosts: Annotated[
        Literal["", "never", "once", "always"],
        Typed("", panel=_ROUNDS, label=_("Read the sitemaps that hosts name"),
              choices=(_("as the settings say"), _("never"), _("before the first round"),
                       _("before every round"))),
    ] = ""  # fmt: skip
    index: Annotated[
        bool | None,
        Typed("", option="--index/--no-index", panel=_ROUNDS,
              label=_("Index of words after each round")),
    ] = None  # fmt: skip
    until_due: Annotated[
        ShortText,
        Typed("TIME", panel=_ROUNDS, label=_("Wait for something to be due, up to")),
    ] = ""
    sitemaps: Annotated[
        Texts,
        Typed("URL|FILE", panel=_ROUNDS, label=_("Sitemaps to read first, a URL on each line")),
    ] = ()


class LocalRoundsOptions(LocalOptions, frozen=True):
    """The options of rounds that only a user of this machine has.

    Attributes:
        seeds: Inject these seeds first; the directory is made when it does not exist.
    """

    seeds: Annotated[Texts, Typed("URL|FILE", letter="-s", panel=_ROUNDS)] = ()


NO_LOCAL: Final = LocalOptions()


def _ignore_text(_text: str) -> None:
    """Ignore a line."""


def _ignore_progress(_name: str, _numbers: Mapping[str, Any]) -> None:
    """Ignore the progress of a step."""


class StepRun(NamedTuple):
    """The options of this machine, and the receivers of what a single step reports.

    Attributes:
        local: The options of the user of this machine.
        warn: Receives each warning.
        notify: Receives notes on what follows the step.
        report: Receives the progress: the name of its part, and its numbers.
        is_stopped: Whether the step is to end.
        typed: Fields of the request that were typed as options, also with their default value.
    """

    local: LocalOptions = NO_LOCAL
    warn: Callable[[str], None] = _ignore_text
    notify: Callable[[str], None] = _ignore_text
    report: Callable[[str, Mapping[str, Any]], None] = _ignore_progress
    is_stopped: Callable[[], bool] = bool
    typed: Collection[str] = ()


NO_RUN: Final = StepRun()


class RoundsStopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The end of rounds has no options."""


def duration_of(field: str, text: str) -> float | None:
    """Return a duration in seconds; None for "" (pure).

    Args:
        field: The field that has it, such as `until_due`.
        text: The duration, such as `2h`.

    Raises:
        ConfigError: It is not a duration.
    """
    if not text:
        return None
    try:
        return float(str(parse_duration(text)))
    except ValueError as error:
        option = f"--{field.replace('_', '-')}"
        raise ConfigError([Problem("", f"{option} {text!r}: {error}", "", "90m")]) from None


def require_remote(request: RoundsRequest) -> None:
    """Refuse rounds that a requester of another machine may not order, or that cannot start (pure).

    Raises:
        ConfigError: A value does not fit.
    """
    if request.rounds > MOST_ROUNDS:
        raise ConfigError(
            message(
                "ops.rounds-is",
                "rounds is {rounds}: give 0 (until nothing is due) to {most_rounds}",
                rounds=request.rounds,
                most_rounds=MOST_ROUNDS,
            )
        )
    for url in request.sitemaps:
        # With a path, a requester of another machine could read a file of this one.
        if not url.startswith(("http://", "https://")):
            reason = message(
                "ops.sitemap-url",
                "a sitemap is named by its URL here, which begins with http:// or https://",
            )
            raise ConfigError([Problem("sitemaps", reason, "", "https://example.org/sitemap.xml")])
    duration_of("time_limit", request.time_limit)
    duration_of("until_due", request.until_due)


def setup_of(request: msgspec.Struct, local: LocalOptions) -> "StepSetup":
    """Return how a step is set up.

    Args:
        request: The request; one without these options sets up as the settings say.
        local: The options of the user of this machine.

    Raises:
        ConfigError: The clock is not a time.
    """
    from nacre.rounds.opening import StepSetup, clock_of

    clock = clock_of(local.at) if local.at else 0
    engine = request if isinstance(request, TablesRequest) else TablesRequest()
    assignments = request.set if isinstance(request, StepRequest) else ()
    return StepSetup(engine.engine, local.master, engine.tasks, clock, assignments, local.dry_run)
