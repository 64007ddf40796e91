"""What a job does not do as it is configured: fetch, write, follow redirects, find links.

Asked of the chains as they would be assembled, with their gates compiled, not of names: a gate that
always says REJECT is the same as a processor that is switched off.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.errors import Problem
from nacre.job.chain.entry import ChainName
from nacre.job.chain.soundness import gate_place
from nacre.job.configuration.settings import JobSettings
from nacre.job.seeding.seeds import Seed
from nacre.job.visit.preselect import preselection
from nacre.scope.compile import compile_gate
from nacre.scope.rule import Decision, Scope, Subject
from nacre.scope.state import ScopeState
from nacre.scope.subject import Place

_SEARCHES = ("html", "css", "javascript", "json", "xml", "sitemaps", "headers")
_NO_LINKS = "no links are taken from what is fetched"


class _Closed(NamedTuple):
    """Why an entry of a chain never does anything.

    Attributes:
        path: The setting.
        why: In words.
    """

    path: str
    why: str


def missing_effects(
    settings: JobSettings, scope: Scope, state: ScopeState, seeds: Sequence[Seed]
) -> list[Problem]:
    """What the job does not do that a crawl is for; nothing where a sheet may change it.

    Args:
        settings: The settings.
        scope: Their scope, built, with its seeds.
        state: What gates are built with.
        seeds: The first seeds.
    """
    found = [
        *_fetching(settings, scope, state, seeds),
        *_writing(settings, state),
        *_following(settings, state),
        *_extracting(settings, state),
    ]
    elsewhere = [path for sheet in settings.sheets.values() for path in sheet]
    return [one for one in found if not any(_concerns(path, one.path) for path in elsewhere)]


def _concerns(changed: str, path: str) -> bool:
    """Whether a setting of a sheet is the one that a note is about, or beside it in an entry."""
    entry = path.rpartition(".")[0] if path.startswith("chains.") else path
    return changed == path or (entry.count(".") > 1 and changed.startswith(f"{entry}."))


def _fetching(
    settings: JobSettings, scope: Scope, state: ScopeState, seeds: Sequence[Seed]
) -> Iterator[Problem]:
    for kind, lost in (
        ("fetch-http", "this job fetches nothing"),
        ("fetch-dns", "no name is looked up, so hosts with names are not fetched"),
    ):
        closed = _closed(settings, ChainName.FETCH, kind, state)
        if closed is not None:
            yield Problem(closed.path, f"{lost}: {closed.why}")
    gate = compile_gate(settings.fetch.midfetch, state, Place.MID_FETCH)
    if gate is not None and gate.scope.constant is Decision.REJECT:
        yield Problem("fetch.midfetch", "no body is fetched: its rules cut off every reply")
    yield from _blocked(settings, seeds)
    if seeds and _is_on(settings, "recheck-scope"):
        refused = [s for s in seeds if not scope.judge(_as_seed(s)).accepted]
        if len(refused) == len(seeds):
            yield Problem(
                "chains.fetch.recheck-scope",
                "this job fetches nothing: the scope is asked again before each fetch, and it "
                "refuses every seed",
            )


def _as_seed(seed: Seed) -> Subject:
    return Subject(seed.url, is_seed=True, seed=seed.text if seed.own else "")


def _is_on(settings: JobSettings, kind: str) -> bool:
    entries = settings.chains.of(ChainName.FETCH)
    return any(entry.kind == kind and entry.enabled for entry in entries)


def _blocked(settings: JobSettings, seeds: Sequence[Seed]) -> Iterator[Problem]:
    """Seeds that the first step lets go."""
    entries = [one for one in settings.chains.of(ChainName.FETCH) if one.enabled]
    blocks = preselection(entries)
    whys = {blocks.why(seed.url) for seed in seeds} if blocks is not None else {""}
    if blocks is not None and blocks.everything:
        whys = {"block_all"}
    if seeds and whys and "" not in whys:
        path = f"chains.fetch.preselect.{min(whys)}"
        yield Problem(path, "this job fetches nothing: it blocks every seed")


def _writing(settings: JobSettings, state: ScopeState) -> Iterator[Problem]:
    closed = _closed(settings, ChainName.DISPOSITION, "archive", state)
    if closed is not None:
        yield Problem(closed.path, f"this job writes no WARC: {closed.why}")


def _following(settings: JobSettings, state: ScopeState) -> Iterator[Problem]:
    closed = _closed(settings, ChainName.DISPOSITION, "candidates", state)
    if closed is not None:
        yield Problem(closed.path, f"this job follows no links and no redirects: {closed.why}")


def _extracting(settings: JobSettings, state: ScopeState) -> Iterator[Problem]:
    extract = settings.extract
    closed = _closed(settings, ChainName.FETCH, "extract", state)
    off = [name for name in _SEARCHES if not getattr(extract, f"extract_{name}")]
    if closed is not None:
        yield Problem(closed.path, f"{_NO_LINKS}, and no redirects are followed: {closed.why}")
    elif not extract.max_outlinks:
        yield Problem("extract.max_outlinks", f"{_NO_LINKS}, and no redirects are followed")
    elif not extract.max_document:
        yield Problem("extract.max_document", f"{_NO_LINKS}: it searches no document")
    elif len(off) == len(_SEARCHES):
        yield Problem("extract", f"{_NO_LINKS}, and no redirects are followed: all is off")
    else:
        if "headers" in off:
            yield Problem("extract.extract_headers", "no redirects are followed: it is off")
        if "html" in off:
            yield Problem("extract.extract_html", "no links are taken from web pages: it is off")


def _closed(
    settings: JobSettings, chain: ChainName, kind: str, state: ScopeState
) -> _Closed | None:
    """Why an entry never does anything; None where it may."""
    entries = settings.chains.of(chain)
    number = next((at for at, entry in enumerate(entries) if entry.kind == kind), None)
    if number is None:
        return _Closed(f"chains.{chain}", f"`{kind}` is not in the {chain} chain")
    entry = entries[number]
    path = f"chains.{chain}.{entry.label}"
    if not entry.enabled:
        return _Closed(f"{path}.enabled", f"`{entry.label}` is switched off")
    gate = compile_gate(entry.gate, state, gate_place(chain, entries, number))
    if gate is not None and gate.scope.constant is Decision.REJECT:
        return _Closed(f"{path}.gate", f"the gate of `{entry.label}` rejects everything")
    return None
