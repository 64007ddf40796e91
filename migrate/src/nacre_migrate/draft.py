"""A draft of the new job: settings with the reason for each, seeds, files to copy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from nacre.assembly.rules import draft_rules
from nacre.config.check import load_partly
from nacre.config.document import yaml_text
from nacre.config.layer import Layer
from nacre.errors import JobError
from nacre.job.checks import missing_effects
from nacre.machine.layout import SEEDS, Layout
from nacre.machine.local_files import read_ordinary
from nacre.scope.scope import Scope
from nacre.settings.new_job import require_no_job, separate_logins
from nacre.settings.settings import JobSettings
from nacre_migrate.report import Flag, MigrationOutcome, MigrationReport

REPORT = "migration"
"""Name of the report, which is written as `.txt` and as `.json`."""

_LONGEST = 1_000_000_000
"""Bytes of a file that is copied into the job."""

_HEADER = """\
# A job of Nacre, made from a configuration of {source}. What is not said here has its default.
#   nacre check DIR     every problem at once
#   nacre run DIR       crawl
# The outcome of each property of the input: migration.txt, migration.json
# All settings: reference/settings.md of the documentation (nacre help docs)

"""


class CommentedMapping(dict[str, Any]):
    """A mapping in a setting, with a comment for some of its keys.

    Attributes:
        reasons: The comments.
    """

    def __init__(self, values: Mapping[str, Any], reasons: Mapping[str, str]) -> None:
        super().__init__(values)
        self.reasons = dict(reasons)


@dataclass
class Draft:
    """The draft of the new job.

    Attributes:
        settings: Values by dotted path.
        reasons: A comment for each path that has one.
        seeds: Lines of the seed list, comments included.
        files: Files to copy into the job: their names there, and where they are.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)

    def put(self, path: str, value: Any, reason: str = "") -> None:  # noqa: ANN401 - as in YAML
        """Set a value; a later one wins."""
        self.settings[path] = value
        self.reasons[path] = reason

    def value(self, path: str, default: object = None) -> object:
        """The value of a setting; `default` where the job does not say it."""
        return self.settings.get(path, default)

    def leave_out(self, path: str) -> None:
        """Take a setting out, if it is there: Nacre's default holds."""
        self.settings.pop(path, None)

    def copy_file(self, name: str, path: Path) -> None:
        """Copy a file into the job under a name."""
        self.files[name] = path

    def sort(self, place: Callable[[str], int]) -> None:
        """Put the settings in the order of a number for each path."""
        self.settings = {path: self.settings[path] for path in sorted(self.settings, key=place)}

    def yaml(self, source: str) -> str:
        """The text of `crawl.yaml`."""
        return _HEADER.format(source=source) + yaml_text(self._tree())

    def tree(self) -> dict[str, Any]:
        """The settings as a configuration has them."""
        root: dict[str, Any] = {}
        for path, value in self.settings.items():
            *sections, name = path.split(".")
            node = root
            for section in sections:
                node = node.setdefault(section, {})
            node[name] = value
        return root

    def _tree(self) -> CommentedMap:
        root = CommentedMap()
        for path, value in self.settings.items():
            *sections, name = path.split(".")
            node = root
            for section in sections:
                node = node.setdefault(section, CommentedMap())
            node[name] = _commented(value, 2 * len(path.split(".")))
            reason = " ".join(self.reasons.get(path, "").split())
            if reason and isinstance(value, list | Mapping):
                node.yaml_set_comment_before_after_key(
                    name, before=reason, indent=2 * len(sections)
                )
            elif reason:
                node.yaml_add_eol_comment(reason, name)
        return root


def _commented(value: Any, indent: int) -> Any:  # noqa: ANN401 - as in YAML
    """The value with the comments in it as YAML has them.

    Args:
        value: A value of a setting.
        indent: Column of its content.
    """
    if isinstance(value, list | tuple):
        return _commented_list(value, indent)
    if not isinstance(value, dict):
        return value
    node = CommentedMap({key: _commented(item, indent + 2) for key, item in value.items()})
    first = next(iter(node), None)
    for key, reason in getattr(value, "reasons", {}).items():
        if not isinstance(value[key], list | tuple | dict):
            node.yaml_add_eol_comment(reason, key)
        elif key != first:
            node.yaml_set_comment_before_after_key(key, before=reason, indent=indent)
    return node


