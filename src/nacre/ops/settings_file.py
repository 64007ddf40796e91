"""The settings file of a job: its text, its findings, its versions, and saving another text.

Texts come and go without their secrets (`editing.secrets`).
"""

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.util import load_yaml_guess_indent

from nacre.config.document import read_yaml
from nacre.config.facts import choices_of, fields, required, type_at
from nacre.config.findings import typed
from nacre.config.secret import masked
from nacre.editing.file_settings import changed_files, for_admins, has_settings
from nacre.editing.findings import CheckLevel, TextFinding, TextFindings, find_in_text
from nacre.editing.places import described_at, heritrix_of
from nacre.editing.secrets import marks_in, with_secrets, without_secrets
from nacre.errors import ConfigError, Problem
from nacre.job.apply_change import alone
from nacre.job.control import is_running
from nacre.job.edits import (
    ConfigEdit,
    TextBefore,
    changed_lines,
    edit_list,
    note_edit,
    overwrite_text,
    read_config,
    read_edit,
)
from nacre.machine.layout import Layout
from nacre.machine.local_files import replace_file
from nacre.messages import message
from nacre.runs.manifest import effective
from nacre.settings.layers import job_layers
from nacre.settings.load import examine_job, examine_text
from nacre.settings.named_settings import secret_files
from nacre.settings.secret_places import moved_secrets, secret_places
from nacre.settings.settings import JobSettings

_AGAIN: Final = message(
    "ops.secret-again", "these settings without a problem, or the secret entered again"
)


class ConfigVersion(msgspec.Struct, frozen=True):
    """The file of a job without its secrets.

    Attributes:
        text: Its text, with a mark in place of each secret.
        etag: Changes with each version.
    """

    text: str
    etag: str


class CheckRequest(msgspec.Struct, frozen=True):
    """A text to be checked.

    Attributes:
        text: The text; None for the saved text.
        has_job: There is a job; else only the text is checked.
        thorough: Look up names on the network, too.
        files: The requester may name files.
    """

    text: str | None = None
    has_job: bool = True
    thorough: bool = False
    files: bool = False


class SaveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Another text of a job.

    Attributes:
        text: The text.
        version: Take the text of this version instead; 0 for none.
        etag: ETag of the version that the text is based on; "*" for any.
        force: Save it even if it has problems.
        user: The requester, for the history; "" if not known.
        why: The reason, for the history; "" for none.
        files: The requester may name files.
        admin: The requester is an administrator: secrets from files and variables may be sent to
            other places.
    """

    text: str = ""
    version: int = 0
    etag: str = "*"
    force: bool = False
    user: str = ""
    why: str = ""
    files: bool = False
    admin: bool = False


class SaveResult(msgspec.Struct, frozen=True):
    """The result of saving a text.

    Attributes:
        outcome: `saved`; `same`, if nothing differs; `changed`, if the file has another ETag;
            `running`, if the job runs; or `problems`.
        etag: ETag of the file now.
        text: If the outcome is `changed`: the text of the file.
        number: Number of the version that was saved; 0 for none.
        findings: The findings of the text, if it was saved or has problems.
        difference: The lines that were removed and added.
    """

    outcome: Literal["saved", "same", "changed", "running", "problems"]
    etag: str = ""
    text: str = ""
    number: int = 0
    findings: TextFindings | None = None
    difference: tuple[str, ...] = ()


class StoredVersion(msgspec.Struct, frozen=True):
    """A version of the file, with its text without secrets."""

    edit: ConfigEdit
    text: str


class FormattedYaml(msgspec.Struct, frozen=True):
    """A text in the style of new jobs; or the problems for which it cannot be read."""

    text: str = ""
    problems: tuple[Problem, ...] = ()


class EffectiveSetting(msgspec.Struct, frozen=True):
    """A setting as it holds.

    Attributes:
        path: Its path.
        value: Its value; of a secret its reference.
        origin: The origin of the value: `default`, `file crawl.yaml:12` and so on.
    """

    path: str
    value: Any
    origin: str


class EffectiveValues(msgspec.Struct, frozen=True):
    """All settings of a job as they hold; or the problems for which they cannot be read."""

    items: tuple[EffectiveSetting, ...] = ()
    problems: tuple[Problem, ...] = ()


class SettingFacts(msgspec.Struct, frozen=True):
    """The facts about a setting or a section.

    Attributes:
        path: Its path.
        kind: `setting` or `section`.
        doc: Its meaning.
        type: Its type; "" for a section.
        unit: Its unit; "" for none.
        default: Its default; null for none.
        required: It must be given.
        sample: A good value; "" if the default is a good value.
        choices: The values that it may have, if only some are possible.
        live: A running job can take another value.
        sheets: A sheet can change it.
        heritrix: Heritrix's names for it.
        settings: Of a section: the paths of its settings.
    """

    path: str
    kind: str
    doc: str = ""
    type: str = ""
    unit: str = ""
    default: Any = None
    required: bool = False
    sample: str = ""
    choices: tuple[str, ...] = ()
    live: bool = False
    sheets: bool = False
    heritrix: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


# ---- reading


def read_version(layout: Layout) -> ConfigVersion:
    """Read the file as it is.

    Raises:
        JobError: It cannot be read.
    """
    raw = read_config(layout.config).decode("utf-8", "replace")
    text = without_secrets(raw).text
    # Not of the text itself, from which a short secret could be guessed.
    facts = f"{layout.config.stat().st_mtime_ns} {text}"
    return ConfigVersion(text, hashlib.sha256(facts.encode()).hexdigest()[:32])


def list_closed_files(layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield device and inode of each file of a job that is closed to all users.

    These are the files of secrets and cookies, and files of settings whose names do not say so:
    secrets are removed from `.yaml` alone.
    """
    layers = job_layers(layout) if layout.config.exists() else []
    named = list(secret_files(layers, layout.root))
    places = {place.file for layer in layers for place in layer.places.values()}
    named += [layout.root / file for file in places if file and not has_settings(file)]
    for path in named:
        with suppress(OSError, ValueError):
            facts = path.stat()
            yield facts.st_dev, facts.st_ino


