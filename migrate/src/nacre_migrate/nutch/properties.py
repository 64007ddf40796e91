"""Properties of Nutch: those that are one setting, those that say who crawls, and the rest.

`properties.toml` has those that are a setting, each with its converter, and a note for each of the
others: Nacre does it anyway, the operator has to check it, or there is nothing like it.
"""

import difflib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from nacre_migrate.draft import Draft
from nacre_migrate.files import read_table
from nacre_migrate.nutch.conf import (
    RENAMED,
    STOCK,
    Conf,
    Conversions,
    NutchProperty,
)
from nacre_migrate.report import Conversion, defaulted, mapped, missing, to_check

Convert = Callable[[str], Any]
"""The value of the setting; None if it is Nacre's default. Raises ValueError."""


def whole(text: str) -> int:
    """A whole number, also if it is written as a decimal."""
    return int(float(text))


def flag(text: str) -> bool:
    """True or false."""
    if text.lower() not in {"true", "false"}:
        raise ValueError("neither true nor false")
    return text.lower() == "true"


def _at_least(least: float, text: str) -> float | None:
    """A number over `least`; None for another."""
    return float(text) if float(text) > least else None


_KEYS = {"byhost": "host", "bydomain": "domain", "byip": "address"}


def _key(text: str) -> str:
    """A `host`, `domain` or `address`, also as `byHost`, `byDomain` and `byIP`."""
    name = _KEYS.get(text.lower(), text.lower())
    if name not in _KEYS.values():
        raise ValueError(f"neither of {', '.join(_KEYS.values())}")
    return name


def _minutes(text: str) -> float | None:
    minutes = _at_least(0, text)
    return None if minutes is None else minutes * 60


CONVERTERS: dict[str, Convert] = {
    "number": float,
    "whole": whole,
    "tries": lambda text: min(max(whole(text), 1), 255),
    "flag": flag,
    "opposite": lambda text: not flag(text),
    "ms": lambda text: max(float(text), 0.0) / 1000,
    "minutes": _minutes,
    "positive_seconds": lambda text: _at_least(0, text),
    "limit": lambda text: max(whole(text), 0),
    "all_links": lambda text: whole(text) if whole(text) >= 0 else 1_000_000,
    "crawl_delay": lambda text: float(text) if float(text) >= 0 else 86_400.0,
    "tls": lambda text: "strict" if flag(text) else None,
    "nothing": lambda _: None,
    "text": lambda text: text or None,
    "key": _key,
    "internal": lambda text: "host" if flag(text) else "none",
}
"""The converters of the table by name; None if it is Nacre's default."""


class ValueMapping(NamedTuple):
    """The mapping of a property that is one setting.

    Attributes:
        paths: The settings that it becomes.
        convert: Makes the value.
        always: The stock value is said too; else Nacre's default replaces it.
        note: What differs.
    """

    paths: tuple[str, ...]
    convert: Convert
    always: bool = False
    note: str = ""


_TABLES = read_table(__package__, "properties.toml")

VALUES = {
    name: ValueMapping(
        tuple(row["to"].split()),
        CONVERTERS[row["as"]],
        row.get("always", False),
        row.get("note", ""),
    )
    for name, row in _TABLES["values"].items()
}
"""Properties that are one setting, by name."""

_ANYWAY: dict[str, str] = _TABLES["anyway"]
_CHECK: dict[str, str] = _TABLES["check"]
_MISSING: dict[str, str] = _TABLES["missing"]
_GROUPS = tuple((tuple(row["begins"]), row["note"]) for row in _TABLES["groups"])
"""What the rest is about, by how names begin."""
_REMOVED = tuple(
    (tuple(row["begins"]), row["note"], row.get("check", False)) for row in _TABLES["removed"]
)
"""What properties of earlier releases were about, and whether the operator has to look."""


def map_value(conf: Conf, prop: NutchProperty, draft: Draft) -> Conversion | None:
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


def other_conversion(conf: Conf, prop: NutchProperty) -> Conversion:
    """The conversion of a property that nothing else has taken."""
    name = prop.name
    if name in _ANYWAY:
        return defaulted(_ANYWAY[name])
    group = next((note for starts, note in _GROUPS if name.startswith(starts)), "")
    if conf.is_stock(name):
        return defaulted(group or _CHECK.get(name) or "its stock value")
    if name in _CHECK:
        return to_check(_CHECK[name])
    if name in STOCK:
        return missing(_MISSING.get(name) or group or "nothing here is like it")
    return _of_earlier_releases(name) or to_check(_unknown(name))


