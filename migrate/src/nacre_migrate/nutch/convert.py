"""The migration of a configuration of Nutch, from directory to draft and report."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from nacre_migrate.answers import ClassAnswers
from nacre_migrate.draft import Draft, advise_of_effects, require_seeds, settle
from nacre_migrate.nutch.conf import FILES, TEMPLATE, Conf, Conversions, NutchProperty, finding
from nacre_migrate.nutch.cycle import map_cycle
from nacre_migrate.nutch.plugins import Plugins, settle_unknown
from nacre_migrate.nutch.properties import map_agent, map_value, other_conversion
from nacre_migrate.nutch.schedule import map_host_intervals, map_schedule, map_seed_intervals
from nacre_migrate.nutch.seeds import read_seeds
from nacre_migrate.nutch.urls import URLRules
from nacre_migrate.nutch.writers import map_writers
from nacre_migrate.report import (
    Conversion,
    FileNote,
    MigrationOutcome,
    MigrationReport,
    ReportedItem,
    defaulted,
    mapped,
    missing,
    to_check,
)

_NO_ANSWERS = ClassAnswers()
_LEFT_OUT = "left out, as you said"
_STAYS_OPEN = "holds a reference that nothing here fills in, so Nutch's stock value holds: write it"


def convert(
    directory: Path,
    seeds: Path | None = None,
    answers: ClassAnswers = _NO_ANSWERS,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Draft, MigrationReport]:
    """Make a job of a configuration directory of Nutch.

    Args:
        directory: The directory: `nutch-site.xml`, `nutch-default.xml`, rule files; each may be
            a `.template`.
        seeds: Its seeds, a file or a directory; None looks for them in the directory.
        answers: What plugins that are not Nutch's own stand for; see `answers.read_answers`.
        environ: The environment, which properties may refer to.

    Raises:
        UnansweredError: Plugins are on that are not known.
        ConfigError: Something cannot be read; with file and line.
        JobError: A file of seeds cannot be read.
    """
    conf = Conf(directory, environ)
    plugins = Plugins(conf)
    settle_unknown(conf, plugins, answers)
    draft, report = Draft(), MigrationReport("nutch")
    conversions = {**map_agent(conf, draft), **_plugin_conversions(conf, plugins)}
    rules = URLRules(conf, plugins, draft, report)
    conversions |= rules.map()
    listed = read_seeds(conf, seeds, report)
    draft.seeds.extend(listed.lines)
    conversions |= map_cycle(conf, plugins, draft)
    conversions |= map_writers(conf, plugins, draft, report)
    conversions |= map_schedule(conf, rules, draft, seeds_say=bool(listed.intervals))
    if str(draft.settings.get("recrawl.schedule.kind", "")).endswith("adaptive"):
        map_host_intervals(conf, draft, report)
    map_seed_intervals(listed.intervals, draft, report)
    for prop in conf.properties:
        report.findings.append(_finding(conf, prop, conversions, draft))
    settle(draft, report)
    advise_of_effects(draft, report)
    require_seeds(draft, report)
    _other_files(conf, draft, report)
    _advise(conf, plugins, report)
    return draft, report


def _finding(
    conf: Conf, prop: NutchProperty, conversions: Conversions, draft: Draft
) -> ReportedItem:
    winner = conf.winner(prop.name)
    if winner is not None and winner is not prop:
        return finding(defaulted(f"overridden at {winner.file}:{winner.line}"), prop)
    if conf.is_open(prop):
        return finding(to_check(_STAYS_OPEN), prop)
    now = conf.current(prop)
    if now is not None:
        current = _conversion(conf, now, conversions, draft)
        note = f"{now.name} since; {current.note}".removesuffix("; ")
        return finding(current._replace(note=note), prop)
    conversion = _conversion(conf, prop, conversions, draft)
    if answer := conf.answered(prop):
        is_mapped = conversion.outcome is MigrationOutcome.MAPPED
        conversion = (
            mapped(conversion.target, f"read as {answer}, as you said")
            if is_mapped
            else missing(_LEFT_OUT)
        )
    return finding(conversion, prop)


def _conversion(
    conf: Conf, prop: NutchProperty, conversions: Conversions, draft: Draft
) -> Conversion:
    return (
        conversions.get(prop.name) or map_value(conf, prop, draft) or other_conversion(conf, prop)
    )


def _plugin_conversions(conf: Conf, plugins: Plugins) -> Conversions:
    note = f"active here: {', '.join(plugins.active)}"
    if plugins.of_the_cycle:
        note += f"; no part of a crawl: {', '.join(plugins.of_the_cycle)}"
    if plugins.foreign:
        note += f"; not done: {', '.join(plugins.foreign)}"
    if plugins.dropped:
        note += f"; {_LEFT_OUT}: {', '.join(plugins.dropped)}"
    if plugins.taken:
        note += f"; as you said: {', '.join(f'{a} is read as {b}' for a, b in plugins.taken)}"
    excluded = conf.value("plugin.excludes")
    target = "scope, uri.normalize"
    return {
        "plugin.includes": mapped(target, note),
        "plugin.excludes": mapped(target) if excluded else defaulted("empty", target),
    }


def _other_files(conf: Conf, draft: Draft, report: MigrationReport) -> None:
    """Every file of the directory is accounted for."""
    noted = {note.name for note in report.files} | set(draft.files)
    for path in sorted(conf.directory.iterdir()):
        name = path.name.removesuffix(TEMPLATE)
        if path.is_file() and name not in noted and name not in FILES:
            report.files.append(FileNote(name, "not used: nothing that is active reads it"))
            noted.add(name)


def _advise(conf: Conf, plugins: Plugins, report: MigrationReport) -> None:
    if not (conf.value("http.agent.url") or conf.value("http.agent.email")):
        report.advice.append(
            "Say who crawls: fetch.contact in crawl.yaml, a web page or a mail address."
        )
    if plugins.foreign:
        report.advice.append(f"Nacre has nothing like {', '.join(plugins.foreign)}.")
    report.advice.append(
        "Nutch's filters judge what pages embed too: the stock regex-urlfilter.txt rejects images, "
        "style sheets and URLs with a query, which an archive wants. To keep embeds, put "
        "`- rule: transclusion` behind nutch-filters in crawl.yaml."
    )