def find_problems(layout: Layout, request: CheckRequest) -> TextFindings:
    """Find the problems and warnings of a text."""
    saved = read_version(layout).text if request.has_job else ""
    text = saved if request.text is None else request.text
    refused = [] if request.files else changed_files(saved, text)
    if refused:
        return _refused(text, refused)
    return find_in_text(text, layout if request.has_job else None, thorough=request.thorough)


def _refused(text: str, paths: list[str]) -> TextFindings:
    """The findings of a text that names files which the requester may not name."""
    places = read_yaml(text, "crawl.yaml").places
    return _at_settings(
        TextFinding(
            message=for_admins(path).message, level=CheckLevel.SETTINGS, path=path,
            line=places[path].line if path in places else 0,
        )
        for path in paths
    )  # fmt: skip


def _findings(problems: Iterable[Problem]) -> TextFindings:
    return _at_settings(
        TextFinding(
            message=problem.message, level=CheckLevel.SETTINGS, expected=problem.expected,
            sample=problem.sample, line=problem.line, column=1 if problem.line else 0,
        )
        for problem in problems
    )  # fmt: skip


def _at_settings(findings: Iterable[TextFinding]) -> TextFindings:
    problems = tuple(findings)
    lights = {"text": 0, "settings": len(problems), "whole": -1}
    return TextFindings(problems=problems, warnings=(), lights=lights)


def format_text(text: str) -> FormattedYaml:
    """Return a text in the style of new jobs; comments stay."""
    problems = read_yaml(text, "crawl.yaml").problems
    if problems:
        return FormattedYaml(problems=tuple(problems))
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    tree, _indent, _offset = load_yaml_guess_indent(text, yaml=yaml)
    yaml.indent(mapping=2, sequence=4, offset=2)
    if not isinstance(tree, dict) or not tree:
        return FormattedYaml(text)
    out = io.StringIO()
    yaml.dump(tree, out)
    formatted = out.getvalue()
    same = read_yaml(formatted, "crawl.yaml").tree == read_yaml(text, "crawl.yaml").tree
    return FormattedYaml(formatted if same else text)


def read_effective(layout: Layout) -> EffectiveValues:
    """Return each setting of a job as it holds, with its origin."""
    loaded, problems = examine_job(layout)
    if loaded is None:
        return EffectiveValues(problems=tuple(problems))
    values = effective(loaded.settings, loaded.origin)
    items = ((path, _json(setting)) for path, setting in values.items())
    return EffectiveValues(
        tuple(EffectiveSetting(path, item["value"], item["origin"]) for path, item in items)
    )


def _json(value: object) -> Any:  # noqa: ANN401 - JSON
    return msgspec.json.decode(msgspec.json.encode(masked(value), enc_hook=str))


def setting_facts(path: str) -> SettingFacts | None:
    """Return the facts about a setting or a section; None if there is none of this path."""
    parts = tuple(path.split("."))
    described = described_at(parts, {})
    if described is None:
        return None
    facts = described.facts
    section = SettingFacts(
        path, described.kind, described.doc,
        heritrix=tuple(described.heritrix or heritrix_of(path)),
        settings=tuple(
            field.path for field in fields(JobSettings) if field.path.startswith(f"{path}.")
        ),
    )  # fmt: skip
    if facts is None:
        return section
    return msgspec.structs.replace(
        section, type=typed(facts), unit=facts.unit, sample=facts.sample, live=facts.live,
        sheets=facts.sheets, required=required(facts),
        default=None if required(facts) else _json(facts.default),
        choices=tuple(choices_of(type_at(JobSettings, parts, None))),
    )  # fmt: skip


# ---- writing


def save_config(layout: Layout, request: SaveRequest) -> SaveResult:
    """Write another text of a job that does not run.

    Raises:
        JobError: There is no job, or a file cannot be read or written.
    """
    layout.require()
    with alone(layout):
        now = read_version(layout)
        if request.etag not in {"*", now.etag}:
            return SaveResult("changed", now.etag, now.text)
        if is_running(layout.socket):
            return SaveResult("running")
        return _save(layout, request, now)


