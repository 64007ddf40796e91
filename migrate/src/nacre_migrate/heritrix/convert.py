"""The migration of a Heritrix job, from file to draft and report."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from nacre.config.check import load_partly
from nacre.config.layer import Layer
from nacre.errors import ConfigError, Problem
from nacre.scope.heritrix import equivalent
from nacre.settings.settings import JobSettings
from nacre_migrate.answers import ClassAnswers
from nacre_migrate.draft import Draft, advise_of_effects, settle
from nacre_migrate.files import open_xml
from nacre_migrate.heritrix.agent import is_contact
from nacre_migrate.heritrix.beans import Bean, Beans, Ref, Setting
from nacre_migrate.heritrix.chains import find_active, insert_added, map_gate, map_search
from nacre_migrate.heritrix.classes import is_known, settle_classes
from nacre_migrate.heritrix.mappings import (
    COMMON,
    CRAWL_CLASSES,
    FETCH_CLASSES,
    ORDER_CLASSES,
    ClassMapping,
    PropertyMapping,
)
from nacre_migrate.heritrix.order import OrderReader, read_hosts
from nacre_migrate.heritrix.parts import SPECIAL
from nacre_migrate.heritrix.placeholders import apply_overrides, fill_placeholders, set_open_aside
from nacre_migrate.heritrix.scope import OLD_SCOPES, RuleWriter, map_order_scope, place_rules
from nacre_migrate.heritrix.seeds import finish_seeds
from nacre_migrate.heritrix.sheets import SheetWriter
from nacre_migrate.heritrix.spring import SpringReader
from nacre_migrate.heritrix.work import WIRING, Migration, becomes, confirm, unknown
from nacre_migrate.report import (
    Conversion,
    FileNote,
    MigrationOutcome,
    MigrationReport,
    ReportedItem,
    defaulted,
    mapped,
    missing,
    shown,
    to_check,
)

_THEIRS = ("org.archive.", "org.springframework.", "java.")
_NO_ANSWERS = ClassAnswers()
_ROOTS = ("beans", "crawl-order")
_OF_ADDRESS = ("IpAddressSetDecideRule", "ExternalGeoLocationDecideRule")
_NOT_KNOWN = "nothing here is known to be like it"
_NO_CLASS = "not a class of Heritrix: perhaps a plug-in of yours"
_OVERRIDDEN = "overridden further on in the file"


def convert(
    file: Path,
    contact: str = "",
    answers: ClassAnswers = _NO_ANSWERS,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Draft, MigrationReport]:
    """Make a job of `crawler-beans.cxml` of Heritrix 3 or `order.xml` of Heritrix 1.

    Args:
        file: The file.
        contact: The contact of the crawl; "" for the contact of the file.
        answers: What classes that are not Heritrix's stand for; see `answers.read_answers`.
        environ: The environment, which expressions of the file may ask for.

    Raises:
        ConfigError: It cannot be read; with file and line.
        UnansweredError: Classes are not known where known ones are needed.
    """
    if contact and not is_contact(contact):
        expected = "a web page or a mail address"
        raise ConfigError(
            [
                Problem(
                    "--contact",
                    f"{contact!r} is not an address at which you can be reached",
                    expected,
                )
            ]
        )
    if file.suffix == ".groovy":
        message = "a Groovy file is a program, which is not run: only XML can be migrated"
        expected = "crawler-beans.cxml; write the beans of the Groovy file in it"
        raise ConfigError([Problem("", message, expected, file=file.name)])
    root = open_xml(file)
    if root.tag == "beans":
        kinds = {**FETCH_CLASSES, **CRAWL_CLASSES}
        beans = SpringReader(file.name, file.parent, environ).read(root)
        return migrated(Migration(beans, file.parent, kinds, contact), answers, environ)
    if root.tag == "crawl-order":
        beans = OrderReader(file.name).read(root)
        read_hosts(beans, file.parent)
        return migrated(Migration(beans, file.parent, ORDER_CLASSES, contact), answers, environ)
    message = f"<{root.tag}> is neither <{_ROOTS[0]}> nor <{_ROOTS[1]}>"
    raise ConfigError([Problem("", message, file=file.name, line=root.line)])


def migrated(
    work: Migration, answers: ClassAnswers, environ: Mapping[str, str]
) -> tuple[Draft, MigrationReport]:
    """The job that beans make.

    Args:
        work: The configuration, and the directory of its file.
        answers: See `convert`.
        environ: See `convert`.
    """
    beans = work.beans
    if work.contact:
        work.draft.put("fetch.contact", work.contact, "--contact")
    apply_overrides(beans)
    fill_placeholders(beans, work.directory, environ)
    set_open_aside(beans)
    settle_classes(work, answers)
    find_active(work)
    _leave_out_overridden(beans)
    _scope(work)
    _recheck(work)
    insert_added(work)
    for bean in [*beans.extra, *beans.beans()]:
        _map_bean(work, bean)
    map_search(work)
    settings, _ = load_partly(JobSettings, [Layer("option", work.draft.tree())])
    if settings is not None:
        SheetWriter(work, settings.settings).write()
    confirm(work)
    for item in beans.items:
        conversion = item.conversion or _last_word(work, item)
        if isinstance(item, Bean) and conversion.outcome is MigrationOutcome.MAPPED:
            conversion = _of_whom(item, conversion)
        item.decide(conversion)
    _report(work)
    _in_order(work.draft)
    return work.draft, work.report


def _in_order(draft: Draft) -> None:
    """The settings in the order of the reference."""
    order = {name: place for place, name in enumerate(JobSettings.model_fields)}
    draft.sort(lambda path: order[path.partition(".")[0]])


def _leave_out_overridden(beans: Beans) -> None:
    for bean in beans.beans():
        if not beans.holds(bean):
            bean.decide(defaulted(_OVERRIDDEN))
            for setting in bean.settings.values():
                setting.decide_with_parts(defaulted(_OVERRIDDEN))


def _scope(work: Migration) -> None:
    """The scope: the bean of that name, or the reference of the scoper."""
    order = next(iter(work.beans.of_kind("DecidingScope", *OLD_SCOPES)), None)
    if order is not None:
        map_order_scope(work, order)
        return
    scoper = next(iter(work.beans.of_kind("CandidateScoper")), None)
    scopes = work.beans.beans_in(scoper.settings.get("scope")) if scoper is not None else []
    sequences = work.beans.of_kind("DecideRuleSequence", "DecideRuleSequenceWithAMQPFeed")
    scope = work.beans.bean("scope") or next(iter([*scopes, *sequences]), None)
    if scope is None or not scope.active:
        if scope is not None:
            work.advise(f"{scope.place}: left out, so the stock scope holds.")
        return
    is_rule = equivalent(scope.kind) is not None
    if not is_rule and "rules" not in scope.settings:
        work.advise(f"{scope.place}: no scope that is known: the stock scope holds.")
        return
    if "rules" not in scope.settings:
        rules = RuleWriter(work).rules([scope])
        place_rules(work, rules, [scope])
    else:
        setting = scope.settings["rules"]
        beans = work.beans.beans_in(setting)
        rules = RuleWriter(work).rules(beans)
        place_rules(work, rules, beans)
        setting.decide(mapped("scope"))
        scope.decide(mapped("scope"))
        if not is_rule:
            scope.decide(to_check(f"{scope.kind} is taken for a DecideRuleSequence", "scope"))
        _scope_log(work, scope)
    work.draft.put("scope", rules, scope.place)


def _recheck(work: Migration) -> None:
    """Rules that need an address have no say unless the scope is asked again when it is known."""
    rules = [bean for bean in work.beans.of_kind(*_OF_ADDRESS) if bean in work.rule_paths]
    for bean in rules[:1]:
        work.draft.put("chains.fetch.recheck-scope.enabled", value=True, reason=bean.place)
        work.advise(
            f"The scope is asked again before each fetch, because {bean.kind} needs the address."
        )


def _scope_log(work: Migration, scope: Bean) -> None:
    for name, path in (
        ("logToFile", "engine.scope_log"),
        ("logExtraInfo", "engine.scope_log_extra"),
    ):
        setting = scope.settings.get(name)
        if setting is not None and scope.is_true(name):
            work.put(setting, path, value=True)
        elif setting is not None:
            setting.decide(defaulted("as Nacre does", path))


def _map_bean(work: Migration, bean: Bean) -> None:
    if bean.conversion is not None and not bean.active:
        return
    special = SPECIAL.get(bean.kind)
    if special is not None and bean.conversion is None:
        special(work, bean)
    kind = work.kind(bean)
    if kind is None:
        return
    bean.decide_if_undecided(_conversion_of_kind(kind))
    for setting in list(bean.settings.values()):
        if setting.conversion is None:
            _map_setting(work, bean, setting, kind)


def _conversion_of_kind(kind: ClassMapping) -> Conversion:
    if kind.flagged:
        return missing(kind.note) if kind.flagged == "missing" else to_check(kind.note)
    return mapped(kind.section, kind.note) if kind.section else defaulted(kind.note)


def _map_setting(work: Migration, bean: Bean, setting: Setting, kind: ClassMapping) -> None:
    rule = kind.properties.get(setting.name) or COMMON.get(setting.name)
    if setting.name == "shouldProcessRule":
        map_gate(work, setting)
    elif setting.name == "enabled":
        setting.decide(defaulted("switched on"))
    elif rule is not None:
        setting.decide(_put_values(work, rule, setting))
    elif bean.conversion is not None and bean.conversion.flag:
        setting.decide(bean.conversion)
    elif _is_known(work, setting):
        setting.decide(defaulted("see that bean"))
    elif not setting.value:
        setting.decide(defaulted("empty"))
    else:
        setting.decide(unknown(bean, setting, kind.properties))


def _is_known(work: Migration, setting: Setting) -> bool:
    """Whether it is a bean of a class that a table has."""
    value = work.beans.resolved(setting.value)
    return isinstance(value, Bean) and work.kind(value) is not None


def _put_values(work: Migration, rule: PropertyMapping, setting: Setting) -> Conversion:
    conversion, values = becomes(rule, setting)
    for path, value in values.items():
        if not work.claim(setting, path, value):
            return setting.conversion or conversion
        work.draft.put(path, value, setting.place)
    return conversion


def _last_word(work: Migration, item: Bean | Setting) -> Conversion:
    """The conversion of what nothing has spoken of."""
    if isinstance(item, Setting):
        return _last_word_of_setting(work, item)
    if item.owner is not None and (is_known(work, item) or not _takes_part(item)):
        return item.owner.conversion or _last_word(work, item.owner)
    if equivalent(item.kind) is not None:
        return defaulted("no part of the scope")
    if item.package.startswith("java."):
        return _as_used(work, item)
    return missing(_NOT_KNOWN if item.package.startswith("org.archive.") else _NO_CLASS)


def _as_used(work: Migration, bean: Bean) -> Conversion:
    """The conversion of a value of Java on its own: that of the property that refers to it."""
    for item in work.beans.items:
        if (
            isinstance(item, Setting)
            and item.value == Ref(bean.name)
            and item.conversion is not None
        ):
            return item.conversion
    return defaulted("nothing refers to it")


def _last_word_of_setting(work: Migration, item: Setting) -> Conversion:
    if item.doubt:
        return to_check(item.doubt, _target(work, item))
    if item.kind == "element":
        return defaulted("part of how Spring reads the file")
    owner = item.bean.conversion or _last_word(work, item.bean)
    item.bean.decide(owner)
    has_class = work.kind(item.bean) is not None and not owner.flag
    return to_check("not a known property") if has_class else owner


def _target(work: Migration, item: Setting) -> str:
    """The settings that a property would have become."""
    kind = work.kind(item.bean)
    rule = kind.properties.get(item.name) if kind is not None else None
    return ", ".join(rule.paths.split()) if rule is not None else ""


def _takes_part(bean: Bean) -> bool:
    """Whether a bean on the spot is in a part of the configuration that does something."""
    above: Bean | None = bean
    while above is not None:
        if not above.active:
            return False
        above = above.owner.bean if above.owner is not None else None
    return True


def _of_whom(bean: Bean, conversion: Conversion) -> Conversion:
    """A class of another package, which has the name of one of Heritrix's."""
    if bean.taken_for:
        return mapped(conversion.target, bean.taken_for)
    if "." not in bean.package or bean.package.startswith(_THEIRS):
        return conversion
    return to_check(f"{bean.package} is taken for Heritrix's {bean.kind}", conversion.target)


