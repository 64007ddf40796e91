"""A configuration directory of Nutch: stock values, overridden properties, files."""

from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre_migrate.nutch.conf import STOCK
from nacre_migrate.nutch.convert import convert
from nacre_migrate.report import MigrationOutcome
from tests.cases.table import cases_folder
from tests.migrate.nutch.conffiles import conf, converted


def test_our_stock_values_are_those_of_nutch(tmp_path):
    samples = cases_folder().parent / "samples" / "nutch"
    if not samples.is_dir():
        pytest.skip(f"{samples} is absent")
    _, report = convert(samples)
    assert {f.name: f.value for f in report.findings} == STOCK
    assert report.counts()["flagged"] == 1


def test_a_property_that_is_overridden_says_where(tmp_path):
    _, report, _ = converted(tmp_path, {"http.timeout": "1"})
    first = next(f for f in report.findings if f.name == "http.timeout")
    assert first.outcome is MigrationOutcome.DEFAULTED
    assert first.note == "overridden at nutch-site.xml:2"


def test_no_configuration_and_files_outside_of_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no nutch-site\.xml"):
        convert(tmp_path)
    (tmp_path / "secret").write_text("+.")
    site = {"urlfilter.regex.file": "../secret", "plugin.includes": "urlfilter-regex"}
    draft, report = convert(conf(tmp_path / "conf", site))
    assert draft.files == {"adaptive-mimetypes.txt": Path()} or "../secret" not in draft.files
    assert any(note.name == "../secret" and note.check for note in report.files)
