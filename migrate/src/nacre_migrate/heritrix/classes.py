"""Unknown classes in places where a known one is needed; the operator answers for them.

A writer that is left out leaves nothing in the archive, an extractor no links: so nothing is
assumed. The beans of the class are then read as the class of the operator's answer. A
suggestion is inferred from the name of the class, from the id of its bean, from the place that it
stands in and from its properties, in this order. It is only ever proposed.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.scope.heritrix import CLASSES, equivalent
from nacre.uri.canonical import RULES as CANONICAL
from nacre_migrate.answers import DROP, ClassAnswers, Question, UnansweredError
from nacre_migrate.files import read_table
from nacre_migrate.heritrix.beans import Bean, Ref, Setting, inside
from nacre_migrate.heritrix.chains import CHAINS, PROCESSORS
from nacre_migrate.heritrix.mappings import INSERTED, POLICIES, ClassMapping
from nacre_migrate.heritrix.scope import OLD_SCOPES
from nacre_migrate.heritrix.work import Migration
from nacre_migrate.report import missing

_TABLES = read_table(__package__, "classes.toml")

WORDS: dict[str, str] = _TABLES["words"]
"""Words that an answer may use in place of a class of Heritrix."""

_RULE_WORDS = {
    rule_class.rule: name
    for name, rule_class in reversed(CLASSES.items())
    if not rule_class.negated
}
"""Nacre's names of rules, which an answer may use too."""

_IDS: dict[str, str] = _TABLES["ids"]
"""Ids of beans in Heritrix's own profiles, and the classes that they have there."""

_ENDINGS: dict[str, str] = _TABLES["endings"]
"""Ends of names of classes, and the class of Heritrix that is found by the same type."""

_KNOWN_ADDONS: dict[str, tuple[str, str]] = {
    name: (nearest, why) for name, (nearest, why) in _TABLES["addons"].items()
}
"""Widely used classes of other projects: the nearest class, and the reason."""

_MORE_PROPERTIES: dict[str, list[str]] = _TABLES["more_properties"]
"""Properties that no table has, because they take more than one."""


class PlaceFamily(NamedTuple):
    """The classes that a place of a configuration takes.

    Attributes:
        place: The place, for people, behind the name of the bean: `is in the fetch chain`.
        classes: Classes of Heritrix that are known there.
        lost: What is lost when it is left out.
    """

    place: str
    classes: frozenset[str]
    lost: str


_NO_STEP = "what it does is not done"
_RULE = PlaceFamily(
    "decides as a rule", frozenset(CLASSES), "the rule does not decide: more or less is crawled"
)
SCOPE = PlaceFamily(
    "is the scope",
    frozenset(("DecideRuleSequence", *CLASSES, *OLD_SCOPES)),
    "Nacre's stock scope holds in its place",
)
_ROBOTS = ("CustomRobotsPolicy", "MostFavoredRobotsPolicy", "FirstNamedRobotsPolicy",
           "ObeyRobotsPolicy", "IgnoreRobotsPolicy", "RobotsTxtOnlyPolicy")  # fmt: skip
_LOGINS = ("HttpAuthenticationCredential", "Rfc2617Credential", "HtmlFormCredential")


def _policies(path: str) -> frozenset[str]:
    return frozenset(name for name, (its, _) in POLICIES.items() if its == path)


def chain(name: str) -> PlaceFamily:
    """The processors of a chain, which is called by this name."""
    return PlaceFamily(f"is in {name}", PROCESSORS, _NO_STEP)


