"""Schedules, bounds of hosts and signatures of Nutch."""

import pytest

from nacre.assembly.rule_checks import examine_rule_files, mime_rates
from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.errors import ConfigError
from nacre.settings.settings import JobSettings
from nacre_migrate.draft import write_job
from nacre_migrate.nutch.convert import convert
from nacre_migrate.report import MigrationOutcome
from tests.migrate.nutch.conffiles import conf, converted

SCHEDULES = "org.apache.nutch.crawl."


RATES = "# type\tinc\tdec\ntext/html\t0.2\t0.2\napplication/pdf\t0.1\t0.4\n"


def test_the_stock_schedule_is_left_to_the_planner(tmp_path):
    said, _, _ = converted(tmp_path)
    assert (said.recrawl.schedule.kind, said.change.signature) == ("worth", "blocks")


def test_a_schedule_is_taken_over(tmp_path):
    site = {
        "db.fetch.schedule.class": SCHEDULES + "AdaptiveFetchSchedule",
        "db.fetch.interval.default": "604800",
        "db.fetch.schedule.adaptive.inc_rate": "0.2",
        "db.fetch.schedule.adaptive.sync_delta": "false",
        "db.fetch.retry.max": "5",
    }
    said, _, found = converted(tmp_path, site)
    nutch = said.recrawl.schedule.nutch
    assert said.recrawl.schedule.kind == "nutch-adaptive"
    assert (nutch.interval, nutch.inc_rate, nutch.dec_rate) == (604800, 0.2, 0.2)
    assert (nutch.sync_delta, nutch.retry_max) == (False, 5)
    assert {name: conversion.outcome for name, conversion in found.items()} == dict.fromkeys(
        site, MigrationOutcome.MAPPED
    )


def test_another_interval_alone_means_the_fixed_schedule(tmp_path):
    said, _, found = converted(tmp_path, {"db.fetch.interval.default": "86400"})
    assert said.recrawl.schedule.kind == "nutch-default"
    assert said.recrawl.schedule.nutch.interval == 86400
    assert found["db.fetch.interval.default"].target == "recrawl.schedule.nutch.interval"


def test_rates_by_media_type_come_with_their_file(tmp_path):
    site = {"db.fetch.schedule.class": SCHEDULES + "MimeAdaptiveFetchSchedule"}
    folder = conf(tmp_path / "conf", site, **{"adaptive-mimetypes.txt.template": RATES})
    draft, report = convert(folder)
    write_job(tmp_path / "job", draft, report)
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    name = said.recrawl.schedule.nutch.mime_file
    assert (said.recrawl.schedule.kind, name) == ("nutch-mime-adaptive", "adaptive-mimetypes.txt")
    assert mime_rates(said, RuleFiles(tmp_path / "job"))["application/pdf"] == (0.1, 0.4)
    (tmp_path / "job" / name).write_text("text/html 0.2 0.2\n")
    broken = examine_rule_files(said, RuleFiles(tmp_path / "job")).problems
    assert [problem.path for problem in broken] == ["recrawl.schedule.nutch.mime_file"]
    assert "line 1" in broken[0].message
    (tmp_path / "job" / name).unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        mime_rates(said, RuleFiles(tmp_path / "job"))
    (folder / "adaptive-mimetypes.txt.template").unlink()
    _, report = convert(folder)
    flagged = {f.name for f in report.findings if f.outcome is MigrationOutcome.FLAGGED}
    assert "db.fetch.schedule.mime.file" in flagged


HOSTS = """# host min max
www.a.example 3600 default
news.example 60 86400
NEWS2.example 60 86400
quiet.example 0 default
slow.example default 3600
broken 5
"""


def test_bounds_of_hosts_become_sheets(tmp_path):
    name = "adaptive-host-specific-intervals.txt"
    site = {"db.fetch.schedule.class": SCHEDULES + "AdaptiveFetchSchedule"}
    said, report, _ = converted(tmp_path, site, **{name: HOSTS})
    path = "recrawl.schedule.nutch."
    assert dict(said.sheets) == {
        "min3600": {path + "min_interval": 3600.0},
        "min60-max86400": {path + "min_interval": 60.0, path + "max_interval": 86400.0},
        "max3600": {path + "max_interval": 3600.0},
    }
    assert [one.surts for one in said.sheet_associations] == [
        ("http://www.a.example/",), ("http://news.example/", "http://news2.example/"),
        ("http://slow.example/",),
    ]  # fmt: skip
    note = next(note for note in report.files if note.name == name)
    assert (note.check, "lines that are no" in note.what) == (True, True)
    said, _, _ = converted(tmp_path / "stock", **{name: HOSTS})
    assert not said.sheets


@pytest.mark.parametrize(
    ("site", "flagged"),
    [
        ({"db.fetch.interval.default": "monthly"}, "db.fetch.interval.default"),
    ],
)
def test_what_is_not_known_of_schedules_is_flagged(tmp_path, site, flagged):
    _, _, found = converted(tmp_path, site)
    assert found[flagged].outcome is MigrationOutcome.FLAGGED


def test_a_signature_is_taken_over(tmp_path):
    site = {
        "db.signature.class": SCHEDULES + "TextProfileSignature",
        "db.signature.text_profile.quant_rate": "0.05",
    }
    said, _, found = converted(tmp_path, site)
    assert (said.change.signature, said.change.text_profile.quant_rate) == ("text-profile", 0.05)
    assert "text-profile-cjk" in found["db.signature.class"].note
