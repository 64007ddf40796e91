"""From the options of `crawl` and `new` to a checked job directory."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from nacre.cli.header_option import header_settings
from nacre.cli.output import tell, warn
from nacre.cli.seed_input import first_url, seed_input, set_seeds
from nacre.config.component import parse_duration
from nacre.config.layer import assignment_layer, merge
from nacre.errors import ConfigError, Problem
from nacre.fetch.dns import DnsResolver
from nacre.job.checks import check
from nacre.job.clock import SystemClock
from nacre.job.configuration.configure import NewJob, create_job, examine_new, require_no_job
from nacre.job.configuration.contact import resolver_lookup
from nacre.job.configuration.newlogins import apart
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout, run_name
from nacre.job.seeding.seeds import SeedList
from nacre.scope.options import rules_for
from nacre.uri.parse import host


@dataclass(frozen=True)
class Wishes:
    """What the options say; None where they say nothing."""

    urls: Sequence[str]
    seed_files: Sequence[Path] = ()
    strict: bool = False
    scope: str | None = None
    depth: int | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    contact: str | None = None
    allow_net: Sequence[str] = ()
    delay: str | None = None
    parallel: int | None = None
    max_pages: int | None = None
    max_bytes: str | None = None
    max_time: str | None = None
    robots: str | None = None
    warc_prefix: str | None = None
    assignments: Sequence[str] = ()
    profile: str = ""
    level: str | None = None
    user_agent: str | None = None
    headers: Sequence[str] = ()
    load_cookies: Path | None = None


def wishes_of(params: Mapping[str, Any]) -> Wishes:
    """The wishes of a command line, by the names of the parameters of `crawl` and `new`."""
    names = [one.name for one in fields(Wishes)]
    given = {name: params[name] for name in names if params.get(name) is not None}
    wishes = Wishes(**{"urls": (), **given})
    return wishes if wishes.level is None else replace(wishes, depth=_depth(wishes))


def _depth(wishes: Wishes) -> int | None:
    """The depth that wget's `--level` stands for.

    Raises:
        ConfigError: It is no number, or `--depth` says another.
    """
    level = str(wishes.level).strip().lower()
    if wishes.depth is not None:
        raise ConfigError("--depth and --level say the same: give one of them")
    if level in {"inf", "0"}:
        return None
    if not level.isdecimal():
        raise ConfigError(
            [Problem("", f"--level {wishes.level!r}: no depth", "a number, or `inf`")]
        )
    return int(level)


def make_job(
    wishes: Wishes, directory: Path | None, option: str = ""
) -> tuple[Layout, JobSettings]:
    """Check and write a new job; nothing is written when something is wrong.

    Args:
        wishes: What the options say.
        directory: Where; None for `crawls/<host>-<time>`.
        option: The option that names it; "" where it is an argument.

    Raises:
        ConfigError: With every problem.
        JobError: There is a job already.
    """
    if directory is not None:
        require_no_job(Layout(directory), option)
    values = values_of(wishes)
    seeds = seed_input(wishes.urls, wishes.seed_files, set_seeds(values))
    layout = Layout(directory or default_directory(seeds.lines))
    require_no_job(layout, option)
    new = NewJob(seeds.lines, _rules(wishes), values, wishes.profile)
    loaded, problems = examine_new(layout, new)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    checking = check(layout, loaded, problems, lookup, _apart(seeds.lists), strict=wishes.strict)
    findings = asyncio.run(checking)
    findings.require()
    for note in seeds.notes:
        tell(f"nacre: {note}")
    warn([*findings.warnings, *apart(seeds.lines).warnings()])
    create_job(layout, new)
    return layout, settings


def _apart(lists: Sequence[SeedList]) -> list[SeedList]:
    """The lists without names and passwords."""
    return [one._replace(lines=apart(list(one.lines)).lines) for one in lists]


def default_directory(lines: Sequence[str]) -> Path:
    """`crawls/<host>-<time>`, by the first seed."""
    url = next(first_url(lines), "")
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", host(url)).strip("-.") if url else ""
    return Path("crawls", f"{name or 'crawl'}-{run_name(SystemClock().now())}")


def _rules(wishes: Wishes) -> Any:  # noqa: ANN401 - a tuple of many rule types
    if wishes.profile and wishes.scope is None:
        if wishes.depth is not None or wishes.include or wishes.exclude:
            raise ConfigError(
                "--depth, --include and --exclude need --scope beside a profile: together they "
                "take the place of its rules"
            )
        return ()
    return rules_for(
        wishes.scope or "prefix",
        depth=wishes.depth,
        include=wishes.include,
        exclude=wishes.exclude,
    )


def values_of(wishes: Wishes) -> dict[str, Any]:
    """The settings that the options stand for, `--set` last, as a tree of the configuration."""
    said: dict[str, dict[str, Any]] = {
        "fetch": {
            "contact": wishes.contact,
            "user_agent": wishes.user_agent,
            **header_settings(wishes.headers),
        },
        "cookies": {"load_file": wishes.load_cookies and str(wishes.load_cookies.absolute())},
        "network": {"allow": list(wishes.allow_net) or None},
        "politeness": {"delay": _number(wishes.delay)},
        "engine": {"parallel": wishes.parallel},
        "limits": {
            "documents": wishes.max_pages,
            "bytes": _number(wishes.max_bytes),
            "time": _number(wishes.max_time),
        },
        "robots": {"policy": wishes.robots},
        "archive": {"prefix": wishes.warc_prefix},
    }
    if wishes.delay is not None and _is_zero(wishes.delay):
        said["politeness"]["in_flight"] = wishes.parallel or JobSettings().engine.parallel
    tree = {
        section: kept
        for section, values in said.items()
        if (kept := {name: value for name, value in values.items() if value is not None})
    }
    layer = assignment_layer(wishes.assignments)
    if layer.problems:
        raise ConfigError(layer.problems)
    layer_of_options = assignment_layer(())
    layer_of_options.tree = tree
    return merge([layer_of_options, layer])[0]


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