ONE_OF_A_KIND: dict[str, PlaceFamily] = {
    "BdbFrontier": PlaceFamily("is the frontier",
                               frozenset(("BdbFrontier", "AdaptiveRevisitFrontier")),
                          "Nacre's frontier works as by default"),
    "TextSeedModule": PlaceFamily("gives the seeds", frozenset(("TextSeedModule",)),
                             "there are no seeds but those that you give"),
    "CrawlMetadata": PlaceFamily("says who crawls", frozenset(("CrawlMetadata",)),
                            "say who crawls with --contact"),
    "CrawlController": PlaceFamily("controls the crawl", frozenset(("CrawlController",)),
                              "the defaults of `engine` hold"),
    "CrawlLimitEnforcer": PlaceFamily("limits the crawl", frozenset(("CrawlLimitEnforcer",)),
                                 "the crawl has no limits"),
    "CredentialStore": PlaceFamily("holds logins", frozenset(("CredentialStore",)),
                              "nothing logs in"),
    "RulesCanonicalizationPolicy": PlaceFamily(
        "says which URLs are the same", frozenset(("RulesCanonicalizationPolicy",)),
        "Nacre's `uri.canonical` holds"),
    **{name: PlaceFamily(f"is the {part}", frozenset((name,)), lost) for name, part, lost in (
        ("CandidateChain", "candidate chain", "its processors are in no chain"),
        ("FetchChain", "fetch chain", "its processors are in no chain"),
        ("DispositionChain", "disposition chain", "its processors are in no chain"),
        ("StatisticsTracker", "module of statistics", "Nacre's statistics and reports are made"),
        ("CrawlerLoggerModule", "module of logs", "Nacre's logs are written, as by default"),
        ("SheetOverlaysManager", "manager of sheets", "the sheets of the file apply"),
        ("BdbModule", "database", "the defaults of `store` hold"),
        ("BdbServerCache", "cache of servers", "Nacre keeps what it knows of servers"),
        ("ConfigPathConfigurer", "resolver of paths", "paths are relative to the job"),
        ("ActionDirectory", "action directory", "Nacre reads JOB/action"),
        ("CheckpointService", "checkpoint service", "the defaults of `checkpoint` hold"),
        ("DiskSpaceMonitor", "monitor of disk space", "the defaults of `disk` hold"),
    )},
    "BdbCookieStore": PlaceFamily(
        "holds cookies", frozenset(("BdbCookieStore", "SimpleCookieStore")),
        "cookies are not loaded or saved"),
    "BdbUriUniqFilter": PlaceFamily(
        "knows which URLs were seen",
        frozenset(("BdbUriUniqFilter", "BloomUriUniqFilter", "NoopUriUniqFilter")),
        "Nacre knows which URLs were seen"),
}  # fmt: skip
"""Parts that a crawl has one of, by their classes."""

_ORDER_IN_CHAINS = {
    "preFetchProcessors": "the list of pre-fetch processors",
    "fetchProcessors": "the list of fetch processors",
    "extractProcessors": "the list of extract processors",
    "writeProcessors": "the list of write processors",
    "postProcessors": "the list of post processors",
}
_OF_PROPERTIES: dict[str, PlaceFamily] = {
    **{name: chain(part) for name, part in _ORDER_IN_CHAINS.items()},
    **dict.fromkeys(
        ("shouldProcessRule", "outlinkRule", "supplementaryRule", "shouldFetchBodyRule",
         "decideRules", "rejectLogRule"), _RULE
    ),
    "scope": SCOPE,
    "frontier": ONE_OF_A_KIND["BdbFrontier"],
    "canonicalizationPolicy": ONE_OF_A_KIND["RulesCanonicalizationPolicy"],
    "credentialStore": ONE_OF_A_KIND["CredentialStore"],
    "credentials": PlaceFamily("is a login", frozenset(_LOGINS), "nothing logs in by it"),
    "queueAssignmentPolicy": PlaceFamily(
        "puts URIs into queues", _policies("frontier.queue_assignment"),
        "every host has a queue"),
    "uriPrecedencePolicy": PlaceFamily(
        "orders URIs", _policies("frontier.uri_precedence") | {"PreloadedUriPrecedencePolicy"},
        "Nacre's order of URIs holds"),
    "queuePrecedencePolicy": PlaceFamily(
        "orders queues", _policies("frontier.queue_precedence"), "Nacre's order of queues holds"),
    "costAssignmentPolicy": PlaceFamily(
        "says what a fetch costs", _policies("frontier.cost"), "every fetch costs 1"),
    "robotsPolicyName": PlaceFamily(
        "says how robots.txt is obeyed", frozenset(_ROBOTS), "robots.txt is obeyed"),
}  # fmt: skip


_POLICIES_BY_TYPE = {
    "SurtAuthorityQueueAssignmentPolicy": "queueAssignmentPolicy",
    "CostUriPrecedencePolicy": "uriPrecedencePolicy",
    "BaseQueuePrecedencePolicy": "queuePrecedencePolicy",
    "UnitCostAssignmentPolicy": "costAssignmentPolicy",
}


