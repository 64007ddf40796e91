"""The writers of Nutch's index become `cycle.index.writers`.

`index-writers.xml` has them with their parameters and the mapping of fields, `exchanges.xml` says
which documents each is given, and `solrindex-mapping.xml` is the mapping of Nutch before 1.15.
Source: Nutch, `IndexWriters`, `Exchanges`, `SolrMappingReader`; reference N 1.14.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nacre.wire.xml import Element
from nacre_migrate.draft import Draft
from nacre_migrate.files import open_xml
from nacre_migrate.nutch.conf import TEMPLATE, Conf, Conversions
from nacre_migrate.nutch.jexl import sql_of_document
from nacre_migrate.nutch.plugins import Plugins
from nacre_migrate.report import (
    Conversion,
    MigrationReport,
    ReportedItem,
    defaulted,
    mapped,
    missing,
    shown,
    to_check,
)

_TARGET = "cycle.index.writers"
_WRITERS_FILE = "indexer.indexwriters.file"
_EXCHANGES_FILE = "exchanges.exchanges.file"
_OLD_MAPPING = "solr.mapping.file"
_OLD_URL = "solr.server.url"
_OLD_SIZE = "solr.commit.size"
_JEXL = "JexlExchange"
_STOCK_URL = "http://localhost:8983/solr/nutch"
_NAMES = {"lastModified": "modified", "contentLength": "length", "date": "modified"}
"""Fields that Nutch calls otherwise."""

_PLUGINS = {
    "SolrIndexWriter": "indexer-solr",
    "OpenSearch1xIndexWriter": "indexer-opensearch-1x",
    "CSVIndexWriter": "indexer-csv",
    "DummyIndexWriter": "indexer-dummy",
    "ElasticIndexWriter": "indexer-elastic",
    "RabbitIndexWriter": "indexer-rabbit",
    "KafkaIndexWriter": "indexer-kafka",
    "CloudSearchIndexWriter": "indexer-cloudsearch",
}
"""Nutch's writers, and their plugins."""

_FILES = "nothing here is like it: `jsonl`, `csv` or `parquet` write files that it can load"


class _Made(NamedTuple):
    """A writer of ours: its settings, and what of the old one is not taken."""

    settings: dict[str, Any]
    notes: list[str]


_Parameters = Mapping[str, str]


def map_writers(conf: Conf, plugins: Plugins, draft: Draft, report: MigrationReport) -> Conversions:
    """Map the writers, with the embedded index before them.

    A stock `.template` beside no `index-writers.xml` is no configuration of anybody.

    Args:
        conf: The configuration.
        plugins: Those that are on.
        draft: The new job.
        report: Where each writer and exchange is reported.

    Returns:
        The conversions of the properties that belong to them.

    Raises:
        ConfigError: A file cannot be read.
    """
    file = conf.value(_WRITERS_FILE)
    path = conf.path(file)
    if path is None:
        return _old_writer(conf, draft, report)
    if path.name.endswith(TEMPLATE):
        report.add_file(file, "not used: it is Nutch's template")
        return {}
    root = open_xml(path)
    conditions = _conditions(conf, plugins, report)
    writers: list[dict[str, Any]] = []
    for element in root.find_all("writer"):
        conversion, writer = _writer(element, plugins, conditions)
        if writer is not None:
            writers.append(writer.settings)
        report.findings.append(_item(element, file, conversion))
    report.add_file(file, f"read into {_TARGET}" if writers else "none of its writers is taken")
    _put(draft, writers, file)
    names = (_WRITERS_FILE, _EXCHANGES_FILE)
    return {name: mapped(_TARGET) for name in names if not conf.is_stock(name)}


def _put(draft: Draft, writers: list[dict[str, Any]], reason: str) -> None:
    if writers:
        draft.put(_TARGET, [{"writer": "local"}, *writers], reason)


def _item(element: Element, file: str, conversion: Conversion) -> ReportedItem:
    name = element.attributes.get("id", "")
    return ReportedItem(
        name, shown(name, element.attributes.get("class", "")), file, element.line,
        conversion.outcome, conversion.target, conversion.note, conversion.flag, "element",
    )  # fmt: skip


