"""`nacre explain` as text."""

from collections.abc import Iterator

from nacre.cli.output import count, program, table, typed
from nacre.cli.summary import reason
from nacre.core.clock import duration
from nacre.core.crawluri import Directive
from nacre.core.status import STATUS_TABLE, FetchStatus, describe
from nacre.inspect.explain.answers import (
    Explanation,
    PrerequisiteAnswer,
    RobotsAnswer,
    RuleOpinion,
    ScopeAnswer,
    Standing,
)
from nacre.inspect.explain.signing import SigningAnswer
from nacre.inspect.other_jobs import sharing_text
from nacre.inspect.rights import UrlRights
from nacre.job.diagnosis import delay_diagnosis
from nacre.job.diagnosis_text import diagnosis_text
from nacre.uri.parse import host
from nacre.wire.urltext import letters_of_host, readable_url

_HOPS = {
    "": "seed",
    "L": "link",
    "E": "embed",
    "X": "speculative link",
    "R": "redirect",
    "P": "prerequisite",
    "I": "inferred",
    "M": "manifest",
    "S": "form",
}


def _in_letters(url: str) -> str:
    """Return a URL as people read it, with its host in letters of all scripts."""
    name = host(url)
    return readable_url(url).replace(name, letters_of_host(name), 1) if name else readable_url(url)


def explanation_lines(explanation: Explanation, job: str = "JOB") -> Iterator[str]:
    """Yield the lines, the answer first; `job` is its directory, for the next command."""
    yield explanation.url
    text = _in_letters(explanation.url)
    if text != explanation.url:
        yield from _section("reads", [text])
    yield from _section("answer", _answer(explanation))
    if explanation.standing is Standing.KNOWN:
        yield from _section("look", [f"{program()} history {job} url {typed(explanation.url)}"])
    if explanation.canonical != explanation.url:
        yield from _section("counts as", [explanation.canonical])
    if explanation.recorded:
        yield from _section("requested", _request(explanation))
    else:
        yield from _decisions(explanation)
    if explanation.due:
        yield from _section("due again", [f"{explanation.due}: {explanation.due_why}"])
    yield from _stored(explanation, job)


def _decisions(explanation: Explanation) -> Iterator[str]:
    """Yield what decided about a URL: how it was found, scope, robots.txt, queue, politeness."""
    yield from _section("found", _discovery(explanation))
    yield from _section("scope", _scope(explanation.scope))
    if explanation.robots is not None:
        lines = robots_lines(explanation.robots)
        behind = explanation.behind
        if (
            not explanation.robots.known
            and behind is not None
            and behind.attempts
            and _is_robots(behind)
        ):
            lines = [f"that of {explanation.robots.origin} could not be fetched so far: see queue"]
        elif (
            not explanation.robots.known
            and explanation.status == FetchStatus.PREREQUISITE_ROBOTS_FAILED
        ):
            lines = [f"that of {explanation.robots.origin} could not be fetched: see answer"]
        yield from _section("robots.txt", lines)
    yield from _section("queue", _queue(explanation))
    if explanation.sheets:
        yield from _section(
            "sheets", [f"{', '.join(explanation.sheets)} (the last is the strongest)"]
        )
    yield from _section(
        "politeness", [explanation.politeness, *_origins(explanation, "politeness.")]
    )
    if explanation.signing is not None:
        yield from _section("signed", [_signing(explanation.signing)])
    yield from _section("other", _origins(explanation, ""))


def _signing(signing: SigningAnswer) -> str:
    if signing.unread:
        return f"yes, from {signing.origin}; this user cannot read the key {signing.unread}"
    if not signing.keyid:
        return f"no, from {signing.origin}"
    return f"by the key {signing.keyid}, from {signing.origin}"


def _request(explanation: Explanation) -> list[str]:
    """Return how a URL was requested in a recording, in which nothing else decides."""
    if explanation.standing is not Standing.FINISHED:
        return []
    kind = explanation.context.rpartition("/")[2]
    lines = ["by a browser or a program" + (f" ({kind})" if kind not in {"", "other"} else "")]
    return [*lines, f"on the page {explanation.via}"] if explanation.via else lines


def _stored(explanation: Explanation, job: str) -> Iterator[str]:
    """Yield the captures of a URL, and the preferences that hold for it."""
    if explanation.capture is not None:
        yield from _section("captures", _captures(explanation))
    if explanation.rights is not None:
        yield from _section("rights", _rights(explanation.rights, job))


def _rights(rights: UrlRights, job: str) -> list[str]:
    """Return what the site states on the use of a URL, and the command that shows the lines."""
    stated = (f"{key} {value}" for key, value in rights.uses.items() if key != "crawl")
    lines = [", ".join(stated)]
    if rights.missing:
        lines.append(f"not collected: {', '.join(rights.missing)}")
    return [*lines, f"{program()} rights {job} {typed(rights.url)}"]


