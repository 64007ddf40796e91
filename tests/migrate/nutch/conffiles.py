"""Configuration directories of Nutch for tests."""

from pathlib import Path
from xml.sax.saxutils import escape

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.settings.settings import JobSettings
from nacre_migrate.nutch.conf import STOCK
from nacre_migrate.nutch.convert import convert

REGEX = "-\\.gif$\n+.\n"


def xml(values):
    lines = [
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in values.items()
    ]
    return "<configuration>\n" + "\n".join(lines) + "\n</configuration>\n"


def conf(folder: Path, site=None, *, stock=True, **files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if stock:
        (folder / "nutch-default.xml").write_text(xml(STOCK), "utf-8")
    (folder / "nutch-site.xml").write_text(xml(site or {}), "utf-8")
    known = {"regex-urlfilter.txt": REGEX, "regex-normalize.xml": "<regex-normalize/>"}
    for name, text in {**known, **files}.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def converted(folder, site=None, **files):
    draft, report = convert(conf(folder, site, **files))
    assert sum(report.counts().values()) == len(STOCK) + len(site or {})
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    return said, report, {f.name: f for f in report.findings if f.file == "nutch-site.xml"}
