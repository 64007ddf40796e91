"""Adaptive revisiting of Heritrix 1: its frontier and its wait evaluators become a schedule."""

from nacre.migrate.fate import defaulted, mapped, to_check
from nacre.migrate.heritrix.beans import Bean, Setting
from nacre.migrate.heritrix.work import Work

_SCHEDULE = "recrawl.schedule"
_WAITS = f"{_SCHEDULE}.heritrix."
_FIRST = ("first", "first_text", "first_image")
_COMMON = {
    "maxWaitIntervalSeconds": "longest",
    "minWaitIntervalSeconds": "shortest",
    "unchangedFactor": "grow",
    "changedFactor": "shrink",
    "defaultWaitIntervalSeconds": "unknown",
    "defaultWaitInterval": "unknown",
}
_CONTENT = ("contentRegex", "contentRegularExpression", "contentRegexpr")


def map_again(work: Work, bean: Bean) -> None:
    """AdaptiveRevisitFrontier: pages come back after an interval of their own."""
    work.draft.put(f"{_SCHEDULE}.kind", "heritrix", f"{bean.kind}, {bean.file}:{bean.line}")
    bean.fate = mapped(_SCHEDULE, "`nacre recrawl JOB --continuous` visits pages when they are due")


def map_waits(work: Work, bean: Bean) -> None:
    """A wait evaluator, for all media types or for those that match an expression."""
    bean.fate = mapped(f"{_SCHEDULE}.heritrix")
    content = next((bean.settings[name] for name in _CONTENT if name in bean.settings), None)
    fields = _FIRST if content is None else _of_content(content.text)
    if content is not None:
        content.fate = (
            mapped(_WAITS + fields[0])
            if fields
            else to_check(
                "first intervals are told apart for text and images alone", _WAITS + "first"
            )
        )
    for name, setting in bean.settings.items():
        if name == "initialWaitIntervalSeconds":
            _first(work, setting, fields, general=content is None)
        elif name in _COMMON:
            _common(work, setting, _COMMON[name])
        elif setting.fate is None:
            setting.fate = defaulted("overdue pages come first, in order of their time")


def _of_content(expression: str) -> tuple[str, ...]:
    known = {"text": ("first_text",), "image": ("first_image",)}
    return known.get(expression.lstrip("^(").partition("/")[0], ())


def _first(work: Work, setting: Setting, fields: tuple[str, ...], *, general: bool) -> None:
    value = _number(setting)
    for field in fields if value is not None else ():
        # What an evaluator of one media type said goes before what holds for all.
        if not (general and field != "first" and _WAITS + field in work.draft.settings):
            work.put(setting, _WAITS + field, value)
    if setting.fate is None:
        setting.fate = to_check("of media types that are not told apart", _WAITS + "first")


def _common(work: Work, setting: Setting, field: str) -> None:
    value, path = _number(setting), _WAITS + field
    if value is None:
        return
    if field == "shrink":
        value = 1.0 / value
    if work.draft.settings.get(path, value) != value:
        setting.fate = to_check("evaluators differ in it; here it is one for all pages", path)
    else:
        work.put(setting, path, value)


def _number(setting: Setting) -> float | None:
    try:
        value = float(setting.text)
    except ValueError:
        value = 0.0
    if value > 0.0:
        return value
    setting.fate = to_check("not a number over 0")
    return None
