"""Lines of the logs that sequences of rules write. Formats: Heritrix 3."""

import json

from nacre.report.escape import safe
from nacre.scope.watch import UNDECIDED, Logged
from nacre.uri.parse import host

SCOPE = "scope"
"""Name of the log of the whole scope (`engine.scope_log`)."""


def decision_line(what: Logged, time: str) -> tuple[str, str]:
    """The file and the line of a decision.

    Text: time, number and class of the rule that decided (-1 and `-` for none), decision, URI, and
    with extra info hop path, via, seed and host as JSON. A feed has all of it as one JSON object.
    """
    if what.log.feed:
        return f"{what.log.name}.jsonl", _json({**_decision(what, time), **_extra(what)})
    rule = what.kind if what.number != UNDECIDED else "-"
    line = f"{time} {what.number} {safe(rule)} {what.decision} {safe(what.subject.url)}"
    extra = f" {_json(_extra(what))}" if what.log.extra else "\n"
    return f"{what.log.name}.log", line + extra


def _decision(what: Logged, time: str) -> dict[str, str | int]:
    return {
        "timestamp": time,
        "number": what.number,
        "rule": what.kind,
        "decision": str(what.decision),
        "url": what.subject.url,
    }


def _extra(what: Logged) -> dict[str, str | int]:
    subject = what.subject
    return {
        "hopPath": subject.path,
        "via": subject.via,
        "seed": subject.source,
        "host": host(subject.url),
    }


def _json(values: dict[str, str | int]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"