def _class_name(element: Element) -> str:
    """The class of a writer or an exchange, without its package."""
    return element.attributes.get("class", "").rpartition(".")[2]


def _writer(
    element: Element, plugins: Plugins, conditions: "_Conditions | None"
) -> tuple[Conversion, _Made | None]:
    """The conversion of a writer, and the writer of Nacre; None if it is left out."""
    kind, name = _class_name(element), element.attributes.get("id", "")
    plugin = _PLUGINS.get(kind)
    if plugin is None:
        return to_check(f"a writer of others: a plug-in of Nacre can do it, {_FILES}"), None
    if plugin not in plugins:
        return defaulted(f"its plugin, {plugin}, is not on", _TARGET), None
    if kind not in _MAKERS:
        return missing(_FILES), None
    writer = _MAKERS[kind](_parameters(element))
    when = ""
    if conditions is not None:
        try:
            when = conditions.of(name)
        except ValueError as error:
            return to_check(f"left out: {error}", _TARGET), None
    named = _name(name)
    settings = {
        **writer.settings,
        **({"name": named} if named else {}),
        **_mapping(element, writer),
    }
    if when:
        settings["when"] = when
    notes = writer.notes if named == name or not name else [*writer.notes, f"its name is {named}"]
    result = _Made(settings, notes)
    if writer.notes:
        return to_check("; ".join(notes), _TARGET), result
    return mapped(_TARGET, "; ".join(notes)), result


def _name(text: str) -> str:
    """The name of a writer as it may be here."""
    plain = "".join(
        char if char.isascii() and (char.isalnum() or char in "_.-") else "_" for char in text
    )
    return plain[:64]


def _parameters(element: Element) -> dict[str, str]:
    holder = element.find("parameters") or element.find("params")
    elements = holder.find_all("param") if holder is not None else ()
    return {
        parameter.attributes.get("name", ""): parameter.attributes.get("value", "").strip()
        for parameter in elements
    }


def _own(name: str) -> str:
    return _NAMES.get(name.strip(), name.strip())


def _mapping(element: Element, writer: _Made) -> dict[str, Any]:
    """Copied, renamed and removed fields."""
    holder = element.find("mapping")
    copies: dict[str, list[str]] = dict(writer.settings.get("copy_fields", {}))
    rename: dict[str, str] = {}
    remove: list[str] = []
    for part in holder.children if holder is not None else ():
        for field in part.find_all("field"):
            source = _own(field.attributes.get("source", ""))
            targets = [target.strip() for target in field.attributes.get("dest", "").split(",")]
            others = [target for target in targets if target and target != source]
            if part.tag == "copy" and others:
                copies[source] = [*copies.get(source, []), *others]
            elif part.tag == "rename" and others:
                rename[source] = others[0]
            elif part.tag == "remove" and source:
                remove.append(source)
    mappings = {"copy_fields": copies, "rename": rename, "remove": remove}
    return {name: value for name, value in mappings.items() if value}


def _solr(parameters: _Parameters) -> _Made:
    notes = _login_notes(parameters)
    urls = [address.strip() for address in parameters.get("url", "").split(",") if address.strip()]
    url = urls[0] if urls else _STOCK_URL
    if len(urls) > 1:
        notes.append(f"of its URLs the first is taken; without: {', '.join(urls[1:])}")
    if "://" not in url:
        notes.append(f"`{url}` is no URL of a Solr: write the `url` of a node")
        url = _STOCK_URL
    collection = parameters.get("collection", "")
    if collection and not url.rstrip("/").endswith(f"/{collection}"):
        url = f"{url.rstrip('/')}/{collection}"
    settings: dict[str, Any] = {"writer": "solr", "url": url}
    _number(parameters, "commitSize", settings, "batch", notes)
    if field := parameters.get("weight.field"):
        settings["copy_fields"] = {"boost": [field]}
    settings |= _user(parameters)
    return _Made(settings, notes)