def _save(layout: Layout, request: SaveRequest, now: ConfigVersion) -> SaveResult:
    before = read_config(layout.config)
    raw = before.decode("utf-8", "replace")
    source = "console"
    if request.version:
        source, full = "restore", read_edit(layout, request.version)[1]
        text = without_secrets(full).text
    else:
        text = _with_line_ends_of(request.text, raw)
        try:
            full = with_secrets(text, raw)
        except ConfigError as error:
            return SaveResult("problems", findings=_findings(error.problems))
    if full == raw:
        return SaveResult("same", now.etag)
    refused = [] if request.files else changed_files(raw, full)
    moved = [] if refused else _moved(layout, raw, full, request)
    if not moved and not request.version:
        moved = _unbound(layout, without_secrets(raw).text, text)
    if moved:
        return SaveResult("problems", findings=_findings(moved))
    findings = _refused(text, refused) if refused else find_in_text(text, layout)
    if findings.problems and (refused or not request.force):
        return SaveResult("problems", findings=findings)
    text_before = TextBefore(before, layout.config.stat().st_mtime)
    overwrite_text(layout.config.resolve(), full)
    note_edit(layout, text_before, request.user, request.why, source)
    after, number = read_version(layout), edit_list(layout)[-1].number
    difference = tuple(changed_lines(now.text, after.text))
    return SaveResult("saved", after.etag, "", number, findings, difference)


def put_config(layout: Layout, request: SaveRequest) -> SaveResult:
    """Write the text of a job that does not run and may have no text yet, also with problems.

    Args:
        layout: The job.
        request: The text, based on any version.
    """
    if layout.config.exists():
        forced = msgspec.structs.replace(request, etag="*", force=True, why="")
        result = save_config(layout, forced)
        if result.outcome == "same":
            layout.config.touch()  # beside beans it is the newer one now, which holds
        return result
    try:
        full = with_secrets(request.text, "")
    except ConfigError as error:
        return SaveResult("problems", findings=_findings(error.problems))
    refused = [] if request.files else changed_files("", request.text)
    if refused:
        return SaveResult("problems", findings=_refused(request.text, refused))
    replace_file(layout.config, full.encode())
    return SaveResult("saved")


def _moved(layout: Layout, before: str, text: str, request: SaveRequest) -> list[Problem]:
    """A problem for each secret that a text sends to another server than the saved text."""
    loaded, _ = examine_text(layout, text)
    if loaded is None or not secret_places(loaded.settings):
        return []
    old, _ = examine_text(layout, before)
    problems = moved_secrets(
        old.settings if old is not None else None, loaded.settings,
        strict=not (request.files or request.version), references=not request.admin,
    )  # fmt: skip
    return [
        problem._replace(file="crawl.yaml", line=loaded.origin(problem.path).line)
        for problem in problems
    ]


def _unbound(layout: Layout, facts: str, text: str) -> list[Problem]:
    """A problem for each mark of a text whose recipient can be read in one of two texts alone.

    Invalid settings have no recipient: a user who saves them, and repairs them later, would have
    a hidden secret sent elsewhere in two steps.

    Args:
        layout: The job.
        facts: The saved text, with marks in place of its secrets.
        text: The text that was sent, with the same marks.
    """
    before, after = (_readable_marks(layout, version) for version in (facts, text))
    return [_unclear_recipient(mark) for mark in sorted(marks_in(text) & (before ^ after))]


def _unclear_recipient(mark: str) -> Problem:
    text = message(
        "ops.secret-destination-unclear",
        "{mark} is a secret, and a problem of the settings around it hides where it is sent",
        mark=mark,
    )
    return Problem("", text, _AGAIN, "password: {env: SITE_PASSWORD}")


def _readable_marks(layout: Layout, text: str) -> frozenset[str]:
    """The marks that stand for a secret whose recipient is known."""
    loaded, _ = examine_text(layout, text)
    places = secret_places(loaded.settings) if loaded is not None else []
    return frozenset(mark for place in places for mark in marks_in(place.secret.text))


def _with_line_ends_of(text: str, saved: str) -> str:
    """Return the text of a form, which has the line ends of browsers, with those of the file."""
    plain = text.replace("\r\n", "\n")
    return plain.replace("\n", "\r\n") if "\r\n" in saved else plain


# ---- versions


def list_versions(layout: Layout) -> list[ConfigEdit]:
    """Return the versions of the file, the newest first, without their digests."""
    layout.require()
    versions = [msgspec.structs.replace(version, digest="") for version in edit_list(layout)]
    return versions[::-1]


def get_version(layout: Layout, number: int) -> StoredVersion | None:
    """Return a version with its text; None if there is none of this number."""
    layout.require()
    if all(version.number != number for version in edit_list(layout)):
        return None
    edit, text = read_edit(layout, number)
    return StoredVersion(msgspec.structs.replace(edit, digest=""), without_secrets(text).text)
