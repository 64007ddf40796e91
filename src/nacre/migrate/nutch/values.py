"""Properties of Nutch that are one setting of Nacre, with another unit at most."""

from collections.abc import Callable
from typing import Any, NamedTuple

from nacre.migrate.draft import Draft
from nacre.migrate.nutch.conf import Conf, Property
from nacre.migrate.nutch.fate import Fate, defaulted, mapped, to_check

Convert = Callable[[str], Any]
"""The value of the setting; None where Nacre's default says it. Raises ValueError."""


def whole(text: str) -> int:
    """A whole number, also where it is written as a decimal."""
    return int(float(text))


def flag(text: str) -> bool:
    """True or false."""
    if text.lower() not in {"true", "false"}:
        raise ValueError("neither true nor false")
    return text.lower() == "true"


def _not(text: str) -> bool:
    return not flag(text)


def _seconds_of_ms(text: str) -> float:
    return max(float(text), 0.0) / 1000


def _limit(text: str) -> int:
    """A negative number means no limit, which is 0 here."""
    return max(whole(text), 0)


def _all_links(text: str) -> int:
    links = whole(text)
    return links if links >= 0 else 1_000_000


def _minutes(text: str) -> float | None:
    minutes = float(text)
    return minutes * 60 if minutes > 0 else None


def _positive_seconds(text: str) -> float | None:
    seconds = float(text)
    return seconds if seconds > 0 else None


def _crawl_delay(text: str) -> float:
    seconds = float(text)
    return seconds if seconds >= 0 else 86_400.0


class Value(NamedTuple):
    """How a property is mapped.

    Attributes:
        paths: The settings that it becomes.
        convert: Makes the value.
        always: The stock value is said too; else Nacre's default stands in for it.
        note: What differs.
    """

    paths: tuple[str, ...]
    convert: Convert
    always: bool = False
    note: str = ""


_LONGER = "Nacre keeps whole documents unless told otherwise"

VALUES: dict[str, Value] = {
    "fetcher.server.delay": Value(("politeness.delay",), float, always=True),
    "fetcher.threads.fetch": Value(("engine.parallel",), whole, always=True),
    "fetcher.threads.per.queue": Value(("politeness.in_flight",), whole),
    "fetcher.max.crawl.delay": Value(
        ("politeness.respect_crawl_delay_up_to",),
        _crawl_delay,
        note="a longer Crawl-delay is cut to this; Nutch gives such a site up",
    ),
    "fetcher.timelimit.mins": Value(
        ("limits.time",), _minutes, note="of the whole crawl; with Nutch of each round"
    ),
    "fetcher.redirect.dedupcache.size": Value((), lambda _: None),
    "http.timeout": Value(
        ("fetch.connect_timeout", "fetch.silence_timeout"), _seconds_of_ms, always=True
    ),
    "http.content.limit": Value(("fetch.max_length",), _limit, note=_LONGER),
    "http.time.limit": Value(("fetch.timeout",), _positive_seconds, note=_LONGER),
    "http.robots.redirect.max": Value(("robots.max_redirects",), whole),
    "http.enable.cookie.header": Value(("cookies.enabled",), flag),
    "http.tls.certificates.check": Value(
        ("fetch.tls",), lambda text: "strict" if flag(text) else None
    ),
    "db.max.outlinks.per.page": Value(
        ("extract.max_outlinks",), _all_links, note="Nacre takes 6,000 unless told otherwise"
    ),
    "db.max.outlink.length": Value(
        ("uri.max_length",), whole, note="Nacre takes 2,083 characters unless told otherwise"
    ),
    "db.fetch.retry.max": Value(
        ("frontier.max_retries",), whole, note="tries of one URL in one crawl, minutes apart"
    ),
    "parser.html.form.use_action": Value(("extract.ignore_form_action_urls",), _not),
}


def map_value(conf: Conf, prop: Property, draft: Draft) -> Fate | None:
    """Map a property that is one setting; None when it is none."""
    rule = VALUES.get(prop.name)
    if rule is None:
        return None
    target = ", ".join(rule.paths)
    if conf.is_stock(prop.name) and not rule.always:
        return defaulted(rule.note or "its stock value", target)
    try:
        value = rule.convert(conf.value(prop.name))
    except ValueError as error:
        return to_check(f"cannot be read: {error}", target)
    if value is None or not rule.paths:
        return defaulted("as Nacre does", target)
    for path in rule.paths:
        draft.put(path, value, f"{prop.name}, {prop.file}:{prop.line}")
    return mapped(target, rule.note)