def _commented_list(value: Sequence[Any], indent: int) -> CommentedSeq:
    """A list; the comment of a mapping that begins with a list comes before the mapping."""
    node = CommentedSeq(_commented(item, indent + 2) for item in value)
    for place, item in enumerate(value):
        first = next(iter(item), None) if isinstance(item, dict) else None
        reason = getattr(item, "reasons", {}).get(first)
        if reason and isinstance(item[first], list | tuple | dict):
            node.yaml_set_comment_before_after_key(place, before=reason, indent=indent)
    return node


def settle(draft: Draft, report: MigrationReport) -> None:
    """Take out what Nacre does not accept, and flag the properties that said it."""
    for _ in range(len(draft.settings)):
        _, problems = load_partly(JobSettings, [Layer("option", _elsewhere(draft.tree()))])
        unwanted = {path: fault for fault in problems if (path := _setting_of(draft, fault.path))}
        if not unwanted:
            return
        for path, problem in unwanted.items():
            del draft.settings[path]
            _flag(report, path, f"left out: {problem.message}")


def require_seeds(draft: Draft, report: MigrationReport) -> None:
    """Put a comment into a list without seeds; the job does not start without them."""
    if not any(line and not line.startswith(("#", "+", "-")) for line in draft.seeds):
        draft.seeds.append("# There were no seeds: put yours here, one URL a line.")
        report.advice.append("Put your seeds into seeds.txt, one URL a line: there are none yet.")


def advise_of_effects(draft: Draft, report: MigrationReport) -> None:
    """Add advice on purposes of a crawl that the job does not serve."""
    loaded, _ = load_partly(JobSettings, [Layer("option", _elsewhere(draft.tree()))])
    if loaded is None:
        return
    for effect in missing_effects(draft_rules(loaded.settings), Scope(()), ()):
        report.advice.append(f"{effect.path}: {effect.message}")


def _elsewhere(value: Any) -> Any:  # noqa: ANN401 - as in YAML
    """Settings without references to the environment, which is another one where the job runs."""
    if isinstance(value, dict):
        plain = {key: _elsewhere(item) for key, item in value.items()}
        return "set elsewhere" if [*plain] == ["env"] else plain
    return [_elsewhere(item) for item in value] if isinstance(value, list) else value


def _flag(report: MigrationReport, path: str, note: str) -> None:
    for place, finding in enumerate(report.findings):
        if finding.outcome is MigrationOutcome.MAPPED and path in finding.target.split(", "):
            report.findings[place] = finding._replace(
                outcome=MigrationOutcome.FLAGGED, flag=Flag.CHECK, note=note
            )


def _setting_of(draft: Draft, problem: str) -> str:
    """The setting that a problem is about: itself, or the last one of a component; "" for none."""
    for path in draft.settings:
        if problem == path or problem.startswith(f"{path}."):
            return path
    return next((path for path in reversed(draft.settings) if path.startswith(f"{problem}.")), "")


def write_job(directory: Path, draft: Draft, report: MigrationReport) -> None:
    """Write a new job, and the report into its directory.

    Raises:
        JobError: There is a job already, or the directory cannot be written.
    """
    layout = Layout(directory)
    require_no_job(layout, "--out")
    logins = separate_logins(draft.seeds)
    if logins.credentials:
        credentials = draft.settings.get("fetch.credentials", ())
        draft.settings["fetch.credentials"] = [*credentials, *logins.written()]
    try:
        layout.root.mkdir(parents=True, exist_ok=True)
        for name, source in draft.files.items():
            (layout.root / name).parent.mkdir(parents=True, exist_ok=True)
            (layout.root / name).write_bytes(read_ordinary(source, _LONGEST))
        (layout.root / SEEDS).write_text("".join(f"{line}\n" for line in logins.lines), "utf-8")
        logins.write(layout.root)
        (layout.root / f"{REPORT}.txt").write_text(report.text(), "utf-8")
        (layout.root / f"{REPORT}.json").write_text(report.json_text(), "utf-8")
        layout.config.write_text(draft.yaml(report.source), "utf-8")
    except OSError as error:
        raise JobError(f"{layout.root} cannot be written: {error.strerror}") from error
