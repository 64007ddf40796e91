"""Tasks of reader processes for those who edit a job: its text, its findings, its versions.

Texts come and go without their secrets (`editing.secrets`).
"""

import io
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.util import load_yaml_guess_indent

from nacre.config.document import read_yaml
from nacre.config.facts import choices_of, fields, required, type_at
from nacre.config.findings import typed
from nacre.config.secret import masked
from nacre.core.message_data import to_builtins
from nacre.editing.complete import complete
from nacre.editing.file_settings import changed_files, for_admins, has_settings
from nacre.editing.findings import TextFindings, find_in_text
from nacre.editing.hover import hover
from nacre.editing.places import described_at, heritrix_of
from nacre.editing.secrets import marks_in, with_secrets, without_secrets
from nacre.errors import ConfigError, Problem
from nacre.job.apply_change import alone
from nacre.job.control import is_running
from nacre.job.edits import (
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
from nacre.ops.settings import ConfigVersion, read_version
from nacre.ops.settings import settings_schema as ops_settings_schema
from nacre.runs.manifest import effective
from nacre.settings.layers import job_layers
from nacre.settings.load import examine_job, examine_text
from nacre.settings.named_settings import secret_files
from nacre.settings.secret_places import moved_secrets, secret_places
from nacre.settings.settings import JobSettings

Arguments = Mapping[str, Any]
_UNBOUND: Final = Problem(
    "",
    message(
        "console.secret-destination-unclear",
        "is a secret, and a problem of the settings around it hides where it is sent",
    ),
    message(
        "console.secret-again", "these settings without a problem, or the secret entered again"
    ),
    "password: {env: SITE_PASSWORD}",
)


def config_text(layout: Layout, _: Arguments) -> dict[str, Any]:
    """The file of a job, and its ETag."""
    layout.require()
    return dict(to_builtins(read_version(layout)))


def shown_text(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """Any text of settings without its secrets: `text`."""
    return {"text": without_secrets(str(arguments["text"])).text}


def closed_files(layout: Layout, _: Arguments) -> list[list[int]]:
    """The files of a job that nobody is shown, by device and inode.

    Those of secrets and cookies, and files of settings whose names do not say so: secrets are taken
    out of `.yaml` alone.
    """
    layers = job_layers(layout) if layout.config.exists() else []
    named = list(secret_files(layers, layout.root))
    places = {place.file for layer in layers for place in layer.places.values()}
    named += [layout.root / file for file in places if file and not has_settings(file)]
    files = []
    for path in named:
        with suppress(OSError, ValueError):
            facts = path.stat()
            files.append([facts.st_dev, facts.st_ino])
    return files


def find_problems(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """The findings of a text.

    Args:
        layout: The job.
        arguments: `text`: the text, None for the saved one; `has_job`: whether there is one;
            `thorough`: ask the network too; `files`: the asker may name files.
    """
    has_job = bool(arguments.get("has_job", True))
    text_sent = arguments.get("text")
    saved = read_version(layout).text if has_job else ""
    text = saved if text_sent is None else str(text_sent)
    refused = [] if arguments.get("files") else changed_files(saved, text)
    if refused:
        return dict(to_builtins(_refused(text, refused)))
    thorough = bool(arguments.get("thorough"))
    findings = find_in_text(text, layout if has_job else None, thorough=thorough)
    return dict(to_builtins(findings))


def _refused(text: str, paths: list[str]) -> TextFindings:
    """The findings of a text that names files which the asker may not name."""
    places = read_yaml(text, "crawl.yaml").places
    problems = [
        {"message": for_admins(path).message, "path": path, "level": "settings"}
        | ({"line": places[path].line} if path in places else {})
        for path in paths
    ]
    lights = {"text": 0, "settings": len(paths), "whole": -1}
    return msgspec.convert({"problems": problems, "warnings": [], "lights": lights}, TextFindings)


def complete_text(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """Completions: `text`, `offset`."""
    result = complete(str(arguments["text"]), int(arguments["offset"]))
    return dict(to_builtins(result))


def hover_text(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """The meaning of a word: `text`, `offset`."""
    return dict(to_builtins(hover(str(arguments["text"]), int(arguments["offset"]))))


def format_text(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """The text in the style of new jobs, comments kept: `text`."""
    text = str(arguments["text"])
    problems = read_yaml(text, "crawl.yaml").problems
    if problems:
        return {"problems": [problem._asdict() for problem in problems]}
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    tree, _indent, _offset = load_yaml_guess_indent(text, yaml=yaml)
    yaml.indent(mapping=2, sequence=4, offset=2)
    if not isinstance(tree, dict) or not tree:
        return {"text": text}
    out = io.StringIO()
    yaml.dump(tree, out)
    formatted = out.getvalue()
    same = read_yaml(formatted, "crawl.yaml").tree == read_yaml(text, "crawl.yaml").tree
    return {"text": formatted if same else text}


def effective_settings(layout: Layout, _: Arguments) -> dict[str, Any]:
    """Each setting as it holds, with its origin."""
    loaded, problems = examine_job(layout)
    if loaded is None:
        return {"problems": [problem._asdict() for problem in problems]}
    values = effective(loaded.settings, loaded.origin)
    return {"values": {path: _json(setting) for path, setting in values.items()}}


def _json(value: object) -> Any:  # noqa: ANN401 - JSON
    return msgspec.json.decode(msgspec.json.encode(masked(value), enc_hook=str))


# ---- writing


def save_config(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Write another text of a job that does not run.

    Args:
        layout: The job.
        arguments: `text`; `etag` that it is based on, "*" for any; `force`: also with problems;
            `who` and `why`; `files`: the asker may name files; `admin`: they are an administrator,
            who may have secrets of files and variables sent elsewhere; `version`: take the text of
            that version instead.

    Returns:
        `outcome`: `saved`, `same`, `changed` (with the version that there is), `running`, or
        `problems` (with `findings`).
    """
    layout.require()
    with alone(layout):
        now = read_version(layout)
        if arguments["etag"] not in {"*", now.etag}:
            return {"outcome": "changed", **to_builtins(now)}
        if is_running(layout.socket):
            return {"outcome": "running"}
        return _saved(layout, arguments, now)


def _saved(layout: Layout, arguments: Arguments, now: ConfigVersion) -> dict[str, Any]:
    before = read_config(layout.config)
    raw = before.decode("utf-8", "replace")
    source = "console"
    if arguments.get("version"):
        source, full = "restore", read_edit(layout, int(arguments["version"]))[1]
        text = without_secrets(full).text
    else:
        text = _as_lines_end(str(arguments["text"]), raw)
        try:
            full = with_secrets(text, raw)
        except ConfigError as error:
            return {"outcome": "problems", "findings": _as_findings(error.problems)}
    if full == raw:
        return {"outcome": "same", "etag": now.etag}
    refused = [] if arguments.get("files") else changed_files(raw, full)
    moved = [] if refused else _moved(layout, raw, full, arguments)
    if not moved and not arguments.get("version"):
        moved = _unbound(layout, without_secrets(raw).text, text)
    if moved:
        return {"outcome": "problems", "findings": _as_findings(tuple(moved))}
    findings_of_text = _refused(text, refused) if refused else find_in_text(text, layout)
    if findings_of_text.problems and (refused or not arguments.get("force")):
        return {"outcome": "problems", "findings": to_builtins(findings_of_text)}
    overwrite_text(layout.config.resolve(), full)
    user, reason = str(arguments.get("who", "")), str(arguments.get("why", ""))
    note_edit(layout, before, user, reason, source)
    edits = edit_list(layout)
    findings = to_builtins(findings_of_text)
    after = read_version(layout)
    return {
        "outcome": "saved", "etag": after.etag, "number": edits[-1].number, "findings": findings,
        "difference": changed_lines(now.text, after.text),
    }  # fmt: skip


def put_config(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """Write the text of a job that does not run and may have none yet, also one with problems.

    Args:
        layout: The job.
        arguments: `text`; `who`; `files`: the asker may name files; `admin`: see `save_config`.

    Returns:
        What `save_config` returns.
    """
    request = {**arguments, "etag": "*", "force": True, "why": ""}
    if layout.config.exists():
        answer = save_config(layout, request)
        if answer["outcome"] == "same":
            layout.config.touch()  # beside beans it is the newer one now, which holds
        return answer
    text = str(arguments["text"])
    try:
        full = with_secrets(text, "")
    except ConfigError as error:
        return {"outcome": "problems", "findings": _as_findings(error.problems)}
    refused = [] if arguments.get("files") else changed_files("", text)
    if refused:
        return {"outcome": "problems", "findings": to_builtins(_refused(text, refused))}
    replace_file(layout.config, full.encode())
    return {"outcome": "saved"}


def _moved(layout: Layout, before: str, text: str, arguments: Arguments) -> list[Problem]:
    """A problem for each secret that a text sends to another server than the saved text."""
    loaded, _ = examine_text(layout, text)
    if loaded is None or not secret_places(loaded.settings):
        return []
    old, _ = examine_text(layout, before)
    problems = moved_secrets(
        old.settings if old is not None else None, loaded.settings,
        strict=not (arguments.get("files") or arguments.get("version")),
        references=not arguments.get("admin"),
    )  # fmt: skip
    return [
        problem._replace(file="crawl.yaml", line=loaded.origin(problem.path).line)
        for problem in problems
    ]


def _unbound(layout: Layout, facts: str, text: str) -> list[Problem]:
    """A problem for each mark of a text whose recipient can be read in one of two texts alone.

    Settings that are no valid ones have no recipient: who saves them, and repairs them later, would
    have a hidden secret sent elsewhere in two steps.

    Args:
        layout: The job.
        facts: The saved text, with marks in place of its secrets.
        text: The text that was sent, with the same marks.
    """
    before, after = (_readable_marks(layout, version) for version in (facts, text))
    return [_UNBOUND._replace(message=f"{mark} {_UNBOUND.message}")
            for mark in sorted(marks_in(text) & (before ^ after))]  # fmt: skip


def _readable_marks(layout: Layout, text: str) -> frozenset[str]:
    """The marks that stand for a secret whose recipient is known."""
    loaded, _ = examine_text(layout, text)
    places = secret_places(loaded.settings) if loaded is not None else []
    return frozenset(mark for place in places for mark in marks_in(place.secret.text))


def _as_lines_end(text: str, saved: str) -> str:
    """A text of a form, whose lines end as browsers end them, with those of the file."""
    plain = text.replace("\r\n", "\n")
    return plain.replace("\n", "\r\n") if "\r\n" in saved else plain


def _as_findings(problems: tuple[Problem, ...]) -> dict[str, Any]:
    problem_items = [
        {
            "message": problem.message, "expected": problem.expected, "sample": problem.sample,
            "level": "settings", "line": problem.line, "column": 1 if problem.line else 0,
        }
        for problem in problems
    ]  # fmt: skip
    lights = {"text": 0, "settings": len(problem_items), "whole": -1}
    findings = msgspec.convert(
        {"problems": problem_items, "warnings": [], "lights": lights}, TextFindings
    )
    return dict(to_builtins(findings))


# ---- versions


def edit_versions(layout: Layout, _: Arguments) -> list[dict[str, Any]]:
    """The versions of the file, the newest first, without their digests."""
    layout.require()
    versions = [msgspec.structs.replace(version, digest="") for version in edit_list(layout)]
    return [dict(to_builtins(version)) for version in reversed(versions)]


def edit_version(layout: Layout, arguments: Arguments) -> dict[str, Any]:
    """A version with its text: `number`; empty if there is none."""
    layout.require()
    number = int(arguments["number"])
    if all(version.number != number for version in edit_list(layout)):
        return {}
    edit, text = read_edit(layout, number)
    public = msgspec.structs.replace(edit, digest="")
    return {"edit": to_builtins(public), "text": without_secrets(text).text}


# ---- what can be said


def settings_schema(_: Layout, __: Arguments) -> dict[str, Any]:
    """The JSON Schema, with what plug-ins add."""
    return ops_settings_schema()


def setting_facts(_: Layout, arguments: Arguments) -> dict[str, Any]:
    """The facts about a setting or a section: `path`; empty if there is none."""
    path = str(arguments["path"])
    parts = tuple(path.split("."))
    described = described_at(parts, {})
    if described is None:
        return {}
    inner = [field.path for field in fields(JobSettings) if field.path.startswith(f"{path}.")]
    facts_of_setting: dict[str, Any] = {
        "path": path, "kind": described.kind, "doc": described.doc, "settings": inner,
        "heritrix": list(described.heritrix or heritrix_of(path)),
    }  # fmt: skip
    facts = described.facts
    if facts is not None:
        facts_of_setting |= {
            "type": typed(facts), "unit": facts.unit, "sample": facts.sample, "live": facts.live,
            "sheets": facts.sheets, "required": required(facts),
            "default": None if required(facts) else _json(facts.default),
            "choices": list(choices_of(type_at(JobSettings, parts, None))),
        }  # fmt: skip
    return facts_of_setting
