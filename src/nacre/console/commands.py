"""The command for each change that the console can make: none is possible only here (pure).

A page shows the command next to its action, and the API description contains it. A test requires
a command for each row of the table of routes that changes something, or a reason why the row has
no command.
"""

import re
from collections.abc import Mapping
from shlex import quote
from string import Formatter
from typing import Final

from nacre.console.route_row import API
from nacre.ops.allowed_actions import ACTION_COMMANDS

COMMANDS: Final[Mapping[str, str]] = {
    **ACTION_COMMANDS,
    # jobs
    "new": "nacre new {dir} {url}",
    "crawl": "nacre crawl {url} --out {dir}",
    "checkpoint-back": "nacre run {job} --checkpoint {checkpoint}",
    "rounds-back": "nacre cycle {job} versions restore {number}",
    "forget-job": "rm -r {job}",
    # settings
    "set": "nacre set {job} {path}={value}",
    "set-preview": "nacre set {job} {path}={value} --preview",
    "set-for": "nacre set {job} {path}={value} --for {url}",
    "edit": "$EDITOR {job}/crawl.yaml && nacre check {job}",
    "version-list": "nacre settings {job} history",
    "version-diff": "nacre settings {job} diff[ {older}][ {newer}]",
    "version-restore": "nacre settings {job} restore {number}",
    "sheet-add": "nacre sheet {job} add {sheet} {path}={value}",
    "sheet-remove": "nacre sheet {job} remove {sheet}",
    "sheet-associate": "nacre sheet {job} associate {sheet} --surt {url}",
    "sheet-dissociate": "nacre sheet {job} dissociate {sheet} --surt {url}",
    "dry-run": "nacre check {job} --dry-run {url}",
    "profile-save": "nacre profile save {job} {name} --purpose {purpose}",
    "profile-show": "nacre profile show {name}",
    "profile-remove": "nacre profile remove {name}",
    "clip-save": "nacre clip save {name} {file} --title {title}",
    "clip-insert": "nacre clip insert {job} {name}",
    "clip-remove": "nacre clip remove {name}",
    # frontier
    "frontier-retire": "nacre frontier {job} retire --queue {queue}",
    "frontier-unretire": "nacre frontier {job} unretire --queue {queue}",
    "frontier-wake": "nacre frontier {job} wake --queue {queue}",
    "frontier-reconsider": "nacre frontier {job} reconsider --queue {queue}",
    "frontier-first": "nacre frontier {job} first[ --regex {regex}][ --queue {queue}]",
    "frontier-forget": "nacre frontier {job} forget[ --regex {regex}][ --queue {queue}]",
    "frontier-delete": "nacre frontier {job} delete[ --regex {regex}][ --queue {queue}]",
    "frontier-exclude": "nacre frontier {job} exclude --regex {regex}",
    "frontier-include": "nacre frontier {job} include --regex {regex}",
    "frontier-import": "nacre frontier {job} import {file}",
    "frontier-export": "nacre frontier {job} export[ --regex {regex}]",
    "seeds-edit": "$EDITOR {job}/{list} && nacre check {job}",
    "seeds-add": "nacre frontier {job} import {file} --seeds",
    "fetch-again": "echo {url} | nacre frontier {job} import - --force",
    "explain": "nacre explain {job} {url}",
    "captures": "nacre captures {job}",
    # the archive
    "push": "nacre archive {job} push",
    "archive-check": "nacre archive {job} check",
    "archive-pack": "nacre archive {job} pack --wacz FILE",
    # the console's own
    "schedule-add": "nacre console schedule add {job} --at {times} --zone {zone}",
    "schedule-add-new": "nacre console schedule add {job} --at {times} --mode new-job "
    "--name {pattern}",
    "schedule-set": "nacre console schedule set {number} --at {times}",
    "schedule-pause": "nacre console schedule pause {number}",
    "schedule-resume": "nacre console schedule resume {number}",
    "schedule-remove": "nacre console schedule remove {number}",
    "quota-set": "nacre console quota set {size}[ {job}]",
    "webhook-add": "nacre console webhook add {url} --on {event}",
    "webhook-set": "nacre console webhook set {number} --on {event}",
    "webhook-pause": "nacre console webhook pause {number}",
    "webhook-resume": "nacre console webhook resume {number}",
    "webhook-test": "nacre console webhook test {number}",
    "webhook-remove": "nacre console webhook remove {number}",
    "place-add": "nacre console place add {dir}",
    "place-remove": "nacre console place remove {label}",
    "job-label": "nacre console job label {job}[ --name {name}][ --tag {tag}]",
    "job-move": "nacre console job move {job} {label}",
    "job-wanted": "nacre console job wanted {job} --add {prefix}",
    "job-remove": "nacre console job remove {job}",
    "job-show": "nacre console job show {job}",
    "user-add": "nacre console user add {name} --role {role}",
    "user-set": "nacre console user set {name} --role {role}",
    "user-password": "nacre console user password {name}",
    "user-remove": "nacre console user remove {name}",
    "key-add": "nacre console key add {name} --role {role}",
    "key-remove": "nacre console key remove {name}",
    "session-end": "nacre console session end {id}",
}
"""The commands by name. A field in braces is replaced by its value, or by a word in capitals if the
value is not known. A part in brackets is left out if its value is not known and that of another
part in brackets is."""