def _opensearch(parameters: _Parameters) -> _Made:
    notes = _login_notes(parameters)
    scheme, port = parameters.get("scheme") or "http", parameters.get("port") or "9200"
    hosts = [host.strip() for host in parameters.get("host", "").split(",") if host.strip()]
    settings: dict[str, Any] = {
        "writer": "opensearch",
        "urls": [f"{scheme}://{host}:{port}" for host in hosts or ["localhost"]],
        "index": parameters.get("index") or "nutch",
    }
    for name, setting in _BULK.items():
        _number(parameters, name, settings, setting, notes)
    if "backoff" in settings:
        settings["backoff"] /= 1000
    stores = [name for name in ("trust.store.path", "key.store.path") if parameters.get(name)]
    if stores:
        notes.append(f"{', '.join(stores)}: write certificates as a file of PEM into `ca`")
    if parameters.get("options"):
        notes.append("`options` are not there")
    settings |= _user(parameters)
    return _Made(settings, notes)


_BULK = {
    "max.bulk.docs": "batch",
    "max.bulk.size": "batch_bytes",
    "exponential.backoff.millis": "backoff",
    "exponential.backoff.retries": "retries",
}


def _csv(parameters: _Parameters) -> _Made:
    fields = [_own(field) for field in parameters.get("fields", "").split(",") if field.strip()]
    settings: dict[str, Any] = {"writer": "csv"}
    if fields:
        settings["fields"] = fields
    if parameters.get("separator", ",") not in ("", ","):
        settings["separator"] = parameters["separator"]
    notes = [
        f"{name} is {parameters[name]}, and here {usual}"
        for name, usual in _CSV_USUAL.items()
        if parameters.get(name, usual).lower() != usual.lower()
    ]
    return _Made(settings, notes)


_CSV_USUAL = {
    "charset": "UTF-8", "valuesep": "|", "quotechar": '"', "escapechar": '"', "header": "true",
}  # fmt: skip


def _dummy(parameters: _Parameters) -> _Made:
    return _Made({"writer": "dummy"}, [])


_MAKERS: dict[str, Callable[[_Parameters], _Made]] = {
    "SolrIndexWriter": _solr,
    "OpenSearch1xIndexWriter": _opensearch,
    "CSVIndexWriter": _csv,
    "DummyIndexWriter": _dummy,
}


def _number(
    parameters: _Parameters, name: str, settings: dict[str, Any], setting: str, notes: list[str]
) -> None:
    """Take a whole number over; one that cannot be read is noted."""
    text = parameters.get(name, "")
    if text.isdecimal() and text.isascii() and len(text) < 10:
        settings[setting] = int(text)
    elif text:
        notes.append(f"{name} is no number: {text[:40]}")


def _user(parameters: _Parameters) -> dict[str, str]:
    user = parameters.get("username", "")
    return {"user": user} if user and parameters.get("auth", "true").lower() == "true" else {}


def _login_notes(parameters: _Parameters) -> list[str]:
    notes = []
    if _user(parameters) and parameters.get("password"):
        notes.append("its password is not copied: write `password: {env: NAME}`")
    if parameters.get("auth.header.name"):
        notes.append("a header for authentication is not there: `user` and `password` are")
    return notes


class _Conditions:
    """The conditions of exchanges, by the writers that they name."""

    def __init__(self) -> None:
        self._of: dict[str, list[str]] = {}
        self._unknown: dict[str, str] = {}
        self._default: set[str] = set()
        self._all: list[str] = []

    def add(self, sql: str, writers: list[str]) -> None:
        """Take an exchange that is translated."""
        self._all.append(sql)
        for writer in writers:
            self._of.setdefault(writer, []).append(sql)

    def add_unknown(self, name: str, writers: list[str]) -> None:
        """Take an exchange that is not; the writers of the default one depend on it, too."""
        self._unknown |= dict.fromkeys(writers, name)
        self._unknown.setdefault("", name)

    def add_default(self, writers: list[str]) -> None:
        """Take the exchange of what no other one takes."""
        self._default |= set(writers)

    def of(self, writer: str) -> str:
        """The condition of a writer; "" if it gets all documents.

        Raises:
            ValueError: It is not known, or the writer is in no exchange.
        """
        if writer in self._unknown:
            raise ValueError(f"the exchange {self._unknown[writer]} is not translated")
        parts = list(self._of.get(writer, []))
        if writer in self._default:
            if "" in self._unknown:
                raise ValueError(f"the exchange {self._unknown['']} is not translated")
            if not self._all:
                return ""
            parts.append(f"not coalesce({' or '.join(self._all)}, false)")
        if not parts:
            raise ValueError("no exchange names it")
        return " or ".join(parts)


