"""Survey before a start: the seeds, whether the crawl's own rules reach them, and the space.

`nacre check --survey` and the console's Verify show it. It asks the job's own name servers.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Final

import msgspec

from nacre.assembly.rules import open_rules
from nacre.config.check import Loaded
from nacre.config.seed_file import seed_lines
from nacre.engine.seeding.survey import SeedSurvey, survey
from nacre.errors import NacreError
from nacre.fetch.dns import DnsAnswer, DnsResolver
from nacre.fetch.guard import guard_for_seeds
from nacre.job.checks import check
from nacre.job.monitors import places, space_needed
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.scope.seeds import SeedDirective, read_seeds
from nacre.scope.subject import Subject
from nacre.settings.contact import no_lookup
from nacre.settings.load import examine_job, load_job
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.opening import shortage
from nacre.uri.parse import host

MOST_HOSTS: Final = 50
"""Hosts that are looked up; the rest is counted."""
MOST_REFUSED: Final = 20
"""Seeds that the scope refuses which are named; the rest is counted."""
LONGEST_LOOK: Final = 10.0
"""Seconds after which hosts that have not been found yet are left alone."""
_AT_ONCE: Final = 10


class SurveyedHost(msgspec.Struct, frozen=True):
    """A host of seeds.

    Attributes:
        name: Its name.
        seeds: Seeds on it, among the first thousand.
        addresses: Its addresses as the crawl finds them; () for none.
        trouble: Why no fetch would reach it: its name is not found, or its addresses are refused;
            "" where one would.
    """

    name: str
    seeds: int
    addresses: tuple[str, ...] = ()
    trouble: str = ""


class RefusedSeed(msgspec.Struct, frozen=True):
    """A seed that the scope of its job rejects.

    Attributes:
        url: The seed.
        rule: The rule that refuses it.
    """

    url: str
    rule: str


class PlaceSpace(msgspec.Struct, frozen=True):
    """The space of a file system that the job writes to.

    Attributes:
        place: A directory on it.
        free: Bytes that are free.
        needed: Bytes that must be free for a start.
    """

    place: str
    free: int
    needed: int


class StartSurvey(msgspec.Struct, frozen=True):
    """The survey of a job before its start.

    Attributes:
        seeds: Seeds in all.
        bad: Lines of the seed list that are none.
        directives: Lines with `+` or `-`.
        hosts: The first hosts, those that cannot be reached first.
        more_hosts: Further hosts that were not looked up.
        refused: The first seeds that the scope refuses.
        more_refused: Further ones among the first thousand seeds.
        space: The file systems that the job writes to.
        missing_space: What they lack, in words; "" for nothing.
    """

    seeds: int
    bad: int
    directives: int
    hosts: tuple[SurveyedHost, ...]
    more_hosts: int
    refused: tuple[RefusedSeed, ...]
    more_refused: int
    space: tuple[PlaceSpace, ...]
    missing_space: str


class ScarceSpace(msgspec.Struct, frozen=True):
    """A file system that lacks space for a start.

    Attributes:
        free: Bytes that are free.
        reserve: Bytes that must be free.
    """

    free: int
    reserve: int


def scarce_space(layout: Layout) -> ScarceSpace | None:
    """Return the space of the fullest file system; None if a start has enough, or it is unknown.

    Args:
        layout: The job.
    """
    with suppress(NacreError):
        settings = load_job(layout).settings
        needed, disk = space_needed(settings), RealDisk()
        free = min(map(disk.free_space, places(layout, settings)))
        return ScarceSpace(free, needed) if free < needed else None
    return None


async def survey_start(layout: Layout, loaded: Loaded[JobSettings]) -> StartSurvey:
    """Survey a job: its names are looked up, nothing is fetched, and nothing is written.

    Args:
        layout: Its directories.
        loaded: Its settings, without problems.

    Raises:
        ConfigError: The seed list or a file of rules cannot be read.
    """
    settings = loaded.settings
    named = settings.seeds
    file = named if isinstance(named, str) else ""
    seeds = survey(read_seeds(seed_lines(named, layout.root), file), settings.dns.hosts)
    refused = _refused(layout, settings, seeds)
    counts = Counter(host(item.url) for item in seeds.first if not item.url.startswith("dns:"))
    host_names = dict.fromkeys((*counts, *seeds.names, *seeds.addresses, *seeds.public))
    hosts = await _hosts(settings, seeds, list(islice(host_names, MOST_HOSTS)), counts)
    needed, disk = space_needed(settings), RealDisk()
    here = places(layout, settings)
    return StartSurvey(
        seeds.count,
        seeds.bad_count,
        len(seeds.directives),
        tuple(sorted(hosts, key=lambda item: not item.trouble)),
        max(len(host_names) - MOST_HOSTS, 0),
        tuple(refused[:MOST_REFUSED]),
        max(len(refused) - MOST_REFUSED, 0),
        tuple(PlaceSpace(item, disk.free_space(item), needed) for item in dict.fromkeys(here)),
        shortage(disk, here, needed),
    )


class StartFindings(msgspec.Struct, frozen=True):
    """The problems that keep a job from starting.

    Attributes:
        problems: Their number.
        first_problem: The first in a line; "" for none.
    """

    problems: int
    first_problem: str


def kept_from_start(layout: Layout) -> StartFindings:
    """The problems that keep a job from starting, as of `nacre check`; no name is looked up.

    Args:
        layout: The job, with or without a store.
    """
    try:
        loaded, problems = examine_job(layout)
        problems_found = asyncio.run(check(layout, loaded, problems, no_lookup())).problems
    except NacreError as error:
        return StartFindings(1, str(error))
    first = str(problems_found[0]).partition("\n")[0] if problems_found else ""
    return StartFindings(len(problems_found), first)


def _refused(layout: Layout, settings: JobSettings, seeds: SeedSurvey) -> list[RefusedSeed]:
    """The seeds among the first that the scope refuses."""
    rules = open_rules(settings, layout.root)
    rules.add_seeds([*seeds.first, *(SeedDirective(text) for text in seeds.directives)])
    scope = rules.scope()[0]
    refused = []
    for seed in seeds.first:
        verdict = scope.decide(Subject(seed.url, is_seed=True, seed=seed.owner))
        if not verdict.accepted:
            refused.append(RefusedSeed(seed.url, verdict.rule))
    return refused


async def _hosts(
    settings: JobSettings, seeds: SeedSurvey, names: Sequence[str], counts: Counter[str]
) -> list[SurveyedHost]:
    """The hosts with their addresses, and why no fetch would reach them."""
    resolver = DnsResolver(settings.dns, SystemClock())
    answers: dict[str, DnsAnswer] = {}
    limit = asyncio.Semaphore(_AT_ONCE)

    async def look_up(name: str) -> None:
        async with limit:
            answers[name] = await resolver.lookup(name)

    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_LOOK), asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(look_up(name))
    own = [answers[name].addresses for name in seeds.names if name in answers]
    guard = guard_for_seeds(settings.network.allow, chain(seeds.addresses, *own))
    hosts = []
    for name in names:
        answer = answers.get(name)
        if answer is None:
            text = message(
                "job.search-timeout",
                "it was not found in {longest_look:.0f} s",
                longest_look=LONGEST_LOOK,
            )
            hosts.append(SurveyedHost(name, counts[name], trouble=text))
            continue
        whys = [guard.refusal(address) for address in answer.addresses]
        trouble = answer.error if not whys else "; ".join(whys) if all(whys) else ""
        hosts.append(SurveyedHost(name, counts[name], tuple(answer.addresses), trouble))
    return hosts
