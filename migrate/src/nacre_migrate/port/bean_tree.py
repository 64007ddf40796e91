"""The settings of a job under the names of Heritrix's beans and their properties (pure).

Nacre has no beans: what is shown is the tree of Heritrix's stock configuration, and of each bean
the properties that are a setting here, with the value that is in force. Source: `BeanBrowseModel`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from nacre_migrate.heritrix.mappings import CRAWL_CLASSES, FETCH_CLASSES, PropertyMapping
from nacre_migrate.port.rule_beans import (
    RulePath,
    rule_class,
    rule_path,
    rule_properties,
)

_CLASSES: Final = FETCH_CLASSES | CRAWL_CLASSES
_SHEET: Final = "org.archive.spring.Sheet"


class StockBean(NamedTuple):
    """A bean of the stock configuration.

    Attributes:
        name: Its id.
        kind: Its class, behind `org.archive.`.
        children: The beans below it.
    """

    name: str
    kind: str
    children: "tuple[StockBean, ...]" = ()

    @property
    def properties(self) -> Mapping[str, PropertyMapping]:
        """Its properties that are settings, by name."""
        stock = _CLASSES.get(self.kind.rpartition(".")[2])
        if stock is None:
            return {}
        return {name: prop for name, prop in sorted(stock.properties.items()) if prop.paths}


def _beans(package: str, **kinds: str) -> "tuple[StockBean, ...]":
    return tuple(StockBean(name, f"{package}.{kind}") for name, kind in kinds.items())


STOCK_BEANS: Final = (
    StockBean("crawlController", "crawler.framework.CrawlController", (
        StockBean("candidateProcessors", "modules.CandidateChain", _beans(
            "crawler.prefetch", candidateScoper="CandidateScoper", preparer="FrontierPreparer")),
        StockBean("fetchProcessors", "modules.FetchChain", (
            *_beans("crawler.prefetch", preselector="Preselector",
                    preconditions="PreconditionEnforcer"),
            *_beans("modules.fetcher", fetchDns="FetchDNS", fetchHttp="FetchHTTP"),
            *_beans("modules.extractor", extractorHttp="ExtractorHTTP",
                    extractorRobotsTxt="ExtractorRobotsTxt", extractorSitemap="ExtractorSitemap",
                    extractorHtml="ExtractorHTML", extractorCss="ExtractorCSS",
                    extractorJs="ExtractorJS"),
        )),
        StockBean("dispositionProcessors", "modules.DispositionChain", (
            *_beans("modules.writer", warcWriter="WARCWriterChainProcessor"),
            *_beans("crawler.postprocessor", candidates="CandidatesProcessor",
                    disposition="DispositionProcessor"),
        )),
        *_beans("crawler.frontier", frontier="BdbFrontier"),
        *_beans("modules.deciderules", scope="DecideRuleSequence"),
        *_beans("modules.seeds", seeds="TextSeedModule"),
        *_beans("modules", metadata="CrawlMetadata"),
        *_beans("crawler.reporting", loggerModule="CrawlerLoggerModule",
                statisticsTracker="StatisticsTracker"),
    )),
    *_beans("crawler.framework", actionDirectory="ActionDirectory",
            crawlLimiter="CrawlLimitEnforcer", checkpointService="CheckpointService",
            diskSpaceMonitor="DiskSpaceMonitor"),
    *_beans("bdb", bdb="BdbModule"),
    *_beans("modules.fetcher", cookieStore="BdbCookieStore"),
)  # fmt: skip
"""The beans of Heritrix's stock configuration that something here stands for."""


def _walk(beans: Sequence[StockBean]) -> Iterator[StockBean]:
    for bean in beans:
        yield bean
        yield from _walk(bean.children)


BEAN_NAMES: Final[Mapping[str, StockBean]] = {bean.name: bean for bean in _walk(STOCK_BEANS)}
"""The beans by their names."""


def setting_paths() -> tuple[str, ...]:
    """The settings that properties of the beans stand for."""
    paths = {prop.paths.split()[0] for bean in BEAN_NAMES.values()
             for prop in bean.properties.values()}  # fmt: skip
    return tuple(sorted(paths))


def property_at(path: str) -> PropertyMapping | None:
    """The mapping of a property.

    Args:
        path: Such as `disposition.minDelayMs`.

    Returns:
        None where no setting stands for it.
    """
    name, _, key = path.partition(".")
    bean = BEAN_NAMES.get(name)
    return bean.properties.get(key) if bean is not None else None


def assignments(mapping: PropertyMapping, text: str) -> list[str]:
    """The settings that a new value of a property becomes, as `path=value`.

    Args:
        mapping: That of the property.
        text: The value in Heritrix's words.

    Raises:
        ValueError: It is no value of this property; the message has the reason.
    """
    try:
        value = mapping.convert(text)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{text!r} is no value here: {error}") from None
    written = "null" if value is None else str(value).lower() if value is not str else value
    written = (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )
    return [f"{path}={written}" for path in mapping.paths.split()]


def heritrix_text(mapping: PropertyMapping, value: object) -> str:
    """The value of a setting in Heritrix's words: the text that is converted to it.

    Args:
        mapping: That of the property.
        value: The value of the setting.

    Returns:
        The value as it is where no text of Heritrix becomes it.
    """
    for text in _texts(value):
        try:
            if mapping.convert(text) == value:
                return text
        except (ValueError, KeyError, TypeError):
            continue
    return "" if value is None else str(value)


