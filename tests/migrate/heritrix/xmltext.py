"""Texts of `crawler-beans.cxml` for tests."""

from collections.abc import Mapping
from pathlib import Path

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.job.configuration.settings import JobSettings
from nacre.migrate.answers import Answers
from nacre.migrate.heritrix.convert import convert

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
    draft, report = convert(file, contact, Answers(answers or {}), environ or {})
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    return said, report, {finding.name: finding for finding in report.findings}
