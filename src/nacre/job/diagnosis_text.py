"""The texts of diagnoses and remedies (pure)."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from nacre.core.clock import duration, roughly
from nacre.job.diagnosis import Diagnosis, Value, progress_diagnosis
from nacre.messages import COMMA, SEMICOLON, Message, join, message
from nacre.report.formatting import size, to_the_second
from nacre.wire.urltext import readable_url


class CountedText(NamedTuple):
    """A text with a number, in the singular and the plural.

    Attributes:
        param: Name of the number.
        singular: The text if the number is 1.
        many: The text for all other numbers.
    """

    param: str
    singular: str
    many: str


TEXTS: Final[Mapping[str, str | CountedText]] = {
    "ready": "ready to start",
    "ready-space": "too little disk space for a start: {free} are free, {reserve} are needed",
    "problems": CountedText(
        "problems",
        "{problems} problem keeps it from starting: {first}",
        "{problems} problems keep it from starting; the first: {first}",
    ),
    "preparing": "preparing",
    "waiting": "not running yet: {why}",
    "stopping": CountedText(
        "busy",
        "stopping: {busy} fetch is finished first",
        "stopping: {busy} fetches are finished first",
    ),
    "pausing": CountedText(
        "busy",
        "pausing: {busy} fetch is finished first",
        "pausing: {busy} fetches are finished first",
    ),
    "paused-operator": "paused by the operator",
    "paused-by": "paused by {by}",
    "paused-file": "paused by the file control/pause",
    "paused-runtime": "paused at the runtime limit",
    "paused-quota": "paused: the quota of disk space is used up",
    "paused-disk": "paused for lack of disk space; it goes on by itself",
    "paused-space": (
        "paused: {free} are free, {reserve} are kept in reserve; it goes on by itself"
    ),
    "paused": "paused: {why}",
    "finished": CountedText(
        "documents",
        "finished {at}: {documents} document",
        "finished {at}: {documents} documents",
    ),
    "finished-some-time": CountedText(
        "documents", "finished: {documents} document", "finished: {documents} documents"
    ),
    "seeds": CountedText(
        "seeds",
        "{got} of {seeds} seed captured",
        "{got} of {seeds} seeds captured",
    ),
    "withheld": CountedText(
        "withheld",
        "{withheld} reply withheld, not in the archive (rights.enforce)",
        "{withheld} replies withheld, not in the archive (rights.enforce)",
    ),
    "failed": CountedText("failed", "{failed} page failed", "{failed} pages failed"),
    "faults": CountedText(
        "faults",
        "{faults} URL lost by an error of Nacre's own (runtime-errors.log)",
        "{faults} URLs lost by errors of Nacre's own (runtime-errors.log)",
    ),
    "unparsed": CountedText(
        "unparsed",
        "{unparsed} document too much for the parser: its links are not known",
        "{unparsed} documents too much for the parser: their links are not known",
    ),
    "trapped": CountedText(
        "trapped",
        "{trapped} of these is of what looks like a trap",
        "{trapped} of these are of what looks like traps",
    ),
    "endless": CountedText(
        "endless",
        "{endless} URL of endless places not fetched (traps.budget)",
        "{endless} URLs of endless places not fetched (traps.budget)",
    ),
    "deleted": CountedText(
        "deleted",
        "{deleted} URL deleted by the operator",
        "{deleted} URLs deleted by the operator",
    ),
    "deep": CountedText(
        "deep",
        "{deep} URL and its links, left out as too many hops from the seed",
        "{deep} URLs and their links, left out as too many hops from the seeds",
    ),
    "deep-poor": CountedText(
        "deep",
        (
            "{deep} URL left out as too many hops from its seed, of a kind whose last pages had "
            "nothing new (a trap?)"
        ),
        (
            "{deep} URLs left out as too many hops from their seeds, most of them of a kind whose "
            "last pages had nothing new (a trap?)"
        ),
    ),
    "unvisited": CountedText(
        "unvisited",
        "{unvisited} due page not visited, because the budget is spent",
        "{unvisited} due pages not visited, because the budget is spent",
    ),
    "held": CountedText(
        "held",
        (
            "{held} known URL and its links, not visited, because it leads into what "
            "looks like a trap (recrawl.trap_share)"
        ),
        (
            "{held} known URLs and their links, not visited, because they lead into "
            "what looks like a trap (recrawl.trap_share)"
        ),
    ),
    "repeated": CountedText(
        "repeated",
        (
            "{repeated} new URL not visited, because it differs from a known page in idle "
            "parameters alone (recrawl.idle_parameters)"
        ),
        (
            "{repeated} new URLs not visited, because they differ from known pages in idle "
            "parameters alone (recrawl.idle_parameters)"
        ),
    ),
    "stopped": "stopped by the operator",
    "interrupted": "interrupted",
    "crashed": "cut off without an end",
    "limit-time": "stopped at the time limit",
    "limit-bytes": "stopped at the limit of bytes",
    "limit-documents": "stopped at the limit of documents",
    "limit-written": "stopped at the limit of WARC bytes",
    "limit-budget": "stopped: queues with URIs left are over budget or retired",
    "disk-wait": "stopped: no free disk space for too long",
    "error": "ended by an error",
    "queued": CountedText("queued", "{queued} URI waits", "{queued} URIs wait"),
    "closed": CountedText(
        "documents",
        "ended for good by the operator: {documents} document",
        "ended for good by the operator: {documents} documents",
    ),
    "ended": "ended: {why}",
    "retries": "nothing but retries: {trouble}",
    "next-try": "next try in {wait}",
    "given-up": "given up {until} at the latest",
    "one-host": "waits for one host: {host} gets one request every {delay}",
    "one-host-crawl-delay": (
        "waits for one host: {host} allows one request every {delay} (Crawl-delay)"
    ),
    "few-hosts": "waits for {hosts} hosts; the slowest, {host}, gets one request every {delay}",
    "delay-fixed": "politeness.delay is set",
    "delay-duration": (
        "a multiple of the time that the last fetch took (politeness.delay_factor), {most} at most "
        "(politeness.max_delay)"
    ),
    "delay-slow": (
        "its replies are slower than usual, which makes the delay longer, up to {most} "
        "(politeness.max_delay)"
    ),
    "delay-refused": (
        "it refused requests (429 or 503), which makes the delay longer, up to {most} "
        "(politeness.backoff_up_to)"
    ),
    "delay-crawl-delay": (
        "Crawl-delay of its robots.txt, which counts up to {most} "
        "(politeness.respect_crawl_delay_up_to)"
    ),
    "delay-retry-after": (
        "it asked for this pause (Retry-After), which counts up to {most} "
        "(politeness.respect_retry_after_up_to)"
    ),
    "delay-bandwidth": "the limits of the bandwidth make it longer",
    "needs": CountedText(
        "queued", "{queued} URL left, about {needs}", "{queued} URLs left, about {needs}"
    ),
    "grows": CountedText(
        "queued",
        "{queued} URL waits there, and more are found than fetched",
        "{queued} URLs wait there, and more are found than fetched",
    ),
    "slots-busy": CountedText(
        "parallel", "the only fetch slot is busy", "all {parallel} fetch slots are busy"
    ),
    "ready-hosts": CountedText("hosts", "{hosts} host is ready", "{hosts} hosts are ready"),
    "refuses": "{host} answers {status}; its delay is {delay} now",
    "fails": "{host} fails with {status}; its delay is {delay} now",
    "busy-machine": "the machine is busy: the crawler was held up for {gap}",
    "slow-disk": "the disk is slow: nothing was committed for {age}",
    "trap": "looks like a trap: {prefix} gave {share} of the new URLs",
    "crowded": (
        "Most queued URIs are of one kind: {prefix} ({share}). A calendar, or session ids?"
    ),
    "crowded-grows": (
        "Most queued URIs are of one kind: {prefix} ({share}), and more is found than fetched. "
        "A calendar, or session ids?"
    ),
    "empty": "nothing is left to fetch; it waits for URIs that are added",
    "running": "{rate} URIs/s",
    "left": "about {left} left",
    "rounds": "crawled in rounds; version {version}: {step}",
    "rounds-at": "crawled in rounds; version {version}; round {round}, at {step}",
    "rounds-new": "crawled in rounds; no version yet",
    "step-tasks": CountedText("of", "{done} of {of} task", "{done} of {of} tasks"),
    "step-pages": CountedText("of", "{done}/{of} page", "{done}/{of} pages"),
    "step-received": "{received}",
    "step-hosts": CountedText("hosts", "{hosts} host", "{hosts} hosts"),
    "step-left": "{rest} left",
    "step-units": CountedText(
        "units", "{ready} of {units} unit done", "{ready} of {units} units done"
    ),
    "step-checked": "the written files are checked",
    "reading": "being read",
    "unreadable": "cannot be read: {why}",
    "no-answer": "it runs, but does not answer: {why}",
}
"""The text of each code of a diagnosis, with its parameters in braces."""
WORKS: Final[Mapping[str, str]] = {
    "origins_task": message("task.origins", "looking for the sitemaps of known hosts"),
    "robots_task": message("task.robots", "looking for sitemaps in robots.txt"),
    "read_task": message("task.read", "reading sitemaps"),
    "merge_entries_task": message("task.merge-entries", "bringing in what sitemaps list"),
    "out_task": message("task.out", "looking for hosts in other lists"),
    "select_task": message("task.select", "looking for URLs that are due"),
    "gather_task": message("task.gather", "joining the parts of large tables"),
    "probe_task": message("task.look", "finding the end of the list"),
    "measure_task": message("task.measure", "counting the URLs of each host"),
    "lease_task": message("task.lease", "marking the listed URLs"),
    "list_task": message("task.list", "writing the lists"),
    "update_task": message("task.update", "merging the fetch results"),
    "sweep_task": message("task.sweep", "looking for pages without links"),
    "links_task": message("task.links", "bringing in links"),
    "index_task": message("task.index", "looking for pages with the same content"),
    "claims_task": message("task.claims", "looking for pages that declare another one"),
    "confirm_task": message("task.confirm", "looking which of them are there"),
    "choose_task": message("task.choose", "choosing the best of each group"),
    "near_index_task": message("task.near-index", "looking for pages with almost the same text"),
    "near_confirm_task": message("task.near-confirm", "looking which of them are there"),
    "near_choose_task": message("task.near-choose", "choosing the best of each group"),
    "changes_task": message("task.changes", "looking for what the index lacks"),
    "documents_task": message("task.documents", "reading pages for the index"),
}
"""The work of a task of rounds, by the name of its function."""

REMEDIES: Final[Mapping[str, str]] = {
    "start": message("remedy.start", "Start"),
    "fix": message("remedy.fix", "put the first problem right"),
    "resume": message("remedy.resume", "Resume"),
    "free-space": message("remedy.free-space", "free disk space"),
    "disk.reserve": message("remedy.disk-reserve", "lower disk.reserve"),
    "limits": message("remedy.limits", "other limits"),
    "go-on": message("remedy.go-on", "Continue"),
    "unretire": message("remedy.unretire", "bring retired queues back"),
    "log": message("remedy.log", "look at the log"),
    "wake": message("remedy.wake", "try now"),
    "stop": message("remedy.stop", "Stop"),
    "delay": message("remedy.delay", "another delay for this host"),
    "in_flight": message("remedy.in-flight", "more fetches at a time for this host"),
    "retire": message("remedy.retire", "retire the queue"),
    "look-waiting": message("remedy.look-waiting", "inspect the queued URIs"),
    "exclude-part": message("remedy.exclude-part", "exclude a part of the queued URIs"),
    "parallel": message("remedy.parallel", "more fetch slots"),
    "contact": message("remedy.contact", "check what the crawler says of itself"),
    "watch": message("remedy.watch", "look at it working"),
    "exclude": message("remedy.exclude", "exclude it"),
    "seeds": message("remedy.seeds", "look at the seeds"),
    "failed": message("remedy.failed", "look at the failed pages"),
    "traps": message("remedy.traps", "look at the traps"),
    "deeper": message("remedy.deeper", "allow more hops"),
    "trap-share": message("remedy.trap-share", "visit more of what looks like a trap"),
    "recrawl": message("remedy.recrawl", "Recrawl"),
}
"""The text of each remedy."""


def diagnosis_text(diagnosis: Diagnosis, separator: tuple[str, str] = SEMICOLON) -> str:
    """Return the text of a diagnosis in one line.

    Args:
        diagnosis: The diagnosis.
        separator: Joins its parts, as for `join`.
    """
    params = {name: _param(name, value) for name, value in diagnosis.params.items()}
    codes = (diagnosis.code, *diagnosis.also)
    parts = (
        Message(f"diagnosis.{code}", _template(code, diagnosis.params), params) for code in codes
    )
    return join(parts, *separator)


def progress_text(progress: Mapping[str, Any]) -> str:
    """Return the progress of a step in one line: `61/127 pages, 3.1 MB, 2 hosts, 4 min left`.

    Other steps have `looking for URLs that are due: 3 of 16 tasks`.

    Args:
        progress: Plain data of `rounds.rounds_mark.StepProgress`.
    """
    text = diagnosis_text(progress_diagnosis(progress), COMMA)
    if progress["unit"] != "tasks":
        return text
    if work := WORKS.get(progress["work"]):
        return message("task.progress", "{work}: {progress}", work=work, progress=text)
    return message("task.part", "{progress}, part {phase}", progress=text, phase=progress["phase"])


def _template(code: str, params: Mapping[str, Value]) -> str:
    text = TEXTS[code]
    if isinstance(text, str):
        return text
    return text.singular if params[text.param] == 1 else text.many


_WRITERS: Final[Mapping[str, Callable[[float], str]]] = {
    **dict.fromkeys(("delay", "needs", "gap", "age", "left", "wait", "most"), duration),
    "rest": roughly,
    **dict.fromkeys(("free", "reserve", "received"), size),
    **dict.fromkeys(("at", "until"), lambda seconds: f"{to_the_second(seconds)} UTC"),
    "share": lambda share: f"{share * 100:.0f} %",
    "status": lambda status: f"{status:.0f}",
}
"""Functions that write the parameters of these names; other numbers are counts and rates."""


def _param(name: str, value: Value) -> str:
    if isinstance(value, Message):
        return value
    if isinstance(value, str):
        return " ".join(map(readable_url, value.split(" ")))  # words can follow the URL
    if name in _WRITERS:
        return _WRITERS[name](value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
