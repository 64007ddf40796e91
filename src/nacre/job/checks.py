"""The third check of a configuration: what the parts of a job need of each other and the machine.

The first two (well-formed, typed) are in `config.check`. All problems are found at once.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from nacre.config.check import Loaded
from nacre.config.ordinary import open_ordinary
from nacre.errors import ConfigError, Problem
from nacre.fetch.address import parse_address
from nacre.job.admission.rulefiles import RuleFiles, examine_rule_files
from nacre.job.admission.scoping import chain_problems, scope_doubts, scope_problems, scope_state
from nacre.job.configuration.conflicts import conflicts, doubts
from nacre.job.configuration.contact import Lookup, contact_problems, public_hosts
from nacre.job.configuration.scopenotes import scope_notes
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.variables import known_part
from nacre.job.effects import missing_effects
from nacre.job.layout import Layout
from nacre.job.seeding.logins import ADVICE
from nacre.job.seeding.seedfile import seed_lines
from nacre.job.seeding.seeds import BadSeed, Directive, Entry, Seed, SeedList, read_seeds
from nacre.job.seeding.seedsurvey import SeedSurvey, survey
from nacre.scope.compile import compile_scope
from nacre.scope.rule import Scope

_BAD_SHOWN = 20
_LOOK = 65_536
"""Bytes that tell whether a file is a text."""


@dataclass
class Findings:
    """What a check came to.

    Attributes:
        problems: What keeps the job from starting.
        warnings: What the operator should know.
        skipped: Of these, lines of seed files that are no seed.
        idle: Of these, what the job does not do that a crawl is for.
    """

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    idle: list[Problem] = field(default_factory=list)

    def require(self) -> None:
        """Raise ConfigError when there is a problem."""
        if self.problems:
            raise ConfigError(self.problems)


async def check(
    layout: Layout,
    loaded: Loaded[JobSettings] | None,
    problems: Sequence[Problem],
    lookup: Lookup,
    lists: Sequence[SeedList] = (),
    *,
    strict: bool = False,
) -> Findings:
    """Check a job.

    Args:
        layout: Its directories; a new job has none yet.
        loaded: Its settings (`configure.examine_job`), with defaults where they are wrong.
        problems: What is wrong with them.
        lookup: Looks hosts up; asked only where `network.allow` names networks.
        lists: Where the seeds of a job come from that is not written yet; empty: from `seeds`.
        strict: A bad line of a seed file keeps the job from starting; else it is skipped.
    """
    found = Findings(list(problems))
    if loaded is None:
        return found
    settings = loaded.settings
    named = settings.seeds
    file = named if isinstance(named, str) else ""
    lists = lists or [SeedList(file, seed_lines(named, layout.root))]
    seeds = _read_seeds(lists, found, strict=strict)
    public = await public_hosts(seeds.public, settings.network.allow, lookup)
    needs = [*_files(settings, layout), *_outputs(settings, layout), *conflicts(loaded)]
    files = RuleFiles(layout.root)
    rules = examine_rule_files(settings, files)
    unusable = [*rules.problems, *scope_problems(settings, layout.root, files)]
    needs += [*unusable, *chain_problems(settings, files)]
    notes = [*doubts(loaded), *rules.warnings, *scope_doubts(settings)]
    near: list[Entry] = [*seeds.first, *(Directive(text) for text in seeds.directives)]
    if not unusable:
        scope = scope_with_seeds(settings, near, files, layout.root)
        notes += scope_notes(loaded, scope, seeds.first)
        state = scope_state(layout.root, files)
        idle = missing_effects(settings, scope, state, seeds.first)
        found.idle += _placed(loaded, idle)
    found.problems[:] = [*problems, *_placed(loaded, found.problems[len(problems) :])]
    found.problems += _placed(loaded, [*contact_problems(settings, public), *needs])
    found.problems.sort(key=lambda p: (not p.line, p.file, p.line))
    found.warnings += [*found.skipped, *found.idle, *_placed(loaded, notes)]
    return found


def _placed(loaded: Loaded[JobSettings], problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems with the places that their values come from.

    Of values that could not be read, their own problem says enough.
    """
    for problem in problems:
        if loaded.is_unknown(problem.path) and not problem.path.startswith("scope"):
            continue
        place = loaded.place(problem.path)
        known = problem.file or not place.file
        yield problem if known else problem._replace(file=place.file, line=place.line)