def _conditions(conf: Conf, plugins: Plugins, report: MigrationReport) -> _Conditions | None:
    """The conditions of exchanges; None if there are none, and writers get all documents."""
    file = conf.value(_EXCHANGES_FILE)
    path = conf.path(file)
    if path is None:
        return None
    conditions = _Conditions()
    exchanges = list(open_xml(path).find_all("exchange"))
    used = 0
    for element in exchanges:
        conversion, counts = _exchange(element, plugins, conditions)
        used += counts
        report.findings.append(_item(element, file, conversion))
    note = f"read into `when` of {_TARGET}" if used else "it has no exchange that is on"
    report.add_file(file, note)
    return conditions if used else None


def _exchange(
    element: Element, plugins: Plugins, conditions: _Conditions
) -> tuple[Conversion, bool]:
    """The conversion of an exchange, and whether it counts."""
    name, kind = element.attributes.get("id", ""), element.attributes.get("class", "")
    holder = element.find("writers")
    listed = holder.find_all("writer") if holder is not None else ()
    writers = [writer.attributes.get("id", "") for writer in listed]
    if kind == "default":
        conditions.add_default(writers)
        return mapped(_TARGET, "what no other exchange takes"), True
    if _class_name(element) != _JEXL:
        conditions.add_unknown(name, writers)
        return to_check(f"an exchange of others: say it as `when`: {', '.join(writers)}"), True
    if "exchange-jexl" not in plugins:
        return defaulted("its plugin, exchange-jexl, is not on", _TARGET), False
    try:
        sql = sql_of_document(_parameters(element).get("expr", ""))
    except ValueError as error:
        conditions.add_unknown(name, writers)
        return to_check(f"say it in SQL as `when` of {', '.join(writers)}: {error}", _TARGET), True
    conditions.add(sql, writers)
    return mapped(_TARGET), True


def _old_writer(conf: Conf, draft: Draft, report: MigrationReport) -> Conversions:
    """The Solr of a Nutch before 1.15, with its mapping."""
    name = conf.value(_OLD_MAPPING) or "solrindex-mapping.xml"
    path = conf.path(name)
    url = conf.value(_OLD_URL)
    names = (_OLD_MAPPING, _OLD_URL, _OLD_SIZE)
    if path is None and not url:
        return {}
    settings: dict[str, Any] = {"writer": "solr", "url": url or _STOCK_URL}
    size = conf.value(_OLD_SIZE)
    if size.isdecimal() and size != "0":
        settings["batch"] = int(size)
    if path is not None:
        settings |= _old_mapping(open_xml(path))
        note = f"read into {_TARGET}"
        if not url:
            note += f": write the `url` of your Solr, which {_OLD_URL} does not say"
        report.add_file(name, note, check=not url)
    _put(draft, [settings], name)
    return {old_name: mapped(_TARGET) for old_name in names if conf.value(old_name)}


def _old_mapping(root: Element) -> dict[str, Any]:
    """Copies and other names. The field `id` is there, so that the URL is not renamed to it."""
    fields = root.find("fields") or root
    copies: dict[str, list[str]] = {}
    rename: dict[str, str] = {}
    remove: list[str] = []
    key = (root.text_of("uniqueKey") or "id").strip()
    if key != "id":
        rename["id"] = key
    for field in fields.find_all("copyField"):
        source, target = _ends(field)
        if target and target != source:
            copies.setdefault(source, []).append(target)
    copied = {_ends(copy) for copy in fields.find_all("copyField")}
    for field in fields.find_all("field"):
        source, target = _ends(field)
        if source == "url" and target == key:
            remove += [] if ("url", "url") in copied else ["url"]
        elif target and target != source:
            rename[source] = target
    mappings = {"copy_fields": copies, "rename": rename, "remove": remove}
    return {name: value for name, value in mappings.items() if value}


def _ends(field: Element) -> tuple[str, str]:
    return _own(field.attributes.get("source", "")), field.attributes.get("dest", "").strip()
