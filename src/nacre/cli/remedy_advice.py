"""The remedies of a diagnosis with their commands, for `nacre status` (pure)."""

import re
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Final

from nacre.job.diagnosis import Diagnosis
from nacre.job.diagnosis_text import REMEDIES
from nacre.job.overview import SlowQueue
from nacre.uri.surt import beginning_with, queue_root

_COMMANDS: Final[Mapping[str, str]] = {
    "start": "nacre run {job}",
    "fix": "nacre check {job}",
    "resume": "nacre resume {job}",
    "disk.reserve": "nacre set {job} disk.reserve=...",
    "limits": "nacre set {job} {limit}=...",
    "go-on": "nacre run {job}",
    "unretire": "nacre frontier {job} unretire",
    "log": "less {job}/latest/logs/job.log",
    "wake": "nacre frontier {job} wake{queue}",
    "stop": "nacre stop {job}",
    "delay": "nacre set {job} politeness.delay=...{place}",
    "in_flight": "nacre set {job} politeness.in_flight=...{place}",
    "retire": "nacre frontier {job} retire{queue}",
    "look-waiting": "nacre frontier {job} list --limit 50{queue}",
    "parallel": "nacre parallel {job} ...",
    "contact": "nacre set {job} fetch.contact=...",
    "watch": "nacre status {job} --verbose",
    "exclude": "nacre frontier {job} exclude --regex {regex}",
    "exclude-part": "nacre frontier {job} exclude --regex ...",
    "seeds": "nacre report {job} seeds",
    "failed": "nacre report {job} responsecode",
    "traps": "nacre report {job} traps",
    "deeper": "nacre set {job} scope.too-many-hops.max_hops=...",
    "trap-share": "nacre set {job} recrawl.trap_share=...",
    "recrawl": "nacre recrawl {job}",
}
"""The commands, with `...` for what the operator has to choose; no command frees disk space."""
_RECORD: Final = "nacre record --out {job}"
_LIMITS: Final[Mapping[str, str]] = {
    "limit-time": "limits.time",
    "limit-bytes": "limits.bytes",
    "limit-written": "limits.warc_bytes",
    "paused-runtime": "limits.runtime.after",
}
"""The setting of the limit that a diagnosis is about; of all others, `limits.documents`."""


def remedy_advice(
    diagnosis: Diagnosis, slowest: Sequence[SlowQueue], job: str, *, is_recording: bool = False
) -> tuple[str, ...]:
    """Return the remedies of a diagnosis, the best first: text, and command in backticks.

    Args:
        diagnosis: The diagnosis of the job.
        slowest: The queues that take longest; one of them is the queue of the diagnosis's host.
        job: Directory of the job, as it is typed in a command.
        is_recording: It is resumed by `nacre record`.
    """
    params = diagnosis.params
    host, prefix = params.get("host", ""), str(params.get("prefix", ""))
    queue = str(params.get("queue", ""))
    queue = queue or next((slow.name for slow in slowest if host and slow.host == host), "")
    facts = {
        "job": job,
        "limit": _LIMITS.get(diagnosis.code, "limits.documents"),
        "queue": f" --queue {quote(f'^{re.escape(queue)}$')}" if queue else "",
        "place": f" --for {quote(queue_root(queue))}" if queue else "",
        "regex": quote(beginning_with(prefix)),
    }
    templates = {name: _template(name, diagnosis) for name in diagnosis.remedies}
    if is_recording:
        templates |= dict.fromkeys(templates.keys() & {"start", "go-on"}, _RECORD)
    return tuple(_advice(name, template, facts) for name, template in templates.items())


def _advice(name: str, template: str, facts: Mapping[str, str]) -> str:
    command = template.format_map(facts)
    return f"{REMEDIES[name]} (`{command}`)" if command else REMEDIES[name]


def _template(name: str, diagnosis: Diagnosis) -> str:
    if name == "resume" and diagnosis.code == "paused-file":
        return "rm {job}/control/pause"
    if name == "resume" and diagnosis.code == "paused":
        reason = str(diagnosis.params["why"]).partition(", ")[0]
        return (
            f"nacre resume {{job}} --reason {quote(reason).replace('{', '{{').replace('}', '}}')}"
        )
    return _COMMANDS.get(name, "")
