"""Sheets: settings that hold for some URIs only, and which sheets apply to a URI.

All SURT prefixes that match apply, the shortest first, then the rules in their order; for each
property the last value wins. A URI that is fetched because another one needs it (hop P) has the
sheets of that one. `examine_sheets` reads and checks the sheets of a job; `sheet_rows` and
`sheet_values` show them. Source: Heritrix 3, sheets.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.config.check import Loaded
from nacre.config.effective import Effective
from nacre.config.facts import value_at
from nacre.config.layer import assignment_layer
from nacre.config.registry import did_you_mean
from nacre.config.secret import masked
from nacre.config.sheet import Overlays, Sheet, check_sheet, flat
from nacre.core.crawluri import CrawlURI, Hop
from nacre.errors import ConfigError, JobError, Problem, URIError
from nacre.machine.local_files import read_ordinary
from nacre.messages import message
from nacre.scope.compile import compile_scope
from nacre.scope.scope import Scope
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings, SheetAssociation
from nacre.uri.surt import SurtPrefixSet, implied_prefix, scope_surt

_HOSTS = 65_536
_WEB = ("http://", "https://")

BASIS_VIA = "_sheets-via"
BASIS_CONTEXT = "_sheets-context"
BASIS_SEED = "_sheets-seed"
"""Heritable keys of a prerequisite: facts for rules about the URI that needs it."""
STOCK: Mapping[str, Mapping[str, object]] = {
    "veryPolite": {
        "politeness.delay_factor": 10.0,
        "politeness.min_delay": 10.0,
        "politeness.max_delay": 1000.0,
        "politeness.respect_crawl_delay_up_to": 3600.0,
    },
    "smallBudget": {"frontier.balance_replenish": 20, "frontier.queue_total_budget": 100},
    "highPrecedence": {
        "frontier.queue_precedence.base": 1,
        "frontier.uri_precedence": {"policy": "base", "base": 0},
    },
    "forceRetire": {"frontier.force_retire": True},
}
"""Sheets that may be named without being written; one of the same name in the file replaces its.

