"""Changes of a job's settings, checked before anything happens.

`SettingsEditor` collects values, sheets and associations. `require_buildable` builds what the new
settings lead to once, apart from the job. `count_affected` counts the queued URIs they touch.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel

from nacre.assembly.rules import open_rules
from nacre.config.facts import no_such_setting
from nacre.config.layer import assignment_layer
from nacre.config.place import InvalidValuesError, UnknownPropertyError, find, index_of, with_values
from nacre.config.registry import did_you_mean
from nacre.config.secret import Secret, masked
from nacre.config.sheet import check_values, suggestion
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.errors import ConfigError, NacreError, Problem
from nacre.frontier.pending import pending
from nacre.frontier.rows import RowStore
from nacre.job.checks import unusable_browser_files
from nacre.messages import SEMICOLON, join, message
from nacre.settings.amend import REMOVED, Edit
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import STOCK, SheetList, Sheets, sheet_list

_SHEETS = "sheets."
_CHAINS = "chains."
_ASSOCIATIONS = "sheet_associations"

FIXED = {
    "name": message("job.name-in-files", "files and reports of the run carry it"),
    "recrawl": message("job.planner-of-run-began", "the planner of the run began with it"),
    "change": message("job.judge-of-run-began", "the judge of the run began with it"),
    "browser": message("job.browser-of-run-began", "the browser of the run began with it"),
    "seeds": message(
        "job.seeds-at-start",
        "the seeds were entered when the run began; bring others in by `nacre frontier DIR "
        "import`, or put them into a new job",
    ),
    "scope": message("job.paths-and-logs-name-rule", "paths and logs name the rule by it"),
    "politeness": message(
        "job.shared-state-fixed", "the state that jobs share was opened at the start"
    ),
    "uri": message(
        "job.keys-of-all-uris-seen", "the keys of all URIs seen so far were made with it"
    ),
    "engine": message("job.lines-of-logs-were-begun", "the lines of the logs were begun with it"),
    "frontier": message("job.memory-was-laid-out", "memory was laid out for it at the start"),
    "cookies": message("job.cookie-jar-fixed", "the jar was made with it"),
    "chains": message(
        "job.chains-were-put-together",
        "the chains were assembled with it. `enabled`, gates and the settings of the "
        "entries can be changed",
    ),
    "archive": message("job.open-warc-files-were-begun", "the open WARC files were begun with it"),
    "store": message("job.store-was-opened", "the store was opened with it"),
    "extract": message(
        "job.guesses-fixed",
        "the results of guesses since the start depend on it",
    ),
    "metrics": message("job.port-was-opened", "the port was opened with it"),
    "cycle": message(
        "job.steps-of-batch-rounds-read", "the steps of batch rounds read it when they begin"
    ),
}
"""Why settings that a running job cannot change cannot be changed, by section."""
STEP = 1000
"""URIs between two chances for other work."""


class ValueChange(NamedTuple):
    """One value before and after; None for a value that was not there, or is not any more."""

    path: str
    before: object
    after: object


class SettingsChange(NamedTuple):
    """A checked change.

    Attributes:
        settings: The settings with it.
        sheets: Their sheets and associations.
        values: Description of the change, for the log.
        edits: The same for the text of `crawl.yaml`.
    """

    settings: JobSettings
    sheets: SheetList
    values: tuple[ValueChange, ...]
    edits: tuple[Edit, ...]


class SettingsEditor:
    """Collects changes of settings, each checked at once.

    Args:
        settings: The current settings.
        root: Directory of the job, for files that settings name.
        running: The job runs: then some settings cannot be changed.
    """

    def __init__(self, settings: JobSettings, root: Path, *, running: bool) -> None:
        self.settings = settings
        self._root = root
        self._running = running
        self._values: list[ValueChange] = []
        self._edits: list[Edit] = []

    def finish(self) -> SettingsChange:
        """All of it, checked together.

        Raises:
            ConfigError: The sheets or their associations are wrong.
        """
        checked = sheet_list(self.settings, self._root)
        return SettingsChange(self.settings, checked, tuple(self._values), tuple(self._edits))

    def assign(self, assignments: Iterable[str]) -> None:
        """Take `path=value` texts.

        Raises:
            ConfigError: A path leads nowhere or cannot be changed now, or a value is wrong.
        """
        layer = assignment_layer(assignments, "nacre set")
        problems = list(layer.problems)
        for path in layer.places:
            value = _at(layer.tree, path)
            try:
                self.put(path, value)
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)

    def put(self, path: str, value: object) -> None:
        """Give one setting, or one setting of a sheet (`sheets.NAME.PATH`), another value.

        Raises:
            ConfigError: See `assign`.
        """
        if path.startswith(_SHEETS):
            self._put_in_sheet(path, value)
            return
        place = self._find_setting(path)
        if self._running and not place.live:
            raise ConfigError([Problem(path, why_fixed(path))])
        problems = list(check_values(self.settings, {path: value}))
        if problems:
            raise ConfigError(problems)
        self.settings = changed = with_values(self.settings, {path: value})
        edit = self._edit(path, value)
        after = find(changed, path).value
        _require_no_plain_secret(path, value, masked(value, path))
        self._values.append(ValueChange(path, plain(place.value), plain(after)))
        self._edits.append(edit)

    def remove_sheet(self, name: str) -> None:
        """Take a sheet away.

        Raises:
            ConfigError: There is none, or URIs are associated with it.
        """
        if name not in self.settings.sheets:
            reason = (
                message("job.shipped", "it comes with Nacre")
                if name in STOCK
                else self._unknown(name)
            )
            raise ConfigError(
                [
                    Problem(
                        f"sheets.{name}",
                        message("job.cannot-be-removed", "cannot be removed: {why}", why=reason),
                    )
                ]
            )
        users = [n for n, a in enumerate(self.settings.sheet_associations) if name in a.sheets]
        if users and name not in STOCK:
            where = ", ".join(f"{_ASSOCIATIONS}.{number}" for number in users)
            text = message(
                "job.uris-are-associated",
                "URIs are associated with it ({where}); `nacre sheet JOB dissociate {name}`",
                where=where,
                name=name,
            )
            raise ConfigError([Problem(f"sheets.{name}", text)])
        sheets = dict(self.settings.sheets)
        before = sheets.pop(name)
        self._set_sheets(sheets)
        self._values.append(ValueChange(f"sheets.{name}", masked(before), None))
        self._edits.append(Edit(("sheets", name), REMOVED))

    def associate(self, association: dict[str, object]) -> None:
        """Add an association, as `sheet_associations` would say it.

        Raises:
            ConfigError: It is wrong.
        """
        listed = [*self._associations(), association]
        self._set_associations(listed)
        number = len(listed) - 1
        self._values.append(ValueChange(f"{_ASSOCIATIONS}.{number}", None, association))
        self._edits.append(Edit((_ASSOCIATIONS, number), association, listed))

    def dissociate(self, name: str, surts: Sequence[str] = ()) -> None:
        """Take a sheet off all URIs that it is associated with, or off some prefixes only.

        Raises:
            ConfigError: It is associated with none of them.
        """
        listed = self._associations()
        edits_before = len(self._edits)
        for number in range(len(listed) - 1, -1, -1):
            old = listed[number]
            if name not in old["sheets"]:
                continue
            new = _without(old, name, surts)
            if new == old:
                continue
            listed[number : number + 1] = [] if new is None else [new]
            self._values.append(ValueChange(f"{_ASSOCIATIONS}.{number}", old, new))
            value = REMOVED if new is None else new
            self._edits.append(Edit((_ASSOCIATIONS, number), value, list(listed)))
        if len(self._edits) == edits_before:
            raise ConfigError(
                [
                    Problem(
                        _ASSOCIATIONS,
                        message(
                            "job.no-such-uris-have-sheet",
                            "no such URIs have the sheet {name!r}",
                            name=name,
                        ),
                    )
                ]
            )
        self._set_associations(listed)

    def sheet_for(self, url: str) -> str:
        """The sheet of one place alone; made, and associated with it, when there is none."""
        for association in self.settings.sheet_associations:
            if (
                association.surts == (url,)
                and len(association.sheets) == 1
                and association.sheets[0] not in STOCK
            ):
                return association.sheets[0]
        letters = "".join(c if c.isalnum() else "-" for c in url.partition("://")[2] or url)
        name = base = f"for-{letters.strip('-')[:60]}"
        number = 1
        while name in self.settings.sheets:
            number += 1
            name = f"{base}-{number}"
        self._set_sheets({**self.settings.sheets, name: {}})
        self.associate({"surts": [url], "sheets": [name]})
        return name

    # ---- parts

    def _put_in_sheet(self, path: str, value: object) -> None:
        name, _, inner = path.removeprefix(_SHEETS).partition(".")
        if not inner:
            sample = f"{path}.politeness.delay=5"
            raise ConfigError(
                [
                    Problem(
                        path,
                        message(
                            "job.sheet-by-settings",
                            "a sheet is changed by its settings",
                        ),
                        "",
                        sample,
                    )
                ]
            )
        sheets = self.settings.sheets
        if name not in sheets and name in STOCK:
            tree: dict[str, Any] = dict(STOCK[name])
        else:
            tree = _copied(sheets.get(name, {}))
        before = masked(_take_value(tree, inner), inner)
        _require_no_plain_secret(path, value, masked(value, inner))
        tree[inner] = value
        changed = {**sheets, name: tree}
        whole = None if name in self.settings.sheets else changed
        stock = name in STOCK and name not in self.settings.sheets
        self._set_sheets(changed)
        sheet_list(self.settings, self._root)
        self._values.append(ValueChange(path, before, value))
        edit = (
            Edit(("sheets", name), tree)
            if stock
            else Edit(("sheets", name, *inner.split(".")), value)
        )
        self._edits.append(edit._replace(around=whole))

    def _set_sheets(self, sheets: dict[str, dict[str, Any]]) -> None:
        self.settings = with_values(self.settings, {"sheets": sheets})

    def _associations(self) -> list[dict[str, Any]]:
        listed = self.settings.sheet_associations
        return [plain(association) for association in listed]

    def _set_associations(self, listed: Sequence[dict[str, Any]]) -> None:
        try:
            self.settings = with_values(self.settings, {_ASSOCIATIONS: list(listed)})
        except InvalidValuesError as error:
            raise ConfigError([Problem(path, text) for path, text, _ in error.items]) from None

    def _find_setting(self, path: str) -> Any:  # noqa: ANN401 - see config.place
        try:
            return find(self.settings, path)
        except UnknownPropertyError as error:
            hint = suggestion(error, self.settings, path)
            raise ConfigError([no_such_setting(path, hint)]) from None

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.settings.sheets, n=1)
        if not near:
            return message("job.no-such-sheet", "no such sheet")
        none = message("job.no-sheet", "there is no such sheet")
        return join((none, did_you_mean(near[0])), *SEMICOLON)

    def _edit(self, path: str, value: object) -> Edit:
        """Write lists as a whole if the file has none: they cannot be written in part.

        Entries of chains are identified by their names.
        """
        if path.startswith(_CHAINS):
            return Edit(tuple(path.split(".")), value)
        parts: list[str | int] = []
        here: object = self.settings
        around = None
        for part in path.split("."):
            at = index_of(here, part) if isinstance(here, tuple) else None
            if isinstance(here, tuple) and at is not None:
                parts.append(at)
                here = here[at]
            else:
                parts.append(part)
                here = getattr(here, part, None)
            if (
                isinstance(here, tuple)
                and here
                and isinstance(here[0], BaseModel)
                and around is None
            ):
                around = plain(here) if len(parts) == 1 else None
        return Edit(tuple(parts), value, around)


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """A value as the file would say it."""
    if isinstance(value, BaseModel):
        return {
            name: plain(getattr(value, name))
            for name, info in type(value).model_fields.items()
            if name in ("rule", "processor") or name in value.model_fields_set or info.is_required()
        }
    if isinstance(value, Secret):
        return value.as_setting()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value.value if hasattr(value, "value") else value


def _require_no_plain_secret(path: str, value: object, masked_value: object) -> None:
    """What is set is written to `crawl.yaml`, where a secret has no place."""
    if masked_value != value:
        raise ConfigError(
            [
                Problem(
                    path,
                    message(
                        "job.holds-secret",
                        "holds a secret, which would be written to crawl.yaml in plain text",
                    ),
                    message(
                        "job.reference-env", "a reference: `{{env: NAME}}` or `{{file: PATH}}`"
                    ),
                )
            ]
        )


def why_fixed(path: str) -> str:
    """The reason why a running job cannot change a setting, with the remedy."""
    reason = FIXED.get(
        path.partition(".")[0], message("job.read-at-start", "it is read at the start")
    )
    return message(
        "job.fixed-while-running",
        "cannot be changed while the job runs: {why}. Stop the job, repeat the change, and "
        "resume with `nacre run JOB`",
        why=reason,
    )


def _at(tree: Any, path: str) -> object:  # noqa: ANN401 - YAML
    for part in path.split("."):
        tree = tree[part]
    return tree


def _copied(tree: dict[str, Any]) -> dict[str, Any]:
    return {k: _copied(v) if isinstance(v, dict) else v for k, v in tree.items()}


def _take_value(tree: dict[str, Any], path: str) -> object:
    """Take the value of a path out of a sheet, nested or dotted; None when it says nothing."""
    if path in tree:
        return tree.pop(path)
    for key, below in tree.items():
        if isinstance(below, dict) and path.startswith(key + "."):
            return _take_value(below, path[len(key) + 1 :])
    return None


def _without(association: dict[str, Any], name: str, surts: Sequence[str]) -> dict[str, Any] | None:
    """An association without a sheet, or without some prefixes; None when nothing is left."""
    if not surts:
        sheets = [sheet for sheet in association["sheets"] if sheet != name]
        return {**association, "sheets": sheets} if sheets else None
    prefixes = [text for text in association.get("surts", ()) if text not in surts]
    if prefixes or "surts" not in association:
        return {**association, "surts": prefixes} if "surts" in association else association
    return None


def require_buildable(settings: JobSettings, sheets: SheetList, root: Path) -> None:
    """Build the scope and the gate at mid-fetch, of the job and of each sheet, as a run does.

    Lists of blocked requests and site scripts are read, too.

    Raises:
        ConfigError: A rule cannot be built: a file that it names cannot be read, or is wrong.
    """
    with _as_problem("scope"):
        rules = open_rules(settings, root, sheets_checked=sheets)
        for name in sheets.sheets:
            rules.sheets.overlays.number([name])
        rules.scope()
    with _as_problem("fetch.midfetch"):
        rules.midfetch()
    if problems := [*unusable_browser_files(settings, sheets.sheets, RuleFiles(root), root)]:
        raise ConfigError(problems)


@contextmanager
def _as_problem(path: str) -> Iterator[None]:
    """What fails in the block becomes a problem of a setting."""
    try:
        yield
    except OSError as error:
        text = message(
            "job.file-cannot-be-read",
            "{filename} cannot be read: {strerror}",
            filename=error.filename or "a file",
            strerror=error.strerror or error,
        )
        raise ConfigError([Problem(path, text)]) from error
    except (NacreError, ValueError) as error:
        raise ConfigError([Problem(path, str(error))]) from error


class AffectedUrls(msgspec.Struct):
    """The queued URIs that a change affects.

    Attributes:
        urls: Queued URIs for which a setting would be another.
        queues: Queues that hold such URIs.
        pending: All queued URIs.
        examples: The first of those URLs.
    """

    urls: int = 0
    queues: int = 0
    pending: int = 0
    examples: list[str] = []


def count_affected(
    rows: RowStore, now: Sheets, then: Sheets, most: int = 5
) -> Iterator[AffectedUrls]:
    """Count; yield the counts so far after every thousand URIs, and all counts at the end.

    Args:
        rows: The store.
        now: What applies.
        then: What would apply.
        most: Examples kept.
    """
    result = AffectedUrls()
    queues: set[str] = set()
    differs: dict[tuple[int, int], bool] = {}
    for entry in pending(rows):
        uri = entry.uri
        pair = now.of(uri), then.of(uri)
        if pair not in differs:
            differs[pair] = _without_sheets(now, pair[0]) != _without_sheets(then, pair[1])
        result.pending += 1
        if differs[pair]:
            result.urls += 1
            result.queues += uri.queue not in queues
            queues.add(uri.queue)
            if len(result.examples) < most:
                result.examples.append(uri.url)
        if result.pending % STEP == 0:
            yield result
    yield result


def _without_sheets(sheets: Sheets, overlay: int) -> JobSettings:
    """The settings under a combination; the list of all sheets itself concerns no URI."""
    none: dict[str, object] = {"sheets": {}, "sheet_associations": ()}
    return sheets.overlays.settings[overlay].model_copy(update=none)
