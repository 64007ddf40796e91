"""A job in the making: settings with the reason for each, seeds, files to copy."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from nacre.config.check import load_partly
from nacre.config.layer import Layer
from nacre.errors import JobError
from nacre.job.configure import require_no_job
from nacre.job.layout import SEEDS, Layout
from nacre.job.settings import JobSettings
from nacre.migrate.report import Flag, Outcome, Report

REPORT = "migration"
"""Name of the report, which is written as `.txt` and as `.json`."""

_HEADER = """\
# A job of Nacre, made from a configuration of {source}. What is not said here has its default.
#   nacre check DIR     every problem at once
#   nacre run DIR       crawl
# What became of each property of the input: migration.txt, migration.json
# All settings: docs/reference/settings.md

"""


@dataclass
class Draft:
    """What the new job will say.

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

    def yaml(self, source: str) -> str:
        """The text of `crawl.yaml`."""
        buffer = io.StringIO()
        yaml = YAML()
        yaml.indent(mapping=2, sequence=4, offset=2)
        yaml.width = 4096
        yaml.dump(self._tree(), buffer)
        return _HEADER.format(source=source) + buffer.getvalue()

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
            node[name] = value
            reason = " ".join(self.reasons.get(path, "").split())
            if reason and isinstance(value, list | Mapping):
                node.yaml_set_comment_before_after_key(
                    name, before=reason, indent=2 * len(sections)
                )
            elif reason:
                node.yaml_add_eol_comment(reason, name)
        return root


def settle(draft: Draft, report: Report) -> None:
    """Take out what Nacre does not accept, and flag the properties that said it."""
    _, problems = load_partly(JobSettings, [Layer("option", draft.tree())])
    for problem in problems:
        path = next((path for path in draft.settings if _covers(path, problem.path)), "")
        if not path:
            continue
        del draft.settings[path]
        for place, finding in enumerate(report.findings):
            if finding.outcome is Outcome.MAPPED and path in finding.target.split(", "):
                report.findings[place] = finding._replace(
                    outcome=Outcome.FLAGGED, flag=Flag.CHECK, note=f"left out: {problem.message}"
                )


def _covers(path: str, problem: str) -> bool:
    return problem == path or problem.startswith(f"{path}.")


def write_job(directory: Path, draft: Draft, report: Report) -> None:
    """Write a new job and the report beside it.

    Raises:
        JobError: There is a job already, or the directory cannot be written.
    """
    layout = Layout(directory)
    require_no_job(layout)
    try:
        layout.root.mkdir(parents=True, exist_ok=True)
        for name, source in draft.files.items():
            (layout.root / name).parent.mkdir(parents=True, exist_ok=True)
            (layout.root / name).write_bytes(source.read_bytes())
        (layout.root / SEEDS).write_text("".join(f"{line}\n" for line in draft.seeds), "utf-8")
        (layout.root / f"{REPORT}.txt").write_text(report.text(), "utf-8")
        (layout.root / f"{REPORT}.json").write_text(report.json_text(), "utf-8")
        layout.config.write_text(draft.yaml(report.source), "utf-8")
    except OSError as error:
        raise JobError(f"{layout.root} cannot be written: {error.strerror}") from error
