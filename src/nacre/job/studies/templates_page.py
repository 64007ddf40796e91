"""The URL templates of a job, for people (pure)."""

from nacre.history.finding.linkrules import LinkRule
from nacre.history.finding.parameters import Parameter
from nacre.job.studies.templates import RuleFacts, TemplateFacts, TemplateList
from nacre.report.document import Column, DataTable, Document, Form, Section
from nacre.report.units import span

_RULES = {
    LinkRule.TIMESTAMP: "the date in the URL",
    LinkRule.SEQUENCE: "a rising number in the URL",
    LinkRule.KEY: "the set of known URLs alone",
}
"""What tells a new link, in words."""


def document(found: TemplateList) -> Document:
    """The list for people."""
    facts = tuple(
        (f"Rule {rule}", f"new links are told by {words}") for rule, words in _RULES.items()
    )
    tables = [_templates(found.templates), _examples(found.templates)]
    if found.rules:
        tables.append(_rules(found.rules))
    if found.parameters:
        tables.append(_parameters(found.parameters))
    section = Section("", _text(found), facts, tables=tuple(tables))
    return Document("URL templates", (section,))


def _text(found: TemplateList) -> tuple[str, ...]:
    text = "Rules T and S find what is missing; whether a URL is known has the last word."
    waits = sum(one.waits for one in found.templates)
    if not waits:
        return (text,)
    trapped = (
        f"{waits:,} URLs that were never visited lead into traps, and wait: a run spends "
        f"{100 * found.trap_share:g} % of its visits on such. `recrawl.trap_share` says so; "
        "1 visits them all."
    )
    return (text, trapped)


def _templates(found: list[TemplateFacts]) -> DataTable:
    counts = ("URLs", "URLs visited", "living URLs", "index pages", "visits", "changes", "contents")
    columns = (
        Column("template", Form.URL),
        *(Column(name, Form.COUNT) for name in counts),
        *(Column("rule"), Column("slack"), Column("trap"), Column("URLs that wait", Form.COUNT)),
    )
    rows = tuple(
        (
            *(one.template, one.urls, one.visited, one.live, one.index),
            *(one.visits, one.changes, one.contents),
            *(one.rule, _slack(one), one.trap, one.waits or None),
        )
        for one in found
    )
    return DataTable("Templates", columns, rows)


def _examples(found: list[TemplateFacts]) -> DataTable:
    columns = (Column("template", Form.URL), Column("URL", Form.URL))
    rows = tuple((one.template, url) for one in found for url in one.examples)
    return DataTable("Examples", columns, rows)


def _parameters(found: list[Parameter]) -> DataTable:
    columns = (
        *(Column("site"), Column("parameter")),
        *(Column(name, Form.COUNT) for name in ("pairs of URLs", "pairs that are the same")),
        Column("idle"),
    )
    rows = tuple(
        (one.site, one.name, one.pairs, one.same, "yes" if one.idle else "") for one in found
    )
    return DataTable("Query parameters", columns, rows)


def _rules(found: list[RuleFacts]) -> DataTable:
    columns = (
        *(Column("links"), Column("rule"), Column("slack"), Column("highest number", Form.COUNT)),
        *(Column(name, Form.COUNT) for name in ("links foreseen", "links late")),
        Column("share", Form.SHARE),
    )
    rows = tuple(
        (
            *(one.links, one.rule, _slack(one), one.highest or None),
            *(one.foreseen, one.late, one.share),
        )
        for one in found
    )
    return DataTable("Rules at work", columns, rows)


def _slack(one: TemplateFacts | RuleFacts) -> str:
    if one.rule == LinkRule.TIMESTAMP:
        return span(max(one.slack, 0.0))
    return f"{one.slack:,.0f}" if one.rule == LinkRule.SEQUENCE else ""
