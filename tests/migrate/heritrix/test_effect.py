"""What the report calls mapped is in effect: another value makes another job.

Each property of the tables is written twice, with two values, and each job is written and read
again. What is mapped must differ in the settings that the report names; what is "as Nacre does"
must be what they say.
"""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from nacre.config.place import find
from nacre.machine.layout import Layout
from nacre.scope.heritrix import CLASSES
from nacre.settings.load import examine_job
from nacre.settings.settings import JobSettings
from nacre_migrate.draft import write_job
from nacre_migrate.heritrix.chains import ENTRIES, PROCESSORS
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.heritrix.mappings import (
    CRAWL_CLASSES,
    FETCH_CLASSES,
    INSERTED,
    ORDER_CLASSES,
    POLICIES,
)
from nacre_migrate.report import MigrationOutcome

PAIRS = (
    ("true", "false"), ("7", "9"), ("70000000", "90000000"), ("PAUSE", "TERMINATE"),
    ("Pause job", "Terminate job"), ("STRICT", "OPEN"), ("3,4", "5,6"), ("图书馆", "档案"),
    ("ignore", "obey"), ("192.0.2.1", "192.0.2.2"), ("www.a.example", "www.b.example"),
    ("[a-z]+", "[0-9]+"), ("${prefix}-${serialno}-a", "${prefix}-${serialno}-b"),
    ("SurtAuthorityQueueAssignmentPolicy", "HostnameQueueAssignmentPolicy"),
    ("WagCostAssignmentPolicy", "ZeroCostAssignmentPolicy"),
)  # fmt: skip
THOROUGH = "NACRE_FUZZ" in os.environ
"""Read every job, also of values that are not mapped: in `make test-all`."""
HEAD = '<beans xmlns="http://www.springframework.org/schema/beans">'


class Written:
    """A job that is written, and what the report says of one property.

    Attributes:
        finding: Of the report.
    """

    def __init__(self, folder: Path, text: str, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "crawler-beans.cxml").write_text(text, "utf-8")
        self._folder = folder / "job"
        self._draft, self._report = convert(folder / "crawler-beans.cxml")
        (self.finding,) = (one for one in self._report.findings if one.name == name)
        if THOROUGH:
            _ = self.settings

    @cached_property
    def settings(self) -> JobSettings:
        """Its settings, written and read again."""
        write_job(self._folder, self._draft, self._report)
        loaded, _ = examine_job(Layout(self._folder), environ={})
        assert loaded is not None
        return loaded.settings

    @property
    def text(self) -> str:
        """Its files without comments."""
        _ = self.settings
        said = (self._folder / "crawl.yaml").read_text("utf-8")
        said += (self._folder / "seeds.txt").read_text("utf-8")
        return "\n".join(line.split("  #")[0].split(" # ")[0] for line in said.splitlines())


def beans(kind: str, inner: str) -> str:
    """A bean of a class where it takes part, and what a crawl needs beside it."""
    others = [
        one for one in ("FetchHTTP", "ExtractorHTML", "WARCWriterProcessor", "CandidatesProcessor")
        if ENTRIES.get(one, one) != ENTRIES.get(kind, kind)
    ]  # fmt: skip
    made = "".join(f"<bean id='o{one}' class='org.archive.x.{one}'/>" for one in others)
    one = f"<bean id='b' class='org.archive.x.{kind}'>{inner}</bean>"
    listed = [f"o{name}" for name in others] + (["b"] if kind in PROCESSORS else [])
    refs = "".join(f"<ref bean='{name}'/>" for name in listed)
    chains = "".join(
        f"<bean id='{name}' class='org.archive.x.{name}'><property name='processors'><list>{refs}"
        "</list></property></bean>"
        for name in ("FetchChain", "DispositionChain", "CandidateChain")
    )
    return f"{HEAD}{made}{one}{chains}</beans>"


def prop(name: str, value: str) -> str:
    return f"<property name='{name}' value='{value}'/>"


def order(kind: str, name: str, value: str) -> str:
    """The same in an order of Heritrix 1."""
    module = f'<newObject name="b" class="org.archive.x.{kind}"><string name="{name}">{value}'
    module += "</string></newObject>"
    if kind in PROCESSORS:
        where = "write" if "Writer" in kind else "fetch"
        module = f'<map name="{where}-processors">{module}</map>'
    if kind == "CrawlOrder":
        module = f'<string name="{name}">{value}</string>'
    return f"<crawl-order><controller>{module}</controller></crawl-order>"


BY_TABLE = sorted(
    (kind, name)
    for kind, known in {**FETCH_CLASSES, **CRAWL_CLASSES}.items()
    for name, rule in known.properties.items()
    if rule.paths and kind not in {"ARCWriterProcessor", "JerichoExtractorHTML"}
)
BY_ORDER = sorted(
    (kind, name)
    for kind, known in ORDER_CLASSES.items()
    for name, rule in known.properties.items()
    if rule.paths and {**FETCH_CLASSES, **CRAWL_CLASSES}.get(kind, known) is known
)


@pytest.mark.parametrize(("kind", "name"), BY_TABLE)
def test_a_mapped_property_has_its_value_in_the_job(tmp_path, kind, name):
    def one(folder: Path, value: str) -> Written:
        return Written(folder, beans(kind, prop(name, value)), f"b.{name}")

    assert compared(tmp_path, one), f"{kind}.{name}: no two values"