def _texts(value: object) -> Iterator[str]:
    """Texts that may become a value: units of Heritrix, and of time and size."""
    yield from ("true", "false", "-1", "0", "")
    yield str(value)
    if isinstance(value, float | int):
        for factor in (1.0, 1000.0, 1 / 60, 1 / 1024, 1 / (1 << 20)):
            number = value * factor
            yield str(int(number)) if number == int(number) else str(number)
    if isinstance(value, str):
        yield value.upper()


def java_class(text: str) -> str:
    """The class that a value has in Heritrix, as far as its text tells."""
    if text in {"true", "false"}:
        return "java.lang.Boolean"
    digits = text.removeprefix("-")
    if digits.isdecimal():
        return "java.lang.Integer" if len(digits) < 10 else "java.lang.Long"
    return "java.lang.Double" if _is_decimal(digits) else "java.lang.String"


def _is_decimal(text: str) -> bool:
    whole, dot, part = text.partition(".")
    return bool(dot) and whole.isdecimal() and part.isdecimal()


def beans_tree(
    name: str,
    url: str,
    path: str,
    values: Mapping[str, object],
    sheets: Sequence[str],
    rules: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The tree `beans`.

    Args:
        name: Short name of the job.
        url: Its URL.
        path: What is looked at: "", a bean, or a property of one.
        values: The values of the settings, by path.
        sheets: Names of the sheets of the job.
        rules: The rules of its scope.
    """
    at = rule_path(path)
    if at is not None:
        shown, problem, target = _shown_rule(url, at, rules)
        editable = bool(at.name) and problem is None
    else:
        shown, problem, target = _bean_view(url, path, values, sheets)
        editable = property_at(path) is not None
    return {
        "crawlJobShortName": name,
        "crawlJobUrl": f"{url}/",
        "beanPath": path,
        "bean": shown,
        "editable": editable,
        "problem": problem,
        "target": target,
        "allNamedCrawlBeans": [
            *(_listed(url, bean) for bean in STOCK_BEANS),
            *(_bean_node(url, sheet, _SHEET, []) for sheet in sheets),
        ],
    }


def _bean_url(url: str, path: str) -> str:
    """URL of a bean or of a property of one; `url`: that of the job."""
    return f"{url}/beans/{quote(path, safe='[]')}"


def _listed(url: str, bean: StockBean) -> dict[str, Any]:
    children = [_listed(url, child) for child in bean.children]
    return _bean_node(url, bean.name, f"org.archive.{bean.kind}", children)


def _bean_node(url: str, name: str, kind: str, children: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "url": _bean_url(url, name), "class": kind, "children": children}


def _bean_view(
    url: str, path: str, values: Mapping[str, object], sheets: Sequence[str]
) -> tuple[dict[str, Any] | None, str | None, str | None]:
    """What is looked at, the problem with it, and its value as text."""
    if not path:
        return None, None, None
    if path in sheets:
        return {"class": _SHEET, "properties": []}, None, f"{_SHEET}: {path}"
    bean = BEAN_NAMES.get(path)
    if bean is not None:
        facts = [
            _property(url, f"{path}.{key}", key, prop, values)
            for key, prop in bean.properties.items()
        ]
        kind = f"org.archive.{bean.kind}"
        return {"class": kind, "properties": facts}, None, f"{kind}: {path}"
    mapping = property_at(path)
    if mapping is None:
        return None, f"no setting of Nacre stands for {path!r}", None
    text = heritrix_text(mapping, values.get(mapping.paths.split()[0]))
    return {"class": java_class(text), "propValue": text}, None, text


def _shown_rule(
    url: str, at: RulePath, rules: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any] | None, str | None, str | None]:
    """A rule of the scope, a property of one, or the list of all; see `_bean_view`."""
    if at.number is None:
        facts = [_plain_fact(url, f"[{n}]", rule_class(rule)) for n, rule in enumerate(rules)]
        return {"class": "java.util.ArrayList", "properties": facts}, None, None
    if at.number >= len(rules):
        return None, f"there are {len(rules)} rules, from scope.rules[0] on", None
    rule = rules[at.number]
    values = rule_properties(rule)
    if not at.name:
        place = f"[{at.number}]"
        facts = [_plain_fact(url, f"{place}.{key}", text) for key, text in values.items()]
        return {"class": rule_class(rule), "properties": facts}, None, rule_class(rule)
    if at.name not in values:
        return None, f"{rule_class(rule)} has no property {at.name!r}", None
    text = values[at.name]
    return {"class": java_class(text), "propValue": text}, None, text


def _plain_fact(url: str, place: str, text: str) -> dict[str, Any]:
    return {
        "field": place.rpartition(".")[2], "url": _bean_url(url, f"scope.rules{place}"),
        "class": java_class(text), "propValue": text,
    }  # fmt: skip


def _property(
    url: str, path: str, key: str, mapping: PropertyMapping, values: Mapping[str, object]
) -> dict[str, Any]:
    text = heritrix_text(mapping, values.get(mapping.paths.split()[0]))
    return {
        "field": key, "url": _bean_url(url, path), "class": java_class(text), "propValue": text,
    }  # fmt: skip
