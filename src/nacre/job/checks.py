"""Checks a job as a whole: settings against each other, the seeds, the files, the machine.

This is the third check; the first two (well-formed, typed) are in `config.check`. All problems are
found at once. `missing_effects` finds essential effects that the job lacks (fetch, write, follow
redirects, find links), by its chains and gates as they would be assembled.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, cast

from nacre.assembly.rule_checks import (
    chain_problems,
    examine_rule_files,
    scope_doubts,
    scope_problems,
)
from nacre.assembly.rules import JobRules, open_rules
from nacre.browser.finding import find_browser
from nacre.browser.site_scripts import load_site_scripts
from nacre.config.check import Loaded
from nacre.config.seed_file import seed_lines
from nacre.config.sheet import Sheet
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.chain.entry import ChainName
from nacre.engine.pages.blocking import block_list
from nacre.engine.seeding.seedbook import ADVICE
from nacre.engine.seeding.survey import SeedSurvey, survey
from nacre.engine.steps.preselect import preselection
from nacre.errors import BrowserError, ConfigError, Problem
from nacre.fetch.guard import parse_address
from nacre.machine.layout import Layout
from nacre.machine.local_files import home_path, open_ordinary
from nacre.messages import message
from nacre.scope.scope import Decision, Scope
from nacre.scope.seeds import BadSeed, Entry, Seed, SeedDirective, SeedList, read_seeds
from nacre.scope.subject import Subject
from nacre.settings.conflicts import conflict_problems, conflict_warnings, scope_warnings
from nacre.settings.contact import Lookup, contact_problems, public_hosts
from nacre.settings.enforced import enforce_warnings
from nacre.settings.secret_places import secret_places
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import examine_sheets, values_of_path
from nacre.settings.variables import known_part
from nacre.uri.parse import scheme

_SEARCHES = ("html", "css", "javascript", "json", "xml", "sitemaps", "headers")
_NO_LINKS = message("job.no-links", "no links are extracted from fetched pages")
_BAD_SHOWN = 20
_FETCHED = frozenset(("http", "https", "dns"))
"""Schemes that the steps of Nacre fetch."""
_LOOK = 65_536
"""Number of bytes that are checked to decide whether a file is text."""


class _Closed(NamedTuple):
    """Why an entry of a chain never does anything.

    Attributes:
        path: The setting.
        reason: In words.
    """

    path: str
    reason: str


def missing_effects(rules: JobRules, scope: Scope, seeds: Sequence[Seed]) -> list[Problem]:
    """Essential effects that a job lacks; none where a sheet may change it.

    Args:
        rules: The rules of the job.
        scope: Its scope, with its seeds.
        seeds: The first seeds.
    """
    settings = rules.settings
    problems = [
        *_fetching(rules, scope, seeds),
        *_writing(rules),
        *_following(rules),
        *_extracting(rules),
    ]
    elsewhere = [path for sheet in settings.sheets.values() for path in sheet]
    return [
        problem
        for problem in problems
        if not any(_concerns(path, problem.path) for path in elsewhere)
    ]


def _concerns(changed: str, path: str) -> bool:
    """Whether a sheet changes the setting of a note, or another setting of the same chain entry."""
    entry = path.rpartition(".")[0] if path.startswith("chains.") else path
    return changed == path or (entry.count(".") > 1 and changed.startswith(f"{entry}."))


def _fetching(rules: JobRules, scope: Scope, seeds: Sequence[Seed]) -> Iterator[Problem]:
    settings = rules.settings
    for kind, lost in (
        ("fetch-http", message("job.fetches-nothing", "this job fetches nothing")),
        (
            "fetch-dns",
            message(
                "job.no-name-is-looked-up",
                "no name is looked up, so hosts with names are not fetched",
            ),
        ),
    ):
        closed = _closed(rules, ChainName.FETCH, kind)
        if closed is not None:
            yield Problem(closed.path, f"{lost}: {closed.reason}")
    gate = rules.midfetch()[0]
    if gate is not None and gate.scope.constant is Decision.REJECT:
        yield Problem(
            "fetch.midfetch",
            message("job.no-body-is-fetched", "no body is fetched: its rules cut off every reply"),
        )
    yield from _blocked(settings, seeds)
    if seeds and _is_on(settings, "recheck-scope"):
        refused = [s for s in seeds if not scope.judge(_as_seed(s)).accepted]
        if len(refused) == len(seeds):
            yield Problem(
                "chains.fetch.recheck-scope",
                message(
                    "job.fetches-nothing-by-scope",
                    "this job fetches nothing: the scope is asked again before each fetch, and it "
                    "refuses every seed",
                ),
            )


def _as_seed(seed: Seed) -> Subject:
    return Subject(seed.url, is_seed=True, seed=seed.owner)


def _is_on(settings: JobSettings, kind: str) -> bool:
    entries = settings.chains.of(ChainName.FETCH)
    return any(entry.kind == kind and entry.enabled for entry in entries)


def _blocked(settings: JobSettings, seeds: Sequence[Seed]) -> Iterator[Problem]:
    """Seeds that the first step drops."""
    entries = [entry for entry in settings.chains.of(ChainName.FETCH) if entry.enabled]
    blocks = preselection(entries)
    whys = {blocks.blocking_setting(seed.url) for seed in seeds} if blocks is not None else {""}
    if blocks is not None and blocks.everything:
        whys = {"block_all"}
    if seeds and whys and "" not in whys:
        path = f"chains.fetch.preselect.{min(whys)}"
        yield Problem(
            path,
            message("job.blocks-every-seed", "this job fetches nothing: it blocks every seed"),
        )


def _writing(rules: JobRules) -> Iterator[Problem]:
    closed = _closed(rules, ChainName.DISPOSITION, "archive")
    if closed is not None:
        yield Problem(
            closed.path,
            message("job.writes-no-warc", "this job writes no WARC: {why}", why=closed.reason),
        )


def _following(rules: JobRules) -> Iterator[Problem]:
    closed = _closed(rules, ChainName.DISPOSITION, "candidates")
    if closed is not None:
        yield Problem(
            closed.path,
            message(
                "job.follows-no-links",
                "this job follows no links and no redirects: {why}",
                why=closed.reason,
            ),
        )


def _extracting(rules: JobRules) -> Iterator[Problem]:
    extract = rules.settings.extract
    closed = _closed(rules, ChainName.FETCH, "extract")
    off = [name for name in _SEARCHES if not getattr(extract, f"extract_{name}")]
    if closed is not None:
        yield Problem(
            closed.path,
            message(
                "job.and-no-redirects-are-followed",
                "{no_links}, and no redirects are followed: {why}",
                no_links=_NO_LINKS,
                why=closed.reason,
            ),
        )
    elif not extract.max_outlinks:
        yield Problem(
            "extract.max_outlinks",
            message(
                "job.no-links-no-redirects",
                "{no_links}, and no redirects are followed",
                no_links=_NO_LINKS,
            ),
        )
    elif not extract.max_document:
        yield Problem(
            "extract.max_document",
            message(
                "job.no-documents-searched",
                "{no_links}: it searches no document",
                no_links=_NO_LINKS,
            ),
        )
    elif len(off) == len(_SEARCHES):
        yield Problem(
            "extract",
            message(
                "job.no-links-no-redirects-all-off",
                "{no_links}, and no redirects are followed: all is off",
                no_links=_NO_LINKS,
            ),
        )
    else:
        if "headers" in off:
            yield Problem(
                "extract.extract_headers",
                message("job.no-redirects-are-followed", "no redirects are followed: it is off"),
            )
        if "html" in off:
            yield Problem(
                "extract.extract_html",
                message(
                    "job.no-html-links",
                    "no links are taken from web pages: it is off",
                ),
            )


def _closed(rules: JobRules, chain: ChainName, kind: str) -> _Closed | None:
    """Why an entry never does anything; None if it may."""
    settings = rules.settings
    entries = settings.chains.of(chain)
    number = next((at for at, entry in enumerate(entries) if entry.kind == kind), None)
    if number is None:
        return _Closed(
            f"chains.{chain}",
            message(
                "job.is-not-in-chain",
                "`{kind}` is not in the {chain} chain",
                kind=kind,
                chain=chain,
            ),
        )
    entry = entries[number]
    path = f"chains.{chain}.{entry.label}"
    if not entry.enabled:
        return _Closed(
            f"{path}.enabled",
            message("job.is-switched-off", "`{label}` is switched off", label=entry.label),
        )
    if rules.gate(chain, number) is False:
        return _Closed(
            f"{path}.gate",
            message(
                "job.gate-of-rejects-everything",
                "the gate of `{label}` rejects everything",
                label=entry.label,
            ),
        )
    return None


@dataclass
class Findings:
    """The findings of a check.

    Attributes:
        problems: What keeps the job from starting.
        warnings: What the operator should know.
        skipped: Of these, lines of seed files that are not seeds.
        idle: Of these, what the job does not do that a crawl is for, and preferences that it
            enforces and no site is known to state; a run prints them, too.
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
    findings = Findings(list(problems))
    if loaded is None:
        return findings
    settings = loaded.settings
    named = settings.seeds
    file = named if isinstance(named, str) else ""
    typed = [seed_list for seed_list in lists if not seed_list.file]
    lists = lists or [SeedList(file, seed_lines(named, layout.root))]
    seeds = _read_seeds(lists, findings, strict=strict, needs_seed=not layout.is_recording)
    findings.problems += _unfetched(settings, typed)
    public = await public_hosts(seeds.public, settings.network.allow, lookup)
    needs = [*_files(settings, layout), *_outputs(settings, layout), *conflict_problems(loaded)]
    files = RuleFiles(layout.root)
    rules = examine_rule_files(settings, files)
    unusable = [*rules.problems, *scope_problems(settings, layout.root, files)]
    needs += [*unusable, *chain_problems(settings, files)]
    notes = [*conflict_warnings(loaded), *rules.warnings, *scope_doubts(settings)]
    notes += _open_secrets(settings, layout)
    findings.idle += _placed(loaded, [*enforce_warnings(settings)])
    near: list[Entry] = [*seeds.first, *(SeedDirective(text) for text in seeds.directives)]
    if not unusable:
        sheets = examine_sheets(settings, layout.root)[0]
        needs += _missing_browser(settings, sheets.sheets)
        needs += unusable_browser_files(settings, sheets.sheets, files, layout.root)
        assembled = open_rules(settings, layout.root, sheets_checked=sheets)
        assembled.add_seeds(near)
        scope = assembled.scope()[0]
        notes += scope_warnings(loaded, scope, seeds.first)
        if not layout.is_recording:
            findings.idle += _placed(loaded, missing_effects(assembled, scope, seeds.first))
    findings.problems[:] = [*problems, *_placed(loaded, findings.problems[len(problems) :])]
    findings.problems += _placed(loaded, [*contact_problems(settings, public), *needs])
    findings.problems.sort(key=lambda p: (not p.line, p.file, p.line))
    findings.warnings += [*findings.skipped, *findings.idle, *_placed(loaded, notes)]
    return findings