Heritrix ships the same sheets, but its highPrecedence sets a budget.
"""
_LONGEST = 256_000_000
"""Bytes of a file of prefixes."""


class Association(NamedTuple):
    """One of `sheet_associations`, with the prefixes of its file.

    Attributes:
        prefixes: SURT prefixes; empty for rules.
        settings: The settings of the configuration.
    """

    prefixes: Sequence[str]
    settings: SheetAssociation


class _ByRule(NamedTuple):
    scope: Scope
    sheets: tuple[str, ...]


class Sheets:
    """Gives each URI the number of the combination of sheets that applies to it.

    Args:
        overlays: The sheets and their combinations.
        state: State for rules besides their settings: seeds, directives.

    Attributes:
        overlays: As given.
        none: There are no associations, so the answer is always 0.
    """

    def __init__(self, overlays: Overlays[JobSettings], state: ScopeState) -> None:
        self.overlays = overlays
        self._state = state
        self.none = True
        self._prefixes = SurtPrefixSet(keep_all=True)
        self._named: dict[str, tuple[str, ...]] = {}
        self._rules: tuple[_ByRule, ...] = ()
        # Scheme and authority -> the number, or where paths matter the beginning of the SURT.
        self._hosts: dict[str, int | str] = {}
        self._folders: dict[str, int] = {}
        self._by_prefixes: dict[tuple[str, ...], int] = {(): 0}

    @property
    def settings(self) -> Effective[JobSettings]:
        """The settings under each combination."""
        return self.overlays.settings

    def replace(self, settings: JobSettings, sheet_list: "SheetList") -> None:
        """Let other settings, sheets and associations hold from now on."""
        self.overlays.replace(settings, sheet_list.sheets)
        self.associate(sheet_list.associations)

    def associate(self, associations: Iterable[Association]) -> None:
        """Use these associations from now on."""
        named: dict[str, tuple[str, ...]] = {}
        rules: list[tuple[int, _ByRule]] = []
        for prefixes, settings in associations:
            for text in prefixes:
                prefix = implied_prefix(text.lstrip("+"))
                named[prefix] = named.get(prefix, ()) + settings.sheets
            if settings.all_rules:
                scope = compile_scope(settings.all_rules, self._state)
                rules.append((settings.order, _ByRule(scope, settings.sheets)))
        self._named = named
        self._prefixes = SurtPrefixSet(sorted(named), keep_all=True)
        self._rules = tuple(rule for _, rule in sorted(rules, key=lambda item: item[0]))
        self._hosts.clear()
        self._folders.clear()
        self._by_prefixes = {(): 0}
        self.none = not named and not rules

    def inherited(self, uri: CrawlURI) -> dict[str, str]:
        """The facts that a prerequisite of a URI needs, so that the same sheets apply to it."""
        return basis_facts(uri) if self._rules else {}

    def overlay(self, subject: Subject) -> int:
        """Return the number for a URI that is not a prerequisite."""
        if self.none:
            return 0
        number = self._of_place(subject.url)
        return self._with_rules(number, subject) if self._rules else number

    def of(self, uri: CrawlURI) -> int:
        """Return the number for a URI of the frontier."""
        if self.none:
            return 0
        if not self._rules:
            return self._of_place(uri.via if uri.path[-1:] == Hop.PREREQUISITE else uri.url)
        return self.overlay(basis(uri))

    def of_url(self, url: str) -> int:
        """Return the number for a URL of which nothing else is known, also a `dns:` one."""
        if self.none:
            return 0
        return self.overlay(Subject(f"http://{url[4:]}/" if url.startswith("dns:") else url))

    def names(self, number: int) -> tuple[str, ...]:
        """Return the sheets of a combination, the strongest last."""
        return self.overlays.names(number)

    def _with_rules(self, number: int, subject: Subject) -> int:
        more: tuple[str, ...] = ()
        for scope, sheets in self._rules:
            if scope.decide(subject).accepted:
                more += sheets
        return self.overlays.number(self.overlays.names(number) + more) if more else number

    def _of_place(self, url: str) -> int:
        """Return the number that SURT prefixes give; most often the host alone decides."""
        end = url.find("/", 8)
        host_result = self._hosts.get(url[:end])
        if host_result is None:
            if end < 0 or not url.startswith(_WEB):
                return self._match(scope_surt(url))
            host_result = self._of_host(url[:end])
        if isinstance(host_result, int):
            return host_result
        return self._of_folder(url, host_result, end)

    def _of_folder(self, url: str, host: str, end: int) -> int:
        """Where paths matter, those of one folder mostly have the same answer."""
        cut = url.rfind("/") + 1
        number = self._folders.get(url[:cut])
        if number is None:
            folder = host + url[end:cut].lower()
            if self._prefixes.any_longer(folder):
                return self._match(host + url[end:].lower())
            if len(self._folders) >= _HOSTS:
                self._folders.clear()
            number = self._folders[url[:cut]] = self._match(folder)
        return number

    def _of_host(self, where: str) -> int | str:
        surt = scope_surt(where + "/")
        result = surt[:-1] if self._prefixes.any_longer(surt) else self._match(surt)
        if len(self._hosts) >= _HOSTS:
            self._hosts.clear()
        self._hosts[where] = result
        return result

    def _match(self, surt: str) -> int:
        prefixes = tuple(self._prefixes.all_matching(surt))
        number = self._by_prefixes.get(prefixes)
        if number is None:
            names = [name for prefix in prefixes for name in self._named[prefix]]
            number = self._by_prefixes[prefixes] = self.overlays.number(names)
        return number


def basis(uri: CrawlURI) -> Subject:
    """Return the subject of rules: the URI itself, or the URI that needs it."""
    if uri.path[-1:] != Hop.PREREQUISITE:
        return Subject(uri.url, uri.path, uri.via, uri.context, uri.is_seed, uri.source)
    heritable = uri.heritable
    return Subject(
        uri.via,
        uri.path[:-1],
        heritable.get(BASIS_VIA, ""),
        heritable.get(BASIS_CONTEXT, ""),
        BASIS_SEED in heritable or uri.path == Hop.PREREQUISITE,
        uri.source,
    )


def basis_facts(parent: CrawlURI) -> dict[str, str]:
    """Return the facts of the URI that needs a prerequisite, which remembers them for `basis`."""
    facts = {BASIS_VIA: parent.via, BASIS_CONTEXT: parent.context}
    if parent.is_seed:
        facts[BASIS_SEED] = "1"
    return {key: value for key, value in facts.items() if value}


class SheetList(NamedTuple):
    """The sheets of a job, those that come with Nacre included, and its associations."""

    sheets: Mapping[str, Sheet]
    associations: tuple[Association, ...]


def examine_sheets(settings: JobSettings, root: Path) -> tuple[SheetList, list[Problem]]:
    """Return the sheets and associations that are right, and a problem for all that is not.

    Args:
        settings: The job's.
        root: Its directory, for files of SURT prefixes.
    """
    problems: list[Problem] = []
    sheets: dict[str, Sheet] = {}
    used = {name for association in settings.sheet_associations for name in association.sheets}
    for name, tree in {**STOCK, **settings.sheets}.items():
        sheets[name], sheet_problems = check_sheet(name, tree, settings)
        problems += sheet_problems if name in settings.sheets or name in used else []
    associations: list[Association] = []
    for number, sheet_association in enumerate(settings.sheet_associations):
        path = f"sheet_associations.{number}"
        problems += _unknown(path, sheet_association.sheets, sheets)
        prefixes, sheet_problems = _prefixes(sheet_association.surts_file, root, path)
        problems += sheet_problems
        associations.append(Association((*sheet_association.surts, *prefixes), sheet_association))
    return SheetList(sheets, tuple(associations)), problems


def values_of_path(
    settings: JobSettings, sheets: Mapping[str, Sheet], path: str
) -> dict[str, object]:
    """Return the values that a setting has: in the job, and in each sheet that sets it.

    Args:
        settings: Of the job.
        sheets: Its sheets, checked.
        path: The setting.

    Returns:
        The values by their paths, such as `sheets.app.browser.use`; that of the job first.
    """
    values: dict[str, object] = {path: value_at(settings, path)}
    for name, sheet in sheets.items():
        if path in sheet.values:
            values[f"sheets.{name}.{path}"] = sheet.values[path]
    return values


def sheet_list(settings: JobSettings, root: Path) -> SheetList:
    """As `examine_sheets`, of settings that must be right.

    Raises:
        ConfigError: They are not.
    """
    sheets, problems = examine_sheets(settings, root)
    if problems:
        raise ConfigError(problems)
    return sheets


def make_sheets(settings: JobSettings, lists: SheetList, state: ScopeState) -> Sheets:
    """Make the sheets and associations of a job ready for use."""
    sheets = Sheets(Overlays(settings, lists.sheets), state)
    sheets.associate(lists.associations)
    return sheets


def sheet_problems(loaded: Loaded[JobSettings], root: Path) -> list[Problem]:
    """Return the problems of a job's sheets, each with its place."""
    result = []
    for problem in examine_sheets(loaded.settings, root)[1]:
        place = loaded.place(problem.path)
        placed = problem.file or not place.file
        result.append(problem if placed else problem._replace(file=place.file, line=place.line))
    return result