def family_at_top(role: str) -> PlaceFamily | None:
    """The classes that may take the place of a bean that Heritrix finds by its type or id.

    Args:
        role: The class that the bean has in Heritrix's profiles.

    Returns:
        None for a processor, which takes part by its chain, and for what no crawl depends on.
    """
    name = _POLICIES_BY_TYPE.get(role)
    return ONE_OF_A_KIND.get(role) if name is None else _OF_PROPERTIES[name]


def family_of(owner: Bean, name: str) -> PlaceFamily | None:
    """The classes that a property of a bean takes; None where a crawl does not depend on it."""
    if name == "processors" and owner.kind.endswith("Chain"):
        return chain(f"the {owner.kind.removesuffix('Chain').lower()} chain")
    if name == "rules":
        same = owner.kind in {"RulesCanonicalizationPolicy", "CrawlOrder"}
        return _CANONICAL if same else _RULE
    if name in _ORDER_IN_CHAINS and owner.kind != "CrawlOrder":
        return None
    return _OF_PROPERTIES.get(name)


_CANONICAL = PlaceFamily(
    "makes URLs the same",
    frozenset((*CANONICAL, *(f"{name}Rule" for name in CANONICAL))),
    "more URLs count as different",
)


def guess(bean: Bean, family: PlaceFamily, kinds: Mapping[str, ClassMapping]) -> tuple[str, str]:
    """The class that an unknown one is taken for, and why; `drop` where none is like it.

    Args:
        bean: A bean of the class.
        family: What its place takes.
        kinds: The tables of properties.
    """
    addon = _KNOWN_ADDONS.get(bean.package)
    if addon is not None:
        return addon
    guessed = (
        _by_name(bean.kind, family.classes)
        or _by_id(bean.name, family.classes)
        or _by_words(bean.kind, family.classes)
        or _by_properties(bean, family.classes, kinds)
    )
    if guessed is None and family.classes is PROCESSORS and _WRITES.search(bean.kind):
        guessed = ("WARCWriterProcessor", "its name says that it writes")
    if guessed is None and len(family.classes) <= 2:
        guessed = (min(family.classes, key=len), f"it {family.place}")
    if guessed is None:
        return DROP, f"nothing here is like it: {family.lost}"
    its = kinds.get(guessed[0])
    if its is not None and its.flagged == "missing":
        return DROP, f"{guessed[1]}, and {its.note}"
    return guessed[0] if family is _RULE else _word(guessed[0]), guessed[1]


def meaning(answer: str, family: PlaceFamily | None) -> str:
    """The class that an answer means; "" where it means none that fits.

    Args:
        answer: A word, or a class with its package or without.
        family: What the place takes; None where the class is in no place that matters.
    """
    plain = answer.rpartition(".")[2]
    kind = WORDS.get(answer.lower()) or _RULE_WORDS.get(answer, plain)
    if family is None:
        return kind
    return kind if kind in family.classes else ""


def by_top_level(bean: Bean) -> str:
    """The class that the id of a bean on its own, or the name of its class, speaks of; or ""."""
    named = _IDS.get(bean.name)
    if named is not None:
        return named
    guessed = _by_name(bean.kind, frozenset(_IDS.values()) | {"WARCWriterChainProcessor"})
    if guessed is not None:
        return guessed[0]
    return next((kind for end, kind in _ENDINGS.items() if bean.kind.endswith(end)), "")


def _word(kind: str) -> str:
    words = (word for word, its in WORDS.items() if its == kind)
    return next(words, kind)


def _by_name(kind: str, classes: Iterable[str]) -> tuple[str, str] | None:
    if kind.startswith("Annotation"):
        return None
    inside = sorted(
        (class_name for class_name in classes if class_name in kind),
        key=lambda class_name: (-len(class_name), class_name),
    )
    if not inside:
        return None
    if inside[0] == kind:
        return kind, "a class of Heritrix has this name"
    return inside[0], f"its name has {inside[0]} in it"


def _by_id(name: str, classes: frozenset[str]) -> tuple[str, str] | None:
    begun = sorted((prefix for prefix in _IDS if name.startswith(prefix)), key=len)
    if not begun or _IDS[begun[-1]] not in classes:
        return None
    return _IDS[begun[-1]], f"in Heritrix's profile `{begun[-1]}` is one"


_WRITES = re.compile(r"(?i)writer|archiver")
_COMMON_WORDS = frozenset(
    ("Decide", "Rule", "Processor", "Extractor", "Queue", "Assignment", "Policy", "Writer",
     "Uri", "URI", "Precedence", "Has", "Not", "On", "Too", "Many", "Matches")
)  # fmt: skip


