"""The answers of `nacre explain`: records for the terminal or JSON, and how they are made.

`explain.py` asks the job; the functions at the end turn the opinions of a scope, of robots.txt and
of the settings into answers.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec
from pydantic import BaseModel

from nacre.config.place import find, properties
from nacre.engine.prerequisites import RobotsCache
from nacre.frontier.settings import PolitenessSettings
from nacre.inspect.explain.signing import SigningAnswer
from nacre.inspect.other_jobs import QueueSharer
from nacre.inspect.reports.seed_outcomes import SeedOutcome
from nacre.inspect.rights import UrlRights
from nacre.messages import message
from nacre.runs.manifest import OriginOf
from nacre.scope.robots_txt import RobotsPolicy, RobotsState
from nacre.scope.scope import Scope
from nacre.scope.subject import Subject
from nacre.settings.sheets import STOCK, Sheets
from nacre.uri.parse import origin, request_target


class SettingAnswer(msgspec.Struct, frozen=True):
    """A setting as it holds for the URL.

    Attributes:
        path: Its path.
        value: Its value.
        origin: The sheet with the value, and its place; else the place of the value.
    """

    path: str
    value: str | int | float | bool | None
    origin: str


class Standing(StrEnum):
    """The state of a URL in the job."""

    FINISHED = "finished"
    IN_PROCESS = "in process"
    QUEUED = "queued"
    REFUSED = "refused"
    SEEN = "seen"
    KNOWN = "known"
    UNKNOWN = "unknown"


class PathStep(msgspec.Struct, frozen=True):
    """One page on the way from a seed; `status` is None where nothing is known of it."""

    url: str
    hop: str
    status: int | None


class RuleOpinion(msgspec.Struct, frozen=True):
    """The opinion of one rule on the URL.

    Attributes:
        rule: Its name.
        opinion: ACCEPT, REJECT or NONE.
        says: What it says of those URLs that it speaks of; NONE for a sequence, which may say both.
        depth: The number of sequences around it.
    """

    rule: str
    opinion: str
    says: str
    depth: int = 0


class ScopeAnswer(msgspec.Struct, frozen=True):
    """The decision of the scope now.

    Attributes:
        decision: ACCEPT, REJECT or NONE (which does not accept).
        decider: The rule that decided.
        opinions: Of each rule, in order; the last that is not NONE decides.
        assumed: Nothing is known of how it would be found: a link on a seed is assumed.
        refused_by: The rule that refused it when it was found; "" when none did.
    """

    decision: str
    decider: str
    opinions: list[RuleOpinion]
    assumed: bool = False
    refused_by: str = ""


class RobotsAnswer(msgspec.Struct, frozen=True):
    """The rule of robots.txt for the URL.

    Attributes:
        policy: `obey`, `ignore` or `custom`.
        origin: Whose file.
        known: `rules`, `allow`, `unreachable`, `redirect`; "" when it was not fetched.
        status: Fetch status of the file.
        allowed: None when that is not known.
        line: The line that decides; "" for none.
        crawl_delay: Seconds; None for none.
        error: Why the file could not be fetched; "" when it was, or that is not known.
    """

    policy: str
    origin: str
    known: str = ""
    status: int = 0
    allowed: bool | None = None
    line: str = ""
    crawl_delay: float | None = None
    error: str = ""


class QueueAnswer(msgspec.Struct, frozen=True):
    """The queue of the URL.

    Attributes:
        name: Its key.
        state: Its state; "" when there is no such queue.
        pending: URIs in it.
        errors: Final failures.
        delay: Last politeness delay, seconds.
        wait: Seconds until it may hand out again; None when the job does not run.
        backoff: Factor of the adaptive backoff after refusals; 1 for none.
        last: URL handed out last.
        why: Why it rests; "" when it does not.
        precedence: When it has its turn: lower ones sooner.
        spent: What it spent of its budget.
        budget: What it may spend in all; -1 for no limit.
        cause: What decided the last delay: a value of `DelayCause`.
        most: Longest delay of this cause, seconds; 0 if no setting of politeness bounds it.
        sharers: Other running jobs that fetch from its host; () unless they were asked for.
    """

    name: str
    state: str = ""
    pending: int = 0
    errors: int = 0
    delay: float = 0.0
    wait: float | None = None
    backoff: float = 1.0
    last: str = ""
    why: str = ""
    precedence: int = 0
    spent: int = 0
    budget: int = -1
    cause: str = ""
    most: float = 0.0
    sharers: tuple[QueueSharer, ...] = ()


class PendingAnswer(msgspec.Struct, frozen=True):
    """The position of a queued URL.

    Attributes:
        where: `queue`, or `future` until its time comes.
        ahead: Number of URIs ahead in its queue; None if not counted.
        directive: Scheduling directive, 0 (first) to 3 (links); 4 another view of known content, 5
            a kind that had nothing new lately, 6 an endless place.
        precedence: Precedence within it.
        attempts: Tries so far.
        last_status: Status of the last; 0 for none.
    """

    where: str
    ahead: int | None
    directive: int
    precedence: int
    attempts: int
    last_status: int


class PrerequisiteAnswer(msgspec.Struct, frozen=True):
    """A prerequisite of a URL that waits: `dns:`, or robots.txt.

    Attributes:
        url: Its URL.
        attempts: Tries so far.
        last_status: Status of the last; 0 for none.
        wait: Seconds until the next try; None when it has its turn in its queue.
    """

    url: str
    attempts: int
    last_status: int
    wait: float | None = None


class CaptureAnswer(msgspec.Struct, frozen=True):
    """The place of a capture, and the history of the URL.

    Attributes:
        file: WARC, relative to the job; "" when only history knows.
        offset: Of its first record there, bytes.
        date: When its content was last stored in full, ISO 8601; "" for never.
        digest: Payload digest.
        visits: Visits in all runs.
        original: URL of the capture that holds the content, where it is another's.
    """

    file: str
    offset: int
    date: str = ""
    digest: str = ""
    visits: int = 0
    original: str = ""


class Explanation(msgspec.Struct, frozen=True):
    """All that is known of a URL.

    Attributes:
        url: As asked, normalised.
        canonical: Its canonical form, by which it counts as seen.
        standing: Its state.
        same_as: The URL of the same canonical form that was crawled in its place; "" for itself.
        status: Fetch status; None when it has none.
        meaning: One sentence about the status; without a status, about what the scope accepts, for
            a URL that no rule of it speaks of.
        error: Text of the failure; "" for none.
        time: When it was fetched, ISO 8601; "" for never.
        annotations: As in crawl.log.
        path: Hop path.
        via: The page it was found on.
        context: Link context there.
        way: Pages from the seed to it, itself left out.
        scope: What the scope says.
        robots: What robots.txt says; None for a URL without (dns).
        queue: Its queue.
        pending: How it waits; None when it does not.
        behind: What it waits for; None for nothing but its turn.
        politeness: In words.
        sheets: Sheets that apply, the strongest last.
        settings: What politeness, robots policy and budgets of the URL are, and why.
        capture: Where it is; None when it was not captured.
        due: When an incremental run visits it again; "" when none does, or (of what the planner
            chooses) while the job runs.
        due_why: Why then.
        not_got: Why it was not got so far, in words; None when it was, or was never scheduled.
        next_try: When it is tried again, seconds from now; None when nothing says so.
        later: Why it goes later than other links; "" when it does not.
        recorded: Whether the job is a recording: no scope, robots.txt or queue decides in it.
        rights: What its site states on its use; None if it was not captured.
        signing: How requests to it are signed; None if this is not known.
    """

    url: str
    canonical: str
    standing: Standing
    scope: ScopeAnswer
    queue: QueueAnswer
    politeness: str
    same_as: str = ""
    status: int | None = None
    meaning: str = ""
    error: str = ""
    time: str = ""
    annotations: tuple[str, ...] = ()
    path: str = ""
    via: str = ""
    context: str = ""
    way: list[PathStep] = []
    robots: RobotsAnswer | None = None
    pending: PendingAnswer | None = None
    behind: PrerequisiteAnswer | None = None
    capture: CaptureAnswer | None = None
    sheets: tuple[str, ...] = ()
    due: str = ""
    due_why: str = ""
    later: str = ""
    rights: UrlRights | None = None
    settings: list[SettingAnswer] = []
    not_got: SeedOutcome | None = None
    next_try: float | None = None
    recorded: bool = False
    signing: SigningAnswer | None = None


def rule_opinions(scope: Scope, subject: Subject) -> list[RuleOpinion]:
    """The opinion of each rule of a scope on a URL, in order."""
    return [
        RuleOpinion(opinion.name, str(verdict.decision), str(opinion.decision), opinion.depth)
        for opinion, verdict in zip(scope.opinions, scope.trace(subject), strict=True)
    ]


def robots_answer(
    cache: RobotsCache, url: str, policy: RobotsPolicy, overlay: int = 0
) -> RobotsAnswer | None:
    """The robots.txt, expired or not, or the policy's substitute; None without one.

    Args:
        cache: What is known.
        url: The URL.
        policy: Under the settings of the URL.
        overlay: Number of these settings.
    """
    if not url.startswith(("http:", "https:")):
        return None
    site = origin(url)
    last = cache.last(site)
    entry = cache.get(site, last.expires - 1.0 if last else 0.0, overlay)
    if policy is RobotsPolicy.IGNORE or entry is None:
        allowed = True if policy is RobotsPolicy.IGNORE else None
        return RobotsAnswer(str(policy), site, allowed=allowed)
    row, rules = entry
    permitted, line = row.state is RobotsState.ALLOW, ""
    if rules is not None:
        permitted, line = rules.verdict(request_target(url))
    return RobotsAnswer(
        str(policy),
        site,
        str(row.state),
        row.status,
        None if row.state is RobotsState.REDIRECT else permitted,
        line,
        rules.crawl_delay if rules else None,
        row.error,
    )


def settings_for(
    sheets: Sheets, overlay: int, sections: Sequence[str], origin: OriginOf
) -> Iterator[SettingAnswer]:
    """The settings of some sections, under a combination of sheets.

    Args:
        sheets: The job's.
        overlay: Number of the combination.
        sections: Paths of components, such as `politeness`.
        origin: Says where a path of the configuration comes from.
    """
    settings = sheets.overlays.settings[overlay]
    for section in sections:
        part = find(settings, section).value
        if isinstance(part, BaseModel):
            for result in properties(part):
                path = f"{section}.{result.path}"
                source = origin_under(sheets, overlay, path, origin)
                yield SettingAnswer(path, _plain(result.value), source)


def origin_under(sheets: Sheets, overlay: int, path: str, origin: OriginOf) -> str:
    """The origin of the value of a path, under a combination of sheets."""
    all_sheets = sheets.overlays.sheets
    for name in reversed(sheets.names(overlay)):
        sheet = all_sheets.get(name)
        if sheet is None:
            continue
        for value in sheet.values:
            if path == value or path.startswith(value + "."):
                where = str(origin(f"sheets.{name}.{value}"))
                stock = name in STOCK and where == "default"
                return f"sheet {name}, {'comes with Nacre' if stock else where}"
    return str(origin(path))


def politeness_text(politeness: PolitenessSettings) -> str:
    """The politeness of the settings, in words."""
    if politeness.delay is not None:
        return message(
            "explain.s-between-fetches",
            "{delay:g} s between fetches, {in_flight} at a time",
            delay=politeness.delay,
            in_flight=politeness.in_flight,
        )
    return message(
        "explain.times-last-fetch",
        "{delay_factor:g} times the last fetch, {min_delay:g} to {max_delay:g} s, "
        "{in_flight} at a time",
        delay_factor=politeness.delay_factor,
        min_delay=politeness.min_delay,
        max_delay=politeness.max_delay,
        in_flight=politeness.in_flight,
    )


def _plain(value: object) -> str | float | bool | None:
    return value if value is None or isinstance(value, str | int | float) else str(value)