def _placed(loaded: Loaded[JobSettings], problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems with the places that their values come from.

    Of values that could not be read, their own problem says enough.
    """
    for problem in problems:
        if loaded.is_unknown(problem.path) and not problem.path.startswith("scope"):
            continue
        place = loaded.place(problem.path)
        is_placed = problem.file or not place.file
        yield problem if is_placed else problem._replace(file=place.file, line=place.line)


def _read_seeds(
    lists: Sequence[SeedList], findings: Findings, *, strict: bool, needs_seed: bool
) -> SeedSurvey:
    """Look over the seeds. What was typed must be right; bad lines of a file are skipped."""
    try:
        seeds = survey(
            chain.from_iterable(read_seeds(seed_list.lines, seed_list.file) for seed_list in lists)
        )
    except ConfigError as error:
        findings.problems += error.problems
        return SeedSurvey()
    skipped = [_bad_line(bad) for bad in seeds.bad if bad.file]
    findings.problems += (_bad_line(bad) for bad in seeds.bad if not bad.file)
    if more := seeds.bad_count - len(seeds.bad) + len(skipped[_BAD_SHOWN:]):
        text = message("job.and-more-lines", "and {more} more lines that are not seeds", more=more)
        skipped[_BAD_SHOWN:] = [Problem("", text, file=skipped[0].file if skipped else "")]
    if strict:
        findings.problems += skipped
    else:
        findings.skipped += skipped
    file = lists[0].file
    for origin in islice(seeds.logins, _BAD_SHOWN):
        warning = Problem(
            "seeds",
            message(
                "job.seed-has-name-or-password",
                "{origin}: a seed has a name or a password in it: {advice}",
                origin=origin,
                advice=ADVICE,
            ),
        )
        findings.warnings.append(warning._replace(file=file))
    if needs_seed and not seeds.count and (strict or not findings.problems):
        text = message("job.no-seed", "there is no seed")
        if seeds.bad_count:
            text = message("job.no-line-is-seed", "there is no seed: no line of it is one")
        sample = "https://example.org/"
        findings.problems.append(
            Problem("seeds", text, message("job.url-a-line", "one URL a line"), sample, file)
        )
    return seeds


def _unfetched(settings: JobSettings, typed: Sequence[SeedList]) -> Iterator[Problem]:
    """Typed seeds with a scheme that no step fetches; a step of a plug-in may fetch any."""
    steps = [entry for entry in settings.chains.of(ChainName.FETCH) if entry.enabled]
    if not all(type(entry).__module__.startswith("nacre.") for entry in steps):
        return
    for number, line in enumerate(chain.from_iterable(seeds.lines for seeds in typed)):
        for seed in read_seeds([line]):
            if isinstance(seed, Seed) and (name := scheme(seed.url)) not in _FETCHED:
                text = message(
                    "job.seed-is-not-fetched",
                    "{text!r} is not a seed: no step of the fetch chain fetches {scheme} URLs",
                    text=seed.text,
                    scheme=name,
                )
                yield Problem(f"seeds.{number}", text)


def _bad_line(bad: BadSeed) -> Problem:
    path, line = ("", bad.line) if bad.file else (f"seeds.{bad.line - 1}", 0)
    return Problem(path, str(bad._replace(file="")), file=bad.file, line=line)


def _files(settings: JobSettings, layout: Layout) -> Iterator[Problem]:
    """Files and addresses that settings name."""
    cookies = settings.cookies.load_file
    if cookies:
        yield from _unreadable(
            "cookies.load_file",
            layout.root / cookies,
            message("job.netscape-cookie-file", "a Netscape cookie file"),
        )
    bind = settings.fetch.bind_address
    if bind and parse_address(bind) is None:
        yield Problem(
            "fetch.bind_address",
            message("job.is-not-ip-address", "{bind!r} is not an IP address", bind=bind),
            message("job.local-ip-address", "a local IP address"),
        )


def _missing_browser(settings: JobSettings, sheets: Mapping[str, Sheet]) -> Iterator[Problem]:
    """A browser that all pages, or those of a sheet, are to be run in, and that is not there.

    With `auto` the summary of the run reports the pages that look as if they needed a browser.
    """
    uses = values_of_path(settings, sheets, "browser.use")
    path = next((path for path, use in uses.items() if use == "always"), "")
    if not path:
        return
    try:
        find_browser(settings.browser.command)
    except BrowserError as error:
        yield Problem(path, error.message)


def unusable_browser_files(
    settings: JobSettings, sheets: Mapping[str, Sheet], files: RuleFiles, root: Path
) -> Iterator[Problem]:
    """Site scripts and lists of blocked requests that cannot be read or understood."""

    def load_scripts(names: Sequence[str]) -> object:
        return load_site_scripts(names, root)

    def load_blocks(entries: Sequence[str]) -> object:
        return block_list(entries, files.read_lines)

    for setting, load in (("browser.scripts", load_scripts), ("browser.block", load_blocks)):
        for path, value in values_of_path(settings, sheets, setting).items():
            try:
                load(cast("Sequence[str]", value))
            except ConfigError as error:
                yield from (problem._replace(path=path) for problem in error.problems)


def _open_secrets(settings: JobSettings, layout: Layout) -> Iterator[Problem]:
    """Files of secrets that more than their owner can read."""
    named = {
        secret_place.secret.source.get("file", ""): secret_place.path
        for secret_place in secret_places(settings)
    }
    named[settings.cookies.load_file] = "cookies.load_file"
    for name, path in named.items():
        file = layout.root / home_path(name)
        mode = _mode(file) if name else 0
        if mode & 0o077:
            text = message(
                "job.others-can-read",
                "others can read {file}, which holds a secret: its mode is {mode:04o}",
                file=file,
                mode=mode,
            )
            yield Problem(path, text, f"chmod 600 {file}")


def _mode(file: Path) -> int:
    """The rights of a file; 0 if it is not there."""
    try:
        return stat.S_IMODE(file.stat().st_mode)
    except OSError:
        return 0


def _unreadable(path: str, file: Path, expected: str) -> Iterator[Problem]:
    try:
        with open_ordinary(file) as opened:
            if b"\0" in opened.read(_LOOK):
                yield Problem(
                    path,
                    message(
                        "job.is-not-text",
                        "{file} is not text: there are NUL bytes in it",
                        file=file,
                    ),
                    expected,
                )
    except OSError as error:
        yield Problem(
            path,
            message(
                "job.cannot-be-read",
                "{file} cannot be read: {strerror}",
                file=file,
                strerror=error.strerror,
            ),
            expected,
        )


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
        yield Problem(
            path, message("job.is-not-directory", "{place} is not a directory", place=place)
        )
    elif not os.access(place, os.W_OK | os.X_OK):
        yield Problem(
            path,
            message(
                "job.cannot-be-written", "{directory} cannot be written to", directory=directory
            ),
            message("job.directory-of-yours", "a directory of yours"),
        )
