"""Finds problems in the rules, gates, normalizers and rule files of a job, for the check."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.engine.candidates.identity import Preloaded
from nacre.engine.candidates.scope_state import RuleFiles, all_chains, database_problem
from nacre.engine.chain.entry import ChainName
from nacre.engine.chain.plan import gate_place
from nacre.errors import ConfigError, Problem
from nacre.messages import SEMICOLON, join, message
from nacre.planner.schedules.nutch import NutchRates, read_mime_rates
from nacre.scope.compile import all_rules, find_misplaced
from nacre.scope.rules.nutch import FilterRule, NutchExempt
from nacre.scope.rules.rule import Rule
from nacre.scope.rules.seeds import SourceSeed
from nacre.scope.rules.server import GeoLocation
from nacre.scope.rules.surt import Prefixed, readable
from nacre.scope.scope import Decision
from nacre.scope.subject import RulePlace
from nacre.settings.settings import JobSettings
from nacre.uri.canonical import Canonicalizer

_RECHECK = message(
    "assembly.recheck-scope",
    "`chains.fetch.recheck-scope.enabled: true` asks the scope again, with the address",
)


def scope_problems(settings: JobSettings, root: Path, files: RuleFiles) -> Iterator[Problem]:
    """Problems that keep the rules of a job from working."""
    for path, rules, place in _places(settings):
        for number, text in find_misplaced(rules, place):
            hint = _RECHECK if place is RulePlace.CANDIDATES and path == "scope" else ""
            yield Problem(f"{path}.{number}", join((text, hint), *SEMICOLON))
        for number, rule in enumerate(rules):
            for inner in all_rules([rule]):
                yield from _unusable(f"{path}.{number}", inner, settings, root)
                if isinstance(inner, Prefixed):
                    yield from _bad_files(f"{path}.{number}", inner, files)


def chain_problems(settings: JobSettings, files: RuleFiles) -> Iterator[Problem]:
    """Problems that keep processors from working."""
    for chain in ChainName:
        for entry in settings.chains.of(chain):
            for fault in entry.faults(files.read_lines) if entry.enabled else ():
                yield Problem(f"chains.{chain}.{entry.label}", fault)


def scope_doubts(settings: JobSettings) -> Iterator[Problem]:
    """Rules that do less than the operator may think."""
    for number, rule in enumerate(settings.scope):
        for inner in all_rules([rule]):
            if inner.needs and inner.says is Decision.ACCEPT and not inner.parts:
                yield Problem(
                    f"scope.{number}",
                    message(
                        "assembly.rule-without-opinion-on-links",
                        "the rule `{label}` has no opinion when links are judged, only when the "
                        "scope is "
                        "asked again: it can keep URLs in the scope, but accepts no new ones",
                        label=inner.label,
                    ),
                )


def _places(settings: JobSettings) -> Iterator[tuple[str, Sequence[Rule], RulePlace]]:
    """Yield every list of rules, with its path and its place."""
    fetch = settings.chains.fetch
    rechecked = any(entry.enabled and entry.kind == "recheck-scope" for entry in fetch)
    yield "scope", settings.scope, RulePlace.RECHECK if rechecked else RulePlace.CANDIDATES
    yield "fetch.midfetch", settings.fetch.midfetch, RulePlace.MID_FETCH
    for number, association in enumerate(settings.sheet_associations):
        yield f"sheet_associations.{number}.rules", association.all_rules, RulePlace.CANDIDATES
    for chain in ChainName:
        entries = settings.chains.of(chain)
        for number, entry in enumerate(entries):
            if entry.gate:
                place = gate_place(chain, entries, number)
                yield f"chains.{chain}.{entry.label}.gate", entry.gate, place


def _unusable(path: str, rule: Rule, settings: JobSettings, root: Path) -> Iterator[Problem]:
    if isinstance(rule, GeoLocation):
        trouble = database_problem(root / rule.database)
        if trouble:
            yield Problem(path, trouble)
    if isinstance(rule, SourceSeed) and rule.seeds and not settings.engine.source_tags:
        yield Problem(
            path,
            message(
                "assembly.rule-source-seed-never-matches",
                "the rule `source-seed` never matches: URIs have no source tags",
            ),
            message("assembly.source-tags", "source tags"),
            "engine: {source_tags: true}",
        )


def _bad_files(path: str, rule: Prefixed, files: RuleFiles) -> Iterator[Problem]:
    for name in rule.files:
        try:
            readable(tuple(files.read_lines(name)))
        except OSError as error:
            reason = error.strerror or str(error)
            yield Problem(
                path,
                message(
                    "assembly.cannot-be-read",
                    "{name} cannot be read: {reason}",
                    name=name,
                    reason=reason,
                ),
                message("assembly.surt-prefix-a-line", "a file with one SURT prefix a line"),
            )
        except ValueError as error:
            yield Problem(path, _name_error(name, error))


def _name_error(name: str, error: Exception) -> str:
    return message("assembly.name-error", "{name}: {error}", name=name, error=error)


class RuleFindings(NamedTuple):
    """The problems of rule files, and remarks for the operator."""

    problems: list[Problem]
    warnings: list[Problem]


def examine_rule_files(settings: JobSettings, files: RuleFiles) -> RuleFindings:
    """Read every rule file that the scope and the normalizers name."""
    findings = RuleFindings([], [])
    for number, rule in enumerate(settings.scope):
        if isinstance(rule, FilterRule | NutchExempt):
            path = f"scope.{number}"
            try:
                filters = rule.filters(files.read_lines)
            except ConfigError as error:
                findings.problems.extend(_place_problems(path, error))
            else:
                notes = (note for url_filter in filters for note in url_filter.notes)
                findings.warnings.extend(note._replace(path=path) for note in notes)
    try:
        for chain in all_chains(settings.uri, files):
            for note in (note for regex in chain.regexes for note in regex.notes):
                placed = note._replace(path="uri.normalize")
                if placed not in findings.warnings:
                    findings.warnings.append(placed)
    except ConfigError as error:
        findings.problems.extend(_place_problems("uri.normalize", error))
    findings.problems.extend(_bad_precedences(settings, files))
    try:
        mime_rates(settings, files)
    except ConfigError as error:
        findings.problems.extend(error.problems)
    return findings


def mime_rates(settings: JobSettings, files: RuleFiles) -> dict[str, NutchRates]:
    """Rates by media type of the file that Nutch's schedules name; empty without one.

    Raises:
        ConfigError: It cannot be read.
    """
    schedule = settings.recrawl.schedule
    name = schedule.nutch.mime_file
    try:
        return dict(read_mime_rates("\n".join(files.read_lines(name)))) if name else {}
    except OSError as error:
        problem: str = message(
            "assembly.file-unreadable",
            "{name} cannot be read: {strerror}",
            name=name,
            strerror=error.strerror or error,
        )
    except ValueError as error:
        problem = f"{name}, {error}"
    raise ConfigError([Problem("recrawl.schedule.nutch.mime_file", problem)])


def _bad_precedences(settings: JobSettings, files: RuleFiles) -> list[Problem]:
    """What is wrong with the file of precedences."""
    choice = settings.frontier.uri_precedence
    try:
        if choice.file:
            Preloaded(Canonicalizer(()), files.read_lines).load(choice.file)
    except ConfigError as error:
        return list(_place_problems("frontier.uri_precedence.file", error))
    return []


def _place_problems(path: str, error: ConfigError) -> Iterator[Problem]:
    return (problem._replace(path=path) for problem in error.problems)
