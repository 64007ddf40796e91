"""URL filters, normalizers and the rule on external links: a scope and `uri.normalize`."""

import re
from typing import Any

from nacre_migrate.draft import Draft
from nacre_migrate.nutch.conf import TEMPLATE, Conf, Conversions
from nacre_migrate.nutch.plugins import DEPTH, EXEMPT, FILTERS, NORMALIZERS, Plugins
from nacre_migrate.report import MigrationReport, defaulted, mapped, to_check

_FILTER_FILES = {
    "regex": ("urlfilter.regex.file", "regex-urlfilter.txt", "urlfilter.regex.rules"),
    "automaton": (
        "urlfilter.automaton.file",
        "automaton-urlfilter.txt",
        "urlfilter.automaton.rules",
    ),
    "domain": ("urlfilter.domain.file", "domain-urlfilter.txt", "urlfilter.domain.rules"),
    "domain-denylist": (
        "urlfilter.domaindenylist.file",
        "domaindenylist-urlfilter.txt",
        "urlfilter.domaindenylist.rules",
    ),
    "prefix": ("urlfilter.prefix.file", "prefix-urlfilter.txt", "urlfilter.prefix.rules"),
    "suffix": ("urlfilter.suffix.file", "suffix-urlfilter.txt", "urlfilter.suffix.rules"),
    "fast": ("urlfilter.fast.file", "fast-urlfilter.txt", ""),
}
_FAST_LIMITS = {
    "urlfilter.fast.url.max.length": "max_length",
    "urlfilter.fast.url.path.max.length": "max_path_length",
    "urlfilter.fast.url.query.max.length": "max_query_length",
}
_NORMALIZER_FILES = {
    "regex": ("urlnormalizer.regex.file", "regex-normalize.xml", "urlnormalizer.regex.rules"),
    "host": ("urlnormalizer.hosts.file", "host-urlnormalizer.txt", "urlnormalizer.hosts.rules"),
    "slash": ("urlnormalizer.slashes.file", "slashes.txt", "urlnormalizer.slashes.rules"),
    "protocol": (
        "urlnormalizer.protocols.file",
        "protocols.txt",
        "urlnormalizer.protocols.rules",
    ),
}
_IDN = {"toAscii": "ascii", "toUnicode": "unicode"}
_BASIC = {
    "urlnormalizer.basic.host.idn": "idn",
    "urlnormalizer.basic.host.idna2008": "idna2008",
    "urlnormalizer.basic.host.trim-trailing-dot": "trim_trailing_dot",
}
_ORDERED = re.compile(r"\burl(?:filter|normalizer)\.(\w+)\.")
_EXTERNAL = (
    "db.ignore.external.links",
    "db.ignore.external.links.mode",
    "db.ignore.also.redirects",
    "db.ignore.external.exemptions.file",
)
_OFF = defaulted("its plugin is not active")


_FORMER_FILES = {"domaindenylist-urlfilter.txt": "domainblacklist-urlfilter.txt"}
"""Files of filters by their names in earlier releases."""