def _by_words(kind: str, classes: Iterable[str]) -> tuple[str, str] | None:
    """The class with which it shares most words."""
    if kind.startswith("Annotation"):
        return None  # annotations are nothing that a rule here could ask for
    kind_words = _split(kind)
    best, share = "", 0.5
    for name in sorted(classes):
        words = _split(name)
        rare = (kind_words & words) - _COMMON_WORDS
        now = len(kind_words & words) / len(kind_words | words)
        if rare and now > share:
            best, share = name, now
    return (best, f"its name is like {best}") if best else None


@cache
def _split(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+", name))


def _by_properties(
    bean: Bean, classes: Iterable[str], kinds: Mapping[str, ClassMapping]
) -> tuple[str, str] | None:
    """The class that has at least two of its properties, and more of them than any other."""
    properties = set(bean.settings) - {"enabled", "shouldProcessRule"}
    shared: set[str] = set()
    best = ""
    for name in sorted(classes, reverse=True):
        class_properties = {
            *(kinds[name].properties if name in kinds else ()),
            *_MORE_PROPERTIES.get(name, ()),
        }
        class_properties |= set(INSERTED[name].properties if name in INSERTED else ())
        if len(properties & class_properties) > max(len(shared), 1):
            best, shared = name, properties & class_properties
    return (best, f"it has properties of {best}: {', '.join(sorted(shared))}") if best else None


_LEFT_OUT = "left out, as you said"
_STRUCTURE = frozenset(
    (*CHAINS, "RulesCanonicalizationPolicy", "Sheet", "SurtPrefixesSheetAssociation",
     "DecideRuledSheetAssociation", "ConfigFile", "ConfigString", "HttpAuthenticationCredential",
     "Rfc2617Credential",
     "HtmlFormCredential", "DecidingScope", *OLD_SCOPES)
)  # fmt: skip
_SEQUENCE = "DecideRuleSequence"


def is_known(work: Migration, bean: Bean) -> bool:
    """Whether a table has the class of a bean: by its name and its package."""
    if bean.package.startswith(("java.", "org.springframework.")):
        return True
    if "." in bean.package and not bean.package.startswith("org.archive."):
        return False
    return has_name(work, bean.kind)


def has_name(work: Migration, kind: str) -> bool:
    """Whether a class of Heritrix that has this name is known."""
    return (
        work.kinds.get(kind) is not None
        or kind in PROCESSORS
        or kind in _STRUCTURE
        or equivalent(kind) is not None
        or kind in CANONICAL
        or kind.removesuffix("Rule") in CANONICAL
    )


def settle_classes(work: Migration, answers: ClassAnswers) -> None:
    """Read the beans of unknown classes as the operator's answers.

    Args:
        work: The migration; placeholders and overrides are filled in.
        answers: What each class stands for, by its name with package or without, or by its bean.

    Raises:
        UnansweredError: Some are not answered; the error lists all of them.
        ConfigError: An answer means nothing, or nothing that is allowed there.
    """
    needed = dict(_needed(work))
    questions: dict[str, list[tuple[Bean, PlaceFamily]]] = {}
    names = {name for bean in work.beans.beans() for name in (bean.package, bean.kind, bean.name)}
    problems = list(answers.unused(names, work.beans.file))
    for bean in list(work.beans.beans()):
        if is_known(work, bean) and not _answer(answers, bean):
            continue
        family = needed.get(bean)
        answer = _answer(answers, bean)
        if answer:
            problems += _obey(work, bean, family, answer)
        elif family is not None:
            questions.setdefault(_key(bean), []).append((bean, family))
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))
    if questions:
        raise UnansweredError(_question(work, key, places) for key, places in questions.items())


def _key(bean: Bean) -> str:
    return bean.package or bean.kind or bean.name


def _answer(answers: ClassAnswers, bean: Bean) -> str:
    return answers.of(bean.package, bean.kind, bean.name)