def _read_seeds(lists: Sequence[SeedList], found: Findings, *, strict: bool) -> SeedSurvey:
    """Look over the seeds. What was typed must be right; bad lines of a file are skipped."""
    try:
        seeds = survey(chain.from_iterable(read_seeds(one.lines, one.file) for one in lists))
    except ConfigError as error:
        found.problems += error.problems
        return SeedSurvey()
    skipped = [_bad_line(bad) for bad in seeds.bad if bad.file]
    found.problems += (_bad_line(bad) for bad in seeds.bad if not bad.file)
    if more := seeds.bad_count - len(seeds.bad) + len(skipped[_BAD_SHOWN:]):
        said = f"and {more} more lines that are no seed"
        skipped[_BAD_SHOWN:] = [Problem("", said, file=skipped[0].file if skipped else "")]
    if strict:
        found.problems += skipped
    else:
        found.skipped = skipped
    file = lists[0].file
    for origin in islice(seeds.logins, _BAD_SHOWN):
        told = Problem("seeds", f"{origin}: a seed has a name or a password in it: {ADVICE}")
        found.warnings.append(told._replace(file=file))
    if not seeds.count and (strict or not found.problems):
        said = "there is no seed" + (": no line of it is one" if seeds.bad_count else "")
        sample = "https://example.org/"
        found.problems.append(Problem("seeds", said, "one URL a line", sample, file))
    return seeds


def _bad_line(bad: BadSeed) -> Problem:
    path, line = ("", bad.line) if bad.file else (f"seeds.{bad.line - 1}", 0)
    return Problem(path, str(bad._replace(file="")), file=bad.file, line=line)


def _files(settings: JobSettings, layout: Layout) -> Iterator[Problem]:
    """Files and addresses that settings name."""
    cookies = settings.cookies.load_file
    if cookies:
        yield from _unreadable("cookies.load_file", layout.root / cookies, "a Netscape cookie file")
    bind = settings.fetch.bind_address
    if bind and parse_address(bind) is None:
        yield Problem("fetch.bind_address", f"{bind!r} is no IP address", "a local IP address")


def _unreadable(path: str, file: Path, expected: str) -> Iterator[Problem]:
    try:
        with open_ordinary(file) as opened:
            if b"\0" in opened.read(_LOOK):
                yield Problem(path, f"{file} is no text: there are NUL bytes in it", expected)
    except OSError as error:
        yield Problem(path, f"{file} cannot be read: {error.strerror}", expected)


def _outputs(settings: JobSettings, layout: Layout) -> Iterator[Problem]:
    """Directories that cannot be written to."""
    yield from _unwritable("", layout.root)
    for name in settings.archive.directories:
        if Path(name).is_absolute():
            yield from _unwritable("archive.directories", Path(known_part(name)))


def _unwritable(path: str, directory: Path) -> Iterator[Problem]:
    place = directory
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        yield Problem(path, f"{place} is no directory")
    elif not os.access(place, os.W_OK | os.X_OK):
        yield Problem(path, f"{directory} cannot be written to", "a directory of yours")


def scope_with_seeds(
    settings: JobSettings, entries: Iterable[Entry], files: RuleFiles, root: Path
) -> Scope:
    """The scope of a job as its seed list makes it."""
    state = scope_state(root, files)
    scope = compile_scope(settings.scope, state)
    known = list(entries)
    seeds = [entry for entry in known if isinstance(entry, Seed)]
    state.add_seeds([seed.text for seed in seeds if seed.own is None])
    for seed in seeds:
        if seed.own is not None:
            state.add_seed(seed.text, seed.own)
    state.add_directives(entry.text for entry in known if isinstance(entry, Directive))
    return scope