def _of_earlier_releases(name: str) -> Conversion | None:
    """The conversion of a property that Nutch has no more; None for another."""
    if name in RENAMED:
        return defaulted(f"{RENAMED[name][0]} replaces it, and is set")
    for begins, note, is_to_check in _REMOVED:
        if name.startswith(begins):
            return to_check(note) if is_to_check else defaulted(f"removed from Nutch since: {note}")
    return None


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, STOCK, n=1, cutoff=0.8)
    guess = f"perhaps {near[0]}" if near else "perhaps of a plugin of yours"
    return f"not a property of the stock configuration: {guess}"


_PARTS = ("http.agent.description", "http.agent.url", "http.agent.email")
_HEADERS = {
    "http.accept": "Accept",
    "http.accept.language": "Accept-Language",
    "http.accept.charset": "Accept-Charset",
}
_PROXY = ("http.proxy.host", "http.proxy.port", "http.proxy.type")
_PROXY_LOGIN = ("http.proxy.username", "http.proxy.password", "http.proxy.realm")
_TOKEN = re.compile(r"[A-Za-z_-]+")


def map_agent(conf: Conf, draft: Draft) -> Conversions:
    """The conversions of these properties; their settings go to the draft."""
    return {
        **_user_agent(conf, draft),
        **_robots_agents(conf, draft),
        **_headers(conf, draft),
        **_proxy(conf, draft),
    }


def _user_agent(conf: Conf, draft: Draft) -> Conversions:
    conversions: Conversions = {}
    contact = conf.value("http.agent.url") or conf.value("http.agent.email")
    if contact:
        draft.put("fetch.contact", contact, "http.agent.url or http.agent.email")
    for name in _PARTS:
        used = bool(conf.value(name))
        target = "fetch.contact" if name != _PARTS[0] else "fetch.user_agent"
        conversions[name] = mapped(target) if used else defaulted("empty", target)
    agent = conf.value("http.agent.name")
    if not agent:
        conversions["http.agent.name"] = to_check(
            "empty: say who crawls with fetch.contact, without which no public site is crawled",
            "fetch.contact",
        )
        conversions["http.agent.version"] = defaulted("part of a name that is not given")
        return conversions
    version = conf.value("http.agent.version")
    about = "; ".join(value for name in _PARTS if (value := conf.value(name)))
    text = agent + (f"/{version}" if version else "") + (f" ({about})" if about else "")
    draft.put("fetch.user_agent", text.replace("{", "(").replace("}", ")"), "http.agent.*")
    conversions["http.agent.name"] = mapped("fetch.user_agent, robots.agent")
    conversions["http.agent.version"] = mapped("fetch.user_agent")
    return conversions


def _robots_agents(conf: Conf, draft: Draft) -> Conversions:
    names = [conf.value("http.agent.name"), *conf.value("http.robots.agents").split(",")]
    matches = (_TOKEN.match(name.strip()) for name in names)
    tokens = list(dict.fromkeys(match[0].lower() for match in matches if match))
    if tokens:
        draft.put("robots.agent", ", ".join(tokens), "http.agent.name and http.robots.agents")
    is_set = bool(conf.value("http.robots.agents"))
    target = "robots.agent"
    return {"http.robots.agents": mapped(target) if is_set else defaulted("empty", target)}


def _headers(conf: Conf, draft: Draft) -> Conversions:
    target = "fetch.accept"
    if all(conf.is_stock(name) for name in _HEADERS):
        return {name: defaulted("its stock value", target) for name in _HEADERS}
    lines = [f"{header}: {conf.value(name)}" for name, header in _HEADERS.items()]
    draft.put(target, [line for line in lines if not line.endswith(": ")], "http.accept*")
    return dict.fromkeys(_HEADERS, mapped(target))


def _proxy(conf: Conf, draft: Draft) -> Conversions:
    host, port = conf.value("http.proxy.host"), conf.value("http.proxy.port")
    target = "fetch.proxy"
    if not host:
        return dict.fromkeys((*_PROXY, *_PROXY_LOGIN), defaulted("no proxy", target))
    scheme = "socks5" if conf.value("http.proxy.type").upper() == "SOCKS" else "http"
    draft.put(target, f"{scheme}://{host}" + (f":{port}" if port else ""), "http.proxy.*")
    conversions: Conversions = dict.fromkeys(_PROXY, mapped(target))
    for name in _PROXY_LOGIN:
        secret = to_check("not copied: write name and password into fetch.proxy yourself", target)
        conversions[name] = secret if conf.value(name) else defaulted("empty", target)
    return conversions