@pytest.mark.parametrize(("kind", "name"), BY_ORDER)
def test_a_mapped_value_of_an_order_is_in_the_job(tmp_path, kind, name):
    label = "controller" if kind == "CrawlOrder" else "b"

    def one(folder: Path, value: str) -> Written:
        return Written(folder, order(kind, name, value), f"{label}.{name}")

    assert compared(tmp_path, one), f"{kind}.{name}: no two values"


@pytest.mark.parametrize(
    ("kind", "name"),
    sorted((kind, name) for kind, one in INSERTED.items() for name, r in one.properties.items()
           if r.paths),
)  # fmt: skip
def test_a_mapped_property_of_an_inserted_processor_is_in_the_job(tmp_path, kind, name):
    needed = {
        "ExtractorImpliedURI": {"regex": "(a)", "format": "$1"},
        "ExtractorMultipleRegex": {"uriRegex": "(a)", "template": "b"},
        "HashCrawlMapper": {"crawlerCount": "9", "localName": "0"},
        "LexicalCrawlMapper": {"mapPath": "map.txt", "localName": "0"},
    }.get(kind, {})
    others = "".join(prop(key, value) for key, value in needed.items() if key != name)

    def one(folder: Path, value: str) -> Written:
        return Written(folder, beans(kind, others + prop(name, value)), f"b.{name}")

    assert compared(tmp_path, one, exact=False), f"{kind}.{name}: no two values"


def compared(folder: Path, one: Any, *, exact: bool = True) -> bool:
    """Whether values could be compared, or none is mapped; another value is another job."""
    seen = told = False
    for number, pair in enumerate(PAIRS):
        first, second = (one(folder / f"{number}-{place}", v) for place, v in enumerate(pair))
        mapped = [o for o in (first, second) if o.finding.outcome is MigrationOutcome.MAPPED]
        seen = seen or bool(mapped)
        flagged = [o for o in (first, second) if o.finding.outcome is MigrationOutcome.FLAGGED]
        told = told or bool(mapped and flagged)
        if flagged or not mapped:
            continue
        if exact:
            for path in mapped[0].finding.target.split(", "):
                values = [find(o.settings, path).value for o in (first, second)]
                assert values[0] != values[1], f"{pair} of {first.finding.name}: {path} stays"
        assert first.text != second.text
        return True
    return told or not seen


# ---- what tables do not have

BEANS = {
    "CrawlMetadata": {
        "jobName": ("新闻", "期刊"), "operator": ("a", "b"), "description": ("a", "b"),
        "organization": ("a", "b"), "audience": ("a", "b"), "operatorFrom": ("a@b.org", "c@b.org"),
        "operatorContactUrl": ("http://a.org/", "http://b.org/"),
        "userAgentTemplate": ("bot/1 +@OPERATOR_CONTACT_URL@", "bot/2 +@OPERATOR_CONTACT_URL@"),
        "robotsPolicyName": ("ignore", "obey"),
    },
    "TextSeedModule": {"sourceTagSeeds": ("true", "false")},
    "FetchHTTP": {
        "httpProxyHost": ("a.example", "b.example"), "socksProxyHost": ("a.example", "b.example"),
    },
    "WARCWriterProcessor": {"directory": ("a", "b"), "storePaths": ("a", "b"),
                            "enabled": ("false", "true")},
    "ExtractorHTTP": {"enabled": ("false", "true")},
    "CandidatesProcessor": {"enabled": ("false", "true")},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [(kind, name, values) for kind, said in BEANS.items() for name, values in said.items()],
)
def test_what_takes_more_than_a_table_is_in_effect_too(tmp_path, kind, name, values):
    made = [
        Written(tmp_path / str(at), beans(kind, prop(name, value)), f"b.{name}")
        for at, value in enumerate(values)
    ]
    assert {one.finding.outcome for one in made} <= {
        MigrationOutcome.MAPPED,
        MigrationOutcome.DEFAULTED,
    }
    assert made[0].text != made[1].text


@pytest.mark.parametrize("kind", sorted(POLICIES))
def test_a_policy_is_the_one_that_is_named(tmp_path, kind):
    path, name = POLICIES[kind]
    one = Written(tmp_path, f"{HEAD}<bean id='b' class='org.archive.x.{kind}'/></beans>", "b")
    assert one.finding.outcome is MigrationOutcome.MAPPED
    said = find(one.settings, path).value
    assert str(getattr(said, "policy", said)) == name


@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_a_rule_that_is_mapped_is_in_the_scope(tmp_path, kind):
    needed = {
        "ViaSurtPrefixedDecideRule": "<property name='surtPrefixes'><list><value>http://(a,"
        "</value></list></property>",
        "ScriptedDecideRule": "", "ExpressionDecideRule": prop("groovyExpression", "x"),
    }.get(kind, "")  # fmt: skip
    inner = f"<bean id='r' class='org.archive.x.{kind}'>{needed}</bean>"
    scope = "<bean id='scope' class='org.archive.x.DecideRuleSequence'><property name='rules'>"
    one = Written(tmp_path, f"{HEAD}{scope}<list>{inner}</list></property></bean></beans>", "r")
    rules = [*one.settings.scope] if "scope:" in one.text else []
    inside = {getattr(getattr(rule, "of", rule), "rule", "") for rule in rules}
    assert (one.finding.outcome is MigrationOutcome.MAPPED) is (CLASSES[kind].rule in inside)
    assert one.finding.outcome is MigrationOutcome.MAPPED or one.finding.note