def _obey(
    work: Migration, bean: Bean, family: PlaceFamily | None, answer: str
) -> Iterator[Problem]:
    if answer == DROP:
        bean.switch_off()
        bean.decide_with_settings(missing(_LEFT_OUT))
        return
    kind = meaning(answer, family)
    if kind and has_name(work, kind):
        bean.read_as(kind, f"{bean.package or bean.kind} is read as {kind}, as you said")
        if family is SCOPE and kind == _SEQUENCE and "DecidingScope" in work.kinds:
            _as_deciding_scope(bean)
        return
    classes = family.classes if family is not None else work.kinds
    words = [word for word in (*classes, *WORDS) if word != answer]
    near = difflib.get_close_matches(answer, words, n=1, cutoff=0.6)
    hint = f"perhaps {near[0]}" if near else f"one of {', '.join(sorted(classes)[:12])} …"
    fault = f"`{answer}` is not allowed there"
    yield Problem(_key(bean), fault, f"{hint}; or {DROP}", file=bean.file, line=bean.line)


def _as_deciding_scope(bean: Bean) -> None:
    """In an order of Heritrix 1 a scope is not a list itself, but has one."""
    bean.read_as("DecidingScope", bean.taken_for)
    rules = bean.settings.pop("shouldProcessRule", None)
    if rules is not None:
        rules.move_to(bean, "decideRules")


def _question(work: Migration, key: str, places: list[tuple[Bean, PlaceFamily]]) -> Question:
    bean, family = places[0]
    named = list(dict.fromkeys(owner.name for owner, _ in places if owner.name))
    owners = ", ".join(named[:3]) + (" …" if len(named) > 3 else "") if named else "an inner bean"
    answer, reason = guess(bean, family, work.kinds)
    return Question(key, owners, family.place, answer, reason, bean.file, bean.line)


def _needed(work: Migration) -> Iterator[tuple[Bean, PlaceFamily]]:
    """The beans in places where a known class is needed, each with the family of its place."""
    seen: set[Bean] = set()
    waiting = [(bean, family) for bean, family in _tops(work)]
    while waiting:
        bean, family = waiting.pop()
        if bean in seen or not bean.is_true("enabled", default=True):
            continue
        seen.add(bean)
        if family is not None:
            yield bean, family
        for setting in _holding(bean):
            below = family_of(bean, setting.name.rpartition(".")[2])
            if below is not None:
                _tell_missing(work, setting)
                waiting += ((part, below) for part in _parts(work, bean, setting))


def _holding(bean: Bean) -> Iterator[Setting]:
    """Its properties; those of a sheet are of other beans."""
    for setting in bean.settings.values():
        entries = setting.value.values() if isinstance(setting.value, dict) else ()
        inner = [entry for entry in entries if isinstance(entry, Setting)]
        yield from inner or [setting]


def _parts(work: Migration, bean: Bean, setting: Setting) -> list[Bean]:
    """The beans that a property holds, in any list, map or reference."""
    if setting.name == "robotsPolicyName":
        policies = bean.settings.get("availableRobotsPolicies")
        policy_map = work.beans.resolved(policies.value) if policies is not None else None
        named = policy_map.get(setting.text) if isinstance(policy_map, dict) else None
        policy = work.beans.resolved(named) or work.beans.bean(setting.text)
        return [policy] if isinstance(policy, Bean) else []
    inner = [inner_bean for inner_bean in inside(setting.value) if inner_bean.owner is setting]
    return list(dict.fromkeys([*work.beans.beans_in(setting), *inner]))


def _tell_missing(work: Migration, setting: Setting) -> None:
    """References that lead nowhere; Heritrix would not start."""
    value = setting.value
    items = value if isinstance(value, list) else [value]
    lost = [
        item.name for item in items if isinstance(item, Ref) and work.beans.resolved(item) is None
    ]
    if lost:
        setting.doubt_value(f"there is no bean {', '.join(lost)}: what it did is missing")


def _tops(work: Migration) -> Iterator[tuple[Bean, PlaceFamily | None]]:
    """The beans that nothing else holds, and their purpose; None for known helpers."""
    beans = work.beans
    chains = beans.of_kind(*CHAINS) or any(bean.kind == "CrawlOrder" for bean in beans.beans())
    for bean in beans.beans():
        if bean.owner is not None or not beans.holds(bean):
            continue
        has_class = is_known(work, bean)
        role = bean.kind if has_class else by_top_level(bean)
        if bean.name == "scope" or role in OLD_SCOPES or role == "DecidingScope":
            yield bean, SCOPE
        elif (family := family_at_top(role)) is not None:
            yield bean, family
        elif role in PROCESSORS:
            # Where chains are said, a processor that none of them lists does nothing.
            if not chains:
                yield bean, chain("the chains")
        elif has_class:
            yield bean, None