class URLRules:
    """Maps Nutch's filters and normalizers of URLs.

    Args:
        conf: The configuration.
        plugins: What is switched on.
        draft: Takes the rules.
        report: Takes notes on files.
    """

    def __init__(self, conf: Conf, plugins: Plugins, draft: Draft, report: MigrationReport) -> None:
        self._conf = conf
        self._plugins = plugins
        self._draft = draft
        self._report = report
        self.conversions: Conversions = {}

    def map(self) -> Conversions:
        """The conversions of these properties; their settings go to the draft."""
        chain = self._filters()
        scope: list[dict[str, Any]] = [{"rule": "accept"}]
        if chain:
            scope.append({"rule": "nutch-filters", "chain": chain})
        scope += [*self._external(), *self._depth()]
        scope += [{"rule": "prerequisite-accept"}, {"rule": "scheme-not-in-set"}]
        self._draft.put("scope", scope, "as Nutch: whatever its filters keep")
        normalizers = self._normalizers()
        if normalizers:
            self._draft.put("uri.normalize", normalizers, "urlnormalizer-* plugins, in order")
            if self._conf.value("urlnormalizer.loop.count") not in {"1", ""}:
                loops = self._conf.value("urlnormalizer.loop.count")
                self._draft.put("uri.normalize_loops", max(int(loops), 1) if loops.isdigit() else 1)
        is_stock = self._conf.is_stock("urlnormalizer.loop.count")
        self.conversions["urlnormalizer.loop.count"] = (
            defaulted("its stock value", "uri.normalize_loops")
            if is_stock
            else mapped("uri.normalize_loops")
        )
        return self.conversions

    # ---- filters

    def _filters(self) -> list[dict[str, Any]]:
        names = {FILTERS[plugin] for plugin in FILTERS if plugin in self._plugins}
        filters = []
        for kind in self._in_order(names, "urlfilter.order"):
            item = self._with_rules({"filter": kind}, _FILTER_FILES.get(kind))
            if item is not None:
                filters.append(item)
        for kind in _FILTER_FILES.keys() - names:
            self._switched_off(_FILTER_FILES[kind])
        for name, setting in _FAST_LIMITS.items():
            self.conversions[name] = _OFF if "fast" not in names else defaulted("no limit", "scope")
            if "fast" in names and not self._conf.is_stock(name):
                self._limit(name, setting, filters)
        return filters

    def _limit(self, name: str, setting: str, chain: list[dict[str, Any]]) -> None:
        value = self._conf.value(name)
        fast = [item for item in chain if item["filter"] == "fast"]
        if not re.fullmatch(r"-1|\d{1,9}", value) or not fast:
            self.conversions[name] = to_check("no whole number, or no fast filter", "scope")
            return
        fast[0][setting] = int(value)
        self.conversions[name] = mapped("scope", f"{setting} of the fast filter")

    def _with_rules(
        self, item: dict[str, Any], source: tuple[str, str, str] | None
    ) -> dict[str, Any] | None:
        """The item with its file or rules; None where the file is missing."""
        if source is None:
            return item
        file_property, stock_name, rules_property = source
        target = "scope" if "filter" in item else "uri.normalize"
        rules = self._conf.value(rules_property) if rules_property else ""
        if rules:
            self.conversions[rules_property] = mapped(target, "inline rules")
            self.conversions[file_property] = defaulted(f"{rules_property} wins over it", target)
            return {**item, "rules": rules + "\n"}
        if rules_property:
            self.conversions[rules_property] = defaulted("empty", target)
        name = self._conf.value(file_property) or stock_name
        if name in _FORMER_FILES and self._conf.path(name) is None:
            name = _FORMER_FILES[name]
        if self.copy(name):
            self.conversions[file_property] = mapped(target, f"{name} is copied")
            return {**item, "file": name}
        self.conversions[file_property] = to_check(
            f"{name} is not there, so this one is left out", target
        )
        self._report.add_file(name, "missing", check=True)
        return None

    def _switched_off(self, source: tuple[str, str, str]) -> None:
        self.conversions.update(dict.fromkeys(filter(None, (source[0], source[2])), _OFF))

    def copy(self, name: str) -> bool:
        """Have a file copied into the job; False when it is not there."""
        path = self._conf.path(name)
        if path is None:
            return False
        self._draft.files[name] = path
        template = " (from its template)" if path.name.endswith(TEMPLATE) else ""
        self._report.add_file(name, f"copied, used unchanged{template}")
        return True

    def _in_order(self, names: set[str], name: str) -> list[str]:
        """Names in the order of a property; names that it does not have come last."""
        listed = [_filter_name(match[1]) for match in _ORDERED.finditer(self._conf.value(name))]
        is_set = not self._conf.is_stock(name)
        target = "scope" if name.startswith("urlfilter") else "uri.normalize"
        self.conversions[name] = mapped(target) if is_set else defaulted("its stock value", target)
        return [*(kind for kind in listed if kind in names), *sorted(names - set(listed))]

    # ---- external links and depth

    def _external(self) -> list[dict[str, Any]]:
        conf = self._conf
        if not conf.is_true("db.ignore.external.links"):
            self.conversions.update(
                dict.fromkeys(_EXTERNAL, defaulted("links to other hosts are kept"))
            )
            return []
        self.conversions.update(dict.fromkeys(_EXTERNAL, mapped("scope", "the rule nutch-exempt")))
        rule: dict[str, Any] = {"rule": "nutch-exempt"}
        if conf.value("db.ignore.external.links.mode") == "byDomain":
            rule["site"] = "domain"
        if not conf.is_true("db.ignore.also.redirects"):
            rule["also_redirects"] = False
        name = conf.value("db.ignore.external.exemptions.file")
        if EXEMPT not in self._plugins:
            self.conversions["db.ignore.external.exemptions.file"] = _OFF
        elif self.copy(name):
            rule["file"] = name
        else:
            note = f"{name} is not there: nothing is exempt"
            self.conversions["db.ignore.external.exemptions.file"] = to_check(note, "scope")
        return [rule]

    def _depth(self) -> list[dict[str, Any]]:
        depth = self._conf.value("scoring.depth.max")
        if DEPTH not in self._plugins:
            self.conversions["scoring.depth.max"] = _OFF
            return []
        if not re.fullmatch(r"\d{1,9}", depth):
            self.conversions["scoring.depth.max"] = to_check("no whole number", "scope")
            return []
        self.conversions["scoring.depth.max"] = mapped("scope", "the rule too-many-hops")
        # Nutch counts pages, the seed as the first.
        return [{"rule": "too-many-hops", "max_hops": max(int(depth) - 1, 0)}]

    # ---- normalizers

    def _normalizers(self) -> list[dict[str, Any]]:
        names = {name for plugin, name in NORMALIZERS.items() if plugin in self._plugins}
        normalizers = []
        for kind in self._in_order(names, "urlnormalizer.order"):
            item = self._with_rules({"normalizer": kind}, _NORMALIZER_FILES.get(kind))
            if item is not None:
                normalizers.append({**item, **(self._basic() if kind == "basic" else {})})
        for kind in _NORMALIZER_FILES.keys() - names:
            self._switched_off(_NORMALIZER_FILES[kind])
        if "basic" not in names:
            self.conversions.update(dict.fromkeys(_BASIC, _OFF))
        return normalizers

    def _basic(self) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for name, setting in _BASIC.items():
            value = self._conf.value(name)
            converted = _IDN.get(value) if setting == "idn" else self._conf.is_true(name)
            stock = self._conf.is_stock(name)
            self.conversions[name] = (
                defaulted("its stock value") if stock else mapped("uri.normalize")
            )
            if converted:
                settings[setting] = converted
        return settings


def _filter_name(name: str) -> str:
    return "domain-denylist" if name == "domaindenylist" else name
