"""The batch cycle of Nutch: its scores, and its conditions in JEXL, as settings of `cycle`.

Properties that are one setting are in `properties.toml`.
"""

from typing import Any

from nacre_migrate.draft import Draft
from nacre_migrate.nutch.conf import Conf, Conversions
from nacre_migrate.nutch.jexl import sql_of
from nacre_migrate.nutch.plugins import Plugins
from nacre_migrate.nutch.properties import flag, whole
from nacre_migrate.report import Conversion, defaulted, mapped, to_check

_TARGET = "cycle.scoring"
_OFF = defaulted("its plugin is not on")
_ORDER = (
    "scoring-depth", "scoring-opic", "scoring-link", "scoring-orphan", "urlmeta",
    "scoring-metadata",
)  # fmt: skip
"""Plugins that are kinds of score, in the order in which they follow one another here."""
_FACTORS = {
    "db.score.link.internal": ("internal", float),
    "db.score.link.external": ("external", float),
    "db.score.count.filtered": ("count_filtered", flag),
}
_DEPTH = "scoring.depth.max"
_ORPHAN = {
    "scoring.orphan.mark.gone.after": ("gone_after", whole),
    "scoring.orphan.mark.orphan.after": ("orphan_after", whole),
}
_TAGS = {"urlmeta": "urlmeta.tags", "scoring-metadata": "scoring.db.md"}
_HOSTS = "generate.max.count.expr"
HOST_COLUMNS = {
    "unfetched": "host.unfetched",
    "fetched": "host.fetched",
    "notModified": "host.not_modified",
    "redirTemp": "host.redir_temp",
    "redirPerm": "host.redir_perm",
    "gone": "host.gone",
    "dnsFailures": "host.dns_failures",
    "connectionFailures": "host.connection_failures",
}
"""Variables of Nutch's expressions over hosts (`Generator`), and our columns."""


def map_cycle(conf: Conf, plugins: Plugins, draft: Draft) -> Conversions:
    """Map scores and conditions, if the configuration has any for the cycle.

    A stock configuration leaves the scores to Nacre, whose `opic` keeps no cash.

    Args:
        conf: The configuration.
        plugins: Those that are on.
        draft: The new job.
    """
    conversions: Conversions = {_HOSTS: _condition(conf, draft)}
    kinds = [kind for name in _ORDER if (kind := _kind(conf, plugins, name))]
    own = [*_FACTORS, *_ORPHAN, *_TAGS.values()]
    says = not all(conf.is_stock(name) for name in own) or kinds != [{"scoring": "nutch-opic"}]
    if kinds and says:
        draft.put(_TARGET, kinds, "scoring-* plugins, as Nutch has them")
    for name in own:
        used = says and any(name in _names_of(plugin) for plugin in _ORDER if plugin in plugins)
        conversions[name] = mapped(_TARGET) if used else _OFF
        if used and conf.is_stock(name):
            conversions[name] = defaulted("its stock value", _TARGET)
    order = conf.value("scoring.filter.order")
    note = "the order here is depth, opic, orphan, metadata"
    conversions["scoring.filter.order"] = to_check(note, _TARGET) if order else defaulted("empty")
    return conversions


def _names_of(plugin: str) -> tuple[str, ...]:
    """The properties of a plugin that scores."""
    if plugin == "scoring-opic":
        return tuple(_FACTORS)
    if plugin == "scoring-orphan":
        return tuple(_ORPHAN)
    return (_TAGS[plugin],) if plugin in _TAGS else ()


def _kind(conf: Conf, plugins: Plugins, plugin: str) -> dict[str, Any]:
    """The kind of score that a plugin is; {} if it is not on."""
    if plugin not in plugins:
        return {}
    if plugin == "scoring-depth":
        depth = conf.value(_DEPTH)
        limited = depth.isdecimal() and 0 < int(depth) < 65_536
        return {"scoring": "depth", **({"max": int(depth)} if limited else {})}
    if plugin == "scoring-opic":
        return {"scoring": "nutch-opic", **_changed_settings(conf, _FACTORS)}
    if plugin == "scoring-orphan":
        return {"scoring": "orphan", **_changed_settings(conf, _ORPHAN)}
    if plugin == "scoring-link":
        return {"scoring": "rank"}
    tags = [tag.strip() for tag in conf.value(_TAGS[plugin]).split(",") if tag.strip()]
    return {"scoring": "urlmeta", "tags": tags} if tags else {}


def _changed_settings(conf: Conf, names: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    """The settings of properties that differ from their stock values; unreadable ones stay out."""
    settings: dict[str, Any] = {}
    for name, (setting, convert) in names.items():
        if not conf.is_stock(name):
            try:
                settings[setting] = convert(conf.value(name))
            except ValueError:
                continue
    return settings


def _condition(conf: Conf, draft: Draft) -> Conversion:
    """The expression of `generate.max.count.expr` in SQL, where it can be said so."""
    target = "cycle.generate.max_count_where"
    expression = conf.value(_HOSTS)
    if not expression:
        return defaulted("empty", target)
    try:
        sql = sql_of(expression, HOST_COLUMNS)
    except ValueError as error:
        return to_check(f"say it in SQL over host.*: {error}", target)
    prop = conf.winner(_HOSTS)
    draft.put(target, sql, f"{_HOSTS}, {prop.file}:{prop.line}" if prop else _HOSTS)
    return mapped(target)
