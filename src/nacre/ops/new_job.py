"""Makes a checked job directory from the options of `crawl` and `new`."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from nacre.config.component import parse_duration
from nacre.config.layer import Layer, assignment_layer, merge
from nacre.core.clock import Clock
from nacre.errors import ConfigError, JobError, Problem
from nacre.fetch.dns import DnsResolver
from nacre.fetch.settings import FetchSettings
from nacre.job.checks import check
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout, run_name
from nacre.messages import message
from nacre.ops.job_options import JobOptions
from nacre.ops.seed_input import first_url, seed_input, set_seeds
from nacre.scope.rules.stock import rules_for
from nacre.scope.seeds import SeedList
from nacre.settings.contact import resolver_lookup
from nacre.settings.new_job import (
    NewJob,
    create_job,
    examine_new,
    require_no_job,
    separate_logins,
    with_defaults,
)
from nacre.settings.settings import JobSettings
from nacre.uri.parse import host

_SETTINGS = {
    "user-agent": "user_agent",
    "from": "mail_from",
    "accept-encoding": "accept_encoding",
}
CRAWL_DEFAULTS: Final[Mapping[str, object]] = {"browser.use": "auto"}
"""Settings that `nacre crawl` writes into a new job if no file and no option has them."""
_OTHERWISE = {
    "cookie": message(
        "ops.cookies-of-file", "--load-cookies FILE: cookies go only where they belong"
    ),
    "authorization": message(
        "ops.password-of-settings",
        "`fetch.credentials`: a password goes only where it belongs, and stays secret",
    ),
    "proxy-authorization": "`fetch.proxy`",
    "referer": message(
        "ops.referrer-of-page", "nothing: the page that a link was found on is sent"
    ),
    "host": message("ops.field-of-url", "nothing: it follows from the URL"),
    "connection": message("ops.field-of-exchange", "nothing: it follows from the exchange"),
    "range": "`fetch.send_range`",
    "if-modified-since": message("ops.field-of-recrawls", "nothing: recrawls send it"),
    "if-none-match": message("ops.field-of-recrawls", "nothing: recrawls send it"),
    "content-length": message("ops.field-of-body", "nothing: requests have no body"),
    "transfer-encoding": message("ops.field-of-body", "nothing: requests have no body"),
}
"""Fields that no line can set, and what to use in their place."""


def header_settings(lines: Sequence[str]) -> dict[str, str | list[str]]:
    """Settings of `fetch` for header lines; a line takes the place of the default of its name.

    Raises:
        ConfigError: A line is none, or its field has another place.
    """
    if not lines:
        return {}
    settings: dict[str, str | list[str]] = {}
    sent: list[str] = []
    problems: list[Problem] = []
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(":"))
        field = name.lower()
        if not colon or not name:
            text = message("ops.header-format", "--header {line!r}: no header line", line=line)
            problems.append(
                Problem(
                    "", text, message("ops.header-line", "`Name: value`"), "Accept-Language: zh"
                )
            )
        elif field in _OTHERWISE:
            text = message(
                "ops.header-field", "--header {name}: this field is not set by a line", name=name
            )
            problems.append(Problem("", text, _OTHERWISE[field]))
        elif field in _SETTINGS:
            settings[_SETTINGS[field]] = value
        else:
            sent.append(f"{name}: {value}")
    if problems:
        raise ConfigError(problems)
    if sent:
        headers = {line.partition(":")[0].lower() for line in sent}
        default = FetchSettings().accept
        remaining = [line for line in default if line.partition(":")[0].lower() not in headers]
        settings["accept"] = [*remaining, *sent]
    return settings


def _depth(options: JobOptions) -> int | None:
    """Return the depth, which wget's `--level` may stand for; None for no limit.

    Raises:
        ConfigError: It is not a number, or `--depth` says another.
    """
    if options.level is None:
        return options.depth
    level = options.level.strip().lower()
    if options.depth is not None:
        raise ConfigError(
            message("ops.depth-and-level", "--depth and --level say the same: give one of them")
        )
    if level in {"inf", "0"}:
        return None
    if not level.isdecimal():
        raise ConfigError(
            [
                Problem(
                    "",
                    message("ops.level-format", "--level {level!r}: no depth", level=options.level),
                    message("ops.number-or-inf", "a number, or `inf`"),
                )
            ]
        )
    return int(level)


class NewJobResult(NamedTuple):
    """A job that was checked, and made.

    Attributes:
        layout: Its directories.
        settings: Its settings.
        notes: Lines for the user about its seed lists.
        warnings: Findings that keep nothing from starting.
    """

    layout: Layout
    settings: JobSettings
    notes: Sequence[str]
    warnings: Sequence[Problem]


def make_job(
    options: JobOptions,
    directory: Path | None,
    option: str = "",
    clock: Clock | None = None,
    defaults: Mapping[str, object] = MappingProxyType({}),
) -> NewJobResult:
    """Check and write a new job; if there is a problem, nothing is written.

    Args:
        options: The options.
        directory: The directory; None for `crawls/<host>-<time>`.
        option: The option that sets the directory, for messages; "" for an argument.
        clock: The time in the name of a directory; None for the machine's.
        defaults: Settings by path, for those that no option, profile or file of the user has.

    Raises:
        ConfigError: With every problem.
        JobError: There is a job already, or the WACZ.
    """
    if directory is not None:
        require_no_job(Layout(directory), option)
    if options.wacz is not None and options.wacz.exists():
        raise JobError(
            message("ops.wacz-exists", "{path} exists. Name another file", path=options.wacz)
        )
    depth, values = _depth(options), values_of(options)
    seeds = seed_input(options.urls, options.seed_files, set_seeds(values))
    layout = Layout(directory or default_directory(seeds.lines, clock))
    require_no_job(layout, option)
    new = NewJob(seeds.lines, _rules(options, depth), values, options.profile or "")
    new = with_defaults(layout, new, defaults)
    result = check_and_create(layout, new, _apart(seeds.lists), strict=options.strict)
    return result._replace(notes=seeds.notes)


def check_and_create(
    layout: Layout, new: NewJob, lists: Sequence[SeedList] = (), *, strict: bool,
    writes: bool = True,
) -> NewJobResult:  # fmt: skip
    """Check a new job, and write it if there is no problem.

    Args:
        layout: Its directories.
        new: Its contents.
        lists: Its seeds by file, for messages; () for those of `new`.
        strict: An invalid line of the seed list is a problem.
        writes: Write it; False for the check alone.

    Raises:
        ConfigError: With every problem.
        JobError: There is a job already, or the directory cannot be made.
    """
    require_no_job(layout)
    loaded, problems = examine_new(layout, new)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    findings = asyncio.run(check(layout, loaded, problems, lookup, lists, strict=strict))
    findings.require()
    if writes:
        create_job(layout, new)
    warnings = [*findings.warnings, *separate_logins(new.seeds).warnings()]
    return NewJobResult(layout, settings, (), warnings)


def _apart(lists: Sequence[SeedList]) -> list[SeedList]:
    """The lists without names and passwords."""
    return [
        seed_list._replace(lines=separate_logins(list(seed_list.lines)).lines)
        for seed_list in lists
    ]


def default_directory(lines: Sequence[str], clock: Clock | None = None) -> Path:
    """`crawls/<host>-<time>`, by the first seed; a second one within the same second has `-2`."""
    url = first_url(lines)
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", host(url)).strip("-.") if url else ""
    first = Path("crawls", f"{name or 'crawl'}-{run_name((clock or SystemClock()).now())}")
    numbered = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return next(path for path in chain((first,), numbered) if not path.exists())


def _rules(options: JobOptions, depth: int | None) -> Any:  # noqa: ANN401 - a tuple of many rule types
    if options.profile and options.scope is None:
        if depth is not None or options.include or options.exclude:
            raise ConfigError(
                message(
                    "ops.scope-options-beside-profile",
                    "--depth, --include and --exclude need --scope beside a profile: together they "
                    "take the place of its rules",
                )
            )
        return ()
    return rules_for(
        options.scope or "prefix",
        depth=depth,
        include=options.include,
        exclude=options.exclude,
    )


def values_of(options: JobOptions) -> dict[str, object]:
    """The settings of the options, `--set` last, as a tree of the configuration."""
    if options.user_agent == "":
        problem = message(
            "ops.user-agent-empty",
            "--user-agent is empty, but the owners of sites need it to know who crawls",
        )
        raise ConfigError(
            [
                Problem(
                    "",
                    problem,
                    message("ops.user-agent-text", "a text; without the option, the usual one"),
                )
            ]
        )
    sections: dict[str, dict[str, object]] = {
        "fetch": {
            "contact": options.contact,
            "user_agent": options.user_agent,
            **header_settings(options.headers),
        },
        "cookies": {"load_file": options.load_cookies and str(options.load_cookies.absolute())},
        "network": {"allow": list(options.allow_net) or None},
        "politeness": {"delay": _number(options.delay)},
        "engine": {"parallel": options.parallel},
        "limits": {
            "documents": options.max_pages,
            "bytes": _number(options.max_bytes),
            "time": _number(options.max_time),
        },
        "robots": {"policy": options.robots},
        "browser": {"use": options.browser},
        "archive": {
            "prefix": options.warc_prefix,
            "wacz": options.wacz and str(options.wacz.absolute()),
        },
    }
    layer = assignment_layer(options.assignments)
    if layer.problems:
        raise ConfigError(layer.problems)
    waits = "delay" in layer.tree.get("politeness", {})
    if options.delay is not None and _is_zero(options.delay) and not waits:
        sections["politeness"]["in_flight"] = options.parallel or JobSettings().engine.parallel
    tree = {
        section: present
        for section, values in sections.items()
        if (present := {name: value for name, value in values.items() if value is not None})
    }
    return merge([Layer(layer.source, tree), layer])[0]


def _is_zero(duration: str) -> bool:
    try:
        return parse_duration(duration) == 0.0
    except ValueError:
        return False


def _number(text: str | None) -> Any:  # noqa: ANN401 - a number, or a text with a unit
    """Plain numbers as numbers; `10m` and `500MB` as they are."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
