"""The sentence in words (pure)."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from nacre.core.clock import duration, roughly
from nacre.job.sentence import Sentence, Value, progress_sentence
from nacre.report.formatting import size, to_the_second
from nacre.wire.urltext import readable_url

Translate = Callable[[str], str]
"""Gives the text of a catalogue for an English one."""
WriteParam = Callable[[str, Value], str]
"""Writes a param, by its name and value."""


class CountedText(NamedTuple):
    """A text with a number, in the singular and the plural.

    Attributes:
        param: Name of the number.
        one: The text where it is 1.
        many: The text where it is not.
    """

    param: str
    one: str
    many: str


def _(text: str) -> str:
    """Marks a message for the catalogues."""
    return text


MESSAGES: Final[Mapping[str, str | CountedText]] = {
    "ready": _("ready to start"),
    "problems": CountedText(
        "problems",
        _("{problems} problem keeps it from starting: {first}"),
        _("{problems} problems keep it from starting; the first: {first}"),
    ),
    "preparing": _("preparing"),
    "waiting": _("not running yet: {why}"),
    "stopping": CountedText(
        "busy",
        _("stopping: {busy} fetch is finished first"),
        _("stopping: {busy} fetches are finished first"),
    ),
    "pausing": CountedText(
        "busy",
        _("pausing: {busy} fetch is finished first"),
        _("pausing: {busy} fetches are finished first"),
    ),
    "paused-operator": _("paused by the operator"),
    "paused-file": _("paused by the file control/pause"),
    "paused-runtime": _("paused at the runtime limit"),
    "paused-quota": _("paused: the quota of disk space is used up"),
    "paused-disk": _("paused for lack of disk space; it goes on by itself"),
    "paused-space": _(
        "paused: {free} are free, {reserve} are kept in reserve; it goes on by itself"
    ),
    "paused": _("paused: {why}"),
    "finished": CountedText(
        "documents",
        _("finished {at}: {documents} document"),
        _("finished {at}: {documents} documents"),
    ),
    "finished-some-time": CountedText(
        "documents", _("finished: {documents} document"), _("finished: {documents} documents")
    ),
    "seeds": CountedText(
        "seeds",
        _("{got} of {seeds} seed captured"),
        _("{got} of {seeds} seeds captured"),
    ),
    "failed": CountedText("failed", _("{failed} page failed"), _("{failed} pages failed")),
    "faults": CountedText(
        "faults",
        _("{faults} URL lost by an error of Nacre's own (runtime-errors.log)"),
        _("{faults} URLs lost by errors of Nacre's own (runtime-errors.log)"),
    ),
    "unparsed": CountedText(
        "unparsed",
        _("{unparsed} document too much for the parser: its links are not known"),
        _("{unparsed} documents too much for the parser: their links are not known"),
    ),
    "trapped": CountedText(
        "trapped",
        _("{trapped} of these is of what looks like a trap"),
        _("{trapped} of these are of what looks like traps"),
    ),
    "endless": CountedText(
        "endless",
        _("{endless} URL of endless places not fetched (traps.budget)"),
        _("{endless} URLs of endless places not fetched (traps.budget)"),
    ),
    "deleted": CountedText(
        "deleted",
        _("{deleted} URL deleted by the operator"),
        _("{deleted} URLs deleted by the operator"),
    ),
    "deep": CountedText(
        "deep",
        _("{deep} URL, and what lies behind it, left out as too many hops from its seed"),
        _("{deep} URLs, and what lies behind them, left out as too many hops from their seeds"),
    ),
    "deep-poor": CountedText(
        "deep",
        _(
            "{deep} URL left out as too many hops from its seed, of a kind whose last pages had "
            "nothing new (a trap?)"
        ),
        _(
            "{deep} URLs left out as too many hops from their seeds, most of them of a kind whose "
            "last pages had nothing new (a trap?)"
        ),
    ),
    "unvisited": CountedText(
        "unvisited",
        _("{unvisited} due page not visited, because the budget is spent"),
        _("{unvisited} due pages not visited, because the budget is spent"),
    ),
    "held": CountedText(
        "held",
        _(
            "{held} known URL, and what lies behind it, not visited, because it leads into what "
            "looks like a trap (recrawl.trap_share)"
        ),
        _(
            "{held} known URLs, and what lies behind them, not visited, because they lead into "
            "what looks like a trap (recrawl.trap_share)"
        ),
    ),
    "repeated": CountedText(
        "repeated",
        _(
            "{repeated} new URL not visited, because it differs from a known page in idle "
            "parameters alone (recrawl.idle_parameters)"
        ),
        _(
            "{repeated} new URLs not visited, because they differ from known pages in idle "
            "parameters alone (recrawl.idle_parameters)"
        ),
    ),
    "stopped": _("stopped by the operator"),
    "interrupted": _("interrupted"),
    "crashed": _("cut off without an end"),
    "limit-time": _("stopped at the time limit"),
    "limit-bytes": _("stopped at the limit of bytes"),
    "limit-documents": _("stopped at the limit of documents"),
    "limit-written": _("stopped at the limit of WARC bytes"),
    "limit-budget": _("stopped: queues with URIs left are over budget or retired"),
    "disk-wait": _("stopped: no free disk space for too long"),
    "error": _("ended by an error"),
    "queued": CountedText("queued", _("{queued} URI waits"), _("{queued} URIs wait")),
    "closed": CountedText(
        "documents",
        _("ended for good by the operator: {documents} document"),
        _("ended for good by the operator: {documents} documents"),
    ),
    "ended": _("ended: {why}"),
    "retries": _("nothing but retries: {trouble}"),
    "next-try": _("next try in {wait}"),
    "given-up": _("given up {until} at the latest"),
    "one-host": _("waits for one host: {host} gets a fetch each {delay}"),
    "one-host-crawl-delay": _(
        "waits for one host: {host} allows a fetch each {delay} (Crawl-delay)"
    ),
    "few-hosts": _("waits for {hosts} hosts; the slowest, {host}, gets a fetch each {delay}"),
    "delay-fixed": _("politeness.delay is set"),
    "delay-duration": _(
        "a multiple of the time that the last fetch took (politeness.delay_factor), {most} at most "
        "(politeness.max_delay)"
    ),
    "delay-slow": _(
        "its replies are slower than usual, which makes the delay longer, up to {most} "
        "(politeness.max_delay)"
    ),
    "delay-refused": _(
        "it refused requests (429 or 503), which makes the delay longer, up to {most} "
        "(politeness.backoff_up_to)"
    ),
    "delay-crawl-delay": _(
        "Crawl-delay of its robots.txt, which counts up to {most} "
        "(politeness.respect_crawl_delay_up_to)"
    ),
    "delay-retry-after": _(
        "it asked for this pause (Retry-After), which counts up to {most} "
        "(politeness.respect_retry_after_up_to)"
    ),
    "delay-bandwidth": _("the limits of the bandwidth make it longer"),
    "needs": CountedText(
        "queued", _("{queued} URI there needs {needs}"), _("{queued} URIs there need {needs}")
    ),
    "grows": CountedText(
        "queued",
        _("{queued} URI waits there, and more are found than fetched"),
        _("{queued} URIs wait there, and more are found than fetched"),
    ),
    "slots-busy": CountedText(
        "parallel", _("the only fetch slot is busy"), _("all {parallel} fetch slots are busy")
    ),
    "ready-hosts": CountedText("hosts", _("{hosts} host is ready"), _("{hosts} hosts are ready")),
    "refuses": _("{host} answers {status}; its delay is {delay} now"),
    "fails": _("{host} fails with {status}; its delay is {delay} now"),
    "busy-machine": _("the machine is busy: the crawler was held up for {gap}"),
    "slow-disk": _("the disk is slow: nothing was committed for {age}"),
    "trap": _("looks like a trap: {prefix} gave {share} of the new URLs"),
    "crowded": _(
        "Most of what waits is of one kind: {prefix} ({share}). A calendar, or session ids?"
    ),
    "crowded-grows": _(
        "Most of what waits is of one kind: {prefix} ({share}), and more is found than fetched. "
        "A calendar, or session ids?"
    ),
    "empty": _("nothing is left to fetch; it waits for URIs that are added"),
    "running": _("{rate} URIs/s"),
    "left": _("about {left} left"),
    "rounds": _("crawled in rounds; version {version}: {step}"),
    "rounds-at": _("crawled in rounds; version {version}; round {round}, at {step}"),
    "rounds-new": _("crawled in rounds; no version yet"),
    "step-tasks": CountedText("of", _("{done} of {of} task"), _("{done} of {of} tasks")),
    "step-pages": CountedText("of", _("{done}/{of} page"), _("{done}/{of} pages")),
    "step-received": "{received}",
    "step-hosts": CountedText("hosts", _("{hosts} host"), _("{hosts} hosts")),
    "step-left": _("{rest} left"),
    "step-units": CountedText(
        "units", _("{ready} of {units} unit done"), _("{ready} of {units} units done")
    ),
    "step-checked": _("what was written is checked"),
    "reading": _("being read"),
    "unreadable": _("cannot be read: {why}"),
    "no-answer": _("it runs, but does not answer: {why}"),
}
"""The text of each code, with its params in braces; what is said behind it has a text too."""
BESIDE: Final = _("{said}; {more}")
"""How a text and what is said behind it are joined."""
LISTED: Final = _("{said}, {more}")
"""How they are joined where each is a few words."""

PART: Final = _("{said}, part {phase}")
"""The text of tasks whose work has no name: the part of the step that they are."""
DOING: Final = _("{work}: {said}")
WORKS: Final[Mapping[str, str]] = {
    "origins_task": _("looking for the sitemaps of known hosts"),
    "robots_task": _("looking for sitemaps in robots.txt"),
    "read_task": _("reading sitemaps"),
    "merge_entries_task": _("bringing in what sitemaps list"),
    "out_task": _("looking for hosts in other lists"),
    "select_task": _("looking for what is due"),
    "gather_task": _("joining the parts of large tables"),
    "look_task": _("finding the end of the list"),
    "measure_task": _("counting the URLs of each host"),
    "lease_task": _("marking what is listed"),
    "list_task": _("writing the lists"),
    "update_task": _("bringing in what was fetched"),
    "sweep_task": _("looking for pages without links"),
    "links_task": _("bringing in links"),
    "index_task": _("looking for pages with the same content"),
    "claims_task": _("looking for pages that declare another one"),
    "confirm_task": _("looking which of them are there"),
    "choose_task": _("choosing the best of each group"),
    "near_index_task": _("looking for pages with almost the same text"),
    "near_confirm_task": _("looking which of them are there"),
    "near_choose_task": _("choosing the best of each group"),
    "changes_task": _("looking for what the index lacks"),
    "documents_task": _("reading pages for the index"),
}
"""The work of the tasks of rounds, by the names of their functions."""

LEVERS: Final[Mapping[str, str]] = {
    "start": _("Start"),
    "fix": _("put the first problem right"),
    "resume": _("Resume"),
    "free-space": _("free disk space"),
    "disk.reserve": _("lower disk.reserve"),
    "limits": _("other limits"),
    "go-on": _("Go on"),
    "unretire": _("bring retired queues back"),
    "log": _("look at the log"),
    "wake": _("try now"),
    "stop": _("Stop"),
    "delay": _("another delay for this host"),
    "in_flight": _("more fetches at a time for this host"),
    "retire": _("retire the queue"),
    "look-waiting": _("look at what waits"),
    "exclude-part": _("exclude a part of what waits"),
    "parallel": _("more fetch slots"),
    "contact": _("check what the crawler says of itself"),
    "watch": _("look at it working"),
    "exclude": _("exclude it"),
    "seeds": _("look at the seeds"),
    "traps": _("look at the traps"),
    "deeper": _("allow more hops"),
    "trap-share": _("visit more of what looks like a trap"),
    "recrawl": _("Recrawl"),
}
"""The text of each lever."""


def words(
    sentence: Sentence,
    translate: Translate = _,
    write: WriteParam | None = None,
    beside: str = BESIDE,
) -> str:
    """The text of a sentence, in one line.

    Args:
        sentence: It.
        translate: Gives the template of another language.
        write: Writes the params for that language; None for English.
        beside: How a text and what is said behind it are joined.
    """
    write = write or write_param
    params = {name: write(name, value) for name, value in sentence.params.items()}
    said, *more = (
        translate(_template(code, sentence.params)).format_map(params)
        for code in (sentence.code, *sentence.also)
    )
    for one in more:
        said = translate(beside).format(said=said, more=one)
    return said


def progress_words(
    progress: Mapping[str, Any], translate: Translate = _, write: WriteParam | None = None
) -> str:
    """The progress of a step of rounds in one line: `61/127 pages, 3.1 MB, 2 hosts, 4 min left`.

    Of other steps it is `looking for what is due: 3 of 16 tasks`.

    Args:
        progress: It, as plain data of `rounds.rounds_mark.StepProgress`.
        translate: Gives the template of another language.
        write: Writes the params for that language; None for English.
    """
    said = words(progress_sentence(progress), translate, write, LISTED)
    if progress["unit"] != "tasks":
        return said
    if progress["work"] in WORKS:
        return translate(DOING).format(work=translate(WORKS[progress["work"]]), said=said)
    return translate(PART).format(said=said, phase=progress["phase"])


def _template(code: str, params: Mapping[str, Value]) -> str:
    text = MESSAGES[code]
    if isinstance(text, str):
        return text
    return text.one if params[text.param] == 1 else text.many


_WRITERS: Final[Mapping[str, Callable[[float], str]]] = {
    **dict.fromkeys(("delay", "needs", "gap", "age", "left", "wait", "most"), duration),
    "rest": roughly,
    **dict.fromkeys(("free", "reserve", "received"), size),
    **dict.fromkeys(("at", "until"), lambda seconds: f"{to_the_second(seconds)} UTC"),
    "share": lambda share: f"{share * 100:.0f} %",
    "status": lambda status: f"{status:.0f}",
}
"""Functions that write the params of these names; other numbers are counts and rates."""


def write_param(name: str, value: Value) -> str:
    """A param in English, as the terminal has it."""
    if isinstance(value, str):
        return " ".join(map(readable_url, value.split(" ")))  # a URL may have words behind it
    if name in _WRITERS:
        return _WRITERS[name](value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