_J = f"{API}/jobs/{{job}}"
_WAITING: Final = (
    "frontier-retire", "frontier-unretire", "frontier-wake", "frontier-reconsider",
    "frontier-first", "frontier-forget", "frontier-delete", "frontier-exclude",
    "frontier-include",
)  # fmt: skip
_SHEETS: Final = ("set-for", "sheet-add", "sheet-associate", "sheet-dissociate", "sheet-remove")
_SCHEDULES: Final = (
    "schedule-add", "schedule-add-new", "schedule-set", "schedule-pause", "schedule-resume",
    "schedule-remove",
)  # fmt: skip
_HOOKS: Final = (
    "webhook-add", "webhook-set", "webhook-test", "webhook-pause", "webhook-resume",
    "webhook-remove",
)  # fmt: skip
_ACTS: Final = (
    "start", "pause", "resume", "stop", "checkpoint", "recrawl", "end", "run-rounds",
    "stop-after-step",
)  # fmt: skip

COMMANDS_OF: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("PATCH", _J): ("job-label", "job-move"),
    ("POST", "/j/{job}/labels"): ("job-label", "job-move"),
    ("PUT", f"{API}/session/password"): ("user-password",),
    ("DELETE", f"{API}/sessions/{{session}}"): ("session-end",),
    ("POST", f"{API}/users"): ("user-add",),
    ("PATCH", f"{API}/users/{{user}}"): ("user-set", "user-password"),
    ("DELETE", f"{API}/users/{{user}}"): ("user-remove",),
    ("POST", f"{API}/keys"): ("key-add",),
    ("DELETE", f"{API}/keys/{{key:path}}"): ("key-remove",),
    ("POST", "/admin"): (
        "user-add", "user-set", "user-remove", "key-add", "key-remove", "session-end",
        "place-add", "place-remove",
    ),
    ("POST", "/account"): ("user-password", "session-end"),
    ("POST", f"{API}/places"): ("place-add",),
    ("DELETE", f"{API}/places/{{place}}"): ("place-remove",),
    ("PUT", f"{API}/quota"): ("quota-set",),
    ("POST", "/admin/quota"): ("quota-set",),
    ("POST", "/webhooks"): _HOOKS,
    ("POST", f"{API}/webhooks"): ("webhook-add",),
    ("PUT", f"{API}/webhooks/{{webhook}}"): ("webhook-set", "webhook-pause", "webhook-resume"),
    ("DELETE", f"{API}/webhooks/{{webhook}}"): ("webhook-remove",),
    ("POST", f"{API}/webhooks/{{webhook}}/test"): ("webhook-test",),
    ("POST", "/new"): ("new", "crawl"),
    ("POST", f"{API}/jobs"): ("new",),
    ("POST", "/calendar"): _SCHEDULES,
    ("POST", f"{API}/schedules"): ("schedule-add", "schedule-add-new"),
    ("PUT", f"{API}/schedules/{{schedule}}"): (
        "schedule-set", "schedule-pause", "schedule-resume",
    ),
    ("DELETE", f"{API}/schedules/{{schedule}}"): ("schedule-remove",),
    ("POST", "/act"): _ACTS,
    ("PUT", f"{_J}/wanted-kinds"): ("job-wanted",),
    ("POST", "/j/{job}/wanted"): ("job-wanted",),
    ("POST", f"{_J}/remove"): ("job-remove",),
    ("POST", "/j/{job}/remove"): ("job-remove",),
    ("DELETE", f"{API}/removed-jobs/{{job}}"): ("job-show",),
    ("POST", "/j/{job}/show-again"): ("job-show",),
    ("POST", f"{_J}/forget"): ("forget-job",),
    ("POST", "/j/{job}/forget"): ("forget-job",),
    ("POST", f"{_J}/versions/{{number}}/restore"): ("rounds-back",),
    ("POST", "/j/{job}/versions"): ("rounds-back",),
    ("POST", f"{_J}/start"): ("start", "checkpoint-back"),
    ("POST", f"{_J}/pause"): ("pause",),
    ("POST", f"{_J}/resume"): ("resume",),
    ("POST", f"{_J}/stop"): ("stop",),
    ("POST", f"{_J}/checkpoint"): ("checkpoint",),
    ("POST", f"{_J}/recrawl"): ("recrawl",),
    ("POST", f"{_J}/run-rounds"): ("run-rounds",),
    ("POST", f"{_J}/stop-after-step"): ("stop-after-step",),
    ("POST", f"{_J}/end"): ("end",),
    ("POST", "/j/{job}/settings"): ("edit", "clip-save"),
    ("POST", "/j/{job}/settings/form"): ("set", "set-preview"),
    ("POST", "/j/{job}/settings/sheets"): _SHEETS,
    ("POST", "/j/{job}/settings/history/{number}/restore"): ("version-restore",),
    ("PUT", f"{_J}/config"): ("edit",),
    ("POST", f"{_J}/config/history/{{number}}/restore"): ("version-restore",),
    ("PATCH", f"{_J}/settings"): ("set", "set-preview", "set-for"),
    ("POST", f"{_J}/sheets"): ("sheet-add",),
    ("DELETE", f"{_J}/sheets/{{sheet}}"): ("sheet-remove",),
    ("POST", f"{_J}/associations"): ("sheet-associate",),
    ("DELETE", f"{_J}/associations"): ("sheet-dissociate",),
    ("POST", "/profiles"): ("profile-save",),
    ("POST", "/profiles/{profile}/remove"): ("profile-remove",),
    ("POST", f"{API}/profiles"): ("profile-save",),
    ("DELETE", f"{API}/profiles/{{profile}}"): ("profile-remove",),
    ("POST", "/clips"): ("clip-save",),
    ("POST", "/clips/{clip}/remove"): ("clip-remove",),
    ("POST", f"{API}/clips"): ("clip-save",),
    ("DELETE", f"{API}/clips/{{clip}}"): ("clip-remove",),
    ("POST", "/j/{job}/frontier/change"): _WAITING,
    ("POST", f"{_J}/frontier/{{action}}"): _WAITING,
    ("POST", "/j/{job}/frontier/delay"): ("set-for",),
    ("POST", "/j/{job}/frontier/import"): ("frontier-import",),
    ("POST", f"{_J}/frontier/import"): ("frontier-import",),
    ("PUT", f"{_J}/parallel"): ("parallel",),
    ("POST", "/j/{job}/seeds"): ("seeds-add", "fetch-again"),
    ("POST", f"{_J}/seeds"): ("seeds-add", "fetch-again"),
    ("POST", "/j/{job}/seeds/list"): ("seeds-edit",),
    ("PUT", f"{_J}/seed-list"): ("seeds-edit",),
    ("POST", "/j/{job}/checkpoints"): ("checkpoint-back",),
    ("POST", f"{_J}/push/outbackcdx"): ("push",),
    ("POST", "/j/{job}/push"): ("push",),
    ("POST", f"{_J}/archive/check"): ("archive-check",),
    ("POST", f"{_J}/exports"): ("archive-pack",),
    ("POST", "/j/{job}/exports"): ("archive-pack",),
    ("POST", "/j/{job}/archive/check"): ("archive-check",),
}  # fmt: skip
"""The commands that do what a row of the table of routes does, by its verb and path."""

