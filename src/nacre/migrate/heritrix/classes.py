"""Classes that are not known, but stand where a known one is needed: the operator has to answer.

A writer that is left out leaves nothing in the archive, an extractor no links: so nothing is
assumed. Whatever the operator says, the beans of the class are read as that from then on.
"""

import difflib
from collections.abc import Iterator

from nacre.errors import ConfigError, Problem
from nacre.migrate.answers import DROP, Answers, Question, UnansweredError
from nacre.migrate.fate import missing
from nacre.migrate.heritrix.beans import Bean, Ref, Setting, inside
from nacre.migrate.heritrix.chains import CHAINS, PROCESSORS
from nacre.migrate.heritrix.order_scope import OLD
from nacre.migrate.heritrix.roles import (
    ONE_OF_A_KIND,
    SCOPE,
    WORDS,
    Family,
    by_top_level,
    chain,
    family_of,
    guess,
    meaning,
)
from nacre.migrate.heritrix.work import Work, decide_all
from nacre.scope.heritrix import equivalent
from nacre.uri.canonical import RULES as CANONICAL

_LEFT_OUT = "left out, as you said"
_STRUCTURE = frozenset(
    (*CHAINS, "RulesCanonicalizationPolicy", "Sheet", "SurtPrefixesSheetAssociation",
     "DecideRuledSheetAssociation", "ConfigFile", "ConfigString", "HttpAuthenticationCredential",
     "Rfc2617Credential",
     "HtmlFormCredential", "DecidingScope", *OLD)
)  # fmt: skip
_SEQUENCE = "DecideRuleSequence"


def is_known(work: Work, bean: Bean) -> bool:
    """Whether a table says what becomes of a bean: by the name of its class and its package."""
    if bean.package.startswith(("java.", "org.springframework.")):
        return True
    if "." in bean.package and not bean.package.startswith("org.archive."):
        return False
    return has_name(work, bean.kind)


def has_name(work: Work, kind: str) -> bool:
    """Whether a class of Heritrix that has this name is known."""
    return (
        work.kinds.get(kind) is not None
        or kind in PROCESSORS
        or kind in _STRUCTURE
        or equivalent(kind) is not None
        or kind in CANONICAL
        or kind.removesuffix("Rule") in CANONICAL
    )


def settle_classes(work: Work, answers: Answers) -> None:
    """Read the beans of unknown classes as the operator says.

    Args:
        work: The migration; placeholders and overrides are filled in.
        answers: What each class stands for, by its name with package or without, or by its bean.

    Raises:
        UnansweredError: Some are not answered; all of them are told.
        ConfigError: An answer means nothing, or nothing that can stand there.
    """
    needed = dict(_needed(work))
    questions: dict[str, list[tuple[Bean, Family]]] = {}
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
        raise UnansweredError(_question(work, key, said) for key, said in questions.items())


def _key(bean: Bean) -> str:
    return bean.package or bean.kind or bean.name


def _answer(answers: Answers, bean: Bean) -> str:
    return answers.of(bean.package, bean.kind, bean.name)


def _obey(work: Work, bean: Bean, family: Family | None, answer: str) -> Iterator[Problem]:
    if answer == DROP:
        bean.active = False
        bean.fate = missing(_LEFT_OUT)
        decide_all(bean.settings.values(), bean.fate)
        return
    kind = meaning(answer, family)
    if kind and has_name(work, kind):
        bean.taken_for = f"{bean.package or bean.kind} is read as {kind}, as you said"
        bean.kind = kind
        if family is SCOPE and kind == _SEQUENCE and "DecidingScope" in work.kinds:
            _as_deciding_scope(bean)
        return
    classes = family.classes if family is not None else work.kinds
    near = difflib.get_close_matches(answer, [*classes, *WORDS], n=1, cutoff=0.6)
    hint = f"perhaps {near[0]}" if near else f"one of {', '.join(sorted(classes)[:12])} …"
    why = f"`{answer}` is nothing that can stand there"
    yield Problem(_key(bean), why, f"{hint}; or {DROP}", file=bean.file, line=bean.line)


def _as_deciding_scope(bean: Bean) -> None:
    """In an order of Heritrix 1 a scope is no list itself, but has one."""
    bean.kind = "DecidingScope"
    rules = bean.settings.pop("shouldProcessRule", None)
    if rules is not None:
        rules.name = "decideRules"
        bean.settings[rules.name] = rules


def _question(work: Work, key: str, said: list[tuple[Bean, Family]]) -> Question:
    bean, family = said[0]
    named = list(dict.fromkeys(one.name for one, _ in said if one.name))
    who = ", ".join(named[:3]) + (" …" if len(named) > 3 else "") if named else "an inner bean"
    what, why = guess(bean, family, work.kinds)
    return Question(key, who, family.place, what, why, bean.file, bean.line)


def _needed(work: Work) -> Iterator[tuple[Bean, Family]]:
    """The beans that stand where a known class is needed, each with what its place takes."""
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
                waiting += ((one, below) for one in _parts(work, bean, setting))


def _holding(bean: Bean) -> Iterator[Setting]:
    """Its properties; those of a sheet are of other beans."""
    for setting in bean.settings.values():
        entries = setting.value.values() if isinstance(setting.value, dict) else ()
        inner = [one for one in entries if isinstance(one, Setting)]
        yield from inner or [setting]


def _parts(work: Work, bean: Bean, setting: Setting) -> list[Bean]:
    """The beans that a property holds, in any list, map or reference."""
    if setting.name == "robotsPolicyName":
        policies = bean.settings.get("availableRobotsPolicies")
        known = work.beans.resolved(policies.value) if policies is not None else None
        named = known.get(setting.text) if isinstance(known, dict) else None
        found = work.beans.resolved(named) or work.beans.bean(setting.text)
        return [found] if isinstance(found, Bean) else []
    here = [one for one in inside(setting.value) if one.owner is setting]
    return list(dict.fromkeys([*work.beans.beans_in(setting), *here]))


def _tell_missing(work: Work, setting: Setting) -> None:
    """References that lead nowhere; Heritrix would not start."""
    value = setting.value
    items = value if isinstance(value, list) else [value]
    lost = [one.name for one in items if isinstance(one, Ref) and work.beans.resolved(one) is None]
    if lost:
        setting.doubt = f"there is no bean {', '.join(lost)}: what it did is missing"


def _tops(work: Work) -> Iterator[tuple[Bean, Family | None]]:
    """The beans that nothing else holds, and what they are for; None for known helpers."""
    beans = work.beans
    chains = beans.of_kind(*CHAINS) or any(bean.kind == "CrawlOrder" for bean in beans.beans())
    for bean in beans.beans():
        if bean.owner is not None or not beans.holds(bean):
            continue
        known = is_known(work, bean)
        role = bean.kind if known else by_top_level(bean)
        if bean.name == "scope" or role in OLD or role == "DecidingScope":
            yield bean, SCOPE
        elif role in ONE_OF_A_KIND:
            yield bean, ONE_OF_A_KIND[role]
        elif role in PROCESSORS:
            # Where chains are said, a processor that none of them lists does nothing.
            if not chains:
                yield bean, chain("the chains")
        elif known:
            yield bean, None
