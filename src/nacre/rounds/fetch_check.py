"""Check what a fetch would refuse, before its list is made."""

import asyncio
from collections.abc import Iterable
from functools import partial
from itertools import islice

from nacre.errors import ConfigError, Problem
from nacre.fetch.dns import DnsResolver
from nacre.job.checks import check
from nacre.job.monitors import places, space_needed
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.rounds.steps.context import HostCheck, StepContext
from nacre.rounds.units.unit_folder import folder_of_units, require_scratch
from nacre.scope.seeds import SeedList
from nacre.settings.contact import resolver_lookup
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.opening import shortage

_HOSTS = 1_000
"""Hosts of a list that are looked up: a public host needs a contact."""

_NOT_OF_UNITS = frozenset(
    ("action", "alerts", "archive", "checkpoint", "limits", "metrics", "store", "traps")
)
"""Sections for which units have their own values (`frozen_settings.freeze`)."""


def fetch_check(context: StepContext) -> HostCheck:
    """Return the check of the hosts of a list, for a step that makes a list."""
    return partial(require_fetchable, context)


def require_fetchable(context: StepContext, hosts: Iterable[str]) -> None:
    """Check that units could fetch a list, as each of them does before its first request.

    Args:
        context: The context of the driver.
        hosts: Hosts of the list.

    Raises:
        ConfigError: A contact is missing, a quota or another setting cannot be obeyed, a library is
            missing, or there is no space for the work of units.
    """
    settings = context.settings
    seeds = SeedList("", tuple(f"http://{host}/" for host in islice(hosts, _HOSTS)))
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    result = asyncio.run(check(context.layout, context.loaded, [], lookup, [seeds]))
    problems = [p for p in result.problems if p.path.partition(".")[0] not in _NOT_OF_UNITS]
    problems += _quota_problems(settings)
    if problems:
        raise ConfigError(problems)
    if context.engine.name == "local":
        require_scratch(context.layout, settings.cycle.scratch)
        _require_space(context)


def _quota_problems(settings: JobSettings) -> list[Problem]:
    """Quotas that no unit can count."""
    limits = settings.quotas.source.model_dump()
    if settings.engine.source_tags or not any(limits.values()):
        return []
    return [
        Problem(
            "quotas.source",
            "URIs have no source tags, so that nothing counts for a quota of seeds",
            "quotas of hosts or domains, or source tags",
            "engine: {source_tags: true}",
        )
    ]


def _require_space(context: StepContext) -> None:
    """Raise ConfigError if units of this machine would wait for disk space."""
    place, scratch = context.cycle.storage.place, context.settings.cycle.scratch
    folder = Layout(
        context.layout.root / folder_of_units(context.layout, scratch, place, local=True)
    )
    while not folder.root.is_dir():
        folder = Layout(folder.root.parent)
    missing = shortage(RealDisk(), places(folder, context.settings), space_needed(context.settings))
    if missing:
        raise ConfigError(
            [
                Problem(
                    "disk.reserve",
                    f"there is no space for the work of units: {missing}",
                    "free space, a smaller reserve, or another place by cycle.scratch",
                )
            ]
        )