WITHOUT: Final[Mapping[tuple[str, str], str]] = {
    ("PATCH", f"{API}/session"): "the language is that of the pages of one browser",
    ("DELETE", f"{API}/session"): "a browser logs itself out; `nacre console session end` ends any",
    ("POST", "/login"): "a browser logs in; commands run as the user of the machine",
    ("DELETE", f"{API}/tasks/{{task}}"): "Ctrl-C ends a command that takes long",
}
"""The rows without a command, and why."""


def command_text(name: str, values: Mapping[str, object]) -> str:
    """A command to copy.

    Args:
        name: A key of `COMMANDS`.
        values: What is known of the words in braces; one that is not becomes its name in capitals.
    """
    template = COMMANDS[name]
    filled = {field for field in _fields("".join(_OPTIONAL.findall(template))) if values.get(field)}

    def chosen(match: re.Match[str]) -> str:
        return match[1] if not filled or filled & set(_fields(match[1])) else ""

    parts = []
    for plain, field, _, _ in Formatter().parse(_OPTIONAL.sub(chosen, template)):
        parts.append(plain)
        if field is not None:
            value = str(values.get(field) or "")
            parts.append(quote(value) if value else _WORDS.get(field, field.upper()))
    return "".join(parts)


_OPTIONAL: Final = re.compile(r"\[([^]]+)\]")


def _fields(template: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(template) if field]


_WORDS: Final = {
    "job": "DIR", "list": "seeds.txt", "times": "'30 2 * * 1'", "pattern": "news-%Y-%m-%d",
    "zone": "UTC", "number": "N", "older": "N", "newer": "M", "sheet": "SHEET", "size": "500GB",
}  # fmt: skip
"""Placeholders for unknown values whose field names would be less clear."""


def commands_of(verb: str, path: str) -> tuple[str, ...]:
    """The commands of a row of the table of routes, with words in capitals; () for none."""
    return tuple(command_text(name, {}) for name in COMMANDS_OF.get((verb, path), ()))
