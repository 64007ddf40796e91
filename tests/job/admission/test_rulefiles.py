import bz2
import gzip

import pytest

from nacre.job.admission import rulefiles
from nacre.job.admission.rulefiles import RuleFiles, examine_rule_files
from nacre.job.configuration.settings import JobSettings

RULES = "-a\r\n+(.)\\1\n"


def test_lines_of_plain_and_packed_files(tmp_path):
    (tmp_path / "r.txt").write_bytes(RULES.encode() + b"\xff")
    (tmp_path / "r.gz").write_bytes(gzip.compress(RULES.encode()))
    (tmp_path / "r.bz2").write_bytes(bz2.compress(RULES.encode()))
    files = RuleFiles(tmp_path)
    assert files.read_lines("r.txt") == ["-a", "+(.)\\1", "\ufffd"]
    assert files.read_lines("r.gz") == files.read_lines("r.bz2") == ["-a", "+(.)\\1"]


@pytest.mark.parametrize(("name", "data"), [("cut.gz", b"\x1f\x8b\x08"), ("bad.gz", b"x" * 20)])
def test_what_cannot_be_read_is_one_kind_of_error(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(OSError, match=r"gzip|damaged"):
        RuleFiles(tmp_path).read_lines(name)
    with pytest.raises(FileNotFoundError):
        RuleFiles(tmp_path).read_lines("absent")


def test_files_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rulefiles, "MAX_BYTES", 3)
    (tmp_path / "r.txt").write_bytes(b"+abc")
    with pytest.raises(OSError, match="longer than 3"):
        RuleFiles(tmp_path).read_lines("r.txt")


def test_all_findings_of_a_job(tmp_path):
    (tmp_path / "slow.txt").write_text(RULES)
    (tmp_path / "bad.txt").write_text("+(\nx\n")
    xml = "<regex-normalize>\n<regex><pattern>(?&lt;!:)//</pattern></regex>\n</regex-normalize>"
    (tmp_path / "n.xml").write_text(xml)
    settings = JobSettings.model_validate(
        {
            "scope": [
                {"rule": "nutch-regex", "file": "slow.txt"},
                {"rule": "accept"},
                {"rule": "nutch-filters", "chain": [{"file": "bad.txt"}, {"file": "no.txt"}]},
                {"rule": "nutch-exempt", "rules": "(((\n"},
            ],
            "uri": {"normalize": [{"normalizer": "regex", "file": "n.xml"}]},
        }
    )
    found = examine_rule_files(settings, RuleFiles(tmp_path))
    places = [(problem.path, problem.file, problem.line) for problem in found.problems]
    assert places == [("scope.2", "bad.txt", 2), ("scope.2", "no.txt", 0), ("scope.3", "rules", 1)]
    notes = [(note.path, note.file, note.line) for note in found.warnings]
    assert notes == [("scope.0", "slow.txt", 2), ("uri.normalize", "n.xml", 2)]
