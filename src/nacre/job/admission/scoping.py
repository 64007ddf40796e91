"""The scope of a job: what its rules are given of files, databases and logs."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nacre.errors import Problem
from nacre.job.admission.geo import database_problem, open_countries
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.chain.entry import ChainName
from nacre.job.chain.soundness import gate_place
from nacre.job.configuration.settings import JobSettings
from nacre.scope.addressrules import GeoLocation
from nacre.scope.compile import all_rules, misplaced
from nacre.scope.decide import Rule
from nacre.scope.rule import Decision
from nacre.scope.seedrules import SourceSeed
from nacre.scope.state import ScopeState
from nacre.scope.subject import Place
from nacre.scope.surtrules import RUN_ID, Prefixed, readable
from nacre.scope.watch import Logged, Write
from nacre.store.seam import Disk
from nacre.store.writer import write_whole
from nacre.uri.surt import surt_authority


def _unwritten(_: Logged) -> None:
    """Who only asks writes nothing."""


def scope_state(
    root: Path,
    files: RuleFiles,
    *,
    queue_of: Callable[[str], str] = surt_authority,
    write: Write = _unwritten,
) -> ScopeState:
    """A state whose rules can read the files of a job.

    Args:
        root: Directory of the job.
        files: Reads rule files.
        queue_of: The queue key of a URL.
        write: Writes decisions down.
    """
    return ScopeState(
        read_lines=files.read_lines,
        countries=lambda name: open_countries(root / name),
        queue_of=queue_of,
        write=write,
    )


def dump_prefixes(state: ScopeState, disk: Disk, root: Path, run: str) -> None:
    """Write the files that rules want their SURT prefixes in.

    Raises:
        StorageError: One cannot be written.
    """
    for dump in state.dumps:
        path = root / dump.file.replace(RUN_ID, f"runs/{run}")
        disk.makedirs(str(path.parent))
        write_whole(disk, str(path), "".join(f"{line}\n" for line in dump.lines()).encode())


# ---- the check

_RECHECK = "; `chains.fetch.recheck-scope.enabled: true` asks the scope again, with the address"


def scope_problems(settings: JobSettings, root: Path, files: RuleFiles) -> Iterator[Problem]:
    """What keeps the rules of a job from working where they stand."""
    for path, rules, place in _places(settings):
        for number, message in misplaced(rules, place):
            hint = _RECHECK if place is Place.CANDIDATES and path == "scope" else ""
            yield Problem(f"{path}.{number}", message + hint)
        for number, rule in enumerate(rules):
            for inner in all_rules([rule]):
                yield from _unusable(f"{path}.{number}", inner, settings, root)
                if isinstance(inner, Prefixed):
                    yield from _bad_files(f"{path}.{number}", inner, files)


def chain_problems(settings: JobSettings, files: RuleFiles) -> Iterator[Problem]:
    """What keeps processors from working."""
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
                    f"the rule `{inner.label}` is silent while links are judged, and speaks only "
                    "when the scope is asked again: it can let nothing in, only keep it in",
                )


def _places(settings: JobSettings) -> Iterator[tuple[str, Sequence[Rule], Place]]:
    """Every list of rules, with its path and where it is asked."""
    fetch = settings.chains.fetch
    rechecked = any(entry.enabled and entry.kind == "recheck-scope" for entry in fetch)
    yield "scope", settings.scope, Place.RECHECK if rechecked else Place.CANDIDATES
    yield "fetch.midfetch", settings.fetch.midfetch, Place.MID_FETCH
    for number, association in enumerate(settings.sheet_associations):
        yield f"sheet_associations.{number}.rules", association.all_rules, Place.CANDIDATES
    for chain in ChainName:
        entries = settings.chains.of(chain)
        for number, entry in enumerate(entries):
            if entry.gate:
                place = gate_place(chain, entries, number)
                yield f"chains.{chain}.{entry.label}.gate", entry.gate, place


def _unusable(path: str, rule: Rule, settings: JobSettings, root: Path) -> Iterator[Problem]:
    if isinstance(rule, GeoLocation):
        message = database_problem(root / rule.database)
        if message:
            yield Problem(path, message)
    if isinstance(rule, SourceSeed) and rule.seeds and not settings.engine.source_tags:
        yield Problem(
            path,
            "the rule `source-seed` never matches: URIs have no source tags",
            "source tags",
            "engine: {source_tags: true}",
        )


def _bad_files(path: str, rule: Prefixed, files: RuleFiles) -> Iterator[Problem]:
    for name in rule.files:
        try:
            readable(tuple(files.read_lines(name)))
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"{name} cannot be read: {reason}"
            yield Problem(path, message, "a file with one SURT prefix a line")
        except ValueError as error:
            yield Problem(path, f"{name}: {error}")
