"""From the options of `crawl` and `new` to a checked job directory."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.cli.output import warn
from nacre.config.component import parse_duration
from nacre.config.layer import assignment_layer, merge
from nacre.errors import ConfigError, URIError
from nacre.fetch.dns import DnsResolver
from nacre.job.checks import check
from nacre.job.clock import SystemClock
from nacre.job.configuration.configure import NewJob, create_job, examine_new, require_no_job
from nacre.job.configuration.contact import resolver_lookup
from nacre.job.configuration.newlogins import apart
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout, run_name
from nacre.job.seeding.seeds import parse_seed
from nacre.scope.options import rules_for
from nacre.uri.parse import host


@dataclass(frozen=True)
class Wishes:
    """What the options say; None where they say nothing."""

    urls: Sequence[str]
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


def make_job(wishes: Wishes, directory: Path | None) -> tuple[Layout, JobSettings]:
    """Check and write a new job; nothing is written when something is wrong.

    Args:
        wishes: What the options say.
        directory: Where; None for `crawls/<host>-<time>`.

    Raises:
        ConfigError: With every problem.
        JobError: There is a job already.
    """
    layout = Layout(directory or default_directory(wishes.urls))
    require_no_job(layout)
    new = NewJob(wishes.urls, _rules(wishes), values_of(wishes), wishes.profile)
    loaded, problems = examine_new(layout, new)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    findings = asyncio.run(check(layout, loaded, problems, lookup))
    findings.require()
    warn([*findings.warnings, *apart(wishes.urls).warnings()])
    create_job(layout, new)
    return layout, settings


def default_directory(urls: Sequence[str]) -> Path:
    """`crawls/<host>-<time>`, by the first seed."""
    try:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", host(parse_seed(urls[0]).url)).strip("-.")
    except (URIError, IndexError):
        name = ""
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
        "fetch": {"contact": wishes.contact},
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