def _section(name: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {'' if number else name:<11} {line}"


def _answer(explanation: Explanation) -> list[str]:
    lines = [_standing(explanation)]
    if explanation.status is None and explanation.meaning:
        lines.append(explanation.meaning)
    if explanation.same_as:
        lines.append(
            f"it counts as the same as {explanation.same_as}, which is fetched in its place"
        )
    if explanation.not_got is not None:
        cause_text = f"why: {reason(explanation.not_got, explanation.next_try)}"
        lines.append(cause_text.removesuffix(f" ({explanation.status})"))
    if explanation.error and not any(explanation.error in line for line in lines):
        lines.append(explanation.error)
    if explanation.time:
        lines.append(f"fetched {explanation.time}")
    if explanation.annotations:
        lines.append(f"annotations: {', '.join(explanation.annotations)}")
    return lines


_PLAIN = {
    Standing.IN_PROCESS: "it is being fetched at this moment",
    Standing.SEEN: "it was scheduled, but is not among the first URIs of its queue",
    Standing.KNOWN: "known from earlier runs, and not visited in this one: it was not chosen",
}


def _standing(explanation: Explanation) -> str:
    match explanation.standing:
        case Standing.FINISHED:
            return _finished(explanation)
        case Standing.QUEUED:
            return _queued(explanation)
        case Standing.REFUSED:
            if _refused_elsewhere(explanation.scope):
                return f"not crawled: refused by {explanation.scope.refused_by}"
            return f"not crawled: out of scope, refused by the rule {explanation.scope.refused_by}"
        case Standing.UNKNOWN:
            return _unknown(explanation)
        case plain:
            return _PLAIN[plain]


def _queued(explanation: Explanation) -> str:
    if (
        explanation.robots is not None
        and explanation.robots.allowed is False
        and explanation.behind is None
    ):
        return "it waits for its turn, and will not be fetched then: robots.txt denies it"
    if explanation.behind is not None and explanation.behind.attempts:
        first = "robots.txt" if _is_robots(explanation.behind) else "the address of its host"
        return f"it waits for {first}, which could not be fetched so far: see queue"
    if explanation.pending is not None and explanation.pending.attempts:
        last = explanation.pending.last_status
        short = ", cut short" if 0 < last < 400 else ""
        return f"it waits to be tried again; the last try: {describe(last).rstrip('.')}{short}"
    if explanation.later:
        last = (
            explanation.pending is not None and explanation.pending.directive == Directive.ENDLESS
        )
        behind = "until nothing else is left" if last else "behind other links"
        return f"it waits {behind}: {explanation.later}"
    return "it waits to be fetched"


def _is_robots(answer: PrerequisiteAnswer) -> bool:
    return not answer.url.startswith("dns:")


def _behind(answer: PrerequisiteAnswer) -> str:
    """Return the prerequisite, its outcome, and when it is tried again."""
    text = f"waits for {answer.url}, which was "
    if not answer.attempts:
        return text + "not tried yet"
    text += f"tried {count(answer.attempts, 'time')}"
    if answer.last_status:
        text += f" ({answer.last_status}: {describe(answer.last_status).rstrip('.')})"
    if answer.wait is None:
        return text + "; tried again when its turn comes"
    return text + f"; tried again in {duration(max(answer.wait, 0.0))}"


def _unknown(explanation: Explanation) -> str:
    if explanation.recorded:
        return "not requested in this recording"
    would = "would be crawled" if explanation.scope.decision == "ACCEPT" else "would not be crawled"
    return f"never seen in this crawl; found by a link on a seed it {would}"


def _finished(explanation: Explanation) -> str:
    status = explanation.status or 0
    if explanation.capture is not None and explanation.capture.file:
        text = "captured"
    else:
        text = "fetched" if status > 0 else "not captured"
    if status in STATUS_TABLE:
        return f"{text}: {status} {STATUS_TABLE[FetchStatus(status)].name}. {explanation.meaning}"
    return f"{text}: {explanation.meaning}"


def _discovery(explanation: Explanation) -> list[str]:
    if explanation.standing is Standing.KNOWN:
        return ["not in this run"]
    if explanation.scope.assumed:
        return ["never"]
    lines = []
    for step in explanation.way:
        status = "" if step.status is None else f" ({_status(step.status)})"
        lines.append(f"{_HOPS.get(step.hop, step.hop)}: {step.url}{status}")
    last = _HOPS.get(explanation.path[-1:], explanation.path[-1:])
    context = (
        f" by {explanation.context}"
        if explanation.context not in ("", last) and explanation.path
        else ""
    )
    path = f", hop path {explanation.path}" if explanation.path else ""
    return [*lines, f"{last}: this URL{context}{path}"]


def _status(status: int) -> str:
    return str(status) if status > 0 else describe(status).rstrip(".")


def _scope(scope: ScopeAnswer) -> list[str]:
    head = f"{scope.decision}, decided by {scope.decider}"
    if scope.assumed:
        head += " (as a link on a seed)"
    elif _refused_elsewhere(scope):
        head += "; the present scope has no such rule"
    elif scope.refused_by and scope.decision == "ACCEPT":
        head += "; the scope has changed since it was refused"
    rows = [
        (o.opinion, f"{'  ' * o.depth}{o.rule}{_mark(scope, o)}")
        if o.opinion != "NONE"
        else ("-", f"{'  ' * o.depth}{o.rule}{_could(o)}")
        for o in scope.opinions
    ]
    return [head, *table(rows).split("\n")] if rows else [head]


def _refused_elsewhere(scope: ScopeAnswer) -> bool:
    """A processor of the candidate chain refused it, or a rule that is gone."""
    rules = {opinion.rule for opinion in scope.opinions}
    return scope.decision == "ACCEPT" and scope.refused_by not in {"", *rules}


def _could(rule: RuleOpinion) -> str:
    return "" if rule.says == "NONE" else f" (could say {rule.says})"


def _mark(scope: ScopeAnswer, rule: RuleOpinion) -> str:
    last = next(o for o in reversed(scope.opinions) if o.opinion != "NONE")
    return "   <- the last rule with an opinion decides" if rule is last else ""


def robots_lines(robots: RobotsAnswer) -> list[str]:
    """The lines about robots.txt."""
    if robots.policy == "ignore":
        return ["not obeyed (robots.policy is ignore)"]
    if not robots.known:
        return [f"that of {robots.origin} has not been fetched"]
    cause_text = f"{robots.status}: {robots.error}" if robots.error else f"status {robots.status}"
    texts = {
        "allow": f"there is none (status {robots.status}): everything is allowed",
        "unreachable": f"it could not be fetched ({cause_text}): nothing is allowed",
        "redirect": "it redirects elsewhere, and was not fetched there yet",
    }
    if robots.known in texts:
        return [texts[robots.known]]
    verdict = "allowed" if robots.allowed else "denied"
    lines = [
        f"{verdict} by the line `{robots.line}`"
        if robots.line
        else f"{verdict}: no line applies to it"
    ]
    if robots.crawl_delay is not None:
        lines.append(f"Crawl-delay: {robots.crawl_delay:g} s")
    return lines


def _queue(explanation: Explanation) -> list[str]:
    queue = explanation.queue
    if not queue.state:
        return [f"{queue.name} (there is none yet)"]
    text = f"{queue.name} is {queue.state}: {count(queue.pending, 'URI')} waiting"
    if queue.errors:
        text += f", {queue.errors} failed"
    lines = [text]
    if queue.why:
        lines.append(queue.why)
    lines += map(sharing_text, queue.sharers)
    budget = f" of {queue.budget}" if queue.budget >= 0 else ""
    lines.append(f"precedence {queue.precedence}, spent {queue.spent}{budget}")
    if explanation.pending is not None:
        pending = explanation.pending
        place = "waits for its time" if pending.ahead is None else f"{pending.ahead} ahead"
        lines.append(
            f"{place}; directive {pending.directive}, precedence {pending.precedence}, "
            f"{count(pending.attempts, 'try', 'tries')} so far"
        )
    if explanation.behind is not None:
        lines.append(_behind(explanation.behind))
    if queue.wait is not None and queue.wait > 0:
        lines.append(f"hands out again in {duration(queue.wait)}")
    if queue.delay:
        sentence = delay_diagnosis(queue.cause, queue.most)
        cause_text = f": {diagnosis_text(sentence)}" if sentence else ""
        lines.append(f"last delay {duration(queue.delay)}, backoff {queue.backoff:.1f}{cause_text}")
    return lines


def _origins(explanation: Explanation, section: str) -> list[str]:
    """Return the given settings with their origins; those of politeness are separate."""
    return [
        f"{setting_item.path} = {_plain(setting_item.value)}, from {setting_item.origin}"
        for setting_item in explanation.settings
        if setting_item.origin not in {"default", "program"}
        and setting_item.path.startswith("politeness.") == bool(section)
    ]


def _plain(value: str | float | bool | None) -> str:
    """A value as `crawl.yaml` writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def _captures(explanation: Explanation) -> list[str]:
    capture = explanation.capture
    if capture is None:
        return []
    lines = []
    if capture.file:
        lines.append(f"{capture.file}, offset {capture.offset}")
    if capture.visits:
        lines.append(f"visited {count(capture.visits, 'time')}")
    if capture.date:
        lines.append(f"content of {capture.date}, {capture.digest}")
    if capture.original:
        lines.append(f"the same content as {capture.original}")
    return lines