def _report(work: Migration) -> None:
    items, report = work.beans.items, work.report
    # A property may be decided before the bean that it is on: so the beans come first above.
    work.report.findings += (_finding(work.beans.file, item) for item in items)
    settle(work.draft, work.report)
    advise_of_effects(work.draft, work.report)
    finish_seeds(work)
    if "fetch.contact" not in work.draft.settings:
        report.advice.insert(
            0, "Say who crawls: fetch.contact in crawl.yaml, a web page or a mail address."
        )
    noted = {note.name for note in report.files}
    if work.beans.file not in noted:
        report.files.insert(0, FileNote(work.beans.file, "read"))


def _finding(file: str, item: Bean | Setting) -> ReportedItem:
    conversion = item.conversion or to_check(WIRING)
    if isinstance(item, Bean):
        name, value, kind = item.label, item.package, "bean"
        source = item.file
    else:
        name, kind, source = item.full_name, item.kind, item.bean.file or file
        value = shown(name, item.text)
        conversion = _with_origin(item, conversion)
    return ReportedItem(
        name,
        value,
        source,
        item.line,
        conversion.outcome,
        conversion.target,
        conversion.note,
        conversion.flag,
        kind,
    )


def _with_origin(item: Setting, conversion: Conversion) -> Conversion:
    """With the origin of its value, and the part of it that is not used."""
    if item.doubt and item.bean.active:
        doubt = f"{item.doubt} ({item.origin})" if item.origin else item.doubt
        return to_check(doubt, conversion.target)
    if item.origin and conversion.outcome is MigrationOutcome.MAPPED:
        note = f"{conversion.note}; {item.origin}" if conversion.note else item.origin
        return conversion._replace(note=note)
    return conversion
