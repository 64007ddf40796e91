"""The compiled rules of a job: for a run, the check, dry runs, explain and timetables.

`open_rules` is the one way to a scope, to gates and to sheets.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from nacre.config.effective import Effective
from nacre.engine.candidates.scope_state import RuleFiles, scope_state
from nacre.engine.chain.entry import ChainName
from nacre.engine.chain.plan import entry_gate
from nacre.scope.compile import compile_gate, compile_scope
from nacre.scope.scope import Gate, Logged, Scope
from nacre.scope.seeds import Entry, Seed, SeedDirective
from nacre.scope.state import ScopeState
from nacre.scope.subject import RulePlace
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import SheetList, Sheets, make_sheets, sheet_list
from nacre.uri.surt import surt_authority


@dataclass(frozen=True)
class JobRules:
    """The rules of a job: sheets, scope, and the settings of each URI.

    Attributes:
        effective: The settings under each combination of sheets.
        sheets: Which combination applies to a URI.
        scope_state: State of the rules besides their settings: seeds, directives.
        rule_files: Reads the files that rules name.
    """

    effective: Effective[JobSettings]
    sheets: Sheets
    scope_state: ScopeState
    rule_files: RuleFiles

    @property
    def settings(self) -> JobSettings:
        """The settings without any sheet, as they hold now."""
        return self.effective[0]

    def add_seeds(self, entries: Iterable[Entry]) -> list[Seed]:
        """Add the seeds and directives of a seed list to the rules; return its seeds.

        A run does that by its seed book, which remembers them.
        """
        entry_list, state = list(entries), self.scope_state
        seeds = [entry for entry in entry_list if isinstance(entry, Seed)]
        state.add_seeds([seed.text for seed in seeds if seed.own is None])
        for seed in seeds:
            if seed.own is not None:
                state.add_seed(seed.text, seed.own, seed.owner)
        state.add_directives(entry.text for entry in entry_list if isinstance(entry, SeedDirective))
        return seeds

    def scope(self) -> Effective[Scope]:
        """Return the scope, compiled under each combination of sheets."""
        rules = self.effective.then(lambda s: s.scope)
        return rules.then(lambda listed: compile_scope(listed, self.scope_state))

    def scope_at_recheck(self) -> Effective[Scope]:
        """Return the same with the rules that need the address of the server."""
        offers = RulePlace.RECHECK.offers
        rules = self.effective.then(lambda s: s.scope)
        return rules.then(lambda listed: compile_scope(listed, self.scope_state, offers))

    def midfetch(self) -> Effective[Gate | None]:
        """Return the gate between the head and the body of a reply."""
        place = RulePlace.MID_FETCH
        rules = self.effective.then(lambda s: s.fetch.midfetch)
        return rules.then(lambda listed: compile_gate(listed, self.scope_state, place))

    def gate(self, chain: ChainName, number: int) -> Gate | bool:
        """Return the gate of an entry of a chain, without any sheet; see `entry_gate`."""
        chains = self.settings.chains
        return entry_gate(chain, chains.of(chain), number, self.scope_state)


def _unwritten(_: Logged) -> None:
    """Decisions are written down by a run alone."""


def open_rules(
    settings: JobSettings,
    root: Path,
    *,
    sheets_checked: SheetList | None = None,
    queue_of: Callable[[str], str] = surt_authority,
    write: Callable[[Logged], None] = _unwritten,
) -> JobRules:
    """Return the rules of a job, without its seeds: see `JobRules.add_seeds` and `SeedBook.load`.

    Args:
        settings: The settings of the job.
        root: Its directory.
        sheets_checked: Its sheets and associations; None: those of the settings, which must be
            valid.
        queue_of: The queue key of a URL.
        write: Writes decisions of rules down.

    Raises:
        ConfigError: A file that sheets or rules name cannot be read.
    """
    files = RuleFiles(root)
    state = scope_state(root, files, queue_of=queue_of, write=write)
    sheets = make_sheets(settings, sheets_checked or sheet_list(settings, root), state)
    return JobRules(sheets.settings, sheets, state, files)


def draft_rules(settings: JobSettings) -> JobRules:
    """Return the rules of a job that is still to be written: without sheets, each file empty."""
    state = ScopeState(read_lines=lambda _: [])
    sheets = make_sheets(settings, SheetList({}, ()), state)
    return JobRules(sheets.settings, sheets, state, RuleFiles(Path()))