def _unknown(path: str, names: tuple[str, ...], sheets: Mapping[str, Sheet]) -> Iterator[Problem]:
    for name in names:
        if name not in sheets:
            near = difflib.get_close_matches(name, sheets, n=1, cutoff=0.6)
            names_hint = message(
                "settings.processor-names", "known are {names}", names=", ".join(sheets)
            )
            hint = did_you_mean(near[0]) if near else names_hint
            yield Problem(
                f"{path}.sheets",
                message(
                    "settings.no-sheet-of-name",
                    "there is no sheet {name!r}; {hint}",
                    name=name,
                    hint=hint,
                ),
            )


def _prefixes(file: str, root: Path, path: str) -> tuple[list[str], list[Problem]]:
    """Return the prefixes of a file, and its lines that are none."""
    if not file:
        return [], []
    try:
        lines = read_ordinary(root / file, _LONGEST).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or message(
            "settings.not-utf-8-text", "it is not UTF-8"
        )
        wrong = Problem(
            f"{path}.surts_file",
            message(
                "settings.cannot-be-read-2",
                "{file} cannot be read: {reason}",
                file=file,
                reason=reason,
            ),
            message("settings.surt-prefixes", "SURT prefixes"),
        )
        return [], [wrong]
    prefixes: list[str] = []
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        text = line.partition(" #")[0].strip().removeprefix("\ufeff")
        if not text or text.startswith("#"):
            continue
        try:
            implied_prefix(text.lstrip("+"))
        except URIError as error:
            problems.append(Problem("", f"{text[:200]!r}: {error}", "", "", file, number))
        else:
            prefixes.append(text)
    return prefixes, problems


class SheetRow(msgspec.Struct, frozen=True, rename={"uses": "for"}):
    """A sheet in a list.

    Attributes:
        sheet: Its name.
        settings: Number of its settings.
        uses: The URIs that it applies to: SURT prefixes, and rules in words.
    """

    sheet: str
    settings: int
    uses: list[str]


def sheet_rows(settings: JobSettings) -> list[SheetRow]:
    """Return all sheets, those that come with Nacre first."""
    return [
        SheetRow(name, len(flat(tree, settings)), _uses(settings, name))
        for name, tree in {**STOCK, **settings.sheets}.items()
    ]


def sheet_values(settings: JobSettings, name: str) -> dict[str, Any]:
    """Return the settings of a sheet, and its purpose.

    Raises:
        JobError: There is none of that name.
    """
    every = {**STOCK, **settings.sheets}
    if name not in every:
        raise JobError(
            message(
                "settings.no-sheet",
                "there is no sheet {name!r}; there are {names}",
                name=name,
                names=", ".join(every),
            )
        )
    values = masked(flat(every[name], settings))
    return {**values, "for": ", ".join(_uses(settings, name)) or "nothing"}


def _uses(settings: JobSettings, name: str) -> list[str]:
    uses: list[str] = []
    for association in settings.sheet_associations:
        if name in association.sheets:
            uses += association.surts
            if file := association.surts_file:
                text = message("settings.prefixes-of", "the prefixes of {file}", file=file)
                uses.append(text)
            uses += [f"rule {rule.label}" for rule in association.all_rules]
    return uses


def association_tree(
    names: Sequence[str], surts: Sequence[str], rule: str, order: int
) -> dict[str, Any]:
    """Return the associations of sheets with prefixes, or a rule in YAML.

    Raises:
        ConfigError: The rule is not YAML.
    """
    tree: dict[str, Any] = {"sheets": list(names)}
    if surts:
        tree["surts"] = list(surts)
    if rule:
        layer = assignment_layer([f"rule={rule}"])
        if layer.problems:
            raise ConfigError(layer.problems)
        tree["rule"] = layer.tree["rule"]
    return tree | ({"order": order} if order else {})
