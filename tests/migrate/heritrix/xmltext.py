"""Texts of `crawler-beans.cxml` for tests."""

from collections.abc import Mapping
from pathlib import Path

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.settings.settings import JobSettings
from nacre_migrate.answers import ClassAnswers
from nacre_migrate.heritrix.convert import convert

HEAD = (
    '<beans xmlns="http://www.springframework.org/schema/beans" '
    'xmlns:p="http://www.springframework.org/schema/p" '
    'xmlns:util="http://www.springframework.org/schema/util" '
    'xmlns:context="http://www.springframework.org/schema/context">\n'
)
PACKAGE = "org.archive.crawler."


def cxml(*lines: str) -> str:
    """A document, its beans one a line; the first one is on line 2."""
    return HEAD + "\n".join(lines) + "\n</beans>\n"


def bean(name: str, kind: str, **values: str) -> str:
    """A bean on one line, with plain properties."""
    inner = "".join(f'<property name="{key}" value="{value}"/>' for key, value in values.items())
    return f'<bean id="{name}" class="{PACKAGE}{kind}">{inner}</bean>'


def migrated(
    folder: Path,
    text: str,
    contact: str = "",
    answers: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
):
    """Settings, report, and findings by name, of a document."""
    file = folder / "crawler-beans.cxml"
    file.write_text(text, "utf-8")
    draft, report = convert(file, contact, ClassAnswers(answers or {}), environ or {})
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    return said, report, {finding.name: finding for finding in report.findings}


RULES = "org.archive.modules.deciderules."


def rules(*inner: str) -> str:
    return (
        f'<bean id="scope" class="{RULES}DecideRuleSequence"><property name="rules"><list>'
        + "".join(inner)
        + "</list></property></bean>"
    )


def rule(kind: str, inner: str = "", name: str = "") -> str:
    said = f' id="{name}"' if name else ""
    return f'<bean{said} class="{RULES}{kind}">{inner}</bean>'


def prop(name: str, inner: str) -> str:
    return f'<property name="{name}">{inner}</property>'


def texts(*values: str) -> str:
    return "<list>" + "".join(f"<value>{value}</value>" for value in values) + "</list>"
