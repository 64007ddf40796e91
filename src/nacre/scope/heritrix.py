"""Heritrix's names of rules and of their settings, as Nacre's.

A rule may be written with its class name, `TooManyHopsDecideRule`, or with its qualified class
name. Its settings may then have Heritrix's names too.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_PACKAGE = re.compile(r"org\.archive\.(?:\w+\.)+(?=[A-Z]\w*\Z)")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")

Convert = Callable[[Any], dict[str, Any]]


class Equivalent(NamedTuple):
    """The rule that is equivalent to one of Heritrix's classes.

    Attributes:
        rule: Short name of the rule.
        negated: It is turned round by `not`.
        settings: Heritrix's name of a setting -> Nacre's, or what its value means; the others are
            written `in_snake_case`.
        defaults: Settings whose defaults differ.
    """

    rule: str
    negated: bool = False
    settings: Mapping[str, str | Convert] = {}
    defaults: Mapping[str, Any] = {}


def _every(value: Any) -> dict[str, Any]:  # noqa: ANN401 - a value of the operator's
    return {"all": str(value).lower() == "false"}


def _lines(value: Any) -> dict[str, Any]:  # noqa: ANN401 - as YAML has it
    """Return a `surtsSource`: text of lines, a list, or `{path: FILE}`."""
    if isinstance(value, Mapping):
        file = value.get("path") or value.get("file")
        return {"files": [file]} if file else _lines(value.get("value", ""))
    if isinstance(value, str):
        value = value.splitlines()
    return {"prefixes": [line for line in value or () if str(line).strip()]}


def _ignore(_: object) -> dict[str, Any]:
    return {}


_SURTS: Mapping[str, str | Convert] = {
    "seedsAsSurtPrefixes": "seeds_as_prefixes",
    "surtsSource": _lines,
    "surtsSourceFile": "files",
    "surtsDumpFile": "dump_file",
}
_DUMPED = {"dump_file": "${launchId}/surts.dump"}
_LIST: Mapping[str, str | Convert] = {
    "regexList": "regexes",
    "listLogicalOr": _every,
    "timeoutPerRegexSeconds": "timeout",
}
_LENGTH: Mapping[str, str | Convert] = {"contentLengthThreshold": "threshold"}
_NO_SCRIPT: Mapping[str, str | Convert] = {
    "groovyExpression": "expression",
    "scriptSource": "expression",
    "engineName": _ignore,
    "isolateThreads": _ignore,
}


def _twins(name: str, negative: str, rule: str, **options: Any) -> dict[str, Equivalent]:  # noqa: ANN401 - as YAML has it
    return {name: Equivalent(rule, **options), negative: Equivalent(rule, negated=True, **options)}


CLASSES: dict[str, Equivalent] = {
    "AcceptDecideRule": Equivalent("accept"),
    "RejectDecideRule": Equivalent("reject"),
    "DecideRuleSequence": Equivalent("sequence"),
    "DecideRuleSequenceWithAMQPFeed": Equivalent("sequence", defaults={"feed": True}),
    **_twins(
        *("SurtPrefixedDecideRule", "NotSurtPrefixedDecideRule", "surt-prefixed"),
        settings=_SURTS,
        defaults=_DUMPED,
    ),
    **_twins(
        *("OnHostsDecideRule", "NotOnHostsDecideRule", "on-hosts"),
        settings=_SURTS,
        defaults=_DUMPED,
    ),
    **_twins(
        *("OnDomainsDecideRule", "NotOnDomainsDecideRule", "on-domains"),
        settings=_SURTS,
        defaults=_DUMPED,
    ),
    "ViaSurtPrefixedDecideRule": Equivalent(
        "via-surt-prefixed", settings={"surtPrefixes": "prefixes"}
    ),
    "TooManyHopsDecideRule": Equivalent("too-many-hops"),
    "TransclusionDecideRule": Equivalent("transclusion"),
    "PrerequisiteAcceptDecideRule": Equivalent("prerequisite-accept"),
    "SeedAcceptDecideRule": Equivalent("seed-accept"),
    "HasViaDecideRule": Equivalent("has-via"),
    "SourceSeedDecideRule": Equivalent("source-seed", settings={"sourceSeeds": "seeds"}),
    "AddRedirectFromRootServerToScope": Equivalent("add-redirect-from-root"),
    "PathologicalPathDecideRule": Equivalent("pathological-path"),
    "TooManyPathSegmentsDecideRule": Equivalent("too-many-path-segments"),
    "HopsPathMatchesRegexDecideRule": Equivalent("hops-path-matches-regex"),
    **_twins("MatchesRegexDecideRule", "NotMatchesRegexDecideRule", "matches-regex"),
    **_twins(
        *("MatchesListRegexDecideRule", "NotMatchesListRegexDecideRule", "matches-list-regex"),
        settings=_LIST,
    ),
    **_twins(
        *("MatchesFilePatternDecideRule", "NotMatchesFilePatternDecideRule", "file-pattern"),
        settings={"usePreset": "preset"},
    ),
    "SchemeNotInSetDecideRule": Equivalent("scheme-not-in-set"),
    "HopCrossesAssignmentLevelDomainDecideRule": Equivalent("hop-crosses-domain"),
    "IpAddressSetDecideRule": Equivalent("ip-address-set", settings={"ipAddresses": "addresses"}),
    "ExternalGeoLocationDecideRule": Equivalent(
        "geo-location", settings={"countryCodes": "countries"}
    ),
    "ClassKeyMatchesRegexDecideRule": Equivalent("queue-matches-regex"),
    **_twins(
        *("ContentTypeMatchesRegexDecideRule", "ContentTypeNotMatchesRegexDecideRule"),
        "content-type-matches-regex",
    ),
    "FetchStatusDecideRule": Equivalent("fetch-status", settings={"statusCodes": "statuses"}),
    **_twins(
        *("FetchStatusMatchesRegexDecideRule", "FetchStatusNotMatchesRegexDecideRule"),
        "fetch-status-matches-regex",
    ),
    **_twins(
        *("MatchesStatusCodeDecideRule", "NotMatchesStatusCodeDecideRule", "status-between"),
        settings={"lowerBound": "lower", "upperBound": "upper"},
    ),
    "ContentLengthDecideRule": Equivalent("content-length", settings=_LENGTH),
    "ResourceNoLongerThanDecideRule": Equivalent("resource-no-longer-than", settings=_LENGTH),
    "ResourceLongerThanDecideRule": Equivalent("resource-longer-than", settings=_LENGTH),
    "ResponseContentLengthDecideRule": Equivalent(
        "response-length-between", settings={"lowerBound": "lower", "upperBound": "upper"}
    ),
    "IdenticalDigestDecideRule": Equivalent("identical-digest"),
    "ScriptedDecideRule": Equivalent("expression", settings=_NO_SCRIPT),
    "ExpressionDecideRule": Equivalent("expression", settings=_NO_SCRIPT),
}
"""Every rule of Heritrix 3, including contrib."""

_ALL = {"enabled", "comment", "name"}


def equivalent(class_name: str) -> Equivalent | None:
    """Return the equivalent of a class, with or without its package; None for an unknown class."""
    return CLASSES.get(_PACKAGE.sub("", class_name))


def short_form(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule with Nacre's names; a rule that has them already stays unchanged.

    A twin such as `NotOnHostsDecideRule` becomes a `not`.
    """
    name = settings.get("rule")
    heritrix_rule = equivalent(name) if isinstance(name, str) else None
    if heritrix_rule is None:
        return dict(settings)
    values: dict[str, Any] = {"rule": heritrix_rule.rule, **heritrix_rule.defaults}
    for key, value in settings.items():
        if key != "rule":
            values.update(_setting(heritrix_rule, key, value))
    if not heritrix_rule.negated:
        return values
    outer = {key: values.pop(key) for key in _ALL & values.keys()}
    return {"rule": "not", **outer, "of": values}


def _setting(heritrix_rule: Equivalent, key: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - as YAML has it
    target = heritrix_rule.settings.get(key)
    if target is None:
        return {_HUMP.sub(lambda hump: f"_{hump[0].lower()}", key): value}
    return target(value) if callable(target) else {target: value}
