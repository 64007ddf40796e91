"""A draft: its YAML with reasons, what is taken out of it again, and the job that is written."""

from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre_migrate.draft import CommentedMapping, Draft, require_seeds, settle, write_job
from nacre_migrate.report import Flag, MigrationOutcome, MigrationReport, ReportedItem


def finding(target: str) -> ReportedItem:
    return ReportedItem("a.b", "1", "a.xml", 2, MigrationOutcome.MAPPED, target)


def test_reasons_are_comments_at_their_values():
    draft = Draft()
    draft.put("fetch.timeout", 5, "a.b,\n a.xml:2")
    draft.put("scope", [CommentedMapping({"rule": "reject"}, {"rule": "bean, a.xml:3"})], "scope")
    lines = draft.yaml("nutch").splitlines()
    assert lines[0].startswith("# A job of Nacre, made from a configuration of nutch")
    assert any(line.split() == ["timeout:", "5", "#", "a.b,", "a.xml:2"] for line in lines)
    assert any(line.split() == ["-", "rule:", "reject", "#", "bean,", "a.xml:3"] for line in lines)
    assert draft.tree() == {"fetch": {"timeout": 5}, "scope": [{"rule": "reject"}]}


def test_a_later_value_wins_and_the_order_can_be_set():
    draft = Draft()
    for path, value in (("limits.bytes", 1), ("fetch.timeout", 2), ("limits.bytes", 3)):
        draft.put(path, value)
    draft.sort(lambda path: 0 if path.startswith("fetch") else 1)
    assert list(draft.settings.items()) == [("fetch.timeout", 2), ("limits.bytes", 3)]


def test_what_nacre_does_not_accept_is_taken_out_and_flagged():
    draft, report = Draft(), MigrationReport("nutch")
    draft.put("fetch.timeout", -5)
    draft.put("engine.parallel", 7)
    report.findings += [finding("fetch.timeout"), finding("engine.parallel")]
    settle(draft, report)
    assert draft.settings == {"engine.parallel": 7}
    flagged, kept = report.findings
    assert (flagged.outcome, flagged.flag) == (MigrationOutcome.FLAGGED, Flag.CHECK)
    assert flagged.note.startswith("left out: ")
    assert kept == finding("engine.parallel")


def test_a_job_without_seeds_says_where_they_go():
    draft, report = Draft(seeds=["# nothing", "+http://(a,)"]), MigrationReport("nutch")
    require_seeds(draft, report)
    assert draft.seeds[-1].startswith("# There were no seeds")
    assert len(report.advice) == 1
    require_seeds(Draft(seeds=["http://a.test/"]), report)
    assert len(report.advice) == 1


def test_the_job_has_its_files_and_no_password_in_its_seeds(tmp_path: Path):
    (tmp_path / "filter.txt").write_text("+.\n")
    draft = Draft(
        seeds=["http://name:hidden@a.test/"], files={"conf/f.txt": tmp_path / "filter.txt"}
    )
    write_job(tmp_path / "job", draft, MigrationReport("nutch"))
    assert (tmp_path / "job" / "conf" / "f.txt").read_text() == "+.\n"
    assert (tmp_path / "job" / "seeds.txt").read_text() == "http://a.test/\n"
    assert "hidden" not in (tmp_path / "job" / "crawl.yaml").read_text()
    assert (tmp_path / "job" / "migration.json").is_file()
    with pytest.raises(JobError, match="--out"):
        write_job(tmp_path / "job", draft, MigrationReport("nutch"))
